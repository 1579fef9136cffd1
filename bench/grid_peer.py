"""Fits one peer to one cell of the grid in a process of its own: `grid_peer.py JOB.json` prints CPU and wall seconds of the call alone, and leaves the weights.

The job: {"file", "labels", "dense", "loss", "strategy", "C", "peer", "threads", "out"}. A constant column is the bias, penalised like the others.
"""

import json
import sys
import warnings

import numpy as np
import scipy.sparse as sp
from peer import Clock
from sklearn.datasets import load_svmlight_file


def main():
    with open(sys.argv[1]) as file:
        job = json.load(file)
    x, y = read(job["file"], job["labels"])
    warnings.simplefilter("ignore")
    fit = {"liblinear": liblinear, "snap": snap}.get(job["peer"][0], scikit_learn)
    w, wall, cpu = fit(job, x, y)
    np.save(job["out"], w)
    print(json.dumps({"wall": wall, "cpu": cpu}))


def read(path, labels):
    """Rows with a constant column, and an answer of ±1 for each column, or classes from 0."""
    x, y = load_svmlight_file(path, multilabel=labels, dtype=np.float32)
    x = sp.hstack([x, np.ones((x.shape[0], 1), np.float32)]).tocsr().astype(np.float64)
    x.indices, x.indptr = x.indices.astype(np.int32), x.indptr.astype(np.int32)
    if labels:
        names = sorted({label for row in y for label in row})
        at = {label: i for i, label in enumerate(names)}
        signs = -np.ones((x.shape[0], len(names)))
        for i, row in enumerate(y):
            signs[i, [at[label] for label in row]] = 1
        return x, signs
    return x, np.searchsorted(np.unique(y), y)


def columns(y):
    """±1 for each row and column."""
    if y.ndim == 2:
        return y
    k = y.max() + 1
    signs = np.where(y[:, None] == np.arange(k), 1.0, -1.0)
    return signs[:, 1:] if k == 2 else signs


def liblinear(job, x, y):
    from liblinear.liblinearutil import parameter, problem, train

    options = parameter(f"-q -s {job['peer'][1]} -c {job['C']}")
    if y.ndim == 1:
        data = problem(y, x)
        with Clock() as clock:
            model = train(data, options)
        n = 1 if y.max() == 1 else y.max() + 1
        w = np.ctypeslib.as_array(model.w, (x.shape[1] * n,)).reshape(-1, n).copy()
        labels = model.get_labels()
        return (w if labels[0] > labels[1] else -w) if n == 1 else w[:, np.argsort(labels)], clock.wall, clock.cpu
    w, wall, cpu = np.zeros((x.shape[1], y.shape[1])), 0.0, 0.0
    for k in range(y.shape[1]):
        data = problem(y[:, k], x)
        with Clock() as clock:
            model = train(data, options)
        own = np.ctypeslib.as_array(model.w, (x.shape[1],))
        w[:, k] = own if model.get_labels()[0] == 1 else -own
        wall, cpu = wall + clock.wall, cpu + clock.cpu
    return w, wall, cpu


def snap(job, x, y):
    import snapml

    rows = (x.toarray() if job["dense"] else x).astype(np.float32)
    signs, wall, cpu = columns(y), 0.0, 0.0
    w = np.zeros((x.shape[1], signs.shape[1]))
    for k in range(signs.shape[1]):
        shared = dict(regularizer=1 / job["C"], fit_intercept=False, n_jobs=job["threads"], max_iter=1000)
        logistic = job["loss"] == "logistic"
        model = snapml.LogisticRegression(dual=True, **shared) if logistic else snapml.SupportVectorMachine(loss=job["loss"].replace("-", "_"), **shared)
        with Clock() as clock:
            model.fit(rows, signs[:, k])
        w[:, k] = np.asarray(model.coef_).ravel()
        wall, cpu = wall + clock.wall, cpu + clock.cpu
    return w, wall, cpu


def scikit_learn(job, x, y):
    from sklearn.linear_model import LogisticRegression

    rows = x.toarray() if job["dense"] else x
    answers = [y] if job["strategy"] == "joint" else list(columns(y).T)
    parts, wall, cpu = [], 0.0, 0.0
    for answer in answers:
        model = LogisticRegression(C=job["C"], solver=job["peer"][1], fit_intercept=False, max_iter=2000)
        with Clock() as clock:
            model.fit(rows, answer)
        parts.append(model.coef_)
        wall, cpu = wall + clock.wall, cpu + clock.cpu
    return np.vstack(parts).T, wall, cpu


if __name__ == "__main__":
    main()
