#!/usr/bin/env python3
"""Constituency parsing on gum-trees: F1 of every learner and grammar, training, parsing speed, memory and size of models.

    python3 bench/constituency.py [--name NAME] [--data DIR] [--lineal PATH] [--repeat N] [--part learners,grammars,parsing,size]

Gold tags, functions cut, punctuation counted, sentences of up to 40 words of the dev part; the last table is of the test part. No parser of this kind is on PyPI: the anchors are those of a plain grammar read off the same
trees (66.1 with h = 0, v = 1; 77.8 with h = 1, v = 2).

Prints tables and writes bench/record/DATE-NAME.md. See bench/README.md for what the figures mean.
"""

import gzip
import json

import frame
from frame import HERE

PARTS = ("learners", "grammars", "parsing", "size")
LEARNERS = {
    "passive–aggressive with cost (default)": (),
    "averaged perceptron": ("--loss", "perceptron", "--epochs", "8"),
    "structured SVM by stochastic steps": ("--loss", "hinge", "--solver", "sgd", "--epochs", "8"),
    "CRF by stochastic steps": ("--loss", "logistic", "--solver", "sgd", "--epochs", "8"),
}
GRAMMARS = ((0, 1), (0, 2), (1, 1), (1, 2))
SIZES = ("20MB", "5MB")


def main():
    args = frame.parser(__doc__, "constituency", PARTS).parse_args()
    frame.enter(args)
    import measure

    for name in ("train", "dev", "test"):
        out = HERE / "data" / f"gum-{name}.mrg"
        if not out.exists():
            out.parent.mkdir(exist_ok=True)
            out.write_bytes(gzip.decompress((args.data / "gum-trees" / f"{name}.mrg.gz").read_bytes()))
    with measure.Bench(args.lineal, HERE / "data", args.repeat) as bench:
        suite = Suite(bench)
        for part in args.part.split(","):
            getattr(suite, part)()
    frame.record(args, "Constituency parsing", suite.lines)


class Suite(frame.Tables):
    def __init__(self, bench):
        super().__init__()
        self.bench = bench

    def train(self, *flags, test="dev"):
        data = self.bench.data
        command = [self.bench.lineal, "train", data / "gum-train.mrg", "--task", "constituency", "-o", self.bench.temp / "m.lineal",
                   "--test", data / f"gum-{test}.mrg", "--threads", "2", "--json", "--quiet", *flags]
        done = self.bench.run(command)
        return {**json.loads(done["stdout"]), "rss_mb": done["rss_mb"], "cpu": done["cpu"]}

    def rows(self, settings):
        for name, flags in settings:
            run = self.train(*flags)
            short = run["test"]["short"]
            self.say(f"| {name} | {100 * short['f1']:.2f} | {100 * short['exact']:.2f} | {run['seconds']['train']:.0f} | {run['rss_mb']:.0f} | {run['model_bytes'] / 1e6:.1f} |")

    def learners(self):
        self.table("Learners, gum-trees dev, two threads", ("", "F1", "exact", "train s", "MB", "model MB"))
        self.rows(LEARNERS.items())

    def grammars(self):
        self.table("Grammars, gum-trees dev, two threads", ("", "F1", "exact", "train s", "MB", "model MB"))
        self.rows((f"h = {h}, v = {v}", ("--horizontal", str(h), "--vertical", str(v))) for h, v in GRAMMARS)

    def parsing(self):
        self.table("The default, gum-trees test; parsing on one thread, the whole process", ("F1 up to 40 words", "F1", "sentences per CPU second", "MB"))
        run = self.train(test="test")
        data = self.bench.data / "gum-test.mrg"
        command = [self.bench.lineal, "predict", self.bench.temp / "m.lineal", data, "-o", self.bench.temp / "out.mrg", "--threads", "1", "--quiet"]
        best = min((self.bench.run(command) for _ in range(self.bench.repeat)), key=lambda run: run["cpu"])
        n = len(data.read_text(encoding="utf-8").splitlines())
        self.say(f"| {100 * run['test']['short']['f1']:.2f} | {100 * run['test']['f1']:.2f} | {n / best['cpu']:.0f} | {best['rss_mb']:.0f} |")

    def size(self):
        self.table("Models of at most so many bytes, gum-trees dev", ("", "F1 before", "F1 after", "model MB"))
        for size in SIZES:
            run = self.train("--max-size", size)
            shrunk = run.get("shrunk") or {"before": float("nan"), "after": float("nan")}
            self.say(f"| {size} | {100 * shrunk['before']:.2f} | {100 * shrunk['after']:.2f} | {run['model_bytes'] / 1e6:.1f} |")


if __name__ == "__main__":
    main()
