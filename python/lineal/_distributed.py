"""Estimators whose rows are partitions somewhere: what the driver is asked for, and what becomes of its model. ``lineal.dask`` and ``lineal.spark`` bring the partitions."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _cluster, _logistic, _multiclass, _regression, _svm, _tagger, _tagging, _text
from ._base import choice, number, passes, progress, seed_of
from ._shards import Kind, Plan


class OnCluster:
    """What the estimators share."""

    _kind = Kind("classes")

    def _spec(self, plan: Plan) -> dict[str, Any]:
        raise NotImplementedError

    def _text_limits(self) -> dict[str, Any] | None:
        return None

    def _take(self, model: Any, plan: Plan, spec: dict[str, Any]) -> None:
        raise NotImplementedError

    def _columnwise(self) -> bool:
        return False

    def _run(self, transport: Any, libsvm: bool, checkpoint: Any, rounds: int = 0) -> Any:
        """Fits to the partitions of a transport."""
        me: Any = self
        kind, verbose = Kind(self._kind.target, self._kind.text, libsvm, digest=checkpoint is not None), getattr(me, "verbose", 0)
        try:
            plan, facts = _cluster.survey(transport, kind, getattr(me, "class_weight", None), self._columnwise(), self._text_limits())
            spec = self._spec(plan)
            model, about = _cluster.run(transport, plan, facts, spec, rounds=rounds, checkpoint=checkpoint, on_pass=progress(verbose), verbose=verbose)
        finally:
            transport.close()
        if plan.classes is not None:
            me.classes_ = plan.classes
        if plan.text is None:
            me.n_features_in_ = plan.n_features
            if libsvm:
                me._first_column = plan.shift
            if plan.names is not None:
                me.feature_names_in_ = np.asarray(plan.names, dtype=object)
        self._take(model, plan, spec)
        me.report_["cluster"] = about
        return self


def _solver(plan: Plan) -> str:
    """Newton's method where there are few weights, as on one machine."""
    return "newton" if plan.n_features * plan.n_outputs <= 2000 else "lbfgs"


class LogisticRegression(OnCluster, _logistic.LogisticRegression):
    """``lineal.LogisticRegression`` on partitions. ``solver='newton-cg'`` is Newton's method, ``'liblinear'`` penalises the intercept."""

    def _spec(self, plan: Plan) -> dict[str, Any]:
        solver = choice(self, "solver", ["lbfgs", "liblinear", "newton-cg", "newton-cholesky", "sag", "saga"])
        (C, share), tol, limit = self._penalty(), max(number(self, "tol", closed=True), 1e-13), passes(self.max_iter, self)
        if self.intercept_scaling != 1:
            raise ValueError("The 'intercept_scaling' parameter must be 1 on a cluster")
        bias = "none" if not self.fit_intercept else "penalised" if solver == "liblinear" else "free"
        spec: dict[str, Any] = {"task": "classify", "loss": "logistic", "bias": bias, "seed": seed_of(self.random_state)}
        spec.update(tol=min(tol * 0.1, 1e-6), penalty={"c": C}, solver="newton" if solver.startswith("newton") else _solver(plan))
        if share > 0:
            spec.update(penalty={"l2": (1 - share) / (C * plan.total)}, l1=share / (C * plan.total), solver="lbfgs", tol=tol * 1e-3)
        elif np.isinf(C):
            spec.update(penalty={"l2": 0.0})
        spec["max_passes"] = None if limit is None else max(limit, 1) * (100 if share > 0 else 10)
        return spec

    def _take(self, model: Any, plan: Plan, spec: dict[str, Any]) -> None:
        self._keep_linear(model, centre=spec["bias"] == "free", dtype=np.dtype(plan.dtype))



class LinearSVC(OnCluster, _svm.LinearSVC):
    """``lineal.LinearSVC`` on partitions, with the squared hinge loss; the hinge loss has no gradient everywhere and is refused."""

    def _columnwise(self) -> bool:
        return True

    def _spec(self, plan: Plan | float) -> dict[str, Any]:  # type: ignore[override]
        if not isinstance(plan, Plan):
            return _svm.LinearSVC._spec(self, plan)
        if self.loss != "squared_hinge" or self.multi_class != "ovr" or self.intercept_scaling != 1:
            why = ": the hinge loss has no gradient where a margin is 1, which sums over machines need" if self.loss == "hinge" else ""
            raise ValueError(f"LinearSVC on a cluster must have loss='squared_hinge', multi_class='ovr' and intercept_scaling=1{why}")
        if plan.factors is not None and plan.n_outputs > 1:
            raise ValueError("class_weight of more than two classes counts in each class's own problem only, which one pass over a cluster cannot do: give sample_weight")
        spec = _svm.LinearSVC._spec(self, plan.total)
        spec.update(bias="penalised" if self.fit_intercept else "none")
        if self.penalty == "l2":
            spec.update(tol=min(spec["tol"], 1e-6), solver=_solver(plan))
        if plan.n_outputs > 1:
            spec["strategy"] = "ova"
        return spec

    def _take(self, model: Any, plan: Plan, spec: dict[str, Any]) -> None:
        self._keep_linear(model)
        if not self.fit_intercept:
            self._set_weights(self.coef_, 0.0)
        self.n_iter_ = int(self.n_iter_[0])



