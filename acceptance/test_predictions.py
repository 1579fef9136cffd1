"""Predictions, probabilities and metrics are those that numpy and scikit-learn compute from the stored weights."""

import numpy as np
from scipy.special import expit, softmax
from sklearn import metrics

import objective

N_BINS = 15


def predictions(name, flags, tolerance):
    """A test of `predict` and `eval` on held-out rows."""

    def test(checks, program, sets):
        problem = sets[name]
        data = problem.test
        model = program.train(problem, "--tol", "1e-3", *flags)
        theta = objective.scores(data.x, model.weights(), bias_of(flags))
        names = program.classes(model)
        checks.that([float(c) for c in names] == list(problem.labels), f"{model.command}: class names", str(names))
        has_proba = model.report["loss"] == "logistic"
        rows = program.predict(model, data, "--scores", *(["--proba"] if has_proba else []))
        checks.that(len(rows) == data.n_rows, f"{model.command}: a prediction a row", str(len(rows)))
        scores = by_class(rows, "scores", names)
        ours = np.hstack([-theta, theta]) if problem.n_classes == 2 else theta
        scale = np.abs(ours).max()
        checks.that(np.abs(scores - ours).max() <= tolerance * scale, f"{model.command}: scores", off(scores, ours))
        y_hat = np.array([names.index(row["label"]) for row in rows])
        # argmax takes the lowest class among equals, as numpy's does; near-ties may fall either way by rounding.
        sure = np.sort(ours, axis=1)[:, -1] - np.sort(ours, axis=1)[:, -2] > 2 * tolerance * scale
        checks.that((y_hat == ours.argmax(axis=1))[sure].all(), f"{model.command}: labels are the argmax")
        checks.that((y_hat == scores.argmax(axis=1)).all(), f"{model.command}: labels are the argmax of the printed scores")
        report = program.evaluate(model, data)
        proba = None
        if has_proba:
            proba = by_class(rows, "proba", names)
            own = np.hstack([expit(-theta), expit(theta)]) if problem.n_classes == 2 else softmax(theta, axis=1)
            checks.that(np.abs(proba - own).max() <= tolerance * max(scale, 1.0), f"{model.command}: probabilities", off(proba, own))
        compare_metrics(checks, model.command, report, data, y_hat, proba)

    return test


def compare_metrics(checks, what, report, data, y_hat, proba):
    y, k = data.y, data.n_classes
    theirs = {
        "accuracy": metrics.accuracy_score(y, y_hat),
        "macro_f1": metrics.f1_score(y, y_hat, average="macro", zero_division=0),
        "micro_f1": metrics.f1_score(y, y_hat, average="micro", zero_division=0),
        "mean_cost": 1 - metrics.accuracy_score(y, y_hat),
    }
    if proba is not None:
        theirs["log_loss"] = metrics.log_loss(y, proba / proba.sum(axis=1, keepdims=True), labels=np.arange(k))
        theirs["brier"] = ((proba - np.eye(k)[y]) ** 2).sum(axis=1).mean() / (2 if k == 2 else 1)
        theirs["ece"] = calibration_error(y, proba)
    for name, value in theirs.items():
        checks.close(report[name], value, 1e-9, f"{what}: {name}")
    if proba is None:
        absent = [report[name] for name in ("log_loss", "brier", "ece")]
        checks.that(absent == [None] * 3, f"{what}: no probabilities, no metrics of them", str(absent))
    confusion = metrics.confusion_matrix(y, y_hat, labels=np.arange(k)).tolist()
    checks.that(report["confusion"] == confusion, f"{what}: confusion")


def calibration_error(y, proba):
    """Guo et al. 2017: 15 bins of equal width, (b/15, (b+1)/15]."""
    confidence, right = proba.max(axis=1), proba.argmax(axis=1) == y
    bins = np.clip(np.ceil(confidence * N_BINS), 1, N_BINS).astype(int)
    parts = [abs(confidence[bins == b].sum() - right[bins == b].sum()) for b in np.unique(bins)]
    return sum(parts) / len(y)


def by_class(rows, key, names):
    return np.array([[row[key][name] for name in names] for row in rows])


def off(a, b):
    return f"off by {np.abs(a - b).max():.2e}"


def bias_of(flags):
    return flags[flags.index("--bias") + 1] if "--bias" in flags else "free"


F32, F64 = 1e-5, 1e-10
TESTS = {
    "predict a9a logistic f64": predictions("a9a", ["--precision", "f64"], F64),
    "predict a9a hinge no bias": predictions("a9a", ["--loss", "hinge", "--bias", "none", "--precision", "f32"], F32),
    "predict letter softmax": predictions("letter", ["--solver", "newton", "--bias", "penalised"], F64),
    "predict usps softmax f32": predictions("usps", ["--solver", "dual", "--precision", "f32", "--l2", "0.1"], F32),
    "predict newsgroups softmax": predictions("newsgroups", ["--solver", "dual", "--precision", "f64"], F64),
    "predict newsgroups Crammer–Singer": predictions("newsgroups", ["--loss", "hinge"], F32),
}
