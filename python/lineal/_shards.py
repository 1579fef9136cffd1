"""What a process does with the rows of a partition: looks at them, makes a shard of them, answers for it.

Nothing here knows a cluster. Partitions have numbers from 0; sums over them are a tree of fixed shape (``middle``), so that a sum has the same bits whoever adds up which part of it.
"""

from __future__ import annotations

import hashlib
import json
import sys
import zlib
from dataclasses import dataclass, field
from typing import Any, Callable, Sequence, TypeVar

import numpy as np

from . import _lineal
from ._base import features, issparse
from ._multiclass import _labels_of

T = TypeVar("T")

Sum = tuple[float, np.ndarray]


def middle(start: int, end: int) -> int:
    """Where the sum over partitions ``start`` to ``end`` is cut in two: at the one among them, but for the first, whose number is divisible by the highest power of two."""
    last = end - 1
    bit = (start ^ last).bit_length() - 1
    return last >> bit << bit


def tree(items: Sequence[T], add: Callable[[T, T], T], start: int = 0) -> T:
    """The sum of neighbours from number ``start`` on, in the order of the tree."""
    if len(items) == 1:
        return items[0]
    cut = middle(start, start + len(items)) - start
    return add(tree(items[:cut], add, start), tree(items[cut:], add, start + cut))


WIDTH = 8
"""Nodes that one task adds up. A power of two; which one changes no bit."""


def levels(n: int) -> list[list[tuple[int, int]]]:
    """Nodes of the tree over ``n`` partitions, level by level, each the sum of up to ``WIDTH`` nodes below; the last level has one."""
    out, size = [], 1
    while size < n:
        size *= WIDTH
        out.append([(start, min(start + size, n)) for start in range(0, n, size)])
    return out


def aligned(array: Any) -> Any:
    """Arrays as the extension takes them: what came from another process may be misaligned."""
    if isinstance(array, tuple):
        return tuple(map(aligned, array))
    return np.require(array, requirements=["C", "A"]) if isinstance(array, np.ndarray) else array


def add_sums(left: Sum, right: Sum) -> Sum:
    """Of two neighbouring nodes."""
    return left[0] + right[0], left[1] + right[1]


def add_counts(left: Any, right: Any) -> Any:
    """Of vocabularies."""
    return left.merge(right)


@dataclass(frozen=True)
class Kind:
    """What rows are, and what is to be predicted of them."""

    target: str
    """``classes``, ``labels`` or ``numbers``."""
    text: bool = False
    libsvm: bool = False
    """Whether each partition knows the columns that it has entries in, and no more."""
    digest: bool = False
    """Whether a digest of the rows is wanted, for a checkpoint."""


@dataclass
class Facts:
    """What the driver has to know about a partition."""

    n_rows: int = 0
    n_features: int = 0
    least_column: int = sys.maxsize
    nnz: int = 0
    n_bytes: int = 0
    weight: float = 0.0
    longest: float = 0.0
    values: Any = None
    """Classes or labels; for an indicator matrix its width."""
    counts: Any = None
    """The weight of the rows of each."""
    names: list[str] | None = None
    dtype: str = "f8"
    n_words: int = 0
    digest: str = ""
    """Of all rows, where it was asked for; of several partitions one after the other."""
    marks: frozenset[int] = frozenset()
    """Of each partition, its rows in short, in any order."""


@dataclass(frozen=True)
class Plan:
    """What every process has to know about all rows."""

    kind: Kind
    n_rows: int
    n_features: int
    total: float
    n_outputs: int
    shift: int = 0
    classes: Any = None
    factors: Any = None
    names: list[str] | None = None
    least_share: float = 1.0
    longest: float = 0.0
    indicator: bool = False
    dtype: str = "f8"
    text: tuple[str, bytes, Any, Any] | None = field(default=None, repr=False)
    marks: frozenset[int] = field(default=frozenset(), repr=False)
    """The rows of each partition in short, as the first scan found them; nothing is checked where there are none."""

    @property
    def dim(self) -> int:
        """Weights, a bias among them."""
        return (self.n_features + 1) * self.n_outputs


