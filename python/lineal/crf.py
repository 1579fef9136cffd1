"""Conditional random fields with the interfaces of sklearn-crfsuite (``CRF``) and of python-crfsuite (``Trainer``, ``Tagger``).

>>> from lineal.crf import CRF
>>> X = [[{"word": "Ada"}, {"word": "sings"}], [{"word": "Bob"}, {"word": "sings"}]]
>>> y = [["NAME", "VERB"], ["NAME", "VERB"]]
>>> crf = CRF(algorithm="lbfgs", c2=0.1).fit(X, y)
>>> print(*crf.predict_single([{"word": "Bob"}, {"word": "sings"}]))
NAME VERB

A model is Lineal's own file, which the program reads, too; files of CRFsuite are not read.
"""

from __future__ import annotations

import json
import os
from typing import Any, Iterable, Mapping

import numpy as np

from . import _lineal
from ._base import BaseEstimator, atomic, check_is_fitted, most, progress, readable, threads
from ._report import Certificate, Report, estimator_html, parse

ItemSequence = list


def _pairs(item: Any, prefix: str = "") -> list[tuple[str, float]]:
    """The attributes of an item that is not a plain dictionary or a list of strings, as python-crfsuite understands them: names with values, nested ones."""
    out: list[tuple[str, float]] = []
    if isinstance(item, str):
        out.append((prefix + item, 1.0))
    elif isinstance(item, Mapping):
        for name, value in item.items():
            key = f"{prefix}{name}"
            if isinstance(value, str):
                out.append((f"{key}:{value}", 1.0))
            elif isinstance(value, Mapping) or (not isinstance(value, (int, float, np.number, np.bool_)) and hasattr(value, "__iter__")):
                out += _pairs(value, f"{key}:")
            else:
                # False is a value of 0, which counts for nothing, but makes a feature of every label that it occurs with, as there.
                out.append((key, float(value)))
    elif isinstance(item, (np.number, np.bool_)) and prefix:
        out.append((prefix.removesuffix(":"), float(item)))
    elif hasattr(item, "__iter__"):
        for name in item:
            if not isinstance(name, str):
                raise TypeError(f"an attribute must be a string, not {type(name).__name__}: {name!r}")
            out.append((prefix + name, 1.0))
    elif prefix:
        raise TypeError(f"the attribute {prefix.removesuffix(':')!r} must be a string, a number, a list or a dict, not {type(item).__name__}: {item!r}")
    else:
        raise TypeError(f"an item must be a dict, a list of strings, or a string, not {type(item).__name__}: {item!r}")
    return out


def _text(X: Iterable[Any], y: Iterable[Any] | None = None) -> tuple[bytes, list[int]]:
    """Sequences in CRFsuite's own format, and their lengths. Sequences without items have no lines."""
    return _lineal.items_text(X, y, _pairs)


def _weights_of(model: Any, names: bytes | None = None) -> tuple[dict[tuple[str, str], float], dict[tuple[str, str], float]]:
    """Weights of (attribute, label) and of (label, next label)."""
    state, transitions = {}, {}
    for kind, name, labels, weight in model.tag_weights(names):
        if kind == "emission":
            state[name, labels[0]] = float(weight)
        elif kind == "transition" and len(labels) == 2 and not name:
            transitions[labels[0], labels[1]] = float(weight)
    return state, transitions


class Log:
    """What ``trainer.logparser`` of python-crfsuite and ``training_log_`` of sklearn-crfsuite have: the passes of a run."""

    def __init__(self, report: Report):
        n = report.get("examples") or 1
        self.iterations: list[dict[str, Any]] = []
        for point in report.curve:
            mean = point["objective"] if point.get("objective") is not None else point.get("train_loss")
            self.iterations.append({"num": point["pass"], "loss": None if mean is None else n * mean, "gap": point.get("gap"), "scores": {}})

    @property
    def last_iteration(self) -> dict[str, Any] | None:
        """The last pass: its number ``num`` and the ``loss``, which is the objective, summed over all sequences."""
        return self.iterations[-1] if self.iterations else None


