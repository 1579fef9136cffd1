#!/usr/bin/env python3
"""From raw text to a saved model: Lineal against scikit-learn, fastText and Vowpal Wabbit.

    python3 bench/text.py [--name NAME] [--data DIR] [--lineal PATH] [--repeat N] [--part train,online,memory,vectorize] [--limit SECONDS]

Prints tables and writes bench/record/DATE-NAME.md. See bench/README.md for what the figures mean.
"""

import gzip
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import frame
from frame import HERE

PARTS = ("train", "online", "memory", "vectorize")
SETS = {
    "newsgroups": ("newsgroups/train.jsonl.gz", "newsgroups/test.jsonl.gz"),
    "occupations": ("occupations/train.tsv.gz", "occupations/test.tsv.gz"),
}
# The same words for all: runs of two or more letters or digits, lower-cased.
WORDS = ("--text", "text", "--tokens", "words", "--ngrams", "1")
PEERS = {
    "TfidfVectorizer + LogisticRegression": {"what": "sklearn", "learner": "LogisticRegression"},
    "TfidfVectorizer + LinearSVC": {"what": "sklearn", "learner": "LinearSVC"},
    "fastText, supervised, defaults": {"what": "fasttext"},
    "Vowpal Wabbit, --oaa, one pass": {"what": "vw"},
}


def main():
    args = arguments()
    frame.enter(args)
    with tempfile.TemporaryDirectory(prefix="lineal-bench-") as temp:
        suite = Suite(args, Path(temp))
        for part in args.part.split(","):
            getattr(suite, part)()
    frame.record(args, "Text", suite.lines, f"CPU seconds, one thread on both sides, least of {args.repeat} runs.")


def arguments():
    parser = frame.parser(__doc__, "text", PARTS)
    parser.add_argument("--set", default=",".join(SETS), help="which sets")
    parser.add_argument("--limit", type=float, default=600, help="seconds after which a peer is stopped")
    return parser.parse_args()


