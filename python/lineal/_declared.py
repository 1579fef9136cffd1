"""Variables, factors and rules of your own: ``DeclaredStructure``."""

from __future__ import annotations

import copy
import json
from typing import Any, Mapping

from ._base import atomic, check_is_fitted, most, seed_of, threads
from ._structured import Structured, plain


class DeclaredStructure(Structured):
    """Variables, factors and rules of your own: ``declaration`` is a text in the language of ``docs/declared.md``.

    Examples are dictionaries, as a line of the program's data: lists of objects whose labels stand in the field that the declaration names, beside ``tokens`` and other columns. Predictions are copies of
    the examples with the labels that were found, which keep all rules.

    >>> from lineal import DeclaredStructure
    >>> declaration = "variable light { red green } from lights by colour\\nfeatures light: tokens[start]\\nrule at most 1 light = green"
    >>> example = {"tokens": ["go", "go"], "lights": [{"start": 0, "colour": "green"}, {"start": 1, "colour": "red"}]}
    >>> model = DeclaredStructure(declaration).fit([example] * 4)
    >>> [light["colour"] for light in model.predict([{"tokens": ["go", "go"], "lights": [{"start": 0}, {"start": 1}]}])[0]["lights"]].count("green") <= 1
    True
    """

    _task = "declared"

    def __init__(self, declaration="", *, epochs=30, local=False, min_count=1, random_state=None, verbose=0, n_jobs=None):
        self.declaration = declaration
        self.epochs = epochs
        self.local = local
        self.min_count = min_count
        self.random_state = random_state
        self.verbose = verbose
        self.n_jobs = n_jobs

    @staticmethod
    def _lines(X: Any) -> bytes:
        return b"".join(json.dumps(example, default=plain).encode() + b"\n" for example in X)

    @atomic
    def fit(self, X: Any, y: Any = None) -> DeclaredStructure:
        """Fits to examples with their labels."""
        if not isinstance(self.declaration, str) or not self.declaration.strip():
            raise ValueError("The 'declaration' parameter of DeclaredStructure must be a text that declares variables")
        X = list(X)
        if not X:
            raise ValueError("there are no examples to learn from")
        spec = {
            "loss": "hinge",
            "tol": 1e-2,
            "sgd": {"epochs": int(self.epochs), "passive_aggressive": 0.03},
            "declared": {"declaration": self.declaration, "local": bool(self.local), "min_count": int(self.min_count)},
            "seed": seed_of(self.random_state),
        }
        self._learn(self._lines(X), "declared", spec)
        self._after_load()
        return self

    def _after_load(self) -> None:
        self.labels_ = list(self._model.labels)
        self.declaration = json.loads(self._model.spec)["declared"]["declaration"]

    def predict(self, X: Any, *, known: bool = False) -> list[dict[str, Any]]:
        """Copies of the examples with the labels that were found. With ``known``, labels that the examples have are kept."""
        check_is_fitted(self, "_model")
        X = list(X)
        found = self._model.answer(self._lines(X), "declared", n_threads=threads(self.n_jobs), known=known) if X else []
        return [_filled(example, answer) for example, answer in zip(X, found)]

    def explain(self, X: Any, top: int | None = 10) -> list[list[dict[str, Any]]]:
        """Why each variable of each example has its label: entries as those of ``Tagger``, and the ``kind``, the label ``without_rules`` and the numbers of the ``rules`` that changed it."""
        check_is_fitted(self, "_model")
        X = list(X)
        return self._model.explain(self._lines(X), "declared", most(top), threads(self.n_jobs)) if X else []

    def evaluate(self, X: Any, y: Any = None) -> dict[str, Any]:
        """What ``lineal eval`` measures on examples with their labels: accuracy, whole examples, F1 by kind and label."""
        check_is_fitted(self, "_model")
        return json.loads(self._model.evaluate(self._lines(X), "declared"))

    def score(self, X: Any, y: Any = None) -> float:
        """The share of variables whose label is predicted."""
        return float(self.evaluate(X)["accuracy"])


def _filled(example: Mapping[str, Any], answer: dict[str, Any]) -> dict[str, Any]:
    """A copy of an example with the labels that were found."""
    out = copy.deepcopy(dict(example))
    for kind in answer["kinds"]:
        if kind["all_pairs"]:
            # The first label is that of all pairs that are not listed; it is the one that says nothing.
            pairs = [{**links, kind["field"]: label} for label, links in zip(kind["labels"], kind["links"]) if label != kind["first"]]
            out[kind["list"]] = pairs
        else:
            for entry, label in zip(out.get(kind["list"], []), kind["labels"]):
                entry[kind["field"]] = label
    return out
