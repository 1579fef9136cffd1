"""RankSVM by scikit-learn: LinearSVC on explicit pairs. Reads a job as JSON, prints figures as JSON.

The job has `train`, `loss` (hinge or squared_hinge), `c` and `tol`. CPU seconds of making pairs and of fitting are given apart; the objective is the mean over pairs + (l2/2)‖w‖².
"""

import json
import sys
import time
from pathlib import Path

import numpy as np
from sklearn.svm import LinearSVC

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "acceptance"))
from test_ranking import read


def main():
    job = json.loads(Path(sys.argv[1]).read_text())
    x, grades, queries = read(Path(job["train"]).read_text())
    begun = time.process_time()
    pairs = []
    for name in dict.fromkeys(queries):
        of = np.flatnonzero(queries == name)
        better = grades[of][:, None] > grades[of][None, :]
        i, j = np.nonzero(better)
        pairs.append(np.stack([of[i], of[j]]))
    a, b = np.concatenate(pairs, axis=1)
    difference = x[a] - x[b]
    sign = np.where(np.arange(len(a)) % 2 == 0, 1.0, -1.0)
    rows = difference * sign[:, None]
    made = time.process_time()
    svc = LinearSVC(loss=job["loss"], C=job["c"], fit_intercept=False, dual=True, tol=job["tol"], max_iter=100_000, random_state=0)
    w = svc.fit(rows, sign).coef_[0]
    fitted = time.process_time()
    slack = np.maximum(0, 1 - difference @ w)
    loss = slack**2 if job["loss"] == "squared_hinge" else slack
    objective = float(np.mean(loss) + 0.5 / (job["c"] * len(a)) * w @ w)
    print(json.dumps({"pairs": len(a), "make": made - begun, "fit": fitted - made, "objective": objective}))


if __name__ == "__main__":
    main()