def matrix(X: Any) -> tuple[Any, list[str] | None]:
    """A partition's features as an array or CSR matrix, and their names."""
    names = None
    if hasattr(X, "columns") and hasattr(X, "to_numpy"):
        names = [str(name) for name in X.columns]
        for at, (name, kind) in enumerate(zip(names, X.dtypes)):
            # Words and categories that look like numbers would become numbers, and dates would, too.
            is_number = kind.kind in "biuf" or (kind == object and not any(isinstance(one, str) for one in X.iloc[:, at]))
            if not is_number:
                raise ValueError(f"column {name!r} must be of numbers; it is {kind}: leave it out, or turn it into numbers first")
        X = X.to_numpy()
    if issparse(X):
        X = X.tocsr()
        if X.dtype not in (np.float32, np.float64):
            X = X.astype(np.float64)
        X.data, X.indices, X.indptr = map(aligned, (X.data, X.indices, X.indptr))
        return X, names
    X = np.asarray(X)
    if X.ndim != 2:
        raise ValueError(f"a partition must have rows and columns; its shape is {X.shape}")
    if X.dtype.kind in "mMcSU":
        # NumPy would make numbers of them.
        raise ValueError(f"features must be numbers; they are {X.dtype}")
    try:
        X = np.require(X, dtype=X.dtype if X.dtype in (np.float32, np.float64) else np.float64, requirements=["C", "A"])
    except (TypeError, ValueError) as why:
        raise ValueError(f"features must be numbers: {why}") from None
    return X, names


def _weights(weights: Any, n_rows: int) -> np.ndarray:
    if weights is None:
        return np.ones(n_rows)
    out = np.asarray(weights, dtype=np.float64).ravel()
    if len(out) != n_rows:
        raise ValueError(f"{n_rows} rows and {len(out)} weights")
    if not np.isfinite(out).all() or (out < 0).any():
        raise ValueError("weights must be numbers of at least 0")
    # The library has weights in single precision.
    return out.astype(np.float32).astype(np.float64)


def _lists(y: Any) -> list[list[Any]]:
    """The labels of each row, which are all words or all numbers."""
    lists = [_labels_of(row) for row in y]
    kinds = 0
    for at, row in enumerate(lists):
        if len(row) == 1 and isinstance(row[0], str) and row[0][:1] + row[0][-1:] == "[]":
            raise ValueError(f"row {at} of y is the text {row[0]!r}, not a list: Dask's dataframes turn lists into texts unless dask.config has dataframe.convert-string set to False; bags keep them")
        if any(label is None or label != label for label in row):
            raise ValueError(f"y has a missing label in row {at}: a row without labels has an empty list")
        kinds |= sum({2 if isinstance(label, str) else 1 for label in row})
        if kinds > 2:
            raise ValueError(f"the labels of y must be all words or all numbers; those of row {at} are of another kind than others")
    return lists


def _is_indicator(y: Any) -> bool:
    return issparse(y) or (hasattr(y, "ndim") and y.ndim == 2)


F32_MAX = float(np.finfo(np.float32).max)


def _classes(y: np.ndarray) -> np.ndarray:
    """The class of each row, with a type of its own where Python objects have one."""
    if y.dtype == object:
        is_text = [isinstance(one, str) for one in y]
        if any(is_text) and not all(is_text):
            raise ValueError(f"the classes of y must be all words or all numbers; row {is_text.index(not is_text[0])} is of another kind than row 0")
        y = np.asarray(y.tolist()) if len(y) else y.astype(str)
    if y.dtype.kind == "f" and (y != np.floor(y)).any():
        raise ValueError(f"Unknown label type: y has numbers that are not whole, such as {y[(y != np.floor(y)).argmax()]}, as if it were to be predicted by regression")
    return y


def _is_missing(y: np.ndarray) -> np.ndarray:
    """Where there is no value: ``None``, ``NaN`` or pandas' ``NA``."""
    if y.dtype.kind == "f":
        return np.isnan(y)
    if y.dtype != object:
        return np.zeros(len(y), dtype=bool)
    return np.array([one is None or type(one).__name__ == "NAType" or (isinstance(one, float) and one != one) for one in y], dtype=bool)


def _texts(X: Any) -> list[str]:
    if getattr(X, "ndim", 1) > 1:
        raise ValueError("texts must be one column or bag, as in frame['text']; here are rows of several")
    texts = list(X)
    for at, text in enumerate(texts):
        if not isinstance(text, str):
            raise ValueError(f"row {at} {'has no text' if text is None or text != text else f'is not a text but {type(text).__name__}'}")
    return texts


