"""Constituency parsing: `eval` against a count of our own, trees that are trees, malformed brackets, figures on gum-trees."""

import gzip
import json
import re
from collections import Counter
from pathlib import Path

TASK = ["--task", "constituency"]
QUICK = ["--epochs", 3, "--hash", 18]
# Least labelled F1 on gum-trees' test set for sentences of up to 40 words: gold tags, functions cut, punctuation counted. The defaults reach .874 in three times the time.
F1 = 0.860
FAST = ["--vertical", 1, "--epochs", 4]


def parse(line):
    """Words, tags, and labelled spans of a tree, functions cut, the outer bracket left out."""
    words, tags, spans, open_ = [], [], [], []
    tokens = re.findall(r"\(|\)|[^\s()]+", line)
    at = 0
    while at < len(tokens):
        if tokens[at] == "(":
            label = tokens[at + 1] if tokens[at + 1] not in "()" else ""
            at += 2 if label else 1
            if label and tokens[at] not in "()":
                tags.append(label)
                words.append(tokens[at])
                at += 1
                open_.append(None)
            else:
                open_.append((label, len(words)))
        else:
            opened = open_.pop()
            if opened is not None:
                label = re.split("[-=]", opened[0])[0] if not opened[0].startswith("-") else opened[0]
                spans.append((label, opened[1], len(words)))
            at += 1
    roots = {"", "TOP", "ROOT", "S1"}
    if spans and spans[-1][0] in roots:
        spans.pop()
    return words, tags, Counter(spans)


def score(gold, found):
    """Precision, recall, F1 and exact matches of lists of counters."""
    right = sum(sum((a & b).values()) for a, b in zip(gold, found))
    n_gold, n_found = (sum(sum(c.values()) for c in side) for side in (gold, found))
    exact = sum(a == b for a, b in zip(gold, found)) / len(gold)
    return {"precision": right / n_found, "recall": right / n_gold, "f1": 2 * right / (n_gold + n_found), "exact": exact}


