"""What the suites share: their arguments, the environment with the peers, tables, and the record of a run."""

import argparse
import datetime
import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
INSIDE = "LINEAL_BENCH_INSIDE"
ONE_THREAD = {name: "1" for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS")}


def parser(description, name, parts=()):
    """The arguments that all suites have."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--name", default=name, help="of the record")
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("LINEAL_DATA", ROOT.parent / "shared" / "data")))
    parser.add_argument("--lineal", type=Path, help="the program [default: built here]")
    if parts:
        parser.add_argument("--repeat", type=int, default=3, help="timings of which the minimum counts")
        parser.add_argument("--part", default=",".join(parts), help="what to run")
    return parser


def enter(args, peers=True):
    """Goes on in an environment that has the peers, with the program built."""
    sys.path.insert(0, str(ROOT / "acceptance"))
    if peers and os.environ.get(INSIDE) != "1":
        import environment

        python = environment.ensure(ROOT / "target" / "bench-venv", HERE / "requirements.txt")
        os.execve(python, [str(python), *sys.argv], {**os.environ, **ONE_THREAD, INSIDE: "1"})
    if args.lineal is None:
        subprocess.run(["cargo", "build", "--release", "-p", "lineal-cli"], cwd=ROOT, check=True)
        args.lineal = ROOT / "target" / "release" / "lineal"
    args.lineal = args.lineal.resolve()


class Tables:
    """Lines that are printed as they come and kept for the record."""

    def __init__(self):
        self.lines = []

    def say(self, line):
        print(line, flush=True)
        self.lines.append(line)

    def table(self, title, columns):
        if title:
            self.say(f"\n## {title}\n")
        self.say("| " + " | ".join(columns) + " |")
        self.say("|" + "---|" * len(columns))


def record(args, title, lines, note=""):
    """Writes bench/record/DATE-NAME.md: what was run, on what, and the tables."""
    today = datetime.date.today().isoformat()
    path = HERE / "record" / f"{today}-{args.name}.md"
    commit = subprocess.run(["git", "describe", "--always", "--dirty"], cwd=ROOT, capture_output=True, text=True).stdout.strip()
    shown = [Path(word).name if word.startswith("/") else word for word in sys.argv[1:]]
    command = " ".join(["python3", f"bench/{Path(sys.argv[0]).name}", *shown])
    machine = f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} at the end."
    head = f"# {title}, {today}, commit {commit}\n\n`{command}`\n\n{' '.join([machine, note]).strip()}\n\n"
    path.write_text(head + "\n".join(lines) + "\n")
    print(f"wrote {path.relative_to(ROOT)}")