def look(raw: tuple[Any, Any, Any], kind: Kind) -> Facts:
    """Facts of a partition: ``(X, y, weights)`` as it was read."""
    X, y, given = raw
    facts, target = Facts(), y
    if kind.text:
        texts = _texts(X)
        facts.n_rows, facts.n_bytes = len(texts), sum(map(len, texts))
        facts.nnz = facts.n_bytes // 3
        facts.n_words = sum(min(len(text.split()), 16) for text in texts) - 4 * sum(bool(text.strip()) for text in texts)
    else:
        X, facts.names = matrix(X)
        facts.n_rows, facts.n_features, facts.dtype = X.shape[0], X.shape[1], X.dtype.str
        values = X.data if issparse(X) else X
        if not np.isfinite(values).all():
            raise ValueError(_not_finite(X, facts.names))
        if values.dtype == np.float64 and values.size and max(values.max(), -values.min()) > F32_MAX:
            raise ValueError(f"features must be at most {F32_MAX:.3g}, the largest number in single precision: some are larger")
        facts.nnz = values.size
        facts.n_bytes = values.nbytes + (X.indices.nbytes + X.indptr.nbytes if issparse(X) else 0)
        if facts.n_rows:
            squares = X.multiply(X).sum(axis=1) if issparse(X) else np.einsum("ij,ij->i", X, X, dtype=np.float64)
            facts.longest = float(np.sqrt(np.asarray(squares, dtype=np.float64).max()))
        if issparse(X) and X.nnz:
            facts.least_column = int(X.indices.min())
    weights = _weights(given, facts.n_rows)
    facts.weight, facts.marks = float(weights.sum()), frozenset([mark(texts if kind.text else X, y, given)])
    if kind.target == "labels":
        if _is_indicator(y):
            dense = np.asarray(y.toarray() if issparse(y) else y)
            if not np.isin(dense, (0, 1)).all():
                raise ValueError("y must be an indicator matrix of zeros and ones, or lists of labels")
            facts.values, facts.counts, n, target = dense.shape[1], weights @ dense, len(dense), dense
        else:
            target = rows = _lists(y)
            flat = [label for row in rows for label in set(row)]
            facts.values, where = np.unique(np.asarray(flat), return_inverse=True) if flat else (np.array([]), np.array([], dtype=int))
            facts.counts, n = np.bincount(where, weights=np.repeat(weights, [len(set(row)) for row in rows]), minlength=len(facts.values)), len(rows)
    else:
        y = np.asarray(y)
        if y.ndim == 2 and y.shape[1] > 1:
            raise ValueError(f"y must have one value for each row; it has {y.shape[1]} columns")
        target = y = y.ravel()
        n = len(y)
        if n != facts.n_rows:
            raise ValueError(f"{facts.n_rows} rows and {n} values of y")
        if kind.target == "classes":
            if _is_missing(y).any():
                raise ValueError(f"y has missing values: the first is that of row {int(_is_missing(y).argmax())}; leave out rows that have no class")
            facts.values, where = np.unique(_classes(y), return_inverse=True)
            facts.counts = np.bincount(where, weights=weights, minlength=len(facts.values))
        else:
            try:
                is_finite = np.isfinite(y.astype(np.float64)).all()
            except (TypeError, ValueError) as why:
                raise ValueError(f"y must be finite numbers: {why}") from None
            if not is_finite:
                raise ValueError("y must be finite numbers: some are not")
    if n != facts.n_rows:
        raise ValueError(f"{facts.n_rows} rows and {n} values of y")
    if kind.digest:
        facts.digest = _digest(texts if kind.text else X, target, weights)
    return facts


def _not_finite(X: Any, names: list[str] | None) -> str:
    """Where the first feature is that is not a finite number."""
    entries = X.tocoo() if issparse(X) else None
    values = X.ravel() if entries is None else entries.data
    at = int(np.flatnonzero(~np.isfinite(values))[0])
    row, column = divmod(at, X.shape[1]) if entries is None else (entries.row[at], entries.col[at])
    return f"features must be finite numbers: in row {row}, {f'column {names[column]!r}' if names else f'feature {column}'} is {values[at]}"


def mark(X: Any, y: Any, weights: Any) -> int:
    """A number that other rows do not have, and the same rows in another order have: it tells whether a partition that is made again has the rows that were counted."""

    def of(part: Any) -> bytes:
        if issparse(part):
            part = part.tocsr()
            return of(part.data) + of(part.indices)
        array = part if isinstance(part, list) else np.asarray(part)
        if isinstance(array, list) or array.dtype == object:
            said = (one if isinstance(one, str) else repr(one) for one in array)
            return b"%d" % sum(zlib.crc32(one.encode("utf-8", "surrogatepass")) for one in said)
        if not array.size:
            return b""
        bits = np.ascontiguousarray(array).reshape(len(array), -1).view("u1" if array.dtype.itemsize % 4 else "u4")
        return bits.sum(axis=0, dtype=np.uint64).tobytes()

    n_rows = X.shape[0] if hasattr(X, "shape") else len(X)
    parts = b"|".join(b"" if part is None else of(part) for part in (X, y, weights))
    return int.from_bytes(hashlib.blake2b(b"%d|" % n_rows + parts, digest_size=8).digest(), "little")