# Which weights there are, by all_possible_states and all_possible_transitions.
WEIGHTS = {(False, False): "observed", (False, True): "observed-attributes", (True, False): "all-attributes", (True, True): "all"}


def _spec(algorithm: str, params: Mapping[str, Any], n_sequences: int) -> dict[str, Any]:
    """What the library is asked for."""
    tag = {
        "weights": WEIGHTS[bool(params.get("all_possible_states")), bool(params.get("all_possible_transitions"))],
        "ends": False,
        "bias": False,
        "min_count": max(1, int(np.ceil(params.get("min_freq") or 0))),
    }
    spec: dict[str, Any] = {"task": "tag", "tag": tag, "bias": "none", "seed": 0}
    limit = params.get("max_iterations")
    n = max(n_sequences, 1)
    if algorithm in ("lbfgs", "l2sgd"):
        c1 = float(params.get("c1") or 0.0) if algorithm == "lbfgs" else 0.0
        c2 = params.get("c2")
        c2 = 1.0 if c2 is None else float(c2)
        if c1 < 0 or c2 < 0:
            raise ValueError(f"c1 and c2 must be at least 0, got c1={c1!r} and c2={c2!r}")
        spec.update(loss="logistic", penalty={"l2": 2.0 * c2 / n}, l1=c1 / n, solver="lbfgs" if c1 > 0 else "auto", tol=1e-4)
        spec["max_passes"] = int(limit) if limit else None
        if params.get("epsilon") is not None:
            spec["tol"] = float(params["epsilon"]) * 0.1
    elif algorithm == "ap":
        spec.update(loss="perceptron", penalty={"l2": 0.0}, solver="sgd", sgd={"epochs": int(limit or 100), "average": True})
    elif algorithm == "pa":
        c = params.get("c")
        spec.update(
            loss="hinge",
            penalty={"l2": 0.0},
            solver="sgd",
            sgd={"epochs": int(limit or 100), "average": params.get("averaging", True) is not False, "passive_aggressive": 1.0 if c is None else float(c)},
        )
    else:
        raise ValueError(
            f"The 'algorithm' parameter of CRF must be one of {{'lbfgs', 'l2sgd', 'ap', 'pa'}}. Got {algorithm!r} instead."
        )
    return spec


