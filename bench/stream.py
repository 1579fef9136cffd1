#!/usr/bin/env python3
"""Peak memory of `lineal train --stream`: newsgroups, and five copies of it one after the other, as text and as LIBSVM.

    python3 bench/stream.py [--name NAME] [--data DIR] [--lineal PATH]

Rows are shuffled with a fixed seed first, as the files are sorted by class. Writes bench/record/DATE-NAME.md.
"""

import argparse
import datetime
import gzip
import json
import os
import random
import resource
import subprocess
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
COPIES = 5
SETS = {
    "text": ("train.jsonl.gz", "test.jsonl.gz", "rows.jsonl", ["--text", "text", "--label", "label", "--ignore", "id"]),
    "libsvm": ("tfidf-train.svm.gz", "tfidf-test.svm.gz", "rows.svm", []),
}


def main():
    args = arguments()
    if args.lineal is None:
        subprocess.run(["cargo", "build", "--release", "-p", "lineal-cli"], cwd=ROOT, check=True)
        args.lineal = ROOT / "target" / "release" / "lineal"
    lines = ["| set | copies | file MB | peak MB | seconds | accuracy on the way | test accuracy |", "|---|---|---|---|---|---|---|"]
    for name, (train, test, plain, flags) in SETS.items():
        folder = args.data / "newsgroups"
        with gzip.open(folder / train) as file:
            rows = file.readlines()
        random.Random(7).shuffle(rows)
        for copies in (1, COPIES):
            with tempfile.TemporaryDirectory() as place:
                data = Path(place) / plain
                data.write_bytes(b"".join(rows) * copies)
                run, peak = stream(args.lineal, data, folder / test, flags)
                megabytes = data.stat().st_size / 1e6
            seen, told = run["progressive"]["accuracy"], run["test"]["accuracy"]
            seconds = run["seconds"]["train"]
            lines.append(f"| {name} | {copies} | {megabytes:.0f} | {peak:.0f} | {seconds:.2f} | {seen:.4f} | {told:.4f} |")
            print(lines[-1], flush=True)
    today = datetime.date.today().isoformat()
    path = HERE / "record" / f"{today}-{args.name}.md"
    commit = subprocess.run(["git", "describe", "--always", "--dirty"], cwd=ROOT, capture_output=True, text=True).stdout.strip()
    path.write_text(f"# Streams, {today}, commit {commit}\n\n`python3 bench/stream.py`; load {os.getloadavg()[0]:.1f}\n\n" + "\n".join(lines) + "\n")
    print(f"wrote {path.relative_to(ROOT)}")


def stream(program, data, test, flags):
    """What a run says of itself, and its peak memory in MB. A process of its own, as the peak is that of all children."""
    child, parent = os.pipe()
    pid = os.fork()
    if pid == 0:
        command = [program, "train", data, "-o", data.with_suffix(".lineal"), "--stream", "--json", "-q", *flags]
        run = subprocess.run(command, check=True, capture_output=True, text=True)
        peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
        # Measured apart, so that the test rows, which are read as a whole, do not count.
        eval_command = [program, "eval", data.with_suffix(".lineal"), test, "--json"]
        told = json.loads(subprocess.run(eval_command, check=True, capture_output=True, text=True).stdout)
        os.write(parent, json.dumps([{**json.loads(run.stdout), "test": {"accuracy": told["accuracy"]}}, peak]).encode())
        os._exit(0)
    os.close(parent)
    with os.fdopen(child) as pipe:
        answer = pipe.read()
    if os.waitpid(pid, 0)[1] != 0 or not answer:
        raise SystemExit(f"{data.name}: lineal failed")
    return json.loads(answer)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--name", default="stream", help="of the record")
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("LINEAL_DATA", ROOT.parent / "shared" / "data")))
    parser.add_argument("--lineal", type=Path, help="the program [default: built here]")
    return parser.parse_args()


if __name__ == "__main__":
    main()
