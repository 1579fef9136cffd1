#!/usr/bin/env python3
"""The cost model of docs/cluster.md: what measured constants predict for 10⁹ rows, simulated task by task, as a picture.

    python3 bench/cluster_model.py [--rate R] [--task S] [--bandwidth B] > docs/cluster.svg

A pass is simulated: weights go to every worker in rounds, each of which doubles who has them; partitions are answered in order by whoever is free, each with its own delay; sums go up the tree. The
scheduler hands out tasks one after the other. Constants are those of bench/record, in entries per second of one thread, seconds of the scheduler per task, and bytes per second of one link.
"""

import argparse
import heapq
import math
import random
import sys

WORKERS = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024]
WIDTH = 8
CASES = [
    ("10⁹ rows × 100 dense features", 1e9 * 100, 101),
    ("10⁹ rows × 40 entries, 10⁶ features", 1e9 * 40, 1e6 + 1),
]
PER_THREAD, FEWEST = 4, 1024
"""Partitions of each thread, and the fewest that there are, so that one fits a worker."""


def simulate(entries, weights, partitions, workers, threads, constants, seed=0):
    """Seconds of one pass."""
    rng = random.Random(seed)
    vector = 8 * weights / constants.bandwidth
    ready = vector * (1 + math.ceil(math.log2(workers)) if workers > 1 else 1)
    free = [ready] * (workers * threads)
    heapq.heapify(free)
    done = []
    for number in range(partitions):
        handed = ready + number * constants.task
        start = max(heapq.heappop(free), handed)
        # Some tasks take longer: a busy neighbour, a slow disk.
        end = start + entries / partitions / constants.rate * rng.lognormvariate(0.0, 0.2)
        heapq.heappush(free, end)
        done.append(end)
    at = max(done)
    nodes = partitions
    while nodes > 1:
        nodes = math.ceil(nodes / WIDTH)
        # Vectors of other workers are fetched, WIDTH of them one after the other; nodes of a level are spread over the workers.
        at += math.ceil(nodes / workers) * (WIDTH * vector + constants.task)
    return at + vector


def picture(lines, out):
    """Seconds of a pass over the number of workers, both on logarithmic scales."""
    width, height, left, bottom, right, top = 720, 430, 64, 48, 20, 24
    low = math.floor(min(math.log10(s) for _, points in lines for s in points))
    high = math.ceil(max(math.log10(s) for _, points in lines for s in points))
    x = lambda i: left + i * (width - left - right) / (len(WORKERS) - 1)
    y = lambda s: height - bottom - (math.log10(s) - low) / (high - low) * (height - bottom - top)
    out.write(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="12" role="img" aria-label="Seconds of a pass over the number of workers, simulated">\n')
    out.write(f'<rect width="{width}" height="{height}" fill="#fff"/>\n')
    for power in range(low, high + 1):
        out.write(f'<line x1="{left}" x2="{width - right}" y1="{y(10**power):.1f}" y2="{y(10**power):.1f}" stroke="#ddd"/><text x="{left - 8}" y="{y(10**power) + 4:.1f}" text-anchor="end">{10**power:g}</text>\n')
    for i, n in enumerate(WORKERS):
        out.write(f'<text x="{x(i):.1f}" y="{height - bottom + 18}" text-anchor="middle">{n}</text>\n')
    out.write(f'<text x="{(width + left) / 2}" y="{height - 10}" text-anchor="middle">workers with 8 threads each</text><text x="{left}" y="14">seconds per pass (simulated)</text>\n')
    for at, (name, points) in enumerate(lines):
        color, dash = ("#1f5fbf", "#c0392b")[at], ("", ' stroke-dasharray="6 4"')[at]
        path = " ".join(f"{x(i):.1f},{y(s):.1f}" for i, s in enumerate(points))
        out.write(f'<polyline points="{path}" fill="none" stroke="{color}" stroke-width="2"{dash}/>\n')
        out.write("".join(f'<circle cx="{x(i):.1f}" cy="{y(s):.1f}" r="3" fill="{color}"/>' for i, s in enumerate(points)) + "\n")
        out.write(f'<text x="{x(3):.1f}" y="{top + 14 + 18 * at}" fill="{color}">{"– – " if at else "—— "}{name}</text>\n')
    out.write("</svg>\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rate", type=float, default=3e8, help="entries per second of one thread")
    parser.add_argument("--task", type=float, default=5e-4, help="seconds of the scheduler per task")
    parser.add_argument("--bandwidth", type=float, default=1.25e9, help="bytes per second of one link")
    constants = parser.parse_args()
    lines = []
    for name, entries, weights in CASES:
        lines.append((name, [simulate(entries, weights, max(FEWEST, PER_THREAD * 8 * n), n, 8, constants) for n in WORKERS]))
        print(name, *(f"{n}: {s:.2f} s" for n, s in zip(WORKERS, lines[-1][1])), sep="; ", file=sys.stderr)
    picture(lines, sys.stdout)


if __name__ == "__main__":
    main()
