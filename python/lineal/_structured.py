"""Taggers, parsers and rankers: structured outputs from lists of words and from arrays."""

from __future__ import annotations

import json
import os
from typing import Any, Iterable, Sequence

import numpy as np

from . import _lineal
from ._base import BaseEstimator, Rows, atomic, check_is_fitted, choice, features, number, progress, readable, seed_of, threads
from ._report import Certificate, Report, estimator_html, parse


def _word(word: Any) -> str:
    text = str(word)
    if not text or any(c.isspace() for c in text):
        raise ValueError(f"a word must not be empty or have spaces in it: {text!r}")
    return text


class _Structured(BaseEstimator):
    """An estimator of structured outputs."""

    report_: Report
    certificate_: Certificate
    _task = ""

    def _learn(self, text: bytes, form: str, spec: dict[str, Any]) -> Any:
        me: Any = self
        model = _lineal.fit_structured(text, form, json.dumps({"task": self._task, **spec}), threads(me.n_jobs), progress(me.verbose))
        self._keep(model)
        return self

    def _keep(self, model: Any) -> None:
        self._model = model
        self.report_, self.certificate_ = parse(model.report, model.certificate)

    def save(self, path: Any) -> int:
        """Writes the model file that the program reads, too; returns its size in bytes."""
        check_is_fitted(self, "_model")
        return self._model.save(os.fspath(path))

    @classmethod
    def load(cls, path: Any) -> Any:
        """A model from a file that ``save`` or the program wrote."""
        model = _lineal.Structured.load(readable(path))
        if model.task != cls._task:
            raise ValueError(f"{path}: it is a model of the task {model.task}, not of {cls._task}")
        out = cls()
        out._keep(model)
        out._after_load()
        return out

    def _after_load(self) -> None:
        pass

    def _repr_html_(self) -> str:
        return estimator_html(self)

    def __sklearn_is_fitted__(self) -> bool:
        return "_model" in self.__dict__

    def __getstate__(self) -> dict[str, Any]:
        state = dict(self.__dict__)
        if "_model" in state:
            state["_model"] = state["_model"].to_bytes()
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        if isinstance(state.get("_model"), tuple):
            self._model = _lineal.Structured.from_bytes(*state["_model"])


class Tagger(_Structured):
    """A label for each word of a sentence, from raw words: features are words, shapes, affixes and neighbours, as the program has them.

    ``algorithm`` is ``'crf'`` (a conditional random field, with probabilities), ``'perceptron'`` or ``'pa'`` (passive–aggressive). ``scheme='bio'`` allows only sequences
    that are spans.

    >>> from lineal import Tagger
    >>> sentences = [["Ada", "sings"], ["Bob", "sleeps"], ["Eve", "sings"]]
    >>> tagger = Tagger().fit(sentences, [["NAME", "VERB"]] * 3)
    >>> print(tagger.predict([["Bob", "sings"]]))
    [['NAME', 'VERB']]
    """

    _task = "tag"

    def __init__(self, algorithm="crf", *, C=1.0, tol=1e-2, epochs=10, scheme=None, features=None, random_state=None, verbose=0, n_jobs=None):
        self.algorithm = algorithm
        self.C = C
        self.tol = tol
        self.epochs = epochs
        self.scheme = scheme
        self.features = features
        self.random_state = random_state
        self.verbose = verbose
        self.n_jobs = n_jobs

    @staticmethod
    def _text(X: Iterable[Any], y: Iterable[Any] | None = None) -> tuple[bytes, list[int]]:
        X = [list(sentence) for sentence in X]
        labels = [None] * len(X) if y is None else [list(row) for row in y]
        if len(labels) != len(X):
            raise ValueError(f"X has {len(X)} sentences and y has {len(labels)}")
        lines = []
        for place, (sentence, own) in enumerate(zip(X, labels)):
            if own is not None and len(own) != len(sentence):
                raise ValueError(f"sentence {place} has {len(sentence)} words and {len(own)} labels")
            for t, token in enumerate(sentence):
                columns = [_word(c) for c in ([token] if isinstance(token, str) else token)]
                if own is not None:
                    columns.append(_word(own[t]))
                elif y is None:
                    columns.append("?")
                lines.append(" ".join(columns))
            lines.append("")
        return "\n".join(lines).encode() + b"\n", [len(sentence) for sentence in X]

    @atomic
    def fit(self, X: Any, y: Any) -> Tagger:
        """Fits to sentences (lists of words, or of tuples of columns) and the labels of their words."""
        kind = choice(self, "algorithm", ["crf", "perceptron", "pa"])
        tag: dict[str, Any] = {}
        if self.scheme is not None:
            tag["scheme"] = choice(self, "scheme", ["bio", "bioes", "iob1"])
        if self.features is not None:
            tag["features"] = {"list": str(self.features)}
        spec: dict[str, Any] = {"tag": tag, "tol": number(self, "tol"), "seed": seed_of(self.random_state)}
        if kind == "crf":
            spec.update(loss="logistic", penalty={"c": number(self, "C")})
        elif kind == "perceptron":
            spec.update(loss="perceptron", penalty={"l2": 0.0}, solver="sgd", sgd={"epochs": int(self.epochs), "average": True})
        else:
            spec.update(
                loss="hinge", penalty={"l2": 0.0}, solver="sgd", sgd={"epochs": int(self.epochs), "average": True, "passive_aggressive": number(self, "C")}
            )
        self._learn(self._text(X, y)[0], "conll", spec)
        self._after_load()
        return self

    def _after_load(self) -> None:
        self.classes_ = list(self._model.labels)

    def _answers(self, X: Any, **ask: Any) -> list[Any]:
        check_is_fitted(self, "_model")
        text, lengths = self._text(X)
        found = iter(self._model.answer(text, "conll", n_threads=threads(self.n_jobs), **ask)) if sum(lengths) else iter(())
        return [next(found) if n else None for n in lengths]

    def predict(self, X: Any) -> list[list[str]]:
        """The labels of the words of each sentence."""
        return [[] if answer is None else answer["labels"] for answer in self._answers(X)]

    def predict_marginals(self, X: Any) -> list[list[dict[str, float]]]:
        """The probability of each label at each word, for ``algorithm='crf'``."""
        k, out = len(self.classes_), []
        for answer in self._answers(X, proba=True):
            marginals = [] if answer is None else answer["marginals"]
            out.append([dict(zip(self.classes_, marginals[t : t + k])) for t in range(0, len(marginals), k)])
        return out

    def score(self, X: Any, y: Any) -> float:
        """The share of words whose label is predicted."""
        pairs = [(a, str(b)) for found, gold in zip(self.predict(X), y) for a, b in zip(found, gold)]
        return sum(a == b for a, b in pairs) / max(len(pairs), 1)

    def evaluate(self, X: Any, y: Any) -> dict[str, Any]:
        """What ``lineal eval`` measures: accuracy, and precision, recall and F1 of spans."""
        check_is_fitted(self, "_model")
        return json.loads(self._model.evaluate(self._text(X, y)[0], "conll"))


