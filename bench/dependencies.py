#!/usr/bin/env python3
"""Dependency parsing on EWT against UDPipe 1: accuracy, training, parsing speed, memory and size of models.

    python3 bench/dependencies.py [--name NAME] [--data DIR] [--lineal PATH] [--repeat N] [--part accuracy,parsing,size]
                                  [--peer-sentences N] [--peer-iterations N]

Gold tags, punctuation and subtypes of relations counted. The flags of Lineal were chosen on the dev set. UDPipe's network has the same shape however long it is
trained, so that a short training on a part of the sentences serves to measure its speed, and its accuracy is then not measured: say
`--peer-sentences 0 --peer-iterations 10` for all sentences and its default, which takes hours. Its training time is given per epoch over all words, in proportion
to the words that it was trained on (whole processes of 200 and 1,000 sentences took 4.9 and 3.8 ms of CPU per word). Speeds are compared by CPU seconds on one thread: of UDPipe those of the
call alone, of Lineal those of the whole process.

Prints tables and writes bench/record/DATE-NAME.md. See bench/README.md for what the figures mean.
"""

import gzip
import json
import sys

import frame
from frame import HERE

PARTS = ("accuracy", "parsing", "size")
FIRST = ("--order", "1", "--decoder", "projective")
BEST = ("--order", "2")
SETTINGS = {
    "first order, projective": FIRST,
    "first order, not projective": ("--order", "1", "--decoder", "nonprojective"),
    "first order, projective, perceptron": (*FIRST, "--loss", "perceptron"),
    "first order, projective, CRF": (*FIRST, "--loss", "logistic"),
    "second order": BEST,
}
SIZES = ("20MB", "5MB")
# How UDPipe searches: with its default beam, and greedily.
BEAMS = {"beam of 5, its default": "beam_search=5", "greedy": "beam_search=1"}


def main():
    args = arguments()
    frame.enter(args)
    import measure

    prepare(args.data, HERE / "data", args.peer_sentences)
    with measure.Bench(args.lineal, HERE / "data", args.repeat) as bench:
        suite = Suite(bench, args)
        for part in args.part.split(","):
            getattr(suite, part)()
    shown = "all" if args.peer_sentences == 0 else args.peer_sentences
    frame.record(args, "Dependency parsing", suite.lines, f"UDPipe was trained on {shown} sentences for {args.peer_iterations} iteration(s).")


def arguments():
    parser = frame.parser(__doc__, "dependencies", PARTS)
    parser.add_argument("--peer-sentences", type=int, default=1000, help="training sentences for UDPipe, from the first on; 0 for all")
    parser.add_argument("--peer-iterations", type=int, default=1, help="iterations of UDPipe's training")
    return parser.parse_args()


def prepare(source, folder, n_sentences):
    """Unpacks the treebank, and cuts off what the peer is trained on."""
    for name in ("train", "dev", "test"):
        out = folder / f"ewt-{name}.conllu"
        if not out.exists():
            out.parent.mkdir(exist_ok=True)
            out.write_bytes(gzip.decompress((source / "ewt" / f"{name}.conllu.gz").read_bytes()))
    blocks = (folder / "ewt-train.conllu").read_text(encoding="utf-8").split("\n\n")
    blocks = [block for block in blocks if block.strip()]
    (folder / "ewt-peer.conllu").write_text("".join(block + "\n\n" for block in blocks[: n_sentences or None]), encoding="utf-8")


