"""Training on a Dask cluster: the estimators of ``lineal``, on rows that do not fit one machine.

Rows are partitions of Dask arrays (dense, or with sparse chunks), dataframes and bags, or files that the workers read. Weights have the same bits on any number of workers, after workers were
lost, and without a cluster, where everything runs in this process:

>>> import dask.array as da
>>> from lineal.dask import LogisticRegression
>>> X = da.from_array([[1.0, 5.0], [2.0, 6.0], [7.0, 2.0], [8.0, 1.0]], chunks=(2, 2))
>>> y = da.from_array(["flat", "flat", "tall", "tall"], chunks=2)
>>> model = LogisticRegression().fit(X, y)
>>> print(*model.predict(X).compute(scheduler="synchronous"))
flat flat tall tall
>>> model.certificate_.converged
True

``fit`` of all of them takes, beside ``X``, ``y`` and ``sample_weight``:

- ``client``: a ``distributed.Client``; by default the current one, if there is one. ``False`` is this process.
- ``checkpoint``: a file that keeps the answers of the cluster; a driver that is started again with it goes on where the last one ended. It grows by 8 bytes for each weight in every pass.
- ``keep``: whether shards stay in the workers' memory (``True``), are read anew in every pass (``False``), or whichever fits (``'auto'``).
- ``timeout``: seconds without any progress after which ``fit`` gives up, and says what it waited for.
- ``columns``: of files, the columns that are features, or the one that is text. ``y`` and ``sample_weight`` are then names of columns; folders of ``.txt`` files have their labels from the folders' names.
- ``block``: of files, how many bytes make a partition.
- ``rounds``: how many rounds of stochastic steps come before L-BFGS, each partition on its own and then averaged; worth it where a pass is long because partitions are read anew. 0 by default. Newton's
  method and ``l1_ratio`` do without.
"""

from __future__ import annotations

import functools
import numbers
import os
from typing import Any, Callable

import dask
import numpy as np
from dask import delayed

import lineal

from . import _cluster, _distributed
from ._base import atomic, check_is_fitted, issparse
from ._dask_transport import Cluster, Reading, Reads, fits, read
from ._sources import BLOCK, Source, expand, format_of, sequence_sources, sources
from ._tagging import LISTS

__all__ = ["LinearSVC", "LogisticRegression", "MultilabelClassifier", "Ridge", "Tagger", "TextClassifier", "train"]


def _is_files(X: Any) -> bool:
    return isinstance(X, (str, os.PathLike)) or (isinstance(X, (list, tuple)) and bool(X) and all(isinstance(x, os.PathLike) for x in X))


def _is_array(X: Any) -> bool:
    return hasattr(X, "dask") and hasattr(X, "chunks")


def _is_bag(X: Any) -> bool:
    return hasattr(X, "dask") and hasattr(X, "npartitions") and hasattr(X, "to_textfiles")


def _is_frame(X: Any) -> bool:
    return hasattr(X, "dask") and hasattr(X, "npartitions") and hasattr(X, "map_partitions") and not _is_bag(X)


def _chunks(X: Any, name: str, alone: bool) -> list[Any]:
    """The partitions of a collection. Unless it is alone it is not optimised: what collections have in common would be made for each of them, and partitions of some of their columns be put together."""
    if _is_array(X) or _is_frame(X) or _is_bag(X):
        parts = X.to_delayed(optimize_graph=alone)
        return list(parts.ravel() if _is_array(X) else parts)
    raise TypeError(f"{name} must be a Dask array, dataframe or bag, or files, not {type(X).__name__}; arrays in memory are for lineal's own estimators")


def _rows(X: Any, y: Any, weights: Any) -> tuple[Any, Any, Any]:
    """A partition, of whose columns ``y`` and ``weights`` may be names. Were columns partitions of their own, tables that are shuffled would be shuffled for each, and their rows come in another order."""
    named = [name for name in (y, weights) if isinstance(name, str)]
    take = [X[name] if isinstance(name, str) else name for name in (y, weights)]
    return (X.drop(columns=named) if named else X), take[0], take[1]