class DependencyParser(_Structured):
    """Heads and relations of the words of sentences.

    A sentence is a list of ``(word, tag)``; its tree a list of ``(head, relation)``, heads counted from 1 and 0 for the root.

    >>> from lineal import DependencyParser
    >>> sentences = [[("Ada", "NOUN"), ("sings", "VERB")], [("Bob", "NOUN"), ("sleeps", "VERB")]]
    >>> trees = [[(2, "nsubj"), (0, "root")]] * 2
    >>> print(DependencyParser(epochs=3).fit(sentences, trees).predict([[("Eve", "NOUN"), ("sings", "VERB")]]))
    [[(2, 'nsubj'), (0, 'root')]]
    """

    _task = "dependency"

    def __init__(self, *, epochs=8, random_state=None, verbose=0, n_jobs=None):
        self.epochs = epochs
        self.random_state = random_state
        self.verbose = verbose
        self.n_jobs = n_jobs

    @staticmethod
    def _text(X: Iterable[Any], y: Iterable[Any] | None = None) -> tuple[bytes, list[int]]:
        X = [list(sentence) for sentence in X]
        trees = [None] * len(X) if y is None else [list(tree) for tree in y]
        if len(trees) != len(X):
            raise ValueError(f"X has {len(X)} sentences and y has {len(trees)}")
        lines = []
        for place, (sentence, tree) in enumerate(zip(X, trees)):
            if tree is not None and len(tree) != len(sentence):
                raise ValueError(f"sentence {place} has {len(sentence)} words and a tree of {len(tree)}")
            for t, token in enumerate(sentence):
                word, tag = (token, "_") if isinstance(token, str) else token
                head, relation = ("_", "_") if tree is None else tree[t]
                if tree is not None and not 0 <= int(head) <= len(sentence):
                    raise ValueError(f"sentence {place}: the head of word {t + 1} is {head}; heads are from 0 to {len(sentence)}")
                lines.append(f"{t + 1}\t{_word(word)}\t_\t{_word(tag)}\t_\t_\t{head}\t{relation}\t_\t_")
            lines.append("")
        return "\n".join(lines).encode() + b"\n", [len(sentence) for sentence in X]

    @atomic
    def fit(self, X: Any, y: Any) -> DependencyParser:
        """Fits to sentences and their trees."""
        spec = {
            "loss": "hinge",
            "tol": 1e-2,
            "sgd": {"epochs": int(self.epochs), "passive_aggressive": 0.05},
            "seed": seed_of(self.random_state),
        }
        self._learn(self._text(X, y)[0], "conllu", spec)
        self._after_load()
        return self

    def _after_load(self) -> None:
        self.relations_ = list(self._model.labels)

    def predict(self, X: Any) -> list[list[tuple[int, str]]]:
        """The tree of each sentence."""
        check_is_fitted(self, "_model")
        text, lengths = self._text(X)
        found = iter(self._model.answer(text, "conllu", n_threads=threads(self.n_jobs))) if sum(lengths) else iter(())
        trees = [next(found) if n else {"heads": [], "relations": []} for n in lengths]
        return [list(zip(tree["heads"], tree["relations"])) for tree in trees]

    def score(self, X: Any, y: Any) -> float:
        """The share of words with the right head and relation (LAS)."""
        pairs = [(a, (int(b[0]), str(b[1]))) for found, gold in zip(self.predict(X), y) for a, b in zip(found, gold)]
        return sum(a == b for a, b in pairs) / max(len(pairs), 1)


