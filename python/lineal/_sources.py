"""Partitions that are read from files by whoever works on them: Parquet, CSV, JSON lines, LIBSVM, and folders of text files.

A source is small, can be sent, and reads the same rows whenever and wherever it is asked: that is what a lost worker's rows are made of again.
"""

from __future__ import annotations

import functools
import glob
import io
import os
from dataclasses import dataclass
from typing import Any

import numpy as np

BLOCK = 64 << 20
"""Bytes of a file that make a partition, about."""

ROWS_AT_ONCE = 4096
"""Rows of a Parquet file that are decoded together."""

FILES_AT_ONCE = 500
"""Text files that make a partition."""


def expand(pattern: Any) -> list[str]:
    """The files of a path, a pattern (``data/*.parquet``), a folder or a list of them, in order. In folders, also those that a pattern matches, what begins with ``_`` is what Spark and Dask note beside the rows."""
    if isinstance(pattern, (list, tuple)):
        return [path for one in pattern for path in expand(one)]
    path = os.fspath(pattern)
    if "://" in path:
        import fsspec

        fs, _, found = fsspec.get_fs_token_paths(path)
        if not found:
            raise FileNotFoundError(f"no file matches {path}")
        return [fs.unstrip_protocol(one) for one in sorted(found)]
    if os.path.isdir(path):
        inside = glob.glob(os.path.join(glob.escape(path), "**", "*"), recursive=True)
        found = sorted(one for one in inside if os.path.isfile(one) and not os.path.basename(one).startswith("_"))
    else:
        matches = sorted(glob.glob(path, recursive=True))
        found = [one for one in matches if os.path.isfile(one)] or [file for one in matches for file in expand(one)]
    if not found:
        raise FileNotFoundError(f"no file matches {os.fspath(pattern)}")
    return found


def _open(path: str) -> Any:
    if "://" in path:
        import fsspec

        return fsspec.open(path, "rb").open()
    return open(path, "rb")


def _size(path: str) -> int:
    if "://" in path:
        import fsspec

        fs, _, (one,) = fsspec.get_fs_token_paths(path)
        return int(fs.size(one))
    return os.path.getsize(path)


SEQUENCES = {"conll": "conll", "iob": "conll", "iob2": "conll", "bio": "conll", "txt": "conll", "conllu": "conllu", "crfsuite": "crfsuite", "jsonl": "jsonl", "ndjson": "jsonl"}
"""Formats of sequences, by the end of the name."""


def sequence_format_of(path: str) -> str:
    """By the end of the name."""
    end = path.rsplit(".", 1)[-1].lower()
    if end not in SEQUENCES:
        raise ValueError(f"{path}: a file of sequences must end in .conll, .iob, .bio, .txt, .conllu, .crfsuite or .jsonl, so that it is known how to read it")
    return SEQUENCES[end]


def format_of(path: str) -> str:
    """By the end of the name."""
    end = path.rsplit(".", 1)[-1].lower()
    formats = {"parquet": "parquet", "pq": "parquet", "csv": "csv", "jsonl": "jsonl", "ndjson": "jsonl", "svm": "libsvm", "libsvm": "libsvm", "svmlight": "libsvm", "txt": "text"}
    if end not in formats:
        raise ValueError(f"{path}: a file must end in .parquet, .csv, .jsonl, .svm, .libsvm or .txt, so that it is known how to read it")
    return formats[end]