def _default_client(client: Any) -> Any:
    import distributed

    if client is None:
        try:
            return distributed.default_client()
        except ValueError:
            return None
    if client is not False and not isinstance(client, distributed.Client):
        raise TypeError(f"client must be a distributed.Client, None for the current one, or False for this process; it is {type(client).__name__}")
    return client or None


def _cut_alike(X: Any, other: Any, name: str) -> Any:
    """An array in the chunks of ``X``, where both know how long theirs are."""
    if not (_is_array(X) and _is_array(other)) or np.isnan([*X.chunks[0], *other.chunks[0]]).any():
        return other
    if other.shape[0] != X.shape[0]:
        raise ValueError(f"X has {X.shape[0]} rows and {name} has {other.shape[0]}")
    return other if other.chunks[0] == X.chunks[0] else other.rechunk({0: X.chunks[0]})


def _least_memory(client: Any, timeout: float) -> int:
    """What each worker may have; 0 where that is not known."""
    if client is None:
        return 0
    limits = Cluster(client, [], [], timeout=timeout).limits()
    return min(limits) if all(limits) else 0


def _reads(found: list[Source], limit: int, method: str = "read") -> list[Any]:
    """A task for each source that reads it, if it can fit."""
    token = dask.base.tokenize
    calls = [Reading(source, number_, limit, method) for number_, source in enumerate(found)]
    return Reads(calls, [delayed(read, pure=False)(call.source, call.number, limit, method, dask_key_name=f"lineal-read-{token(call.source, limit, method)}-{call.number}") for call in calls])


def _partitions(X: Any, y: Any, sample_weight: Any, client: Any, how: dict[str, Any], text: bool) -> tuple[list[str], list[Any], bool]:
    """Names of the partitions, delayed ``(X, y, weights)`` of each, and whether columns are counted as in LIBSVM's files."""
    limit = _least_memory(client, how["timeout"])
    if _is_files(X):
        found = sources(X, y, sample_weight, columns=how["columns"], text=text, labels=how["labels"], block=how["block"])
        if y is None and found[0].form not in ("libsvm", "text"):
            raise ValueError("y is missing: name the column of the files that is to be predicted")
        return [source.name for source in found], _reads(found, limit), found[0].form == "libsvm"
    if y is None:
        raise ValueError("y is missing")
    if _is_array(X) and X.ndim == 2 and X.numblocks[1] > 1:
        X = X.rechunk({1: -1})
    given = [("y", _cut_alike(X, y, "y")), ("sample_weight", _cut_alike(X, sample_weight, "sample_weight"))]
    alone = _is_frame(X) and all(one is None or isinstance(one, str) for _, one in given)
    parts, columns = _chunks(X, "X", alone), []
    for name, one in given:
        if one is None or (isinstance(one, str) and _is_frame(X)):
            if one is not None and one not in X.columns:
                raise ValueError(f"there is no column {one!r}; there are {', '.join(map(repr, X.columns[:20]))}")
            columns.append([one] * len(parts))
            continue
        columns.append(_chunks(one, name, alone))
        if len(columns[-1]) != len(parts):
            raise ValueError(f"X has {len(parts)} partitions and {name} has {len(columns[-1])}: they must be cut alike")
    kind = "array" if _is_array(X) else "bag" if _is_bag(X) else "dataframe"
    names = [f"{at} of the {kind}" for at in range(len(parts))]
    if _is_array(X) and X.ndim == 2 and not np.isnan(X.shape[0]) and not hasattr(X._meta, "tocsr"):
        for at, rows in enumerate(X.chunks[0]):
            fits(at, names[at], int(rows * X.shape[1] * X.dtype.itemsize), limit)
    return names, [delayed(_rows, pure=False)(x, t, w) for x, t, w in zip(parts, *columns)], False