class ConstituencyParser(_Structured):
    """Bracketed trees over the words of sentences. Trees are strings in brackets, as the Penn Treebank has them; sentences are lists of words.

    >>> from lineal import ConstituencyParser
    >>> trees = ["(S (NP (N Ada)) (VP (V sings)))", "(S (NP (N Bob)) (VP (V sleeps)))", "(S (NP (N Eve)) (VP (V sings)))"]
    >>> print(ConstituencyParser(epochs=3).fit(trees).predict([["Bob", "sings"]])[0])
    [('S', 0, 2), ('NP', 0, 1), ('VP', 1, 2)]
    """

    _task = "constituency"

    def __init__(self, *, epochs=5, random_state=None, verbose=0, n_jobs=None):
        self.epochs = epochs
        self.random_state = random_state
        self.verbose = verbose
        self.n_jobs = n_jobs

    @atomic
    def fit(self, trees: Any, y: Any = None) -> ConstituencyParser:
        """Fits to trees in brackets."""
        text = "\n".join(str(tree) for tree in trees).encode() + b"\n"
        spec = {
            "loss": "hinge",
            "tol": 1e-2,
            "sgd": {"epochs": int(self.epochs), "passive_aggressive": 0.02},
            "seed": seed_of(self.random_state),
        }
        self._learn(text, "brackets", spec)
        self._after_load()
        return self

    def _after_load(self) -> None:
        self.labels_ = list(self._model.labels)

    def predict(self, X: Any) -> list[list[tuple[str, int, int]]]:
        """The phrases of each sentence: (label, first word, one after the last), outer ones first."""
        check_is_fitted(self, "_model")
        sentences = [[_word(word) for word in sentence] for sentence in X]
        if not all(sentences):
            raise ValueError("a sentence must have words")
        text = "\n".join(" ".join(sentence) for sentence in sentences).encode() + b"\n"
        found = self._model.answer(text, "sentences", n_threads=threads(self.n_jobs))
        return [answer["phrases"] for answer in found]


class Ranker(Rows):
    """The order of the documents of queries, learnt from their grades.

    ``groups`` are the sizes of the queries, one after the other, as LightGBM and XGBoost have them; ``loss`` is ``'pairs'`` (the hinge
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
        sizes = [n_rows] if groups is None else [int(n) for n in np.asarray(groups)]
        if sum(sizes) != n_rows or any(n < 1 for n in sizes):
            raise ValueError(f"groups must be sizes of at least 1 that add up to the {n_rows} rows of X, and they add up to {sum(sizes)}")
        return sizes

    @atomic
    def fit(self, X: Any, y: Any, groups: Sequence[int] | None = None) -> Ranker:
        """Fits to documents, their grades, and the sizes of their queries."""
        kind = choice(self, "loss", list(RANKING))
        X, y = self._check(X, y, reset=True, y_numeric=True)
        spec = {
            "task": "rank",
            "bias": "none",
            "standardize": "never",
            "penalty": {"c": number(self, "C")},
            "tol": number(self, "tol"),
            "seed": seed_of(self.random_state),
            **RANKING[kind],
        }
        grades = np.ascontiguousarray(y, dtype=np.float64)
        model = _lineal.fit_ranking(features(X), grades, self._sizes(groups, X.shape[0]), json.dumps(spec), threads(self.n_jobs), progress(self.verbose))
        self._model = model
        self.report_, self.certificate_ = parse(model.report, model.certificate)
        self.coef_ = np.asarray(model.rank_weights)
        return self

    def predict(self, X: Any, groups: Sequence[int] | None = None) -> np.ndarray:
        """The score of each document."""
        check_is_fitted(self)
        X = self._check(X, reset=False)
        return np.asarray(self._model.rank(features(X), self._sizes(groups, X.shape[0]), threads(self.n_jobs)))

    def __setstate__(self, state: dict[str, Any]) -> None:
        state = dict(state)
        model = state.pop("_model", None)
        super().__setstate__(state)
        if isinstance(model, tuple):
            self._model = _lineal.Structured.from_bytes(*model)


RANKING: dict[str, dict[str, Any]] = {
    "pairs": {"loss": "hinge", "rank": {"kind": "pairs"}},
    "squared_pairs": {"loss": "squared-hinge", "rank": {"kind": "pairs"}},
    "logistic_pairs": {"loss": "logistic", "rank": {"kind": "pairs"}},
    "softmax": {"loss": "logistic", "rank": {"kind": "softmax"}},
    "plackett_luce": {"loss": "logistic", "rank": {"kind": "plackett-luce"}},
    "ndcg": {"loss": "hinge", "rank": {"kind": "ndcg"}},
    "map": {"loss": "hinge", "rank": {"kind": "map"}},
}

__all__ = ["ConstituencyParser", "DependencyParser", "Ranker", "Tagger"]
