#!/usr/bin/env python3
"""Training on a Dask cluster of one machine: two workers against one, beside dask-ml and XGBoost; the constants of the cost model; a set larger than memory.

    python bench/cluster.py [--name NAME] [--part speed,constants,scale] [--rows N]

Run it with an interpreter that has lineal, dask and distributed; dask-ml and xgboost are measured where they are installed. Workers are processes with one thread each, on the loopback, and share the machine's
cores with the scheduler and the driver.
"""

import multiprocessing
import os
import statistics
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
from lineal import _dask_transport, _shards  # noqa: E402

PARTS = ("speed", "constants", "scale")
N_FEATURES, N_CLASSES, N_PARTITIONS, N_ALONE = 100, 40, 16, 3


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


class Timed(_dask_transport.Cluster):
    """Notes what each question takes."""

    passes = []

    def ask(self, question):
        started = time.perf_counter()
        found = super().ask(question)
        Timed.passes.append((question.kind, time.perf_counter() - started))
        return found


def gradient_of(n_rows, n_classes, dim):
    spec = '{"task": "classify", "loss": "logistic", "standardize": "never", "precision": "f64"}'
    return _shards.Question("gradient", np.zeros(dim), None, spec, n_classes, float(n_rows))


def alone(seeds, n_rows, gate):
    """A process that answers for some partitions, as often as it is asked."""
    plan = _shards.Plan(_shards.Kind("classes"), n_rows, N_FEATURES, float(n_rows), N_CLASSES, classes=np.arange(N_CLASSES))
    shards = [_shards.build((*rows(seed, n_rows // N_PARTITIONS, N_CLASSES), None), plan) for seed in seeds]
    question = gradient_of(n_rows, N_CLASSES, plan.dim)
    for _ in range(N_ALONE):
        gate.wait()
        _shards.tree([_shards.answer(shard, question) for shard in shards], _shards.add_sums)
        gate.wait()


class Suite(frame.Tables):
    def __init__(self, args):
        super().__init__()
        self.args = args

    def speed(self):
        """Two workers against one: passes of lineal, what the machine allows, and whole fits of others on the same rows. Passes are of many classes, so that they take seconds; dask-ml has two classes only."""
        self.limit()
        passes, fits, bits = {}, {}, {}
        lineal.dask.Cluster = Timed
        for n_workers in (1, 2):
            made, client = cluster(n_workers)
            Timed.passes = []
            model = lineal.dask.LogisticRegression(max_iter=1).fit(*collection(self.args.rows, N_CLASSES), client=client)
            passes[n_workers], bits[n_workers] = Timed.passes, model.coef_.tobytes()
            X, y = client.persist(list(collection(self.args.rows // 6, 2)))
            distributed.wait([X, y])
            for name, fit in (("lineal", ours), ("dask-ml", dask_ml), ("XGBoost gblinear", gblinear)):
                started = time.monotonic()
                try:
                    coef, intercept, note = fit(client, X, y)
                except Exception as why:
                    fits[name, n_workers] = (None, None, f"did not run: {type(why).__name__}: {str(why).splitlines()[0][:120]}")
                    continue
                took = time.monotonic() - started
                fits[name, n_workers] = (took, objective(X, y, coef, intercept), note)
            client.close(), made.close()
        self.table(f"Passes of lineal, {N_CLASSES} classes", ["question", "passes", "median s, 1 worker", "median s, 2 workers", "times as fast"])
        for kind in dict.fromkeys(kind for kind, _ in passes[1]):
            one, two = (statistics.median(took for which, took in passes[n] if which == kind) for n in (1, 2))
            self.say(f"| {kind} | {sum(which == kind for which, _ in passes[1])} | {one:.2f} | {two:.2f} | {one / two:.2f} |")
        one, two = (sum(took for _, took in passes[n]) for n in (1, 2))
        self.say(f"| all | {len(passes[1])} | {one:.1f} in all | {two:.1f} in all | {one / two:.2f} |")
        self.say(f"\n{self.args.rows:,} rows × {N_FEATURES} features in {N_PARTITIONS} partitions. Same bits: {bits[1] == bits[2]}.")
        self.table("Whole fits, two classes, C = 1", ["program", "s, 1 worker", "s, 2 workers", "times as fast", "objective, 1 worker", "objective, 2 workers", "what"])
        for name in dict.fromkeys(name for name, _ in fits):
            (one, first, note), (two, second, _) = fits[name, 1], fits[name, 2]
            self.say(f"| {name} | – | – | – | – | – | {note} |" if one is None or two is None else f"| {name} | {one:.1f} | {two:.1f} | {one / two:.2f} | {first:.9f} | {second:.9f} | {note} |")
        self.say(f"\n{self.args.rows // 6:,} rows × {N_FEATURES} features in memory; objectives are of the same function.")

    def limit(self):
        """The same passes by plain processes, which send nothing to each other."""
        context = multiprocessing.get_context("spawn")
        took = {}
        for n in (1, 2):
            gate = context.Barrier(n + 1)
            each = N_PARTITIONS // n
            started = [context.Process(target=alone, args=(range(at * each, (at + 1) * each), self.args.rows, gate)) for at in range(n)]
            for process in started:
                process.start()
            times = []
            for _ in range(N_ALONE):
                gate.wait()
                begun = time.perf_counter()
                gate.wait()
                times.append(time.perf_counter() - begun)
            for process in started:
                process.join()
            took[n] = min(times)
        self.table(f"The machine: gradients by plain processes, {N_CLASSES} classes", ["processes", "s per pass", "times as fast"])
        for n in (1, 2):
            self.say(f"| {n} | {took[n]:.2f} | {took[1] / took[n]:.2f} |")

    def constants(self):
        """What a pass is made of: entries per second, seconds per task, bytes per second."""
        self.table("Constants", ["what", "value"])
        X, y = rows(0, 100_000, 10)
        for n_classes in (2, 10):
            plan = _shards.Plan(_shards.Kind("classes"), len(X), N_FEATURES, float(len(X)), 1 if n_classes == 2 else 10, classes=np.arange(n_classes))
            shard = _shards.build((X, y % n_classes, None), plan)
            question = gradient_of(len(X), n_classes, plan.dim)
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


def objective(X, y, coef, intercept):
    """Mean logistic loss and ½‖w‖²/n, which C = 1 is."""
    scores = X @ np.ravel(coef) + float(np.ravel(intercept)[0])
    return float(da.logaddexp(0, -scores * (2 * y - 1)).mean().compute()) + 0.5 * float(np.square(coef).sum()) / len(y)


def ours(client, X, y):
    model = lineal.dask.LogisticRegression().fit(X, y, client=client)
    return model.coef_, model.intercept_, f"{model.certificate_}, {model.report_['cluster']['questions']} questions of {model.report_['cluster']['seconds_per_question']:.3f} s"


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
    parser.add_argument("--rows", type=int, default=1_200_000)
    args = parser.parse_args()
    suite = Suite(args)
    for part in args.part.split(","):
        getattr(suite, part)()
    frame.record(args, "Clusters", suite.lines, f"dask {dask.__version__}, workers with one thread each; driver and scheduler share the cores with them.")


if __name__ == "__main__":
    sys.path.insert(0, str(frame.HERE))
    main()
