"""A label for each pixel: ``Segmenter``."""

from __future__ import annotations

import json
from typing import Any, Mapping

import numpy as np

from . import _lineal
from ._base import atomic, check_is_fitted, most, number, progress, seed_of, threads
from ._structured import Structured, plain


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


class Segmenter(Structured):
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
            lines.append(json.dumps(entry, default=plain))
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
            found = [why for (why,) in self._model.explain(self._lines(X), "graphs", most(top), threads(self.n_jobs))]
        else:
            images, found = [_pixels(image) for image in X], []
            for image in images:
                at = None if pixel is None else pixel[0] * image.shape[1] + pixel[1]
                (why,) = _lineal.explain_images(self._model, [image], at, most(top), threads(self.n_jobs))
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
