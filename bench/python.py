#!/usr/bin/env python3
"""The Python package beside scikit-learn and sklearn-crfsuite, in one process on the same arrays.

    python bench/python.py [--data DIR] [--only NAME]

Run it with an interpreter that has lineal, scikit-learn and sklearn-crfsuite (target/wheel-venv has, after `cargo xtask test`). Both sides go to the same objective: scikit-learn's at its default tolerance, then Lineal at the
loosest of a few tolerances whose objective is at most that. Told are wall and CPU seconds (of the process, all threads); on a machine that does other things only the latter mean anything.
"""

import argparse
import gzip
import json
import os
import time
import warnings
from pathlib import Path

import numpy as np
from scipy.special import logsumexp
from sklearn import linear_model, svm
from sklearn.datasets import load_svmlight_file
from sklearn.feature_extraction.text import TfidfVectorizer

import lineal

warnings.filterwarnings("ignore")


def timed(f, repeat=1):
    best = None
    for _ in range(repeat):
        wall, cpu = time.perf_counter(), time.process_time()
        out = f()
        took = (time.perf_counter() - wall, time.process_time() - cpu)
        best = took if best is None or took[1] < best[1] else best
    return out, best


def show(name, ours, theirs, note=""):
    print(f"{name:44} lineal {ours[0]:9.4f} s wall {ours[1]:9.4f} s cpu | peer {theirs[0]:9.4f} {theirs[1]:9.4f} | {theirs[1] / ours[1]:6.1f}x cpu, {theirs[0] / ours[0]:6.1f}x wall  {note}", flush=True)


def softmax_objective(model, X, y, C):
    scores = X @ model.coef_.T + model.intercept_
    ids = np.searchsorted(model.classes_, y)
    return C * (logsumexp(scores, axis=1) - scores[np.arange(len(y)), ids]).sum() + 0.5 * (model.coef_**2).sum()


def svc_objective(model, X, y, C):
    scores = X @ model.coef_.T + model.intercept_
    signs = np.where(y[:, None] == model.classes_[None, :], 1.0, -1.0)
    return C * (np.maximum(0, 1 - signs * scores) ** 2).sum() + 0.5 * (model.coef_**2).sum() + 0.5 * (model.intercept_**2).sum()


def to_same_objective(name, kind, peer, objective, X, y):
    theirs, slow = timed(lambda: peer.fit(X, y))
    goal = objective(theirs, X, y, peer.C)
    for tol in (1e-1, 3e-2, 1e-2, 3e-3, 1e-3, 1e-4, 1e-5):
        ours, fast = timed(lambda: kind(C=peer.C, tol=tol).fit(X, y), repeat=2)
        found = objective(ours, X, y, peer.C)
        if found <= goal * (1 + 1e-6):
            break
    show(name, fast, slow, f"objective {found:.4f} and {goal:.4f}, tol {tol:g}")


def newsgroups(folder):
    X, y = load_svmlight_file(str(folder / "newsgroups/tfidf-train.svm.gz"), dtype=np.float32)
    X.sort_indices()
    X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
    y = y.astype(int)
    to_same_objective("LogisticRegression, newsgroups", lineal.LogisticRegression, linear_model.LogisticRegression(max_iter=1000), softmax_objective, X, y)
    to_same_objective("LinearSVC, newsgroups", lineal.LinearSVC, svm.LinearSVC(), svc_objective, X, y)
    rows = X[:2000]
    grades = y[:2000].astype(float)
    _, slow = timed(lambda: linear_model.Ridge(tol=1e-6).fit(rows, grades))
    _, fast = timed(lambda: lineal.Ridge(tol=1e-6).fit(rows, grades))
    show("Ridge, 2000 rows of newsgroups", fast, slow)


