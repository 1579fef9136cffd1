"""Taggers, parsers, segmenters, declared structures and rankers: structured outputs from lists and from arrays."""

from __future__ import annotations

import copy
import json
import os
from typing import Any, Iterable, Mapping, Sequence

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

    def explain(self, X: Any, top: int | None = 10) -> list[list[dict[str, Any]]]:
        """Why each word of each sentence got its label.

        An entry has the ``winner`` and the ``runner_up`` at its ``position``, by how much the best sequence of labels leads the best one with another label there (``lead``), and ``reasons``:
        a list of ``(feature, where, amount)``, the largest first, which with ``rest`` add up to the lead.
        """
        check_is_fitted(self, "_model")
        text, lengths = self._text(X)
        found = iter(self._model.explain(text, "conll", top, threads(self.n_jobs))) if sum(lengths) else iter(())
        return [next(found) if n else [] for n in lengths]

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

    def explain(self, X: Any, top: int | None = 10) -> list[list[dict[str, Any]]]:
        """Why each word of each sentence got its head: entries as those of ``Tagger``, whose ``runner_up`` is the second best head."""
        check_is_fitted(self, "_model")
        text, lengths = self._text(X)
        found = iter(self._model.explain(text, "conllu", top, threads(self.n_jobs))) if sum(lengths) else iter(())
        return [next(found) if n else [] for n in lengths]

    def evaluate(self, X: Any, y: Any) -> dict[str, Any]:
        """What ``lineal eval`` measures: attachment scores."""
        check_is_fitted(self, "_model")
        return json.loads(self._model.evaluate(self._text(X, y)[0], "conllu"))

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

    @staticmethod
    def _sentences(X: Any) -> bytes:
        sentences = [[_word(word) for word in sentence] for sentence in X]
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
        return self._model.explain(self._sentences(X), "sentences", top, threads(self.n_jobs))

    def evaluate(self, trees: Any) -> dict[str, Any]:
        """What ``lineal eval`` measures: precision, recall and F1 of brackets."""
        check_is_fitted(self, "_model")
        return json.loads(self._model.evaluate("\n".join(str(tree) for tree in trees).encode() + b"\n", "brackets"))

    def score(self, trees: Any, y: Any = None) -> float:
        """F1 of brackets, from 0 to 1."""
        return float(self.evaluate(trees)["f1"])


def _pixels(image: Any) -> np.ndarray:
    """An image as rows × columns × 3 of bytes."""
    image = np.asarray(image)
    if image.ndim == 2:
        image = np.repeat(image[:, :, None], 3, axis=2)
    if image.ndim != 3 or image.shape[2] not in (3, 4) or not image.size:
        raise ValueError(f"an image must have the shape (rows, columns), (rows, columns, 3) or (rows, columns, 4), not {image.shape}")
    image = image[:, :, :3]
    if image.dtype == bool:
        image = image * 255
    elif np.issubdtype(image.dtype, np.floating):
        if not np.isfinite(image).all() or image.min() < 0 or image.max() > 1:
            raise ValueError("an image of floats must have values from 0 to 1")
        image = np.rint(image * 255)
    elif image.dtype != np.uint8 and (not np.issubdtype(image.dtype, np.integer) or image.min() < 0 or image.max() > 255):
        raise ValueError("an image must have bytes, or floats from 0 to 1")
    return np.ascontiguousarray(image, dtype=np.uint8)


