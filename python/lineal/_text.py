"""Text: ``TfidfVectorizer`` and ``HashingVectorizer`` with scikit-learn's values, and a classifier that takes raw text."""

from __future__ import annotations

import json
import numbers
from typing import Any

import numpy as np

from . import _lineal
from ._base import (
    BaseEstimator,
    Classifier,
    ClassifierMixin,
    NotFittedError,
    Rows,
    TransformerMixin,
    atomic,
    check_is_fitted,
    choice,
    most,
    number,
    seed_of,
    threads,
)

DEFAULT_PATTERN = r"(?u)\b\w\w+\b"


def _texts(documents: Any, *, decode: Any = None) -> list[str]:
    if isinstance(documents, str):
        raise ValueError("Iterable over raw text documents expected, string object received.")
    if isinstance(documents, dict) or hasattr(documents, "columns"):
        # Whose members are the names of columns.
        raise ValueError(f"a list or a column of texts expected, not a {type(documents).__name__}: pick the column that has the text")
    if hasattr(documents, "to_pylist"):
        documents = documents.to_pylist()
    out = documents if type(documents) is list else list(documents)
    if not all(type(text) is str for text in out):
        out = [decode(text) if decode else _text_of(text) for text in out]
    return out


def _text_of(text: Any) -> str:
    if isinstance(text, str):
        return str(text)
    if isinstance(text, bytes):
        return text.decode()
    raise ValueError(f"a document must be a string, not {type(text).__name__}: np.nan and None are not documents")


def _matrix(parts: tuple, dtype: Any) -> Any:
    from scipy.sparse import csr_matrix

    n_features, start, columns, values = parts
    if start[-1] < np.iinfo(np.int32).max:
        start = start.astype(np.int32)
    out = csr_matrix((values.astype(dtype, copy=False), columns, start), shape=(len(start) - 1, n_features))
    out.has_sorted_indices = True
    return out


class NotOurs(ValueError):
    """A parameter that the library has no counterpart of: scikit-learn's own vectorizer does it, where that is installed."""


class _Vectorizer(TransformerMixin, BaseEstimator):
    """What both vectorizers share: how text becomes words."""

    def _peer(self, why: NotOurs) -> Any:
        """scikit-learn's vectorizer with the same parameters, for those that are not ours."""
        try:
            from sklearn.feature_extraction import text
        except ImportError:
            raise ValueError(str(why)) from None
        params = {name: value for name, value in self.get_params(deep=False).items() if name != "n_jobs"}
        return getattr(text, type(self).__name__)(**params)

    def _document_parameters(self) -> dict[str, Any]:
        """The parameters that say what a word is, as the library has them."""
        me: Any = self
        kind = type(me).__name__
        for name in ("preprocessor", "tokenizer"):
            if getattr(me, name) is not None:
                raise NotOurs(f"The {name!r} parameter of {kind} must be None: text is cut into words outside of Python. Use token_pattern")
        if me.strip_accents is not None:
            raise NotOurs(f"The 'strip_accents' parameter of {kind} must be None; strip accents before")
        if me.input != "content":
            raise NotOurs(f"The 'input' parameter of {kind} must be 'content'. Got {me.input!r} instead.")
        if callable(me.analyzer) or me.analyzer == "char":
            raise NotOurs(f"The 'analyzer' parameter of {kind} must be 'word' or 'char_wb'. Got {me.analyzer!r} instead.")
        analyzer = choice(me, "analyzer", ["word", "char_wb"])
        low, high = me.ngram_range
        if not 1 <= low <= high:
            raise ValueError(f"Invalid value for ngram_range={me.ngram_range} lower boundary larger than the upper boundary.")
        spec: dict[str, Any] = {"lowercase": bool(me.lowercase)}
        if analyzer == "char_wb":
            spec.update(ngrams=None, chars=[low, high])
        else:
            spec.update(ngrams=[low, high])
            spec["tokens"] = "words" if me.token_pattern == DEFAULT_PATTERN else {"pattern": me.token_pattern.removeprefix("(?u)")}
        stop = me.stop_words
        if stop is None:
            spec["stop_words"] = "none"
        elif isinstance(stop, str):
            if stop != "english":
                raise ValueError(f"not a built-in stop list: {stop}")
            try:
                from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

                spec["stop_words"] = {"list": sorted(ENGLISH_STOP_WORDS)}
            except ImportError:
                spec["stop_words"] = "english"
        else:
            spec["stop_words"] = {"list": sorted(map(str, stop))}
        return spec

    def _decode(self, text: Any) -> str:
        if isinstance(text, bytes):
            return text.decode(self.encoding, self.decode_error)  # type: ignore[attr-defined]
        if text is np.nan or text is None:
            raise ValueError("np.nan is an invalid document, expected byte or unicode string.")
        return _text_of(text)

    def _in_python(self, name: str) -> Any:
        """A function of scikit-learn's vectorizer with the same parameters."""
        return getattr(self._peer(NotOurs(f"{name} is a function of scikit-learn, which is not installed")), name)

    def build_analyzer(self) -> Any:
        """What makes words (or n-grams) of a text, as a function; scikit-learn's."""
        return self._in_python("build_analyzer")()

    def build_tokenizer(self) -> Any:
        """What cuts a text into words, as a function; scikit-learn's."""
        return self._in_python("build_tokenizer")()

    def build_preprocessor(self) -> Any:
        """What is done to a text before it is cut into words, as a function; scikit-learn's."""
        return self._in_python("build_preprocessor")()

    def get_stop_words(self) -> Any:
        """The words that are left out; ``None`` if none are."""
        return self._in_python("get_stop_words")()

    def decode(self, doc: Any) -> str:
        """A text of bytes or of a file, as a string."""
        return self._in_python("decode")(doc)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        return tags


