"""The best C and loss by cross-validation: folds side by side, weights carried from one C to the next.

>>> import numpy as np
>>> from lineal import tune
>>> X = np.repeat([[0.0, 1.0], [1.0, 0.0], [2.0, 0.5], [0.5, 2.0]], 10, axis=0)
>>> y = np.repeat([0, 1, 1, 0], 10)
>>> found = tune.search(X, y, Cs=[0.1, 1.0], losses=["log_loss"], cv=5)
>>> found.best_params_["loss"], len(found.cv_results_["mean_test_score"])
('log_loss', 2)
"""

from __future__ import annotations

import json
import numbers
import time
from typing import Any, Sequence

import numpy as np

from . import _lineal
from ._base import Rows, _check_sample_weight, check_classification_targets, collected, column_or_1d, features, names_of, seed_of, threads
from ._logistic import LogisticRegression
from ._svm import CrammerSinger

__all__ = ["Search", "search"]

LOSSES = {"log_loss": "logistic", "hinge": "hinge", "squared_hinge": "squared-hinge"}


def _accuracy(estimator: Any, X: Any, y: Any) -> float:
    """How a search scores."""
    return estimator.score(X, y)


class Search(Rows):
    """What a search found, with the attributes of ``GridSearchCV``: ``best_params_``, ``best_score_``, ``best_index_``, ``best_estimator_``, ``cv_results_``, ``n_splits_``, ``scorer_``, ``classes_``,
    ``multimetric_``, ``refit_time_``.

    ``cv_results_`` has the keys of ``GridSearchCV`` and ``passes``. Folds are trained together and scored as they go, so ``mean_fit_time`` has the time of both, and times that there are none of are NaN."""

    best_params_: dict[str, Any]
    best_score_: float
    best_index_: int
    best_estimator_: Any
    cv_results_: dict[str, Any]
    n_splits_: int

    multimetric_ = False
    scorer_ = staticmethod(_accuracy)
    refit_time_: float
    classes_: np.ndarray

    def predict(self, X: Any) -> np.ndarray:
        """Predicts with the best estimator."""
        return self.best_estimator_.predict(X)

    def decision_function(self, X: Any) -> np.ndarray:
        """The scores of the best estimator."""
        return self.best_estimator_.decision_function(X)

    def predict_proba(self, X: Any) -> np.ndarray:
        """The probabilities of the best estimator, where it has any."""
        return self.best_estimator_.predict_proba(X)

    def save(self, path: Any) -> int:
        """Writes the model file of the best estimator; returns its size in bytes."""
        return self.best_estimator_.save(path)

    def explain(self, X: Any, top: int | None = 10) -> list[dict[str, Any]]:
        """Why the best estimator gives each row its answer."""
        return self.best_estimator_.explain(X, top)

    def __getattr__(self, name: str) -> Any:
        # What the best estimator proves and tells.
        if name in ("certificate_", "report_") and "best_estimator_" in self.__dict__:
            return getattr(self.best_estimator_, name)
        if name == "best_estimator_":
            raise AttributeError("there is no best estimator, since refit is False")
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __sklearn_is_fitted__(self) -> bool:
        return "best_index_" in self.__dict__

    def score(self, X: Any, y: Any) -> float:
        """The score of the best estimator."""
        return self.best_estimator_.score(X, y)


def search(
    X: Any,
    y: Any,
    *,
    Cs: Sequence[float] = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0),
    losses: Sequence[str] = ("log_loss", "squared_hinge"),
    cv: int = 5,
    sample_weight: Any = None,
    tol: float = 1e-3,
    random_state: Any = None,
    n_jobs: Any = None,
    refit: bool = True,
) -> Search:
    """Searches C and the loss of a classifier by accuracy in cross-validation, and fits the best to all rows.

    ``losses`` are among ``'log_loss'``, ``'hinge'`` and ``'squared_hinge'`` (both joint over all classes).
    """
    out, given = Search(), collected(X)
    X, y = out._check(given, y, reset=True)
    check_classification_targets(y)
    y = column_or_1d(y)
    classes, ids = np.unique(y, return_inverse=True)
    if len(classes) < 2:
        raise ValueError(f"there must be at least 2 classes, but the data contains only one class: {classes!r}")
    Cs = sorted(float(C) for C in Cs)
    if not Cs or Cs[0] <= 0 or not np.isfinite(Cs[-1]):
        raise ValueError(f"Cs must be numbers above 0, got {Cs!r}")
    unknown = [loss for loss in losses if loss not in LOSSES]
    if unknown or not losses:
        raise ValueError(f"losses must be among {sorted(LOSSES)}, got {list(losses)!r}")
    if not isinstance(cv, numbers.Integral) or isinstance(cv, bool):
        raise ValueError(f"cv must be the number of folds, not {cv!r}; for a splitter of your own use scikit-learn's GridSearchCV")
    out.classes_ = classes
    weights = _check_sample_weight(sample_weight, X, dtype=np.float64)
    spec = {"task": "classify", "standardize": "never", "tol": float(tol), "seed": seed_of(random_state)}
    table = _lineal.tune(
        features(X),
        ids.astype(np.uint32),
        names_of(classes),
        json.dumps(spec),
        Cs,
        [LOSSES[loss] for loss in losses],
        int(cv),
        None if (weights == 1).all() else weights,
        threads(n_jobs),
    )
    names = {value: key for key, value in LOSSES.items()}
    params = [{"C": C, "loss": names[loss]} for loss, C, *_ in table]
    scores = np.array([scores for _, _, scores, _, _ in table])
    means = scores.mean(axis=1)
    out.cv_results_ = {
        "params": params,
        "param_C": np.array([p["C"] for p in params]),
        "param_loss": np.array([p["loss"] for p in params]),
        "mean_test_score": means,
        "std_test_score": scores.std(axis=1),
        "rank_test_score": (1 + (means[None, :] > means[:, None] + 1e-15).sum(axis=1)).astype(np.int32),
        "mean_fit_time": np.array([seconds for *_, seconds in table]) / scores.shape[1],
        **{key: np.full(len(params), np.nan) for key in ("std_fit_time", "mean_score_time", "std_score_time")},
        "passes": np.array([passes for *_, passes, _ in table]),
        **{f"split{f}_test_score": scores[:, f] for f in range(scores.shape[1])},
    }
    # Among equals the smaller C.
    out.best_index_ = int(min(range(len(params)), key=lambda i: (-means[i], params[i]["C"])))
    out.best_params_ = params[out.best_index_]
    out.best_score_ = float(means[out.best_index_])
    out.n_splits_ = int(cv)
    if refit:
        C, loss = out.best_params_["C"], out.best_params_["loss"]
        kind: Any = LogisticRegression(C=C, n_jobs=n_jobs) if loss == "log_loss" else CrammerSinger(loss=loss, C=C, n_jobs=n_jobs)
        started = time.perf_counter()
        # As it was given: a frame has names of its features.
        out.best_estimator_ = kind.fit(given, y, sample_weight=sample_weight)
        out.refit_time_ = time.perf_counter() - started
    return out
