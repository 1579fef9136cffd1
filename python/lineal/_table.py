"""Frames with columns of numbers, words, text and missing values, as they are."""

from __future__ import annotations

import io
import json
import os
from typing import Any

import numpy as np

from . import _lineal
from ._base import ClassifierMixin, RegressorMixin, Rows, _check_sample_weight, atomic, check_is_fitted, number, progress, seed_of, threads
from ._load import class_values

LABEL, WEIGHT = "lineal label", "lineal weight"


def _columns(table: Any) -> list[str]:
    names = getattr(table, "column_names", None)
    if names is None:
        names = table.columns
    return [str(name) for name in names]


def _csv(table: Any, extra: dict[str, Any] | None = None) -> bytes:
    """A pandas or polars frame, a pyarrow table, or a path to a Parquet file, as CSV. Missing values are empty."""
    if isinstance(table, (str, os.PathLike)):
        import pyarrow.parquet

        table = pyarrow.parquet.read_table(table)
    if hasattr(table, "column_names"):
        import pyarrow as pa
        import pyarrow.csv

        for name, values in (extra or {}).items():
            table = table.append_column(name, pa.array(values))
        out = io.BytesIO()
        plain = [column.cast(pa.string()) if pa.types.is_dictionary(column.type) else column for column in table.columns]
        pyarrow.csv.write_csv(pa.table(plain, names=table.column_names), out)
        return out.getvalue()
    if hasattr(table, "write_csv"):
        import polars

        if extra:
            table = table.with_columns(**{name: polars.Series(list(values)) for name, values in extra.items()})
        return table.write_csv().encode()
    if hasattr(table, "to_csv"):
        if extra:
            table = table.assign(**{name: np.asarray(values) for name, values in extra.items()})
        return table.to_csv(index=False).encode()
    raise TypeError(f"a table must be a frame of pandas or polars, a table of pyarrow, or the path of a Parquet file, not {type(table).__name__}")


class _Table(Rows):
    """An estimator of tables with columns of any kind: numbers are scaled, words become categories, running text tf–idf, missing numbers the mean."""

    _task = "classify"

    def __init__(self, *, C=1.0, tol=1e-3, text=None, categorical=None, random_state=None, verbose=0, n_jobs=None):
        self.C = C
        self.tol = tol
        self.text = text
        self.categorical = categorical
        self.random_state = random_state
        self.verbose = verbose
        self.n_jobs = n_jobs

    def _fit(self, X: Any, y: np.ndarray, sample_weight: Any) -> None:
        extra: dict[str, Any] = {LABEL: y}
        if sample_weight is not None:
            extra[WEIGHT] = _check_sample_weight(sample_weight, np.empty((len(y), 1)), dtype=np.float64)
        spec = {"task": self._task, "penalty": {"c": number(self, "C")}, "tol": number(self, "tol"), "seed": seed_of(self.random_state)}
        csv = _csv(X, extra)
        model = _lineal.fit_table(
            csv,
            LABEL,
            json.dumps(spec),
            [str(name) for name in self.text or ()],
            [str(name) for name in self.categorical or ()],
            WEIGHT if sample_weight is not None else None,
            threads(self.n_jobs),
            progress(self.verbose),
        )
        if not isinstance(X, (str, os.PathLike)):
            self.feature_names_in_ = np.asarray(_columns(X), dtype=object)
            self.n_features_in_ = len(self.feature_names_in_)
        self._keep(model)


class TableClassifier(ClassifierMixin, _Table):
    """Classes of the rows of a frame with mixed columns: pandas, polars, pyarrow, or a Parquet file by its path.

    What a column is, is what it looks like; ``text`` and ``categorical`` name columns that are told.
    """

    @atomic
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> TableClassifier:
        """Fits to a table and classes."""
        y = np.asarray(y)
        if len(np.unique(y)) < 2:
            raise ValueError(f"there must be at least 2 classes, but the data contains only one class: {np.unique(y)!r}")
        self._fit(X, y, sample_weight)
        named = {str(c): c for c in np.unique(y)}
        names = self._model.classes
        self.classes_ = np.array([named[name] for name in names]) if all(name in named for name in names) else class_values(names)
        return self

    def predict(self, X: Any) -> np.ndarray:
        """The class of each row."""
        check_is_fitted(self)
        return self.classes_[_lineal.table_classes(self._model, _csv(X), threads(self.n_jobs))]

    def predict_proba(self, X: Any) -> np.ndarray:
        """The probability of each class."""
        check_is_fitted(self)
        return _lineal.table_scores(self._model, _csv(X), True, threads(self.n_jobs))


class TableRegressor(RegressorMixin, _Table):
    """Numbers for the rows of a frame with mixed columns."""

    _task = "regress"

    @atomic
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> TableRegressor:
        """Fits to a table and numbers."""
        self._fit(X, np.asarray(y, dtype=np.float64), sample_weight)
        return self

    def predict(self, X: Any) -> np.ndarray:
        """The number of each row."""
        check_is_fitted(self)
        return _lineal.table_scores(self._model, _csv(X), False, threads(self.n_jobs))[:, 0].copy()


__all__ = ["TableClassifier", "TableRegressor"]
