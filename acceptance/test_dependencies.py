"""Dependency parsing: `eval` against an evaluation of our own, trees that are trees, what survives a round trip, malformed treebanks, accuracy on EWT."""

import gzip
import json
import subprocess
from collections import Counter
from pathlib import Path

ID, FORM, UPOS, HEAD, DEPREL, MISC = 0, 1, 3, 6, 7, 9
TASK = ["--task", "dependency"]
QUICK = ["--order", 1, "--epochs", 3]

# Flags that were chosen on the dev set, and the least UAS and LAS on the test set: punctuation and subtypes counted, gold tags.
SETTINGS = {
    "first order": (["--order", 1, "--decoder", "projective"], 0.875, 0.858),
    "not projective": (["--decoder", "nonprojective"], 0.865, 0.848),
    "best": (["--order", 2], 0.895, 0.878),
}


def blocks(text):
    """Sentences as lists of lines."""
    return [block.split("\n") for block in text.replace("\r\n", "\n").split("\n\n") if block.strip()]


def words(lines):
    """The rows of the words: neither comments, nor ranges, nor empty nodes."""
    return [line.split("\t") for line in lines if line and line[0] != "#" and line.split("\t")[ID].isdigit()]


def treebank(text):
    return [words(lines) for lines in blocks(text)]


def attachment(gold, predicted):
    """What `eval` should say, counted from two treebanks as the script of the CoNLL 2018 shared task counts, but with subtypes of relations."""
    count, by_relation = Counter(), {}
    assert len(gold) == len(predicted)
    for a, b in zip(gold, predicted):
        assert [row[FORM] for row in a] == [row[FORM] for row in b]
        n_right = 0
        for x, y in zip(a, b):
            head, label = x[HEAD] == y[HEAD], x[DEPREL] == y[DEPREL]
            count.update(tokens=1, uas=head, las=head and label, label_accuracy=label)
            if x[UPOS] != "PUNCT":
                count.update(no_punct=1, uas_no_punct=head, las_no_punct=head and label)
            if x[HEAD] == "0":
                count.update(roots=1, root_accuracy=head)
            for row, key in ((x, "gold"), (y, "found")):
                by_relation.setdefault(row[DEPREL], Counter())[key] += 1
            by_relation[x[DEPREL]]["right"] += head and label
            n_right += head and label
        count.update(sentences=1, exact=n_right == len(a))
    out = {key: count[key] / count["tokens"] for key in ("uas", "las", "label_accuracy")}
    out.update({key: count[key] / count["no_punct"] for key in ("uas_no_punct", "las_no_punct")})
    out.update(root_accuracy=count["root_accuracy"] / count["roots"], exact=count["exact"] / count["sentences"])
    return {**out, "tokens": count["tokens"], "sentences": count["sentences"]}, by_relation


def is_tree(heads):
    """Every word reaches the root, which has one child."""
    for start in range(1, len(heads) + 1):
        at, steps = start, 0
        while at != 0 and steps <= len(heads):
            at, steps = heads[at - 1], steps + 1
        if at != 0:
            return False
    return heads.count(0) == 1


def is_projective(heads):
    """No two arcs cross; the root stands before the first word."""
    arcs = [(min(h, t), max(h, t)) for t, h in enumerate(heads, 1)]
    return not any(a < c < b < d for a, b in arcs for c, d in arcs)


