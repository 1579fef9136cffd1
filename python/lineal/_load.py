"""Model files of the program and of ``save``, as estimators."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _lineal
from ._base import Classifier, Regressor, Rows, readable
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
    for kind in (int, float):
        try:
            return np.array([kind(name) for name in names])
        except ValueError:
            continue
    return np.array(names)


def load(path: Any) -> Rows:
    """A model of rows from a file that ``save`` or the program wrote.

    Names of classes that are whole numbers become whole numbers. Models of texts and of structures have classes of their own, with ``load`` of their own.
    """
    model = _lineal.Model.load(readable(path))
    classes = model.classes
    out: Any = LoadedClassifier() if classes else LoadedRegressor()
    if classes:
        out.classes_ = class_values(classes)
    out._model = model
    out.n_features_in_ = model.n_features
    names = model.feature_names
    if names is not None:
        out.feature_names_in_ = np.asarray(names, dtype=object)
    coef, bias = model.weights, model.bias
    intercept = bias if len(bias) else np.zeros(len(coef))
    out._set_weights(coef if classes else coef[0], intercept if classes else float(intercept[0]))
    out.report_, out.certificate_ = parse(model.report, model.certificate)
    return out