@dataclass(frozen=True)
class Source:
    """Some rows of a file."""

    path: str
    form: str
    span: tuple[int, int]
    """Bytes; for Parquet row groups; of text files none."""
    y: str | None
    weights: str | None
    columns: tuple[str, ...] | None
    text: bool
    files: tuple[str, ...] = ()
    labels: bool = False
    """Whether each row has a list of labels."""
    without: tuple[str, ...] = ()
    """Columns that may be there, and that nobody wants."""

    @property
    def name(self) -> str:
        """Where the rows are."""
        if self.form == "text":
            return f"{self.path} and {len(self.files) - 1} more files"
        kind = "row groups" if self.form == "parquet" else "bytes"
        return f"{self.path}, {kind} {self.span[0]} to {self.span[1]}"

    def n_bytes(self) -> int:
        """What it takes in memory, as far as that can be known without reading it."""
        if self.form == "parquet":
            import pyarrow.parquet

            with _open(self.path) as file:
                groups = pyarrow.parquet.ParquetFile(file).metadata
                rows = sum(groups.row_group(g).num_rows for g in range(*self.span))
                stored = sum(groups.row_group(g).total_byte_size for g in range(*self.span))
                return max(stored, 0 if self.text else 4 * rows * groups.num_columns)
        if self.form == "text":
            return sum(map(_size, self.files))
        return self.span[1] - self.span[0]

    def read(self) -> tuple[Any, Any, Any]:
        """Features or texts, what is to be predicted, weights."""
        try:
            return self._read()
        except (ValueError, KeyError) as why:
            raise ValueError(f"{self.name}: {why}") from None

    def _read(self) -> tuple[Any, Any, Any]:
        if self.form == "text":
            texts, labels = [], []
            for path in self.files:
                with _open(path) as file:
                    texts.append(file.read().decode("utf-8", "replace"))
                labels.append(os.path.basename(os.path.dirname(path)))
            return texts, np.asarray(labels), None
        if self.form == "libsvm":
            from sklearn.datasets import load_svmlight_file

            X, y = load_svmlight_file(io.BytesIO(self._lines()), zero_based=True, dtype=np.float32, multilabel=self.labels)
            return X, list(map(list, y)) if self.labels else y, None
        if self.form == "parquet":
            return self._cut(self._frame_of_parquet()) if self.text else self._columns_of_parquet()
        lines = self._lines()
        if not lines.strip():
            # A file, or a block of one, without any line.
            return [] if self.text else np.empty((0, 0)), np.empty(0), None
        return self._cut(self._frame(lines))

    def _columns_of_parquet(self) -> tuple[Any, Any, Any]:
        """Row groups as one matrix, filled some rows at a time: a table of them, or a frame, would take the same memory once more on its way to one."""
        import pandas as pd
        import pyarrow as pa
        import pyarrow.parquet

        with _open(self.path) as file:
            groups, spans = pyarrow.parquet.ParquetFile(file), list(range(*self.span))
            schema = groups.schema_arrow
            self._check(schema.names)
            # What pandas wrote as its index is not a column.
            index = (schema.pandas_metadata or {}).get("index_columns", [])
            others = [name for name in schema.names if name not in (self.y, self.weights) and name not in index]
            names = others if self.columns is None else list(self.columns)
            for name in names:
                kind = schema.field(name).type
                # NumPy would make numbers of dates and times, too.
                if not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind) or pa.types.is_decimal(kind)):
                    raise ValueError(f"column {name!r} must be of numbers; it is {kind}: name the columns that are features (columns=)")
            single = all(pa.types.is_float32(schema.field(name).type) for name in names)
            n_rows = sum(groups.metadata.row_group(group).num_rows for group in spans)
            X, start = np.empty((n_rows, len(names)), dtype=np.float32 if single else np.float64), 0
            beside = [name for name in dict.fromkeys((self.y, self.weights)) if name]
            rest = [pa.schema([schema.field(name) for name in beside]).empty_table()]
            for batch in groups.iter_batches(ROWS_AT_ONCE, row_groups=spans, columns=list(dict.fromkeys([*names, *beside])), use_threads=False):
                end = start + batch.num_rows
                for at, name in enumerate(names):
                    try:
                        X[start:end, at] = batch.column(name).to_numpy(zero_copy_only=False)
                    except (TypeError, ValueError) as why:
                        raise ValueError(f"column {name!r} must be of numbers: {why}") from None
                rest.append(pa.Table.from_batches([batch.select(beside)]))
                start = end
        found = pa.concat_tables(rest)
        y = None if self.y is None else _target(found.column(self.y).to_pandas())
        weights = None if self.weights is None else found.column(self.weights).to_numpy()
        del rest, found
        pa.default_memory_pool().release_unused()
        return pd.DataFrame(X, columns=names, copy=False), y, weights

    def read_text(self) -> tuple[bytes, None, None]:
        """The text of the sequences that belong to the span."""
        if self.form == "jsonl":
            return self._lines(), None, None
        start, end = self._boundary(self.span[0]), self._boundary(self.span[1])
        with _open(self.path) as file:
            file.seek(start)
            return file.read(end - start), None, None

    def _boundary(self, at: int) -> int:
        """Where the first sequence begins after a blank line that begins at or after a byte: a cut that falls between sequences, whatever stands there."""
        if at == 0:
            return 0
        with _open(self.path) as file:
            file.seek(at - 1)
            at += len(file.readline()) - 1
            blank = False
            for line in file:
                if blank and line.strip():
                    break
                blank = blank or not line.strip()
                at += len(line)
            return at

    def _table(self) -> Any:
        """Row groups, of the columns that are wanted."""
        import pyarrow.parquet

        wanted = None if self.columns is None else [*self.columns, *(name for name in (self.y, self.weights) if name)]
        with _open(self.path) as file:
            return pyarrow.parquet.ParquetFile(file).read_row_groups(list(range(*self.span)), columns=wanted, use_threads=False)

    def _frame_of_parquet(self) -> Any:
        return self._table().to_pandas(split_blocks=True, self_destruct=True)

    def _frame(self, lines: bytes) -> Any:
        import pandas as pd

        if self.form == "jsonl":
            # JSON tells words from numbers: "007" is a word.
            return pd.read_json(io.BytesIO(lines), lines=True, dtype=False, convert_dates=False)
        header = b""
        if self.span[0]:
            with _open(self.path) as file:
                header = file.readline()
        read = functools.partial(pd.read_csv, io.BytesIO(header + lines))
        if not self.text:
            return read()
        # What pandas takes for missing or for a number is a text, too: "NA", "12", an empty cell.
        texts = pd.read_csv(io.BytesIO(header + lines), dtype=str, keep_default_na=False)
        beside = [name for name in (self.y, self.weights) if name in texts]
        return texts.assign(**(read(usecols=beside) if beside else {}))

    def _lines(self) -> bytes:
        """The lines that begin in the span."""
        start, end = self.span
        with _open(self.path) as file:
            if start:
                file.seek(start - 1)
                start += len(file.readline()) - 1
            if start >= end:
                return b""
            block = file.read(end - start)
            return block if block.endswith(b"\n") else block + file.readline()

    def _check(self, there: list[str]) -> None:
        for name in (self.y, self.weights, *(self.columns or ())):
            if name is not None and name not in there:
                raise ValueError(f"there is no column {name!r}; there are {', '.join(map(repr, there[:20]))}")

    def _cut(self, frame: Any) -> tuple[Any, Any, Any]:
        """A frame's columns by what they are for."""
        self._check(list(frame.columns))
        y = None if self.y is None else frame.pop(self.y)
        weights = None if self.weights is None else frame.pop(self.weights).to_numpy()
        frame = frame.drop(columns=[name for name in self.without if name in frame])
        if y is not None:
            y = y.to_numpy() if self.text else _target(y)
        if self.columns is not None:
            frame = frame[list(self.columns)]
        if self.text:
            if frame.shape[1] != 1:
                raise ValueError(f"columns must name the one column of text; there are {', '.join(map(repr, frame.columns[:20]))}")
            return [None if text is None or text != text else str(text) for text in frame.iloc[:, 0]], y, weights
        single = all(dtype == np.float32 for dtype in frame.dtypes)
        try:
            return frame.astype(np.float32 if single else np.float64, copy=False), y, weights
        except (TypeError, ValueError) as why:
            found = [name for name, kind in frame.dtypes.items() if kind.kind not in "biuf"]
            if not found:
                raise
            raise ValueError(f"column {found[0]!r} must be of numbers: {why}; name the columns that are features (columns=)") from None


