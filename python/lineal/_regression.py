"""Least squares, with and without a penalty, and Huber's loss."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from ._base import Regressor, atomic, choice, features, issparse, number, passes, plain_array, shifted
from ._report import Certificate, Report


class _LeastSquares(Regressor):
    """½‖y − Xw‖² + (α/2)‖w‖², one number or several for each row."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        tags.target_tags.single_output = True
        return tags

    def _solve(self, X: Any, y: np.ndarray, weights: np.ndarray, alphas: np.ndarray, *, tol: float, verbose: Any = 0, n_jobs: Any = None) -> None:
        # A free bias makes up for what is taken off the features.
        X, mean = shifted(X, weights) if self.fit_intercept else (X, None)
        rows = features(X)
        columns = y.reshape(len(y), -1)
        alphas = np.broadcast_to(alphas, columns.shape[1])
        exact = X.shape[1] <= 3000 or not alphas.all()
        coefs, biases, model = [], [], None
        for column, alpha in zip(columns.T, alphas):
            spec = {
                "task": "regress",
                "loss": "squared",
                "penalty": {"l2": float(alpha) / float(weights.sum())},
                "bias": "free" if self.fit_intercept else "none",
                "solver": "exact" if exact else "dual" if issparse(X) else "auto",
                "tol": tol,
                "precision": "f64",
            }
            model = self._train(rows, plain_array(column), spec, weights=weights, n_jobs=n_jobs, verbose=verbose)
            coefs.append(model.weights[0])
            bias = float(model.bias[0]) if len(model.bias) else 0.0
            biases.append(bias if mean is None else bias - float(mean @ coefs[-1]))
        # Equations that were solved at once have no passes to be short of; of least norm, they have no proof either.
        self._keep(model, warn=not exact)
        self._set_columns(X, y, coefs, biases)
        if mean is not None:
            # The model is of other features than those that come to be predicted.
            self._model = None

    def _set_columns(self, X: Any, y: np.ndarray, coefs: list[np.ndarray], biases: list[float]) -> None:
        """Weights in the precision of the features, one row for each column of ``y``."""
        if y.ndim == 1:
            self._set_weights(coefs[0].astype(X.dtype, copy=False), np.float64(biases[0]))
        else:
            self._set_weights(np.array(coefs, dtype=X.dtype), np.array(biases))
            if not self.fit_intercept:
                self.intercept_ = 0.0

    def _solve_positive(self, X: Any, y: np.ndarray, weights: np.ndarray, alphas: np.ndarray) -> None:
        """The same with weights of at least 0, by an active set over the normal equations."""
        columns, total = y.reshape(len(y), -1), float(weights.sum())
        mean = np.asarray(weights @ X).ravel() / total if self.fit_intercept else np.zeros(X.shape[1])
        weighted = X.T.multiply(weights) if hasattr(X, "tocsr") else X.T * weights
        gram = weighted @ X
        gram = np.asarray(gram.toarray() if hasattr(gram, "toarray") else gram, dtype=np.float64) - total * np.outer(mean, mean)
        coefs, biases, steps, objective = [], [], 0, 0.0
        for column, alpha in zip(columns.T, np.broadcast_to(alphas, columns.shape[1])):
            centre = float(weights @ column) / total if self.fit_intercept else 0.0
            moment = np.asarray(weighted @ column).ravel() - total * mean * centre
            coef, n_steps = _nonnegative(gram + alpha * np.eye(len(gram)), moment)
            coefs.append(coef)
            biases.append(centre - float(mean @ coef))
            rest = column - np.asarray(X @ coef).ravel() - biases[-1]
            objective += float((weights * rest**2).sum() + alpha * (coef**2).sum()) / (2 * total)
            steps += n_steps
        self._model = None
        told = {"loss": "squared", "solver": "active-set", "passes": max(steps, 1), "objective": objective, "gap": None, "converged": True, "curve": []}
        self.report_ = Report(told)
        self.certificate_ = Certificate(objective, None, True, f"objective {objective:.6g}; optimal among weights of at least 0, by the conditions of an active set")
        self._set_columns(X, y, coefs, biases)


