#!/usr/bin/env python3
"""How the time of training grows with rows, features, classes and entries of a row; and whether `--solver auto` is near the fastest solver.

    python3 bench/growth.py [--part growth,auto] [--quick] [--lineal PATH]

growth: rows with words by Zipf's law, from a seed; one of the four numbers goes over two decades, the others stay. CPU seconds of training on one thread (least of --repeat), the passes, and the slope of log seconds against the log of what grows.
auto: 20 random tables of mixed scale (numbers from 1e-3 to 1e4, categories, two to eight classes), the wall time of `auto` beside the fastest of dual, newton and lbfgs that converged.
Writes bench/record/DATE-growth.md.
"""

import json
import math
import subprocess
import tempfile
import time
from pathlib import Path

import frame

START = {"rows": 20_000, "features": 20_000, "classes": 20, "entries": 20}
OVER = {"rows": (2_000, 20_000, 200_000), "features": (2_000, 20_000, 200_000), "classes": (3, 30, 300), "entries": (3, 30, 300)}
RUNS = {"Crammer–Singer": ("hinge", "joint"), "squared hinge": ("squared-hinge", "ova"), "softmax": ("logistic", "joint")}
SOLVERS = ("dual", "newton", "lbfgs")
LONGEST = 60


def main():
    parser = frame.parser(__doc__, "growth", ("growth", "auto"))
    parser.add_argument("--quick", action="store_true", help="a tenth of the rows, two points and five tables")
    args = parser.parse_args()
    frame.enter(args)
    tables = frame.Tables()
    with tempfile.TemporaryDirectory() as folder:
        if "growth" in args.part:
            growth(args, Path(folder), tables)
        if "auto" in args.part:
            auto(args, Path(folder), tables)
    frame.record(args, "How cost grows", tables.lines)


def growth(args, folder, tables):
    tables.table("Growth", ("loss", "over", "seconds", "passes", "exponent"))
    for axis, values in OVER.items():
        seen = {name: [] for name in RUNS}
        for value in values[:2] if args.quick else values:
            size = {**START, axis: value}
            size["rows"] //= 10 if args.quick else 1
            file = text(folder, **size)
            for name, (loss, strategy) in RUNS.items():
                told = [train(args, file, "--loss", loss, "--strategy", strategy, "--format", "libsvm") for _ in range(args.repeat)]
                best = min((t for t in told if t), key=lambda t: t["cpu"], default=None)
                if best:
                    seen[name].append((value, best["cpu"], best["passes"]))
        for name, points in seen.items():
            shown = ", ".join(f"{x:g}: {t:.3f}" for x, t, _ in points)
            passes = ", ".join(str(p) for *_, p in points)
            tables.say(f"| {name} | {axis} | {shown} | {passes} | {slope(points):.2f} |")


def slope(points):
    """Least squares of log t against log x."""
    logs = [(math.log(x), math.log(t)) for x, t, _ in points]
    if len(logs) < 2:
        return math.nan
    mx, mt = (sum(v) / len(logs) for v in zip(*logs))
    return sum((x - mx) * (t - mt) for x, t in logs) / sum((x - mx) ** 2 for x, _ in logs)


def text(folder, rows, features, classes, entries):
    """Words by Zipf's law, a third of them the class's own, tf–idf-like rows of length 1."""
    import grid_sets
    import numpy as np
    import scipy.sparse as sp

    rng = np.random.default_rng(17)
    y = rng.integers(classes, size=rows)
    row = np.repeat(np.arange(rows), entries)
    word = np.minimum(rng.zipf(1.3, size=row.size) - 1, features - 1)
    own = rng.random(row.size) < 0.33
    word = np.where(own, (word * 31 + y[row] * 97) % features, word)
    x = sp.csr_matrix((np.ones(row.size, np.float32), (row, word)), shape=(rows, features))
    x.sum_duplicates()
    x.data = 1 + np.log(x.data)
    x = sp.csr_matrix(sp.diags(1 / np.sqrt(x.multiply(x).sum(axis=1).A1)) @ x)
    path = folder / "rows.svm"
    grid_sets.write(path, x, y)
    return path


def auto(args, folder, tables):
    tables.table("auto on random tables", ("table", "auto", "its solver", "fastest", "ratio"))
    ratios = []
    for seed in range(5 if args.quick else 20):
        file, about = table(folder, seed)
        told = {}
        for solver in ("auto", *SOLVERS):
            runs = [train(args, file, "--solver", solver, "--label", "y") for _ in range(args.repeat)]
            done = [run for run in runs if run and run["converged"]]
            told[solver] = min(done, key=lambda run: run["wall"], default=None)
        ours = {solver: run["wall"] for solver, run in told.items() if run and solver != "auto"}
        if not told["auto"] or not ours:
            tables.say(f"| {about} | did not converge | | | |")
            continue
        fastest = min(ours, key=ours.get)
        ratios.append(told["auto"]["wall"] / ours[fastest])
        tables.say(f"| {about} | {told['auto']['wall']:.3f} | {told['auto']['solver']} | {fastest} {ours[fastest]:.3f} | {ratios[-1]:.2f} |")
    if ratios:
        tables.say(f"\nThe largest ratio is {max(ratios):.2f}; {sum(ratio > 1.5 for ratio in ratios)} of {len(ratios)} are above 1.5.")


def table(folder, seed):
    """A CSV of numbers on unlike scales and of categories, with classes that depend on both, and noise."""
    import numpy as np

    rng = np.random.default_rng(seed)
    n, d = int(10 ** rng.uniform(2.5, 4.3)), int(rng.integers(2, 40))
    k, n_categories = int(rng.integers(2, 9)), int(10 ** rng.uniform(0.5, 2.8))
    x = rng.normal(size=(n, d))
    category = rng.integers(n_categories, size=n)
    scores = x @ rng.normal(size=(d, k)) + 2 * rng.normal(size=(n_categories, k))[category] + 2 * rng.gumbel(size=(n, k))
    y = scores.argmax(axis=1)
    shown = x * 10 ** rng.uniform(-3, 4, size=d) + 10 ** rng.uniform(-2, 3, size=d)
    path = folder / "table.csv"
    with open(path, "w") as out:
        out.write(",".join([*(f"x{j}" for j in range(d)), "kind", "y"]) + "\n")
        for i in range(n):
            out.write(",".join([*(f"{v:.6g}" for v in shown[i]), f"k{category[i]}", f"class{y[i]}"]) + "\n")
    return path, f"{n} rows, {d} numbers, {n_categories} categories, {k} classes"


def train(args, file, *flags):
    from grid import children_cpu, loading

    before, start = children_cpu(), time.perf_counter()
    command = [args.lineal, "train", file, "-o", file.with_suffix(".lineal"), "--threads", "1", "--json", "--quiet", *flags]
    try:
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=LONGEST)
    except subprocess.TimeoutExpired:
        return None
    wall = time.perf_counter() - start
    if done.returncode not in (0, 3):
        raise SystemExit(f"{' '.join(map(str, command))}: {done.stderr.strip()[-300:]}")
    told = json.loads(done.stdout)
    share = told["seconds"]["train"] / told["seconds"]["total"]
    return {"cpu": max(children_cpu() - before - loading(str(args.lineal)), 1e-4) * share, "wall": told["seconds"]["train"], "all": wall, "passes": told["passes"], "solver": told["solver"], "converged": told["converged"]}


if __name__ == "__main__":
    main()