class TfidfVectorizer(_Vectorizer):
    """Words to tf–idf with the parameters and the values of ``sklearn.feature_extraction.text.TfidfVectorizer``.

    What the library has no counterpart of (functions of your own as ``preprocessor``, ``tokenizer`` or ``analyzer``, ``strip_accents``, ``vocabulary``, ``analyzer='char'``, ``norm='l1'``,
    ``smooth_idf=False``) is done by scikit-learn's own vectorizer, where it is installed (``peer_``).

    >>> from lineal import TfidfVectorizer
    >>> vectorizer = TfidfVectorizer()
    >>> X = vectorizer.fit_transform(["red wine", "white wine"])
    >>> print(X.shape, *vectorizer.get_feature_names_out())
    (2, 3) red white wine
    """

    def __init__(
        self,
        *,
        input="content",
        encoding="utf-8",
        decode_error="strict",
        strip_accents=None,
        lowercase=True,
        preprocessor=None,
        tokenizer=None,
        analyzer="word",
        stop_words=None,
        token_pattern=DEFAULT_PATTERN,
        ngram_range=(1, 1),
        max_df=1.0,
        min_df=1,
        max_features=None,
        vocabulary=None,
        binary=False,
        dtype=np.float64,
        norm="l2",
        use_idf=True,
        smooth_idf=True,
        sublinear_tf=False,
        n_jobs=None,
    ):
        self.input = input
        self.encoding = encoding
        self.decode_error = decode_error
        self.strip_accents = strip_accents
        self.lowercase = lowercase
        self.preprocessor = preprocessor
        self.tokenizer = tokenizer
        self.analyzer = analyzer
        self.stop_words = stop_words
        self.token_pattern = token_pattern
        self.ngram_range = ngram_range
        self.max_df = max_df
        self.min_df = min_df
        self.max_features = max_features
        self.vocabulary = vocabulary
        self.binary = binary
        self.dtype = dtype
        self.norm = norm
        self.use_idf = use_idf
        self.smooth_idf = smooth_idf
        self.sublinear_tf = sublinear_tf
        self.n_jobs = n_jobs

    def _spec(self) -> dict[str, Any]:
        spec = self._document_parameters()
        if self.vocabulary is not None:
            raise NotOurs("The 'vocabulary' parameter of TfidfVectorizer must be None: the vocabulary is learnt")
        if not self.smooth_idf and self.use_idf:
            raise NotOurs("The 'smooth_idf' parameter of TfidfVectorizer must be True where use_idf is")
        for name in ("min_df", "max_df"):
            value: Any = getattr(self, name)
            whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
            if not isinstance(value, (int, float, np.number)) or value < 0 or (not whole and value > 1):
                raise ValueError(f"The {name!r} parameter of TfidfVectorizer must be a count or a share from 0 to 1. Got {value!r} instead.")
            spec[name] = int(value) if whole else float(value)
        if self.max_features is not None:
            spec["max_features"] = int(self.max_features)
        if self.norm == "l1":
            raise NotOurs("The 'norm' parameter of TfidfVectorizer must be 'l2' or None. Got 'l1' instead.")
        norm = choice(self, "norm", ["l2", None])
        spec["norm"] = "l2" if norm else "none"
        if self.binary and self.use_idf:
            raise NotOurs("The 'binary' parameter of TfidfVectorizer must be False where use_idf is True")
        if self.use_idf:
            spec["weights"] = {"tf-idf": {"sublinear": bool(self.sublinear_tf)}}
        else:
            spec["weights"] = "binary" if self.binary else "sublinear" if self.sublinear_tf else "counts"
        return spec

    def fit(self, raw_documents: Any, y: Any = None) -> TfidfVectorizer:
        """Learns the vocabulary and how rare its words are."""
        self._learn(raw_documents, rows=False)
        return self

    def fit_transform(self, raw_documents: Any, y: Any = None) -> Any:
        """Learns the vocabulary, and returns the rows of the documents."""
        return self._learn(raw_documents, rows=True)

    @atomic
    def _learn(self, raw_documents: Any, rows: bool) -> Any:
        """Learns the vocabulary, and returns the rows if they are asked for; else they take no memory."""
        self.__dict__.pop("peer_", None)
        try:
            spec = self._spec()
        except NotOurs as why:
            peer = self._peer(why)
            out = peer.fit_transform(raw_documents) if rows else peer.fit(raw_documents)
            self.__dict__.pop("_encoder", None)
            self.peer_ = peer
            return out
        texts = _texts(raw_documents, decode=self._decode)
        try:
            encoder, parts = _lineal.TextEncoder.fit(texts, json.dumps(spec), threads(self.n_jobs), rows)
        except ValueError as why:
            if str(why).startswith("token pattern"):
                # What a token is can be said in Python's regular expressions only.
                self.__dict__.pop("_encoder", None)
                self.peer_ = self._peer(NotOurs(str(why)))
                return self.peer_.fit_transform(raw_documents) if rows else self.peer_.fit(raw_documents)
            if "empty" in str(why) or "no " in str(why):
                raise ValueError(f"empty vocabulary; perhaps the documents only contain stop words ({why})") from None
            raise
        self._encoder, self._spec_ = encoder, spec
        self.__dict__.pop("_names", None)
        return None if parts is None else _matrix(parts, self.dtype)

    def transform(self, raw_documents: Any) -> Any:
        """The rows of documents."""
        if "peer_" in self.__dict__:
            return self.peer_.transform(raw_documents)
        texts = _texts(raw_documents, decode=self._decode)
        self._check_fitted()
        return _matrix(self._encoder.encode(texts, threads(self.n_jobs)), self.dtype)

    def _check_fitted(self) -> None:
        if "_encoder" not in self.__dict__:
            raise NotFittedError("Vocabulary not fitted or provided")

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """The words, in the order of the columns."""
        if "peer_" in self.__dict__:
            return self.peer_.get_feature_names_out()
        self._check_fitted()
        if "_names" not in self.__dict__:
            self._names = np.asarray(self._encoder.names(), dtype=object)
        return self._names

    @property
    def vocabulary_(self) -> dict[str, int]:
        """The column of each word."""
        if "peer_" in self.__dict__:
            return self.peer_.vocabulary_
        if "_encoder" not in self.__dict__:
            raise AttributeError("vocabulary_")
        return {name: at for at, name in enumerate(self.get_feature_names_out())}

    @property
    def idf_(self) -> np.ndarray:
        """How rare each word is."""
        if "peer_" in self.__dict__:
            return self.peer_.idf_
        if "_encoder" not in self.__dict__ or not self.use_idf:
            raise AttributeError("idf_")
        return np.asarray(self._encoder.idf(), dtype=np.float64)

    def inverse_transform(self, X: Any) -> list[np.ndarray]:
        """The words of each row."""
        names = self.get_feature_names_out()
        rows = X.tocsr() if hasattr(X, "tocsr") else np.asarray(X)
        return [names[row.indices if hasattr(row, "indices") else np.flatnonzero(row)] for row in (rows[i] for i in range(rows.shape[0]))]

    def __sklearn_is_fitted__(self) -> bool:
        return "_encoder" in self.__dict__ or "peer_" in self.__dict__

    def __getstate__(self) -> dict[str, Any]:
        state = dict(self.__dict__)
        if "_encoder" in state:
            state["_encoder"] = state["_encoder"].to_parts()
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        if isinstance(state.get("_encoder"), tuple):
            self._encoder = _lineal.TextEncoder.from_parts(json.dumps(state["_spec_"]), *state["_encoder"])


