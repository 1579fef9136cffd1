"""Text: the same vocabulary and tf–idf values as scikit-learn's, the same words in the model, and accuracy without tuning.

Runs on the real sets only: what is made up has no accuracy to speak of.
"""

import csv
import gzip
import io
import json
from pathlib import Path

import numpy as np
from sklearn.datasets import load_svmlight_file
from sklearn.feature_extraction.text import TfidfVectorizer

# file, its test file, the label's column, more flags, the accuracy that must be reached.
ACCURACY = {
    "newsgroups": ("newsgroups/train.jsonl.gz", "newsgroups/test.jsonl.gz", "label", (), 0.855),
    "banking77": ("banking77/train.csv.gz", "banking77/test.csv.gz", "category", ("--chars", "3-5", "--norm", "each"), 0.90),
    "sst2": ("sentiment/sst2-train.tsv.gz", "sentiment/sst2-test.tsv.gz", "label", (), 0.82),
    "trec": ("sentiment/trec-train.tsv.gz", "sentiment/trec-test.tsv.gz", "label", (), 0.88),
}
# Lineal's flags and scikit-learn's settings for the same features.
RECIPES = {
    "sublinear words": (("--tokens", "words", "--ngrams", "1"), {"sublinear_tf": True}),
    "words 1-2 in two rows or more": (
        ("--tokens", "words", "--ngrams", "1-2", "--min-df", "2", "--tf", "counts"), {"ngram_range": (1, 2), "min_df": 2},
    ),
    "characters 3-4": (
        ("--ngrams", "none", "--chars", "3-4"), {"analyzer": "char_wb", "ngram_range": (3, 4), "sublinear_tf": True},
    ),
    "words, no idf, no norm": (
        ("--tokens", "words", "--ngrams", "1", "--tf", "counts", "--no-idf", "--norm", "none"), {"use_idf": False, "norm": None},
    ),
}


def texts(path):
    """Rows of a file as (label, text)."""
    with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
        if ".jsonl" in path.name:
            rows = [json.loads(line) for line in file]
            return [(row["label"], row["text"]) for row in rows]
        if ".tsv" in path.name:
            rows = [line.rstrip("\n").split("\t", 1) for line in file]
            return [(label, unquoted(text)) for label, text in rows[1:]]
        rows = list(csv.reader(io.StringIO(file.read())))
        return [(row[1], row[0]) for row in rows[1:]]


def unquoted(cell):
    """A cell of a tsv that is wholly in quotes, as pandas writes it, is read without them."""
    if len(cell) >= 2 and cell[0] == cell[-1] == '"' and '"' not in cell[1:-1].replace('""', ""):
        return cell[1:-1].replace('""', '"')
    return cell


def folder(sets):
    """Where the real sets are; `None` where synthetic ones stand in."""
    return getattr(sets, "source", None)


def values(name, file, label):
    """A test: every value of every row, by name, to 1e-6."""

    def test(checks, program, sets):
        if folder(sets) is None:
            return
        path = Path(folder(sets)) / file
        documents = [text for _, text in texts(path)]
        work = Path(program.folder.name)
        for recipe, (flags, settings) in RECIPES.items():
            if name == "newsgroups" and "characters" in recipe:
                continue  # characters of 20 MB take scikit-learn a minute, and reviews have them too
            program.output("convert", path, work / "text.svm", "--names", work / "names.txt", "--label", label, "--text", "text", "--quiet", *flags)
            ours, _ = load_svmlight_file(str(work / "text.svm"), zero_based=False)
            names = (work / "names.txt").read_text(encoding="utf-8").split("\n")[:-1]
            vectorizer = TfidfVectorizer(**settings)
            theirs = vectorizer.fit_transform(documents)
            vocabulary = vectorizer.get_feature_names_out().tolist()
            what = f"{name}, {recipe}"
            checks.that(sorted(names) == sorted(vocabulary), f"{what}: the same vocabulary", f"{len(names)} and {len(vocabulary)} names")
            if sorted(names) != sorted(vocabulary):
                continue
            place = {word: j for j, word in enumerate(names)}
            order = np.array([place[word] for word in vocabulary])
            n_cols = max(len(names), ours.shape[1])
            ours.resize((ours.shape[0], n_cols))
            apart = abs(ours[:, order] - theirs)
            largest = apart.max() if apart.nnz else 0.0
            scale = max(1.0, abs(theirs).max())
            checks.that(ours.shape[0] == len(documents) and largest <= 1e-6 * scale, f"{what}: the same values", f"largest difference {largest:.2e}")

    return test


