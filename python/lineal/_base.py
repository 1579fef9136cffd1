"""What all estimators of rows share: checks of arrays, the call into the library, predictions, files."""

from __future__ import annotations

import functools
import json
import numbers
import os
import warnings
from typing import Any, Callable

import numpy as np

from . import _lineal
from ._report import Certificate, Report, estimator_html, parse

try:
    from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, TransformerMixin, clone
    from sklearn.exceptions import ConvergenceWarning, NotFittedError
    from sklearn.utils import check_random_state
    from sklearn.utils._param_validation import InvalidParameterError
    from sklearn.utils.multiclass import check_classification_targets
    from sklearn.utils.validation import _check_sample_weight, check_is_fitted, column_or_1d, validate_data

    HAVE_SKLEARN = True
except ImportError:
    from ._standalone import (  # type: ignore[assignment]
        BaseEstimator,
        ClassifierMixin,
        ConvergenceWarning,
        InvalidParameterError,
        NotFittedError,
        RegressorMixin,
        TransformerMixin,
        _check_sample_weight,
        check_classification_targets,
        check_is_fitted,
        check_random_state,
        clone,
        column_or_1d,
        validate_data,
    )

    HAVE_SKLEARN = False

__all__ = ["BaseEstimator", "ConvergenceWarning", "NotFittedError"]

FLOATS = (np.dtype(np.float64), np.dtype(np.float32))


def issparse(x: Any) -> bool:
    """Whether it is one of SciPy's sparse matrices or arrays."""
    return hasattr(x, "tocsr") and hasattr(x, "nnz")


def features(X: Any) -> Any:
    """A matrix as the extension takes it, which copies neither C-ordered arrays nor CSR matrices of f32."""
    if issparse(X):
        X = X.tocsr()
        ends = X.indptr
        # SciPy walks along pointers without a look at where they lead.
        if len(ends) != X.shape[0] + 1 or ends[0] != 0 or ends[-1] > min(len(X.indices), len(X.data)) or (ends[1:] < ends[:-1]).any():
            raise ValueError("the pointers of a CSR matrix must rise from 0 to the number of its entries")
        if not X.has_canonical_format:
            X = X.copy()
            X.sum_duplicates()
        # What came out of a message between processes may be misaligned.
        return X.shape[1], *(np.require(part, requirements=["C", "A"]) for part in (X.indptr, X.indices, X.data))
    if X.flags.aligned and (X.flags.c_contiguous or X.flags.f_contiguous):
        return X
    return np.array(X, order="C")


SAMPLE = 1000
"""Rows that are looked at before whole columns are."""


def coarse(X: Any, part: float) -> np.ndarray:
    """Columns of an array whose values single precision, which the library keeps features in, changes by more than ``part`` of their range: seconds since 1970, say."""
    if type(X) is not np.ndarray or X.ndim != 2 or X.dtype != np.float64 or len(X) < 2:
        return np.array([], dtype=np.intp)
    some = X[:: max(1, len(X) // SAMPLE)]
    low, high = some.min(axis=0), some.max(axis=0)
    found = []
    for j in np.flatnonzero(np.maximum(np.abs(low), np.abs(high)) * 2.0**-24 > part * (high - low)):
        column = X[:, j]
        span = column.max() - column.min()
        with np.errstate(over="ignore"):
            if 0 < span < np.inf and np.abs(column - column.astype(np.float32)).max() > part * span:
                found.append(j)
    return np.array(found, dtype=np.intp)


def shifted(X: Any, weights: np.ndarray) -> tuple[Any, np.ndarray | None]:
    """Features less their mean, and the mean, where single precision would lose what a column says beside it; else as they are, and ``None``. For estimators whose weights do not depend on it."""
    if not len(coarse(X, 1e-6)):
        return X, None
    mean = weights @ X / weights.sum()
    return X - mean, mean


def collected(X: Any) -> Any:
    """A lazy frame of polars as a frame; anything else as it is."""
    return X.collect() if hasattr(X, "collect") and hasattr(X, "collect_schema") else X


def readable(path: Any) -> str:
    """The path of a file that can be opened, as a string; else the system's own exception."""
    with open(path, "rb"):
        return os.fspath(path)


MOST_THREADS = 256
"""More threads than this are not started, whatever ``n_jobs`` says: each takes memory, and results do not depend on their number."""


def threads(n_jobs: Any) -> int:
    """The number of threads that ``n_jobs`` means; 0 for all cores."""
    if n_jobs is None or (isinstance(n_jobs, numbers.Integral) and n_jobs == -1):
        return 0
    if not isinstance(n_jobs, numbers.Integral):
        raise ValueError(f"The 'n_jobs' parameter must be an int or None. Got {n_jobs!r} instead.")
    if int(n_jobs) < -1:
        return max((os.cpu_count() or 1) + 1 + int(n_jobs), 1)
    return min(max(int(n_jobs), 1), max(MOST_THREADS, os.cpu_count() or 1))


def seed_of(random_state: Any) -> int:
    """A seed of the library's own generator."""
    if random_state is None:
        return 0
    if isinstance(random_state, numbers.Integral):
        if not 0 <= int(random_state) < 2**32:
            raise ValueError(f"The 'random_state' parameter must be an int in the range [0, 4294967295]. Got {random_state!r} instead.")
        return int(random_state)
    return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))


