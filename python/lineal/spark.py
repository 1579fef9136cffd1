"""Training on a Spark cluster: the estimators of ``lineal``, on data frames. It needs ``pyspark`` and Java.

Partitions of the frame are the shards. A pass is one ``mapInArrow`` over the frame: each Python worker turns its partition into arrays and answers with one vector, and the driver adds these up by
the tree that ``lineal.dask`` adds them up by. With the same rows in the same partitions both come to the same bits, and so does any number of executors.

    from lineal.spark import LogisticRegression

    df = spark.read.parquet("data/").repartition(64).persist()
    model = LogisticRegression().fit(df, "label")
    model.predict(df).show()

``persist`` the frame, else Spark reads it again in every pass; a frame that comes out of a shuffle has its rows in an order that a lost executor may change, and with the order the last bits.
"""

from __future__ import annotations

import pickle
from typing import Any, Callable, Iterator, Sequence

import numpy as np

from . import _distributed
from ._base import atomic, check_is_fitted
from ._cluster import megabytes
from ._shards import CHANGED, Facts, Plan, Question, Sum, add_sums, answer, tree

__all__ = ["LinearSVC", "LogisticRegression", "MultilabelClassifier", "Ridge", "TextClassifier"]


def _raw(batches: Iterator[Any], features: Sequence[str], y: str | None, weights: str | None, text: bool) -> tuple[Any, Any, Any]:
    """A partition: features or texts, what is to be predicted, weights."""
    import pyarrow as pa

    found = list(batches)
    table = pa.Table.from_batches(found)
    column = lambda name: None if name is None else table.column(name)
    given, own = column(y), column(weights)
    target = None if given is None else given.to_pylist() if pa.types.is_list(given.type) else given.to_numpy()
    if text:
        X: Any = table.column(features[0]).to_pylist()
    elif len(features) == 1 and pa.types.is_list(table.schema.field(features[0]).type):
        X = np.array(table.column(features[0]).to_pylist(), dtype=np.float64)
    else:
        columns = [np.asarray(table.column(name).to_numpy()) for name in features]
        X = np.column_stack(columns).astype(np.float32 if all(c.dtype == np.float32 for c in columns) else np.float64, copy=False)
    return X, target, None if own is None else own.to_numpy()


