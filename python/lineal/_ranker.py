"""The order of the documents of queries: ``Ranker``."""

from __future__ import annotations

import json
from typing import Any, Sequence

import numpy as np

from . import _lineal
from ._base import Rows, atomic, check_is_fitted, choice, column_or_1d, features, most, number, plain_array, progress, readable, seed_of, threads
from ._report import parse


class Ranker(Rows):
    """The order of the documents of queries, learnt from their grades.

    ``groups`` are the sizes of the queries, one after the other, as LightGBM and XGBoost have them; in their place, ``qid`` has the query of each document. ``loss`` is ``'pairs'`` (the hinge
    over pairs), ``'squared_pairs'``, ``'logistic_pairs'``, ``'softmax'``, ``'plackett_luce'``, ``'ndcg'`` or ``'map'``. ``predict`` returns a score for each document: sort by it.

    >>> from lineal import Ranker
    >>> X = [[1.0, 0.0], [0.0, 1.0], [2.0, 1.0], [0.0, 2.0]]
    >>> scores = Ranker().fit(X, [1, 0, 1, 0], groups=[2, 2]).predict(X, groups=[2, 2])
    >>> bool(scores[0] > scores[1])
    True
    """

    def __init__(self, loss="pairs", *, C=1.0, tol=1e-4, random_state=None, verbose=0, n_jobs=None):
        self.loss = loss
        self.C = C
        self.tol = tol
        self.random_state = random_state
        self.verbose = verbose
        self.n_jobs = n_jobs

    @staticmethod
    def _sizes(groups: Any, n_rows: int) -> list[int]:
        given = np.asarray([n_rows] if groups is None else groups)
        if given.ndim != 1 or given.dtype.kind not in "iuf" or (given % 1 != 0).any():
            raise ValueError(f"groups must be a list of whole numbers, the sizes of queries; got {groups!r}")
        sizes = [int(n) for n in given]
        if sum(sizes) != n_rows or any(n < 1 for n in sizes):
            said = "; if they say which query each row is of, give them as qid" if len(sizes) == n_rows else ""
            raise ValueError(f"groups must be sizes of at least 1 that add up to the {n_rows} rows of X, and they add up to {sum(sizes)}{said}")
        return sizes

    @atomic
    def fit(self, X: Any, y: Any, groups: Sequence[int] | None = None, *, qid: Any = None) -> Ranker:
        """Fits to documents, their grades, and the sizes of their queries, or the query of each document (``qid``, where those of a query stand together)."""
        groups = _sizes_of(qid, groups)
        kind = choice(self, "loss", list(RANKING))
        X, y = self._check(X, y, reset=True, y_numeric=True)
        if X.shape[0] == 1:
            raise ValueError("Found 1 sample; there must be documents with different grades to compare")
        spec = {
            "task": "rank",
            "bias": "none",
            "standardize": "never",
            "penalty": {"c": number(self, "C")},
            "tol": number(self, "tol"),
            "seed": seed_of(self.random_state),
            **RANKING[kind],
        }
        grades = plain_array(y, np.float64)
        model = _lineal.fit_ranking(features(X), grades, self._sizes(groups, X.shape[0]), json.dumps(spec), threads(self.n_jobs), progress(self.verbose))
        self._set(model)
        return self

    def _set(self, model: Any) -> None:
        self._model = model
        self.report_, self.certificate_ = parse(model.report, model.certificate)
        self.coef_ = np.asarray(model.rank_weights)
        self.n_features_in_ = len(self.coef_)

    @classmethod
    def load(cls, path: Any) -> Ranker:
        """A model from a file that ``save`` or the program wrote."""
        model = _lineal.Structured.load(readable(path))
        if model.task != "rank":
            raise ValueError(f"{path}: it is a model of the task {model.task}, not of rank")
        out = cls()
        out._set(model)
        return out

    def predict(self, X: Any, groups: Sequence[int] | None = None) -> np.ndarray:
        """The score of each document."""
        check_is_fitted(self)
        X = self._check(X, reset=False)
        return np.asarray(self._model.rank(features(X), self._sizes(groups, X.shape[0]), threads(self.n_jobs)))

    def score(self, X: Any, y: Any, groups: Sequence[int] | None = None, *, qid: Any = None) -> float:
        """The share of pairs of documents of a query with different grades that stand in the right order; ties count half."""
        groups = _sizes_of(qid, groups)
        scores, grades, right, total, at = self.predict(X, groups), np.asarray(y, dtype=float), 0.0, 0, 0
        for n in self._sizes(groups, len(scores)):
            own, at = slice(at, at + n), at + n
            better = grades[own][:, None] > grades[own][None, :]
            lead = scores[own][:, None] - scores[own][None, :]
            right += float((better * ((lead > 0) + 0.5 * (lead == 0))).sum())
            total += int(better.sum())
        return right / total if total else 1.0

    def explain(self, X: Any, top: int | None = 10, groups: Sequence[int] | None = None, *, qid: Any = None) -> list[Any]:
        """Why each document of each query stands where it does, against the next one below: ``rank``, ``score``, ``lead`` and ``reasons``."""
        check_is_fitted(self)
        X = self._check(X, reset=False)
        return self._model.explain_ranking(features(X), self._sizes(_sizes_of(qid, groups), X.shape[0]), most(top), threads(self.n_jobs))

    def __setstate__(self, state: dict[str, Any]) -> None:
        state = dict(state)
        model = state.pop("_model", None)
        super().__setstate__(state)
        if isinstance(model, tuple):
            self._model = _lineal.Structured.from_bytes(*model)


def _sizes_of(qid: Any, groups: Any) -> Any:
    """Sizes of queries whose documents stand one after the other; as they are, if no queries are given."""
    if qid is None:
        return groups
    if groups is not None:
        raise ValueError("give either groups, the sizes of queries, or qid, the query of each document")
    ids = column_or_1d(qid)
    starts = np.flatnonzero(np.concatenate([[True], ids[1:] != ids[:-1]])) if len(ids) else np.array([], dtype=int)
    if len(np.unique(ids)) != len(starts):
        raise ValueError("documents of one query must stand together: sort the rows by qid")
    return np.diff([*starts, len(ids)])


RANKING: dict[str, dict[str, Any]] = {
    "pairs": {"loss": "hinge", "rank": {"kind": "pairs"}},
    "squared_pairs": {"loss": "squared-hinge", "rank": {"kind": "pairs"}},
    "logistic_pairs": {"loss": "logistic", "rank": {"kind": "pairs"}},
    "softmax": {"loss": "logistic", "rank": {"kind": "softmax"}},
    "plackett_luce": {"loss": "logistic", "rank": {"kind": "plackett-luce"}},
    "ndcg": {"loss": "hinge", "rank": {"kind": "ndcg"}},
    "map": {"loss": "hinge", "rank": {"kind": "map"}},
}
