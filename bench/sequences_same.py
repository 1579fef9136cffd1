#!/usr/bin/env python3
"""The CRF to CRFsuite's last objective with the same features, L2 and L1, on several sets, some with very long sequences.

    python3 bench/sequences_same.py [--name NAME] [--data DIR] [--lineal PATH] [--repeat N] [--part chunks,tags,letters,long] [--threads 1,2]

CPU seconds of CRFsuite and wall seconds of Lineal from the same attribute file to the saved model. Lineal runs at the loosest `--tol` whose objective is within 1e-4 of CRFsuite's last one; where none is, at the tightest, and the
objective says so. Prints a table, the worst ratio first in the record, and writes bench/record/DATE-NAME.md.
"""

import json
import sys
import time

import frame
import sequences
from frame import HERE

PARTS = ("chunks", "tags", "letters", "long")
TOLERANCES = ("0.03", "0.01", "0.005", "0.002", "0.001", "0.0005", "0.0002")
PENALTIES = {"L2": {"c1": 0.0, "c2": 1.0}, "L1": {"c1": 1.0, "c2": 0.0}}
# Tokens of the sequences that `long` joins sentences to.
LONG = (1000, 1250, 1500, 2000, 2500)


def main():
    parser = frame.parser(__doc__, "sequences-same", PARTS)
    parser.add_argument("--threads", default="1,2", help="of Lineal")
    parser.add_argument("--penalty", default=",".join(PENALTIES), help="which penalties")
    args = parser.parse_args()
    frame.enter(args)
    import measure

    folder = HERE / "data"
    sequences.prepare(args.data, folder)
    with measure.Bench(args.lineal, folder, args.repeat) as bench:
        rows = [row for part in args.part.split(",") for penalty in args.penalty.split(",") for row in compared(bench, part, penalty, args.threads.split(","))]
    tables = frame.Tables()
    tables.table(None, ("set", "penalty", "threads", "CRFsuite CPU s", "its objective", "Lineal s", "objective", "--tol", "passes", "ratio"))
    for _, line in sorted(rows):
        tables.say(line)
    frame.record(args, "CRF with CRFsuite's features", tables.lines, "CRFsuite runs once. Worst ratio first.")


def attributes_of(part, folder):
    """The attribute file of a set."""
    if part == "letters":
        return folder / "ocr-folds1-9.crfsuite"
    if part == "chunks":
        return folder / "conll2000-train.crfsuite"
    path = folder / f"{part}.crfsuite"
    if not path.exists() and part == "long":
        sentences = joined(list(sequences.columns(folder / "conll2000-train.conll")))
        path.write_text("".join(map(sequences.attributes, sentences)))
    elif not path.exists():
        path.write_text("".join(map(tag_attributes, treebank(folder / "ewt-train.conllu"))))
    return path


def joined(sentences):
    """The same sentences, the first of them joined to a few long sequences, which then stand among the others."""
    long, at = [], 0
    for length in LONG:
        one = []
        while len(one) < length:
            one += sentences[at]
            at += 1
        long.append(one)
    rest = sentences[at:]
    for i, one in enumerate(long):
        rest.insert((i + 1) * len(rest) // (len(long) + 1), one)
    return rest


def treebank(path):
    sentence = []
    for line in path.read_text().split("\n"):
        if not line.strip() and sentence:
            yield sentence
            sentence = []
        elif line.strip() and line[0] != "#" and line.split("\t")[0].isdigit():
            fields = line.split("\t")
            sentence.append((fields[1], fields[3]))


def tag_attributes(sentence):
    """Words, prefixes, suffixes and neighbours; colons and backslashes mean something else to CRFsuite."""
    lines = []
    for t, (word, tag) in enumerate(sentence):
        names = [f"w={word}", f"l={word.lower()}", "bias", *(f"p{n}={word[:n]}" for n in (1, 2, 3)), *(f"s{n}={word[-n:]}" for n in (1, 2, 3))]
        names += [name for name, has in (("upper", word[:1].isupper()), ("capitals", word.isupper()), ("digit", any(map(str.isdigit, word))), ("hyphen", "-" in word)) if has]
        names += [f"w{o}=" + (sentence[t + o][0].lower() if 0 <= t + o < len(sentence) else "_") for o in (-2, -1, 1, 2)]
        lines.append("\t".join([tag, *(name.replace(":", "_c_").replace("\\", "_b_") for name in names)]))
    return "\n".join(lines) + "\n\n"


def compared(bench, part, penalty, threads):
    """A row for each number of threads, with its ratio to sort by."""
    path, params = attributes_of(part, bench.data), PENALTIES[penalty]
    job = bench.temp / "job.json"
    job.write_text(json.dumps({"what": "train", "train": str(path), "model": str(bench.temp / "crfsuite.model"), "algorithm": "lbfgs", "params": {**params, "max_iterations": 1000}}))
    theirs = json.loads(bench.run([sys.executable, HERE / "sequence_peer.py", job])["stdout"].splitlines()[-1])
    n = sum(1 for line in path.open() if not line.strip())

    def ours(tol, threads):
        command = [bench.lineal, "train", path, "--task", "tag", "-o", bench.temp / "m.lineal", "--threads", threads, "--json", "--quiet", "--loss", "logistic", "--label-weights", "observed",
                   "--no-ends", "--l2", repr(2 * params["c2"] / n), "--l1", repr(params["c1"] / n), "--tol", tol, "--max-passes", "1000"]
        start = time.perf_counter()
        run = json.loads(bench.run(command)["stdout"])
        return time.perf_counter() - start, run

    for tol in TOLERANCES:
        if ours(tol, threads[-1])[1]["objective"] * n <= (1 + 1e-4) * theirs["loss"]:
            break
    for count in threads:
        seconds, run = min((ours(tol, count) for _ in range(bench.repeat)), key=lambda pair: pair[0])
        ratio = theirs["cpu"] / seconds
        yield ratio, (f"| {part} | {penalty} | {count} | {theirs['cpu']:.1f}, {theirs['iterations']} iterations | {theirs['loss']:.1f} | {seconds:.2f} | {run['objective'] * n:.1f} "
                      f"| {tol} | {run['passes']} | {ratio:.1f} |")


if __name__ == "__main__":
    main()