def _nonnegative(gram: np.ndarray, moment: np.ndarray) -> tuple[np.ndarray, int]:
    """The minimum of ½wᵀGw − cᵀw over w ≥ 0 (Lawson and Hanson, 1974), and the number of steps."""
    w, free = np.zeros(len(moment)), np.zeros(len(moment), dtype=bool)
    tol = 1e-12 * max(float(np.abs(moment).max(initial=0.0)), 1e-300)
    for step in range(3 * len(moment) + 10):
        slope = np.where(free, -np.inf, moment - gram @ w)
        best = int(slope.argmax()) if len(slope) else 0
        if free.all() or slope[best] <= tol:
            return w, step
        free[best] = True
        while True:
            own = np.flatnonzero(free)
            found = np.linalg.lstsq(gram[np.ix_(own, own)], moment[own], rcond=None)[0]
            if (found > 0).all():
                w[:] = 0.0
                w[own] = found
                break
            gone = own[found <= 0]
            ratio = w[gone] / np.maximum(w[gone] - found[found <= 0], 1e-300)
            w[own] += float(ratio.min()) * (found - w[own])
            w[gone[ratio == ratio.min()]] = 0.0
            free &= w > 0
    return w, 3 * len(moment) + 10


MOST_SINGULAR = 3000
"""More features (or rows, if these are fewer) than this have no singular values: they would take longer than the fit."""

ROWS_AT_ONCE = 4096


def _singular(X: np.ndarray, weights: np.ndarray, centred: bool) -> np.ndarray:
    """Singular values of the rows, times the roots of their weights and less their mean, falling."""
    mean = weights @ X / weights.sum() if centred else np.zeros(X.shape[1])
    roots, wide = np.sqrt(weights), X.shape[1] > X.shape[0]

    def parts() -> Any:
        """The rows, in double precision; as columns where there are fewer rows than columns."""
        if wide:
            for start in range(0, X.shape[1], ROWS_AT_ONCE):
                own = slice(start, start + ROWS_AT_ONCE)
                yield ((X[:, own].astype(np.float64) - mean[own]) * roots[:, None]).T
        else:
            for start in range(0, X.shape[0], ROWS_AT_ONCE):
                own = slice(start, start + ROWS_AT_ONCE)
                yield (X[own].astype(np.float64) - mean) * roots[own, None]

    size = min(X.shape)
    gram = np.zeros((size, size))
    for part in parts():
        gram += part.T @ part
    squares = np.linalg.eigvalsh(gram)[::-1]
    if size and squares[-1] > 1e-8 * squares[0]:
        return np.sqrt(squares)
    # Squared, the small ones are lost in rounding: the triangular factor has all digits.
    factor: Any = np.zeros((0, size))
    for part in parts():
        factor = np.linalg.qr(np.vstack([factor, part]), mode="r")
    return np.linalg.svd(factor, compute_uv=False)[:size]


class Ridge(_LeastSquares):
    """Ridge regression with the parameters of ``sklearn.linear_model.Ridge``.

    ``solver`` is accepted and has no effect: the normal equations are solved exactly, or beyond 3,000 features the dual is. With ``positive`` weights are at least 0; there is then no model file.

    >>> from lineal import Ridge
    >>> model = Ridge(alpha=0.1).fit([[0.0], [1.0], [2.0]], [1.0, 3.0, 5.0])
    >>> print(round(float(model.coef_[0]), 3))
    1.905
    """

    def __init__(
        self, alpha=1.0, *, fit_intercept=True, copy_X=True, max_iter=None, tol=1e-4, solver="auto", positive=False, random_state=None
    ):
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.copy_X = copy_X
        self.max_iter = max_iter
        self.tol = tol
        self.solver = solver
        self.positive = positive
        self.random_state = random_state

    @atomic
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Ridge:
        """Fits to features and numbers."""
        choice(self, "solver", ["auto", "svd", "cholesky", "lsqr", "sparse_cg", "sag", "saga", "lbfgs"])
        if self.positive and self.solver not in ("auto", "lbfgs"):
            raise ValueError(f"solver='{self.solver}' does not support positive fitting. Please set the solver to 'auto' or 'lbfgs', or set `positive=False`")
        if self.solver == "lbfgs" and not self.positive:
            raise ValueError("'lbfgs' solver can be used only when positive=True. Please use another solver.")
        if np.ndim(self.alpha) == 0:
            number(self, "alpha", closed=True)
        alphas = np.asarray(self.alpha, dtype=np.float64)
        if (alphas < 0).any():
            raise ValueError(f"alpha must be at least 0, got {self.alpha!r}")
        passes(self.max_iter, self)
        X, y, weights = self._numbers(X, y, sample_weight, multi_output=True)
        n_targets = 1 if y.ndim == 1 else y.shape[1]
        if alphas.size not in (1, n_targets):
            raise ValueError(f"Number of targets and number of penalties do not correspond: {n_targets} != {alphas.size}")
        tol = number(self, "tol", closed=True) * 1e-4 or 1e-12
        if self.positive:
            self._solve_positive(X, y, weights, alphas.ravel())
        else:
            self._solve(X, y, weights, alphas.ravel(), tol=tol)
        if y.ndim == 2 and y.shape[1] == 1:
            # As there: weights of one column are a vector.
            self._set_weights(self.coef_.ravel(), self.intercept_)
        self.n_iter_ = max(1, int(self.report_["passes"]))
        self.solver_ = self.report_["solver"]
        return self


