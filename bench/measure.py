"""Runs peers and Lineal one after the other and puts their figures side by side."""

import json
import os
import subprocess
import sys
import tempfile
from functools import lru_cache
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from safetensors import safe_open
from sklearn.datasets import load_svmlight_file

import objective
from cases import CASES, TOLERANCES
from problems import Problem
from sets import REPEATS

HERE = Path(__file__).resolve().parent


class Bench:
    """The program, the files, and a folder for what runs leave behind."""

    def __init__(self, lineal, data, repeat):
        self.lineal, self.data, self.repeat = lineal, data, repeat

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory(prefix="lineal-bench-")
        self.temp = Path(self.folder.name)
        return self

    def __exit__(self, *_):
        self.folder.cleanup()

    def training(self, only=None):
        rows = []
        for case in CASES:
            if only is not None and only not in f"{case.name} {case.data}":
                continue
            problem, test = load(self.data, case.data)
            spec = objective.Spec(case.loss, 1.0 / problem.n_rows, case.bias)
            ladder = Ladder(self, case, spec, problem, test)
            for peer in case.peers:
                theirs = self.peer(case, peer, spec, problem, test)
                ours = ladder.at_least(theirs["objective"])
                rows.append({"case": case.name, "data": case.data, "bias": case.bias, "peer": theirs, "lineal": ours})
                show(rows[-1])
        return rows

    def reading(self):
        """CPU seconds to read a file that holds a set several times over."""
        rows = []
        for name in ("a9a", "newsgroups"):
            path = self.data / f"{name}.x{REPEATS}.svm"
            theirs = best([self.python({"what": "read", "train": str(path)}) for _ in range(self.repeat)], "read_cpu")
            # One pass of sgd: `train` has no mode that only reads.
            flags = ["--loss", "hinge", "--solver", "sgd", "--epochs", "1"]
            ours = best([self.train(path, flags) for _ in range(self.repeat)], "read_wall")
            rows.append({"data": path.name, "bytes": path.stat().st_size, "scikit-learn": theirs, "lineal": ours})
            print(f"read {path.name}: scikit-learn {theirs['read_cpu']:.3f} s, lineal {ours['read_wall']:.4f} s", flush=True)
        return rows

    def prediction(self):
        """From a file of rows to labels."""
        rows = []
        for name, peer, bias, flags in (
            ("a9a", ("liblinear", 3), "penalised", ["--loss", "hinge", "--bias", "penalised"]),
            ("a9a", ("scikit-learn", "newton-cholesky"), "free", ["--loss", "logistic"]),
            ("newsgroups", ("liblinear", 4), "penalised", ["--loss", "hinge", "--bias", "penalised"]),
            ("newsgroups", ("scikit-learn", "saga"), "free", ["--loss", "logistic"]),
        ):
            train, test = self.data / f"{name}.svm", self.data / f"{name}.test.svm"
            job = {"what": "predict", "train": str(train), "test": str(test), "bias": bias, **peer_fields(peer)}
            theirs = best([self.python(job) for _ in range(self.repeat)], "predict_cpu")
            model = self.temp / "predict.lineal"
            self.run([self.lineal, "train", train, "-o", model, "--threads", "1", "--quiet", *flags])
            command = [self.lineal, "predict", model, test, "-o", self.temp / "labels", "--threads", "1", "--quiet"]
            runs = [self.run(command) for _ in range(self.repeat)]
            ours = min(runs, key=lambda run: run["cpu"])
            ours = {"cpu": ours["cpu"], "rss_mb": ours["rss_mb"]}
            rows.append({"data": name, "peer": {**theirs, "name": peer_name(peer)}, "lineal": ours})
            print(f"predict {name}: {peer_name(peer)} {theirs['test_read_cpu'] + theirs['predict_cpu']:.3f} s, lineal {ours['cpu']:.3f} s", flush=True)
        return rows

    def peer(self, case, peer, spec, problem, test):
        out = self.temp / "weights.npy"
        job = {"what": "train", "train": str(problem.path), "bias": case.bias, "out": str(out), **peer_fields(peer)}
        theirs = best([self.python(job) for _ in range(self.repeat)], "train_cpu")
        w = np.load(out)
        return {**theirs, "name": peer_name(peer), **quality(spec, problem, test, w)}

    def python(self, job):
        """One run of a peer."""
        path = self.temp / "job.json"
        path.write_text(json.dumps({"out": str(self.temp / "unused.npy"), **job}))
        done = self.run([sys.executable, HERE / "peer.py", path])
        return {**json.loads(done["stdout"]), "rss_mb": done["rss_mb"]}

    def train(self, path, flags, model="model.lineal"):
        """One training by Lineal. The CPU time of the process is shared out by the wall times of its parts, which it reports: with
        one thread they are proportional."""
        command = [self.lineal, "train", path, "-o", self.temp / model, "--threads", "1", "--json", "--quiet", *flags]
        done = self.run(command)
        report = json.loads(done["stdout"])
        seconds = report["seconds"]
        cpu = done["cpu"] / max(seconds["total"], 1e-9)
        return {
            "train_wall": seconds["train"], "train_cpu": min(cpu * seconds["train"], done["cpu"]),
            "read_wall": seconds["read"], "read_cpu": min(cpu * seconds["read"], done["cpu"]),
            "process_cpu": done["cpu"], "rss_mb": done["rss_mb"], "passes": report["passes"], "solver": report["solver"],
            "said_objective": report["objective"], "gap": report["gap"],
        }

    def run(self, command):
        """A child's output, CPU seconds and peak memory."""
        usage = self.temp / "usage.json"
        launch = [sys.executable, "-I", "-S", HERE / "launch.py", usage, *command]
        done = subprocess.run([str(part) for part in launch], stdout=subprocess.PIPE, check=True)
        report = json.loads(usage.read_text())
        if report["code"] != 0:
            raise SystemExit(f"{' '.join(map(str, command))}: exit code {report['code']}")
        return {"stdout": done.stdout, **report}


