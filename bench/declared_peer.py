"""Declared problems by HiGHS. Reads problems as JSON lines, prints figures as JSON.

A line has `sizes` (labels of each variable), `tables` (variables of each table), `rules` (variables, amounts of their labels, and the least sum), `theta` (scores of labels, then of
tables) and `score` (the best, as Lineal found it). The lines are those of `cargo run --release -p lineal-declared --example conll04 -- DIRECTORY --problems FILE`. Seconds are of building and
solving one model for each line.
"""

import json
import sys
import time
from itertools import product
from pathlib import Path

import highspy
import numpy as np


def best(problem):
    sizes, theta = problem["sizes"], np.array(problem["theta"])
    starts = np.concatenate([[0], np.cumsum(sizes)])
    model = highspy.Highs()
    model.setOptionValue("output_flag", False)
    model.setOptionValue("threads", 1)
    model.setOptionValue("mip_rel_gap", 0.0)
    model.setOptionValue("mip_abs_gap", 1e-9)
    n = len(theta)
    model.addVars(n, np.zeros(n), np.ones(n))
    model.changeColsCost(n, np.arange(n, dtype=np.int32), -theta)
    unary = int(starts[-1])
    model.changeColsIntegrality(unary, np.arange(unary, dtype=np.int32), np.array([highspy.HighsVarType.kInteger] * unary))

    def row(low, high, columns, values):
        model.addRow(low, high, len(columns), np.array(columns, dtype=np.int32), np.array(values, dtype=float))

    for v, size in enumerate(sizes):
        row(1, 1, range(starts[v], starts[v] + size), np.ones(size))
    first = unary
    for scope in problem["tables"]:
        joint = list(product(*(range(sizes[v]) for v in scope)))
        for at, v in enumerate(scope):
            for label in range(sizes[v]):
                columns = [first + j for j, labels in enumerate(joint) if labels[at] == label]
                row(0, 0, columns + [starts[v] + label], [1.0] * len(columns) + [-1.0])
        first += len(joint)
    for scope, amounts, low in problem["rules"]:
        columns = [starts[v] + label for v, of in zip(scope, amounts) for label in range(len(of))]
        row(low, highspy.kHighsInf, columns, [a for of in amounts for a in of])
    model.run()
    if model.getModelStatus() != highspy.HighsModelStatus.kOptimal:
        raise SystemExit(f"HiGHS ended with {model.getModelStatus()}")
    return -model.getInfo().objective_function_value


def main():
    problems = [json.loads(line) for line in Path(sys.argv[1]).read_text().splitlines()]
    seconds, worst = [], 0.0
    for problem in problems:
        if not problem["sizes"]:
            continue
        begun = time.perf_counter()
        score = best(problem)
        seconds.append(time.perf_counter() - begun)
        worst = max(worst, abs(score - problem["score"]))
    print(json.dumps({"problems": len(seconds), "worst_difference": worst, "mean_seconds": float(np.mean(seconds)), "longest": max(seconds)}))


if __name__ == "__main__":
    main()