def _target(y: Any) -> Any:
    """A column of what is to be predicted: an array, or lists of labels."""
    if y.dtype == object and len(y) and isinstance(y.iloc[0], (list, np.ndarray)):
        return [list(row) for row in y]
    return y.to_numpy()


def sources(
    X: Any, y: Any, weights: Any = None, *, columns: Any = None, text: bool = False, labels: bool = False, without: tuple[str, ...] = (), block: int = BLOCK
) -> list[Source]:
    """The partitions of files. ``y`` and ``weights`` are names of columns, ``columns`` those of the features or of the text."""
    for given, name in ((y, "y"), (weights, "sample_weight")):
        if given is not None and not isinstance(given, str):
            raise ValueError(f"{name} must be the name of a column where X is files; it is {type(given).__name__}")
    columns = None if columns is None else (columns,) if isinstance(columns, str) else tuple(columns)
    for given, name in ((y, "y"), (weights, "sample_weight")):
        if given is not None and given in (columns or ()):
            raise ValueError(f"columns must not have {given!r} among them, which is {name}")
    paths = expand(X)
    form = format_of(paths[0])
    for path in paths:
        if format_of(path) != form:
            raise ValueError(f"{paths[0]} and {path} are of different formats")
    if form in ("libsvm", "text"):
        for given, name in ((y, "y"), (weights, "sample_weight"), (columns, "columns")):
            if given is not None:
                what = "LIBSVM files have no named columns, and their label comes first" if form == "libsvm" else "the class of a text file is the name of its folder"
                raise ValueError(f"{name} must be left out: {what}")
    elif labels and form == "csv" and y is not None:
        raise ValueError("lists of labels are read from Parquet, JSON lines and LIBSVM files, not from CSV files: their cells have no lists")
    found: list[Source] = []
    if form == "text":
        for start in range(0, len(paths), FILES_AT_ONCE):
            some = tuple(paths[start : start + FILES_AT_ONCE])
            found.append(Source(some[0], form, (0, 0), None, None, None, True, some))
        return found
    for path in paths:
        for span in _spans(path, form, block):
            found.append(Source(path, form, span, y, weights, columns, text, labels=labels, without=without))
    return found