def _task(how: tuple, function: Callable, args: tuple) -> Callable:
    """What a Python worker does with a partition: one row with the number and the result."""

    def work(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa
        from pyspark import TaskContext

        context = TaskContext.get()
        number = 0 if context is None else context.partitionId()
        found = [batch for batch in batches if batch.num_rows]
        if found:
            try:
                done = function(_raw(iter(found), *how), *args)
            except ValueError as why:
                done = ValueError(f"partition {number}: {why}")
            yield pa.RecordBatch.from_pydict({"number": pa.array([number], pa.int64()), "result": pa.array([pickle.dumps(done)], pa.binary())})

    return work


def _streamed(raw: Any, build: Callable, plan: Plan, question: Question) -> Sum:
    return answer(build(raw, plan), question)


class Frame:
    """Partitions of a Spark frame."""

    def __init__(self, frame: Any, features: Sequence[str], y: str, weights: str | None, text: bool):
        self._how = (tuple(features), y, weights, text)
        self._frame = frame.select(*dict.fromkeys([*features, y, *([weights] if weights else [])]))
        self.names = [f"{number} of the frame" for number in range(frame.rdd.getNumPartitions())]
        self._made: tuple | None = None
        self._filled: set[int] = set()
        """Partitions that have rows."""

    def _results(self, function: Callable, *args: Any) -> dict[int, Any]:
        rows = self._frame.mapInArrow(_task(self._how, function, args), "number long, result binary").collect()
        found = {row["number"]: pickle.loads(row["result"]) for row in rows}
        for _, done in sorted(found.items()):
            if isinstance(done, ValueError):
                raise done
        return found

    def map(self, name: str, function: Callable, *args: Any) -> list[Any]:
        """``function(partition, *args)`` of every partition; of one without rows what is said of none."""
        found = self._results(function, *args)
        self._filled = set(found)
        return [found.get(number, Facts()) for number in range(len(self.names))]

    def reduce(self, name: str, function: Callable, add: Callable, *args: Any) -> Any:
        """The same, added up by the tree."""
        found = self._results(function, *args)
        return tree([found[number] for number in sorted(found)], add)

    def keep(self, function: Callable, plan: Any, n_bytes: int, tell: Callable[[dict[str, Any]], None]) -> None:
        """Rows are where Spark has them; shards are made of them in every pass."""
        self._made = (function, plan)
        context = self._frame.sparkSession.sparkContext
        n = max(context.defaultParallelism, 1)
        tell({"workers": n, "kept": bool(self._frame.storageLevel.useMemory), "bytes_per_worker": n_bytes // n + 3 * 8 * plan.dim})

    def ask(self, question: Question) -> Sum:
        """The sum of what all partitions answer."""
        assert self._made is not None
        build, plan = self._made
        found = self._results(_streamed, build, plan, question)
        if odd := self._filled ^ set(found):
            raise ValueError(f"partition {min(odd)}: {CHANGED}")
        none = (0.0, np.zeros(len(question.w)))
        return tree([found.get(number, none) for number in range(len(self.names))], add_sums)

    def tell(self, event: dict[str, Any]) -> None:
        """The description of Spark's next job, which its page shows."""
        objective = "not known" if event["objective"] is None else f"{event['objective']:.6g}"
        gap = "not known" if event["gap"] is None else f"{event['gap']:.2e}"
        self._frame.sparkSession.sparkContext.setJobDescription(f"lineal, pass {event['pass']}: objective {objective}, gap {gap}, {megabytes(event['bytes'])}")

    def close(self) -> None:
        """Nothing is held."""


class _OnSpark(_distributed.OnCluster):
    """Partitions of Spark's frames."""

    @atomic
    def fit(self, X: Any, y: str = "label", sample_weight: str | None = None, *, columns: Any = None, checkpoint: Any = None) -> Any:
        """Fits to a frame. ``y`` and ``sample_weight`` are names of columns, ``columns`` those of the features (by default all others), one of them an array, or the one of text."""
        if not hasattr(X, "mapInArrow"):
            raise TypeError(f"X must be a data frame of Spark, not {type(X).__name__}")
        rest = [name for name in X.columns if name not in (y, sample_weight)]
        names = rest if columns is None else [columns] if isinstance(columns, str) else list(columns)
        for name in (y, *([sample_weight] if sample_weight else []), *names):
            if name not in X.columns:
                raise ValueError(f"there is no column {name!r}; there are {', '.join(map(repr, X.columns[:20]))}")
        if self._kind.text and len(names) != 1:
            raise ValueError(f"columns must name the one column of text; there are {', '.join(map(repr, names[:20]))}")
        self._columns = names
        transport = Frame(X, names, y, sample_weight, self._kind.text)
        self._run(transport, False, checkpoint)
        if len(names) > 1:
            me: Any = self
            me.feature_names_in_ = np.asarray(names, dtype=object)
        return self

    def predict(self, X: Any) -> Any:
        """A frame with a column ``prediction`` more, lazily; of what is in memory the answers."""
        if not hasattr(X, "mapInArrow"):
            return super().predict(X)  # type: ignore[misc]
        check_is_fitted(self)
        from pyspark.sql import types

        classes = getattr(self, "classes_", None)
        kind: Any = types.DoubleType() if classes is None or classes.dtype.kind == "f" else types.LongType() if classes.dtype.kind in "iu" else types.StringType()
        is_labels = self._kind.target == "labels"
        model, names, text = self, self._columns, self._kind.text

        def work(batches: Iterator[Any]) -> Iterator[Any]:
            import pyarrow as pa

            for batch in batches:
                if batch.num_rows:
                    rows = _raw(iter([batch]), names, None, None, text)[0]
                    found = type(model).predict(model, rows)
                    yield pa.RecordBatch.from_arrays([*batch.columns, pa.array([list(f) for f in found] if is_labels else found.tolist())], names=[*batch.schema.names, "prediction"])

        kind = types.ArrayType(kind) if is_labels else kind
        return X.mapInArrow(work, types.StructType([*X.schema.fields, types.StructField("prediction", kind)]))


class LogisticRegression(_OnSpark, _distributed.LogisticRegression):
    """``lineal.LogisticRegression`` on a frame."""


class LinearSVC(_OnSpark, _distributed.LinearSVC):
    """``lineal.LinearSVC`` on a frame, with the squared hinge loss."""


class Ridge(_OnSpark, _distributed.Ridge):
    """``lineal.Ridge`` on a frame."""


class MultilabelClassifier(_OnSpark, _distributed.MultilabelClassifier):
    """``lineal.MultilabelClassifier`` on a frame whose labels are arrays; ``threshold='auto'`` is ½."""


class TextClassifier(_OnSpark, _distributed.TextClassifier):
    """``lineal.TextClassifier`` on a frame with one column of text."""