class Segmenter(_Structured):
    """A label for each pixel of images, or for each node of graphs, whose neighbours like to agree: the best labelling is a minimum cut.

    An image is an array of bytes (or of floats from 0 to 1) of the shape (rows, columns) or (rows, columns, 3), its labels an array of the shape (rows, columns): whole numbers or names, of which
    ``unknown`` (−1 by default) is none. A graph is a dictionary with ``nodes`` (features of each node, a list of numbers or a dictionary) and ``edges`` (a list of ``(a, b, features)``, features at
    least 0), and its labels a list, ``None`` where one is not known. ``C`` is by default 0.0003 per pixel, and 1 per node of a graph.

    >>> import numpy as np
    >>> from lineal import Segmenter
    >>> images = [np.pad(np.full((6, 6, 3), 200, np.uint8), ((k, 10 - k), (3, 7), (0, 0)), constant_values=20) for k in range(4)]
    >>> masks = [(image[:, :, 0] > 100).astype(int) for image in images]
    >>> model = Segmenter(C=1.0).fit(images, masks)
    >>> bool((model.predict(images[:1])[0] == masks[0]).all())
    True
    """

    _task = "segment"

    def __init__(self, *, C=None, tol=1e-2, edges=True, superpixels=None, unknown=-1, max_iter=None, random_state=None, verbose=0, n_jobs=None):
        self.C = C
        self.tol = tol
        self.edges = edges
        self.superpixels = superpixels
        self.unknown = unknown
        self.max_iter = max_iter
        self.random_state = random_state
        self.verbose = verbose
        self.n_jobs = n_jobs

    @atomic
    def fit(self, X: Any, y: Any) -> Segmenter:
        """Fits to images or graphs and their labels."""
        X, y = list(X), list(y)
        if len(X) != len(y):
            raise ValueError(f"Found input variables with inconsistent numbers of samples: [{len(X)}, {len(y)}]")
        if not X:
            raise ValueError("there are no images or graphs to learn from")
        graphs = isinstance(X[0], Mapping)
        spec: dict[str, Any] = {
            "task": "segment",
            "loss": "hinge",
            "tol": number(self, "tol"),
            "penalty": {"c": number(self, "C") if self.C is not None else 1.0 if graphs else 3e-4},
            "segment": {"edges": bool(self.edges), "superpixels": None if self.superpixels is None else int(self.superpixels)},
            "max_passes": None if self.max_iter is None else int(self.max_iter),
            "seed": seed_of(self.random_state),
        }
        if graphs:
            self._learn(self._lines(X, y), "graphs", spec)
        else:
            images = [_pixels(image) for image in X]
            masks = [np.asarray(mask) for mask in y]
            for at, (image, mask) in enumerate(zip(images, masks)):
                if mask.shape != image.shape[:2]:
                    raise ValueError(f"image {at} has {image.shape[0]} × {image.shape[1]} pixels, and its labels have the shape {mask.shape}")
            self.classes_ = np.unique(np.concatenate([np.unique(mask) for mask in masks]))
            self.classes_ = self.classes_[self.classes_ != self.unknown]
            if not 2 <= len(self.classes_) <= 255:
                raise ValueError(f"there must be from 2 to 255 labels, and there are {len(self.classes_)}")
            whole = np.issubdtype(self.classes_.dtype, np.integer) and self.classes_[0] >= 0 and self.classes_[-1] < 2**16
            values = self.classes_ if whole else np.arange(len(self.classes_))
            names = [(str(label), int(value)) for label, value in zip(self.classes_, values)]
            ids = [self._ids(mask) for mask in masks]
            self._keep(_lineal.fit_images(images, ids, names, json.dumps(spec), threads(self.n_jobs), progress(self.verbose)))
        self._after_load()
        return self

    def _ids(self, mask: np.ndarray) -> np.ndarray:
        ids = np.searchsorted(self.classes_, mask).clip(max=len(self.classes_) - 1)
        return np.ascontiguousarray(np.where(self.classes_[ids] == mask, ids, 255), dtype=np.uint8)

    def _after_load(self) -> None:
        from ._load import class_values

        if "classes_" not in self.__dict__:
            self.classes_ = class_values(list(self._model.labels))

    @staticmethod
    def _lines(X: Any, y: Any = None) -> bytes:
        lines = []
        for at, graph in enumerate(X):
            if not isinstance(graph, Mapping) or "nodes" not in graph:
                raise ValueError(f"graph {at} must be a dictionary with nodes and edges")
            entry = {"nodes": graph["nodes"], "edges": graph.get("edges", [])}
            if y is not None:
                entry["labels"] = [None if label is None else str(label) for label in y[at]]
            lines.append(json.dumps(entry, default=_plain))
        return "\n".join(lines).encode() + b"\n"

    def predict(self, X: Any, known: Any = None) -> list[Any]:
        """The label of each pixel, as an array for each image, or of each node, as a list for each graph. ``known`` are labels that are kept: arrays as in ``fit``, with ``unknown`` elsewhere."""
        check_is_fitted(self, "_model")
        X = list(X)
        if X and isinstance(X[0], Mapping):
            names = {str(label): label for label in self.classes_.tolist()}
            found = self._model.answer(self._lines(X, known), "graphs", n_threads=threads(self.n_jobs), known=known is not None)
            return [[names[name] for name in answer["labels"]] for answer in found]
        masks = None if known is None else [self._ids(np.asarray(mask)) for mask in known]
        found = _lineal.label_images(self._model, [_pixels(image) for image in X], masks, False, threads(self.n_jobs)) if X else []
        return [self.classes_[labels] for labels, *_ in found]

    def predict_confidence(self, X: Any) -> list[Any]:
        """How sure each label is, from 1 / labels to 1: by what the best labelling with another label there would lose."""
        check_is_fitted(self, "_model")
        X = list(X)
        if X and isinstance(X[0], Mapping):
            return [answer["confidence"] for answer in self._model.answer(self._lines(X), "graphs", n_threads=threads(self.n_jobs), confidence=True)]
        return [sure for *_, sure in _lineal.label_images(self._model, [_pixels(image) for image in X], None, True, threads(self.n_jobs))] if X else []

    def explain(self, X: Any, top: int | None = 10, pixel: tuple[int, int] | None = None) -> list[dict[str, Any]]:
        """Why a pixel of each image has its label: the least sure one, or ``pixel``, as (row, column). Entries are as those of ``Tagger``; ``position`` is (row, column), or the number of a node."""
        check_is_fitted(self, "_model")
        X = list(X)
        if not X:
            return []
        names = {str(label): label for label in self.classes_.tolist()}
        if isinstance(X[0], Mapping):
            found = [why for (why,) in self._model.explain(self._lines(X), "graphs", top, threads(self.n_jobs))]
        else:
            images, found = [_pixels(image) for image in X], []
            for image in images:
                at = None if pixel is None else pixel[0] * image.shape[1] + pixel[1]
                (why,) = _lineal.explain_images(self._model, [image], at, top, threads(self.n_jobs))
                why["position"] = divmod(why["position"], image.shape[1])
                found.append(why)
        for why in found:
            why["winner"], why["runner_up"] = names[why["winner"]], names[why["runner_up"]]
        return found

    def score(self, X: Any, y: Any) -> float:
        """The share of pixels or nodes with a known label whose label is predicted."""
        right = total = 0
        for found, gold in zip(self.predict(X), y):
            if isinstance(found, list):
                pairs = [(a, b) for a, b in zip(found, gold) if b is not None]
                right, total = right + sum(str(a) == str(b) for a, b in pairs), total + len(pairs)
            else:
                gold = np.asarray(gold)
                known = gold != self.unknown
                right, total = right + int((found == gold)[known].sum()), total + int(known.sum())
        return right / total if total else 0.0


