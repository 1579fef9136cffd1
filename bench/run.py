#!/usr/bin/env python3
"""Lineal against LIBLINEAR and scikit-learn: same files, same objective, one thread, one after the other.

    python3 bench/run.py [--name NAME] [--data DIR] [--lineal PATH] [--repeat N] [--only TEXT] [--quick]

Prints tables and writes bench/record/DATE-NAME.md and .json. See bench/README.md for what the figures mean.
"""

import argparse
import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
INSIDE = "LINEAL_BENCH_INSIDE"
ONE_THREAD = {name: "1" for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS")}


def main():
    args = arguments()
    sys.path.insert(0, str(ROOT / "acceptance"))  # its objective in numpy, and its environment
    if os.environ.get(INSIDE) != "1":
        enter_environment()
    import measure
    import record
    import sets

    args.built_here = args.lineal is None
    if args.built_here:
        subprocess.run(["cargo", "build", "--release", "-p", "lineal-cli"], cwd=ROOT, check=True)
        args.lineal = ROOT / "target" / "release" / "lineal"
    sets.prepare(args.data, HERE / "data")
    with measure.Bench(args.lineal.resolve(), HERE / "data", args.repeat) as bench:
        results = {
            "training": bench.training(args.only),
            "reading": bench.reading() if args.only is None else [],
            "prediction": bench.prediction() if args.only is None else [],
        }
    record.write(HERE / "record", args, results, bench)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--name", default="foundation", help="of the record")
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("LINEAL_DATA", ROOT.parent / "shared" / "data")))
    parser.add_argument("--lineal", type=Path, help="the program [default: built here]")
    parser.add_argument("--repeat", type=int, default=3, help="timings of which the minimum counts")
    parser.add_argument("--only", help="training cases whose name or set contains this; no reading and prediction")
    parser.add_argument("--quick", action="store_true", help="a smoke run: every timing once, nothing recorded")
    args = parser.parse_args()
    args.repeat = 1 if args.quick else args.repeat
    if not args.data.is_dir():
        parser.error(f"{args.data} is not a folder; give the folder that has libsvm/ and newsgroups/")
    return args


def enter_environment():
    import environment

    python = environment.ensure(ROOT / "target" / "bench-venv", HERE / "requirements.txt")
    env = {**os.environ, **ONE_THREAD, INSIDE: "1"}
    os.execve(python, [str(python), str(HERE / "run.py"), *sys.argv[1:]], env)


if __name__ == "__main__":
    main()
