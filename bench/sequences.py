#!/usr/bin/env python3
"""Sequences against CRFsuite and Wapiti: speed at the same epochs and at the same objective, tagging, memory, accuracy.

    python3 bench/sequences.py [--name NAME] [--data DIR] [--lineal PATH] [--repeat N] [--part perceptron,crf,wapiti,tagging,accuracy]

Prints tables and writes bench/record/DATE-NAME.md. See bench/README.md for what the figures mean.
"""

import gzip
import json
import sys
import time

import frame
import sequence_wapiti
from frame import HERE

PARTS = ("perceptron", "crf", "wapiti", "tagging", "accuracy")
# The template for chunking that CRF++ ships: (column, offset) of each row.
TEMPLATE = [[(0, o)] for o in range(-2, 3)] + [[(0, -1), (0, 0)], [(0, 0), (0, 1)]] + [[(1, o)] for o in range(-2, 3)] + [
    [(1, o), (1, o + 1)] for o in range(-2, 2)] + [[(1, o), (1, o + 1), (1, o + 2)] for o in range(-2, 1)]
TOLERANCES = ("0.1", "0.05", "0.03", "0.02", "0.01", "0.005", "0.002", "0.001")


def main():
    args = frame.parser(__doc__, "sequences", PARTS).parse_args()
    frame.enter(args)
    import measure

    prepare(args.data, HERE / "data")
    with measure.Bench(args.lineal, HERE / "data", args.repeat) as bench:
        suite = Suite(bench)
        for part in args.part.split(","):
            getattr(suite, part)()
    frame.record(args, "Sequences", suite.lines, "CRFsuite and Wapiti run once.")