class CRF(BaseEstimator):
    """A tagger with the interface of ``sklearn_crfsuite.CRF``: sequences are lists of dictionaries of features.

    With ``algorithm='lbfgs'`` the objective is CRFsuite's, −log p + c1·‖w‖₁ + c2·‖w‖², over the same features, and so is the optimum. ``'l2sgd'``
    minimises the same objective, without c1; ``'ap'`` is the averaged perceptron and ``'pa'`` passive–aggressive updates. Weights are of attributes and transitions that
    occur; ``epsilon`` bounds the relative duality gap (at a tenth of it; a tenth of a permille by default, about where CRFsuite stops). ``all_possible_states`` gives every attribute a weight for each label, ``all_possible_transitions`` every pair of labels.
    """

    def __init__(
        self,
        algorithm=None,
        min_freq=None,
        all_possible_states=None,
        all_possible_transitions=None,
        c1=None,
        c2=None,
        max_iterations=None,
        num_memories=None,
        epsilon=None,
        period=None,
        delta=None,
        linesearch=None,
        max_linesearch=None,
        calibration_eta=None,
        calibration_rate=None,
        calibration_samples=None,
        calibration_candidates=None,
        calibration_max_trials=None,
        pa_type=None,
        c=None,
        error_sensitive=None,
        averaging=None,
        variance=None,
        gamma=None,
        verbose=False,
        model_filename=None,
        keep_tempfiles=False,
        trainer_cls=None,
        n_jobs=None,
    ):
        self.algorithm = algorithm
        self.min_freq = min_freq
        self.all_possible_states = all_possible_states
        self.all_possible_transitions = all_possible_transitions
        self.c1 = c1
        self.c2 = c2
        self.max_iterations = max_iterations
        self.num_memories = num_memories
        self.epsilon = epsilon
        self.period = period
        self.delta = delta
        self.linesearch = linesearch
        self.max_linesearch = max_linesearch
        self.calibration_eta = calibration_eta
        self.calibration_rate = calibration_rate
        self.calibration_samples = calibration_samples
        self.calibration_candidates = calibration_candidates
        self.calibration_max_trials = calibration_max_trials
        self.pa_type = pa_type
        self.c = c
        self.error_sensitive = error_sensitive
        self.averaging = averaging
        self.variance = variance
        self.gamma = gamma
        self.verbose = verbose
        self.model_filename = model_filename
        self.keep_tempfiles = keep_tempfiles
        self.trainer_cls = trainer_cls
        self.n_jobs = n_jobs

    report_: Report
    certificate_: Certificate

    @atomic
    def fit(self, X: Any, y: Any, X_dev: Any = None, y_dev: Any = None) -> CRF:
        """Fits to sequences of features and their labels. Held-out sequences, if given, are measured in ``dev_metrics_``."""
        text, lengths = _text(X, y)
        if not sum(lengths):
            raise ValueError("there are no items to learn from")
        spec = _spec(self.algorithm or "lbfgs", self.get_params(deep=False), sum(1 for n in lengths if n))
        model = _lineal.fit_structured(text, "crfsuite", json.dumps(spec), threads(self.n_jobs), progress(self.verbose))
        self._model = model
        self._attribute_names = _lineal.attribute_names(text)
        self._features: dict | None = None
        self.report_, self.certificate_ = parse(model.report, model.certificate)
        self.classes_ = list(model.labels)
        if X_dev is not None:
            self.dev_metrics_ = json.loads(model.evaluate(_text(X_dev, y_dev)[0], "crfsuite"))
        if self.model_filename:
            self.save(self.model_filename)
        return self

    def _answers(self, X: Any, **ask: Any) -> list[dict | None]:
        check_is_fitted(self, "_model")
        text, lengths = _text(X)
        found = iter(self._model.answer(text, "crfsuite", n_threads=threads(self.n_jobs), **ask)) if sum(lengths) else iter(())
        return [next(found) if n else None for n in lengths]

    def predict(self, X: Any) -> list[list[str]]:
        """The likeliest labels of each sequence."""
        return [[] if answer is None else answer["labels"] for answer in self._answers(X)]

    def predict_single(self, xseq: Any) -> list[str]:
        """The likeliest labels of one sequence."""
        return self.predict([xseq])[0]

    def predict_marginals(self, X: Any) -> list[list[dict[str, float]]]:
        """The probability of each label at each item."""
        k = len(self.classes_)
        out = []
        for answer in self._answers(X, proba=True):
            marginals = [] if answer is None else answer["marginals"]
            out.append([dict(zip(self.classes_, marginals[t : t + k])) for t in range(0, len(marginals), k)])
        return out

    def predict_marginals_single(self, xseq: Any) -> list[dict[str, float]]:
        """The probability of each label at each item of one sequence."""
        return self.predict_marginals([xseq])[0]

    @property
    def training_log_(self) -> Log:
        """The passes of the run: ``iterations`` and ``last_iteration``."""
        check_is_fitted(self, "_model")
        return Log(self.report_)

    def explain(self, X: Any, top: int | None = 10) -> list[list[dict[str, Any]]]:
        """Why each item of each sequence got its label: entries as those of ``lineal.Tagger``."""
        check_is_fitted(self, "_model")
        text, lengths = _text(X)
        found = iter(self._model.explain(text, "crfsuite", most(top), threads(self.n_jobs))) if sum(lengths) else iter(())
        return [next(found) if n else [] for n in lengths]

    def score(self, X: Any, y: Any) -> float:
        """The share of items whose label is predicted."""
        right = total = 0
        for found, gold in zip(self.predict(X), y):
            total += len(found)
            right += sum(a == str(b) for a, b in zip(found, gold))
        return right / total if total else 0.0

    def _weights(self) -> dict:
        check_is_fitted(self, "_model")
        if self.__dict__.get("_features") is None:
            state, transitions = _weights_of(self._model, self._attribute_names)
            self._features = {"state": state, "transitions": transitions}
        return self._features or {}

    @property
    def state_features_(self) -> dict[tuple[str, str], float]:
        """Weights of (attribute, label)."""
        return self._weights()["state"]

    @property
    def transition_features_(self) -> dict[tuple[str, str], float]:
        """Weights of (label, next label)."""
        return self._weights()["transitions"]

    @property
    def attributes_(self) -> list[str]:
        """All attributes that have weights."""
        return list(dict.fromkeys(name for name, _ in self.state_features_))

    @property
    def size_(self) -> int:
        """The size of the model in bytes."""
        check_is_fitted(self, "_model")
        return len(self._model.to_bytes()[0])

    @property
    def num_attributes_(self) -> int:
        """How many attributes have weights."""
        return len(self.attributes_)

    @property
    def tagger_(self) -> Tagger:
        """The model behind the interface of python-crfsuite."""
        check_is_fitted(self, "_model")
        return Tagger._of(self._model)

    def save(self, path: Any) -> int:
        """Writes the model file that the program reads, too; returns its size in bytes."""
        check_is_fitted(self, "_model")
        return self._model.save(os.fspath(path))

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
        state["_features"] = None
        if "_model" in state:
            state["_model"] = state["_model"].to_bytes()
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        if isinstance(state.get("_model"), tuple):
            self._model = _lineal.Structured.from_bytes(*state["_model"])


