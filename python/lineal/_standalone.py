"""What scikit-learn would provide, for those who do not have it: parameters, scores, checks of arrays."""

from __future__ import annotations

import inspect
import numbers
from typing import Any

import numpy as np


class NotFittedError(ValueError, AttributeError):
    """An estimator was asked before it was fitted."""


class InvalidParameterError(ValueError, TypeError):
    """A parameter of an estimator is of a wrong type, or out of its range."""


class ConvergenceWarning(UserWarning):
    """A solver gave up before it met the tolerance."""


class BaseEstimator:
    """Parameters are the arguments of ``__init__``, kept as they came."""

    @classmethod
    def _names(cls) -> list[str]:
        return [p for p in inspect.signature(cls.__init__).parameters if p != "self"]

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters by name; with ``deep`` also those of estimators among them."""
        out: dict[str, Any] = {}
        for name in self._names():
            value = getattr(self, name)
            if deep and hasattr(value, "get_params") and not isinstance(value, type):
                out.update((f"{name}__{key}", inner) for key, inner in value.get_params().items())
            out[name] = value
        return out

    def set_params(self, **params: Any) -> Any:
        """Sets parameters by name and returns the estimator."""
        known = self._names()
        for name, value in params.items():
            head, _, rest = name.partition("__")
            if head not in known:
                raise ValueError(f"Invalid parameter {head!r} for estimator {self}. Valid parameters are: {known}.")
            if rest:
                getattr(self, head).set_params(**{rest: value})
            else:
                setattr(self, head, value)
        return self

    def __repr__(self) -> str:
        defaults = inspect.signature(type(self).__init__).parameters
        given = []
        for name in self._names():
            value = getattr(self, name)
            if repr(value) != repr(defaults[name].default):
                given.append(f"{name}={value!r}")
        return f"{type(self).__name__}({', '.join(given)})"


class ClassifierMixin:
    """Accuracy as the score."""

    _estimator_type = "classifier"

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The share of rows whose class is predicted."""
        right = np.asarray(y) == self.predict(X)  # type: ignore[attr-defined]
        if right.ndim > 1:
            right = right.all(axis=1)
        return float(np.average(right, weights=sample_weight))


class RegressorMixin:
    """R² as the score."""

    _estimator_type = "regressor"

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The share of the variance that is explained."""
        y = np.asarray(y, dtype=np.float64)
        weights = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight)
        weights = weights.reshape(-1, *[1] * (y.ndim - 1))
        left = (weights * (y - self.predict(X)) ** 2).sum(axis=0)  # type: ignore[attr-defined]
        mean = (weights * y).sum(axis=0) / weights.sum()
        return float(np.mean(1.0 - left / (weights * (y - mean) ** 2).sum(axis=0)))


class TransformerMixin:
    """``fit_transform`` as ``fit`` and ``transform``."""

    def fit_transform(self, X: Any, y: Any = None, **params: Any) -> Any:
        """Fits and transforms."""
        return self.fit(X, y, **params).transform(X)  # type: ignore[attr-defined]


def issparse(x: Any) -> bool:
    """Whether it is one of SciPy's sparse matrices."""
    return hasattr(x, "tocsr")


def check_array(X: Any, *, ensure_min_samples: int = 1) -> Any:
    """A matrix of finite numbers, dense or CSR."""
    if issparse(X):
        X = X.tocsr()
        values = X.data
    else:
        X = np.asarray(X)
        if X.dtype.kind not in "fiub":
            X = X.astype(np.float64)
        if X.dtype not in (np.float32, np.float64):
            X = X.astype(np.float64)
        if X.ndim != 2:
            raise ValueError(
                f"Expected 2D array, got {X.ndim}D array instead. Reshape your data either using "
                "array.reshape(-1, 1) if it has one feature or array.reshape(1, -1) if it is one row."
            )
        values = X
    if X.shape[0] < ensure_min_samples:
        raise ValueError(f"Found array with {X.shape[0]} sample(s) while a minimum of {ensure_min_samples} is required.")
    if X.shape[1] < 1:
        raise ValueError(f"Found array with 0 feature(s) (shape={X.shape}) while a minimum of 1 is required.")
    if values.dtype.kind == "f" and not np.isfinite(values.sum()) and not np.isfinite(values).all():
        raise ValueError("Input X contains NaN or infinity.")
    return X


