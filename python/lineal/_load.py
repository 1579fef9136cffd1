"""Model files of the program and of ``save``, as estimators."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from . import _lineal
from ._base import Classifier, Regressor, readable
from ._report import parse


class LoadedClassifier(Classifier):
    """A classifier from a model file."""

    def fit(self, X: Any, y: Any) -> Any:
        """Refused: a loaded model is for predictions."""
        raise ValueError("a model from a file predicts; fit one of the estimators of lineal")

    def predict(self, X: Any) -> np.ndarray:
        """The class of each row."""
        return self.classes_[self._model.classes_of(self._ready(X))]

    def decision_function(self, X: Any) -> np.ndarray:
        """The score of each class; of two classes, that of the second."""
        scores = self._model.scores(self._ready(X))
        return scores[:, 1].copy() if scores.shape[1] == 2 else scores

    def predict_proba(self, X: Any) -> np.ndarray:
        """The probability of each class, where the model has any."""
        return self._model.proba(self._ready(X))


class LoadedRegressor(Regressor):
    """A regression from a model file."""

    def fit(self, X: Any, y: Any) -> Any:
        """Refused: a loaded model is for predictions."""
        raise ValueError("a model from a file predicts; fit one of the estimators of lineal")

    def predict(self, X: Any) -> np.ndarray:
        """The number of each row."""
        return self._model.scores(self._ready(X))[:, 0].copy()


def class_values(names: list[str]) -> np.ndarray:
    """Classes of their names: whole numbers or numbers where all are."""
    # Names such as 007, 1_000 and nan are not numbers.
    for kind, form in ((int, r"[+-]?(0|[1-9][0-9]*)"), (float, r"[+-]?(0|[1-9][0-9]*)(\.[0-9]+)?(e[+-]?[0-9]+)?")):
        if all(re.fullmatch(form, name) for name in names):
            return np.array([kind(name) for name in names])
    return np.array(names)


def load(path: Any) -> Any:
    """A model from a file that ``save`` or the program wrote, of any task, as an estimator that predicts.

    Names of classes that are whole numbers become whole numbers. Rows of numbers are predicted by arrays, text by ``TextClassifier``, tables with columns of other kinds by ``TableClassifier`` and
    ``TableRegressor``; taggers, parsers, segmenters, rankers and declared structures are those of their own classes.
    """
    from ._declared import DeclaredStructure
    from ._multiclass import MultilabelClassifier
    from ._parsers import ConstituencyParser, DependencyParser
    from ._ranker import Ranker
    from ._segmenter import Segmenter
    from ._table import TableClassifier, TableRegressor
    from ._tagger import Tagger
    from ._text import TextClassifier

    path = readable(path)
    any_model = _lineal.Structured.load(path)
    kinds: dict[str, Any] = {
        "tag": Tagger,
        "dependency": DependencyParser,
        "constituency": ConstituencyParser,
        "segment": Segmenter,
        "declared": DeclaredStructure,
    }
    if any_model.task in kinds:
        return kinds[any_model.task]._of(any_model)
    if any_model.task == "rank":
        return Ranker.load(path)
    model = _lineal.Model.load(path)
    classes, told = model.classes, model.input
    out: Any
    if told == "table" and model.task != "multilabel":
        out = TableClassifier() if classes else TableRegressor()
    elif told == "text" and model.task == "classify":
        out = TextClassifier()
    elif told != "rows":
        raise ValueError(f"{path}: models of {model.task} on a {told} are not predicted from Python; use the program")
    elif model.task == "multilabel":
        out = MultilabelClassifier()
        out._matrix = False
    else:
        out = LoadedClassifier() if classes else LoadedRegressor()
    if classes:
        out.classes_ = class_values(classes)
    out._model = model
    out.report_, out.certificate_ = parse(model.report, model.certificate)
    if told == "rows":
        out.n_features_in_ = model.n_features
        names = model.feature_names
        if names is not None:
            out.feature_names_in_ = np.asarray(names, dtype=object)
    if isinstance(out, (LoadedClassifier, LoadedRegressor)):
        coef, bias = model.weights, model.bias
        intercept = bias if len(bias) else np.zeros(len(coef))
        out._set_weights(coef if classes else coef[0], intercept if classes else float(intercept[0]))
    return out
