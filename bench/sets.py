"""The files that both sides read, uncompressed, in bench/data."""

import gzip
import shutil

SOURCES = {
    "a9a.svm": "libsvm/a9a.gz",
    "a9a.test.svm": "libsvm/a9a.t.gz",
    "newsgroups.svm": "newsgroups/tfidf-train.svm.gz",
    "newsgroups.test.svm": "newsgroups/tfidf-test.svm.gz",
}
COMP = {b"2", b"3", b"4", b"5", b"6"}  # comp.* of the twenty groups
REPEATS = 4


def prepare(source, folder):
    """Unpacks, derives `comp` (computers against the rest) and the repeated files for reading."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, file in SOURCES.items():
        make(folder / name, lambda out, file=file: copy(source / file, out))
    for part in (".svm", ".test.svm"):
        make(folder / f"comp{part}", lambda out, part=part: relabel(folder / f"newsgroups{part}", out))
    for name in ("a9a", "newsgroups"):
        make(folder / f"{name}.x{REPEATS}.svm", lambda out, name=name: repeat(folder / f"{name}.svm", out))


def make(path, write):
    """Writes beside and renames, so that a broken run leaves no half file."""
    if path.exists():
        return
    beside = path.with_suffix(".part")
    with open(beside, "wb") as out:
        write(out)
    beside.rename(path)


def copy(source, out):
    with gzip.open(source, "rb") as rows:
        shutil.copyfileobj(rows, out)


def relabel(source, out):
    with open(source, "rb") as rows:
        for row in rows:
            label, rest = row.split(b" ", 1)
            out.write((b"1 " if label in COMP else b"-1 ") + rest)


def repeat(source, out):
    for _ in range(REPEATS):
        with open(source, "rb") as rows:
            shutil.copyfileobj(rows, out)
