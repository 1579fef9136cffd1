"""One measurement of a peer, in a process of its own: `peer.py JOB.json` prints one JSON object.

The job: {"what": "train" | "read" | "predict", "peer": …, "train": file, "test": file, "out": weights.npy, …}.
The data is read with scikit-learn's `load_svmlight_file` for LIBLINEAR, too: its own reader is written in Python and slower.
CPU seconds are those of the call alone; building LIBLINEAR's node arrays from CSR is left out, in its favour.
"""

import json
import sys
import time
import warnings

import numpy as np
from sklearn.datasets import load_svmlight_file


class Clock:
    """Wall and CPU seconds of a block."""

    def __enter__(self):
        self.start = time.perf_counter(), time.process_time()
        return self

    def __exit__(self, *_):
        self.wall, self.cpu = time.perf_counter() - self.start[0], time.process_time() - self.start[1]


def main():
    with open(sys.argv[1]) as file:
        job = json.load(file)
    with Clock() as reading:
        x, y = load_svmlight_file(job["train"])
    report = {"read_wall": reading.wall, "read_cpu": reading.cpu}
    x = narrow(x)
    if job["what"] != "read":
        fit = liblinear if job["peer"] == "liblinear" else scikit_learn
        report.update(fit(job, x, y))
    print(json.dumps(report))


def narrow(x):
    """Some of scikit-learn's solvers refuse the 64-bit indices that its reader returns."""
    x.indices, x.indptr = x.indices.astype(np.int32), x.indptr.astype(np.int32)
    return x


def liblinear(job, x, y):
    from liblinear import liblinear as c
    from liblinear.liblinearutil import parameter, problem, train

    bias = 1 if job["bias"] == "penalised" else -1
    data = problem(y, x, bias)
    options = parameter(f"-s {job['s']} -c 1 -B {bias} -q")
    with Clock() as training:
        model = train(data, options)
    n_vectors = 1 if model.get_nr_class() == 2 and job["s"] != 4 else model.get_nr_class()
    d = x.shape[1] + (bias > 0)
    w = np.ctypeslib.as_array(model.w, (d * n_vectors,)).reshape(d, n_vectors).copy()
    labels = model.get_labels()
    w = (w if labels[0] > labels[1] else -w) if n_vectors == 1 else w[:, np.argsort(labels)]
    np.save(job["out"], w)
    report = {"train_wall": training.wall, "train_cpu": training.cpu}
    if job["what"] == "predict":
        with Clock() as reading:
            x_test, y_test = load_svmlight_file(job["test"], n_features=x.shape[1])
        nodes = problem(y_test, x_test, bias)
        with Clock() as predicting:
            for i in range(nodes.l):
                c.liblinear.predict(model, nodes.x[i])
        report.update(predict_report(x_test, reading, predicting))
    return report


def scikit_learn(job, x, y):
    from sklearn.linear_model import LogisticRegression

    fit = LogisticRegression(C=1.0, solver=job["solver"], fit_intercept=job["bias"] == "free", max_iter=2000, random_state=0)
    with Clock() as training, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fit.fit(x, y)
    w = fit.coef_.T
    np.save(job["out"], np.vstack([w, fit.intercept_[None, :]]) if job["bias"] == "free" else w)
    report = {"train_wall": training.wall, "train_cpu": training.cpu, "n_iter": int(np.max(fit.n_iter_))}
    if job["what"] == "predict":
        with Clock() as reading:
            x_test, _ = load_svmlight_file(job["test"], n_features=x.shape[1])
        x_test = narrow(x_test)
        with Clock() as predicting:
            fit.predict(x_test)
        report.update(predict_report(x_test, reading, predicting))
    return report


def predict_report(x_test, reading, predicting):
    return {"test_rows": x_test.shape[0], "test_read_cpu": reading.cpu, "predict_cpu": predicting.cpu}


if __name__ == "__main__":
    main()
