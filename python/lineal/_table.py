"""Frames with columns of numbers, words, text and missing values, as they are."""

from __future__ import annotations

import io
import json
import os
import tempfile
from typing import Any

import numpy as np

from . import _lineal
from ._base import (
    ClassifierMixin,
    RegressorMixin,
    Rows,
    _check_sample_weight,
    atomic,
    check_is_fitted,
    classes_of,
    collected,
    column_or_1d,
    most,
    number,
    progress,
    seed_of,
    threads,
)
from ._load import class_values

def _checked(table: Any) -> Any:
    """A frame of pandas or polars, or a table of pyarrow, whose columns have names of their own and hold single values."""
    table = collected(table)
    is_arrow, is_polars = hasattr(table, "column_names"), hasattr(table, "write_csv")
    if not (is_arrow or is_polars or (hasattr(table, "to_csv") and hasattr(table, "columns"))):
        raise TypeError(f"a table must be a frame of pandas or polars, a table of pyarrow, or the path of a Parquet file, not {type(table).__name__}")
    names = _columns(table)
    if not names:
        raise ValueError("the table has no columns")
    if list(table.column_names if is_arrow else table.columns) != names:
        # Names of several levels would take several lines of a file.
        table = table.rename_columns(names) if is_arrow else table.set_axis(names, axis=1)
    if is_arrow:
        _flat(table.schema)
    elif is_polars:
        for name, kind in zip(names, table.dtypes):
            if kind.is_nested():
                raise ValueError(f"column {name!r} must hold numbers, words, dates or text; it is {kind}")
    else:
        for name in names:
            first = next(iter(table[name].dropna()), None) if table[name].dtype.kind in "Oc" else None
            if table[name].dtype.kind == "c" or isinstance(first, (list, tuple, dict, set, np.ndarray, complex)):
                raise ValueError(f"column {name!r} must hold numbers, words, dates or text; it holds values of type {type(first).__name__}")
    return table


def _flat(schema: Any) -> None:
    """Refuses columns of pyarrow that hold several values in a cell."""
    import pyarrow as pa

    for field in schema:
        if pa.types.is_nested(field.type):
            raise ValueError(f"column {field.name!r} must hold numbers, words, dates or text; it is {field.type}")


def _columns(table: Any) -> list[str]:
    names = getattr(table, "column_names", None)
    if names is None:
        names = table.columns
    out: list[str] = []
    for name in names:
        said = " ".join(map(str, name)) if isinstance(name, tuple) else str(name)
        # The second of two columns with one name is called as the program calls it.
        n_before = out.count(said)
        out.append(_unused(f"{said}.{n_before}", out) if n_before else said)
    return out


def _categories(table: Any) -> list[str]:
    """Columns whose type says that they are categories, even if these look like numbers."""
    if isinstance(table, (str, os.PathLike)):
        import pyarrow.parquet

        schema = pyarrow.parquet.read_schema(table)
        _flat(schema)
        return [field.name for field in schema if _is_category(field.type)]
    kinds = [field.type for field in table.schema] if hasattr(table, "column_names") else table.dtypes
    return [name for name, kind in zip(_columns(table), kinds) if _is_category(kind)]


def _is_category(kind: Any) -> bool:
    """Of pandas, polars or pyarrow."""
    return type(kind).__name__ in ("CategoricalDtype", "Categorical", "Enum", "DictionaryType")


def _unused(name: str, names: list[str]) -> str:
    """A name for a column that the table does not have."""
    while name in names:
        name += "_"
    return name


def _csv(table: Any, extra: dict[str, Any] | None = None) -> bytes:
    """A checked table as CSV. Missing values are empty."""
    if hasattr(table, "column_names"):
        out = io.BytesIO()
        _write_arrow(table, out, extra or {})
        return out.getvalue()
    if hasattr(table, "write_csv"):
        import polars

        if extra:
            table = table.with_columns(**{name: polars.Series(list(values)) for name, values in extra.items()})
        return table.write_csv().encode()
    if extra:
        table = table.assign(**{name: np.asarray(values) for name, values in extra.items()})
    return table.to_csv(index=False).encode()