class LinearRegression(_LeastSquares):
    """Least squares with the parameters of ``sklearn.linear_model.LinearRegression``. Of dense features ``rank_`` (which counts singular values above ``tol`` times the largest) and ``singular_`` are known, too, unless both features and rows are more than 3,000. Where features depend on each other up to ``tol``, the shortest of all solutions is found, in double precision and without a proof.

    >>> from lineal import LinearRegression
    >>> model = LinearRegression().fit([[0.0], [1.0], [2.0]], [1.0, 3.0, 5.0])
    >>> print(round(float(model.coef_[0]), 6), round(model.intercept_, 6))
    2.0 1.0
    """

    def __init__(self, *, fit_intercept=True, copy_X=True, tol=1e-6, n_jobs=None, positive=False):
        self.fit_intercept = fit_intercept
        self.copy_X = copy_X
        self.tol = tol
        self.n_jobs = n_jobs
        self.positive = positive

    @atomic
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> LinearRegression:
        """Fits to features and numbers."""
        number(self, "tol", closed=True)
        X, y, weights = self._numbers(X, y, sample_weight, multi_output=True)
        if self.positive:
            self._solve_positive(X, y, weights, np.zeros(1))
        else:
            self.__dict__.pop("rank_", None), self.__dict__.pop("singular_", None)
            if not issparse(X) and min(X.shape) <= MOST_SINGULAR:
                self.singular_ = _singular(X, weights, self.fit_intercept)
                self.rank_ = int((self.singular_ > self.tol * self.singular_.max(initial=0.0)).sum())
            if getattr(self, "rank_", X.shape[1]) < X.shape[1]:
                self._solve_shortest(X, y, weights)
            else:
                self._solve(X, y, weights, np.zeros(1), tol=1e-10, n_jobs=self.n_jobs)
        return self


    def _solve_shortest(self, X: np.ndarray, y: np.ndarray, weights: np.ndarray) -> None:
        """Of many solutions the shortest. In single precision features that depend on each other do not quite, and what is left of that would get enormous weights."""
        columns, total, roots = y.reshape(len(y), -1), float(weights.sum()), np.sqrt(weights)[:, None]
        mean = weights @ X / total if self.fit_intercept else np.zeros(X.shape[1])
        centre = weights @ columns / total if self.fit_intercept else np.zeros(columns.shape[1])
        rows: Any = np.zeros((0, X.shape[1] + columns.shape[1]))
        for start in range(0, len(X), ROWS_AT_ONCE):
            own = slice(start, start + ROWS_AT_ONCE)
            rows = np.vstack([rows, roots[own] * np.hstack([X[own].astype(np.float64) - mean, columns[own] - centre])])
            if len(rows) > rows.shape[1]:
                rows = np.linalg.qr(rows, mode="r")
        found = np.linalg.lstsq(rows[:, : X.shape[1]], rows[:, X.shape[1] :], rcond=self.tol)[0]
        biases = [float(b) for b in centre - mean @ found]
        rest = columns - X @ found - biases
        objective = float((weights[:, None] * rest**2).sum()) / (2 * total)
        self._model = None
        self.report_ = Report({"loss": "squared", "solver": "singular-values", "passes": 1, "objective": objective, "gap": None, "converged": True, "curve": []})
        self.certificate_ = Certificate(objective, None, True, f"objective {objective:.6g}; the shortest of many solutions, by singular values, has no proof")
        self._set_columns(X, y, list(found.T), biases)


