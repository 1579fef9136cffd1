"""Linear models whose prediction is an argmax: scikit-learn's interface, and a proof with every fit.

>>> from lineal import LogisticRegression
>>> model = LogisticRegression().fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])
>>> print(model.predict([[2.5]])[0])
1
"""

from . import crf, tune
from ._declared import DeclaredStructure
from ._lineal import __version__
from ._load import load
from ._logistic import LogisticRegression
from ._multiclass import (
    CalibratedClassifierCV,
    CostSensitiveClassifier,
    LabelTreeClassifier,
    MultilabelClassifier,
    OneVsOneClassifier,
    OneVsRestClassifier,
    OutputCodeClassifier,
)
from ._parsers import ConstituencyParser, DependencyParser
from ._ranker import Ranker
from ._regression import HuberRegressor, LinearRegression, Ridge
from ._report import Certificate, Report
from ._segmenter import Segmenter
from ._sgd import PassiveAggressiveClassifier, Perceptron, SGDClassifier, SGDRegressor
from ._svm import CrammerSinger, LinearSVC, LinearSVR, WestonWatkins
from ._table import TableClassifier, TableRegressor
from ._tagger import Tagger
from ._text import HashingVectorizer, TextClassifier, TfidfVectorizer

__all__ = [
    "CalibratedClassifierCV",
    "Certificate",
    "ConstituencyParser",
    "CostSensitiveClassifier",
    "CrammerSinger",
    "DeclaredStructure",
    "DependencyParser",
    "HashingVectorizer",
    "HuberRegressor",
    "LabelTreeClassifier",
    "LinearRegression",
    "LinearSVC",
    "LinearSVR",
    "LogisticRegression",
    "MultilabelClassifier",
    "OneVsOneClassifier",
    "OneVsRestClassifier",
    "OutputCodeClassifier",
    "PassiveAggressiveClassifier",
    "Perceptron",
    "Ranker",
    "Report",
    "Ridge",
    "SGDClassifier",
    "SGDRegressor",
    "Segmenter",
    "TableClassifier",
    "TableRegressor",
    "Tagger",
    "TextClassifier",
    "TfidfVectorizer",
    "WestonWatkins",
    "__version__",
    "crf",
    "load",
    "tune",
]