def prepare(source, folder):
    """Unpacks the sets, and writes CRFsuite's attributes and CRF++'s template for the chunks."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, paths in {"conll2000": ("train.conll", "test.conll"), "ewt": ("train.conllu", "dev.conllu", "test.conllu"),
                        "ocr": ("fold0.crfsuite", "folds1-9.crfsuite")}.items():
        for path in paths:
            out = folder / f"{name}-{path}"
            if not out.exists():
                out.write_bytes(gzip.decompress((source / name / f"{path}.gz").read_bytes()))
    rows = ["U%02d:" % i + "/".join(f"%x[{o},{c}]" for c, o in row) for i, row in enumerate(TEMPLATE)]
    (folder / "chunk.tpl").write_text("\n".join([*rows, "B", ""]))
    for name in ("train", "test"):
        out = folder / f"conll2000-{name}.crfsuite"
        if not out.exists():
            out.write_text("".join(attributes(sentence) for sentence in columns(folder / f"conll2000-{name}.conll")))


def columns(path):
    sentence = []
    for line in path.read_text().split("\n"):
        if line.strip():
            sentence.append(line.split())
        elif sentence:
            yield sentence
            sentence = []


def attributes(sentence):
    def cell(t, column):
        if t < 0:
            return f"_B{t}"
        return sentence[t][column] if t < len(sentence) else f"_B+{t - len(sentence) + 1}"

    lines = []
    for t, token in enumerate(sentence):
        fields = ("U%02d=" % i + "/".join(cell(t + o, c) for c, o in row) for i, row in enumerate(TEMPLATE))
        lines.append("\t".join([token[-1], *fields]))
    return "\n".join(lines) + "\n\n"


class Suite(frame.Tables):
    def __init__(self, bench):
        super().__init__()
        self.bench = bench
        self.n_sentences = sum(1 for _ in columns(bench.data / "conll2000-train.conll"))

    def crfsuite(self, **job):
        path = self.bench.temp / "job.json"
        path.write_text(json.dumps({"train": str(self.bench.data / "conll2000-train.crfsuite"), "model": str(self.bench.temp / "crfsuite.model"), **job}))
        done = self.bench.run([sys.executable, HERE / "sequence_peer.py", path])
        return {**json.loads(done["stdout"].splitlines()[-1]), "rss_mb": done["rss_mb"]}

    def train(self, train, *flags, threads=1, test=None, repeat=1):
        """Runs of `lineal train`, from the raw file to the saved model; the least wall time of several."""
        runs = []
        extra = ["--test", self.bench.data / test] if test else []
        command = [self.bench.lineal, "train", self.bench.data / train, "--task", "tag", "-o", self.bench.temp / "m.lineal",
                   "--threads", str(threads), "--json", "--quiet", *flags, *extra]
        for _ in range(repeat):
            start = time.perf_counter()
            done = self.bench.run(command)
            wall = time.perf_counter() - start
            runs.append({**json.loads(done["stdout"]), "wall": wall, "rss_mb": done["rss_mb"]})
        return min(runs, key=lambda run: run["wall"])

    def chunk(self, *flags, **options):
        return self.train("conll2000-train.conll", "--template", self.bench.data / "chunk.tpl", *flags, **options)

    def perceptron(self):
        self.table("Averaged perceptron, 20 epochs, CoNLL-2000, raw file to saved model, one thread", ("", "wall s", "MB", "ratio"))
        theirs = self.crfsuite(what="train", algorithm="averaged-perceptron", params={"max_iterations": 20})
        ours = self.chunk("--loss", "perceptron", "--epochs", "20", repeat=self.bench.repeat)
        self.say(f"| CRFsuite | {theirs['wall']:.2f} (reading {theirs['read']:.2f}) | {theirs['rss_mb']:.0f} | |")
        self.say(f"| Lineal | {ours['wall']:.2f} | {ours['rss_mb']:.0f} | {theirs['wall'] / ours['wall']:.1f} |")

    def crf(self):
        self.table("CRF, c2 = 1, the same features (observed, no boundary weights), to within 0.1 % of CRFsuite's objective at convergence",
                   ("", "threads", "wall s", "MB", "Σ loss + c2‖w‖²", "ratio"))
        theirs = self.crfsuite(what="train", algorithm="lbfgs", params={"c2": 1.0, "max_iterations": 1000})
        self.say(f"| CRFsuite, {theirs['iterations']} iterations | 1 | {theirs['wall']:.2f} (reading {theirs['read']:.2f}) | {theirs['rss_mb']:.0f} | {theirs['loss']:.1f} | |")
        flags = ("--loss", "logistic", "--label-weights", "observed", "--no-ends", "--l2", repr(2 / self.n_sentences))
        for tol in TOLERANCES:
            run = self.chunk(*flags, "--tol", tol, threads=2)
            if run["objective"] * self.n_sentences <= 1.001 * theirs["loss"]:
                break
        for threads in (1, 2):
            ours = self.chunk(*flags, "--tol", tol, threads=threads, repeat=self.bench.repeat)
            self.say(f"| Lineal --tol {tol}, {ours['passes']} passes | {threads} | {ours['wall']:.2f} | {ours['rss_mb']:.0f} "
                     f"| {ours['objective'] * self.n_sentences:.1f} | {theirs['wall'] / ours['wall']:.1f} |")

    def wapiti(self):
        self.table("CRF, rho2 = 2, weights for all labels, to within 0.1 % of the objective at which Wapiti's L-BFGS ends; one thread",
                   ("", "wall s", "CPU s", "MB", "Σ loss + ‖w‖²", "ratio of CPU s"))
        program = sequence_wapiti.program(HERE / "data")
        if program is None:
            return self.say("| Wapiti: its source was not there, or did not compile | | | | | |")
        command = [program, "train", "-a", "l-bfgs", "-1", "0", "-2", "2", "-t", "1", "-p", self.bench.data / "chunk.tpl",
                   self.bench.data / "conll2000-train.conll", self.bench.temp / "wapiti.model"]
        theirs = sequence_wapiti.measured(command)
        self.say(f"| Wapiti, {theirs['iterations']} iterations | {theirs['wall']:.1f} | {theirs['cpu']:.1f} | {theirs['mb']:.0f} | {theirs['objective']:.1f} | |")
        flags = ("--loss", "logistic", "--label-weights", "all", "--no-ends", "--l2", repr(2 / self.n_sentences))
        for tol in TOLERANCES:
            run = self.chunk(*flags, "--tol", tol, threads=2)
            if run["objective"] * self.n_sentences <= 1.001 * theirs["objective"]:
                break
        model = self.bench.temp / "m.lineal"
        ours = sequence_wapiti.measured([self.bench.lineal, "train", self.bench.data / "conll2000-train.conll", "--task", "tag", "--template",
                                         self.bench.data / "chunk.tpl", "-o", model, "--threads", "1", "--json", "--quiet", "--tol", tol, *flags])
        self.say(f"| Lineal --tol {tol}, {run['passes']} passes | {ours['wall']:.1f} | {ours['cpu']:.1f} | {ours['mb']:.0f} "
                 f"| {run['objective'] * self.n_sentences:.1f} | {theirs['cpu'] / ours['cpu']:.1f} |")

    def tagging(self):
        self.table("Tagging the training file of CoNLL-2000 from raw tokens, one thread", ("", "seconds", "tokens a second"))
        self.crfsuite(what="train", algorithm="averaged-perceptron", params={"max_iterations": 2})
        theirs = self.crfsuite(what="tag", test=str(self.bench.data / "conll2000-train.crfsuite"), out=str(self.bench.temp / "tags"))
        self.chunk("--loss", "perceptron", "--epochs", "20")
        command = [self.bench.lineal, "predict", self.bench.temp / "m.lineal", self.bench.data / "conll2000-train.conll",
                   "-o", self.bench.temp / "tags", "--threads", "1", "--quiet"]
        seconds = []
        for _ in range(self.bench.repeat):
            start = time.perf_counter()
            self.bench.run(command)
            seconds.append(time.perf_counter() - start)
        self.say(f"| CRFsuite, tagging alone | {theirs['wall']:.2f} | {theirs['tokens'] / theirs['wall'] / 1e6:.2f} M |")
        self.say(f"| Lineal, the whole process | {min(seconds):.2f} | {theirs['tokens'] / min(seconds) / 1e6:.2f} M |")

    def accuracy(self):
        self.table("Accuracy", ("set", "features", "learner", "figure", "train s"))
        test = "conll2000-test.conll"
        n = self.n_sentences
        for name, flags in (("averaged perceptron", ("--loss", "perceptron")), ("SVM, C = 0.1", ("--loss", "hinge", "-C", "0.1")),
                            ("SVM, Pegasos", ("--loss", "hinge", "--solver", "sgd", "--l2", repr(2 / n))),
                            ("CRF, c2 = 1", ("--loss", "logistic", "--l2", repr(2 / n)))):
            run = self.chunk(*flags, test=test, threads=2)
            self.say(f"| CoNLL-2000 | template of 19 rows | {name} | span F1 {100 * run['test']['span_f1']:.2f} | {run['wall']:.1f} |")
            legal = self.chunk(*flags, "--scheme", "bio", test=test, threads=2)
            told = f"span F1 {100 * legal['test']['span_f1']:.2f}, {legal['test']['illegal']} illegal"
            self.say(f"| CoNLL-2000 | template of 19 rows | {name}, --scheme bio | {told} | {legal['wall']:.1f} |")
        run = self.train("conll2000-train.conll", "--features", "rich", "-C", "0.5", test=test, threads=2)
        self.say(f"| CoNLL-2000 | rich | CRF, C = 0.5 | span F1 {100 * run['test']['span_f1']:.2f} | {run['wall']:.1f} |")
        letters = (("folds1-9", "fold0", "averaged perceptron", ("--loss", "perceptron")),
                   ("folds1-9", "fold0", "PA, 0.01", ("--loss", "hinge", "--passive-aggressive", "0.01")),
                   ("fold0", "folds1-9", "CRF, C = 0.5", ("-C", "0.5")))
        for train, test, name, flags in letters:
            run = self.train(f"ocr-{train}.crfsuite", *flags, test=f"ocr-{test}.crfsuite", threads=2)
            self.say(f"| OCR {train} → {test} | pixels | {name} | letter error {100 * (1 - run['test']['token_accuracy']):.2f} % | {run['wall']:.1f} |")
        updates = ("--loss", "hinge", "--passive-aggressive", "0.1", "--epochs", "12", "--label-weights", "all")
        for name, flags in (("PA, 0.1", ()), ("PA, 0.1, order 2", ("--order", "2"))):
            run = self.train("ewt-train.conllu", "--features", "rich", *updates, *flags, test="ewt-test.conllu", threads=2)
            self.say(f"| EWT universal tags | rich | {name} | accuracy {100 * run['test']['token_accuracy']:.2f} | {run['wall']:.1f} |")


if __name__ == "__main__":
    main()
