"""The sets of the grid, as LIBSVM files in bench/data/grid: real ones, and ones made from a seed."""

import csv
import gzip
import io

import numpy as np
import scipy.sparse as sp

REAL = ("a9a", "usps", "letter", "mnist10k", "mnist", "newsgroups", "banking77", "trec", "reuters90", "bibtex")
MADE = ("dense-made", "zipf-made", "many-made", "intents-made")
# Few features, most of them there: peers get these as arrays.
DENSE = {"a9a", "usps", "letter", "mnist10k", "mnist", "dense-made"}
LABELS = {"reuters90", "bibtex"}
LIBSVM = {"a9a": "libsvm/a9a.gz", "usps": "libsvm/usps.gz", "letter": "libsvm/letter.scale.gz", "newsgroups": "newsgroups/tfidf-train.svm.gz"}


def prepare(source, folder, name):
    """The path of the set's file, which is made where it is not there yet."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.svm"
    if path.exists():
        return path
    beside = path.with_suffix(".part")
    if name in LIBSVM:
        beside.write_bytes(gzip.open(source / LIBSVM[name]).read())
    elif name in LABELS:
        beside.write_bytes(gzip.open(source / f"multilabel/{name}-train.svm.gz").read())
    else:
        x, y = made(name) if name in MADE else rows(source, name)
        write(beside, sp.csr_matrix(x), y)
    beside.rename(path)
    return path


def write(path, x, y):
    x.sort_indices()
    with open(path, "w") as out:
        for i, label in enumerate(y):
            span = slice(x.indptr[i], x.indptr[i + 1])
            cells = " ".join(f"{j + 1}:{v:.6g}" for j, v in zip(x.indices[span], x.data[span]))
            out.write(f"{label} {cells}\n")


def rows(source, name):
    if name.startswith("mnist"):
        n = 10_000 if name == "mnist10k" else 60_000
        pixels = gzip.open(source / "mnist/train-images-idx3-ubyte.gz").read()
        digits = gzip.open(source / "mnist/train-labels-idx1-ubyte.gz").read()
        return np.frombuffer(pixels, np.uint8, offset=16).reshape(-1, 784)[:n] / 255.0, np.frombuffer(digits, np.uint8, offset=8)[:n]
    if name == "banking77":
        table = csv.DictReader(io.TextIOWrapper(gzip.open(source / "banking77/train.csv.gz"), "utf-8"))
        return tf_idf([(row["category"], row["text"]) for row in table])
    if name == "trec":
        lines = gzip.open(source / "sentiment/trec-train.tsv.gz", "rt").read().splitlines()
        pairs = [line.split("\t", 1) for line in lines if "\t" in line]
        return tf_idf(pairs[1:] if pairs[0][0] == "label" else pairs)
    raise SystemExit(f"no set is called {name}; there are {', '.join(REAL + MADE)}")


def tf_idf(pairs):
    from sklearn.feature_extraction.text import TfidfVectorizer

    names = {label: i for i, label in enumerate(sorted({label for label, _ in pairs}))}
    x = TfidfVectorizer(sublinear_tf=True).fit_transform([text for _, text in pairs])
    return x, [names[label] for label, _ in pairs]


def made(name):
    """Rows around the centres of their classes: dense, words by Zipf's law, and the latter with many classes."""
    rng = np.random.default_rng(17)
    if name == "dense-made":
        n, d, k = 100_000, 100, 20
        y = rng.integers(k, size=n)
        centres = rng.normal(size=(k, d))
        return (0.35 * centres[y] + rng.normal(size=(n, d))).astype(np.float32), y
    if name == "intents-made":
        return intents(rng)
    n, d, k = (100_000, 200_000, 50) if name == "zipf-made" else (50_000, 50_000, 500)
    y = rng.integers(k, size=n)
    length = rng.poisson(30, size=n) + 1
    row = np.repeat(np.arange(n), length)
    word = np.minimum(rng.zipf(1.3, size=row.size) - 1, d - 1)
    # A third of the words are those of the class.
    own = rng.random(row.size) < 0.33
    word = np.where(own, (word * 31 + y[row] * 97) % d, word)
    x = sp.csr_matrix((np.ones(row.size, np.float32), (row, word)), shape=(n, d))
    x.data = 1 + np.log(x.data)
    return sp.diags(1 / np.sqrt(np.maximum(x.multiply(x).sum(axis=1).A1, 1e-12))) @ x, y


def intents(rng):
    """Short requests: 150 intents of 130 rows each, 5 to 15 words by Zipf's law. A third of the words are of the intent's own kind, and neighbouring intents share half of these."""
    k, each, n_words, n_own = 150, 130, 6_000, 40
    n = k * each
    y = np.arange(n) % k
    length = rng.integers(5, 16, size=n)
    row = np.repeat(np.arange(n), length)
    frequency = 1 / np.arange(1, n_words + 1)
    word = rng.choice(n_words, size=row.size, p=frequency / frequency.sum())
    kinds = rng.permuted(np.tile(np.arange(100, n_words), (k, 1)), axis=1)[:, :n_own]
    kinds[1:, : n_own // 2] = kinds[:-1, n_own // 2 :]
    own = rng.random(row.size) < 1 / 3
    frequency = 1 / np.arange(1, n_own + 1)
    kind = kinds[y[row], rng.permutation(n_own)[rng.choice(n_own, size=row.size, p=frequency / frequency.sum())]]
    word = np.where(own, kind, word)
    x = sp.csr_matrix((np.ones(row.size, np.float32), (row, word)), shape=(n, n_words))
    x.sum_duplicates()
    rows_with = np.bincount(x.indices, minlength=n_words)
    x.data = (1 + np.log(x.data)) * (1 + np.log((1 + n) / (1 + rows_with[x.indices])))
    return sp.diags(1 / np.sqrt(x.multiply(x).sum(axis=1).A1)) @ x, y
