"""Sequences: the CRF's objective and marginals against python-crfsuite, spans against a count of our own, accuracy on published sets."""

import gzip
import json

import pycrfsuite

C2 = 1.0


def sentences(path, every=1):
    """Lists of columns; every so many of them."""
    opened = gzip.open(path, "rt") if str(path).endswith(".gz") else open(path)
    with opened as file:
        blocks = [block for block in file.read().split("\n\n") if block.strip()]
    return [[line.split() for line in block.strip().split("\n")] for block in blocks[::every]]


def made_up(n):
    """Where there is no real set: chunks of a tiny grammar."""
    out = []
    for i in range(n):
        noun, verb = ["dog", "cat", "bank", "park"][i % 4], ["barks", "sleeps", "rose", "fell"][i // 2 % 4]
        one = [["the", "DT", "B-NP"]]
        if i % 3 == 0:
            one.append(["old" if i % 5 else "park", "JJ", "I-NP"])
        one += [[noun, "NN", "I-NP"], [verb, "VB", "B-VP"]]
        if i % 2 == 0:
            # Now and then a label that nothing announces, so that every tagger makes mistakes.
            one += [["in", "IN", "B-PRT" if i % 9 == 4 else "B-PP"], [noun if i % 7 == 0 else "Paris", "NNP", "B-NP"]]
        out.append(one + [[".", ".", "O"]])
    return out


def has_real(sets):
    return sets.source is not None and (sets.source / "conll2000").is_dir()


def chunks(sets):
    """A sample to train on and one to test on."""
    if has_real(sets):
        return sentences(sets.source / "conll2000/train.conll.gz", 25), sentences(sets.source / "conll2000/test.conll.gz", 40)
    return made_up(200), made_up(37)


def attributes(sentence):
    """Words and parts of speech of three tokens, one with a colon and one with a value."""
    rows = []
    for t, (word, tag, *_) in enumerate(sentence):
        row = {f"w={word}": 1.0, f"t={tag}": 1.0, "length": len(word) / 8.0}
        if t > 0:
            row[f"t-1:{sentence[t - 1][1]}"] = 1.0
        if t + 1 < len(sentence):
            row[f"t+1={sentence[t + 1][1]}"] = 1.0
        rows.append(row)
    return rows


def escaped(name):
    return name.replace("\\", "\\\\").replace(":", "\\:")


def write_crfsuite(path, data):
    with open(path, "w") as out:
        for sentence in data:
            for token, row in zip(sentence, attributes(sentence)):
                fields = "\t".join(f"{escaped(name)}:{value!r}" for name, value in row.items())
                out.write(f"{token[-1]}\t{fields}\n")
            out.write("\n")


class Log(pycrfsuite.Trainer):
    """Keeps the last objective that CRFsuite tells."""

    def message(self, message):
        if message.startswith("Loss: "):
            self.loss = float(message.split()[1])


def peer(folder, data):
    trainer = Log(verbose=True)
    for sentence in data:
        trainer.append(attributes(sentence), [token[-1] for token in sentence])
    trainer.select("lbfgs")
    trainer.set_params({"c1": 0.0, "c2": C2, "max_iterations": 5000, "epsilon": 1e-7, "delta": 1e-12, "period": 20})
    path = f"{folder}/peer.crfsuite"
    trainer.train(path)
    tagger = pycrfsuite.Tagger()
    tagger.open(path)
    return trainer.loss, tagger


def objective_and_marginals(checks, program, sets):
    """The same features, penalty and weights: the same optimum, and the same probability of each label at each token."""
    train, test = chunks(sets)
    folder = program.folder.name
    write_crfsuite(f"{folder}/train.crfsuite", train)
    write_crfsuite(f"{folder}/test.crfsuite", test)
    loss, tagger = peer(folder, train)
    n = len(train)
    # The objective is flat around the optimum: for marginals to agree to 1e-5 it must be met to about 1e-11.
    for solver, tol in (("lbfgs", 1e-12), ("dual", 1e-7)):
        model = f"{folder}/tags-{solver}.lineal"
        flags = ["--task", "tag", "--loss", "logistic", "--l2", 2 * C2 / n, "--label-weights", "observed", "--no-ends", "--bias", "none"]
        flags += ["--solver", solver, "--tol", tol, "--max-passes", 5000]
        report = json.loads(program.output("train", f"{folder}/train.crfsuite", "-o", model, *flags, "--json", "--quiet"))
        checks.close(report["objective"], loss / n, 1e-6, f"CRF objective, {solver}")
        if solver == "dual":
            checks.that(report["objective"] - report["gap"] <= loss / n * (1 + 1e-7), "the gap is a bound", str(report["gap"]))
            continue
        off = 0.0
        out = program.output("predict", model, f"{folder}/test.crfsuite", "--proba", "--output", "jsonl", "--quiet")
        for line, sentence in zip(out.splitlines(), test):
            tagger.set(attributes(sentence))
            for t, row in enumerate(json.loads(line)["proba"]):
                off = max(off, max(abs(tagger.marginal(label, t) - p) for label, p in row.items()))
        checks.that(off <= 1e-5, f"CRF marginals, {solver}", f"the largest difference is {off:.2e}")


def spans_of(labels):
    """(start, end, type) by the rules of conlleval, read from its description."""
    found, open_at = set(), None
    for t, label in enumerate([*labels, "O"]):
        before = labels[t - 1] if t > 0 else "O"
        place, kind = (label.split("-", 1) + [""])[:2]
        place_before, kind_before = (before.split("-", 1) + [""])[:2]
        goes_on = place == "I" and place_before in "BI" and kind == kind_before and open_at is not None
        if open_at is not None and not goes_on:
            found.add((open_at, t, kind_before))
            open_at = None
        if place in "BI" and not goes_on:
            open_at = t
    return found


def metrics(checks, program, sets):
    """Precision, recall, F1 and accuracies of `eval` are those that one counts from the output of `predict`."""
    train, test = chunks(sets)
    folder = program.folder.name
    for name, data in (("train", train), ("test", test)):
        with open(f"{folder}/{name}.conll", "w") as out:
            out.write("\n".join("\n".join(" ".join(token) for token in s) + "\n" for s in data))
    # Words alone and few passes: there must be mistakes, and illegal spans among them.
    flags = ["--task", "tag", "--features", "suffix:2", "--loss", "perceptron", "--epochs", 2, "--quiet"]
    program.output("train", f"{folder}/train.conll", "-o", f"{folder}/spans.lineal", *flags)
    told = json.loads(program.output("eval", f"{folder}/spans.lineal", f"{folder}/test.conll", "--json", "--quiet"))
    tagged = program.output("predict", f"{folder}/spans.lineal", f"{folder}/test.conll", "--quiet")
    gold = found = right = tokens = right_tokens = right_sentences = 0
    blocks = [block for block in tagged.split("\n\n") if block.strip()]
    for block in blocks:
        pairs = [line.split()[-2:] for line in block.strip().split("\n")]
        a, b = spans_of([p[0] for p in pairs]), spans_of([p[1] for p in pairs])
        gold, found, right = gold + len(a), found + len(b), right + len(a & b)
        same = sum(x == y for x, y in pairs)
        tokens, right_tokens, right_sentences = tokens + len(pairs), right_tokens + same, right_sentences + (same == len(pairs))
    p, r = right / found, right / gold
    for key, value in {
        "span_precision": p,
        "span_recall": r,
        "span_f1": 2 * p * r / (p + r),
        "token_accuracy": right_tokens / tokens,
        "sentence_accuracy": right_sentences / len(blocks),
    }.items():
        checks.close(told[key], value, 1e-12, key)
    checks.that(told["span_f1"] < 1.0, "there are mistakes to count", str(told["span_f1"]))


def accuracy(checks, program, sets):
    """What published sets must reach, and legal spans at no lower F1."""
    if not has_real(sets):
        return
    data = sets.source
    chunk = (data / "conll2000/train.conll.gz", data / "conll2000/test.conll.gz")
    small, large = data / "ocr/fold0.crfsuite.gz", data / "ocr/folds1-9.crfsuite.gz"
    ewt = (data / "ewt/train.conllu.gz", data / "ewt/test.conllu.gz")
    reached = {}
    for name, (train, test), flags, metric, least in cases(chunk, small, large, ewt):
        model = f"{program.folder.name}/accuracy.lineal"
        out = program.output("train", train, "--task", "tag", "-o", model, "--test", test, "--json", "--quiet", *flags)
        report = json.loads(out)
        reached[name] = report["test"]
        checks.that(report["test"][metric] >= least, f"{name}: {metric} ≥ {least}", str(report["test"][metric]))
    for loss in CHUNKS:
        free, legal = reached[f"chunks, {loss}"], reached[f"chunks, {loss}, bio"]
        checks.that(legal["illegal"] == 0, f"{loss}: no illegal span", str(legal["illegal"]))
        told = f"{legal['span_f1']} and {free['span_f1']} without"
        checks.that(legal["span_f1"] >= free["span_f1"], f"{loss}: F1 with --scheme bio", told)


# Flags, and the least F1 with the template of 19 rows. The hinge stops within 1 % of its optimum, and where it stands there depends on the order of the sentences and on roundings: seeds 0 to 3
# reach .93596, .93631, .93618 and .93626, eight of 23,852 spans apart, and seed 0 reaches .93618 with --tol 3e-3. A least of .936 would test the seed.
CHUNKS = {"perceptron": ([], 0.935), "hinge": (["-C", 0.1], 0.935), "logistic": ([], 0.936)}


def cases(chunk, small, large, ewt):
    """Name, files, flags, metric, the least that it must be. What the flags say was chosen on training data or a dev set (see bench/README.md)."""
    template = ["--features", "word,column:1,window:2"]
    for loss, (flags, least) in CHUNKS.items():
        for scheme in ([], ["--scheme", "bio"]):
            name = f"chunks, {loss}" + (", bio" if scheme else "")
            yield name, chunk, [*template, "--loss", loss, *flags, *scheme], "span_f1", least
    yield "chunks, rich", chunk, ["--features", "rich", "-C", 0.5], "span_f1", 0.941
    yield "letters, folds 1-9 to 0", (large, small), ["--loss", "perceptron"], "token_accuracy", 1 - 0.117
    yield "letters, fold 0 to the others", (small, large), ["-C", 0.5], "token_accuracy", 1 - 0.195
    updates = ["--loss", "hinge", "--passive-aggressive", 0.1, "--epochs", 12, "--label-weights", "all"]
    yield "universal tags", ewt, ["--features", "rich", *updates], "token_accuracy", 0.95


TESTS = {
    "tags: objective and marginals": objective_and_marginals,
    "tags: metrics": metrics,
    "tags: accuracy": accuracy,
}
