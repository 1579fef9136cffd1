"""Trees over sentences: ``DependencyParser`` and ``ConstituencyParser``."""

from __future__ import annotations

import json
from typing import Any, Iterable

from ._base import atomic, check_is_fitted, most, seed_of, threads
from ._structured import Structured, field_of, fields_of, paired, word_of, words_of


def _head(head: Any, n_words: int, what: str) -> int:
    """A head as a number."""
    try:
        number = int(head)
    except (TypeError, ValueError):
        number = -1
    if not 0 <= number <= n_words or (number != head and str(number) != head):
        raise ValueError(f"{what} is {head!r}; heads are whole numbers from 0 to {n_words}")
    return number


class DependencyParser(Structured):
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
        X, trees = paired(X, y)
        lines = []
        for place, (sentence, tree) in enumerate(zip(X, trees)):
            if tree is not None and len(tree) != len(sentence):
                raise ValueError(f"sentence {place} has {len(sentence)} words and a tree of {len(tree)}")
            for t, token in enumerate(sentence):
                word, tag = (field_of(token), "_") if isinstance(token, str) else fields_of(token)
                head, relation = ("_", "_") if tree is None else tree[t]
                if tree is not None:
                    head = _head(head, len(sentence), f"sentence {place}: the head of word {t + 1}")
                lines.append(f"{t + 1}\t{word}\t_\t{tag}\t_\t_\t{head}\t{field_of(relation)}\t_\t_")
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

    def explain(self, X: Any, top: int | None = 10) -> list[list[dict[str, Any]]]:
        """Why each word of each sentence got its head: entries as those of ``Tagger``, whose ``runner_up`` is the second best head."""
        check_is_fitted(self, "_model")
        text, lengths = self._text(X)
        found = iter(self._model.explain(text, "conllu", most(top), threads(self.n_jobs))) if sum(lengths) else iter(())
        return [next(found) if n else [] for n in lengths]

    def evaluate(self, X: Any, y: Any) -> dict[str, Any]:
        """What ``lineal eval`` measures: attachment scores."""
        check_is_fitted(self, "_model")
        return json.loads(self._model.evaluate(self._text(X, y)[0], "conllu"))

    def score(self, X: Any, y: Any) -> float:
        """The share of words with the right head and relation (LAS)."""
        pairs = [(a, (int(b[0]), str(b[1]))) for found, gold in zip(self.predict(X), y) for a, b in zip(found, gold)]
        return sum(a == b for a, b in pairs) / max(len(pairs), 1)


class ConstituencyParser(Structured):
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

    @staticmethod
    def _sentences(X: Any) -> bytes:
        sentences = [[word_of(word) for word in words_of(sentence, at)] for at, sentence in enumerate(words_of(X))]
        if not all(sentences):
            raise ValueError("a sentence must have words")
        return "\n".join(" ".join(sentence) for sentence in sentences).encode() + b"\n"

    def predict(self, X: Any) -> list[list[tuple[str, int, int]]]:
        """The phrases of each sentence: (label, first word, one after the last), outer ones first."""
        check_is_fitted(self, "_model")
        text = self._sentences(X)
        found = self._model.answer(text, "sentences", n_threads=threads(self.n_jobs))
        return [answer["phrases"] for answer in found]

    def explain(self, X: Any, top: int | None = 10) -> list[list[dict[str, Any]]]:
        """Why each phrase of each sentence is there: entries as those of ``Tagger``, whose ``runner_up`` are the phrases of the best tree without it."""
        check_is_fitted(self, "_model")
        return self._model.explain(self._sentences(X), "sentences", most(top), threads(self.n_jobs))

    def evaluate(self, trees: Any) -> dict[str, Any]:
        """What ``lineal eval`` measures: precision, recall and F1 of brackets."""
        check_is_fitted(self, "_model")
        return json.loads(self._model.evaluate("\n".join(str(tree) for tree in trees).encode() + b"\n", "brackets"))

    def score(self, trees: Any, y: Any = None) -> float:
        """F1 of brackets, from 0 to 1."""
        return float(self.evaluate(trees)["f1"])
