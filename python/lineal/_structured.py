"""What estimators of structured outputs share: a model in place of weights, its file and its state."""

from __future__ import annotations

import json
import os
from typing import Any, Iterable

import numpy as np

from . import _lineal
from ._base import BaseEstimator, check_is_fitted, progress, readable, threads
from ._report import Certificate, Report, estimator_html, parse


def field_of(word: Any) -> str:
    """A word or a label as one field of a line, between tabs."""
    if word is None or word != word:
        raise ValueError(f"a word or a label is missing: {word!r}")
    text = str(word)
    if not text.strip() or any(c in "\t\n\r" for c in text):
        raise ValueError(f"a word must not be empty or have a tab or a line break in it: {text!r}")
    return text


def word_of(word: Any) -> str:
    """The word as one field of a line, between spaces."""
    text = field_of(word)
    if any(c.isspace() for c in text):
        raise ValueError(f"a word must not have spaces in it: {text!r}")
    return text


def words_of(given: Any, sentence: int | None = None, what: str = "words") -> Any:
    """Refuses a string where a list is meant: its letters would be taken for the words."""
    if isinstance(given, (str, bytes)):
        if sentence is None:
            raise TypeError(f"X must be a list of sentences, each a list of words, not a string: {given[:40]!r}")
        raise TypeError(f"sentence {sentence} must be a list of {what}, not a string; split it first: {given[:40]!r}")
    return given


def fields_of(token: Any) -> list[str]:
    """The fields of a token: a word, or a word with what is known of it."""
    if isinstance(token, str):
        return [field_of(token)]
    if not isinstance(token, (list, tuple, np.ndarray)):
        raise TypeError(f"a token must be a word or a tuple of a word and what is known of it, not {type(token).__name__}: {token!r}")
    return [field_of(column) for column in token]


def paired(X: Iterable[Any], y: Iterable[Any] | None) -> tuple[list[list[Any]], list[Any]]:
    """Sentences and what is known of each, as lists; ``None`` of each where nothing is."""
    sentences = [list(words_of(sentence, at)) for at, sentence in enumerate(words_of(X))]
    known = [None] * len(sentences) if y is None else [list(words_of(one, at, "labels")) for at, one in enumerate(y)]
    if len(known) != len(sentences):
        raise ValueError(f"X has {len(sentences)} sentences and y has {len(known)}")
    return sentences, known


def plain(value: Any) -> Any:
    """Numbers and arrays of NumPy for JSON."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} cannot be written as JSON: {value!r}")


class Structured(BaseEstimator):
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
        return cls._of(model)

    def _after_load(self) -> None:
        pass

    @classmethod
    def _of(cls, model: Any) -> Any:
        out = cls()
        out._keep(model)
        out._after_load()
        return out

    def _repr_html_(self) -> str:
        return estimator_html(self)

    def __sklearn_is_fitted__(self) -> bool:
        return "_model" in self.__dict__

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.target_tags.required = True
        return tags

    def __getstate__(self) -> dict[str, Any]:
        state = dict(self.__dict__)
        if "_model" in state:
            state["_model"] = state["_model"].to_bytes()
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        if isinstance(state.get("_model"), tuple):
            self._model = _lineal.Structured.from_bytes(*state["_model"])
