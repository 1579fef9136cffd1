#!/usr/bin/env python3
"""Minimum cuts of grids against PyMaxflow: CPU seconds of construction and cut on one thread, memory, and the same value.

    python3 bench/cuts.py [--name NAME] [--program PATH] [--repeat N] [--side N]

Both sides make the same whole numbers by the same formula (crates/structures/graph/examples/cut.rs) and are timed from arrays of capacities to the value of the flow. Memory is what each holds beyond those arrays. On a small grid SciPy's
maximum_flow is asked for the value, too.

Prints a table and writes bench/record/DATE-NAME.md. See bench/README.md for what the figures mean.
"""

import json
import subprocess
import sys
from pathlib import Path

import frame
from frame import HERE, ROOT

KINDS = {"blobs": "discs under noise, weak edges around them", "noise": "noise alone", "smooth": "weak noise, strong edges"}
SMALL = 150


def main():
    parser = frame.parser(__doc__, "cuts")
    parser.add_argument("--program", type=Path, help="the example `cut` [default: built here]")
    parser.add_argument("--repeat", type=int, default=3, help="runs of both by turns, of which the fastest count")
    parser.add_argument("--side", type=int, default=1000, help="pixels in a row and in a column")
    args = parser.parse_args()
    # The program itself is not run.
    args.lineal = args.lineal or Path(sys.executable)
    frame.enter(args)
    if args.program is None:
        subprocess.run(["cargo", "build", "--release", "-p", "lineal-graph", "--example", "cut"], cwd=ROOT, check=True)
        args.program = ROOT / "target" / "release" / "examples" / "cut"
    suite = Suite(args)
    suite.run()
    frame.record(args, "Minimum cuts of grids", suite.lines)


class Suite(frame.Tables):
    def __init__(self, args):
        super().__init__()
        self.args = args

    def peer(self, kind, side, **more):
        path = HERE / "data" / "cut.json"
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps({"width": side, "height": side, "kind": kind, "repeat": 1, **more}))
        return self.json([sys.executable, HERE / "cuts_peer.py", path])

    def ours(self, kind, side):
        return self.json([self.args.program, side, side, kind, 1])

    def json(self, command):
        return json.loads(subprocess.run([str(word) for word in command], capture_output=True, text=True, check=True).stdout)

    def run(self):
        side = self.args.side
        self.table(f"{side} × {side} pixels, 4 neighbours, one thread", ("", "PyMaxflow build + cut s", "Lineal s", "ratio", "PyMaxflow MB", "Lineal MB", "same flow", "SciPy"))
        rows = []
        for kind, what in KINDS.items():
            # Turn by turn, so that a busy machine is busy for both.
            runs = [(self.peer(kind, side), self.ours(kind, side)) for _ in range(self.args.repeat)]
            peer, ours = (min(side, key=lambda run: run["seconds"]) for side in zip(*runs))
            small = self.peer(kind, SMALL, scipy=True), self.ours(kind, SMALL)
            assert peer["flow"] == ours["flow"], (peer, ours)
            assert small[0]["scipy"] == small[0]["flow"] == small[1]["flow"], small
            cells = (f"{kind}: {what}", f"{peer['build']:.3f} + {peer['cut']:.3f}", f"{ours['seconds']:.3f}", f"{peer['seconds'] / ours['seconds']:.1f}")
            memory = (f"{peer['peak_kb'] / 1024:.0f}", f"{ours['cut_bytes'] / 2**20:.0f}", "yes", "agrees")
            rows.append((peer["seconds"] / ours["seconds"], "| " + " | ".join(cells + memory) + " |"))
        for _, row in sorted(rows):
            self.say(row)


if __name__ == "__main__":
    main()