class HuberRegressor(Regressor):
    """Huber's regression with the parameters of ``sklearn.linear_model.HuberRegressor``: the scale of the noise is found along with the weights.

    For a scale σ the weights minimise Huber's loss with its corner at ε·σ, and the best value is a convex function of σ, whose minimum is found by
    its derivative.

    >>> from lineal import HuberRegressor
    >>> model = HuberRegressor().fit([[0.0], [1.0], [2.0], [3.0], [4.0]], [0.0, 1.1, 1.9, 3.0, 40.0])
    >>> print(round(float(model.coef_[0]), 1), int(model.outliers_.sum()))
    1.1 1
    """

    def __init__(self, *, epsilon=1.35, max_iter=100, alpha=0.0001, warm_start=False, fit_intercept=True, tol=1e-05):
        self.epsilon = epsilon
        self.max_iter = max_iter
        self.alpha = alpha
        self.warm_start = warm_start
        self.fit_intercept = fit_intercept
        self.tol = tol

    @atomic
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> HuberRegressor:
        """Fits to features and numbers."""
        epsilon = number(self, "epsilon", 1.0, closed=True)
        alpha, tol = number(self, "alpha", closed=True), number(self, "tol", closed=True)
        passes(self.max_iter, self)
        X, y, weights = self._numbers(X, y, sample_weight)
        rows, total = features(X), float(weights.sum())
        best: dict[float, Any] = {}

        def slope(log_scale: float) -> float:
            """The derivative of the best value by σ: Σ w (1 − (r/σ)² within, 1 − ε² outside)."""
            scale = float(np.exp(log_scale))
            l2 = alpha * scale / total
            spec = {
                "task": "regress",
                "loss": "huber",
                "delta": epsilon * scale,
                # Σ w σ H(r/σ) + α‖w‖², where the library's loss is σ²/2 · H(r/σ). On the way to a scale of 0, as of a perfect fit, it is soon less than weights can follow.
                "penalty": {"l2": l2 if l2 >= 1e-30 else 0.0},
                "bias": "free" if self.fit_intercept else "none",
                "solver": "newton",
                "tol": 1e-13,
                "precision": "f64",
            }
            model = self._train(rows, y, spec, weights=weights)
            if not json.loads(model.report)["converged"]:
                # Where every row is far off, Newton's method sees no curvature.
                model = self._train(rows, y, {**spec, "solver": "lbfgs", "max_passes": 20_000}, weights=weights)
            rest = (y - model.scores(rows)[:, 0]) / scale
            best[log_scale] = (model, np.abs(rest) > epsilon)
            return float((weights * (1.0 - np.minimum(np.abs(rest), epsilon) ** 2)).sum()) / total

        spread = float(np.median(np.abs(y - np.median(y)))) or float(np.abs(y).max()) or 1.0
        at = _root(slope, np.log(spread), tol=min(tol, 1e-6) * 1e-3)
        model, outliers = best[at]
        self._keep(model, warn=False)
        self._set_weights(model.weights[0], model.bias[0] if len(model.bias) else 0.0)
        self.scale_ = np.exp(at)
        self.outliers_ = outliers
        self.n_iter_ = len(best)
        return self


def _root(f: Any, start: float, *, tol: float) -> float:
    """Where a rising function is 0: brackets, then the Illinois form of false position. Returns a point where it was evaluated."""
    low = high = start
    f_low = f_high = f(start)
    step = 1.0
    while f_low > 0 and low > start - 60:
        high, f_high = low, f_low
        low -= step
        f_low, step = f(low), 2 * step
    step = 1.0
    while f_high < 0 and high < start + 60:
        low, f_low = high, f_high
        high += step
        f_high, step = f(high), 2 * step
    if f_low > 0 or f_high < 0:
        return low if f_low > 0 else high
    at = low if abs(f_low) < abs(f_high) else high
    for _ in range(100):
        if high - low <= tol or f_low == 0 or f_high == 0:
            break
        last, at = at, high - f_high * (high - low) / (f_high - f_low) if f_high != f_low else (low + high) / 2
        value = f(at)
        if abs(at - last) <= tol or value == 0:
            break
        if value > 0:
            high, f_high, f_low = at, value, f_low / 2
        else:
            low, f_low, f_high = at, value, f_high / 2
    return at
