"""What estimators that learn by stochastic steps share, step by step as in scikit-learn: parameters, runs, and the state between calls of ``partial_fit``."""

from __future__ import annotations

import numbers
import warnings
from typing import Any

import numpy as np

from . import _lineal
from ._base import (
    Classifier,
    ConvergenceWarning,
    InvalidParameterError,
    _check_sample_weight,
    check_classification_targets,
    check_random_state,
    choice,
    count,
    class_factors,
    column_or_1d,
    features,
    issparse,
    number,
)
from ._report import Certificate, Report

MAX_INT = np.iinfo(np.int32).max
LOSSES_OF_CLASSES = (
    "hinge",
    "squared_hinge",
    "perceptron",
    "log_loss",
    "modified_huber",
    "squared_error",
    "huber",
    "epsilon_insensitive",
    "squared_epsilon_insensitive",
)
LOSSES_OF_NUMBERS = LOSSES_OF_CLASSES[5:]
RATES = ("constant", "optimal", "invscaling", "adaptive", "pa1", "pa2")


# Entries of rows that are walked over between two looks at signals.
PART = 10_000_000


class Stochastic:
    """What classifiers and regressors share: parameters, one problem, the state between calls."""

    def _validate(self, *, partial: bool) -> None:
        me: Any = self
        choice(me, "penalty", ["l2", "l1", "elasticnet", None])
        number(me, "alpha", closed=True)
        if self._rate() == "optimal" and me.alpha == 0:
            raise ValueError("alpha must be > 0 since learning_rate is 'optimal'. alpha is used to compute the optimal learning rate.")
        if self._rate() in ("constant", "invscaling", "adaptive", "pa1", "pa2"):
            number_of(me, "eta0", self._eta())
        elif "eta0" in vars(me):
            number(me, "eta0", closed=True)
        if me.early_stopping and partial:
            raise ValueError("early_stopping should be False with partial_fit")
        count(me, "max_iter")
        count(me, "n_iter_no_change")
        if number(me, "validation_fraction", high=1.0) == 1.0:
            raise InvalidParameterError(f"The 'validation_fraction' parameter of {type(me).__name__} must be a float in the range (0, 1). Got 1.0 instead.")
        if "epsilon" in vars(me):
            number(me, "epsilon", closed=True)
        if "power_t" in vars(me):
            number(me, "power_t", -np.inf)
        if not isinstance(me.average, (bool, np.bool_)):
            count(me, "average", 0)
        if me.tol is not None:
            number(me, "tol", closed=True)
        if me.penalty == "elasticnet" and me.l1_ratio is None:
            raise ValueError("l1_ratio must be set when penalty is 'elasticnet'")
        if me.l1_ratio is not None:
            number(me, "l1_ratio", closed=True, high=1.0)

    def _rate(self) -> str:
        return choice(self, "learning_rate", RATES)

    def _eta(self) -> float:
        return self.eta0  # type: ignore[attr-defined]

    def _alpha(self) -> float:
        return float(self.alpha)  # type: ignore[attr-defined]

    def _settings(self, sparse: bool, positive: float, negative: float) -> dict[str, Any]:
        me: Any = self
        share = {"l2": 0.0, "l1": 1.0, "elasticnet": me.l1_ratio, None: None}[me.penalty]
        return {
            "loss": self._loss_name(),
            "epsilon": float(getattr(me, "epsilon", 0.1)),
            "learning_rate": self._rate(),
            "eta": float(self._eta()),
            "power_t": float(getattr(me, "power_t", 0.5)),
            "alpha": self._alpha(),
            "l1_ratio": share,
            "bias": 1.0 if me.fit_intercept else 0.0,
            "bias_decay": 0.01 if sparse else 1.0,
            "weight_positive": float(positive),
            "weight_negative": float(negative),
            "average_from": float(int(me.average)),
        }

    def _loss_name(self) -> str:
        return self.loss  # type: ignore[attr-defined]

    def _held_out(self, y: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Which rows early stopping watches."""
        me: Any = self
        mask = np.zeros(len(y), dtype=bool)
        if not me.early_stopping:
            return mask
        from sklearn.model_selection import ShuffleSplit, StratifiedShuffleSplit

        kind = StratifiedShuffleSplit if isinstance(self, Classifier) else ShuffleSplit
        split = kind(test_size=me.validation_fraction, random_state=me.random_state)
        train, test = next(split.split(np.zeros(shape=(len(y), 1)), y))
        if not np.any(weights[test] > 0):
            raise ValueError("The sample weights for validation set are all zero, consider using a different random state.")
        if len(train) == 0 or len(test) == 0:
            raise ValueError(
                f"Splitting {len(y)} samples into a train set and a validation set with validation_fraction={me.validation_fraction!r} led to an "
                "empty set. Please either change validation_fraction, increase number of samples, or disable early_stopping."
            )
        mask[test] = True
        return mask

    def _run(
        self,
        rows: Any,
        sparse: bool,
        y: np.ndarray,
        weights: np.ndarray,
        start: tuple[np.ndarray, float],
        average: tuple[np.ndarray, float] | None,
        *,
        seed: int,
        max_iter: int,
        positive: float = 1.0,
        negative: float = 1.0,
        mask: np.ndarray,
        score: Any = None,
    ) -> tuple[Any, int, list[dict]]:
        """Epochs of one problem, until they no longer help."""
        me: Any = self
        own = None if (weights == 1.0).all() else np.ascontiguousarray(weights, dtype=np.float64)
        steps = _lineal.Steps(rows, np.ascontiguousarray(y, dtype=np.float64), own, np.ascontiguousarray(start[0]), float(start[1]), me.t_, average)
        settings = self._settings(sparse, positive, negative)
        order = np.arange(len(y), dtype=np.uint32)
        per_row = (len(rows[3]) / max(len(y), 1)) if sparse else rows.shape[1]
        part = max(int(PART / max(per_row, 1.0)), 1000)
        n_train = len(y) - int(mask.sum())
        tol = -np.inf if me.tol is None else me.tol
        best, best_score, idle, curve, epoch = np.inf, -np.inf, 0, [], 0
        for epoch in range(1, max_iter + 1):
            if me.shuffle:
                _lineal.shuffle_order(order, seed)
            now = order[~mask[order]] if me.early_stopping else order
            loss = objective = 0.0
            # In parts, so that Ctrl-C is answered within an epoch.
            for first in range(0, len(now), part):
                seen = steps.epoch(settings, now[first : first + part])
                loss, objective = loss + seen[0], objective + seen[1]
            coef, bias = steps.weights()
            if not (np.isfinite(bias) and np.isfinite(coef).all()):
                raise ValueError(
                    f"Floating-point under-/overflow occurred at epoch #{epoch}. Scaling input data with StandardScaler or MinMaxScaler might help."
                )
            curve.append({"pass": epoch, "objective": objective / max(n_train, 1), "train_loss": loss / max(n_train, 1)})
            if me.early_stopping:
                value = score(steps.unscaled(), bias)
                idle = idle + 1 if tol > -np.inf and value < best_score + tol else 0
                best_score = max(best_score, value)
            else:
                objective /= max(n_train, 1)
                idle = idle + 1 if tol > -np.inf and objective > best - tol else 0
                best = min(best, objective)
            if idle >= me.n_iter_no_change:
                if settings["learning_rate"] == "adaptive" and settings["eta"] > 1e-6:
                    settings["eta"] /= 5
                    idle = 0
                else:
                    break
        return steps, epoch, curve

    def _tell(self, curve: list[dict], n_rows: int) -> None:
        me: Any = self
        objective = curve[-1]["objective"] if curve else None
        converged = me.tol is None or me.n_iter_ < me.max_iter
        me.report_ = Report(
            loss=self._loss_name(), solver="sgd", passes=int(me.n_iter_), examples=n_rows, objective=objective, converged=converged, curve=curve
        )
        words = f"objective {objective:.6f} seen in the last epoch; stochastic steps prove nothing about the optimum"
        me.certificate_ = Certificate(objective, None, converged, words)


def number_of(estimator: Any, name: str, value: Any) -> None:
    """A step size must be above 0."""
    if not isinstance(value, numbers.Real) or not float(value) > 0:
        raise ValueError(f"{name} must be > 0, got {value!r} for {type(estimator).__name__}")


class StochasticClassifier(Stochastic, Classifier):
    def _fit(self, X: Any, y: Any, coef_init: Any, intercept_init: Any, sample_weight: Any) -> Any:
        me: Any = self
        self._validate(partial=False)
        before = (getattr(self, "coef_", None), getattr(self, "intercept_", None)) if me.warm_start else (None, None)
        for name in ("classes_", "coef_", "intercept_", "_standard", "_averages", "t_"):
            self.__dict__.pop(name, None)
        if coef_init is None:
            coef_init = before[0]
        if intercept_init is None:
            intercept_init = before[1]
        self._partial(X, y, me.max_iter, None, sample_weight, coef_init, intercept_init)
        if me.tol is not None and me.tol > -np.inf and self.n_iter_ == me.max_iter:
            warnings.warn(
                "Maximum number of iteration reached before convergence. Consider increasing max_iter to improve the fit.",
                ConvergenceWarning,
                stacklevel=3,
            )
        return self

    def _partial(self, X: Any, y: Any, max_iter: int, classes: Any, sample_weight: Any, coef_init: Any, intercept_init: Any) -> Any:
        me: Any = self
        first = "classes_" not in self.__dict__
        X, y = self._check(X, y, reset=first, order="C", accept_large_sparse=False)
        check_classification_targets(y)
        y = column_or_1d(y, warn=True)
        if first:
            self.classes_ = np.unique(y) if classes is None else np.unique(classes)
        elif classes is not None and not np.array_equal(self.classes_, np.unique(classes)):
            raise ValueError(f"`classes={classes!r}` is not the same as on last call to partial_fit, was: {self.classes_!r}")
        unseen = np.setdiff1d(np.unique(y), self.classes_)
        if len(unseen):
            raise ValueError(f"`y` has classes not in `self.classes_`. `self.classes_` has {self.classes_}. 'y' has {unseen}.")
        n_classes, (n_rows, n_features) = len(self.classes_), X.shape
        ids = np.searchsorted(self.classes_, y)
        weights = _check_sample_weight(sample_weight, X, dtype=np.float64)
        factors = class_factors(me.class_weight, self.classes_, ids, np.ones(n_rows))
        factors = np.ones(n_classes) if factors is None else factors
        if n_classes < 2:
            raise ValueError(f"The number of classes has to be greater than one; got {n_classes} class")
        k = 1 if n_classes == 2 else n_classes
        if "coef_" not in self.__dict__ or coef_init is not None or self.coef_ is None:
            coef = np.zeros((k, n_features)) if coef_init is None else np.asarray(coef_init, dtype=np.float64).reshape(-1, n_features).copy()
            intercept = np.zeros(k) if intercept_init is None else np.asarray(intercept_init, dtype=np.float64).reshape(-1).copy()
            if coef.shape != (k, n_features):
                raise ValueError(f"Provided ``coef_`` does not match dataset. Expected shape {(k, n_features)}, got {coef.shape}")
            if intercept.shape != (k,):
                raise ValueError("Provided intercept_init does not match dataset.")
            self._standard, self._averages = (coef, intercept), (np.zeros((k, n_features)), np.zeros(k))
        if "t_" not in self.__dict__:
            self.t_ = 1.0
        if not me.average:
            self._standard = (np.atleast_2d(self.coef_ if "coef_" in self.__dict__ and coef_init is None else self._standard[0]), np.atleast_1d(self.intercept_ if "intercept_" in self.__dict__ and intercept_init is None else self._standard[1]))
        rows, sparse = features(X), issparse(X)
        if n_classes == 2:
            generator = check_random_state(me.random_state)
            problems = [(1, generator, factors[1], factors[0])]
        else:
            seeds = check_random_state(me.random_state).randint(MAX_INT, size=n_classes)
            problems = [(c, check_random_state(seed), factors[c], 1.0) for c, seed in enumerate(seeds)]
        mask = self._held_out(y, weights) if n_classes > 2 else None
        coefs, intercepts, averages, average_intercepts, n_iter, curve = [], [], [], [], 0, []
        for place, (c, generator, positive, negative) in enumerate(problems):
            generator.randint(1, MAX_INT)
            signs = np.where(ids == c, 1.0, 0.0 if me._loss_name() == "log_loss" else -1.0)
            held_out = self._held_out(signs, weights) if mask is None else mask
            seed = int(generator.randint(MAX_INT))
            average = (np.ascontiguousarray(self._averages[0][place]), float(self._averages[1][place])) if me.average else None
            score = self._score(X, signs, weights, held_out) if me.early_stopping else None
            steps, epochs, seen = self._run(
                rows,
                sparse,
                signs,
                weights,
                (self._standard[0][place], self._standard[1][place]),
                average,
                seed=seed,
                max_iter=max_iter,
                positive=positive,
                negative=negative,
                mask=held_out,
                score=score,
            )
            weight, bias = steps.weights()
            coefs.append(weight)
            intercepts.append(bias)
            if me.average:
                weight, bias = steps.averages()
                averages.append(weight)
                average_intercepts.append(bias)
            if epochs >= n_iter:
                n_iter, curve = epochs, seen
        self._standard = (np.array(coefs), np.array(intercepts))
        self.t_ += n_iter * n_rows
        self.n_iter_ = n_iter
        if me.average:
            self._averages = (np.array(averages), np.array(average_intercepts))
        chosen = self._averages if me.average and me.average <= self.t_ - 1 else self._standard
        self.coef_, self.intercept_ = chosen
        self._tell(curve, n_rows)
        return self

    def _score(self, X: Any, signs: np.ndarray, weights: np.ndarray, mask: np.ndarray) -> Any:
        X, signs, weights = X[mask], signs[mask] > 0, weights[mask]

        def accuracy(coef: np.ndarray, bias: float) -> float:
            return float(np.average(((X @ coef + bias) > 0) == signs, weights=weights))

        return accuracy

    def _check_partial(self) -> None:
        if "classes_" not in self.__dict__:
            self._validate(partial=True)
            if isinstance(self.class_weight, str):  # type: ignore[attr-defined]
                raise ValueError(
                    "class_weight 'balanced' is not supported for partial_fit. In order to use 'balanced' weights, compute them with "
                    "compute_class_weight('balanced', classes=classes, y=y) and pass them as the class_weight parameter."
                )

    def _first_classes(self, classes: Any) -> None:
        if "classes_" not in self.__dict__ and classes is None:
            raise ValueError("classes must be passed on the first call to partial_fit.")