def sequence_sources(X: Any, y: str | None = None, *, block: int = BLOCK) -> list[Source]:
    """The partitions of files of sequences. ``y`` is the column or the key of the label."""
    if y is not None and not isinstance(y, str):
        raise ValueError(f"y must be the name of a column where X is files; it is {type(y).__name__}")
    paths, found = expand(X), []
    form = sequence_format_of(paths[0])
    for path in paths:
        if sequence_format_of(path) != form:
            raise ValueError(f"{paths[0]} and {path} are of different formats")
        found += [Source(path, form, span, y, None, None, True) for span in _spans(path, form, block)]
    return found


def _spans(path: str, form: str, block: int) -> list[tuple[int, int]]:
    if form != "parquet":
        size = _size(path)
        n = max(1, -(-size // block))
        return [(size * i // n, size * (i + 1) // n) for i in range(n)]
    import pyarrow.parquet

    try:
        with _open(path) as file:
            metadata = pyarrow.parquet.ParquetFile(file).metadata
    except ValueError as why:
        raise ValueError(f"{path}: {why}") from None
    spans, start, held = [], 0, 0
    for group in range(metadata.num_row_groups):
        size = max(metadata.row_group(group).total_byte_size, 4 * metadata.row_group(group).num_rows * metadata.num_columns)
        if held and held + size > block:
            spans.append((start, group))
            start, held = group, 0
        held += size
    return [*spans, (start, metadata.num_row_groups)] if metadata.num_row_groups else []
