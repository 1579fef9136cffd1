"""Support vector machines, of two classes, many, and numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._base import Classifier, Regressor, atomic, choice, features, issparse, number, passes, seed_of


def with_column(X: Any, value: float) -> Any:
    """The matrix with a last feature of that value."""
    column = np.full((X.shape[0], 1), float(value))
    if issparse(X):
        from scipy.sparse import hstack

        return hstack([X, column], format="csr")
    return np.hstack([X, column])


class LinearSVC(Classifier):
    """Support vector classification with the parameters of ``sklearn.svm.LinearSVC``.

    As there, the intercept is penalised. ``dual`` is accepted and has no effect: who minimises is chosen by the data.

    >>> from lineal import LinearSVC
    >>> model = LinearSVC(C=10).fit([[0.0, 1.0], [1.0, 0.0], [2.0, 0.5]], [0, 1, 1])
    >>> print(model.predict([[3.0, 0.0]])[0])
    1
    """

    def __init__(
        self,
        penalty="l2",
        loss="squared_hinge",
        *,
        dual="auto",
        tol=1e-4,
        C=1.0,
        multi_class="ovr",
        fit_intercept=True,
        intercept_scaling=1,
        class_weight=None,
        verbose=0,
        random_state=None,
        max_iter=1000,
    ):
        self.penalty = penalty
        self.loss = loss
        self.dual = dual
        self.tol = tol
        self.C = C
        self.multi_class = multi_class
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.class_weight = class_weight
        self.verbose = verbose
        self.random_state = random_state
        self.max_iter = max_iter

    def _spec(self, total: float) -> dict[str, Any]:
        """What the library is asked for, of one problem."""
        penalty = choice(self, "penalty", ["l1", "l2"])
        loss = choice(self, "loss", ["hinge", "squared_hinge"])
        C, tol = number(self, "C"), number(self, "tol")
        limit = passes(self.max_iter, self)
        if penalty == "l1" and (loss == "hinge" or self.dual is True):
            raise ValueError(
                f"The combination of penalty='l1' and loss={loss!r} is not supported when dual={self.dual}, Parameters: "
                f"penalty={penalty!r}, loss={loss!r}, dual={self.dual}"
            )
        if loss == "hinge" and self.dual is False:
            raise ValueError(
                "The combination of penalty='l2' and loss='hinge' is not supported when dual=False, Parameters: penalty='l2', "
                "loss='hinge', dual=False"
            )
        spec: dict[str, Any] = {
            "task": "classify",
            "loss": loss.replace("_", "-"),
            "penalty": {"c": C},
            "tol": tol * 0.1,
            "precision": "f64",
            "seed": seed_of(self.random_state),
            "max_passes": None if limit is None else max(limit, 1) * 10,
        }
        if penalty == "l1":
            spec.update(penalty={"l2": 0.0}, l1=1.0 / (C * total), solver="lbfgs", tol=tol * 1e-3)
        return spec

    @atomic
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> LinearSVC:
        """Fits to features and classes."""
        multi_class = choice(self, "multi_class", ["ovr", "crammer_singer"])
        self._spec(1.0)
        X, ids, weights, factors = self._targets(X, y, sample_weight, self.class_weight)
        total, n_classes, n_features = float(weights.sum()), len(self.classes_), X.shape[1]
        spec = self._spec(total)
        scaled = self.fit_intercept and self.intercept_scaling != 1
        spec["bias"] = "penalised" if self.fit_intercept and not scaled else "none"
        if scaled:
            number(self, "intercept_scaling")
            X = with_column(X, self.intercept_scaling)
        if spec["loss"] == "squared-hinge" and X.shape[1] * (1 if n_classes == 2 else n_classes) <= 2000 and self.penalty == "l2":
            spec.update(solver="newton", tol=min(spec["tol"], 1e-8))
        elif issparse(X) and self.penalty == "l2" and self.tol >= 1e-6:
            # Steps in single precision are exact enough for that, and less than two thirds of the time; the gap is proven in double precision.
            spec["precision"] = "f32"
        if multi_class == "crammer_singer":
            spec.update(loss="hinge", solver="dual", strategy="joint", l1=0.0)
            factor = 2.0 if n_classes == 2 else 1.0
            spec["penalty"] = {"c": factor * number(self, "C")}
        elif n_classes > 2:
            spec["strategy"] = "ova"
        rows = features(X)
        if factors is not None and multi_class == "ovr" and n_classes > 2:
            self._one_by_one(rows, ids, spec, weights, factors)
        else:
            if factors is not None:
                weights = weights * factors[ids]
                if self.penalty == "l1":
                    spec["l1"] *= total / weights.sum()
            self._keep_linear(self._train(rows, ids, spec, classes=self.classes_, weights=weights, verbose=self.verbose))
        if scaled:
            coef = self.coef_
            self._set_weights(coef[:, :n_features].copy(), coef[:, -1] * self.intercept_scaling)
            self._model = None
        if not self.fit_intercept:
            self._set_weights(self.coef_, 0.0)
        self.n_iter_ = int(self.n_iter_[0])
        return self

    def _one_by_one(self, rows: Any, ids: np.ndarray, spec: dict, weights: np.ndarray, factors: np.ndarray) -> None:
        """Weights of classes, as LIBLINEAR has them: those of a class count in its own problem only."""
        coefs, biases, last = [], [], None
        for c in range(len(self.classes_)):
            own = ids == c
            weighed = np.where(own, factors[c] * weights, weights)
            spec = {**spec, "strategy": "joint"}
            if spec.get("l1"):
                spec["l1"] = 1.0 / (number(self, "C") * weighed.sum())
            model = self._train(rows, own.astype(np.uint32), spec, classes=np.array([0, 1]), weights=weighed)
            coefs.append(model.weights[0])
            biases.append(model.bias[0] if len(model.bias) else 0.0)
            if last is None or json_passes(model) > json_passes(last):
                last = model
        self._keep_linear(last)
        self._model = None
        self._set_weights(np.array(coefs), np.array(biases))


def json_passes(model: Any) -> int:
    """How many passes a model took."""
    import json

    return int(json.loads(model.report)["passes"])


class _Joint(Classifier):
    """One loss over all classes that no twin in scikit-learn has."""

    def __init__(
        self, loss="hinge", *, C=1.0, tol=1e-4, fit_intercept=True, class_weight=None, verbose=0, random_state=None, max_iter=1000, n_jobs=None
    ):
        self.loss = loss
        self.C = C
        self.tol = tol
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.verbose = verbose
        self.random_state = random_state
        self.max_iter = max_iter
        self.n_jobs = n_jobs

    _sum = False

    @atomic
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Fits to features and classes."""
        loss = choice(self, "loss", ["hinge", "squared_hinge"])
        C, tol = number(self, "C"), number(self, "tol")
        limit = passes(self.max_iter, self)
        X, ids, weights, factors = self._targets(X, y, sample_weight, self.class_weight)
        if factors is not None:
            weights = weights * factors[ids]
        spec = {
            "task": "classify",
            "loss": loss.replace("_", "-"),
            "sum": self._sum,
            "penalty": {"c": C},
            "bias": "free" if self.fit_intercept else "none",
            "tol": tol * 0.1,
            "precision": "f64",
            "seed": seed_of(self.random_state),
            "max_passes": None if limit is None else max(limit, 1) * 10,
        }
        model = self._train(features(X), ids, spec, classes=self.classes_, weights=weights, n_jobs=self.n_jobs, verbose=self.verbose)
        self._keep_linear(model, centre=True)
        return self


