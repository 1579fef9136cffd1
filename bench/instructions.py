#!/usr/bin/env python3
"""Instructions of short runs, counted by callgrind, beside those that are recorded: a guard against code that became slower, on any machine and under any load.

    python3 bench/instructions.py [--update]

Runs the example `solvers` of crates/erm on small sets made from a seed, and fails if a run takes over 5 % more instructions than bench/instructions.json says. It passes, and says so, where valgrind is not installed.
Counts belong to a version of the compiler, whose name is recorded with them: with another one they are shown and nothing fails.
"""

import argparse
import json
import os
import random
import re
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
TARGET = ROOT / os.environ.get("CARGO_TARGET_DIR", "target")
BASELINE = HERE / "instructions.json"
MORE = 0.05
# Name: rows, features, classes, entries of a row, flags.
RUNS = {
    "columns, hinge, sparse": (2000, 3000, 20, 20, "--strategy ova --loss hinge --solver dual"),
    "columns, squared hinge, sparse": (2000, 3000, 20, 20, "--strategy ova --loss squared-hinge --solver dual"),
    "classes, hinge, sparse": (2000, 3000, 20, 20, "--strategy joint --loss hinge --solver dual"),
    "classes, softmax, sparse": (2000, 3000, 20, 20, "--strategy joint --loss logistic --solver dual"),
    "two classes, hinge": (4000, 120, 2, 14, "--loss hinge --solver dual"),
    "two classes, logistic by Newton": (4000, 120, 2, 14, "--loss logistic --solver newton"),
    "classes, softmax by Newton, dense": (1500, 40, 10, 40, "--strategy joint --loss logistic --solver newton"),
    "columns, squared hinge by Newton, dense": (1500, 40, 10, 40, "--strategy ova --loss squared-hinge --solver newton"),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--update", action="store_true", help="record what is counted")
    args = parser.parse_args()
    if not shutil.which("valgrind"):
        print("valgrind is not installed: no instructions were counted")
        return
    subprocess.run(["cargo", "build", "--release", "-p", "lineal-erm", "--example", "solvers"], cwd=ROOT, check=True)
    compiler = subprocess.run(["rustc", "--version"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()
    folder = TARGET / "instructions"
    folder.mkdir(parents=True, exist_ok=True)
    counted = {name: count(folder, *run) for name, run in RUNS.items()}
    if args.update:
        BASELINE.write_text(json.dumps({"compiler": compiler, "instructions": counted}, indent=1) + "\n")
    known = json.loads(BASELINE.read_text()) if BASELINE.exists() else {"compiler": None, "instructions": {}}
    same, slower = known["compiler"] == compiler, []
    for name, n in counted.items():
        before = known["instructions"].get(name)
        change = f"{n / before - 1:+.1%}" if before else "new"
        print(f"{name}: {n / 1e6:.1f} million instructions, {change}")
        if before and n > before * (1 + MORE):
            slower.append(name)
    if slower and same:
        sys.exit(f"more instructions than recorded: {', '.join(slower)}")
    if not same:
        print(f"recorded with {known['compiler']}, counted with {compiler}: nothing is compared")


def count(folder, n, d, k, entries, flags):
    """Instructions of a training, without those of reading: two runs of it less one."""
    path = folder / f"{n}-{d}-{k}-{entries}.svm"
    if not path.exists():
        path.write_text(rows(random.Random(17), n, d, k, entries))
    once, twice = (collect(folder, path, flags, repeat) for repeat in (1, 2))
    return twice - once


def rows(rng, n, d, k, entries):
    lines = []
    for _ in range(n):
        label = rng.randrange(k)
        if entries == d:
            cells = [f"{j + 1}:{rng.gauss(1.0 if j % k == label else 0.0, 1.0):.4g}" for j in range(d)]
        else:
            own = {(label * 37 + rng.randrange(40)) % d for _ in range(entries // 3)}
            places = sorted(own | {int(d * rng.random() ** 3) for _ in range(entries)})
            cells = [f"{j + 1}:{1 / len(places) ** 0.5:.4g}" for j in places]
        lines.append(f"{label} {' '.join(cells)}")
    return "\n".join(lines) + "\n"


def collect(folder, path, flags, repeat):
    program = TARGET / "release" / "examples" / "solvers"
    command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={folder / 'out'}", program, "train", path, "--tol", "1e-2", "--threads", "1", "--repeat", repeat, *flags.split()]
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=True)
    return int(re.search(r"Collected : (\d+)", done.stderr)[1])


if __name__ == "__main__":
    main()
