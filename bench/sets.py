"""The files that both sides read, uncompressed, in bench/data."""

import gzip
import re
import shutil
import zlib

SOURCES = {
    "a9a.svm": "libsvm/a9a.gz",
    "a9a.test.svm": "libsvm/a9a.t.gz",
    "newsgroups.svm": "newsgroups/tfidf-train.svm.gz",
    "newsgroups.test.svm": "newsgroups/tfidf-test.svm.gz",
}
TAGGING = {"tagging.svm": "ewt/train.conllu.gz", "tagging.test.svm": "ewt/test.conllu.gz"}
OCCUPATIONS = {"occupations.svm": "occupations/train.tsv.gz", "occupations.test.svm": "occupations/test.tsv.gz"}
LABELS = ("bibtex", "delicious", "reuters90")
BITS = 18
COMP = {b"2", b"3", b"4", b"5", b"6"}  # comp.* of the twenty groups
REPEATS = 4


def prepare(source, folder):
    """Unpacks, derives `comp` (computers against the rest) and the repeated files for reading."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, file in SOURCES.items():
        make(folder / name, lambda out, file=file: copy(source / file, out))
    for name, file in TAGGING.items():
        make(folder / name, lambda out, file=file: tagging(source / file, source / TAGGING["tagging.svm"], out))
    for name, file in OCCUPATIONS.items():
        make(folder / name, lambda out, file=file: words(source / file, out))
    for name in LABELS:
        for part, file in ((".svm", "train"), (".test.svm", "test")):
            path = source / f"multilabel/{name}-{file}.svm.gz"
            make(folder / f"{name}{part}", lambda out, path=path: copy(path, out))
    for name in ("letter", "usps"):
        files = {"letter": ("letter.scale.gz", "letter.scale.t.gz"), "usps": ("usps.gz", "usps.t.gz")}[name]
        for part, file in zip((".svm", ".test.svm"), files):
            make(folder / f"{name}{part}", lambda out, file=file: copy(source / "libsvm" / file, out))
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


def hashed(names, value=lambda n: "1"):
    """A row at the hashes of names, as LIBSVM writes it; every entry is value(number of entries)."""
    places = sorted({zlib.crc32(name.encode()) % (1 << BITS) + 1 for name in names})
    return " ".join(f"{place}:{value(len(places))}" for place in places)


def sentences(source):
    """Forms and XPOS tags of each sentence of a CoNLL-U file."""
    with gzip.open(source, "rt", encoding="utf-8") as lines:
        sentence = []
        for line in lines:
            fields = line.rstrip("\n").split("\t")
            if len(fields) == 10 and fields[0].isdigit():
                sentence.append((fields[1], fields[4]))
            elif not line.strip() and sentence:
                yield sentence
                sentence = []


def tagging(source, train, out):
    """A row a word: the number of its tag among those of `train`, and its form, its neighbours, its prefixes and suffixes, hashed."""
    tags = {tag: n + 1 for n, tag in enumerate(sorted({tag for sentence in sentences(train) for _, tag in sentence}))}
    for sentence in sentences(source):
        forms = ["<s>", "<s>"] + [form for form, _ in sentence] + ["</s>", "</s>"]
        for i, (form, tag) in enumerate(sentence):
            names = [f"w={form}", f"l={form.lower()}"]
            names += [f"{k}={forms[i + 2 + k]}" for k in (-2, -1, 1, 2)]
            names += [f"p={form[:n]}" for n in range(1, 5)] + [f"s={form[-n:]}" for n in range(1, 5)]
            out.write(f"{tags.get(tag, 0)} {hashed(names)}\n".encode())


def words(source, out):
    """A row a title: its occupation, and its lower-cased words, hashed, of length 1 (as omikuji makes them itself)."""
    with gzip.open(source, "rt", encoding="utf-8") as lines:
        next(lines)
        for line in lines:
            label, text = line.rstrip("\n").split("\t", 1)
            found = re.findall(r"[^\W_]+", text.lower())
            number = label.replace("-", "").replace(".", "")
            out.write(f"{number} {hashed(found, lambda n: f'{n ** -0.5:.6g}')}\n".encode())


def repeat(source, out):
    for _ in range(REPEATS):
        with open(source, "rb") as rows:
            shutil.copyfileobj(rows, out)