def _plain(value: Any) -> Any:
    """Numbers and arrays of NumPy for JSON."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} cannot be written as JSON: {value!r}")


class DeclaredStructure(_Structured):
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
        return b"".join(json.dumps(example, default=_plain).encode() + b"\n" for example in X)

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
        return self._model.explain(self._lines(X), "declared", top, threads(self.n_jobs)) if X else []

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
        grades = np.ascontiguousarray(y, dtype=np.float64)
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

    def score(self, X: Any, y: Any, groups: Sequence[int] | None = None) -> float:
        """The share of pairs of documents of a query with different grades that stand in the right order; ties count half."""
        scores, grades, right, total, at = self.predict(X, groups), np.asarray(y, dtype=float), 0.0, 0, 0
        for n in self._sizes(groups, len(scores)):
            own, at = slice(at, at + n), at + n
            better = grades[own][:, None] > grades[own][None, :]
            lead = scores[own][:, None] - scores[own][None, :]
            right += float((better * ((lead > 0) + 0.5 * (lead == 0))).sum())
            total += int(better.sum())
        return right / total if total else 1.0

    def explain(self, X: Any, top: int | None = 10, groups: Sequence[int] | None = None) -> list[Any]:
        """Why each document of each query stands where it does, against the next one below: ``rank``, ``score``, ``lead`` and ``reasons``."""
        check_is_fitted(self)
        X = self._check(X, reset=False)
        return self._model.explain_ranking(features(X), self._sizes(groups, X.shape[0]), top, threads(self.n_jobs))

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

__all__ = ["ConstituencyParser", "DeclaredStructure", "DependencyParser", "Ranker", "Segmenter", "Tagger"]