def accuracy(checks, program, sets):
    """Accuracy with defaults, on the published test rows."""
    if folder(sets) is None:
        return
    source, work = Path(folder(sets)), Path(program.folder.name)
    for name, (train, test, label, flags, least) in ACCURACY.items():
        out = program.output("train", source / train, "-o", work / "t.lineal", "--label", label, "--text", "text",
                             "--test", source / test, "--json", "--quiet", *flags)
        found = json.loads(out)["test"]["accuracy"]
        checks.that(found >= least, f"{name} {' '.join(flags)}: accuracy {least}", f"{found:.4f}")
        shown = json.loads(program.output("inspect", work / "t.lineal", "--json"))
        checks.that(shown["text"]["features"] > 1000, f"{name}: the model holds its words")


def folds(checks, program, sets):
    """Movie reviews in five folds, row i in fold i mod 5 after a fixed shuffle."""
    if folder(sets) is None:
        return
    work = Path(program.folder.name)
    rows = texts(Path(folder(sets)) / "sentiment/movie-reviews.tsv.gz")
    order = np.random.default_rng(0).permutation(len(rows))
    found = []
    for fold in range(5):
        for part, inside in (("train", False), ("test", True)):
            with open(work / f"{part}.tsv", "w", encoding="utf-8") as out:
                out.write("label\ttext\n")
                out.writelines(f"{rows[i][0]}\t{rows[i][1]}\n" for k, i in enumerate(order) if (k % 5 == fold) == inside)
        run = program.output("train", work / "train.tsv", "-o", work / "f.lineal", "--text", "text", "--test", work / "test.tsv", "--json", "--quiet")
        found.append(json.loads(run)["test"]["accuracy"])
    mean = float(np.mean(found))
    checks.that(mean >= 0.775, "movie reviews, 5 folds: accuracy 0.775", f"{mean:.4f}")


def hashing(checks, program, sets):
    """Hashed words keep names that `inspect` shows, and accuracy."""
    if folder(sets) is None:
        return
    source, work = Path(folder(sets)), Path(program.folder.name)
    train, test = source / "newsgroups/train.jsonl.gz", source / "newsgroups/test.jsonl.gz"
    flags = ("--text", "text", "--tokens", "words", "--ngrams", "1", "--hash", "18", "--json", "--quiet")
    run = json.loads(program.output("train", train, "-o", work / "h.lineal", "--test", test, *flags))
    checks.that(run["test"]["accuracy"] >= 0.855, "newsgroups --hash 18: accuracy", f"{run['test']['accuracy']:.4f}")
    shown = json.loads(program.output("inspect", work / "h.lineal", "--top", "10", "--json"))
    words = {row["class"]: [name for name, _ in row["features"]] for row in shown["top_features"]}
    for name, word in (("rec.sport.hockey", "hockey"), ("sci.space", "space"), ("rec.motorcycles", "bike"), ("talk.politics.guns", "gun")):
        found = words.get(name, [])
        checks.that(any(word in one for one in found), f"newsgroups --hash 18: {word} in the top ten of {name}", ", ".join(found))
    checks.that(0 < shown["text"]["collisions"]["share"] < 0.5, "newsgroups --hash 18: a collision report")


TESTS = {
    "text values newsgroups": values("newsgroups", "newsgroups/train.jsonl.gz", "label"),
    "text values reviews": values("reviews", "sentiment/movie-reviews.tsv.gz", "label"),
    "text accuracy": accuracy,
    "text folds": folds,
    "text hashing": hashing,
}