def validate_data(estimator: Any, X: Any, y: Any = "no_validation", *, reset: bool = True, **_: Any) -> Any:
    """Checks features, and labels if there are any; remembers or compares the width."""
    names = getattr(X, "columns", None)
    checked = check_array(X)
    if reset:
        estimator.n_features_in_ = checked.shape[1]
        if names is not None and all(isinstance(name, str) for name in names):
            estimator.feature_names_in_ = np.asarray(names, dtype=object)
        elif hasattr(estimator, "feature_names_in_"):
            del estimator.feature_names_in_
    elif checked.shape[1] != estimator.n_features_in_:
        raise ValueError(
            f"X has {checked.shape[1]} features, but {type(estimator).__name__} is expecting "
            f"{estimator.n_features_in_} features as input."
        )
    if isinstance(y, str) and y == "no_validation":
        return checked
    if y is None:
        raise ValueError(f"{type(estimator).__name__} requires y to be passed, but the target y is None.")
    y = np.asarray(y)
    if len(y) != checked.shape[0]:
        raise ValueError(
            f"Found input variables with inconsistent numbers of samples: [{checked.shape[0]}, {len(y)}]"
        )
    return checked, y


def column_or_1d(y: Any, *, warn: bool = False) -> np.ndarray:
    """A vector of a vector or of one column."""
    y = np.asarray(y)
    if y.ndim == 2 and y.shape[1] == 1:
        y = y.ravel()
    if y.ndim != 1:
        raise ValueError(f"y should be a 1d array, got an array of shape {y.shape} instead.")
    return y


def check_classification_targets(y: Any) -> None:
    """Refuses numbers with fractions, which are no classes."""
    y = np.asarray(y)
    if y.dtype.kind == "f" and not np.isfinite(y).all():
        raise ValueError("Input y contains NaN or infinity.")
    if y.dtype.kind == "f" and np.any(y != y.astype(np.int64)):
        raise ValueError(
            "Unknown label type: continuous. Maybe you are trying to fit a classifier, which expects "
            "discrete classes on a regression target with continuous values."
        )


def check_is_fitted(estimator: Any, attribute: str | None = None) -> None:
    """Refuses an estimator that was not fitted."""
    fitted = [name for name in vars(estimator) if name.endswith("_") and not name.startswith("__")]
    if not (hasattr(estimator, attribute) if attribute else fitted):
        raise NotFittedError(
            f"This {type(estimator).__name__} instance is not fitted yet. Call 'fit' with appropriate "
            "arguments before using this estimator."
        )


def _check_sample_weight(sample_weight: Any, X: Any, dtype: Any = None, **_: Any) -> np.ndarray:
    n = X.shape[0]
    if sample_weight is None:
        return np.ones(n)
    if isinstance(sample_weight, numbers.Number):
        return np.full(n, float(sample_weight))  # type: ignore[arg-type]
    weights = np.asarray(sample_weight, dtype=np.float64)
    if weights.shape != (n,):
        raise ValueError(f"sample_weight.shape == {weights.shape}, expected {(n,)}!")
    if not np.isfinite(weights).all():
        raise ValueError("Input sample_weight contains NaN or infinity.")
    return weights


def check_random_state(seed: Any) -> np.random.RandomState:
    """NumPy's generator of a seed."""
    if seed is None or seed is np.random:
        return np.random.mtrand._rand
    if isinstance(seed, numbers.Integral):
        return np.random.RandomState(int(seed))
    if isinstance(seed, np.random.RandomState):
        return seed
    raise ValueError(f"{seed!r} cannot be used to seed a numpy.random.RandomState instance")


def clone(estimator: Any, *, safe: bool = True) -> Any:
    """An estimator with the same parameters, not fitted."""
    if not hasattr(estimator, "get_params"):
        return estimator
    return type(estimator)(**{name: clone(value) for name, value in estimator.get_params(deep=False).items()})