class Ladder:
    """Lineal at falling tolerances, each tried once and remembered."""

    def __init__(self, bench, case, spec, problem, test):
        self.bench, self.case, self.spec, self.problem, self.test = bench, case, spec, problem, test
        self.tried = {}
        self.timed = {}

    def at_least(self, target):
        """The fastest solver at its loosest tolerance that gets to `target`."""
        found = []
        for solver in self.case.solvers:
            for tol in TOLERANCES:
                if self.try_once(solver, tol)["objective"] <= target:
                    found.append(self.time(solver, tol))
                    break
        if not found:
            return None
        return min(found, key=lambda run: run["train_cpu"])

    def flags(self, solver, tol):
        return ["--loss", self.case.loss, "--bias", self.case.bias, "-C", "1", "--solver", solver, "--tol", tol]

    def try_once(self, solver, tol):
        if (solver, tol) not in self.tried:
            run = self.bench.train(self.problem.path, self.flags(solver, tol))
            with safe_open(str(self.bench.temp / "model.lineal"), "np") as file:
                w = file.get_tensor("weights").astype(np.float64)
            self.tried[solver, tol] = {**run, **quality(self.spec, self.problem, self.test, w)}
        return self.tried[solver, tol]

    def time(self, solver, tol):
        if (solver, tol) not in self.timed:
            runs = [self.bench.train(self.problem.path, self.flags(solver, tol)) for _ in range(self.bench.repeat)]
            quality_of = {key: self.tried[solver, tol][key] for key in ("objective", "accuracy")}
            # The run of least CPU as a whole: the least of the estimated parts would be low by chance on a busy machine.
            least = min(runs, key=lambda run: run["process_cpu"])
            self.timed[solver, tol] = {**least, "rss_mb": max(run["rss_mb"] for run in runs), "tol": tol, **quality_of}
        return self.timed[solver, tol]


@lru_cache
def load(data, name):
    """Training and test rows for the evaluation in numpy; values as f32, as Lineal stores them."""
    x, y = load_svmlight_file(str(data / f"{name}.svm"))
    x_test, y_test = load_svmlight_file(str(data / f"{name}.test.svm"), n_features=x.shape[1])
    labels = np.unique(y)

    def problem(path, x, y):
        x = sp.csr_matrix(x.astype(np.float32).astype(np.float64))
        return Problem(name, path, x, np.searchsorted(labels, y), labels)

    return problem(data / f"{name}.svm", x, y), problem(data / f"{name}.test.svm", x_test, y_test)


def quality(spec, problem, test, w):
    theta = objective.scores(test.x, w, spec.bias)
    y_hat = (theta[:, 0] > 0).astype(int) if problem.n_classes == 2 else theta.argmax(axis=1)
    return {"objective": float(objective.value(spec, problem, w)), "accuracy": float((y_hat == test.y).mean())}


def best(runs, key):
    """The minimum of the times, each by itself; all else from the run with the least `key`."""
    least = dict(min(runs, key=lambda run: run[key]))
    for name in least:
        if name.endswith(("_cpu", "_wall")):
            least[name] = min(run[name] for run in runs)
    least["rss_mb"] = max(run["rss_mb"] for run in runs)
    return least


def peer_fields(peer):
    return {"peer": peer[0], **({"s": peer[1]} if peer[0] == "liblinear" else {"solver": peer[1]})}


def peer_name(peer):
    return f"LIBLINEAR -s {peer[1]}" if peer[0] == "liblinear" else f"scikit-learn {peer[1]}"


def show(row):
    theirs, ours = row["peer"], row["lineal"]
    text = f"{row['data']} {row['case']}: {theirs['name']} {theirs['train_cpu']:.3f} s, objective {theirs['objective']:.8f}; "
    if ours is None:
        print(text + "Lineal does not get there", flush=True)
        return
    print(text + f"Lineal {ours['solver']} --tol {ours['tol']} {ours['train_cpu']:.3f} s, {ours['objective']:.8f}", flush=True)
