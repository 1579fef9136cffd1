"""The objective of SPEC in f64 numpy, written apart from the Rust code:

    mean loss + (l2/2)·‖W‖² + l1·‖W‖₁

`w` is features (+ bias row last) × outputs. Two classes have one output, whose score belongs to the class that is
listed second. Values and gradients, so that scipy can minimise what is smooth.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import expit, log_expit, logsumexp, softmax


@dataclass(frozen=True)
class Spec:
    """A problem but for its data."""

    loss: str
    l2: float
    bias: str = "free"  # free, penalised, none
    sum: bool = False
    l1: float = 0.0
    delta: float = 1.0
    epsilon: float = 0.1

    def flags(self):
        """The same for the program."""
        flags = ["--loss", self.loss, "--l2", repr(self.l2), "--bias", self.bias]
        flags += ["--sum"] if self.sum else []
        flags += ["--l1", repr(self.l1)] if self.l1 else []
        flags += ["--delta", repr(self.delta)] if self.loss == "huber" else []
        flags += ["--epsilon", repr(self.epsilon)] if self.loss == "epsilon" else []
        return flags

    def __str__(self):
        return " ".join(self.flags())


def scores(x, w, bias):
    """Row-major n × outputs."""
    return x @ w if bias == "none" else x @ w[:-1] + w[-1]


def loss_grad(spec, theta, y, n_classes):
    """The loss of each row, and its (sub)gradient by score. `y` holds class indices, or numbers for regression."""
    if n_classes == 0:
        return real_loss(spec, theta[:, 0] - y)
    if n_classes == 2:
        sign = np.where(y == 1, 1.0, -1.0)
        value, slope = binary_loss(spec.loss, sign * theta[:, 0])
        return value, (sign * slope)[:, None]
    return classes_loss(spec, theta, y)


def real_loss(spec, r):
    if spec.loss == "squared":
        return 0.5 * r * r, r[:, None]
    if spec.loss == "huber":
        near = np.abs(r) <= spec.delta
        value = np.where(near, 0.5 * r * r, spec.delta * (np.abs(r) - 0.5 * spec.delta))
        return value, np.clip(r, -spec.delta, spec.delta)[:, None]
    over = np.abs(r) - spec.epsilon
    return np.maximum(over, 0.0), np.where(over > 0, np.sign(r), 0.0)[:, None]


def binary_loss(loss, m):
    """By margin m = yf."""
    if loss == "perceptron":
        return np.maximum(-m, 0.0), np.where(m < 0, -1.0, 0.0)
    if loss == "hinge":
        return np.maximum(1 - m, 0.0), np.where(m < 1, -1.0, 0.0)
    if loss == "squared-hinge":
        over = np.maximum(1 - m, 0.0)
        return over * over, -2 * over
    if loss == "logistic":
        return -log_expit(m), -expit(-m)
    return 0.5 * (m - 1) ** 2, m - 1  # squared, target ±1


def classes_loss(spec, theta, y):
    rows = np.arange(len(y))
    gold = np.zeros_like(theta)
    gold[rows, y] = 1.0
    if spec.loss == "logistic":
        return logsumexp(theta, axis=1) - theta[rows, y], softmax(theta, axis=1) - gold
    if spec.loss == "squared":
        r = theta - (2 * gold - 1)
        return 0.5 * (r * r).sum(axis=1), r
    cost = 0.0 if spec.loss == "perceptron" else 1.0
    over = theta - theta[rows, y][:, None] + cost * (1 - gold)
    if not spec.sum:  # keep the worst class alone
        worst = over.argmax(axis=1)
        kept = np.zeros_like(over)
        kept[rows, worst] = over[rows, worst]
        over = kept
    over = np.maximum(over, 0.0)
    flow = 2 * over if spec.loss == "squared-hinge" else (over > 0).astype(float)
    value = (over * over if spec.loss == "squared-hinge" else over).sum(axis=1)
    return value, flow - gold * flow.sum(axis=1)[:, None]


def value_grad(spec, problem, w):
    """The objective and its gradient (of the part without l1)."""
    share = problem.share
    value, slope = loss_grad(spec, scores(problem.x, w, spec.bias), problem.y, problem.n_classes)
    slope = slope * share[:, None]
    penalised = w[:-1] if spec.bias == "free" else w
    grad = problem.x.T @ slope
    if spec.bias != "none":
        grad = np.vstack([grad, slope.sum(axis=0)])
    grad[: len(penalised)] += spec.l2 * penalised
    smooth = share @ value + 0.5 * spec.l2 * (penalised * penalised).sum()
    return smooth + spec.l1 * np.abs(penalised).sum(), grad


def value(spec, problem, w):
    """The objective."""
    return value_grad(spec, problem, w)[0]