def made_up(n):
    """Where there is no real treebank: sentences of a tiny grammar, with an attachment that the words decide."""
    out = []
    for i in range(n):
        noun, verb = ["dog", "cat", "girl", "man"][i % 4], ["sleeps", "waits", "sings", "eats"][i // 2 % 4]
        place = ["park", "garden", "house"][i // 3 % 3]
        rows = [("the", "DET", 2, "det"), (noun, "NOUN", 3, "nsubj"), (verb, "VERB", 0, "root")]
        if i % 3 == 0:
            rows += [("in", "ADP", 6, "case"), ("the", "DET", 6, "det"), (place, "NOUN", 3, "obl")]
        if i % 3 == 1:
            rows += [("a", "DET", 5, "det"), ("song", "NOUN", 3, "obj"), ("of", "ADP", 7, "case"), (place, "NOUN", 5, "nmod:of")]
        rows.append((".", "PUNCT", 3, "punct"))
        lines = [f"# sent_id = {i}"]
        lines += ["\t".join([str(t), w, w, tag, "_", "_", str(h), rel, "_", "_"]) for t, (w, tag, h, rel) in enumerate(rows, 1)]
        out.append("\n".join(lines) + "\n\n")
    return "".join(out)


def has_real(sets):
    return sets.source is not None and (sets.source / "ewt").is_dir()


def samples(sets):
    """Text to train on and text to test on."""
    if not has_real(sets):
        return made_up(300), made_up(37)

    def sample(name, every):
        with gzip.open(sets.source / f"ewt/{name}.conllu.gz", "rt", encoding="utf-8") as file:
            return "".join("\n".join(lines).rstrip("\n") + "\n\n" for lines in blocks(file.read())[::every])

    return sample("train", 20), sample("test", 20)


def prepared(program, sets):
    """Small files and a model: trained once, used by several groups."""
    folder = Path(program.folder.name)
    model = folder / "dependencies.lineal"
    if not model.exists():
        for name, text in zip(("train", "test"), samples(sets)):
            (folder / f"dependencies-{name}.conllu").write_text(text, encoding="utf-8")
        program.output("train", folder / "dependencies-train.conllu", *TASK, *QUICK, "-o", model, "--quiet")
    return folder, model, folder / "dependencies-test.conllu"


def predicted(program, model, data, *flags):
    """What `predict` writes, as bytes are: text mode would turn line ends."""
    out = Path(program.folder.name) / "parsed.conllu"
    program.output("predict", model, data, "-o", out, "--quiet", *flags)
    return out.read_bytes().decode("utf-8")


def metrics(checks, program, sets):
    """`eval` says what one counts from the output of `predict`."""
    _, model, test = prepared(program, sets)
    told = json.loads(program.output("eval", model, test, "--json", "--quiet"))
    gold, parsed = treebank(test.read_text(encoding="utf-8")), treebank(predicted(program, model, test))
    counted, by_relation = attachment(gold, parsed)
    for key, value in counted.items():
        checks.close(told[key], value, 1e-12, key)
    checks.that(told["uas"] > 0.5, "something was learnt", str(told["uas"]))
    for name, counts in by_relation.items():
        said = told["by_relation"].get(name, {})
        same = all(said.get(key) == counts[key] for key in ("gold", "found", "right"))
        checks.that(same, f"arcs of {name}", f"{said} and {dict(counts)}")
    checks.that(set(told["by_relation"]) == set(by_relation), "relations that occur")
    lengths = told["by_length"]
    checks.that(sum(row["gold"] for row in lengths) == counted["tokens"] - sum(x[HEAD] == "0" for s in gold for x in s), "arcs of all lengths")


def trees(checks, program, sets):
    """Every answer is a tree with one root; of the projective decoder, one without crossing arcs."""
    folder, model, test = prepared(program, sets)
    other = folder / "nonprojective.lineal"
    program.output("train", folder / "dependencies-train.conllu", *TASK, *QUICK, "--decoder", "nonprojective", "-o", other, "--quiet")
    for name, path in (("projective", model), ("nonprojective", other)):
        answers = [[int(row[HEAD]) for row in rows] for rows in treebank(predicted(program, path, test))]
        checks.that(all(map(is_tree, answers)), f"{name}: trees with one root")
        if name == "projective" and not has_real(sets):
            checks.that(all(map(is_projective, answers)), "no arcs cross")
    second = folder / "second.lineal"
    program.output("train", folder / "dependencies-train.conllu", *TASK, "--order", 2, "--decoder", "projective", "--epochs", 2, "-o", second, "--quiet")
    answers = [[int(row[HEAD]) for row in rows] for rows in treebank(predicted(program, second, test))]
    checks.that(all(is_tree(heads) and is_projective(heads) for heads in answers), "order 2: projective trees with one root")


# Everything that is not a word, in two sentences.
ODD = """# newdoc id = x
# sent_id = 1
# text = du pain
1-2\tdu\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No
1\tde\tde\tADP\t_\t_\t3\tcase\t3:case|5:x\t_
2\tle\tle\tDET\t_\tGender=Masc\t3\tdet\t_\tGloss=the
3\tpain\tpain\tNOUN\t_\t_\t0\troot\t_\t_
3.1\t_\t_\tVERB\t_\t_\t_\t_\t0:root\tCopyOf=3
4\t!\t!\tPUNCT\t_\t_\t3\tpunct\t_\t_

# a comment: é, 日本語, and	a tab
1\toui\toui\tINTJ\t_\t_\t0\troot\t_\t_

"""


def round_trip(checks, program, sets):
    """Only the columns HEAD and DEPREL change, whatever else is in the file."""
    folder, model, test = prepared(program, sets)

    def masked(text):
        rows = [line.split("\t") for line in text.split("\n")]
        return [r if r[0].startswith("#") or not r[0].isdigit() else r[:HEAD] + ["", ""] + r[DEPREL + 1:] for r in rows]

    bare = "".join(f"{t}\t{w}" + "\t_" * 8 + "\n" for t, w in enumerate("the dog sleeps .".split(), 1)) + "\n"
    for name, text in {"real": test.read_text(encoding="utf-8"), "odd": ODD, "line ends": ODD.replace("\n", "\r\n"), "only forms": bare}.items():
        path = folder / "odd.conllu"
        path.write_bytes(text.encode())
        out = predicted(program, model, path)
        checks.that(masked(out) == masked(text), f"{name}: all but heads and relations", out[:500])
        checks.that(all(r[HEAD].isdigit() and r[DEPREL] != "_" for rows in treebank(out) for r in rows), f"{name}: each word has a head and a relation")
    (folder / "odd.conllu").write_bytes(ODD.encode().rstrip(b"\n"))
    checks.that(masked(predicted(program, model, folder / "odd.conllu")) == masked(ODD), "no line end at the end")
    with gzip.open(folder / "odd.conllu.gz", "wb") as file:
        file.write(ODD.encode())
    checks.that(masked(predicted(program, model, folder / "odd.conllu.gz")) == masked(ODD), "compressed")
    done = subprocess.run([program.path, "predict", str(model), "-", "--quiet"], input=ODD.encode(), capture_output=True)
    checks.that(masked(done.stdout.decode()) == masked(ODD), "standard input", done.stderr.decode())


def known_heads(checks, program, sets):
    """Heads that are given stay, and the rest is a tree around them."""
    folder, model, test = prepared(program, sets)
    # A projective decoder finds no tree around gold arcs that cross.
    every = [lines for lines in blocks(test.read_text(encoding="utf-8")) if is_projective([int(row[HEAD]) for row in words(lines)])]
    text = "".join("\n".join(lines).rstrip("\n") + "\n\n" for lines in every)
    lines = []
    for line in text.split("\n"):
        row = line.split("\t")
        if row[0].isdigit() and int(row[0]) % 2 == 0:
            row[HEAD] = row[DEPREL] = "_"
        lines.append("\t".join(row))
    path = folder / "known.conllu"
    path.write_text("\n".join(lines), encoding="utf-8")
    gold, parsed = treebank(text), treebank(predicted(program, model, path, "--known"))
    kept = all(x[HEAD] == y[HEAD] for a, b in zip(gold, parsed) for x, y in zip(a, b) if int(x[ID]) % 2 == 1)
    checks.that(kept, "known heads are kept")
    checks.that(all(is_tree([int(row[HEAD]) for row in rows]) for rows in parsed), "and it is a tree")


def probabilities(checks, program, sets):
    """Marginals of arcs are probabilities, and those of right heads are higher."""
    folder, _, test = prepared(program, sets)
    model = folder / "crf.lineal"
    train = folder / "dependencies-train.conllu"
    program.output("train", train, *TASK, "--order", 1, "--loss", "logistic", "--epochs", 3, "-o", model, "--quiet")
    gold, parsed = treebank(test.read_text(encoding="utf-8")), treebank(predicted(program, model, test, "--proba"))
    sure = {True: [], False: []}
    for a, b in zip(gold, parsed):
        for x, y in zip(a, b):
            entries = dict(entry.split("=", 1) for entry in y[MISC].split("|") if "=" in entry)
            sure[x[HEAD] == y[HEAD]].append(float(entries["Prob"]))
    every = sure[True] + sure[False]
    checks.that(all(0.0 <= p <= 1.0 + 1e-9 for p in every), "probabilities are between 0 and 1")
    if sure[False]:
        mean = {right: sum(values) / len(values) for right, values in sure.items()}
        checks.that(mean[True] > mean[False], "right heads are surer than wrong ones", str(mean))


def row(t, head, form="w", deprel="x"):
    return f"{t}\t{form}{t}\t_\tX\t_\t_\t{head}\t{deprel}\t_\t_\n"


GOOD = row(1, 2) + row(2, 0) + "\n"
# What is wrong, the file, the line that the message names, and a word of it.
MALFORMED = [
    ("an empty file", "", None, "empty"),
    ("blank lines alone", "\n" * 1000, None, "no words"),
    ("a cycle", GOOD + row(1, 2) + row(2, 3) + row(3, 1) + row(4, 0), 4, "cycle"),
    ("its own head", GOOD + row(1, 0) + row(2, 2), 5, "its own head"),
    ("no root", GOOD + row(1, 2) + row(2, 1), 4, "root"),
    ("two roots", GOOD + row(1, 0) + row(2, 1) + row(3, 0), 6, "second root"),
    ("a missing head", GOOD + row(1, 0) + row(2, "_"), 5, "no head"),
    ("a head out of range", GOOD + row(1, 0) + row(2, 7), 5, "out of range"),
    ("a huge head", GOOD + row(1, 0) + row(2, "9" * 30), 5, "out of range"),
    ("a head that is not a number", GOOD + row(1, 0) + row(2, "one"), 5, "not a number"),
    ("nine columns", GOOD + row(1, 0) + row(2, 1).replace("\t_\n", "\n"), 5, "9 columns"),
    ("spaces in place of tabs", GOOD + row(1, 0).replace("\t", " "), 4, "tabs"),
    ("words that do not count up", GOOD + row(1, 0) + row(3, 1), 5, "word 3 where word 2"),
    ("a missing blank line", GOOD + row(1, 0) + row(1, 0), 5, "blank line"),
    ("a range that does not fit", GOOD + "1-3\tab" + "\t_" * 8 + "\n" + row(1, 0) + row(2, 1), 4, "multiword token"),
    ("an empty node that does not fit", GOOD + row(1, 0) + "7.1\te" + "\t_" * 8 + "\n", 5, "empty node"),
    ("comments without words", "# x\n\n" + GOOD, 1, "without words"),
]


def malformed(checks, program, sets):
    """Each mistake gets its message with the line, exit code 1, and no model."""
    folder = Path(program.folder.name)
    path, model = folder / "malformed.conllu", folder / "malformed.lineal"
    for what, text, line, word in [*MALFORMED, ("bytes that are not UTF-8", GOOD.encode() + b"1\t\xff", 4, "UTF-8")]:
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        done = program.run("train", path, *TASK, *QUICK, "-o", model, "--quiet")
        place = f"malformed.conllu:{line}:" if line else "malformed.conllu:"
        told = done.stderr.strip()
        checks.that(done.returncode == 1 and place in told and word in told, what, f"exit code {done.returncode}: {told}")
        checks.that(not model.exists() and "panicked" not in told, f"{what}: nothing is written", told)


def accuracy(checks, program, sets):
    """What EWT must reach on its test set, by `train --test` and by counting."""
    if not has_real(sets):
        return
    train, test = sets.source / "ewt/train.conllu.gz", sets.source / "ewt/test.conllu.gz"
    with gzip.open(test, "rt", encoding="utf-8") as file:
        gold = treebank(file.read())
    for name, (flags, uas, las) in SETTINGS.items():
        model = Path(program.folder.name) / f"ewt-{name.replace(' ', '-')}.lineal"
        out = program.output("train", train, *TASK, *flags, "-o", model, "--test", test, "--threads", 2, "--json", "--quiet")
        report = json.loads(out)
        told = report["test"]
        checks.that(told["uas"] >= uas, f"{name}: UAS ≥ {uas}", str(told["uas"]))
        checks.that(told["las"] >= las, f"{name}: LAS ≥ {las}", str(told["las"]))
        counted, _ = attachment(gold, treebank(predicted(program, model, test)))
        for key in ("uas", "las"):
            checks.close(told[key], counted[key], 1e-12, f"{name}: {key} as counted")
        size = model.stat().st_size
        checks.that(size <= 60e6 and size == report["model_bytes"], f"{name}: model of at most 60 MB", str(size))


TESTS = {
    "dependencies: metrics": metrics,
    "dependencies: trees": trees,
    "dependencies: round trip": round_trip,
    "dependencies: known heads": known_heads,
    "dependencies: probabilities": probabilities,
    "dependencies: malformed": malformed,
    "dependencies: accuracy": accuracy,
}