def _transport(client: Any, names: list[str], parts: list[Any], keep: Any, timeout: float) -> Any:
    """What brings questions to partitions: a client, or this process."""
    if keep not in (True, False, "auto"):
        raise ValueError(f"keep must be True, False or 'auto', not {keep!r}")
    if client is None:
        return _cluster.Here(names, [functools.partial(part.compute, scheduler="synchronous") for part in parts])
    return Cluster(client, names, parts, timeout=timeout, keep=keep)


def _rounds(rounds: Any) -> int:
    if not isinstance(rounds, numbers.Integral) or int(rounds) < 0:
        raise ValueError(f"rounds must be a whole number of at least 0, not {rounds!r}")
    return int(rounds)


class _OnDask(_distributed.OnCluster):
    """Partitions by Dask, and predictions of partitions."""

    @atomic
    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        client: Any = None,
        checkpoint: Any = None,
        keep: Any = "auto",
        timeout: float = 300.0,
        columns: Any = None,
        block: int = BLOCK,
        rounds: int = 0,
    ) -> Any:
        """Fits to partitions, or to files; see ``lineal.dask`` for what may be said beside them."""
        client, rounds = _default_client(client), _rounds(rounds)
        how = {"timeout": timeout, "columns": columns, "labels": self._kind.target == "labels", "block": block}
        if self._kind.text:
            self._text_in = (columns, (y, sample_weight)) if _is_files(X) else ("text", ())
        names, parts, libsvm = _partitions(X, y, sample_weight, client, how, self._kind.text)
        return self._run(_transport(client, names, parts, keep, timeout), libsvm, checkpoint, rounds)

    def _lazily(self, method: str, X: Any, width: int | None, dtype: Any) -> Any:
        """A method of ``lineal``'s estimator, partition by partition, when it is asked for."""
        me: Any = self
        check_is_fitted(me)
        empty: Any = [] if dtype is list else np.empty((0,) if width is None else (0, width), dtype=dtype)
        # A task of its own, so that the model is not sent once more for each partition.
        model = delayed(self)
        if _is_files(X):
            import dask.array as da

            columns, without = self._text_in if self._kind.text else (me.feature_names_in_.tolist() if hasattr(me, "feature_names_in_") else None, ())
            if format_of(expand(X)[0]) in ("libsvm", "text"):
                columns = None
            found = sources(X, None, None, columns=columns, text=self._kind.text, labels=self._kind.target == "labels", without=without)
            n_features, shift = (None, 0) if self._kind.text else (me.n_features_in_, self.__dict__.get("_first_column", 1))
            blocks = [delayed(_call_on, pure=True)(delayed(_features)(source, n_features, shift), model, method, empty) for source in found]
            if dtype is list:
                import dask.bag as db

                return db.from_delayed(blocks)
            shape = (np.nan,) if width is None else (np.nan, width)
            return da.concatenate([da.from_delayed(block, shape=shape, dtype=dtype) for block in blocks])
        if _is_bag(X):
            return X.map_partitions(_call_on, model, method, [])
        if _is_array(X):
            if X.ndim == 2 and X.numblocks[1] > 1:
                X = X.rechunk({1: -1})
            if dtype is list:
                import dask.bag as db

                return db.from_delayed([delayed(_call_on)(part, model, method, empty) for part in X.to_delayed().ravel()])
            how: dict[str, Any] = {"drop_axis": 1} if width is None and X.ndim == 2 else {"chunks": (X.chunks[0], (width,))} if width is not None else {}
            if X.ndim == 1 and width is not None:
                how["new_axis"] = 1
            return X.map_blocks(_call_on, model=model, method=method, empty=empty, dtype=dtype, meta=empty, **how)
        if _is_frame(X):
            import pandas as pd

            if width is None and dtype is not list:
                return X.map_partitions(_call_series, model, method, empty, meta=pd.Series(np.empty(0, dtype=dtype)))
            import dask.array as da

            blocks = [delayed(_call_on)(part, model, method, empty) for part in X.to_delayed()]
            if dtype is list:
                import dask.bag as db

                return db.from_delayed(blocks)
            return da.concatenate([da.from_delayed(block, shape=(np.nan, width), dtype=dtype) for block in blocks])
        return None


