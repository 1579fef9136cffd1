"""`lineal tune` against scikit-learn's GridSearchCV on the same folds."""

import json
import warnings

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.svm import LinearSVC

CS = [0.01, 0.1, 1.0, 10.0]
FOLDS = 4


def peer(loss):
    """The same objective: a bias that is not penalised for logistic; LinearSVC penalises its own, and so must Lineal."""
    if loss == "logistic":
        return LogisticRegression(tol=1e-9, max_iter=20000, solver="newton-cg"), "free"
    return LinearSVC(loss="squared_hinge", tol=1e-8, max_iter=200000, dual=True, random_state=0), "penalised"


def grid(name, losses, n_rows):
    """A test: each fold's accuracy is the peer's but for a row or two on the border, and so is the C that wins."""

    def test(checks, program, sets):
        problem = sets.sample(sets[name], n_rows)
        for loss in losses:
            estimator, bias = peer(loss)
            search = GridSearchCV(estimator, {"C": CS}, cv=StratifiedKFold(FOLDS), scoring="accuracy")
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                search.fit(problem.x, problem.y)
            strategy = ["--strategy", "ova"] if loss != "logistic" and problem.n_classes > 2 else []
            flags = ["-C", ",".join(map(str, CS)), "--losses", loss, "--folds", FOLDS, "--no-shuffle", "--bias", bias, *strategy]
            found = json.loads(program.output("tune", problem.path, *flags, "--tol", "1e-6", "--max-passes", 50000, "--json", "--quiet"))
            theirs = np.array([search.cv_results_[f"split{f}_test_score"] for f in range(FOLDS)]).T
            ours = np.array([trial["folds"] for trial in found["trials"]])
            where = f"tune {name} {loss}"
            checks.that(ours.shape == theirs.shape, f"{where}: a row a C", f"{ours.shape} and {theirs.shape}")
            row = FOLDS / problem.x.shape[0]
            far = np.abs(ours - theirs).max()
            checks.that(far <= 2.01 * row, f"{where}: accuracy of each fold, within two rows", f"{far} apart, a row being {row}")
            means = theirs.mean(axis=1)
            checks.close(found["best"]["mean"], float(means.max()), 1.01 * row, f"{where}: the best mean")
            # Where two values of C are a row apart either may win.
            chosen = CS.index(found["best"]["C"])
            checks.that(
                found["best"]["C"] == search.best_params_["C"] or means.max() - means[chosen] <= row,
                f"{where}: the C that wins",
                f"{found['best']['C']}, and the peer's {search.best_params_['C']}: {means}",
            )
            errors = np.std(ours, axis=1, ddof=1) / np.sqrt(FOLDS)
            for trial, error in zip(found["trials"], errors):
                checks.close(trial["se"], float(error), 1e-12, f"{where}: standard error at C {trial['C']}")

    return test


TESTS = {
    "tune on a9a": grid("a9a", ("logistic", "squared-hinge"), 600),
    "tune on usps": grid("usps", ("logistic", "squared-hinge"), 250),
    "tune on newsgroups": grid("newsgroups", ("logistic",), 400),
}