# What can be set for each algorithm, by CRFsuite's names, with its defaults.
_SHARED = {"feature.minfreq": 0.0, "feature.possible_states": False, "feature.possible_transitions": False}
_STEPS = {**_SHARED, "max_iterations": 100, "epsilon": 0.0}
PARAMS: dict[str, dict[str, Any]] = {
    "lbfgs": {
        **_SHARED, "c1": 0.0, "c2": 1.0, "max_iterations": 2147483647, "num_memories": 6, "epsilon": 1e-5, "period": 10, "delta": 1e-5, "linesearch": "MoreThuente", "max_linesearch": 20,
    },
    "l2sgd": {
        **_SHARED, "c2": 1.0, "max_iterations": 1000, "period": 10, "delta": 1e-6, "calibration.eta": 0.1, "calibration.rate": 2.0, "calibration.samples": 1000.0,
        "calibration.candidates": 10, "calibration.max_trials": 20,
    },
    "ap": _STEPS,
    "pa": {**_STEPS, "type": 1, "c": 1.0, "error_sensitive": True, "averaging": True},
}  # fmt: skip

# Those that have an effect, by the names that CRF has for them.
_OF_CRF = {
    "feature.minfreq": "min_freq",
    "feature.possible_states": "all_possible_states",
    "feature.possible_transitions": "all_possible_transitions",
    **{name: name for name in ("c1", "c2", "max_iterations", "epsilon", "c", "averaging")},
}

HELP = {
    "feature.minfreq": "The least number of times that an attribute occurs.",
    "feature.possible_states": "Whether each attribute has a weight for every label.",
    "feature.possible_transitions": "Whether every pair of labels has a weight.",
    "c1": "The coefficient of the sum of absolute weights.",
    "c2": "The coefficient of the sum of squared weights.",
    "max_iterations": "The largest number of passes.",
    "epsilon": "The run ends when the relative duality gap is a tenth of this.",
    "c": "The largest update.",
    "averaging": "Whether weights are averaged over the steps.",
}