class Suite(frame.Tables):
    def __init__(self, args, temp):
        super().__init__()
        self.args, self.temp = args, temp
        self.files = {}
        for name in args.set.split(","):
            paths = []
            for source in SETS[name]:
                path = temp / f"{name}-{Path(source).stem}"
                with gzip.open(args.data / source, "rb") as packed, open(path, "wb") as out:
                    shutil.copyfileobj(packed, out)
                paths.append(path)
            self.files[name] = paths

    def peer(self, once=False, **job):
        """The least times of several runs; `None` where it was stopped."""
        runs = []
        for _ in range(1 if once else self.args.repeat):
            path = self.temp / "job.json"
            path.write_text(json.dumps({**job, "out": str(self.temp / "peer.model")}))
            try:
                done = subprocess.run([sys.executable, str(HERE / "text_peer.py"), str(path)], stdout=subprocess.PIPE, check=True, timeout=self.args.limit)
            except subprocess.TimeoutExpired:
                return None
            runs.append(json.loads(done.stdout.splitlines()[-1]))
            if runs[-1].get("train_cpu", 0) > 60:
                break  # long enough to be no accident
        least = dict(runs[0])
        for run in runs[1:]:
            least.update({key: min(least[key], value) for key, value in run.items() if key.endswith(("_cpu", "_wall"))})
        return least

    def lineal(self, *command):
        """Least CPU seconds, peak memory in MB, and output."""
        best = None
        for _ in range(self.args.repeat):
            usage = self.temp / "usage.json"
            launch = [sys.executable, "-I", "-S", HERE / "launch.py", usage, self.args.lineal, *command, "--threads", "1"]
            done = subprocess.run([str(part) for part in launch], stdout=subprocess.PIPE, check=True)
            report = json.loads(usage.read_text())
            if report["code"] != 0:
                raise SystemExit(f"{' '.join(map(str, command))}: exit code {report['code']}")
            if best is None or report["cpu"] < best["cpu"]:
                best = {**report, "stdout": done.stdout}
        return best

    def train(self):
        for name, (train, test) in self.files.items():
            self.table(f"{name}: raw text to saved model, and raw text to labels ({train.stat().st_size / 1e6:.1f} MB, {test.stat().st_size / 1e6:.1f} MB)",
                       ("", "train s", "ratio", "predict s", "ratio", "accuracy"))
            model = self.temp / "m.lineal"
            ours = self.lineal("train", train, "-o", model, *WORDS, "--calibrate", "none", "--quiet")
            answers = self.lineal("predict", model, test, "--quiet")
            measured = json.loads(self.lineal("eval", model, test, "--json", "--quiet")["stdout"])
            self.say(f"| Lineal {' '.join(WORDS[2:])} | {ours['cpu']:.3f} | | {answers['cpu']:.3f} | | {measured['accuracy']:.4f} |")
            for peer, job in PEERS.items():
                theirs = self.peer(train=str(train), test=str(test), bits=18 if name == "newsgroups" else 24, **job)
                if theirs is None:
                    self.say(f"| {peer} | stopped after {self.args.limit:.0f} | > {self.args.limit / ours['cpu']:.0f} | | | |")
                    continue
                self.say(f"| {peer} | {theirs['train_cpu']:.3f} | {theirs['train_cpu'] / ours['cpu']:.1f} | {theirs['predict_cpu']:.3f} "
                         f"| {theirs['predict_cpu'] / answers['cpu']:.1f} | {theirs['accuracy']:.4f} |")

    def online(self):
        """One pass of both, over the same words in the same random order, which are cut and lower-cased beforehand."""
        words = ("--format", "fasttext", "--tokens", "whitespace", "--ngrams", "1", "--quiet")
        for name, (train, test) in self.files.items():
            self.table(f"{name}: one pass over prepared words, each row seen once", ("", "train s", "ratio", "predict s", "ratio", "accuracy"))
            theirs = self.peer(train=str(train), test=str(test), bits=18 if name == "newsgroups" else 24, what="vw")
            model, parts = self.temp / "m.lineal", [self.temp / f"peer.model.{part}.txt" for part in ("train", "test")]
            for flags in (("--stream", "--hash", "18"), ("--stream", "--hash", "18", "--loss", "hinge")):
                ours = self.lineal("train", parts[0], "-o", model, *flags, *words)
                answers = self.lineal("predict", model, parts[1], "--format", "fasttext", "--quiet")
                measured = json.loads(self.lineal("eval", model, parts[1], "--format", "fasttext", "--json", "--quiet")["stdout"])
                self.say(f"| Lineal {' '.join(flags)} | {ours['cpu']:.3f} | {theirs['train_cpu'] / ours['cpu']:.1f} | {answers['cpu']:.3f} "
                         f"| {theirs['predict_cpu'] / answers['cpu']:.1f} | {measured['accuracy']:.4f} |")
            self.say(f"| Vowpal Wabbit, --oaa, one pass | {theirs['train_cpu']:.3f} | | {theirs['predict_cpu']:.3f} | | {theirs['accuracy']:.4f} |")

    def memory(self):
        self.table("Peak memory of training, against the size of the file", ("set", "file MB", "peak MB", "over the program's own 5 MB", "times the file"))
        for name, (train, _) in self.files.items():
            size = train.stat().st_size / 1e6
            done = self.lineal("train", train, "-o", self.temp / "m.lineal", *WORDS, "--calibrate", "none", "--quiet")
            peak = done["rss_mb"] * 1.048576
            self.say(f"| {name} | {size:.1f} | {peak:.1f} | {peak - 5:.1f} | {peak / size:.2f} |")

    def vectorize(self):
        self.table("Words 1-2 of newsgroups to tf–idf rows, reading included for Lineal and left out for scikit-learn", ("", "CPU s", "MB of text a second"))
        train, _ = self.files["newsgroups"]
        theirs = self.peer(once=True, what="vectorize", train=str(train))
        megabytes = theirs["bytes"] / 1e6
        self.say(f"| TfidfVectorizer | {theirs['train_cpu']:.2f} | {megabytes / theirs['train_cpu']:.1f} |")
        flags = ("--text", "text", "--tokens", "words", "--ngrams", "1-2", "--loss", "perceptron", "--epochs", "1", "--json", "--quiet")
        done = self.lineal("train", train, "-o", self.temp / "m.lineal", *flags)
        seconds = json.loads(done["stdout"])["seconds"]["read"]
        self.say(f"| Lineal | {seconds:.2f} | {megabytes / seconds:.1f} |")


if __name__ == "__main__":
    main()