def number(estimator: Any, name: str, low: float = 0.0, *, closed: bool = False, high: float = np.inf) -> float:
    """A parameter that must be a number above ``low`` (or at least that, if ``closed``)."""
    value = getattr(estimator, name)
    kind = type(estimator).__name__
    span = f"{'[' if closed else '('}{low:g}, {high:g}{']' if high < np.inf else ')'}"
    is_number = isinstance(value, numbers.Real) and not isinstance(value, (bool, np.bool_))
    real = float(value) if is_number else np.nan
    if not (low < real or (closed and real == low)) or real > high:
        raise InvalidParameterError(f"The {name!r} parameter of {kind} must be a float in the range {span}. Got {value!r} instead.")
    return real


def count(estimator: Any, name: str, low: int = 1) -> int:
    """A parameter that must be a whole number of at least ``low``."""
    value = getattr(estimator, name)
    if not isinstance(value, numbers.Integral) or isinstance(value, (bool, np.bool_)) or int(value) < low:
        raise InvalidParameterError(f"The {name!r} parameter of {type(estimator).__name__} must be an int in the range [{low}, inf). Got {value!r} instead.")
    return int(value)


def choice(estimator: Any, name: str, options: Any) -> Any:
    """A parameter that must be one of the options."""
    value = getattr(estimator, name)
    if not any(value is option or (isinstance(value, (str, bool)) and value == option) for option in options):
        shown = ", ".join(map(repr, options))
        raise InvalidParameterError(
            f"The {name!r} parameter of {type(estimator).__name__} must be one of {{{shown}}}. Got {value!r} instead."
        )
    return value


def passes(max_iter: Any, estimator: Any = None) -> int | None:
    """``max_iter`` of scikit-learn as a limit of passes; ``None`` is the library's own."""
    if max_iter is None:
        return None
    if not isinstance(max_iter, numbers.Integral) or max_iter < 0:
        raise InvalidParameterError(
            f"The 'max_iter' parameter of {type(estimator).__name__} must be an int in the range [0, inf). Got {max_iter!r} instead."
        )
    # No run ends by a limit beyond that, and the library counts in 64 bits.
    return min(int(max_iter), 10**12)


def most(top: Any) -> int | None:
    """How many entries of an explanation are wanted; ``None`` for all."""
    if top is None:
        return None
    if not isinstance(top, numbers.Integral) or int(top) < 0:
        raise ValueError(f"top must be a whole number of at least 0, or None for all; it is {top!r}")
    return int(top)


def class_factors(class_weight: Any, classes: np.ndarray, ids: np.ndarray, weights: np.ndarray) -> np.ndarray | None:
    """The factor of each class; ``None`` if all are 1."""
    if class_weight is None:
        return None
    if isinstance(class_weight, str):
        if class_weight != "balanced":
            raise ValueError(f"class_weight must be dict, 'balanced', or None, got: {class_weight!r}")
        counts = np.bincount(ids, weights=weights, minlength=len(classes))
        with np.errstate(divide="ignore"):
            return np.where(counts > 0, weights.sum() / (len(classes) * counts), 1.0)
    if not isinstance(class_weight, dict):
        raise ValueError(f"class_weight must be dict, 'balanced', or None, got: {class_weight!r}")
    factors = np.ones(len(classes))
    known = {c.item() if isinstance(c, np.generic) else c: i for i, c in enumerate(classes)}
    missing = []
    for name, factor in class_weight.items():
        key = name.item() if isinstance(name, np.generic) else name
        if key in known:
            factors[known[key]] = factor
        else:
            missing.append(name)
    unweighted = [c for c in known if c not in {k.item() if isinstance(k, np.generic) else k for k in class_weight}]
    if missing and unweighted:
        raise ValueError(f"The classes, {unweighted}, are not in class_weight")
    return factors