class Trainer:
    """The interface of ``pycrfsuite.Trainer``: sequences are appended, then a model file is trained."""

    def __init__(self, algorithm: str | None = None, params: Mapping[str, Any] | None = None, verbose: bool = True):
        self._params: dict[str, Any] = {}
        self._X: list[Any] = []
        self._y: list[Any] = []
        self._groups: list[int] = []
        self.verbose = verbose
        self.logparser: Log | None = None
        self.select(algorithm or "lbfgs")
        if params:
            self.set_params(params)

    def select(self, algorithm: str, type: str = "crf1d") -> None:
        """Chooses the algorithm."""
        names = {"averaged-perceptron": "ap", "passive-aggressive": "pa"}
        algorithm = names.get(algorithm, algorithm)
        if algorithm not in PARAMS:
            raise ValueError(f"Bad arguments: algorithm={algorithm!r}; it must be one of {', '.join(PARAMS)}")
        self._algorithm = algorithm

    def set_params(self, params: Mapping[str, Any]) -> None:
        """Sets parameters by CRFsuite's names: ``c1``, ``c2``, ``max_iterations``, ``feature.minfreq``, …"""
        for name, value in params.items():
            self.set(name, value)

    def set(self, name: str, value: Any) -> None:
        """Sets one parameter."""
        if not any(name in known for known in PARAMS.values()):
            raise ValueError(f"Parameter not found: {name} = {value}")
        self._params[name] = value

    def get(self, name: str) -> Any:
        """One parameter: as it was set, or by default."""
        if name not in self.params():
            raise ValueError(f"Parameter not found: {name}")
        return self.get_params()[name]

    def get_params(self) -> dict[str, Any]:
        """All parameters of the algorithm: as they were set, or by default."""
        return {name: self._params.get(name, default) for name, default in PARAMS[self._algorithm].items()}

    def params(self) -> list[str]:
        """The names of the parameters of the algorithm."""
        return list(PARAMS[self._algorithm])

    def help(self, name: str) -> str:
        """What a parameter is."""
        if name not in self.params():
            raise ValueError(f"Parameter not found: {name}")
        return HELP.get(name, "A parameter of CRFsuite's own searches, without effect here.")

    def append(self, xseq: Any, yseq: Any, group: int = 0) -> None:
        """Adds a sequence and its labels. Sequences of the group that ``train`` holds out are not learnt from."""
        self._X.append(list(xseq))
        self._y.append(list(yseq))
        self._groups.append(group)

    def clear(self) -> None:
        """Forgets all sequences."""
        self._X, self._y, self._groups = [], [], []

    def train(self, model: Any, holdout: int = -1) -> None:
        """Trains and writes the model file."""
        keep = [i for i, group in enumerate(self._groups) if group != holdout]
        params = {_OF_CRF[name]: value for name, value in self._params.items() if name in _OF_CRF}
        crf = CRF(self._algorithm, verbose=self.verbose, **params)
        crf.fit([self._X[i] for i in keep], [self._y[i] for i in keep])
        crf.save(model)
        self.report_ = crf.report_
        self.certificate_ = crf.certificate_
        self.logparser = crf.training_log_
        if self.verbose:
            print(crf.certificate_)


class Info:
    """What ``Tagger.info`` tells: weights of ``transitions`` and ``state_features``, numbers of ``labels`` and ``attributes``, and a ``header``."""

    def __init__(self, labels: list[str], state: dict[tuple[str, str], float], transitions: dict[tuple[str, str], float]):
        self.state_features, self.transitions = state, transitions
        self.labels = {label: str(at) for at, label in enumerate(labels)}
        self.attributes = {name: str(at) for at, name in enumerate(dict.fromkeys(name for name, _ in state))}
        self.header = {"num_features": str(len(state)), "num_labels": str(len(self.labels)), "num_attrs": str(len(self.attributes))}