def _write_arrow(table: Any, out: Any, extra: dict[str, Any], *, header: bool = True) -> None:
    """Writes a table or a batch of pyarrow as CSV."""
    import pyarrow as pa
    import pyarrow.csv

    plain = [column.cast(pa.string()) if pa.types.is_dictionary(column.type) else column for column in table.columns]
    names = list(table.schema.names)
    for name, values in extra.items():
        plain.append(pa.array(values))
        names.append(name)
    pyarrow.csv.write_csv(pa.table(plain, names=names), out, pyarrow.csv.WriteOptions(include_header=header))


def _batches(path: Any) -> Any:
    """The rows of a Parquet file, some thousands at a time."""
    import pyarrow.parquet

    with pyarrow.parquet.ParquetFile(path) as file:
        yield from file.iter_batches(BATCH)


# Rows of a Parquet file that are in memory as Arrow has them.
BATCH = 20_000


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
        is_path = isinstance(X, (str, os.PathLike))
        X = X if is_path else _checked(X)
        n_rows = _height(X)
        if n_rows != len(y):
            raise ValueError(f"Found input variables with inconsistent numbers of samples: [{n_rows}, {len(y)}]")
        known = _path_columns(X) if is_path else _columns(X)
        label, weight = _unused("lineal label", known), _unused("lineal weight", known)
        told = {name: [str(one) for one in getattr(self, name) or ()] for name in ("text", "categorical")}
        for name, columns in told.items():
            for one in columns:
                if one not in known:
                    raise ValueError(f"there is no column {one!r}, which {name} names; there are {', '.join(map(repr, known[:20]))}")
        # A type says more than looks do.
        told["categorical"] += [name for name in _categories(X) if name not in told["categorical"] + told["text"]]
        weights = None if sample_weight is None else _check_sample_weight(sample_weight, np.empty((len(y), 1)), dtype=np.float64)
        spec = {"task": self._task, "penalty": {"c": number(self, "C")}, "tol": number(self, "tol"), "seed": seed_of(self.random_state)}

        def train(csv: Any) -> Any:
            return _lineal.fit_table(
                csv,
                label,
                json.dumps(spec),
                told["text"],
                told["categorical"],
                None if weights is None else weight,
                threads(self.n_jobs),
                progress(self.verbose),
            )

        def extra(rows: slice) -> dict[str, Any]:
            return {label: y[rows], **({} if weights is None else {weight: weights[rows]})}

        if is_path:
            # Through a file, so that no more than a batch of the table is in memory beside the rows that are learnt from.
            with tempfile.TemporaryDirectory() as folder:
                path, at = os.path.join(folder, "table.csv"), 0
                with open(path, "wb") as file:
                    for batch in _batches(X):
                        own = slice(at, at + batch.num_rows)
                        _write_arrow(batch, file, extra(own), header=at == 0)
                        at, names = own.stop, batch.schema.names
                model = train(path)
        else:
            names, model = _columns(X), train(_csv(X, extra(slice(None))))
        self.feature_names_in_ = np.asarray([str(name) for name in names], dtype=object)
        self.n_features_in_ = len(self.feature_names_in_)
        self._keep(model)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.allow_nan = True
        return tags

    def _each(self, X: Any, ask: Any) -> np.ndarray:
        """What is asked of a table; of a Parquet file batch by batch."""
        check_is_fitted(self)
        if not isinstance(X, (str, os.PathLike)):
            return ask(_csv(_checked(X)))
        return np.concatenate([ask(_csv(pyarrow_table(batch))) for batch in _batches(X)])

    def explain(self, X: Any, top: int | None = 10) -> list[dict[str, Any]]:
        """Why each row got its answer, by columns and their values: entries as those of the other estimators."""
        check_is_fitted(self)
        found = _lineal.explain_table(self._model, _csv(_checked(X)), most(top), threads(self.n_jobs))
        classes = getattr(self, "classes_", None)
        for entry in found:
            for place in ("winner", "runner_up"):
                if classes is not None and entry[place] is not None:
                    entry[place] = classes[entry[place]]
        return found