class Suite(frame.Tables):
    def __init__(self, bench, args):
        super().__init__()
        from test_dependencies import attachment, treebank

        self.bench, self.args = bench, args
        self.treebank = lambda path: treebank(path.read_text(encoding="utf-8"))
        self.gold = self.treebank(bench.data / "ewt-test.conllu")
        self.n_words = sum(map(len, self.gold))
        self.attachment = lambda path: attachment(self.gold, self.treebank(path))[0]

    def udpipe(self, **job):
        path = self.bench.temp / "job.json"
        path.write_text(json.dumps({"model": str(self.bench.temp / "udpipe.model"), **job}))
        done = self.bench.run([sys.executable, HERE / "dependency_peer.py", path])
        return {**json.loads(done["stdout"].splitlines()[-1]), "rss_mb": done["rss_mb"]}

    def train(self, *flags, threads=2, model="m.lineal"):
        """One `lineal train`, from the file to the saved model and its figures on the test set."""
        command = [self.bench.lineal, "train", self.bench.data / "ewt-train.conllu", "--task", "dependency", "-o", self.bench.temp / model,
                   "--test", self.bench.data / "ewt-test.conllu", "--threads", str(threads), "--json", "--quiet", *flags]
        done = self.bench.run(command)
        return {**json.loads(done["stdout"]), "rss_mb": done["rss_mb"], "cpu": done["cpu"]}

    def parse(self, model):
        """The least CPU time of `lineal predict` on one thread: the whole process, from opening the model to the last line written."""
        out = self.bench.temp / "parsed.conllu"
        command = [self.bench.lineal, "predict", self.bench.temp / model, self.bench.data / "ewt-test.conllu", "-o", out, "--threads", "1", "--quiet"]
        best = min((self.bench.run(command) for _ in range(self.bench.repeat)), key=lambda run: run["cpu"])
        return {**best, **self.attachment(out)}

    def accuracy(self):
        self.table("EWT test, gold tags, from the file to the saved model on two threads", ("", "UAS", "LAS", "train s", "MB", "model MB"))
        for name, flags in SETTINGS.items():
            run = self.train(*flags)
            test, size = run["test"], run["model_bytes"] / 1e6
            self.say(f"| {name} | {100 * test['uas']:.2f} | {100 * test['las']:.2f} | {run['seconds']['train']:.0f} | {run['rss_mb']:.0f} | {size:.1f} |")

    def parsing(self):
        self.table(f"Parsing the {self.n_words:,} words of EWT's test set on one thread; Lineal as a whole process, UDPipe's parsing alone",
                   ("", "tokens per CPU second", "MB", "model MB", "UAS", "LAS", "ratio to UDPipe's default"))
        n_peer = sum(map(len, self.treebank(self.bench.data / "ewt-peer.conllu")))
        n_all = sum(map(len, self.treebank(self.bench.data / "ewt-train.conllu")))
        trained = self.udpipe(what="train", train=str(self.bench.data / "ewt-peer.conllu"), parser=f"iterations={self.args.peer_iterations}")
        size = (self.bench.temp / "udpipe.model").stat().st_size / 1e6
        default = None
        for name, options in BEAMS.items():
            out = self.bench.temp / "udpipe.conllu"
            job = {"what": "parse", "test": str(self.bench.data / "ewt-test.conllu"), "out": str(out), "options": options}
            run = min((self.udpipe(**job) for _ in range(self.bench.repeat)), key=lambda run: run["cpu"])
            speed = run["tokens"] / run["cpu"]
            default = default or speed
            scores = self.attachment(out)
            shown = (f"{100 * scores['uas']:.2f}", f"{100 * scores['las']:.2f}") if self.args.peer_sentences == 0 else ("–", "–")
            self.say(f"| UDPipe 1, {name} | {speed:,.0f} | {run['rss_mb']:.0f} | {size:.1f} | {shown[0]} | {shown[1]} | {speed / default:.1f} |")
        reports = {}
        for name, flags in (("first order", FIRST), ("second order", BEST)):
            report = self.train(*flags, threads=1)
            reports[name] = report
            run = self.parse("m.lineal")
            speed = self.n_words / run["cpu"]
            self.say(f"| Lineal, {name} | {speed:,.0f} | {run['rss_mb']:.0f} | {report['model_bytes'] / 1e6:.1f} | {100 * run['uas']:.2f} | {100 * run['las']:.2f} "
                     f"| {speed / default:.1f} |")
        self.table(f"Training on the {n_all:,} words of EWT on one thread", ("", "CPU s", "epochs of UDPipe in that time"))
        per_epoch = trained["cpu"] / self.args.peer_iterations * n_all / n_peer
        self.say(f"| UDPipe 1, one epoch, in proportion to {n_peer:,} words | {per_epoch:.0f} | 1.0 |")
        for name, report in reports.items():
            self.say(f"| Lineal, {name}, from the file to the saved model and its test | {report['cpu']:.0f} | {report['cpu'] / per_epoch:.2f} |")

    def size(self):
        self.table("Smaller models by --max-size, EWT test", ("", "model MB", "UAS", "LAS"))
        for name, flags in (("first order", FIRST), ("second order", BEST)):
            for limit in SIZES:
                run = self.train(*flags, "--max-size", limit)
                scores = self.parse("m.lineal")
                self.say(f"| {name}, --max-size {limit} | {run['model_bytes'] / 1e6:.1f} | {100 * scores['uas']:.2f} | {100 * scores['las']:.2f} |")


if __name__ == "__main__":
    main()
