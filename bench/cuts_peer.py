"""A cut of a grid by PyMaxflow, and its value by SciPy. Reads a job as JSON, prints figures as JSON.

The job has `width`, `height`, `kind` and `repeat`, or `file` with capacities; the formulas are those of crates/structures/graph/examples/cut.rs. CPU seconds are those of building the graph from arrays that are there
already, and of the flow; memory is the peak of the process after the arrays were made, less that before.
"""

import json
import resource
import sys
import time
from pathlib import Path

import maxflow
import numpy as np


def capacities(kind, width, height):
    """Terminal capacities, and those to the right and down."""
    y, x = np.mgrid[0:height, 0:width].astype(np.uint32)

    def noise(salt):
        with np.errstate(over="ignore"):
            h = x * np.uint32(0x9E3779B1) ^ y * np.uint32(0x85EBCA77) ^ np.uint32(salt * 0xC2B2AE3D & 0xFFFFFFFF)
            h = (h ^ (h >> np.uint32(15))) * np.uint32(0x2C1B3C6D)
            h = (h ^ (h >> np.uint32(12))) * np.uint32(0x297A2D39)
        return ((h ^ (h >> np.uint32(15))) >> np.uint32(16)).astype(np.int32) % 1000

    def inside(x, y):
        a, b = (x % 200).astype(np.int32) - 100, (y % 200).astype(np.int32) - 100
        return a * a + b * b < 3600

    sign = np.where(inside(x, y), 1, -1).astype(np.int32)
    if kind == "blobs":
        edge = lambda x2, y2, salt: np.where(inside(x, y) == inside(x2, y2), 300 + noise(salt) // 4, 60).astype(np.int32)
        return sign * 150 + noise(1) - 500, edge(x + 1, y, 2), edge(x, y + 1, 3)
    if kind == "noise":
        return noise(1) - 500, noise(2) // 2, noise(3) // 2
    weak = noise(1) - 500
    same = np.full((height, width), 400, np.int32)
    return sign * 20 + np.sign(weak) * (np.abs(weak) // 5), same, same


def peer(terminal, right, down):
    """Flow, seconds."""
    begun = time.process_time()
    height, width = terminal.shape
    graph = maxflow.Graph[int](width * height, 2 * width * height)
    ids = graph.add_grid_nodes((height, width))
    graph.add_grid_edges(ids, right, structure=np.array([[0, 0, 0], [0, 0, 1], [0, 0, 0]]), symmetric=True)
    graph.add_grid_edges(ids, down, structure=np.array([[0, 0, 0], [0, 0, 0], [0, 1, 0]]), symmetric=True)
    graph.add_grid_tedges(ids, np.maximum(terminal, 0), np.maximum(-terminal, 0))
    built = time.process_time()
    flow = graph.maxflow()
    return int(flow), built - begun, time.process_time() - built


def by_scipy(terminal, right, down):
    """The same flow by Dinic's algorithm."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import maximum_flow

    height, width = terminal.shape
    n = width * height
    ids = np.arange(n).reshape(height, width)
    ends = [(ids[:, :-1].ravel(), ids[:, 1:].ravel(), right[:, :-1].ravel()), (ids[:-1].ravel(), ids[1:].ravel(), down[:-1].ravel())]
    rows = [part for a, b, _ in ends for part in (a, b)] + [np.full(n, n), ids.ravel()]
    columns = [part for a, b, _ in ends for part in (b, a)] + [ids.ravel(), np.full(n, n + 1)]
    values = [part for _, _, c in ends for part in (c, c)] + [np.maximum(terminal, 0).ravel(), np.maximum(-terminal, 0).ravel()]
    graph = csr_array((np.concatenate(values).astype(np.int32), (np.concatenate(rows), np.concatenate(columns))), shape=(n + 2, n + 2))
    return int(maximum_flow(graph, n, n + 1).flow_value)


def main():
    job = json.loads(Path(sys.argv[1]).read_text())
    if "file" in job:
        planes = np.fromfile(job["file"], np.int32).reshape(job["height"], job["width"], 3)
        planes = [np.ascontiguousarray(planes[:, :, i]) for i in range(3)]
    else:
        planes = capacities(job["kind"], job["width"], job["height"])
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    runs = [peer(*planes) for _ in range(job.get("repeat", 1))]
    flow, build, cut = min(runs, key=lambda run: run[1] + run[2])
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    out = {"flow": flow, "build": build, "cut": cut, "seconds": build + cut, "peak_kb": peak}
    if job.get("scipy"):
        out["scipy"] = by_scipy(*planes)
    print(json.dumps(out))


if __name__ == "__main__":
    main()
