"""``SGDClassifier``, ``SGDRegressor``, ``Perceptron`` and ``PassiveAggressiveClassifier``."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from ._base import (
    ConvergenceWarning,
    Regressor,
    SparseWeights,
    _check_sample_weight,
    atomic,
    check_is_fitted,
    check_random_state,
    choice,
    column_or_1d,
    features,
    issparse,
    number,
    plain_array,
)
from ._stochastic import LOSSES_OF_CLASSES, LOSSES_OF_NUMBERS, MAX_INT, Stochastic, StochasticClassifier


class SGDClassifier(StochasticClassifier):
    """Stochastic gradient descent with the parameters, and step by step the weights, of ``sklearn.linear_model.SGDClassifier``.

    >>> from lineal import SGDClassifier
    >>> model = SGDClassifier(random_state=0).fit([[-1.0, -1.0], [-2.0, -1.0], [1.0, 1.0], [2.0, 1.0]], [1, 1, 2, 2])
    >>> print(model.predict([[-0.8, -1.0]])[0])
    1
    """

    def __init__(
        self,
        loss="hinge",
        *,
        penalty="l2",
        alpha=0.0001,
        l1_ratio=0.15,
        fit_intercept=True,
        max_iter=1000,
        tol=1e-3,
        shuffle=True,
        verbose=0,
        epsilon=0.1,
        n_jobs=None,
        random_state=None,
        learning_rate="optimal",
        eta0=0.01,
        power_t=0.5,
        early_stopping=False,
        validation_fraction=0.1,
        n_iter_no_change=5,
        class_weight=None,
        warm_start=False,
        average=False,
    ):
        self.loss = loss
        self.penalty = penalty
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.shuffle = shuffle
        self.verbose = verbose
        self.epsilon = epsilon
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.learning_rate = learning_rate
        self.eta0 = eta0
        self.power_t = power_t
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.average = average

    @atomic
    def fit(self, X: Any, y: Any, coef_init: Any = None, intercept_init: Any = None, sample_weight: Any = None) -> Any:
        """Fits to features and classes."""
        choice(self, "loss", LOSSES_OF_CLASSES)
        return self._fit(X, y, coef_init, intercept_init, sample_weight)

    @atomic
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Any:
        """One epoch over these rows. The first call names all classes."""
        choice(self, "loss", LOSSES_OF_CLASSES)
        self._check_partial()
        self._first_classes(classes)
        return self._partial(X, y, 1, classes, sample_weight, None, None)

    def _has_proba(self) -> bool:
        if self.loss not in ("log_loss", "modified_huber"):
            raise AttributeError(f"probability estimates are not available for loss={self.loss!r}")
        return True

    def __getattribute__(self, name: str) -> Any:
        if name in ("predict_proba", "predict_log_proba"):
            object.__getattribute__(self, "_has_proba")()
        return super().__getattribute__(name)

    def predict_proba(self, X: Any) -> np.ndarray:
        """The probability of each class, for ``loss='log_loss'`` and ``'modified_huber'``."""
        check_is_fitted(self)
        scores = self.decision_function(X)
        if self.loss == "log_loss":
            # Without overflow, and with the smallest numbers that there are for scores far below 0.
            small = np.exp(-np.abs(scores))
            p = np.where(scores >= 0, 1.0, small) / (1.0 + small)
        else:
            p = (np.clip(scores, -1.0, 1.0) + 1.0) / 2.0
        if scores.ndim == 1:
            return np.column_stack([1.0 - p, p])
        total = p.sum(axis=1, keepdims=True)
        p[total[:, 0] == 0] = 1.0
        return p / np.where(total == 0, p.shape[1], total)

    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Logarithms of the probabilities."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))


class Perceptron(StochasticClassifier):
    """The perceptron with the parameters, and step by step the weights, of ``sklearn.linear_model.Perceptron``."""

    loss = "perceptron"
    learning_rate = "constant"
    average = 0

    def __init__(
        self,
        *,
        penalty=None,
        alpha=0.0001,
        l1_ratio=0.15,
        fit_intercept=True,
        max_iter=1000,
        tol=1e-3,
        shuffle=True,
        verbose=0,
        eta0=1.0,
        n_jobs=None,
        random_state=0,
        early_stopping=False,
        validation_fraction=0.1,
        n_iter_no_change=5,
        class_weight=None,
        warm_start=False,
    ):
        self.penalty = penalty
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.shuffle = shuffle
        self.verbose = verbose
        self.eta0 = eta0
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.class_weight = class_weight
        self.warm_start = warm_start

    @atomic
    def fit(self, X: Any, y: Any, coef_init: Any = None, intercept_init: Any = None, sample_weight: Any = None) -> Any:
        """Fits to features and classes."""
        return self._fit(X, y, coef_init, intercept_init, sample_weight)

    @atomic
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Any:
        """One epoch over these rows. The first call names all classes."""
        self._check_partial()
        self._first_classes(classes)
        return self._partial(X, y, 1, classes, sample_weight, None, None)


class PassiveAggressiveClassifier(StochasticClassifier):
    """Passive–aggressive updates with the parameters, and step by step the weights, of ``sklearn.linear_model.PassiveAggressiveClassifier``."""

    penalty = None
    alpha = 1.0
    l1_ratio = 0.0

    def __init__(
        self,
        *,
        C=1.0,
        fit_intercept=True,
        max_iter=1000,
        tol=1e-3,
        early_stopping=False,
        validation_fraction=0.1,
        n_iter_no_change=5,
        shuffle=True,
        verbose=0,
        loss="hinge",
        n_jobs=None,
        random_state=None,
        warm_start=False,
        class_weight=None,
        average=False,
    ):
        self.C = C
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.shuffle = shuffle
        self.verbose = verbose
        self.loss = loss
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.warm_start = warm_start
        self.class_weight = class_weight
        self.average = average

    def _rate(self) -> str:
        return "pa1" if self.loss == "hinge" else "pa2"

    def _eta(self) -> float:
        return self.C

    def _loss_name(self) -> str:
        return "hinge"

    @atomic
    def fit(self, X: Any, y: Any, coef_init: Any = None, intercept_init: Any = None) -> Any:
        """Fits to features and classes."""
        choice(self, "loss", ["hinge", "squared_hinge"])
        return self._fit(X, y, coef_init, intercept_init, None)

    @atomic
    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> Any:
        """One epoch over these rows. The first call names all classes."""
        choice(self, "loss", ["hinge", "squared_hinge"])
        self._check_partial()
        self._first_classes(classes)
        return self._partial(X, y, 1, classes, None, None, None)


class SGDRegressor(Stochastic, SparseWeights, Regressor):
    """Stochastic gradient descent with the parameters, and step by step the weights, of ``sklearn.linear_model.SGDRegressor``."""

    def __init__(
        self,
        loss="squared_error",
        *,
        penalty="l2",
        alpha=0.0001,
        l1_ratio=0.15,
        fit_intercept=True,
        max_iter=1000,
        tol=1e-3,
        shuffle=True,
        verbose=0,
        epsilon=0.1,
        random_state=None,
        learning_rate="invscaling",
        eta0=0.01,
        power_t=0.25,
        early_stopping=False,
        validation_fraction=0.1,
        n_iter_no_change=5,
        warm_start=False,
        average=False,
    ):
        self.loss = loss
        self.penalty = penalty
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.shuffle = shuffle
        self.verbose = verbose
        self.epsilon = epsilon
        self.random_state = random_state
        self.learning_rate = learning_rate
        self.eta0 = eta0
        self.power_t = power_t
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.warm_start = warm_start
        self.average = average

    @atomic
    def fit(self, X: Any, y: Any, coef_init: Any = None, intercept_init: Any = None, sample_weight: Any = None) -> Any:
        """Fits to features and numbers."""
        choice(self, "loss", LOSSES_OF_NUMBERS)
        self._validate(partial=False)
        if self.warm_start and "coef_" in self.__dict__:
            coef_init = self.coef_ if coef_init is None else coef_init
            intercept_init = self.intercept_ if intercept_init is None else intercept_init
        for name in ("coef_", "intercept_", "_standard", "_averages", "t_"):
            self.__dict__.pop(name, None)
        self._partial(X, y, self.max_iter, sample_weight, coef_init, intercept_init)
        if self.tol is not None and self.tol > -np.inf and self.n_iter_ == self.max_iter:
            warnings.warn(
                "Maximum number of iteration reached before convergence. Consider increasing max_iter to improve the fit.",
                ConvergenceWarning,
                stacklevel=3,
            )
        return self

    @atomic
    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """One epoch over these rows."""
        choice(self, "loss", LOSSES_OF_NUMBERS)
        if "coef_" not in self.__dict__:
            self._validate(partial=True)
        return self._partial(X, y, 1, sample_weight, None, None)

    def _partial(self, X: Any, y: Any, max_iter: int, sample_weight: Any, coef_init: Any, intercept_init: Any) -> Any:
        first = "coef_" not in self.__dict__
        X, y = self._check(X, y, reset=first, order="C", accept_large_sparse=False, y_numeric=True)
        y = column_or_1d(plain_array(y, np.float64), warn=True)
        weights = _check_sample_weight(sample_weight, X, dtype=np.float64)
        n_rows, n_features = X.shape
        if first or coef_init is not None:
            coef = np.zeros(n_features) if coef_init is None else np.asarray(coef_init, dtype=np.float64).ravel().copy()
            intercept = 0.0 if intercept_init is None else float(np.asarray(intercept_init).ravel()[0])
            if coef.shape != (n_features,):
                raise ValueError("Provided coef_init does not match dataset.")
            self._standard, self._averages = (coef, intercept), (np.zeros(n_features), 0.0)
        elif not self.average:
            self._standard = (np.asarray(self.coef_), float(self.intercept_[0]))
        if "t_" not in self.__dict__:
            self.t_ = 1.0
        mask = self._held_out(y, weights)
        generator = check_random_state(self.random_state)
        seed = int(generator.randint(0, MAX_INT))
        score = None
        if self.early_stopping:
            held_X, held_y, held_w = X[mask], y[mask], weights[mask]

            def score(coef: np.ndarray, bias: float) -> float:
                left = np.average((held_y - held_X @ coef - bias) ** 2, weights=held_w)
                mean = np.average(held_y, weights=held_w)
                return float(1.0 - left / np.average((held_y - mean) ** 2, weights=held_w))

        average = (np.ascontiguousarray(self._averages[0]), float(self._averages[1])) if self.average else None
        steps, self.n_iter_, curve = self._run(
            features(X), issparse(X), y, weights, self._standard, average, seed=seed, max_iter=max_iter, mask=mask, score=score
        )
        self.t_ += self.n_iter_ * n_rows
        self._standard = steps.weights()
        if self.average:
            self._averages = steps.averages()
        coef, bias = self._averages if self.average and self.average <= self.t_ - 1 else self._standard
        self.coef_, self.intercept_ = coef, np.array([bias])
        self._tell(curve, n_rows)
        return self


__all__ = ["NotFittedError", "PassiveAggressiveClassifier", "Perceptron", "SGDClassifier", "SGDRegressor"]
