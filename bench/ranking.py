#!/usr/bin/env python3
"""Learning to rank on MQ2008 (fold 1) against LinearSVC on explicit pairs: time to the same objective, figures of every loss, time in the number of documents.

    python3 bench/ranking.py [--name NAME] [--data DIR] [--lineal PATH] [--repeat N] [--part speed,losses,size]

Speed is CPU seconds on one thread: of Lineal the whole process from the LETOR file to the saved model, of LinearSVC the call of `fit` alone, without reading the file and without making pairs, whose time is
given beside it. Lineal runs at the loosest of some tolerances whose objective is no worse than the peer's at its default tolerance.

Prints tables and writes bench/record/DATE-NAME.md. See bench/README.md for what the figures mean.
"""

import gzip
import json
import sys

import frame
from frame import HERE

PARTS = ("speed", "losses", "size")
LOSSES = {"squared hinge": ("squared-hinge", "squared_hinge"), "hinge": ("hinge", "hinge")}
PENALTIES = (0.001, 0.1, 1)
TOLERANCES = (1e-2, 1e-3, 1e-4, 1e-5, 1e-6)
KINDS = {
    "pairs, squared hinge (default)": (),
    "pairs, hinge": ("--loss", "hinge"),
    "pairs, logistic": ("--loss", "logistic"),
    "softmax": ("--rank", "softmax"),
    "Plackett–Luce": ("--rank", "plackett-luce"),
    "orders, 1 − NDCG": ("--rank", "ndcg"),
    "orders, 1 − AP": ("--rank", "map"),
}
DOCUMENTS = (10_000, 100_000, 1_000_000)


def main():
    args = frame.parser(__doc__, "ranking", PARTS).parse_args()
    frame.enter(args)
    import measure

    for name in ("train", "test"):
        out = HERE / "data" / f"mq2008-{name}.letor"
        if not out.exists():
            out.parent.mkdir(exist_ok=True)
            out.write_bytes(gzip.decompress((args.data / "mq2008" / f"{name}.letor.gz").read_bytes()))
    with measure.Bench(args.lineal, HERE / "data", args.repeat) as bench:
        suite = Suite(bench)
        for part in args.part.split(","):
            getattr(suite, part)()
    frame.record(args, "Learning to rank", suite.lines)


class Suite(frame.Tables):
    def __init__(self, bench):
        super().__init__()
        self.bench = bench
        self.files = [bench.data / f"mq2008-{name}.letor" for name in ("train", "test")]

    def train(self, data, *flags):
        command = [self.bench.lineal, "train", data, "--task", "rank", "-o", self.bench.temp / "m.lineal", "--threads", "1", "--json", "--quiet", *map(str, flags)]
        runs = [self.bench.run(command) for _ in range(self.bench.repeat)]
        best = min(runs, key=lambda run: run["cpu"])
        return {**json.loads(best["stdout"]), "cpu": best["cpu"], "rss_mb": best["rss_mb"]}

    def speed(self):
        self.table("Time to the objective of LinearSVC on explicit pairs, MQ2008, one thread", ("", "LinearSVC fit s", "making pairs s", "Lineal s", "--tol", "ratio"))
        for name, (ours, theirs) in LOSSES.items():
            for c in PENALTIES:
                path = self.bench.temp / "job.json"
                path.write_text(json.dumps({"train": str(self.files[0]), "loss": theirs, "c": c, "tol": 1e-4}))
                runs = [self.bench.run([sys.executable, HERE / "ranking_peer.py", path]) for _ in range(self.bench.repeat)]
                peer = min((json.loads(run["stdout"].splitlines()[-1]) for run in runs), key=lambda run: run["fit"])
                for tol in TOLERANCES:
                    run = self.train(self.files[0], "--loss", ours, "-C", c, "--tol", tol)
                    if run["objective"] <= peer["objective"] * (1 + 1e-6):
                        break
                worse = "" if run["objective"] <= peer["objective"] * (1 + 1e-6) else f" (objective {run['objective'] / peer['objective'] - 1:.1e} above)"
                self.say(f"| {name}, C = {c} | {peer['fit']:.3f} | {peer['make']:.3f} | {run['cpu']:.3f} | {tol:g}{worse} | {peer['fit'] / run['cpu']:.1f} |")

    def losses(self):
        self.table("MQ2008 fold 1, test set; NDCG over queries with a relevant document, MAP over all", ("", "NDCG@10", "MAP", "passes", "gap", "CPU s", "MB"))
        for name, flags in KINDS.items():
            run = self.train(self.files[0], *flags, "--test", self.files[1])
            test = run["test"]
            self.say(f"| {name} | {test['ndcg@10']:.4f} | {test['map']:.4f} | {run['passes']} | {run['gap']:.1e} | {run['cpu']:.2f} | {run['rss_mb']:.0f} |")

    def size(self):
        import numpy as np

        self.table("One query of many documents (two grades, two features), CPU seconds per pass of training", ("", *(f"{n:,}" for n in DOCUMENTS)))
        rows = {"pairs, squared hinge": (), "pairs, logistic": ("--loss", "logistic"), "Plackett–Luce": ("--rank", "plackett-luce")}
        cells = {name: [] for name in rows}
        for n in DOCUMENTS:
            path = self.bench.temp / "one.letor"
            with open(path, "w") as file:
                for x, noise in np.random.default_rng(1).random((n, 2)):
                    file.write(f"{int(x > 0.9)} qid:1 1:{x:.5f} 2:{noise:.5f}\n")
            for name, flags in rows.items():
                few, many = (self.train(path, *flags, "--solver", "lbfgs", "--max-passes", k, "--tol", 1e-12) for k in (2, 12))
                passes = max(1, many["passes"] - few["passes"])
                cells[name].append(f"{(many['seconds']['train'] - few['seconds']['train']) / passes:.3f}")
        for name, found in cells.items():
            self.say(f"| {name} | {' | '.join(found)} |")


if __name__ == "__main__":
    main()
