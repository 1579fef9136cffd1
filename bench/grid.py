#!/usr/bin/env python3
"""The grid: flat models of every set, loss and strategy beside LIBLINEAR, scikit-learn and Snap ML, to the same objective.

    python3 bench/grid.py [--set A,B] [--loss hinge,…] [--strategy ova,joint] [--system lineal,liblinear,…] [--C 0.1,1,10] [--threads 1,2] [--lineal PATH]

Each fit is a process of its own; fits of Lineal and of the peers alternate. On one thread CPU seconds are compared, on more wall seconds. Every peer runs at its default tolerance, and Lineal at the loosest --tol whose objective is no worse (to 1e-4): objectives are computed
from the weights of both by the same numpy code. A cell's ratio is that of the peer that is hardest to beat. Prints the worst cell first and the geometric mean, and writes bench/record/DATE-grid.md and curves of the gap.
"""

import functools
import json
import math
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import frame
from frame import HERE

TOLERANCES = ("1e-1", "3e-2", "1e-2", "3e-3", "1e-3", "3e-4", "1e-4", "3e-5")
SAME = 1e-4
LONGEST = 180


def main():
    parser = frame.parser(__doc__, "grid")
    for flag, default in (("set", None), ("loss", "hinge,squared-hinge,logistic"), ("strategy", "ova,joint"), ("system", "liblinear,sklearn,snap"), ("C", "0.1,1,10"), ("threads", "1,2")):
        parser.add_argument(f"--{flag}", default=default, help="one or more, by commas")
    parser.add_argument("--repeat", type=int, default=3, help="timings of which the least counts")
    parser.add_argument("--curves", type=Path, help="a folder for curves of the gap over time, as SVG")
    args = parser.parse_args()
    frame.enter(args)
    import grid_sets

    sets = args.set.split(",") if args.set else [*grid_sets.REAL, *grid_sets.MADE]
    cells, tables = [], frame.Tables()
    with tempfile.TemporaryDirectory() as folder:
        for name in sets:
            file = grid_sets.prepare(args.data, HERE / "data" / "grid", name)
            for loss in args.loss.split(","):
                for strategy in ("labels",) if name in grid_sets.LABELS else args.strategy.split(","):
                    if strategy == "joint" and (loss == "squared-hinge" or name == "a9a"):
                        continue
                    for c in args.C.split(","):
                        for threads in args.threads.split(","):
                            cell = Cell(args, Path(folder), name, file, loss, strategy, float(c), int(threads))
                            cells.append(cell.measure())
    report(tables, [cell for cell in cells if cell])
    if args.curves:
        import grid_curves

        grid_curves.draw(args.curves, cells)
    frame.record(args, "The grid of flat models", tables.lines)


