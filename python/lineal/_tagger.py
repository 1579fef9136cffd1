"""A label for each word: ``Tagger``."""

from __future__ import annotations

import json
from typing import Any, Iterable

from ._base import atomic, check_is_fitted, choice, most, number, seed_of, threads
from ._structured import Structured, field_of, fields_of, paired


class Tagger(Structured):
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
        X, labels = paired(X, y)
        lines = []
        for place, (sentence, own) in enumerate(zip(X, labels)):
            if own is not None and len(own) != len(sentence):
                raise ValueError(f"sentence {place} has {len(sentence)} words and {len(own)} labels")
            for t, token in enumerate(sentence):
                columns = fields_of(token)
                if own is not None:
                    columns.append(field_of(own[t]))
                elif y is None:
                    columns.append("?")
                lines.append("\t".join(columns))
            lines.append("")
        return "\n".join(lines).encode() + b"\n", [len(sentence) for sentence in X]

    def _tag_spec(self) -> dict[str, Any]:
        """What is asked for of labels and features."""
        tag: dict[str, Any] = {}
        if self.scheme is not None:
            tag["scheme"] = choice(self, "scheme", ["bio", "bioes", "iob1"])
        if self.features is not None:
            tag["features"] = {"list": str(self.features)}
        return tag

    @atomic
    def fit(self, X: Any, y: Any) -> Tagger:
        """Fits to sentences (lists of words, or of tuples of columns) and the labels of their words."""
        kind = choice(self, "algorithm", ["crf", "perceptron", "pa"])
        spec: dict[str, Any] = {"tag": self._tag_spec(), "tol": number(self, "tol"), "seed": seed_of(self.random_state)}
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
        return self._marginals(self._answers(X, proba=True))

    def _marginals(self, answers: list[Any]) -> list[list[dict[str, float]]]:
        k, out = len(self.classes_), []
        for answer in answers:
            marginals = [] if answer is None else answer["marginals"]
            out.append([dict(zip(self.classes_, marginals[t : t + k])) for t in range(0, len(marginals), k)])
        return out

    def _predict_of_text(self, text: bytes, form: str) -> list[list[str]]:
        return [answer["labels"] for answer in self._model.answer(text, form, n_threads=threads(self.n_jobs))]

    def _predict_marginals_of_text(self, text: bytes, form: str) -> list[list[dict[str, float]]]:
        return self._marginals(self._model.answer(text, form, proba=True, n_threads=threads(self.n_jobs)))

    def explain(self, X: Any, top: int | None = 10) -> list[list[dict[str, Any]]]:
        """Why each word of each sentence got its label.

        An entry has the ``winner`` and the ``runner_up`` at its ``position``, by how much the best sequence of labels leads the best one with another label there (``lead``), and ``reasons``:
        a list of ``(feature, where, amount)``, the largest first, which with ``rest`` add up to the lead.
        """
        check_is_fitted(self, "_model")
        text, lengths = self._text(X)
        found = iter(self._model.explain(text, "conll", most(top), threads(self.n_jobs))) if sum(lengths) else iter(())
        return [next(found) if n else [] for n in lengths]

    def score(self, X: Any, y: Any) -> float:
        """The share of words whose label is predicted."""
        pairs = [(a, str(b)) for found, gold in zip(self.predict(X), y) for a, b in zip(found, gold)]
        return sum(a == b for a, b in pairs) / max(len(pairs), 1)

    def evaluate(self, X: Any, y: Any) -> dict[str, Any]:
        """What ``lineal eval`` measures: accuracy, and precision, recall and F1 of spans."""
        check_is_fitted(self, "_model")
        return json.loads(self._model.evaluate(self._text(X, y)[0], "conll"))
