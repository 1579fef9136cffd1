"""Several classes, or any number of labels, from binary problems that are solved side by side."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._base import (
    Classifier,
    ClassifierMixin,
    Rows,
    _check_sample_weight,
    atomic,
    check_is_fitted,
    choice,
    clone,
    count,
    features,
    number,
    passes,
    seed_of,
)

LOSSES = ("hinge", "squared_hinge", "log_loss", "perceptron")


class _ByColumns(ClassifierMixin, Rows):
    """Classes decided by columns of signs."""

    classes_: np.ndarray
    _strategy = "ova"

    def _common(self) -> dict[str, Any]:
        me: Any = self
        loss = choice(me, "loss", LOSSES)
        limit = passes(me.max_iter, me)
        return {
            "task": "classify",
            "strategy": self._strategy,
            "loss": {"squared_hinge": "squared-hinge", "log_loss": "logistic"}.get(loss, loss),
            "penalty": {"c": number(me, "C")},
            "bias": "free" if me.fit_intercept else "none",
            "tol": number(me, "tol") * 0.1,
            "seed": seed_of(me.random_state),
            "max_passes": None if limit is None else max(limit, 1) * 10,
        }

    _targets = Classifier._targets

    def _fit(self, X: Any, y: Any, sample_weight: Any, spec: dict[str, Any]) -> Any:
        me: Any = self
        X, ids, weights, factors = self._targets(X, y, sample_weight, me.class_weight)
        if factors is not None:
            weights = weights * factors[ids]
        model = self._train(features(X), ids, spec, classes=self.classes_, weights=weights, n_jobs=me.n_jobs, verbose=me.verbose)
        self._keep(model)
        self.n_iter_ = int(self.report_["passes"])
        return self

    def decision_function(self, X: Any) -> np.ndarray:
        """The score of each class; of two classes, that of the second."""
        check_is_fitted(self)
        scores = self._model.scores(self._ready(X))
        if scores.shape[1] == 2:
            return scores[:, 1].copy()
        return scores - self._model.bias.mean() if self._strategy == "joint" and len(self._model.bias) else scores

    def predict(self, X: Any) -> np.ndarray:
        """The class of each row."""
        check_is_fitted(self)
        return self.classes_[self._model.classes_of(self._ready(X))]


def _proba(self: Any, X: Any) -> np.ndarray:
    """The probability of each class."""
    check_is_fitted(self)
    return self._model.proba(self._ready(X))


def _has_columns(y: Any) -> bool:
    """Whether there are several columns of labels: any number of them for each row."""
    if not hasattr(y, "shape"):
        try:
            y = np.asarray(y)
        except ValueError:
            return False
    return len(y.shape) == 2 and y.shape[1] > 1


class _Reduction(_ByColumns):
    """A reduction of a binary estimator: of our own in one pass, of any other one problem after the other, by scikit-learn's reduction."""

    def _peer(self) -> Any:
        """scikit-learn's reduction, for estimators that are not ours."""
        raise NotImplementedError

    def _base(self) -> Any:
        """The binary estimator, not fitted."""
        from ._svm import LinearSVC

        me: Any = self
        return LinearSVC() if me.estimator is None else clone(me.estimator)

    def _binary(self) -> dict[str, Any] | None:
        """What the library is asked for, if the estimator is one of ours."""
        from ._logistic import LogisticRegression
        from ._svm import LinearSVC

        base = LinearSVC() if self.estimator is None else self.estimator  # type: ignore[attr-defined]
        spec: dict[str, Any] = {"task": "classify", "strategy": self._strategy, "precision": "f64"}
        if type(base) is LinearSVC and base.penalty == "l2" and base.intercept_scaling == 1 and base.class_weight is None:
            spec.update(loss=base.loss.replace("_", "-"), bias="penalised" if base.fit_intercept else "none")
        elif type(base) is LogisticRegression and base.class_weight is None and base.solver != "liblinear" and base._penalty()[1] == 0:
            if np.isinf(base._penalty()[0]):
                return None
            spec.update(loss="logistic", bias="free" if base.fit_intercept else "none")
        else:
            return None
        limit = passes(base.max_iter, base)
        spec.update(penalty={"c": number(base, "C")}, tol=number(base, "tol") * 0.1, seed=seed_of(base.random_state))
        spec["max_passes"] = None if limit is None else max(limit, 1) * 10
        return spec

    @atomic
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Fits to features and classes."""
        spec = None if _has_columns(y) else self._binary()
        self.__dict__.pop("peer_", None)
        self.__dict__.pop("_model", None)
        if spec is None:
            params = {} if sample_weight is None else {"sample_weight": sample_weight}
            self.peer_ = self._peer().fit(X, y, **params)
            self.classes_ = self.peer_.classes_
            if hasattr(self.peer_, "n_features_in_"):
                self.n_features_in_ = self.peer_.n_features_in_
            return self
        X, ids, weights, _ = self._targets(X, y, sample_weight)
        spec.update(self._reduced())
        me: Any = self
        model = self._train(features(X), ids, spec, classes=self.classes_, weights=weights, n_jobs=me.n_jobs, verbose=getattr(me, "verbose", 0))
        self._keep(model)
        self.n_iter_ = int(self.report_["passes"])
        return self

    def _reduced(self) -> dict[str, Any]:
        return {}

    def decision_function(self, X: Any) -> np.ndarray:
        """The score of each class; of two classes, that of the second."""
        check_is_fitted(self)
        return self.peer_.decision_function(X) if "peer_" in self.__dict__ else super().decision_function(X)

    def predict(self, X: Any) -> np.ndarray:
        """The class of each row."""
        check_is_fitted(self)
        return self.peer_.predict(X) if "peer_" in self.__dict__ else super().predict(X)

    def __sklearn_is_fitted__(self) -> bool:
        return "_model" in self.__dict__ or "peer_" in self.__dict__

    def _of_weights(self, coef: np.ndarray, intercept: np.ndarray, classes: Any) -> Any:
        """The binary estimator with these weights, as if it had been fitted."""
        one = self._base()
        one.classes_, one.n_features_in_ = np.asarray(classes), self.n_features_in_
        if "feature_names_in_" in self.__dict__:
            one.feature_names_in_ = self.feature_names_in_
        one.coef_, one.intercept_ = coef[None, :].copy(), intercept.copy()
        return one

    def _columns(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """Weights and intercept of each column of the model."""
        if "_model" not in self.__dict__:
            raise AttributeError(f"this {type(self).__name__} is not fitted, so it has no estimators")
        weights, bias = self._model.weights, self._model.bias
        return [(coef, bias[at : at + 1] if len(bias) else np.zeros(1)) for at, coef in enumerate(weights)]

    def _begin(self, X: Any, y: Any, classes: Any, params: dict[str, Any]) -> Any:
        """A part of the rows, for estimators that learn from parts."""
        if "peer_" not in self.__dict__ or classes is not None and not hasattr(self.peer_, "classes_"):
            self.__dict__.pop("_model", None)
            self.peer_ = self._peer()
        self.peer_.partial_fit(X, y, classes, **params)
        self.classes_, self.n_features_in_ = self.peer_.classes_, self.peer_.n_features_in_
        return self

    def _partial_fit(self) -> Any:
        if not hasattr(self._base(), "partial_fit"):
            raise AttributeError(f"{type(self._base()).__name__} does not learn from parts of the rows: it has no partial_fit")

        def partial_fit(X: Any, y: Any, classes: Any = None, **params: Any) -> Any:
            return self._begin(X, y, classes, params)

        return partial_fit


class OneVsRestClassifier(_Reduction):
    """One binary problem for each class. Of our own ``LinearSVC`` (the default) and ``LogisticRegression`` all are solved in one pass over the rows.

    >>> from lineal import LinearSVC, OneVsRestClassifier
    >>> model = OneVsRestClassifier(LinearSVC(C=10)).fit([[0.0, 0.0], [2.0, 0.0], [0.0, 2.0]], ["a", "b", "c"])
    >>> print(*model.predict([[3.0, 0.0], [0.0, 3.0]]))
    b c
    """

    def __init__(self, estimator=None, *, n_jobs=None, verbose=0):
        self.estimator = estimator
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _peer(self) -> Any:
        from sklearn.multiclass import OneVsRestClassifier as Peer

        return Peer(self._base(), n_jobs=self.n_jobs, verbose=self.verbose)

    @property
    def multilabel_(self) -> bool:
        """Whether rows have any number of labels."""
        check_is_fitted(self)
        return bool(getattr(self.__dict__.get("peer_"), "multilabel_", False))

    @property
    def n_classes_(self) -> int:
        """How many classes there are."""
        check_is_fitted(self)
        return len(self.classes_)

    @property
    def estimators_(self) -> list[Any]:
        """The estimator of each class against the others; of two classes, that of the second."""
        if "peer_" in self.__dict__:
            return self.peer_.estimators_
        return [self._of_weights(coef, intercept, [0, 1]) for coef, intercept in self._columns()]

    @property
    def partial_fit(self) -> Any:
        """Learns from a part of the rows, where the estimator does; ``classes`` are those of all parts, for the first call."""
        return self._partial_fit()

    @property
    def predict_proba(self) -> Any:
        """The probability of each class, where the estimator has any."""
        if "peer_" in self.__dict__:
            return self.peer_.predict_proba
        if not hasattr(self.estimator, "predict_proba"):
            raise AttributeError("the estimator has no probabilities")
        return lambda X: _proba(self, X)


class OneVsOneClassifier(_Reduction):
    """One binary problem for each pair of classes; the class that wins most duels is predicted."""

    _strategy = "ovo"

    def __init__(self, estimator=None, *, n_jobs=None):
        self.estimator = estimator
        self.n_jobs = n_jobs

    def _peer(self) -> Any:
        from sklearn.multiclass import OneVsOneClassifier as Peer

        return Peer(self._base(), n_jobs=self.n_jobs)

    @property
    def n_classes_(self) -> int:
        """How many classes there are."""
        check_is_fitted(self)
        return len(self.classes_)

    @property
    def pairwise_indices_(self) -> Any:
        """Which rows of a kernel each estimator takes; ``None`` without one."""
        return getattr(self.__dict__.get("peer_"), "pairwise_indices_", None)

    @property
    def estimators_(self) -> Any:
        """The estimator of each pair of classes, first 0 and 1, then 0 and 2, …; each says 1 for the second of its classes."""
        if "peer_" in self.__dict__:
            return self.peer_.estimators_
        columns, every = self._columns(), self._model.class_signs
        if every is None:
            # Of two classes there is one column, which is for the second.
            return tuple(self._of_weights(coef, intercept, [0, 1]) for coef, intercept in columns)
        found = {}
        for (coef, intercept), signs in zip(columns, every):
            found[signs.index(1), signs.index(-1)] = self._of_weights(-coef, -intercept, [0, 1])
        return tuple(found[pair] for pair in sorted(found))

    @property
    def partial_fit(self) -> Any:
        """Learns from a part of the rows, where the estimator does; ``classes`` are those of all parts, for the first call."""
        return self._partial_fit()


class OutputCodeClassifier(_Reduction):
    """Error-correcting output codes: a binary problem for each column of a code.

    A random code of ``code_size`` columns for each class, as in scikit-learn, or ``code`` by name: ``'exhaustive'`` (of up to 12 classes), ``'hadamard'``,
    ``'bch'``, ``'greedy'``, ``'dense'``, ``'sparse'``; ``decoding`` is ``'loss'``, ``'hamming'`` or ``'probability'``.
    """

    _strategy = "ecoc"

    def __init__(self, estimator=None, *, code_size=1.5, random_state=None, n_jobs=None, code="dense", decoding="loss"):
        self.estimator = estimator
        self.code_size = code_size
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.code = code
        self.decoding = decoding

    def _reduced(self) -> dict[str, Any]:
        code = choice(self, "code", ["dense", "sparse", "exhaustive", "hadamard", "bch", "greedy"])
        decoding = choice(self, "decoding", ["loss", "hamming", "probability"])
        reduction: dict[str, Any] = {"code": code, "decoding": decoding}
        if code == "dense":
            # There are no more different columns than that; scikit-learn repeats some.
            most = 2 ** (len(self.classes_) - 1) - 1
            reduction["code_length"] = max(1, min(int(len(self.classes_) * number(self, "code_size")), most))
        return {"reduction": reduction, "seed": seed_of(self.random_state)}

    def _peer(self) -> Any:
        from sklearn.multiclass import OutputCodeClassifier as Peer

        return Peer(self._base(), code_size=self.code_size, random_state=self.random_state, n_jobs=self.n_jobs)

    @property
    def estimators_(self) -> list[Any]:
        """The estimator of each column of the code."""
        if "peer_" in self.__dict__:
            return self.peer_.estimators_
        return [self._of_weights(coef, intercept, [-1, 1]) for coef, intercept in self._columns()]

    @property
    def code_book_(self) -> np.ndarray:
        """The word of each class: 1 and −1 for each estimator, and of a sparse code 0 where the class takes no part."""
        if "peer_" in self.__dict__:
            return self.peer_.code_book_
        n_columns = len(self._columns())
        return np.array(self._model.class_signs or [[-1, 1]] * n_columns, dtype=np.float64).T


class CalibratedClassifier:
    """What an entry of ``CalibratedClassifierCV.calibrated_classifiers_`` has: ``estimator``, ``classes``, ``method`` and ``predict_proba``."""

    def __init__(self, of: CalibratedClassifierCV):
        self._of = of
        self.classes, self.method = of.classes_, of.method
        base, model = of._base(), of._model
        base.classes_, base.n_features_in_ = of.classes_, of.n_features_in_
        if "feature_names_in_" in of.__dict__:
            base.feature_names_in_ = of.feature_names_in_
        base.coef_ = model.weights.copy()
        base.intercept_ = model.bias.copy() if len(model.bias) else np.zeros(len(model.weights))
        self.estimator = base

    def predict_proba(self, X: Any) -> np.ndarray:
        """The probability of each class."""
        return self._of.predict_proba(X)


class CalibratedClassifierCV(_Reduction):
    """Probabilities from scores, fitted to rows that training did not see.

    Around our own ``LinearSVC`` (the default) and ``LogisticRegression`` the library calibrates in its own run: one model, whose scores are mapped by what was fitted to the scores of
    held-out rows of ``cv`` folds. Around any other estimator scikit-learn's ``CalibratedClassifierCV`` runs. ``method`` is ``'sigmoid'``, ``'isotonic'`` or ``'temperature'``.
    """

    def __init__(self, estimator=None, *, method="sigmoid", cv=None, n_jobs=None, ensemble="auto"):
        self.estimator = estimator
        self.method = method
        self.cv = cv
        self.n_jobs = n_jobs
        self.ensemble = ensemble

    def _binary(self) -> dict[str, Any] | None:
        if self.cv is not None and not isinstance(self.cv, int):
            return None
        return super()._binary()

    def _reduced(self) -> dict[str, Any]:
        method = choice(self, "method", ["sigmoid", "isotonic", "temperature"])
        return {"calibrate": {"sigmoid": "platt"}.get(method, method), "folds": 5 if self.cv is None else count(self, "cv", 2)}

    def _peer(self) -> Any:
        from sklearn.calibration import CalibratedClassifierCV as Peer

        return Peer(self._base(), method=self.method, cv=self.cv, n_jobs=self.n_jobs, ensemble=self.ensemble)

    @property
    def calibrated_classifiers_(self) -> list[Any]:
        """One entry: the estimator fitted to all rows, behind the map from scores to probabilities. (scikit-learn has an entry for each fold where ``ensemble`` is ``True``.)"""
        if "peer_" in self.__dict__:
            return self.peer_.calibrated_classifiers_
        if "_model" not in self.__dict__:
            raise AttributeError("this CalibratedClassifierCV is not fitted, so it has no calibrated classifiers")
        return [CalibratedClassifier(self)]

    @property
    def decision_function(self) -> Any:
        """Not there, as in scikit-learn: predictions are those of the highest probability."""
        raise AttributeError("CalibratedClassifierCV has probabilities, and no decision_function")

    def predict_proba(self, X: Any) -> np.ndarray:
        """The probability of each class."""
        check_is_fitted(self)
        return self.peer_.predict_proba(X) if "peer_" in self.__dict__ else _proba(self, X)


class LabelTreeClassifier(_ByColumns):
    """A tree over the classes: about as many binary problems as classes, of which a prediction asks few. For hundreds of classes and more."""

    def __init__(
        self,
        tree="clusters",
        *,
        loss="log_loss",
        leaf_size=None,
        beam=10,
        C=1.0,
        tol=1e-4,
        fit_intercept=True,
        class_weight=None,
        verbose=0,
        random_state=None,
        max_iter=1000,
        n_jobs=None,
    ):
        self.tree = tree
        self.loss = loss
        self.leaf_size = leaf_size
        self.beam = beam
        self.C = C
        self.tol = tol
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.verbose = verbose
        self.random_state = random_state
        self.max_iter = max_iter
        self.n_jobs = n_jobs

    _strategy = "tree"

    @atomic
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Fits to features and classes."""
        tree = choice(self, "tree", ["clusters", "random", "huffman"])
        leaf_size = None if self.leaf_size is None else count(self, "leaf_size")
        reduction = {"tree": tree, "leaf_size": leaf_size, "beam": count(self, "beam")}
        return self._fit(X, y, sample_weight, {**self._common(), "reduction": reduction})