def _digest(*parts: Any) -> str:
    """Of the values of arrays, sparse matrices and lists."""
    digest = hashlib.blake2b(digest_size=16)
    for part in parts:
        for array in [part.data, part.indices, part.indptr] if issparse(part) else [part]:
            if isinstance(array, np.ndarray) and array.dtype != object:
                digest.update(f"{array.dtype.str}{array.shape}".encode())
                digest.update(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)
            else:
                said = repr(list(array)).encode("utf-8", "surrogatepass")
                digest.update(b"%d " % len(said) + said)
    return digest.hexdigest()


def count(raw: tuple[Any, Any, Any], spec: str) -> Any:
    """The vocabulary of a partition of text."""
    return Counts(_lineal.TextCounts(_texts(raw[0]), spec))


class Counts:
    """A vocabulary's counts that can be sent."""

    def __init__(self, counts: Any):
        self.counts = counts

    def merge(self, other: Counts) -> Counts:
        """The counts of both."""
        return Counts(self.counts.merge(other.counts))

    def __reduce__(self) -> Any:
        return _counts, self.counts.to_parts()

    def __sizeof__(self) -> int:
        return 64 + 32 * len(self.counts)


def _counts(*parts: Any) -> Counts:
    # They come out of a message, in which arrays begin anywhere.
    return Counts(_lineal.TextCounts.from_parts(*aligned(parts)))


@dataclass
class Shard:
    """A partition as the library takes it."""

    x: Any
    y: Any
    weights: Any
    n_leaves: int

    def answer(self, question: Question, n_threads: int) -> Sum:
        """What its rows add to the mean loss and to its vector."""
        x, y, weights, w, v = map(aligned, (self.x, self.y, self.weights, question.w, question.v))
        # Steps follow each other, so that a shard's rows are one leaf.
        n_leaves = 1 if question.kind == "steps" else self.n_leaves
        return _lineal.shard_answer(x, y, question.n_classes, question.spec, weights, question.total, n_leaves, question.kind, w, v, n_threads)

    def __sizeof__(self) -> int:
        arrays = [*(self.x[1:] if isinstance(self.x, tuple) else [self.x]), *(self.y if isinstance(self.y, tuple) else [self.y]), self.weights]
        return 256 + sum(array.nbytes for array in arrays if array is not None)


CHANGED = "its rows are not those that the first scan found: files must not change during a run, and functions that make partitions must make the same rows each time"