def mnist(folder):
    with gzip.open(folder / "mnist/train-images-idx3-ubyte.gz") as file:
        X = np.frombuffer(file.read(), dtype=np.uint8, offset=16).reshape(-1, 784).astype(np.float32) / 255
    with gzip.open(folder / "mnist/train-labels-idx1-ubyte.gz") as file:
        y = np.frombuffer(file.read(), dtype=np.uint8, offset=8).astype(int)
    X, y = X[:20_000], y[:20_000]
    to_same_objective("LogisticRegression, 20,000 of MNIST", lineal.LogisticRegression, linear_model.LogisticRegression(max_iter=1000), softmax_objective, X, y)
    _, slow = timed(lambda: linear_model.Ridge().fit(X, y))
    _, fast = timed(lambda: lineal.Ridge().fit(X, y))
    show("Ridge, 20,000 of MNIST", fast, slow)


def text(folder):
    with gzip.open(folder / "newsgroups/test.jsonl.gz", "rt") as file:
        texts = [json.loads(line)["text"] for line in file]
    ours, theirs = lineal.TfidfVectorizer(), TfidfVectorizer()
    _, fast = timed(lambda: ours.fit_transform(texts), repeat=3)
    _, slow = timed(lambda: theirs.fit_transform(texts))
    show(f"TfidfVectorizer.fit_transform, {len(texts)} texts", fast, slow)
    _, fast = timed(lambda: ours.transform(texts), repeat=3)
    _, slow = timed(lambda: theirs.transform(texts))
    show("TfidfVectorizer.transform", fast, slow)


def one_row(_):
    X = np.random.RandomState(0).randn(500, 20)
    y = (X[:, 0] > 0).astype(int)
    row = X[:1]
    for name, kind in (("LogisticRegression", (lineal.LogisticRegression, linear_model.LogisticRegression)),):
        ours, theirs = (k().fit(X, y) for k in kind)
        n = 2000
        _, fast = timed(lambda: [ours.predict(row) for _ in range(n)], repeat=5)
        _, slow = timed(lambda: [theirs.predict(row) for _ in range(n)], repeat=3)
        show(f"{name}.predict of one row, µs x 1e-6", tuple(t / n for t in fast), tuple(t / n for t in slow), f"{fast[1] / n * 1e6:.1f} and {slow[1] / n * 1e6:.1f} µs of CPU")


def sequences(folder):
    import sklearn_crfsuite

    from lineal.crf import CRF

    path = next((folder / "conll2000").glob("*train*"))
    with gzip.open(path, "rt") if path.suffix == ".gz" else open(path) as file:
        sentences = [[line.split() for line in block.split("\n") if line] for block in file.read().split("\n\n") if block.strip()][:2000]

    def attributes(sentence, t):
        out = {"bias": 1.0}
        for offset in (-2, -1, 0, 1, 2):
            if 0 <= t + offset < len(sentence):
                word, tag = sentence[t + offset][:2]
                out[f"w[{offset}]"], out[f"p[{offset}]"] = word.lower(), tag
        return out

    X = [[attributes(s, t) for t in range(len(s))] for s in sentences]
    y = [[token[-1] for token in s] for s in sentences]
    shared = dict(algorithm="lbfgs", c1=0.0, c2=1.0, all_possible_transitions=True)
    theirs, slow = timed(lambda: sklearn_crfsuite.CRF(**shared).fit(X, y))
    for epsilon in (1e-2, 1e-3, 1e-4):
        ours, fast = timed(lambda: CRF(**shared, epsilon=epsilon).fit(X, y))
        if ours.report_["converged"]:
            break
    show("CRF.fit, 2,000 sentences of CoNLL-2000", fast, slow, f"epsilon {epsilon:g}; accuracy {ours.score(X, y):.4f} and {theirs.score(X, y):.4f}")


PARTS = {"newsgroups": newsgroups, "mnist": mnist, "text": text, "one_row": one_row, "sequences": sequences}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("LINEAL_DATA") or Path(__file__).resolve().parents[2] / "shared/data"))
    parser.add_argument("--only", choices=PARTS)
    args = parser.parse_args()
    for name, part in PARTS.items():
        if args.only in (None, name):
            part(args.data)


if __name__ == "__main__":
    main()