def made_up(n):
    out = []
    for i in range(n):
        noun, verb = ["dog", "cat", "girl", "man"][i % 4], ["sees", "hears", "likes"][i // 2 % 3]
        place = ["park", "garden", "house"][i // 3 % 3]
        object_ = ["(NP (DT a) (NN song))", f"(NP (NP (DT a) (NN song)) (PP (IN of) (NP (DT the) (NN {place}))))"][i % 2]
        out.append(f"(ROOT (S (NP-SBJ (DT the) (NN {noun})) (VP (VBZ {verb}) {object_}) (. .)))\n")
    return "".join(out)


def has_real(sets):
    return sets.source is not None and (sets.source / "gum-trees").is_dir()


def text_of(sets, name, every):
    if not has_real(sets):
        return made_up(200 if name == "train" else 30)
    with gzip.open(sets.source / f"gum-trees/{name}.mrg.gz", "rt", encoding="utf-8") as file:
        return "".join(file.readlines()[::every])


def prepared(program, sets):
    folder = Path(program.folder.name)
    model, test = folder / "constituency.lineal", folder / "constituency-test.mrg"
    if not model.exists():
        train = folder / "constituency-train.mrg"
        train.write_text(text_of(sets, "train", 10), encoding="utf-8")
        test.write_text(text_of(sets, "test", 10), encoding="utf-8")
        program.output("train", train, *TASK, *QUICK, "-o", model, "--quiet")
    return folder, model, test


def metrics(checks, program, sets):
    """`eval` says what one counts from the output of `predict`."""
    _, model, test = prepared(program, sets)
    told = json.loads(program.output("eval", model, test, "--json", "--quiet"))
    gold = [parse(line) for line in test.read_text(encoding="utf-8").splitlines()]
    found = [parse(line) for line in program.output("predict", model, test, "--quiet").splitlines()]
    checks.that([g[:2] for g in gold] == [f[:2] for f in found], "the same words and tags")
    for key, value in score([g[2] for g in gold], [f[2] for f in found]).items():
        checks.close(told[key], value, 1e-12, key)


def raw(checks, program, sets):
    """Sentences without tags get trees over the same words; a drawing has them all."""
    folder, model, test = prepared(program, sets)
    gold = [parse(line)[0] for line in test.read_text(encoding="utf-8").splitlines()][:40]
    path = folder / "raw.txt"
    path.write_text("".join(" ".join(words) + "\n" for words in gold), encoding="utf-8")
    found = [parse(line)[0] for line in program.output("predict", model, path, "--quiet").splitlines()]
    checks.that(found == gold, "the same words")
    drawn = program.output("predict", model, path, "--draw", "--quiet")
    checks.that(all(word in drawn for word in gold[0]), "drawn", drawn[:500])


def probabilities(checks, program, sets):
    """A CRF's trees: the best first, phrases at least as probable as the tree."""
    folder, _, _ = prepared(program, sets)
    train, model = folder / "crf-train.mrg", folder / "crf.lineal"
    train.write_text(made_up(40), encoding="utf-8")
    report = json.loads(program.output("train", train, *TASK, "--loss", "logistic", "--hash", 14, "-o", model, "--json", "--quiet"))
    checks.that(report["gap"] is not None, "a certificate", report["certificate"])
    rows = program.output("predict", model, train, "--proba", "--n-best", 3, "--output", "jsonl", "--quiet").splitlines()
    for row in map(json.loads, rows[:10]):
        ranked = [tree["probability"] for tree in row["n_best"]]
        checks.that(ranked == sorted(ranked, reverse=True) and abs(ranked[0] - row["probability"]) < 1e-9, "n-best", str(ranked))
        by_phrase = {(p["label"], p["start"], p["end"]): p["probability"] for p in row["proba"]}
        least = min(by_phrase[p["label"], p["start"], p["end"]] for p in row["phrases"])
        checks.that(least >= row["probability"] - 1e-9, "phrases are at least as probable", str(least))


GOOD = "(S (NP (DT the) (NN dog)) (VP (VBZ barks)))\n"
MALFORMED = [
    ("an empty file", "", None, "empty"),
    ("a bracket that is not closed", GOOD + "(S (NP (DT the)\n", None, "bracket"),
    ("a bracket too many", GOOD + "(S (NN dog)))\n", 2, "closes nothing"),
    ("an empty tree", GOOD + "()\n", 2, ""),
    ("a phrase without words", GOOD + "(S (NP))\n", 2, ""),
    ("text after a tree", GOOD + "(S (NN dog)) dog\n", 2, ""),
]


def malformed(checks, program, sets):
    """Each mistake gets its message with the line; deep nesting neither breaks nor hangs."""
    folder = Path(program.folder.name)
    path, model = folder / "malformed.mrg", folder / "malformed.lineal"
    for what, text, line, word in MALFORMED:
        path.write_text(text)
        done = program.run("train", path, *TASK, *QUICK, "-o", model, "--quiet")
        place = f"malformed.mrg:{line}" if line else "malformed.mrg"
        told = done.stderr.strip()
        checks.that(done.returncode == 1 and place in told and word in told, what, f"exit code {done.returncode}: {told}")
        checks.that(not model.exists() and "panicked" not in told, f"{what}: nothing is written", told)
    path.write_text("(S " * 100_000 + "(NN dog)" + ")" * 100_000 + "\n")
    done = program.run("train", path, *TASK, *QUICK, "-o", model, "--quiet")
    checks.that(done.returncode == 1 and "malformed.mrg:1" in done.stderr, "100,000 phrases over a word", done.stderr)


def accuracy(checks, program, sets):
    """What gum-trees must reach on its test set, by `train --test` and by counting."""
    if not has_real(sets):
        return
    train, test = sets.source / "gum-trees/train.mrg.gz", sets.source / "gum-trees/test.mrg.gz"
    model = Path(program.folder.name) / "gum.lineal"
    out = program.output("train", train, *TASK, *FAST, "-o", model, "--test", test, "--threads", 2, "--json", "--quiet")
    told = json.loads(out)["test"]
    checks.that(told["short"]["f1"] >= F1, f"F1 ≥ {F1}", str(told["short"]["f1"]))
    with gzip.open(test, "rt", encoding="utf-8") as file:
        gold = [parse(line) for line in file]
    found = [parse(line) for line in program.output("predict", model, test, "--quiet").splitlines()]
    short = [(g[2], f[2]) for g, f in zip(gold, found) if len(g[0]) <= 40]
    checks.close(told["short"]["f1"], score(*zip(*short))["f1"], 1e-12, "F1 as counted")


TESTS = {
    "constituency: metrics": metrics,
    "constituency: raw sentences": raw,
    "constituency: probabilities": probabilities,
    "constituency: malformed": malformed,
    "constituency: accuracy": accuracy,
}