class HashingVectorizer(_Vectorizer):
    """Words to hashed columns with the parameters and the values of ``sklearn.feature_extraction.text.HashingVectorizer``. What the library has no counterpart of (functions of your own, ``strip_accents``,
    ``analyzer='char'``, ``norm='l1'``, ``alternate_sign=False``, an ``n_features`` that is not a power of 2) is done by scikit-learn's own, where it is installed.

    >>> from lineal import HashingVectorizer
    >>> print(HashingVectorizer(n_features=2**10).transform(["red wine"]).shape)
    (1, 1024)
    """

    def __init__(
        self,
        *,
        input="content",
        encoding="utf-8",
        decode_error="strict",
        strip_accents=None,
        lowercase=True,
        preprocessor=None,
        tokenizer=None,
        stop_words=None,
        token_pattern=DEFAULT_PATTERN,
        ngram_range=(1, 1),
        analyzer="word",
        n_features=2**20,
        binary=False,
        norm="l2",
        alternate_sign=True,
        dtype=np.float64,
        n_jobs=None,
    ):
        self.input = input
        self.encoding = encoding
        self.decode_error = decode_error
        self.strip_accents = strip_accents
        self.lowercase = lowercase
        self.preprocessor = preprocessor
        self.tokenizer = tokenizer
        self.stop_words = stop_words
        self.token_pattern = token_pattern
        self.ngram_range = ngram_range
        self.analyzer = analyzer
        self.n_features = n_features
        self.binary = binary
        self.norm = norm
        self.alternate_sign = alternate_sign
        self.dtype = dtype
        self.n_jobs = n_jobs

    def _encoder(self) -> Any:
        spec = self._document_parameters()
        n = self.n_features
        if not isinstance(n, numbers.Integral) or n < 2 or n & (n - 1):
            raise NotOurs(f"The 'n_features' parameter of HashingVectorizer must be a power of 2. Got {n!r} instead.")
        if self.norm == "l1":
            raise NotOurs("The 'norm' parameter of HashingVectorizer must be 'l2' or None. Got 'l1' instead.")
        if not self.alternate_sign:
            raise NotOurs("The 'alternate_sign' parameter of HashingVectorizer must be True: signs keep collisions from adding up")
        spec.update(
            hash_bits=int(n).bit_length() - 1,
            hash_names=0,
            weights="binary" if self.binary else "counts",
            norm="l2" if choice(self, "norm", ["l2", None]) else "none",
        )
        return _lineal.TextEncoder.untrained(json.dumps(spec))

    def fit(self, X: Any, y: Any = None) -> HashingVectorizer:
        """Checks the parameters; there is nothing to learn."""
        if isinstance(X, str):
            raise ValueError("Iterable over raw text documents expected, string object received.")
        try:
            self._encoder()
        except NotOurs as why:
            self._peer(why).fit(X)
        return self

    def partial_fit(self, X: Any, y: Any = None) -> HashingVectorizer:
        """Checks the parameters; there is nothing to learn."""
        return self.fit(X)

    def transform(self, X: Any) -> Any:
        """The rows of documents."""
        try:
            encoder = self._encoder()
        except NotOurs as why:
            return self._peer(why).transform(X)
        out = _matrix(encoder.encode(_texts(X, decode=self._decode), threads(self.n_jobs)), self.dtype)
        if self.binary:
            np.abs(out.data, out=out.data)
        return out

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """The rows of documents."""
        return self.fit(X).transform(X)

    def __sklearn_is_fitted__(self) -> bool:
        return True


