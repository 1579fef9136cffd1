"""What is measured: the same file, the same objective (C = 1), one thread."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Case:
    """One objective on one set, with the peers that have it."""

    name: str
    data: str
    loss: str
    bias: str
    peers: tuple  # ("liblinear", -s) or ("scikit-learn", solver)
    solvers: tuple  # Lineal's that are tried; the fastest counts, as with the peers


def liblinear(*solvers):
    return tuple(("liblinear", s) for s in solvers)


def scikit_learn(*solvers):
    return tuple(("scikit-learn", s) for s in solvers)


CASES = (
    Case("hinge", "a9a", "hinge", "penalised", liblinear(3), ("dual",)),
    Case("squared hinge", "a9a", "squared-hinge", "penalised", liblinear(1, 2), ("dual", "newton")),
    Case("Crammer–Singer", "newsgroups", "hinge", "penalised", liblinear(4), ("dual",)),
    Case("hinge", "comp", "hinge", "penalised", liblinear(3), ("dual",)),
    Case("squared hinge", "comp", "squared-hinge", "penalised", liblinear(1, 2), ("dual", "newton")),
    Case("logistic", "comp", "logistic", "penalised", liblinear(7, 0), ("dual", "newton")),
    Case("logistic", "a9a", "logistic", "free", scikit_learn("lbfgs", "newton-cg", "newton-cholesky", "saga"), ("dual", "newton", "lbfgs")),
    Case("softmax", "newsgroups", "logistic", "free", scikit_learn("lbfgs", "newton-cg", "saga"), ("dual", "newton", "lbfgs")),
)

# Loosest first.
TOLERANCES = ("1e-1", "3e-2", "1e-2", "3e-3", "1e-3", "3e-4", "1e-4", "3e-5", "1e-5", "1e-6", "1e-7", "1e-8")