def _features(source: Source, n_features: int | None, first_column: int) -> Any:
    """What a block of a file has to predict of; columns of LIBSVM's files as training counted them."""
    X = source.read()[0]
    if source.form != "libsvm":
        return X
    from scipy.sparse import csr_matrix

    X = X.tocoo()
    column = X.col - first_column
    known = (column >= 0) & (column < n_features)
    return csr_matrix((X.data[known], (X.row[known], column[known])), shape=(X.shape[0], n_features))


def _call_on(X: Any, model: Any, method: str, empty: Any) -> Any:
    """The estimator's own method, on a partition in memory."""
    if not hasattr(X, "shape"):
        # Partitions of bags may be iterators.
        X = list(X)
    elif issparse(X):
        # Chunks may be of another library's sparse arrays.
        X = X.tocsr()
    n = X.shape[0] if hasattr(X, "shape") else len(X)
    return getattr(model, method)(X) if n else empty


def _call_series(X: Any, model: Any, method: str, empty: Any) -> Any:
    import pandas as pd

    return pd.Series(_call_on(X, model, method, empty), index=X.index)


def _lazy(own: Callable, shape: str) -> Any:
    """A method that is lazy for what Dask has, and the estimator's own for what is in memory."""
    method = own.__name__

    def wrapped(self: Any, X: Any) -> Any:
        if not (_is_files(X) or _is_array(X) or _is_bag(X) or _is_frame(X)):
            return own(self, X)
        n = len(self.classes_) if hasattr(self, "classes_") else 1
        width, dtype = {
            "classes": (None, getattr(getattr(self, "classes_", None), "dtype", np.float64)),
            "numbers": (None, np.float64),
            "each": (n, np.float64),
            "scores": (None if n == 2 else n, np.float64),
            "labels": (n, np.int64) if self.__dict__.get("_matrix", False) else (None, list),
        }[shape]
        return self._lazily(method, X, width, dtype)

    wrapped.__name__ = method
    wrapped.__doc__ = f"``{method}`` of ``lineal``'s estimator: lazily, partition by partition, for Dask's collections and for files; at once for what is in memory."
    return wrapped


class LogisticRegression(_OnDask, _distributed.LogisticRegression):
    __doc__ = _distributed.LogisticRegression.__doc__

    predict = _lazy(lineal.LogisticRegression.predict, "classes")
    predict_proba = _lazy(lineal.LogisticRegression.predict_proba, "each")
    decision_function = _lazy(lineal.LogisticRegression.decision_function, "scores")


class LinearSVC(_OnDask, _distributed.LinearSVC):
    __doc__ = _distributed.LinearSVC.__doc__

    predict = _lazy(lineal.LinearSVC.predict, "classes")
    decision_function = _lazy(lineal.LinearSVC.decision_function, "scores")


class Ridge(_OnDask, _distributed.Ridge):
    __doc__ = _distributed.Ridge.__doc__

    predict = _lazy(lineal.Ridge.predict, "numbers")


class MultilabelClassifier(_OnDask, _distributed.MultilabelClassifier):
    __doc__ = _distributed.MultilabelClassifier.__doc__

    predict = _lazy(lineal.MultilabelClassifier.predict, "labels")
    predict_proba = _lazy(lineal.MultilabelClassifier.predict_proba, "each")


class TextClassifier(_OnDask, _distributed.TextClassifier):
    __doc__ = _distributed.TextClassifier.__doc__

    predict = _lazy(lineal.TextClassifier.predict, "classes")
    decision_function = _lazy(lineal.TextClassifier.decision_function, "scores")


