"""Logistic regression, two classes or softmax over many."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._base import Classifier, atomic, check_is_fitted, choice, features, issparse, number, passes, seed_of, shifted


class LogisticRegression(Classifier):
    """Logistic regression with scikit-learn's parameters, and a proof of how close to the optimum it is.

    Parameters are those of ``sklearn.linear_model.LogisticRegression``. ``solver`` says how the intercept is treated, as there: with
    ``'liblinear'`` it is penalised, with all others it is free; who minimises is chosen by the data. ``tol`` bounds the relative duality gap
    (at a tenth of it), so a smaller one gives weights that are closer to the optimum.

    >>> from lineal import LogisticRegression
    >>> X = [[1.0, 5.0], [2.0, 6.0], [7.0, 2.0], [8.0, 1.0]]
    >>> model = LogisticRegression().fit(X, ["flat", "flat", "tall", "tall"])
    >>> print(model.predict([[9.0, 2.0]])[0])
    tall
    >>> model.certificate_.converged
    True
    """

    def __init__(
        self,
        penalty="deprecated",
        *,
        C=1.0,
        l1_ratio=0.0,
        dual=False,
        tol=1e-4,
        fit_intercept=True,
        intercept_scaling=1,
        class_weight=None,
        random_state=None,
        solver="lbfgs",
        max_iter=100,
        verbose=0,
        warm_start=False,
        n_jobs=None,
    ):
        self.penalty = penalty
        self.C = C
        self.l1_ratio = l1_ratio
        self.dual = dual
        self.tol = tol
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.class_weight = class_weight
        self.random_state = random_state
        self.solver = solver
        self.max_iter = max_iter
        self.verbose = verbose
        self.warm_start = warm_start
        self.n_jobs = n_jobs

    def _penalty(self) -> tuple[float, float]:
        """C, and the share of the penalty that is ‖w‖₁."""
        C = number(self, "C")
        share = self.l1_ratio
        if share is None:
            share = 0.0
        if not isinstance(share, (int, float, np.number)) or not 0 <= share <= 1:
            raise ValueError(
                f"The 'l1_ratio' parameter of LogisticRegression must be a float in the range [0, 1]. Got {share!r} instead."
            )
        if self.penalty == "deprecated":
            return C, float(share)
        kind = choice(self, "penalty", ["l1", "l2", "elasticnet", None])
        if kind is None:
            return np.inf, 0.0
        return C, {"l1": 1.0, "l2": 0.0, "elasticnet": float(share)}[kind]

    @atomic
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> LogisticRegression:
        """Fits to features and classes."""
        solver = choice(self, "solver", ["lbfgs", "liblinear", "newton-cg", "newton-cholesky", "sag", "saga"])
        C, share = self._penalty()
        # scikit-learn takes 0, too: then as close as double precision allows.
        tol = max(number(self, "tol", closed=True), 1e-13)
        number(self, "intercept_scaling")
        limit = passes(self.max_iter, self)
        X, ids, weights, factors = self._targets(X, y, sample_weight, self.class_weight)
        if solver == "liblinear" and len(self.classes_) > 2:
            raise ValueError(
                "The 'liblinear' solver does not support multiclass classification (n_classes >= 3). Either use another solver or "
                "wrap the estimator in a OneVsRestClassifier."
            )
        if self.dual and solver != "liblinear":
            raise ValueError(f"Solver {solver} supports only dual=False, got dual={self.dual}")
        if factors is not None:
            weights = weights * factors[ids]
        total = float(weights.sum())
        bias = "none" if not self.fit_intercept else "penalised" if solver == "liblinear" else "free"
        n_features = X.shape[1]
        if bias == "penalised" and self.intercept_scaling != 1:
            column = np.full((X.shape[0], 1), float(self.intercept_scaling))
            if issparse(X):
                from scipy.sparse import hstack

                X = hstack([X, column], format="csr")
            else:
                X = np.hstack([X, column])
            bias = "none"
        spec = {
            "task": "classify",
            "loss": "logistic",
            "bias": bias,
            "tol": tol * 0.1,
            "seed": seed_of(self.random_state),
            "precision": "f64",
        }
        n_outputs = 1 if len(self.classes_) == 2 else len(self.classes_)
        if share > 0:
            spec.update(penalty={"l2": (1 - share) / (C * total)}, l1=share / (C * total), solver="lbfgs", tol=tol * 1e-3)
            limit = None if limit is None else max(limit, 1) * 100
        elif np.isinf(C):
            spec.update(penalty={"l2": 0.0}, solver="newton" if n_features * n_outputs <= 2000 else "lbfgs")
        else:
            spec.update(penalty={"c": C})
            if n_features * n_outputs <= 2000 or (not issparse(X) and tol < 1e-6):
                spec.update(solver="newton", tol=min(tol * 0.1, 1e-8))
            limit = None if limit is None else max(limit, 1) * 10
        spec["max_passes"] = limit
        # A free bias makes up for what is taken off the features.
        X, mean = shifted(X, weights) if bias == "free" else (X, None)
        model = self._train(features(X), ids, spec, classes=self.classes_, weights=weights, n_jobs=self.n_jobs, verbose=self.verbose)
        # As there, weights are in the precision of the features.
        self._keep_linear(model, centre=bias == "free", dtype=np.float64 if solver == "liblinear" else X.dtype)
        if mean is not None:
            # The model is of other features than those that come to be predicted.
            self._set_weights(self.coef_, self.intercept_ - model.weights @ mean)
            self._model = None
        if X.shape[1] != n_features:
            coef = self.coef_
            self._set_weights(coef[:, :-1].copy(), coef[:, -1] * self.intercept_scaling)
            self._model = None
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        """The probability of each class."""
        if self._is_own():
            return self._model.proba(self._ready(X))
        check_is_fitted(self)
        scores = self.decision_function(X)
        if scores.ndim == 1:
            scores = np.column_stack([np.zeros_like(scores), scores])
        scores = np.exp(scores - scores.max(axis=1, keepdims=True))
        return scores / scores.sum(axis=1, keepdims=True)

    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Logarithms of the probabilities."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))