class Tagger:
    """The interface of ``pycrfsuite.Tagger``: opens a model file that ``Trainer`` or the program wrote."""

    _model: Any = None
    _text: bytes | None = None

    @classmethod
    def _of(cls, model: Any) -> Tagger:
        tagger = cls()
        tagger._model = model
        return tagger

    def open(self, name: Any) -> _Closing:
        """Opens a model file."""
        model = _lineal.Structured.load(readable(name))
        if model.task != "tag":
            raise ValueError(f"{name}: it is a model of the task {model.task}, not a tagger")
        self._model = model
        return _Closing(self)

    def open_inmemory(self, value: bytes) -> _Closing:
        """Opens the bytes of a model file."""
        self._model = _lineal.Structured.from_bytes(value, None)
        return _Closing(self)

    def close(self) -> None:
        """Lets the model go."""
        self._model = self._text = None

    def _opened(self) -> Any:
        if self._model is None:
            raise ValueError("The model is not opened")
        return self._model

    def labels(self) -> list[str]:
        """The labels."""
        return list(self._opened().labels)

    def info(self) -> Info:
        """The weights. A model file keeps the names of the twenty attributes that weigh most for each label; others are named by their hash, ``#`` and 16 digits."""
        return Info(self.labels(), *_weights_of(self._opened()))

    def dump(self, filename: Any = None) -> None:
        """Writes what ``info`` tells to a file, or to the standard output."""
        info = self.info()
        parts = [
            ("FILEHEADER", [f"{name}: {value}" for name, value in info.header.items()]),
            ("LABELS", [f"{at:>5}: {label}" for label, at in info.labels.items()]),
            ("ATTRIBUTES", [f"{at:>5}: {name}" for name, at in info.attributes.items()]),
            ("TRANSITIONS", [f"(1) {a} --> {b}: {weight:.6f}" for (a, b), weight in info.transitions.items()]),
            ("STATE_FEATURES", [f"(0) {name} --> {label}: {weight:.6f}" for (name, label), weight in info.state_features.items()]),
        ]
        text = "\n".join(f"{name} = {{\n" + "".join(f"  {line}\n" for line in lines) + "}\n" for name, lines in parts)
        if filename is None:
            print(text)
        else:
            with open(filename, "w", encoding="utf-8") as file:
                file.write(text)

    def set(self, xseq: Any) -> None:
        """Sets the sequence that the next questions are about."""
        self._opened()
        text, lengths = _text([xseq])
        self._text = text if lengths[0] else None
        self._marginals: list[float] | None = None

    def tag(self, xseq: Any = None) -> list[str]:
        """The likeliest labels of a sequence."""
        if xseq is not None:
            self.set(xseq)
        if self._text is None:
            return []
        return self._opened().answer(self._text, "crfsuite")[0]["labels"]

    def probability(self, yseq: Iterable[str]) -> float:
        """The probability of these labels for the sequence that was set."""
        labels = [str(label) for label in yseq]
        if self._text is None:
            return 0.0
        rows = [line for line in self._text.split(b"\n") if line]
        if len(rows) != len(labels):
            raise ValueError("|x| != |y|")
        if not set(labels) <= set(self.labels()):
            return 0.0
        best = self._opened().answer(self._text, "crfsuite", proba=True)[0]
        if best["labels"] == labels:
            return float(best["probability"])
        escaped = [label.replace("\\", "\\\\").replace(":", "\\:").encode() for label in labels]
        lines = [label + row[row.find(b"\t") :] if b"\t" in row else label for label, row in zip(escaped, rows)]
        (own,) = self._opened().answer(b"\n".join(lines) + b"\n\n", "crfsuite", known=True)
        return float(best["probability"] * np.exp(own["score"] - best["score"]))

    def marginal(self, y: str, pos: int) -> float:
        """The probability of a label at a position (from 0) of the sequence that was set."""
        if self._text is None:
            raise ValueError("there is no sequence; call set first")
        if self._marginals is None:
            self._marginals = self._opened().answer(self._text, "crfsuite", proba=True)[0]["marginals"]
        names = self.labels()
        return float(self._marginals[pos * len(names) + names.index(y)])


class _Closing:
    """Closes a tagger at the end of a ``with``."""

    def __init__(self, tagger: Tagger):
        self._tagger = tagger

    def __enter__(self) -> Tagger:
        return self._tagger

    def __exit__(self, *_: Any) -> None:
        self._tagger.close()