class TextClassifier(ClassifierMixin, Rows):
    """Raw text in, classes out: what ``lineal train`` does with text, in one estimator.

    Words and marks, alone and in pairs, as sublinear tf–idf; the squared hinge loss, one class against the others (a label tree beyond 200 classes);
    probabilities by one temperature that is fitted to rows that training did not see.

    >>> from lineal import TextClassifier
    >>> texts = ["my invoice is wrong", "cannot log in", "the invoice never came", "log in fails"]
    >>> model = TextClassifier().fit(texts, ["money", "access", "money", "access"])
    >>> print(*model.predict(["the invoice is missing", "I cannot log in"]))
    money access
    """

    def __init__(self, *, C=1.0, tol=1e-3, class_weight=None, random_state=None, verbose=0, n_jobs=None):
        self.C = C
        self.tol = tol
        self.class_weight = class_weight
        self.random_state = random_state
        self.verbose = verbose
        self.n_jobs = n_jobs

    @atomic
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> TextClassifier:
        """Fits to texts and classes."""
        from ._base import _check_sample_weight, class_factors, classes_of, names_of, progress

        texts = _texts(X)
        y = classes_of(y)
        if len(y) != len(texts):
            raise ValueError(f"Found input variables with inconsistent numbers of samples: [{len(texts)}, {len(y)}]")
        self.classes_, ids = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(f"there must be at least 2 classes, but the data contains only one class: {self.classes_!r}")
        weights = _check_sample_weight(sample_weight, np.empty((len(texts), 1)), dtype=np.float64)
        factors = class_factors(self.class_weight, self.classes_, ids, weights)
        if factors is not None:
            weights = weights * factors[ids]
        spec = {"penalty": {"c": number(self, "C")}, "tol": number(self, "tol"), "seed": seed_of(self.random_state)}
        model = _lineal.fit_text(
            texts,
            ids.astype(np.uint32),
            names_of(self.classes_),
            json.dumps(spec),
            None if (weights == 1).all() else weights,
            threads(self.n_jobs),
            progress(self.verbose),
        )
        place = {name: at for at, name in enumerate(names_of(self.classes_))}
        self.classes_ = self.classes_[[place[name] for name in model.classes]]
        self._keep(model)
        return self

    def predict(self, X: Any) -> np.ndarray:
        """The class of each text."""
        check_is_fitted(self)
        return self.classes_[self._model.classes_of_texts(_texts(X), threads(self.n_jobs))]

    def predict_proba(self, X: Any) -> np.ndarray:
        """The probability of each class."""
        check_is_fitted(self)
        return self._model.proba_of_texts(_texts(X), threads(self.n_jobs))

    def decision_function(self, X: Any) -> np.ndarray:
        """The score of each class; of two classes, that of the second."""
        check_is_fitted(self)
        scores = self._model.scores_of_texts(_texts(X), threads(self.n_jobs))
        return scores[:, 1].copy() if scores.shape[1] == 2 else scores

    def explain(self, X: Any, top: int | None = 10) -> list[dict[str, Any]]:
        """Why each text got its class, by words: entries as those of the other estimators."""
        check_is_fitted(self)
        found = self._model.explain_texts(_texts(X), most(top))
        for entry in found:
            for place in ("winner", "runner_up"):
                if entry[place] is not None:
                    entry[place] = self.classes_[entry[place]]
        return found

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        return tags


__all__ = ["Classifier", "HashingVectorizer", "TextClassifier", "TfidfVectorizer"]