def build(raw: tuple[Any, Any, Any], plan: Plan) -> Shard | None:
    """The shard of a partition; ``None`` of one without rows."""
    X, y, given = raw
    texts = _texts(X) if plan.kind.text else []
    if not plan.kind.text:
        X, _ = matrix(X)
    if plan.marks and mark(texts if plan.kind.text else X, y, given) not in plan.marks:
        raise ValueError(CHANGED)
    if plan.text is not None:
        spec, *parts = plan.text
        encoder = _encoder(spec, parts)
        x = encoder.encode(texts, 1, False)
        n_rows, nnz = len(texts), len(x[3])
    else:
        n_rows = X.shape[0]
        if issparse(X):
            from scipy.sparse import csr_matrix

            X = csr_matrix((X.data, X.indices - plan.shift, X.indptr), shape=(n_rows, plan.n_features))
        # The library has features in single precision: narrowed once, they are shared with it in every pass.
        x, nnz = features(X.astype(np.float32, copy=False)), X.size
    if n_rows == 0:
        return None
    weights = _weights(given, n_rows)
    target: Any
    if plan.kind.target == "numbers":
        target = np.asarray(y, dtype=np.float64).ravel()
    elif plan.kind.target == "classes":
        ids = np.searchsorted(plan.classes, _classes(np.asarray(y).ravel()))
        target = ids.astype(np.uint32)
        if plan.factors is not None:
            weights = weights * plan.factors[ids]
    else:
        if plan.indicator:
            lists = [np.flatnonzero(row) for row in np.asarray(y.toarray() if issparse(y) else y)]
        else:
            lists = [np.unique(np.searchsorted(plan.classes, row)) if len(row) else np.array([], dtype=np.intp) for row in _lists(y)]
        start = np.concatenate([[0], np.cumsum([len(row) for row in lists])]).astype(np.uintp)
        target = (start, np.concatenate(lists).astype(np.uint32))
    # Inner nodes of the tree each add a vector of all weights, so leaves are much more work than that.
    n_leaves = max(1, min(16, n_rows, nnz // (4 * max(plan.n_features, 1))))
    return Shard(x, target, None if (weights == 1).all() else weights, n_leaves)


_ENCODERS: dict[int, tuple[Any, Any]] = {}


def _encoder(spec: str, parts: Any) -> Any:
    """The encoder of a vocabulary, made once for each process and vocabulary."""
    held = _ENCODERS.get(id(parts[0]))
    if held is None or held[0] is not parts[0]:
        _ENCODERS.clear()
        held = _ENCODERS[id(parts[0])] = (parts[0], _lineal.TextEncoder.from_parts(spec, *aligned(tuple(parts))))
    return held[1]


@dataclass(frozen=True)
class Question:
    """What is asked about the mean loss. It says everything, so that a process that was just started can answer."""

    kind: str
    w: np.ndarray
    v: np.ndarray | None
    spec: str
    n_classes: int
    total: float

    @property
    def n_bytes(self) -> int:
        """What is sent to each worker."""
        return self.w.nbytes + (0 if self.v is None else self.v.nbytes)


def answer(shard: Any, question: Question, n_threads: int = 1) -> Sum:
    """What a shard adds to the mean loss and to its vector; a partition without rows has none."""
    return (0.0, np.zeros(len(question.w))) if shard is None else shard.answer(question, n_threads)


def agree(all_facts: list[Facts], kind: Kind, name: Callable[[int], str]) -> Facts:
    """The facts of all partitions, added up by the tree."""
    widths: dict[Any, int] = {}
    for number, facts in enumerate(all_facts):
        if facts.n_rows and not kind.text:
            widths.setdefault((facts.n_features, tuple(facts.names or ())), number)
    if len(widths) > 1 and not kind.libsvm:
        (first, a), (second, b) = list(widths.items())[:2]
        said = [f"{one[0]} features" if first[0] != second[0] else f"the columns {', '.join(map(repr, one[1][:20]))}" if one[1] else "columns without names" for one in (first, second)]
        raise ValueError(f"{name(a)} has {said[0]} and {name(b)} has {said[1]}: all partitions must have the same columns, in the same order")

    def both(a: Facts, b: Facts) -> Facts:
        # Partitions without rows know nothing of the type of classes.
        if a.values is None or b.values is None or not (a.n_rows and b.n_rows):
            values, counts = (a.values, a.counts) if b.values is None or not b.n_rows else (b.values, b.counts)
        elif isinstance(a.values, int) or isinstance(b.values, int):
            if a.values != b.values:
                raise ValueError(f"indicator matrices of {a.values} and of {b.values} labels")
            values, counts = a.values, a.counts + b.counts
        else:
            if (a.values.dtype.kind == "U") != (b.values.dtype.kind == "U"):
                raise ValueError(f"the classes of y must be all words or all numbers; one partition has {a.values[0].item()!r} and another has {b.values[0].item()!r}")
            values, where = np.unique(np.concatenate([a.values, b.values]), return_inverse=True)
            counts = np.bincount(where, weights=np.concatenate([a.counts, b.counts]), minlength=len(values))
        return Facts(
            n_rows=a.n_rows + b.n_rows,
            n_features=max(a.n_features, b.n_features),
            least_column=min(a.least_column, b.least_column),
            nnz=a.nnz + b.nnz,
            n_bytes=a.n_bytes + b.n_bytes,
            weight=a.weight + b.weight,
            longest=max(a.longest, b.longest),
            values=values,
            counts=counts,
            names=a.names or b.names,
            dtype=max(a.dtype, b.dtype),
            n_words=a.n_words + b.n_words,
            digest=a.digest + b.digest,
            marks=a.marks | b.marks,
        )

    return tree(all_facts, both)


def text_spec(first: Facts, **limits: Any) -> str:
    """How text becomes features: as ``TextClassifier`` has it. Texts of fewer than four words each have no pairs."""
    ngrams = [1, 1] if first.n_words < 0 else [1, 2]
    return json.dumps({"tokens": "words-and-marks", "ngrams": ngrams, "slots": ["text"], **{key: value for key, value in limits.items() if value is not None}})
