#!/usr/bin/env python3
"""Training on a Dask cluster of one machine: two workers against one, beside dask-ml and XGBoost; the constants of the cost model; a set larger than memory.

    python bench/cluster.py [--name NAME] [--part speed,peers,constants,scale] [--rows N]

Run it with an interpreter that has lineal, dask and distributed; dask-ml and xgboost are measured where they are installed. Workers are processes with one thread each, on the loopback, and share the machine's
cores with the scheduler and the driver.
"""

import os
import sys
import tempfile
import time
import warnings
from pathlib import Path

os.environ.update({name: "1" for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")})

import dask  # noqa: E402
import dask.array as da  # noqa: E402
import distributed  # noqa: E402
import numpy as np  # noqa: E402

import frame  # noqa: E402
import lineal.dask  # noqa: E402
from lineal import _shards  # noqa: E402

PARTS = ("speed", "peers", "constants", "scale")
N_FEATURES, N_PARTITIONS = 100, 16


def rows(seed, n, n_classes):
    """A partition, made by the worker that holds it."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, N_FEATURES), dtype=np.float32)
    w = np.random.default_rng(10**6).normal(size=(N_FEATURES, n_classes))
    return X, (X @ w + 4 * rng.gumbel(size=(n, n_classes))).argmax(axis=1)


def collection(n, n_classes):
    size = n // N_PARTITIONS
    made = [dask.delayed(rows, nout=2)(seed, size, n_classes) for seed in range(N_PARTITIONS)]
    X = da.concatenate([da.from_delayed(x, (size, N_FEATURES), np.float32) for x, _ in made])
    return X, da.concatenate([da.from_delayed(y, (size,), np.int64) for _, y in made])


def cluster(n_workers, memory="4GB"):
    made = distributed.LocalCluster(n_workers=n_workers, threads_per_worker=1, processes=True, dashboard_address=None, memory_limit=memory)
    client = distributed.Client(made)
    client.wait_for_workers(n_workers)
    return made, client


class Suite(frame.Tables):
    def __init__(self, args):
        super().__init__()
        self.args = args

    def speed(self):
        """Seconds of a pass, of which most take more than one on one worker."""
        self.table("Two workers against one", ["workers", "partitions", "rows", "passes", "median s per pass", "fit, s"])
        found = {}
        for n_workers in (1, 2):
            made, client = cluster(n_workers)
            X, y = collection(self.args.rows, 10)
            started = time.monotonic()
            model = lineal.dask.LogisticRegression(max_iter=1).fit(X, y, client=client)
            about = model.report_["cluster"]
            found[n_workers] = (about["seconds_per_question"], model.coef_.tobytes())
            self.say(f"| {n_workers} | {about['partitions']} | {self.args.rows:,} | {about['questions']} | {about['seconds_per_question']:.3f} | {time.monotonic() - started:.1f} |")
            client.close(), made.close()
        self.say(f"\nTwo workers are {found[1][0] / found[2][0]:.2f} times as fast as one. Same bits: {found[1][1] == found[2][1]}.")

    def peers(self):
        """Binary logistic regression with C = 1 on two workers; objectives are of the same function."""
        made, client = cluster(2)
        X, y = collection(self.args.rows // 2, 2)
        X, y = client.persist([X, y])
        distributed.wait([X, y])
        self.table("Beside others, two workers, two classes", ["program", "fit, s", "objective", "what"])

        def objective(coef, intercept):
            scores = X @ np.ravel(coef) + float(np.ravel(intercept)[0])
            signs = 2 * y - 1
            total = da.log1p(da.exp(-da.fabs(scores * signs))) + da.maximum(-scores * signs, 0)
            return float(total.mean().compute()) + 0.5 * float(np.square(coef).sum()) / len(y)

        started = time.monotonic()
        model = lineal.dask.LogisticRegression().fit(X, y, client=client)
        self.say(f"| lineal | {time.monotonic() - started:.1f} | {objective(model.coef_, model.intercept_):.9f} | {model.certificate_} |")
        for name, fit in (("dask-ml", dask_ml), ("XGBoost gblinear", gblinear)):
            started = time.monotonic()
            try:
                coef, intercept, note = fit(client, X, y)
            except Exception as why:
                self.say(f"| {name} | – | – | did not run: {type(why).__name__}: {str(why).splitlines()[0][:120]} |")
                continue
            self.say(f"| {name} | {time.monotonic() - started:.1f} | {objective(coef, intercept):.9f} | {note} |")
        client.close(), made.close()

    def constants(self):
        """What a pass is made of: entries per second, seconds per task, bytes per second."""
        self.table("Constants", ["what", "value"])
        X, y = rows(0, 100_000, 10)
        for n_classes in (2, 10):
            plan = _shards.Plan(_shards.Kind("classes"), len(X), N_FEATURES, float(len(X)), 1 if n_classes == 2 else 10, classes=np.arange(n_classes))
            shard = _shards.build((X, y % n_classes, None), plan)
            spec = '{"task": "classify", "loss": "logistic", "standardize": "never", "precision": "f64"}'
            question = _shards.Question("gradient", np.zeros(plan.dim), None, spec, n_classes, plan.total)
            took = min(timed(lambda: _shards.answer(shard, question)) for _ in range(5))
            self.say(f"| entries per second of one thread, {plan.n_outputs} output{'s' if plan.n_outputs > 1 else ''} | {X.size / took:.3g} |")
        made, client = cluster(2)
        for n in (16, 128):
            small = da.from_array(np.ones((n, 1)), chunks=(1, 1)), da.from_array(np.arange(n) % 2, chunks=1)
            about = lineal.dask.LogisticRegression().fit(*small, client=client).report_["cluster"]
            self.say(f"| seconds per pass, {n} partitions of one row | {about['seconds_per_question']:.4f} |")
        wide = 2_000_000
        X = da.concatenate([da.from_delayed(dask.delayed(spread)(seed, wide), (2, wide), np.float32) for seed in range(4)])
        about = lineal.dask.LogisticRegression(max_iter=1).fit(X, da.from_array(np.arange(8) % 2, chunks=2), client=client).report_["cluster"]
        self.say(f"| seconds per pass, 4 partitions, {8 * wide / 1e6:.0f} MB of weights | {about['seconds_per_question']:.3f} |")
        client.close(), made.close()

    def scale(self):
        """A Parquet set five times the memory of each worker, in streaming passes. What a worker imports takes 200 MB (scikit-learn, pandas, pyarrow), and where `sparse` is installed, as for dask-ml, 270; it pauses at 80 % of its memory."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        limit, n = 350e6, 36
        with tempfile.TemporaryDirectory(prefix="lineal-bench-") as folder:
            for seed in range(n):
                X, y = rows(seed, 125_000, 2)
                pq.write_table(pa.table([*np.round(X.T * 8) / 8, y], names=[f"f{j}" for j in range(N_FEATURES)] + ["label"]), f"{folder}/{seed:03}.parquet", row_group_size=50_000)
            on_disk = sum(path.stat().st_size for path in Path(folder).iterdir())
            made, client = cluster(2, int(limit))
            started = time.monotonic()
            model = lineal.dask.LogisticRegression(max_iter=1).fit(f"{folder}/*.parquet", "label", client=client, block=24 << 20)
            about = model.report_["cluster"]
            peak = max(client.run(peak_memory).values())
            self.table("Larger than memory", ["rows", "bytes of rows", "on disk", "memory of a worker", "partitions", "kept", "questions", "s per question", "fit, s", "most memory that a worker had"])
            self.say(f"| {n * 125_000:,} | {about['bytes'] / 1e9:.2f} GB | {on_disk / 1e9:.2f} GB | {limit / 1e9:.1f} GB | {about['partitions']} | {about['kept']} | {about['questions']} | {about['seconds_per_question']:.2f} | {time.monotonic() - started:.0f} | {peak / 1e6:.0f} MB |")
            client.close(), made.close()


def spread(seed, wide):
    return np.random.default_rng(seed).standard_normal((2, wide), dtype=np.float32)


def peak_memory():
    """Of this process alone: `ru_maxrss` begins with what the process that started it had."""
    with open("/proc/self/status") as file:
        return next(1024 * int(line.split()[1]) for line in file if line.startswith("VmHWM"))


def timed(f):
    started = time.perf_counter()
    f()
    return time.perf_counter() - started


def dask_ml(client, X, y):
    from dask_ml.linear_model import LogisticRegression

    # C there is 1 / the factor of ½‖w‖² in the sum over rows, as in scikit-learn; the intercept is penalised, too.
    model = LogisticRegression(C=1.0, solver="lbfgs", max_iter=100, tol=1e-6).fit(X, y)
    return model.coef_, model.intercept_, "lbfgs, 100 iterations at most"


def gblinear(client, X, y):
    import xgboost.dask

    data = xgboost.dask.DaskDMatrix(client, X, y)
    settings = {"booster": "gblinear", "objective": "binary:logistic", "updater": "coord_descent", "lambda": 1.0, "alpha": 0.0, "nthread": 1}
    booster = xgboost.dask.train(client, settings, data, num_boost_round=50)["booster"]
    import json

    weights = json.loads(booster.save_raw("json"))["learner"]["gradient_booster"]["model"]["weights"]
    return np.array(weights[:-1]), np.array(weights[-1:]), "50 rounds of coordinate descent"


def main():
    warnings.filterwarnings("ignore")
    parser = frame.parser(__doc__, "cluster", PARTS)
    parser.add_argument("--rows", type=int, default=1_600_000)
    args = parser.parse_args()
    suite = Suite(args)
    for part in args.part.split(","):
        getattr(suite, part)()
    frame.record(args, "Clusters", suite.lines, f"dask {dask.__version__}, workers with one thread each; driver and scheduler share the cores with them.")


if __name__ == "__main__":
    sys.path.insert(0, str(frame.HERE))
    main()
