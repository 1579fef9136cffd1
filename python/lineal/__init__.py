"""Linear models whose prediction is an argmax: scikit-learn's manners, and a proof with every fit.

>>> from lineal import LogisticRegression
>>> model = LogisticRegression().fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])
>>> print(model.predict([[2.5]])[0])
1
"""

from ._lineal import __version__
from ._logistic import LogisticRegression
from ._regression import HuberRegressor, LinearRegression, Ridge
from ._sgd import PassiveAggressiveClassifier, Perceptron, SGDClassifier, SGDRegressor
from ._svm import CrammerSinger, LinearSVC, LinearSVR, WestonWatkins

__all__ = [
    "CrammerSinger",
    "HuberRegressor",
    "LinearRegression",
    "LinearSVC",
    "LinearSVR",
    "LogisticRegression",
    "PassiveAggressiveClassifier",
    "Perceptron",
    "Ridge",
    "SGDClassifier",
    "SGDRegressor",
    "WestonWatkins",
    "__version__",
]
