"""One-vs-all, one-vs-one and labels, trained in one pass, against one LIBLINEAR or scikit-learn fit a binary problem."""

import json
import warnings

import numpy as np
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score
from sklearn.svm import LinearSVC


C = 0.1


def binary(loss, x, positive):
    """The least (½‖w‖² + C·Σ loss)/(C·n) that a peer finds, the bias penalised as a column of ones."""
    x = sp.csr_matrix(sp.hstack([x, np.ones((x.shape[0], 1))]))
    sign = np.where(positive, 1.0, -1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if loss == "logistic":
            fit = LogisticRegression(C=C, fit_intercept=False, tol=1e-10, max_iter=10000, solver="newton-cg")
        else:
            name = loss.replace("-", "_")
            fit = LinearSVC(C=C, loss=name, fit_intercept=False, tol=1e-8, max_iter=200000, dual=True, random_state=0)
        w = fit.fit(x, sign).coef_[0]
    m = sign * (x @ w)
    slack = np.maximum(0, 1 - m)
    total = {"hinge": slack.sum(), "squared-hinge": (slack**2).sum(), "logistic": np.logaddexp(0, -m).sum()}[loss]
    return (0.5 * w @ w + C * total) / (C * x.shape[0])


def strategies(name, losses):
    """A test: the sum over the binary problems is the peers', and the gap bounds what is missing."""

    def test(checks, program, sets):
        problem = sets.sample(sets[name], 400)
        y, k = problem.y, problem.n_classes
        for loss in losses:
            ova = sum(binary(loss, problem.x, y == c) for c in range(k))
            pairs = [(a, b) for a in range(k) for b in range(a + 1, k)]
            rows = {pair: np.flatnonzero((y == pair[0]) | (y == pair[1])) for pair in pairs}
            both = [pair for pair in pairs if len(set(y[rows[pair]])) == 2]
            ovo = sum(binary(loss, problem.x[rows[p]], y[rows[p]] == p[0]) for p in both)
            for strategy, best in (("ova", ova), ("ovo", ovo)):
                if strategy == "ovo" and len(both) < len(pairs):
                    continue
                run = program.train(problem, "--strategy", strategy, "--loss", loss, "-C", C, "--bias", "penalised", "--tol", "1e-6", "--max-passes", 50000)
                # Peers stop by their own rules: they may be a little above the optimum, and Lineal within its gap of it.
                checks.close(run.objective, best, 2e-5, f"{run.command}: sum over the problems")
                checks.that(run.objective - run.gap <= best * (1 + 1e-9), f"{run.command}: the gap is a bound", f"{run.objective} − {run.gap} > {best}")
                checks.that(run.gap <= 1.01e-6 * run.objective, f"{run.command}: the tolerance is met", f"{run.gap}")

    return test


def labels(checks, program, sets):
    """Binary relevance on synthetic labels: the objective, and scikit-learn's F1 of the same predictions."""
    random = np.random.default_rng(5)
    n, d, k = 300, 40, 7
    x = sp.random(n, d, 0.2, "csr", np.float32, random)
    gold = (x @ random.normal(size=(d, k)) + 0.3 * random.normal(size=(n, k))) > 0.4
    folder = program.folder.name
    path = f"{folder}/labels.svm"
    with open(path, "w") as out:
        for i in range(n):
            row = x[i]
            features = " ".join(f"{j + 1}:{float(v):.9g}" for j, v in sorted(zip(row.indices, row.data)))
            out.write(",".join(str(c) for c in np.flatnonzero(gold[i])) + " " + features + "\n")
    for loss in ("hinge", "squared-hinge", "logistic"):
        best = sum(binary(loss, x, gold[:, c]) for c in range(k))
        model = f"{folder}/labels.lineal"
        flags = ["--task", "multilabel", "--loss", loss, "-C", C, "--bias", "penalised", "--tol", "1e-7", "--threshold", "0.5", "--json"]
        report = json.loads(program.output("train", path, "-o", model, "--quiet", *flags))
        checks.close(report["objective"], best, 2e-5, f"labels, {loss}: sum over the labels")
        metrics = json.loads(program.output("eval", model, path, "--json"))
        rows = program.output("predict", model, path, "--output", "jsonl").splitlines()
        predicted = np.zeros_like(gold)
        for i, row in enumerate(rows):
            for label in json.loads(row)["labels"]:
                predicted[i, int(label)] = True
        for average in ("micro", "macro"):
            theirs = f1_score(gold, predicted, average=average, zero_division=0)
            checks.close(metrics[f"{average}_f1"], theirs, 1e-9, f"labels, {loss}: {average} F1")
        checks.close(metrics["hamming_loss"], float((gold != predicted).mean()), 1e-9, f"labels, {loss}: Hamming loss")


TESTS = {
    "strategies on usps": strategies("usps", ("hinge", "squared-hinge", "logistic")),
    "strategies on newsgroups": strategies("newsgroups", ("hinge", "squared-hinge", "logistic")),
    "labels": labels,
}