class Tagger(_distributed.Tagger):
    """``lineal.Tagger`` on partitions of sentences: bags, and files of CoNLL columns, CRFsuite attributes or JSON lines. By ``algorithm='crf'``: the others minimise nothing that could be added up.

    Labels and attributes are found first and added up by a tree; they have the numbers that they would have in one file, so that features are those of one machine. ``tol`` is the same promise, too:
    the objective is within that part of its optimum, and ``certificate_`` says what was proven.

    >>> import dask.bag as db
    >>> from lineal.dask import Tagger
    >>> sentences = db.from_sequence([["Ada", "sings"], ["Bob", "sleeps"], ["Eve", "sings"]], npartitions=2)
    >>> labels = db.from_sequence([["NAME", "VERB"]] * 3, npartitions=2)
    >>> tagger = Tagger().fit(sentences, labels)
    >>> print(tagger.predict(sentences).compute(scheduler="synchronous")[1])
    ['NAME', 'VERB']
    """

    @atomic
    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        client: Any = None,
        checkpoint: Any = None,
        keep: Any = "auto",
        timeout: float = 300.0,
        block: int = BLOCK,
        rounds: int = 0,
    ) -> Any:
        """Fits to bags of sentences (lists of words, or of tuples of columns) and of the labels of their words, or to files, whose label is the column or the key ``y``; see ``lineal.dask`` for the rest."""
        client, rounds = _default_client(client), _rounds(rounds)
        form: Any
        if _is_files(X):
            found = sequence_sources(X, y, block=block)
            names, form = [source.name for source in found], (found[0].form, y, None)
            parts = _reads(found, _least_memory(client, timeout), "read_text")
        else:
            names, parts, _ = _partitions(X, y, None, client, {"timeout": timeout}, True)
            form = LISTS
        return self._run(_transport(client, names, parts, keep, timeout), form, checkpoint, rounds)

    def _lazily(self, method: str, X: Any) -> Any:
        me: Any = self
        check_is_fitted(me, "_model")
        if _is_files(X):
            import dask.bag as db

            found = sequence_sources(X)
            model = delayed(self)
            return db.from_delayed([delayed(_tag_text)(model, method, source) for source in found])
        if _is_bag(X):
            return X.map_partitions(_call_on, delayed(self), method, [])
        return None

    def predict(self, X: Any) -> Any:
        """The labels of the words of each sentence: lazily, partition by partition, for bags and files; at once for what is in memory."""
        lazy = self._lazily("predict", X)
        return super().predict(X) if lazy is None else lazy

    def predict_marginals(self, X: Any) -> Any:
        """The probability of each label at each word, lazily for bags and files."""
        lazy = self._lazily("predict_marginals", X)
        return super().predict_marginals(X) if lazy is None else lazy


def _tag_text(model: Any, method: str, source: Source) -> Any:
    """The answers for a block of a file."""
    return getattr(model, f"_{method}_of_text")(source.read_text()[0], source.form)


def train(client: Any, X: Any, y: Any = None, sample_weight: Any = None, *, estimator: Any = "LogisticRegression", **options: Any) -> Any:
    """A fitted estimator of this module, for those who like functions. ``estimator`` is one, its class, or its name; ``options`` are its parameters and those of ``fit``.

    >>> import dask.array as da
    >>> from lineal.dask import train
    >>> X = da.from_array([[0.0], [1.0], [2.0]], chunks=2)
    >>> model = train(False, X, da.from_array([1.0, 3.0, 5.0], chunks=2), estimator="Ridge", alpha=0.1)
    >>> print(round(float(model.coef_[0]), 3))
    1.905
    """
    of_fit: dict[str, Any] = {name: options.pop(name) for name in ("checkpoint", "keep", "timeout", "columns", "block", "rounds") if name in options}
    if isinstance(estimator, str):
        if estimator not in __all__ or estimator == "train":
            raise ValueError(f"estimator must be one of {', '.join(name for name in __all__ if name != 'train')}, not {estimator!r}")
        estimator = globals()[estimator](**options)
    elif isinstance(estimator, type):
        estimator = estimator(**options)
    elif options:
        estimator.set_params(**options)
    if sample_weight is not None:
        of_fit["sample_weight"] = sample_weight
    return estimator.fit(X, y, client=client, **of_fit)