def pyarrow_table(batch: Any) -> Any:
    """A batch as a table."""
    import pyarrow as pa

    return pa.Table.from_batches([batch])


def _height(table: Any) -> int:
    if isinstance(table, (str, os.PathLike)):
        import pyarrow.parquet

        return int(pyarrow.parquet.read_metadata(table).num_rows)
    return int(table.num_rows) if hasattr(table, "num_rows") else len(table)


def _path_columns(path: Any) -> list[str]:
    import pyarrow.parquet

    return list(pyarrow.parquet.read_schema(path).names)


class TableClassifier(ClassifierMixin, _Table):
    """Classes of the rows of a frame with mixed columns: pandas, polars, pyarrow, or a Parquet file by its path.

    A column of a categorical type is a category; what another column is, is what it looks like. ``text`` and ``categorical`` name columns that are told. Of a Parquet file no more than a batch is in memory at once, beside the rows as they are learnt from.

    >>> import pandas as pd
    >>> from lineal import TableClassifier
    >>> frame = pd.DataFrame({"months": [1, 24, 3, None] * 5, "plan": ["basic", "gold", "basic", "gold"] * 5})
    >>> model = TableClassifier().fit(frame, ["left", "stayed", "left", "stayed"] * 5)
    >>> print(*model.predict(frame[:2]))
    left stayed
    """

    @atomic
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> TableClassifier:
        """Fits to a table and classes."""
        y = classes_of(y)
        classes = np.unique(y)
        if len(classes) < 2:
            raise ValueError(f"there must be at least 2 classes, but the data contains only one class: {classes!r}")
        self._fit(X, y, sample_weight)
        # Spaces around a name are not part of it in a table.
        places = {**{str(c).strip(): at for at, c in enumerate(classes)}, **{str(c): at for at, c in enumerate(classes)}}
        names = self._model.classes
        self.classes_ = classes[[places[name] for name in names]] if all(name in places for name in names) else class_values(names)
        return self

    def predict(self, X: Any) -> np.ndarray:
        """The class of each row."""
        return self._each(X, lambda csv: self.classes_[_lineal.table_classes(self._model, csv, threads(self.n_jobs))])

    def decision_function(self, X: Any) -> np.ndarray:
        """The score of each class; of two classes, that of the second."""
        scores = self._each(X, lambda csv: _lineal.table_scores(self._model, csv, False, threads(self.n_jobs)))
        return scores[:, 1].copy() if scores.shape[1] == 2 else scores

    def predict_proba(self, X: Any) -> np.ndarray:
        """The probability of each class."""
        return self._each(X, lambda csv: _lineal.table_scores(self._model, csv, True, threads(self.n_jobs)))


class TableRegressor(RegressorMixin, _Table):
    """Numbers for the rows of a frame with mixed columns."""

    _task = "regress"

    @atomic
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> TableRegressor:
        """Fits to a table and numbers."""
        y = column_or_1d(np.asarray(y, dtype=np.float64), warn=True)
        if not np.isfinite(y).all():
            raise ValueError("Input y contains NaN or infinity: leave out rows that have no number")
        self._fit(X, y, sample_weight)
        return self

    def predict(self, X: Any) -> np.ndarray:
        """The number of each row."""
        return self._each(X, lambda csv: _lineal.table_scores(self._model, csv, False, threads(self.n_jobs))[:, 0].copy())


__all__ = ["TableClassifier", "TableRegressor"]