def atomic(fit: Callable) -> Callable:
    """A ``fit`` that leaves the estimator as it was if it fails or is interrupted."""

    @functools.wraps(fit)
    def wrapped(self: Any, *args: Any, **kwargs: Any) -> Any:
        before = dict(self.__dict__)
        try:
            return fit(self, *args, **kwargs)
        except BaseException:
            self.__dict__.clear()
            self.__dict__.update(before)
            raise

    return wrapped


def progress(verbose: Any) -> Any:
    """Something to call after every pass: a bar of tqdm, where it is installed."""
    if not verbose:
        return None
    try:
        from tqdm.auto import tqdm
    except ImportError:

        def show(number: int, objective: float | None, gap: float | None) -> None:
            print(f"pass {number}: objective {objective}, gap {gap}")

        return show
    bar = tqdm(desc="lineal", unit="pass")

    def update(number: int, objective: float | None, gap: float | None) -> None:
        bar.update(number - bar.n)
        bar.set_postfix(objective=objective, gap=gap)

    return update


def names_of(classes: np.ndarray) -> list[str]:
    """Names of classes for the model file."""
    names = [str(c) for c in classes]
    return names if len(set(names)) == len(names) else [f"{i}" for i in range(len(names))]


class Rows(BaseEstimator):
    """An estimator of rows: a model of the library behind scikit-learn's manners."""

    def _more_spec(self) -> dict[str, Any]:
        return {}

    def _check(self, X: Any, y: Any = "no_validation", *, reset: bool, **how: Any) -> Any:
        """Checked features (and labels)."""
        how = {"accept_sparse": "csr", "dtype": [np.float64, np.float32], "reset": reset, **how}
        X = collected(X)
        if isinstance(y, str) and y == "no_validation":
            return validate_data(self, X, **how)
        return validate_data(self, X, y, **how)

    def _ready(self, X: Any) -> Any:
        """Features to predict, as the extension takes them."""
        if (
            type(X) is np.ndarray
            and X.ndim == 2
            and X.dtype in FLOATS
            and len(X)
            and "feature_names_in_" not in self.__dict__
            and self.__dict__.get("n_features_in_") == X.shape[1]
            and X.shape[0] * X.shape[1] < 100_000
            and np.isfinite(X.sum())
        ):
            return features(X)
        check_is_fitted(self)
        return features(self._check(X, reset=False))

    def _train(
        self,
        X: Any,
        y: Any,
        spec: dict[str, Any],
        *,
        classes: np.ndarray | None = None,
        weights: np.ndarray | None = None,
        n_jobs: Any = None,
        verbose: Any = 0,
    ) -> Any:
        """A model of the library."""
        spec = {"standardize": "never", **spec, **self._more_spec()}
        if weights is not None and (weights == weights[0]).all() and weights[0] == 1.0:
            weights = None
        names = getattr(self, "feature_names_in_", None)
        lost = coarse(X, 1e-3)
        if len(lost):
            name = repr(str(names[lost[0]])) if names is not None else str(lost[0])
            warnings.warn(
                f"Values of feature {name}{f' and {len(lost) - 1} more' if len(lost) > 1 else ''} are so large beside their range that single precision, which features are kept in, "
                "hardly tells them apart: subtract their mean (StandardScaler does)",
                UserWarning,
                stacklevel=4,
            )
        model = _lineal.fit(
            X,
            y,
            [] if classes is None else names_of(classes),
            json.dumps(spec),
            weights,
            None if names is None else [str(name) for name in names],
            threads(n_jobs),
            progress(verbose),
        )
        return model

    def _keep(self, model: Any, *, warn: bool = True) -> None:
        """Remembers a model, what it proves, and what it tells."""
        self._model = model
        self.report_, self.certificate_ = parse(model.report, model.certificate)
        if warn and not self.certificate_.converged and self.report_["solver"] != "sgd":
            warnings.warn(
                f"{type(self).__name__} did not converge in {self.report_['passes']} passes ({self.certificate_}). "
                "Increase max_iter, scale the data, or accept a larger tol.",
                ConvergenceWarning,
                stacklevel=4,
            )

    report_: Report
    certificate_: Certificate

    def save(self, path: Any) -> int:
        """Writes the model file that the program reads, too; returns its size in bytes."""
        check_is_fitted(self)
        return _model_of(self).save(os.fspath(path))

    def explain(self, X: Any, top: int | None = 10) -> list[dict[str, Any]]:
        """Why each row got its answer.

        An entry has the ``winner`` and the ``runner_up``, by how much it leads (``lead``), and ``contributions``: a list of
        ``(feature, value, weight, amount)``, the largest first, which with ``bias`` and ``rest`` add up to the lead.
        """
        check_is_fitted(self)
        found = _model_of(self).explain(self._ready(X), most(top))
        classes = getattr(self, "classes_", None)
        for entry in found:
            for place in ("winner", "runner_up"):
                if classes is not None and entry[place] is not None:
                    entry[place] = classes[entry[place]]
        return found

    def _repr_html_(self) -> str:
        return estimator_html(self)

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        return {"text/plain": repr(self), "text/html": estimator_html(self)}

    def __getstate__(self) -> dict[str, Any]:
        base = getattr(super(), "__getstate__", None)
        state = dict(base() if base is not None else self.__dict__)
        if state.get("_model") is not None:
            state["_model"] = state["_model"].to_bytes()
        # Users may have set weights of their own, which then are not the model's.
        own = state.pop("_own", None)
        state["_weights_are_own"] = own is not None and own[0] is state.get("coef_") and own[1] is state.get("intercept_")
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        state = dict(state)
        model = state.get("_model")
        if isinstance(model, tuple):
            state["_model"] = _lineal.Model.from_bytes(*model)
        base = getattr(super(), "__setstate__", None)
        if base is not None:
            base(state)
        else:
            self.__dict__.update(state)
        if self.__dict__.pop("_weights_are_own", False):
            self._own = (self.coef_, self.intercept_)

    def __sklearn_is_fitted__(self) -> bool:
        return "_model" in self.__dict__ or "coef_" in self.__dict__

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _model_of(estimator: Any) -> Any:
    """The estimator's model; where its weights were not made by one run, or were set by hand, one of these weights."""
    model = estimator.__dict__.get("_model")
    weights = estimator.__dict__.get("coef_")
    if model is not None and (weights is None or not hasattr(estimator, "_is_own") or estimator._is_own()):
        return model
    if weights is None:
        raise ValueError(f"the weights of this {type(estimator).__name__} were not made by one run, so there is no model file of it")
    coef = np.atleast_2d(weights.toarray() if issparse(weights) else np.asarray(weights, dtype=np.float64))
    classes = estimator.__dict__.get("classes_")
    if coef.shape[0] > 1 and classes is None:
        raise ValueError(f"this {type(estimator).__name__} predicts {coef.shape[0]} numbers, and a model file has one")
    bias = np.broadcast_to(np.asarray(estimator.intercept_, dtype=np.float64), coef.shape[:1])
    names = getattr(estimator, "feature_names_in_", None)
    logistic = hasattr(estimator, "predict_proba") and getattr(estimator, "loss", "log_loss") == "log_loss"
    softmax = logistic and getattr(estimator, "solver", "liblinear") != "liblinear"
    spec = {
        "task": "regress" if classes is None else "classify",
        "loss": "squared" if classes is None else "logistic" if logistic else "hinge",
        "strategy": "joint" if softmax or coef.shape[0] == 1 else "ova",
        "standardize": "never",
    }
    return _lineal.Model.from_weights(
        np.vstack([coef.T, bias[None, :]]).ravel().tolist(),
        coef.shape[1],
        [] if classes is None else names_of(classes),
        json.dumps(spec),
        None if names is None else [str(name) for name in names],
    )


