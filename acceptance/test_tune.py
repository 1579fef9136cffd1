"""`lineal tune` against scikit-learn's GridSearchCV on the same folds, and against `train` and `eval` on folds of queries."""

import json
import warnings
from pathlib import Path

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
            checks.that(ours.shape == theirs.shape, f"{where}: one row per C", f"{ours.shape} and {theirs.shape}")
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


def rankings(checks, program, sets):
    """Folds of queries: what the search measures is what `train` and `eval` find on the same queries, fold by fold."""
    folder = Path(program.folder.name)
    rng = np.random.default_rng(7)
    queries = []
    for q in range(40):
        x = np.round(rng.random((rng.integers(2, 12), 4)), 3)
        grades = np.clip(np.round(x @ [2.0, 1.0, 0.0, -1.0] + 0.4 * rng.normal(size=len(x))), 0, 2).astype(int)
        lines = [f"{g} qid:{q} " + " ".join(f"{j}:{v:g}" for j, v in enumerate(row, 1)) for g, row in zip(grades, x)]
        queries.append("\n".join(lines) + "\n")
    data = folder / "queries.letor"
    data.write_text("".join(queries))
    flags = ["--task", "rank", "--tol", "1e-8"]
    search = ["-C", "0.001,1", "--losses", "squared-hinge,logistic", "--folds", FOLDS, "--no-shuffle", "--metric", "map"]
    found = json.loads(program.output("tune", data, *flags, *search, "--json", "--quiet"))
    checks.that(len(found["trials"]) == 4, "tune rankings: every learner at every C", str(len(found["trials"])))
    per_fold = len(queries) // FOLDS
    for trial in found["trials"]:
        for fold, value in enumerate(trial["folds"]):
            held = range(fold * per_fold, (fold + 1) * per_fold)
            kept_file, held_file, model = folder / "kept.letor", folder / "held.letor", folder / "fold.lineal"
            kept_file.write_text("".join(text for q, text in enumerate(queries) if q not in held))
            held_file.write_text("".join(queries[q] for q in held))
            program.output("train", kept_file, *flags, "-C", trial["C"], "--loss", trial["loss"], "-o", model, "--quiet")
            told = json.loads(program.output("eval", model, held_file, "--json", "--quiet"))["map"]
            checks.close(value, told, 1e-6, f"tune rankings: {trial['loss']} at C {trial['C']}, fold {fold + 1}")


TESTS = {
    "tune rankings": rankings,
    "tune on a9a": grid("a9a", ("logistic", "squared-hinge"), 600),
    "tune on usps": grid("usps", ("logistic", "squared-hinge"), 250),
    "tune on newsgroups": grid("newsgroups", ("logistic",), 400),
}
