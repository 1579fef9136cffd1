"""One measurement of a peer of bench/strategies.py, in a process of its own: `strategy_peer.py JOB.json` prints one JSON object last."""

import json
import sys
import time
import warnings

import numpy as np
from sklearn.datasets import load_svmlight_file


def main():
    with open(sys.argv[1]) as file:
        job = json.load(file)
    warnings.simplefilter("ignore")
    report = globals()[job["what"]](job)
    print(json.dumps(report))


def narrow(x):
    x.indices, x.indptr = x.indices.astype(np.int32), x.indptr.astype(np.int32)
    return x


def loss_of(name, margins):
    slack = np.maximum(0, 1 - margins)
    return slack.sum() if name == "hinge" else (slack**2).sum()


def liblinear(job):
    from liblinear.liblinearutil import parameter, problem, train

    x, y = load_svmlight_file(job["data"])
    data = problem(y, x, 1)
    options = parameter(f"-s {job['s']} -c 1 -B 1 -q")
    start = time.perf_counter()
    model = train(data, options)
    wall = time.perf_counter() - start
    k = model.get_nr_class()
    w = np.ctypeslib.as_array(model.w, ((x.shape[1] + 1) * k,)).reshape(x.shape[1] + 1, k)
    scores = x @ w[:-1] + w[-1]
    total = 0.5 * (w**2).sum()
    for column, label in enumerate(model.get_labels()):
        total += loss_of(job["loss"], np.where(y == label, 1, -1) * scores[:, column])
    return {"wall": wall, "objective": total / len(y)}


def ovo(job):
    from sklearn.multiclass import OneVsOneClassifier
    from sklearn.svm import LinearSVC

    x, y = load_svmlight_file(job["data"])
    x = narrow(x)
    learner = LinearSVC(C=1.0, loss=job["loss"].replace("-", "_"), dual=True, random_state=0)
    model = OneVsOneClassifier(learner)
    start = time.perf_counter()
    model.fit(x, y)
    wall = time.perf_counter() - start
    total, at = 0.0, 0
    for a in range(len(model.classes_)):
        for b in range(a + 1, len(model.classes_)):
            rows = np.flatnonzero((y == model.classes_[a]) | (y == model.classes_[b]))
            fit = model.estimators_[at]
            margins = np.where(y[rows] == model.classes_[b], 1, -1) * fit.decision_function(x[rows])
            penalty = 0.5 * ((fit.coef_**2).sum() + (fit.intercept_**2).sum())
            total += (penalty + loss_of(job["loss"], margins)) / len(rows)
            at += 1
    return {"wall": wall, "objective": total}


def omikuji(job):
    import os
    import tempfile

    import omikuji

    labels = {}
    with tempfile.NamedTemporaryFile("w", suffix=".txt", delete=False) as out:
        rows = [line.rstrip("\n").split(" ", 1) for line in open(job["train"])]
        for row in rows:
            labels.setdefault(row[0], len(labels))
        out.write(f"{len(rows)} {1 << 19} {len(labels)}\n")
        out.writelines(f"{labels[row[0]]} {row[1] if len(row) > 1 else ''}\n" for row in rows)
    options = omikuji.Model.default_hyper_param()
    options.n_trees = 1
    # Its progress bars go to stderr and cost time; a closed stderr makes them cheap.
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    # What it takes to read the file is what it takes to make a tree without learning the nodes' weights, less the clusters: left in, in
    # nobody's favour, for it is 0.05 s.
    start = time.perf_counter()
    model = omikuji.Model.train_on_data(out.name, options, job["threads"])
    wall = time.perf_counter() - start
    names = {number: name for name, number in labels.items()}
    right = n = 0
    for line in open(job["test"]):
        gold, *features = line.split()
        pairs = [(int(f.split(":")[0]), float(f.split(":")[1])) for f in features]
        best = model.predict(pairs, top_k=1, beam_size=10)
        right += bool(best) and names[best[0][0]] == gold
        n += 1
    return {"wall": wall, "accuracy": right / n}


def learner(loss):
    from sklearn.linear_model import LogisticRegression
    from sklearn.svm import LinearSVC

    if loss == "logistic":
        return LogisticRegression(C=1.0, max_iter=1000)
    return LinearSVC(C=1.0, loss="squared_hinge", random_state=0)


def accuracy(job):
    from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier, OutputCodeClassifier

    x, y = load_svmlight_file(job["train"])
    x_test, y_test = load_svmlight_file(job["test"], n_features=x.shape[1])
    wrap = {
        "OneVsRest": OneVsRestClassifier,
        "OneVsOne": OneVsOneClassifier,
        "OutputCode": lambda fit: OutputCodeClassifier(fit, code_size=2, random_state=0),
    }[job["strategy"]]
    start = time.perf_counter()
    model = wrap(learner(job["loss"])).fit(narrow(x), y)
    return {"wall": time.perf_counter() - start, "accuracy": float((model.predict(narrow(x_test)) == y_test).mean())}


def labels(job):
    from sklearn.metrics import f1_score
    from sklearn.multiclass import OneVsRestClassifier
    from sklearn.preprocessing import MultiLabelBinarizer

    x, y = load_svmlight_file(job["train"], multilabel=True)
    x_test, y_test = load_svmlight_file(job["test"], n_features=x.shape[1], multilabel=True)
    binarizer = MultiLabelBinarizer().fit(y)
    known = set(binarizer.classes_)
    gold = binarizer.transform([[label for label in row if label in known] for row in y_test])
    start = time.perf_counter()
    model = OneVsRestClassifier(learner("squared-hinge")).fit(narrow(x), binarizer.transform(y))
    wall = time.perf_counter() - start
    scores = model.decision_function(narrow(x_test))
    predicted = scores > 0
    top = np.argsort(-scores, axis=1, kind="stable")[:, :5]
    hits = np.take_along_axis(gold, top, axis=1)
    return {
        "wall": wall,
        "micro_f1": f1_score(gold, predicted, average="micro", zero_division=0),
        "macro_f1": f1_score(gold, predicted, average="macro", zero_division=0),
        **{f"p@{k}": float(hits[:, :k].mean()) for k in (1, 3, 5)},
    }


if __name__ == "__main__":
    main()
