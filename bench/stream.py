#!/usr/bin/env python3
"""Peak memory of `lineal train --stream`: newsgroups, and five and ten copies of it one after the other, as text and as LIBSVM.

    python3 bench/stream.py [--name NAME] [--data DIR] [--lineal PATH]

Rows are shuffled with a fixed seed first, as the files are sorted by class. Writes bench/record/DATE-NAME.md.
"""

import gzip
import json
import os
import random
import resource
import subprocess
import tempfile
from pathlib import Path

import frame

COPIES = (1, 5, 10)
SETS = {
    "text": ("train.jsonl.gz", "test.jsonl.gz", "rows.jsonl", ["--text", "text", "--label", "label", "--ignore", "id"]),
    "libsvm": ("tfidf-train.svm.gz", "tfidf-test.svm.gz", "rows.svm", []),
}


def main():
    args = frame.parser(__doc__, "stream").parse_args()
    frame.enter(args, peers=False)
    tables = frame.Tables()
    tables.table(None, ("set", "copies", "file MB", "peak MB", "seconds", "accuracy on the way", "test accuracy"))
    for name, (train, test, plain, flags) in SETS.items():
        folder = args.data / "newsgroups"
        with gzip.open(folder / train) as file:
            rows = file.readlines()
        random.Random(7).shuffle(rows)
        for copies in COPIES:
            with tempfile.TemporaryDirectory() as place:
                data = Path(place) / plain
                data.write_bytes(b"".join(rows) * copies)
                run, peak = stream(args.lineal, data, folder / test, flags)
                megabytes = data.stat().st_size / 1e6
            seen, told = run["progressive"]["accuracy"], run["test"]["accuracy"]
            tables.say(f"| {name} | {copies} | {megabytes:.0f} | {peak:.0f} | {run['seconds']['train']:.2f} | {seen:.4f} | {told:.4f} |")
    frame.record(args, "Streams", tables.lines)


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


if __name__ == "__main__":
    main()
