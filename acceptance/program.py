"""Running `lineal` and reading what it writes."""

import json
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import numpy as np
from safetensors import safe_open

THREADS = ["--threads", "2"]


@dataclass
class Trained:
    """A model file and what `train --json` said of it."""

    path: Path
    report: dict
    command: str

    @property
    def objective(self):
        return self.report["objective"]

    @property
    def gap(self):
        return self.report["gap"]

    def weights(self):
        """Features (+ bias last) × outputs, in f64."""
        with safe_open(str(self.path), "np") as file:
            weights = file.get_tensor("weights").astype(np.float64)
            if "weights.nonzero" not in file.keys():
                return weights
            whole = np.zeros(file.get_tensor("weights.shape").astype(int))
            bits = np.unpackbits(file.get_tensor("weights.nonzero").view(np.uint8), bitorder="little")
            whole.reshape(-1)[bits[: whole.size].astype(bool)] = weights
            return whole


class Failed(Exception):
    """The program ended with another exit code than 0."""


class Program:
    """The program, with a folder for its models below another one."""

    def __init__(self, path, folder):
        self.path = str(path)
        self.folder = SimpleNamespace(name=tempfile.mkdtemp(dir=folder))
        self.seconds = 0.0
        self.n_runs = 0

    def run(self, *args):
        """The finished process; raises nothing."""
        started = time.monotonic()
        done = subprocess.run([self.path, *map(str, args)], capture_output=True, text=True)
        self.seconds += time.monotonic() - started
        self.n_runs += 1
        return done

    def output(self, *args):
        """What it printed; raises where it failed."""
        done = self.run(*args)
        if done.returncode != 0:
            raise Failed(f"lineal {' '.join(map(str, args))}: exit code {done.returncode}: {done.stderr.strip()}")
        return done.stdout

    def train(self, problem, *flags):
        """Trains on the problem's file."""
        model = Path(self.folder.name) / f"{self.n_runs}.lineal"
        flags = [*map(str, flags), *THREADS]
        out = self.output("train", problem.path, "-o", model, *flags, "--json", "--quiet")
        return Trained(model, json.loads(out), f"lineal train {problem.name} {' '.join(flags)}")

    def predict(self, model, data, *flags):
        """One dict a row."""
        out = self.output("predict", model.path, data.path, "--output", "jsonl", "--quiet", *flags, *THREADS)
        return [json.loads(line) for line in out.splitlines()]

    def evaluate(self, model, data):
        """The metrics."""
        return json.loads(self.output("eval", model.path, data.path, "--json", "--quiet", *THREADS))

    def classes(self, model):
        """Class names in the order of the weights' columns."""
        return json.loads(self.output("inspect", model.path, "--json"))["class_names"]