class Ridge(OnCluster, _regression.Ridge):
    """``lineal.Ridge`` on partitions, one number for each row, by conjugate gradients."""

    _kind = Kind("numbers")

    def _spec(self, plan: Plan) -> dict[str, Any]:
        if self.positive:
            raise ValueError("Ridge on a cluster must have positive=False")
        alpha, limit = number(self, "alpha", closed=True), passes(self.max_iter, self)
        spec = {"task": "regress", "loss": "squared", "penalty": {"l2": alpha / plan.total}, "bias": "free" if self.fit_intercept else "none"}
        return {**spec, "solver": "newton", "tol": number(self, "tol", closed=True) * 1e-4 or 1e-12, "max_passes": limit}

    def _take(self, model: Any, plan: Plan, spec: dict[str, Any]) -> None:
        self._keep(model)
        self._set_weights(model.weights[0].astype(plan.dtype, copy=False), np.float64(model.bias[0] if len(model.bias) else 0.0))
        self.n_iter_, self.solver_ = max(1, int(self.report_["passes"])), self.report_["solver"]



class MultilabelClassifier(OnCluster, _multiclass.MultilabelClassifier):
    """``lineal.MultilabelClassifier`` on partitions. There are no rows that training does not see, so ``threshold='auto'`` is ½."""

    _kind = Kind("labels")

    def _spec(self, plan: Plan) -> dict[str, Any]:
        loss, limit = choice(self, "loss", ["log_loss", "squared_hinge"]), passes(self.max_iter, self)
        threshold: Any = "half" if self.threshold == "auto" else {"fixed": number(self, "threshold", high=1.0)}
        spec: dict[str, Any] = {"task": "multilabel", "loss": "logistic" if loss == "log_loss" else "squared-hinge", "penalty": {"c": number(self, "C")}}
        spec.update(bias="free" if self.fit_intercept else "none", tol=min(number(self, "tol") * 0.1, 1e-6), threshold=threshold, solver=_solver(plan))
        return {**spec, "max_passes": None if limit is None else max(limit, 1) * 10}

    def _take(self, model: Any, plan: Plan, spec: dict[str, Any]) -> None:
        self._matrix = plan.indicator
        self._keep(model)
        self.n_iter_ = int(self.report_["passes"])



class TextClassifier(OnCluster, _text.TextClassifier):
    """``lineal.TextClassifier`` on partitions of texts: bags, series, arrays, files.

    The vocabulary of all texts is found first, added up by a tree. ``min_df`` and ``max_features`` bound it: each pass sends a number for every feature and class. There are no probabilities, which
    would need rows that training does not see, and more than 200 classes are learnt one against the others, too.
    """

    _kind = Kind("classes", text=True)

    def __init__(self, *, C=1.0, tol=1e-3, class_weight=None, min_df=1, max_features=None, verbose=0, n_jobs=None):
        super().__init__(C=C, tol=tol, class_weight=class_weight, verbose=verbose, n_jobs=n_jobs)
        del self.random_state
        self.min_df = min_df
        self.max_features = max_features

    def _columnwise(self) -> bool:
        return True

    def _text_limits(self) -> dict[str, Any]:
        return {"min_df": self.min_df, "max_features": self.max_features}

    def _spec(self, plan: Plan) -> dict[str, Any]:
        spec: dict[str, Any] = {"task": "classify", "loss": "squared-hinge", "penalty": {"c": number(self, "C")}, "tol": min(number(self, "tol"), 1e-6)}
        return {**spec, "solver": "lbfgs", "strategy": "joint" if plan.n_outputs == 1 else "ova"}

    def _take(self, model: Any, plan: Plan, spec: dict[str, Any]) -> None:
        self._keep(model)


    def predict_proba(self, X: Any) -> Any:
        """There are none: probabilities need rows that training does not see."""
        raise AttributeError("TextClassifier on a cluster has no probabilities: they need rows that training does not see")


class Tagger(_tagger.Tagger):
    """``lineal.Tagger`` on partitions of sentences, by ``algorithm='crf'``."""

    def __init__(self, algorithm="crf", *, C=1.0, tol=1e-2, max_iter=None, scheme=None, features=None, verbose=0, n_jobs=None):
        super().__init__(algorithm, C=C, tol=tol, scheme=scheme, features=features, verbose=verbose, n_jobs=n_jobs)
        del self.epochs, self.random_state
        self.max_iter = max_iter

    def _run(self, transport: Any, form: Any, checkpoint: Any, rounds: int = 0) -> Any:
        """Fits to the partitions of a transport."""
        if self.algorithm != "crf":
            raise ValueError(f"Tagger on a cluster must have algorithm='crf', not {self.algorithm!r}: single steps of a perceptron or of passive–aggressive updates cannot be added up")
        spec = {"task": "tag", "tag": self._tag_spec(), "loss": "logistic", "penalty": {"c": number(self, "C")}, "tol": number(self, "tol"), "max_passes": passes(self.max_iter, self)}
        model, about = _tagging.run(transport, form, spec, rounds=rounds, checkpoint=checkpoint, on_pass=progress(self.verbose), verbose=self.verbose)
        self._keep(model)
        self._after_load()
        self.report_["cluster"] = about
        return self