class Linear(Rows):
    """An estimator with ``coef_`` and ``intercept_``."""

    coef_: Any
    intercept_: Any

    def _set_weights(self, coef: np.ndarray, intercept: Any) -> None:
        self.coef_, self.intercept_ = coef, intercept
        self._own = (coef, intercept)

    def _is_own(self) -> bool:
        """Whether the weights are still those of the model: users may set their own."""
        own = self.__dict__.get("_own")
        return (
            own is not None
            and self.__dict__.get("_model") is not None
            and own[0] is self.coef_
            and own[1] is self.intercept_
        )

    def _linear(self, X: Any) -> np.ndarray:
        """X · coefᵀ + intercept, by NumPy and SciPy."""
        check_is_fitted(self)
        X = self._check(X, reset=False)
        scores = X @ self.coef_.T
        if issparse(scores):
            scores = scores.toarray()
        return np.asarray(scores) + self.intercept_


class SparseWeights:
    """``coef_`` as a sparse matrix and back."""

    coef_: Any

    def sparsify(self) -> Any:
        """Makes ``coef_`` a sparse matrix."""
        from scipy.sparse import csr_matrix

        check_is_fitted(self)
        self.coef_ = csr_matrix(self.coef_)
        return self

    def densify(self) -> Any:
        """Makes ``coef_`` an array again."""
        check_is_fitted(self)
        if issparse(self.coef_):
            self.coef_ = self.coef_.toarray()
        return self