class Cell:
    """A set, a loss, a strategy, a penalty and a number of threads."""

    def __init__(self, args, folder, name, file, loss, strategy, c, threads):
        import grid_peer
        import grid_sets

        self.args, self.folder, self.name, self.file, self.loss, self.strategy, self.c, self.threads = args, folder, name, file, loss, strategy, c, threads
        self.labels, self.dense = name in grid_sets.LABELS, name in grid_sets.DENSE
        self.x, self.y = grid_peer.read(str(file), self.labels)
        self.signs = grid_peer.columns(self.y)

    def __str__(self):
        return f"{self.name}, {self.strategy} {self.loss}, C = {self.c:g}, {self.threads} thread{'s' * (self.threads > 1)}"

    def peers(self):
        """Which peers have this loss."""
        ova = {"hinge": [("liblinear", 3), ("snap", "")], "squared-hinge": [("liblinear", 1), ("liblinear", 2), ("snap", "")],
               "logistic": [("liblinear", 0), ("liblinear", 7), ("snap", "")]}
        joint = {"hinge": [("liblinear", 4)], "logistic": [("sklearn", "lbfgs"), ("sklearn", "newton-cg")]}
        chosen = list((joint if self.strategy == "joint" else ova).get(self.loss, []))
        if self.strategy == "ova" and self.loss == "logistic" and self.dense and self.x.shape[1] < 400:
            chosen.append(("sklearn", "newton-cholesky"))
        return [peer for peer in chosen if peer[0] in self.args.system.split(",")]

    def objective(self, w):
        """½‖W‖² + C Σ loss, in f64."""
        import numpy as np

        s = np.asarray(self.x @ w)
        if self.strategy == "joint" and s.shape[1] > 1:
            r = np.arange(len(self.y))
            if self.loss == "hinge":
                margin = 1 + s - s[r, self.y][:, None]
                margin[r, self.y] = 0
                losses = margin.max(axis=1)
            else:
                top = s.max(axis=1)
                losses = top + np.log(np.exp(s - top[:, None]).sum(axis=1)) - s[r, self.y]
        else:
            m = self.signs * s
            slack = np.maximum(0, 1 - m)
            losses = {"hinge": slack, "squared-hinge": slack**2}.get(self.loss)
            losses = np.logaddexp(0, -m) if losses is None else losses
        return 0.5 * (w**2).sum() + self.c * losses.sum()

    def fit_peer(self, peer):
        import numpy as np

        out = self.folder / "w.npy"
        job = {"file": str(self.file), "labels": self.labels, "dense": self.dense, "loss": self.loss, "strategy": self.strategy, "C": self.c, "peer": peer, "threads": self.threads, "out": str(out)}
        (self.folder / "job.json").write_text(json.dumps(job))
        environment = {**os.environ, **{name: str(self.threads) for name in frame.ONE_THREAD}}
        try:
            done = subprocess.run([sys.executable, HERE / "grid_peer.py", self.folder / "job.json"], capture_output=True, text=True, timeout=LONGEST, env=environment)
        except subprocess.TimeoutExpired:
            return None
        if done.returncode:
            print(f"{self}: {peer}: {done.stderr.strip().splitlines()[-1:]}", flush=True)
            return None
        took = json.loads(done.stdout)
        return {"seconds": took["cpu" if self.threads == 1 else "wall"], "objective": self.objective(np.load(out))}

    def fit_lineal(self, tol):
        from program import Trained

        model = self.folder / "m.lineal"
        command = [self.args.lineal, "train", self.file, "--format", "libsvm", "-o", model, "--loss", self.loss, "--bias", "penalised", "-C", self.c, "--tol", tol, "--threads", self.threads, "--json", "--quiet"]
        # Thresholds of labels are tuned by default, by further fits that no peer does.
        command += ["--task", "multilabel", "--threshold", "0.5"] if self.labels else ["--strategy", self.strategy]
        before = children_cpu()
        try:
            done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=LONGEST)
        except subprocess.TimeoutExpired:
            return None
        cpu = children_cpu() - before
        if done.returncode not in (0, 3):
            raise SystemExit(f"{' '.join(map(str, command))}: {done.stderr.strip()[-300:]}")
        said = json.loads(done.stdout)
        w = Trained(model, said, "").weights()
        # The program reports wall seconds of its parts: the CPU time of the process, without that of loading the program, is divided in proportion to them.
        wall = said["seconds"]
        seconds = (cpu - loading(str(self.args.lineal))) * wall["train"] / wall["total"] if self.threads == 1 else wall["train"]
        return {"seconds": seconds, "objective": self.objective(w), "passes": said["passes"], "solver": said["solver"], "tol": tol}

    def measure(self):
        peers = {peer: fit for peer in self.peers() if (fit := self.fit_peer(peer))}
        if not peers:
            return None
        hardest, ours = min(fit["objective"] for fit in peers.values()), []
        for tol in TOLERANCES:
            fit = self.fit_lineal(tol)
            if fit is None:
                break
            ours.append(fit)
            if fit["objective"] <= hardest * (1 + SAME):
                break
        worst = None
        for peer, fit in peers.items():
            enough = [own for own in ours if own["objective"] <= fit["objective"] * (1 + SAME)]
            if not enough:
                worst = (0.0, peer, fit, None)
                break
            least = min(enough, key=lambda own: own["seconds"])
            if worst is None or fit["seconds"] / least["seconds"] < worst[0]:
                worst = (fit["seconds"] / least["seconds"], peer, fit, least)
        ratio, peer, fit, own = worst
        if own:
            for _ in range(self.args.repeat - 1):
                again, own_again = self.fit_peer(peer), self.fit_lineal(own["tol"])
                fit["seconds"] = min(fit["seconds"], again["seconds"] if again else math.inf)
                own["seconds"] = min(own["seconds"], own_again["seconds"] if own_again else math.inf)
            ratio = fit["seconds"] / own["seconds"]
        cell = {"cell": str(self), "ratio": ratio, "peer": " ".join(map(str, peer)), "peer_s": fit["seconds"], "peer_objective": fit["objective"], "lineal": own, "ladder": ours}
        print(f"{cell['cell']}: {ratio:.2f}", flush=True)
        return cell


def children_cpu():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


@functools.cache
def loading(program):
    """CPU seconds of a process of the program that does nothing: a peer's libraries are not counted either."""

    def once():
        before = children_cpu()
        subprocess.run([program, "--version"], capture_output=True, check=True)
        return children_cpu() - before

    return min(once() for _ in range(20))


def report(tables, cells):
    reached = [cell["ratio"] for cell in cells if cell["ratio"] > 0]
    mean = math.exp(sum(map(math.log, reached)) / max(len(reached), 1))
    below = sum(cell["ratio"] < 1 for cell in cells)
    least = min((cell["ratio"] for cell in cells), default=math.nan)
    tables.say(f"{len(cells)} cells; least {least:.2f}, geometric mean {mean:.2f} of {len(reached)} that were reached, {below} below 1. Peer ÷ Lineal, seconds of training (CPU on one thread, wall on more), worst first.")
    tables.table("", ("cell", "ratio", "peer", "peer s", "Lineal s", "solver", "--tol", "passes"))
    for cell in sorted(cells, key=lambda cell: cell["ratio"]):
        own = cell["lineal"]
        mine = f"{own['seconds']:.3f} | {own['solver']} | {own['tol']} | {own['passes']}" if own else "not reached | | |"
        tables.say(f"| {cell['cell']} | {cell['ratio']:.2f} | {cell['peer']} | {cell['peer_s']:.3f} | {mine} |")


if __name__ == "__main__":
    main()
