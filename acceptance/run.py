#!/usr/bin/env python3
"""Acceptance tests: the program `lineal` against scikit-learn, LIBLINEAR, scipy and its own certificates.

    python3 acceptance/run.py --lineal target/release/lineal [--data DIR] [--only NAME] [--jobs N] [--verbose]

Groups of checks run side by side, one per core unless `--jobs` says otherwise. The last line is `N passed, N failed`; the exit code is 1 if something failed. The peers live in a virtual
environment of their own, target/acceptance-venv, which is made when requirements.txt changes. The data is DIR, or
$LINEAL_DATA, or ../shared/data beside the repository; where there is none, synthetic sets take its place.
"""

import argparse
import multiprocessing
import os
import sys
import tempfile
import time
from pathlib import Path

from checks import Checks

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
INSIDE = "LINEAL_ACCEPTANCE_INSIDE"


def main():
    args = arguments()
    if os.environ.get(INSIDE) != "1":
        enter_environment()
    global Program
    import problems  # from here on the peers can be imported
    import test_constituency
    import test_declared
    import test_dependencies
    import test_exchange
    import test_objectives
    import test_penalties
    import test_predictions
    import test_progress
    import test_ranking
    import test_reports
    import test_segmentation
    import test_serve
    import test_strategies
    import test_tables
    import test_tags
    import test_text
    import test_tune
    from program import Program

    started = time.monotonic()
    sets = problems.find(data_folder(args))
    print(f"data: {sets.origin}", flush=True)
    modules = (test_objectives, test_predictions, test_penalties, test_strategies, test_tags, test_dependencies, test_constituency, test_ranking, test_segmentation, test_declared, test_text, test_tables, test_tune, test_reports, test_serve, test_progress, test_exchange)
    tests = [(name, test) for module in modules for name, test in module.TESTS.items() if args.only is None or args.only in name]
    total = Checks()
    seconds = n_runs = 0
    with tempfile.TemporaryDirectory(prefix="lineal-models-") as folder:
        # Forked, so that every process has the sets and the tests without copying them.
        with multiprocessing.get_context("fork").Pool(args.jobs, start, (args, folder, sets, tests)) as pool:
            for checks, program in pool.imap_unordered(run_group, range(len(tests))):
                total.add(checks)
                seconds, n_runs = seconds + program[0], n_runs + program[1]
    print(f"took {time.monotonic() - started:.0f} s, of which lineal {seconds:.0f} s in {n_runs} runs")
    total.finish()


def start(args, folder, sets, tests):
    """What a process that runs groups knows."""
    global SHARED
    SHARED = (args, folder, sets, tests)


def run_group(number):
    """One group of checks: what they found, and how long and how often the program ran."""
    args, folder, sets, tests = SHARED
    checks, program = Checks(verbose=args.verbose), Program(args.lineal, folder)
    checks.group(*tests[number], program, sets)
    return checks, (program.seconds, program.n_runs)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lineal", required=True, type=Path, help="the program to test")
    parser.add_argument("--data", type=Path, help="folder with libsvm/ and newsgroups/")
    parser.add_argument("--only", help="run the groups whose name contains this")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="groups that run at the same time")
    parser.add_argument("--verbose", action="store_true", help="show the checks that passed, too")
    args = parser.parse_args()
    args.lineal = args.lineal.resolve()
    if not os.access(args.lineal, os.X_OK):
        parser.error(f"{args.lineal} is not a program; build it with: cargo build --release -p lineal-cli")
    if args.data is not None and not args.data.is_dir():
        parser.error(f"{args.data} is not a folder")
    return args


def data_folder(args):
    if args.data is not None:
        return args.data
    if os.environ.get("LINEAL_DATA"):
        return Path(os.environ["LINEAL_DATA"])
    return ROOT.parent / "shared" / "data"


def enter_environment():
    """Runs this file again with the Python of the pinned environment."""
    sys.path.insert(0, str(HERE))
    import environment

    python = environment.ensure(ROOT / "target" / "acceptance-venv", HERE / "requirements.txt")
    # One thread: two that spin for each other on a busy machine take twenty times as long on matrices as small as these.
    env = {**os.environ, INSIDE: "1", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    os.execve(python, [str(python), str(HERE / "run.py"), *sys.argv[1:]], env)


if __name__ == "__main__":
    main()