class Classifier(SparseWeights, ClassifierMixin, Linear):
    """Classes by the highest linear score."""

    classes_: np.ndarray
    n_iter_: Any
    _shift = 0.0

    def _targets(self, X: Any, y: Any, sample_weight: Any, class_weight: Any = None) -> tuple:
        """Checked features, numbers of classes, weights of rows, factors of classes."""
        X, y = self._check(X, y, reset=True, accept_large_sparse=True)
        check_classification_targets(y)
        y = column_or_1d(y, warn=True)
        self.classes_, ids = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(
                "This solver needs samples of at least 2 classes in the data, but the data contains only one class: "
                f"{self.classes_[0]!r}"
            )
        weights = _check_sample_weight(sample_weight, X, dtype=np.float64)
        if (weights < 0).any():
            raise ValueError("Negative values in data passed to `sample_weight`: weights must be at least 0")
        factors = class_factors(class_weight, self.classes_, ids, weights)
        return X, ids.astype(np.uint32), weights, factors

    def _keep_linear(self, model: Any, *, centre: bool = False, dtype: Any = np.float64) -> None:
        """Weights and biases of a model, one row for each column."""
        self._keep(model)
        coef, bias = model.weights.astype(dtype, copy=False), model.bias.astype(dtype, copy=False)
        intercept = bias if len(bias) else np.zeros(len(coef), dtype=dtype)
        # The same number added to the scores of all classes changes nothing, so where it ends up depends on the way there.
        self._shift = float(intercept.mean()) if centre and len(coef) > 1 else 0.0
        self._set_weights(coef, intercept - self._shift)
        self.n_iter_ = np.array([self.report_["passes"]], dtype=np.int32)

    def decision_function(self, X: Any) -> np.ndarray:
        """The score of each class; of two classes, that of the second."""
        if not self._is_own():
            scores = self._linear(X)
            return scores[:, 0] if scores.shape[1] == 1 else scores
        scores = self._model.scores(self._ready(X))
        return scores[:, 1].copy() if scores.shape[1] == 2 else scores - self._shift

    def predict(self, X: Any) -> np.ndarray:
        """The class of each row."""
        if self._is_own():
            return self.classes_[self._model.classes_of(self._ready(X))]
        scores = self.decision_function(X)
        ids = (scores > 0).astype(np.intp) if scores.ndim == 1 else scores.argmax(axis=1)
        return self.classes_[ids]


class Regressor(RegressorMixin, Linear):
    """Numbers by a linear score."""

    def _numbers(self, X: Any, y: Any, sample_weight: Any, *, multi_output: bool = False) -> tuple:
        """Checked features, numbers, weights of rows."""
        X, y = self._check(X, y, reset=True, multi_output=multi_output, y_numeric=True)
        y = np.asarray(y, dtype=np.float64)
        if not multi_output:
            y = column_or_1d(y, warn=True)
        weights = _check_sample_weight(sample_weight, X, dtype=np.float64)
        if (weights < 0).any():
            raise ValueError("Negative values in data passed to `sample_weight`: weights must be at least 0")
        return X, y, weights

    def predict(self, X: Any) -> np.ndarray:
        """The number of each row."""
        if self._is_own() and (np.ndim(self.coef_) == 1 or len(self.coef_) == 1):
            scores = self._model.scores(self._ready(X))
            return scores[:, 0].copy() if np.ndim(self.coef_) == 1 else scores
        out = self._linear(X)
        return out.ravel() if issparse(self.coef_) else out