class CrammerSinger(_Joint):
    """A joint support vector machine: the score of the right class above the best other one by a margin of 1.

    >>> from lineal import CrammerSinger
    >>> X = [[0.0, 0.0], [0.0, 1.0], [2.0, 0.0], [2.0, 1.0], [0.0, 3.0], [1.0, 3.0]]
    >>> model = CrammerSinger(C=10).fit(X, ["a", "a", "b", "b", "c", "c"])
    >>> print(*model.predict(X))
    a a b b c c
    """


class WestonWatkins(_Joint):
    """A joint support vector machine whose loss is the sum over all classes that come within a margin of 1."""

    _sum = True


class LinearSVR(Regressor):
    """Support vector regression with the parameters of ``sklearn.svm.LinearSVR``. As there, the intercept is penalised.

    >>> from lineal import LinearSVR
    >>> model = LinearSVR(C=100).fit([[0.0], [1.0], [2.0]], [1.0, 3.0, 5.0])
    >>> print(round(float(model.predict([[3.0]])[0]), 2))
    7.0
    """

    def __init__(
        self,
        *,
        epsilon=0.0,
        tol=1e-4,
        C=1.0,
        loss="epsilon_insensitive",
        fit_intercept=True,
        intercept_scaling=1.0,
        dual="auto",
        verbose=0,
        random_state=None,
        max_iter=1000,
    ):
        self.tol = tol
        self.C = C
        self.epsilon = epsilon
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.verbose = verbose
        self.random_state = random_state
        self.max_iter = max_iter
        self.dual = dual
        self.loss = loss

    @atomic
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> LinearSVR:
        """Fits to features and numbers."""
        loss = choice(self, "loss", ["epsilon_insensitive", "squared_epsilon_insensitive"])
        C, tol, epsilon = number(self, "C"), number(self, "tol"), number(self, "epsilon", closed=True)
        number(self, "intercept_scaling")
        limit = passes(self.max_iter, self)
        X, y, weights = self._numbers(X, y, sample_weight)
        n_features = X.shape[1]
        scaled = self.fit_intercept and self.intercept_scaling != 1
        if scaled:
            X = with_column(X, self.intercept_scaling)
        spec = {
            "task": "regress",
            "penalty": {"c": C},
            "bias": "penalised" if self.fit_intercept and not scaled else "none",
            "tol": tol * 0.1,
            "precision": "f64",
            "seed": seed_of(self.random_state),
            "max_passes": None if limit is None else max(limit, 1) * 10,
        }
        rows = features(X)
        if loss == "epsilon_insensitive":
            spec.update(loss="epsilon", epsilon=epsilon, solver="dual")
            model = self._train(rows, y, spec, weights=weights, verbose=self.verbose)
        else:
            model = self._squared(rows, y, weights, spec, C, epsilon)
        self._keep(model)
        bias = float(model.bias[0]) if len(model.bias) else 0.0
        coef = model.weights[0]
        if scaled:
            coef, bias, self._model = coef[:n_features].copy(), float(coef[-1]) * self.intercept_scaling, None
        self._set_weights(coef, np.array([bias]) if self.fit_intercept else 0.0)
        self.n_iter_ = int(self.report_["passes"])
        return self

    def _squared(self, rows: Any, y: np.ndarray, weights: np.ndarray, spec: dict, C: float, epsilon: float) -> Any:
        """Least squares on the rows outside of the tube, moved by its half width, until these stay the same."""
        spec.update(loss="squared", solver="auto", tol=1e-12)
        side = np.zeros(len(y))
        model = None
        for _ in range(200):
            active = weights * (np.ones(len(y)) if model is None or epsilon == 0 else side != 0)
            if not active.any():
                active, side = weights, side * 0
                if model is not None:
                    break
            spec["penalty"] = {"c": 2.0 * C}
            model = self._train(rows, y - epsilon * side, spec, weights=active)
            if epsilon == 0:
                break
            rest = y - model.scores(rows)[:, 0]
            now = np.sign(rest) * (np.abs(rest) > epsilon)
            if (now == side).all():
                break
            side = now
        return model