class CostSensitiveClassifier(_ByColumns):
    """A joint loss in which mistakes have costs: ``cost[i, j]`` is that of predicting class ``j`` where ``i`` is right.

    Costs are margins in the hinge losses, and stand inside the softmax of ``'log_loss'``.
    """

    def __init__(
        self,
        cost=None,
        loss="hinge",
        *,
        C=1.0,
        tol=1e-4,
        fit_intercept=True,
        class_weight=None,
        verbose=0,
        random_state=None,
        max_iter=1000,
        n_jobs=None,
    ):
        self.cost = cost
        self.loss = loss
        self.C = C
        self.tol = tol
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.verbose = verbose
        self.random_state = random_state
        self.max_iter = max_iter
        self.n_jobs = n_jobs

    _strategy = "joint"

    @atomic
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Fits to features and classes."""
        choice(self, "loss", ["hinge", "squared_hinge", "log_loss"])
        spec = self._common()
        if self.cost is not None:
            cost = np.asarray(self.cost, dtype=np.float64)
            n_classes = len(np.unique(np.asarray(y)))
            if cost.shape != (n_classes, n_classes):
                raise ValueError(f"The 'cost' parameter must be an array of shape {(n_classes, n_classes)}, one row for each class; got {cost.shape}")
            if not np.isfinite(cost).all() or (cost < 0).any() or np.diag(cost).any():
                raise ValueError("The 'cost' parameter must have costs of at least 0, and zeros on its diagonal")
            spec["cost"] = [n_classes, cost.ravel().tolist()]
        return self._fit(X, y, sample_weight, spec)


def _labels_of(row: Any) -> list[Any]:
    """The labels of a row; one that is not in a list is the only one."""
    return [row] if isinstance(row, (str, bytes)) or not hasattr(row, "__iter__") else list(row)


def _are_indicators(rows: list[Any]) -> bool:
    """Whether lists are the rows of an indicator matrix: all of one length, with nothing but 0 and 1, and some of these twice, as no list of labels has them."""
    first = rows[0] if rows else None
    if not isinstance(first, (list, tuple, np.ndarray)) or len(first) < 2:
        return False
    alike = all(isinstance(row, (list, tuple, np.ndarray)) and len(row) == len(first) for row in rows)
    return alike and all(not isinstance(one, str) and one in (0, 1) for row in rows for one in row) and any(len(set(row)) < len(row) for row in rows)


class MultilabelClassifier(Rows):
    """Any number of labels for each row: a binary problem for each label, all in one pass, and a threshold that is tuned on rows that training did not see.

    ``y`` is an indicator matrix (rows × labels, 0 or 1) or a list of lists of labels; predictions have the same form. Of a list of single labels they are an indicator matrix in the order of ``classes_``.

    >>> from lineal import MultilabelClassifier
    >>> X = [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [0.0, 0.0]] * 5
    >>> y = [["red"], ["round"], ["red", "round"], []] * 5
    >>> print(MultilabelClassifier(threshold=0.5).fit(X, y).predict([[1.0, 1.0]]))
    [['red', 'round']]
    """

    def __init__(
        self, loss="log_loss", *, threshold="auto", C=1.0, tol=1e-4, fit_intercept=True, verbose=0, random_state=None, max_iter=1000, n_jobs=None
    ):
        self.loss = loss
        self.threshold = threshold
        self.C = C
        self.tol = tol
        self.fit_intercept = fit_intercept
        self.verbose = verbose
        self.random_state = random_state
        self.max_iter = max_iter
        self.n_jobs = n_jobs

    @atomic
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> MultilabelClassifier:
        """Fits to features and labels."""
        loss = choice(self, "loss", LOSSES)
        X = self._check(X, reset=True)
        if not hasattr(y, "__iter__") and hasattr(y, "__array__"):
            y = np.asarray(y)
        self._matrix = hasattr(y, "tocsr") or (hasattr(y, "ndim") and y.ndim == 2)
        if self._matrix:
            dense = np.asarray(y.toarray() if hasattr(y, "tocsr") else y)
            if not np.isin(dense, (0, 1)).all():
                raise ValueError("y must be an indicator matrix of zeros and ones, or a list of lists of labels")
            self.classes_ = np.arange(dense.shape[1])
            lists = [np.flatnonzero(row) for row in dense]
        else:
            rows = list(y)
            if _are_indicators(rows):
                return self.fit(X, np.asarray(rows), sample_weight)
            # One label for each row, not in lists: what is predicted has to have room for more.
            plain = bool(rows) and all(isinstance(row, (str, bytes)) or not hasattr(row, "__iter__") for row in rows)
            every = [[row] for row in rows] if plain else [_labels_of(row) for row in rows]
            for at, row in enumerate(every):
                if any(label is None or label != label for label in row):
                    raise ValueError(f"y has a missing label in row {at}: a row without labels has an empty list")
            self.classes_ = np.unique([label for row in every for label in row])
            lists = [np.unique(np.searchsorted(self.classes_, row)) if row else np.array([], dtype=np.intp) for row in every]
            self._matrix = plain
        if len(lists) != X.shape[0]:
            raise ValueError(f"Found input variables with inconsistent numbers of samples: [{X.shape[0]}, {len(lists)}]")
        if not len(self.classes_):
            raise ValueError("no row has a label; there is nothing to learn")
        start = np.concatenate([[0], np.cumsum([len(row) for row in lists])]).astype(np.uintp)
        ids = np.concatenate(lists).astype(np.uint32) if len(lists) else np.array([], dtype=np.uint32)
        weights = _check_sample_weight(sample_weight, X, dtype=np.float64)
        limit = passes(self.max_iter, self)
        threshold: Any = self.threshold
        if isinstance(threshold, str):
            choice(self, "threshold", ["auto", "f1", "micro-f1", "macro-f1"])
            threshold = {"micro-f1": "microf1", "macro-f1": "macrof1"}.get(threshold, threshold)
        else:
            threshold = {"fixed": number(self, "threshold", high=1.0)}
        spec = {
            "task": "multilabel",
            "loss": {"squared_hinge": "squared-hinge", "log_loss": "logistic"}.get(loss, loss),
            "penalty": {"c": number(self, "C")},
            "bias": "free" if self.fit_intercept else "none",
            "tol": number(self, "tol") * 0.1,
            "threshold": threshold,
            "enough_held_out": 2000,
            **({"precision": "f64"} if self.tol < 1e-6 else {}),
            "seed": seed_of(self.random_state),
            "max_passes": None if limit is None else max(limit, 1) * 10,
        }
        self._keep(self._train(features(X), (start, ids), spec, classes=self.classes_, weights=weights, n_jobs=self.n_jobs, verbose=self.verbose))
        self.n_iter_ = int(self.report_["passes"])
        return self

    def predict(self, X: Any) -> Any:
        """The labels of each row, in the form that training had them."""
        check_is_fitted(self)
        start, ids = self._model.labels_of(self._ready(X))
        if self._matrix:
            out = np.zeros((len(start) - 1, len(self.classes_)), dtype=np.int64)
            out[np.repeat(np.arange(len(start) - 1), np.diff(start.astype(np.int64))), ids] = 1
            return out
        return [self.classes_[ids[a:b]].tolist() for a, b in zip(start[:-1], start[1:])]

    def predict_proba(self, X: Any) -> np.ndarray:
        """The probability of each label."""
        return _proba(self, X)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The share of rows whose labels are all predicted and no other, as scikit-learn has it."""
        found = self.predict(X)
        gold: Any = y.toarray() if hasattr(y, "tocsr") else y
        if self._matrix and np.ndim(gold) == 2:
            right = (found == np.asarray(gold)).all(axis=1)
        else:
            lists = [self.classes_[row == 1] for row in found] if self._matrix else found
            right = np.array([set(a) == set(_labels_of(b)) for a, b in zip(lists, gold)])
        return float(np.average(right, weights=sample_weight))


def _with_proba(*kinds: Any) -> None:
    """``predict_proba`` where the loss is one of probabilities."""
    for kind in kinds:

        def getter(self: Any) -> Any:
            if self.loss != "log_loss":
                raise AttributeError(f"probability estimates are not available for loss={self.loss!r}")
            return lambda X: _proba(self, X)

        kind.predict_proba = property(getter, doc="The probability of each class, for ``loss='log_loss'``.")


_with_proba(LabelTreeClassifier, CostSensitiveClassifier)

__all__ = [
    "CalibratedClassifierCV",
    "CostSensitiveClassifier",
    "LabelTreeClassifier",
    "MultilabelClassifier",
    "OneVsOneClassifier",
    "OneVsRestClassifier",
    "OutputCodeClassifier",
]
