"""The sets: samples of real ones, or synthetic ones where the real ones are missing."""

import gzip
import os
import shutil
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from sklearn.datasets import dump_svmlight_file, load_svmlight_file, make_classification

# name: file below the data folder, its test file, every how many rows to take, a penalty that every solver handles
# in seconds (rows of usps have a squared norm of about 190, those of newsgroups of 1: λ is in proportion).
REAL = {
    "a9a": ("libsvm/a9a.gz", "libsvm/a9a.t.gz", 8, 0.01),
    "letter": ("libsvm/letter.scale.gz", "libsvm/letter.scale.t.gz", 15, 0.1),
    "usps": ("libsvm/usps.gz", "libsvm/usps.t.gz", 12, 1.0),
    "newsgroups": ("newsgroups/tfidf-train.svm.gz", "newsgroups/tfidf-test.svm.gz", 20, 0.03),
}
HEART = "libsvm/heart_scale.gz"


@dataclass
class Problem:
    """Rows in memory as Lineal sees them (values rounded to f32), and the file that it reads them from."""

    name: str
    path: Path
    x: sp.csr_matrix
    y: np.ndarray  # class indices, or numbers
    labels: np.ndarray  # the label of each class, ascending; empty for regression
    weights: np.ndarray | None = None
    l2: float = 0.01
    test: "Problem | None" = None

    @property
    def n_rows(self):
        return self.x.shape[0]

    @property
    def n_classes(self):
        return len(self.labels)

    @property
    def n_outputs(self):
        return self.n_classes if self.n_classes > 2 else 1

    @property
    def share(self):
        """What each row counts in the mean."""
        if self.weights is None:
            return np.full(self.n_rows, 1.0 / self.n_rows)
        return self.weights / self.weights.sum()

    def weighted(self, weights):
        """The same rows with other weights, as in memory: the file stays."""
        return Problem(self.name, self.path, self.x, self.y, self.labels, weights, self.l2, self.test)

    def with_bias(self, bias):
        """X as a solver without a bias needs it."""
        if bias == "none":
            return self.x
        return sp.hstack([self.x, np.ones((self.n_rows, 1))], format="csr")


@dataclass
class Sets:
    """All sets of a run, and the folder with their files."""

    origin: str
    folder: Path
    problems: dict = field(default_factory=dict)
    source: Path | None = None  # where the real sets are

    def __getitem__(self, name):
        return self.problems[name]

    def __iter__(self):
        return iter(self.problems.values())

    def sample(self, problem, n_rows):
        """The first rows of a problem with at least a few rows a class, as a problem of its own."""
        path = self.folder / f"{problem.name}-{n_rows}.svm"
        keep = np.arange(problem.n_rows)[:n_rows]
        write(path, problem.x[keep], problem.labels[problem.y[keep]])
        small = read(f"{problem.name}-{n_rows}", path)
        small.l2 = problem.l2
        return small


def find(folder):
    """The sets in `folder`, or synthetic ones."""
    work = Path(tempfile.mkdtemp(prefix="lineal-acceptance-"))
    import atexit

    atexit.register(shutil.rmtree, work, ignore_errors=True)
    needed = [folder / file for train, test, *_ in REAL.values() for file in (train, test)] + [folder / HEART]
    if all(os.path.exists(path) for path in needed):
        return real(folder, work)
    return synthetic(work)


def real(folder, work):
    sets = Sets("samples of the real sets a9a, letter, usps, newsgroups, heart_scale", work)
    for name, (train, test, every, l2) in REAL.items():
        problem = read(name, unpack(folder / train, work / f"{name}.svm", every))
        problem.l2 = l2
        problem.test = read(name, unpack(folder / test, work / f"{name}.test.svm", every), like=problem)
        sets.problems[name] = problem
    sets.problems["heart"] = read("heart", unpack(folder / HEART, work / "heart.svm", 1))
    sets.source = folder
    return sets


def synthetic(work):
    sets = Sets("SYNTHETIC sets: the real ones were not found (see --data)", work)
    shapes = {"a9a": (1500, 60, 2), "letter": (700, 16, 8), "usps": (500, 80, 6), "newsgroups": (600, 400, 7)}
    for seed, (name, (n, d, k)) in enumerate(shapes.items()):
        x, y = make_classification(
            2 * n, d, n_informative=min(d, 12), n_redundant=0, n_classes=k, n_clusters_per_class=1, class_sep=0.8,
            flip_y=0.05, random_state=seed,
        )
        if name in ("a9a", "newsgroups"):
            x[np.random.default_rng(seed).random(x.shape) < 0.8] = 0.0
        x = np.round(x / np.sqrt(d), 4)
        labels = np.array([-1, 1]) if k == 2 else np.arange(1, k + 1)
        write(work / f"{name}.svm", sp.csr_matrix(x[:n]), labels[y[:n]])
        write(work / f"{name}.test.svm", sp.csr_matrix(x[n:]), labels[y[n:]])
        problem = read(name, work / f"{name}.svm")
        problem.l2 = 0.05
        problem.test = read(name, work / f"{name}.test.svm", like=problem)
        sets.problems[name] = problem
    x, y = make_classification(270, 13, n_informative=8, flip_y=0.1, random_state=9)
    write(work / "heart.svm", sp.csr_matrix(np.round(x / 4, 4)), 2 * y - 1)
    sets.problems["heart"] = read("heart", work / "heart.svm")
    return sets


def unpack(source, target, every):
    """Every `every`-th row of a gzipped file."""
    with gzip.open(source, "rb") as rows, open(target, "wb") as out:
        out.writelines(row for i, row in enumerate(rows) if i % every == 0)
    return target


def read(name, path, like=None, regress=False):
    """A LIBSVM file. A test file gets the features and classes of the training file `like`."""
    x, y = load_svmlight_file(str(path))
    x = sp.csr_matrix(x.astype(np.float32).astype(np.float64))
    if regress:
        return Problem(name, Path(path), x, y, np.array([]))
    labels = np.unique(y) if like is None else like.labels
    if like is not None:
        d = like.x.shape[1]
        x = x[:, :d] if x.shape[1] >= d else sp.csr_matrix((x.data, x.indices, x.indptr), (x.shape[0], d))
    return Problem(name, Path(path), sp.csr_matrix(x), np.searchsorted(labels, y), labels)


def write(path, x, y, weights=None):
    """A LIBSVM file, with `label|weight` where there are weights. Numbers are written so that they read back exactly."""
    if weights is None and np.all(y == np.round(y)):
        dump_svmlight_file(x, y.astype(int), str(path), zero_based=False)
        return
    x = sp.csr_matrix(x)
    with open(path, "w") as out:
        for i in range(x.shape[0]):
            label = repr(float(y[i])) if y[i] != round(y[i]) else str(int(y[i]))
            weight = "" if weights is None else f"|{float(weights[i])!r}"
            cells = range(x.indptr[i], x.indptr[i + 1])
            out.write(label + weight + "".join(f" {x.indices[c] + 1}:{float(x.data[c])!r}" for c in cells) + "\n")
