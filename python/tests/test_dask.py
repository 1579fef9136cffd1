"""Training on a Dask cluster: the same bits on any number of workers, after losses and restarts, and the results of one machine."""

import gzip
import json
import os
import signal
import threading
from pathlib import Path

import numpy as np
import pytest

import lineal

pytest.importorskip("distributed")
import dask  # noqa: E402
import dask.array as da  # noqa: E402
import dask.bag as db  # noqa: E402
import dask.dataframe as dd  # noqa: E402
import distributed  # noqa: E402
import pandas as pd  # noqa: E402
from scipy import sparse  # noqa: E402

import lineal.dask as ld  # noqa: E402
from lineal import _cluster, _dask_transport, _shards, _sources  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
DATA = Path(os.environ.get("LINEAL_DATA") or ROOT.parent / "shared" / "data")
pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(scope="module")
def cluster():
    """Workers that are processes, on loopback, without a dashboard."""
    dask.config.set({"distributed.scheduler.allowed-failures": 1, "distributed.comm.timeouts.connect": "30s"})
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, memory_limit="2GB") as made:
        yield made


@pytest.fixture
def client(cluster):
    cluster.scale(2)
    with distributed.Client(cluster, set_as_default=False) as made:
        made.wait_for_workers(2, timeout=60)
        yield made


def rows(n=600, d=12, n_classes=2, seed=0):
    """Rows whose classes overlap, and numbers."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    scores = X @ rng.normal(size=(d, n_classes)) + 2.0 * rng.gumbel(size=(n, n_classes))
    return X, scores.argmax(axis=1), X @ rng.normal(size=d) + rng.normal(size=n)


def in_bits(model):
    if hasattr(model, "coef_"):
        return model.coef_.tobytes() + np.asarray(model.intercept_).tobytes()
    return model._model.weights.tobytes() + model._model.bias.tobytes()


def texts(n=120):
    words = ["wine", "red", "white", "grape", "cork", "goal", "match", "team", "ball", "player", "vote", "party", "law", "house", "bill"]
    rng = np.random.default_rng(3)
    ids = rng.integers(0, 3, size=n)
    made = [" ".join(words[5 * c + k] if rng.random() < 0.7 else rng.choice(words) for k in rng.integers(0, 5, size=12)) for c in ids]
    return made, np.array(["drink", "sport", "state"])[ids]


def cases():
    """Estimators on partitions, their twins on one machine, and the data of both."""
    X, y, numbers = rows()
    many = rows(n_classes=4, seed=1)[1]
    short = sparse.csr_matrix(np.where(np.abs(X) > 0.8, X, 0).astype(np.float32))
    labels = (rows(seed=2)[0][:, :3] > 0.4).astype(int)
    weights = np.random.default_rng(5).uniform(0.2, 2.0, size=len(y))
    chunks = (130, 12)
    dense, flat = da.from_array(X, chunks=chunks), lambda a: da.from_array(a, chunks=130)
    thin = da.from_delayed(dask.delayed(short[:300]), shape=(300, 12), dtype=np.float32, meta=short[:0])
    thin = da.concatenate([thin, da.from_delayed(dask.delayed(short[300:]), shape=(300, 12), dtype=np.float32, meta=short[:0])])
    docs, kinds = texts()
    frame = pd.DataFrame(X, columns=[f"f{j}" for j in range(12)])
    return {
        "two classes": (ld.LogisticRegression(), (dense, flat(y)), lineal.LogisticRegression(), (X, y)),
        "penalised bias": (ld.LogisticRegression(solver="liblinear"), (dense, flat(y)), lineal.LogisticRegression(solver="liblinear", tol=1e-7), (X, y)),
        "weights": (ld.LogisticRegression(class_weight="balanced"), (dense, flat(y), flat(weights)), lineal.LogisticRegression(class_weight="balanced"), (X, y, weights)),
        "four classes, sparse": (ld.LogisticRegression(C=3.0), (thin, da.from_array(many, chunks=300)), lineal.LogisticRegression(C=3.0), (short, many)),
        "newton": (ld.LogisticRegression(solver="newton-cg"), (dense, flat(many)), lineal.LogisticRegression(), (X, many)),
        "l1": (ld.LogisticRegression(l1_ratio=1.0, C=0.1), (dense, flat(y)), lineal.LogisticRegression(l1_ratio=1.0, C=0.1), (X, y)),
        "frame": (ld.LinearSVC(), (dd.from_pandas(frame, npartitions=3), dd.from_pandas(pd.Series(y), npartitions=3)), lineal.LinearSVC(), (frame, y)),
        "svm of four": (ld.LinearSVC(), (dense, flat(many)), lineal.LinearSVC(), (X, many)),
        "ridge": (ld.Ridge(alpha=2.0), (dense, flat(numbers)), lineal.Ridge(alpha=2.0), (X, numbers)),
        "labels": (ld.MultilabelClassifier(), (dense, da.from_array(labels, chunks=(130, 3))), lineal.MultilabelClassifier(threshold=0.5, tol=1e-7), (X, labels)),
        "text": (ld.TextClassifier(), (db.from_sequence(docs, npartitions=3), db.from_sequence(list(kinds), npartitions=3)), lineal.TextClassifier(tol=1e-7), (docs, kinds)),
    }


@pytest.mark.parametrize("name", list(cases()))
def test_results_are_those_of_one_machine(name):
    """In this process, by the same shards: the objective, the certificate, and what is predicted."""
    ours, data, twin, plain = cases()[name]
    ours.fit(*data, client=False)
    twin.fit(*plain)
    assert ours.certificate_.converged
    a, b = ours.certificate_, twin.certificate_
    assert abs(a.objective - b.objective) <= 1e-6 * max(1.0, b.objective), (a, b)
    if name != "l1":
        assert a.gap is not None and 0 <= a.gap <= 2e-6 * a.objective
        # What is proven holds of the other's weights, too.
        assert a.objective - a.gap <= b.objective + 1e-12
    mine, theirs = ours.predict(plain[0]), twin.predict(plain[0])
    if name == "ridge":
        np.testing.assert_allclose(mine, theirs, atol=1e-5)
    else:
        assert np.mean(np.asarray(mine) != np.asarray(theirs)) <= 0.004
    lazy = ours.predict(data[0])
    assert not isinstance(lazy, (np.ndarray, list))
    found = lazy.compute(scheduler="synchronous")
    assert (np.asarray(found) == np.asarray(mine)).all()


@pytest.mark.parametrize("name", ["two classes", "four classes, sparse", "frame", "ridge", "labels", "text"])
def test_the_same_bits_on_two_workers(name, client):
    here, data = cases()[name][0].fit(*cases()[name][1], client=False), cases()[name][1]
    there = cases()[name][0].fit(*data, client=client)
    assert in_bits(here) == in_bits(there)
    assert there.report_["cluster"]["workers"] == 2 and there.report_["cluster"]["kept"]
    assert [event["pass"] for _, event in client.get_events("lineal")][-1] == there.report_.curve[-1]["pass"]
    lazy = there.predict(data[0])
    found = client.compute(lazy).result(timeout=60)
    assert len(found) == (120 if name == "text" else 600)


def a9a():
    """a9a fifty times with a little noise, by seed; something of that shape where it is not there."""
    rng = np.random.default_rng(0)
    path = DATA / "libsvm/a9a.gz"
    if path.exists():
        from sklearn.datasets import load_svmlight_file

        X, y = load_svmlight_file(str(path), n_features=123, dtype=np.float32)
    else:
        X = sparse.random(2000, 123, density=0.11, format="csr", random_state=0, dtype=np.float32)
        y = np.sign(X @ rng.normal(size=123) + rng.normal(size=2000))
    return X.tocsr(), y


def copies(X, y, seed, flipped=0.02):
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(y))
    return X[order], np.where(rng.random(len(y)) < flipped, -y, y)[order]


def several(X, y, seeds):
    made = [copies(X, y, seed) for seed in seeds]
    return sparse.vstack([x for x, _ in made], format="csr"), np.concatenate([t for _, t in made])


def a9a_partitions(n, each=5):
    """``n`` copies, ``each`` of them a partition that its worker makes from seeds."""
    X, y = a9a()
    whole = dask.delayed((X, y))
    made = [dask.delayed(several, nout=2)(whole[0], whole[1], range(first, first + each)) for first in range(0, n, each)]
    Xs = [da.from_delayed(x, shape=(each * X.shape[0], 123), dtype=np.float32, meta=X[:0]) for x, _ in made]
    ys = [da.from_delayed(t, shape=(each * len(y),), dtype=y.dtype) for _, t in made]
    return da.concatenate(Xs), da.concatenate(ys)


class Killing(_dask_transport.Cluster):
    """Kills a worker that holds shards while the fifth pass runs."""

    n_asked = 0

    def ask(self, question):
        Killing.n_asked += 1
        if Killing.n_asked == 5:
            pids = list(self.client.run(os.getpid).values())
            threading.Timer(0.02, os.kill, (pids[0], signal.SIGKILL)).start()
        return super().ask(question)


def test_workers_come_and_go(cluster, client, monkeypatch):
    """a9a × 50 on 1, 2 and 4 workers, with one of them killed in pass 5, and in one process: the same bits."""
    X, y = a9a_partitions(50)
    # Twenty passes: it is bits that are compared, not optima.
    model = lambda: ld.LogisticRegression(C=0.01, max_iter=2)
    found = {}
    for n in (1, 2, 4):
        cluster.scale(n)
        client.wait_for_workers(n, timeout=60)
        while len(client.scheduler_info()["workers"]) != n:
            client.sync(lambda: __import__("asyncio").sleep(0.1))
        found[n] = in_bits(model().fit(X, y, client=client))
    monkeypatch.setattr(ld, "Cluster", Killing)
    before = set(client.run(os.getpid).values())
    killed = model().fit(X, y, client=client)
    assert Killing.n_asked > 5 and not before <= set(client.run(os.getpid).values())
    assert found[1] == found[2] == found[4] == in_bits(killed)
    monkeypatch.undo()
    assert found[1] == in_bits(model().fit(X, y, client=False))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Texts in folders by their class: newsgroups, where they are."""
    out = tmp_path_factory.mktemp("groups")
    path = DATA / "newsgroups/train.jsonl.gz"
    if path.exists():
        with gzip.open(path, "rt") as file:
            read = [json.loads(line) for line in file]
        label = "label" if "label" in read[0] else next(key for key in read[0] if key != "text")
        kept = sorted({row[label] for row in read})[:4]
        pairs = [(row["text"], row[label]) for row in read if row[label] in kept]
    else:
        pairs = list(zip(*texts(400)))
    counts = {}
    for text, kind in pairs:
        counts[kind] = counts.get(kind, 0) + 1
        if counts[kind] <= 150:
            (out / kind).mkdir(exist_ok=True)
            (out / kind / f"{counts[kind]:04}.txt").write_text(text)
    return out


def test_text_from_a_folder_of_files(folder, client, monkeypatch):
    monkeypatch.setattr(_sources, "FILES_AT_ONCE", 100)
    files = sorted(folder.glob("*/*.txt"))
    read, kinds = [path.read_text() for path in files], [path.parent.name for path in files]
    there = ld.TextClassifier(min_df=2).fit(str(folder / "*/*.txt"), client=client)
    here = ld.TextClassifier(min_df=2).fit(str(folder / "*/*.txt"), client=False)
    assert in_bits(there) == in_bits(here)
    assert there.report_["cluster"]["partitions"] >= 3
    whole = ld.TextClassifier().fit(str(folder / "*/*.txt"), client=client)
    twin = lineal.TextClassifier(tol=1e-7).fit(read, kinds)
    assert abs(whole.certificate_.objective - twin.certificate_.objective) <= 1e-6
    assert whole._model.feature_names == twin._model.feature_names
    np.testing.assert_allclose(whole.decision_function(read), twin.decision_function(read), atol=2e-3)
    assert (whole.predict(str(folder / "*/*.txt")).compute(scheduler="synchronous") == whole.predict(read)).all()
    assert list(whole.classes_) == list(twin.classes_)
    whole.save(folder / "m.lineal")
    assert (lineal.load(folder / "m.lineal").predict(read[:20]) == whole.predict(read[:20])).all()
    with pytest.raises(AttributeError, match="probabilities"):
        whole.predict_proba(read)


def test_newsgroups(client, tmp_path):
    """Four groups as LIBSVM files, read by the workers."""
    path = DATA / "newsgroups/tfidf-train.svm.gz"
    if not path.exists():
        pytest.skip(f"{path} is not there")
    with gzip.open(path, "rt") as file:
        lines = [line for line in file if line.split(" ", 1)[0] in ("0", "1", "2", "3")][:1600]
    for at in range(4):
        (tmp_path / f"part-{at}.svm").write_text("".join(lines[at::4]))
    model = lambda: ld.LogisticRegression(tol=1e-3)
    there, here = (model().fit(str(tmp_path / "*.svm"), client=which) for which in (client, False))
    assert in_bits(there) == in_bits(here)
    (tmp_path / "all.svm").write_text("".join(lines))
    from sklearn.datasets import load_svmlight_file

    X, y = load_svmlight_file(str(tmp_path / "all.svm"), n_features=there.n_features_in_, zero_based=False)
    twin = lineal.LogisticRegression(tol=1e-6).fit(X, y)
    assert abs(there.certificate_.objective - twin.certificate_.objective) <= 1e-6


@pytest.fixture
def table(tmp_path):
    X, y, _ = rows(n=400, d=5)
    frame = pd.DataFrame(X.astype(np.float32), columns=list("abcde"))
    frame["label"], frame["weight"] = np.where(y == 1, "yes", "no"), np.float32(1.5)
    frame.to_parquet(tmp_path / "t.parquet", row_group_size=100)
    frame.to_csv(tmp_path / "t.csv", index=False)
    frame.to_json(tmp_path / "t.jsonl", orient="records", lines=True, double_precision=15)
    return tmp_path, frame


@pytest.mark.parametrize("form", ["parquet", "csv", "jsonl"])
def test_files_are_read_by_workers(form, table, client):
    folder, frame = table
    block = {"parquet": 2500, "csv": 9000, "jsonl": 15000}[form]
    model = ld.LogisticRegression().fit(str(folder / f"*.{form}"), "label", "weight", client=client, block=block)
    assert model.report_["cluster"]["partitions"] >= 3
    twin = lineal.LogisticRegression(tol=1e-7).fit(frame[list("abcde")], frame["label"], np.full(400, 1.5))
    assert abs(model.certificate_.objective - twin.certificate_.objective) <= 1e-6
    assert list(model.feature_names_in_) == list("abcde") and list(model.classes_) == ["no", "yes"]
    found = model.predict(str(folder / f"*.{form}")).compute(scheduler="synchronous")
    assert (found == model.predict(frame[list("abcde")])).all()
    with pytest.raises(ValueError, match="no column 'lable'"):
        ld.LogisticRegression().fit(str(folder / f"*.{form}"), "lable", client=client)


def test_every_line_of_a_cut_file_is_read_once(tmp_path):
    lines = [f"{{\"text\": \"{'x' * (i % 7)}{i}\", \"label\": {i % 2}}}" for i in range(200)]
    (tmp_path / "t.jsonl").write_text("\n".join(lines))
    for block in (37, 100, 1000, 10**6):
        found = _sources.sources(str(tmp_path / "t.jsonl"), "label", text=True, block=block)
        parts = [source._lines() for source in found]
        assert b"".join(parts).decode().split("\n") == lines


@pytest.mark.parametrize("n", [1, 2, 3, 7, 8, 9, 17, 64, 65, 200])
def test_wide_nodes_add_up_as_the_tree_does(n):
    values = list(np.random.default_rng(n).normal(size=n) * 10.0 ** np.arange(-8, 8)[np.arange(n) % 16])
    add = lambda a, b: a + b
    level, size = values, 1
    for nodes in _shards.levels(n):
        level = [_dask_transport.added(a // size, add, *level[a // size : -(-b // size)]) for a, b in nodes]
        size *= _shards.WIDTH
    assert level == [_shards.tree(values, add)]


def test_a_driver_starts_again(client, tmp_path):
    """A driver that ends in the middle, and a record that was cut short: the next one comes to the same bits."""
    X, y, _ = rows(n=900)
    X, y = da.from_array(X, chunks=(200, 12)), da.from_array(y, chunks=200)
    plain = ld.LogisticRegression().fit(X, y, client=client)
    file = tmp_path / "run.checkpoint"

    class Ends(_dask_transport.Cluster):
        n_left = 7

        def ask(self, question):
            Ends.n_left -= 1
            if Ends.n_left < 0:
                raise KeyboardInterrupt
            return super().ask(question)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ld, "Cluster", Ends)
        with pytest.raises(KeyboardInterrupt):
            ld.LogisticRegression().fit(X, y, client=client, checkpoint=file)
    with open(file, "r+b") as cut:
        cut.truncate(file.stat().st_size - 5)
    again = ld.LogisticRegression().fit(X, y, client=client, checkpoint=file)
    assert in_bits(again) == in_bits(plain) and again.report_["cluster"]["replayed"] == 6
    once_more = ld.LogisticRegression().fit(X, y, client=False, checkpoint=file)
    assert once_more.report_["cluster"]["replayed"] == once_more.report_["cluster"]["questions"] and in_bits(once_more) == in_bits(plain)
    with pytest.raises(ValueError, match="other data or other parameters"):
        ld.LogisticRegression(C=2.0).fit(X, y, client=False, checkpoint=file)


def test_rows_that_do_not_fit_are_read_in_every_pass(cluster, client, table):
    """The same bits with and without shards in memory; which of the two is seen from the memory."""
    folder, _ = table
    files = str(folder / "*.parquet")
    kept, streamed = (ld.LogisticRegression().fit(files, "label", "weight", client=client, keep=keep, block=2500) for keep in (True, False))
    assert in_bits(kept) == in_bits(streamed)
    assert kept.report_["cluster"]["kept"] and not streamed.report_["cluster"]["kept"]
    transport = _dask_transport.Cluster(client, [], [], timeout=10)
    transport._compute = lambda *_: []
    plan = _shards.Plan(_shards.Kind("numbers"), 10**6, 10, 1e6, 1)
    assert not transport.keep(_shards.build, plan, 3 << 30)["kept"] and transport.keep(_shards.build, plan, 1 << 20)["kept"]


def ending(block):
    os._exit(1)


def test_errors_name_the_partition(client, tmp_path):
    X, y, _ = rows()
    bad = X.copy()
    bad[400, 3] = np.nan
    y = da.from_array(y, chunks=150)
    for which in (client, False):
        with pytest.raises(ValueError, match=r"partition 2 \(2 of the array\).*finite"):
            ld.LogisticRegression().fit(da.from_array(bad, chunks=(150, 12)), y, client=which)
    huge = da.zeros((10**8, 12), chunks=(5 * 10**7, 12))
    with pytest.raises(MemoryError, match=r"partition 0 .* 4\.8 GB or more, and a worker has 2\.0 GB"):
        ld.LogisticRegression().fit(huge, da.zeros(10**8, chunks=5 * 10**7), client=client)
    (tmp_path / "t.csv").write_text("a,label\n" + "1.25,0\n" * 1000)
    source = _sources.sources(str(tmp_path / "t.csv"), "label")[0]
    with pytest.raises(MemoryError, match=r"partition 7 \(.*t\.csv, bytes 0 to 7008\) takes 0\.0 MB or more"):
        _dask_transport.read(source, 7, 100)
    deadly = da.concatenate([da.from_array(X[:300], chunks=(300, 12)), da.from_array(X[300:], chunks=(300, 12)).map_blocks(ending, dtype=float, meta=X[:0])])
    with pytest.raises(MemoryError, match="every worker that was given it ended"):
        ld.LogisticRegression().fit(deadly, y.rechunk(300), client=client)


def sleepy(block):
    import time

    time.sleep(30)
    return block


def test_waits_end(client):
    X, y, _ = rows()
    X, y = da.from_array(X, chunks=(150, 12)), da.from_array(y, chunks=150)
    with pytest.raises(TimeoutError, match=r"waited 2 s for look of partitions without progress: \d of 4 partitions are missing"):
        ld.LogisticRegression().fit(X.map_blocks(sleepy, dtype=float, meta=np.empty((0, 12))), y, client=client, timeout=2)
    client.restart(wait_for_workers=False)
    with distributed.LocalCluster(n_workers=0, dashboard_address=None) as empty, distributed.Client(empty, set_as_default=False) as alone:
        with pytest.raises(TimeoutError, match="waited 0.5 s for a worker"):
            ld.LogisticRegression().fit(X, y, client=alone, timeout=0.5)


def test_requests_that_make_no_sense():
    X, y, _ = rows()
    dx, dy = da.from_array(X, chunks=(150, 12)), da.from_array(y, chunks=150)
    for model, message in [
        (ld.LinearSVC(loss="hinge"), "squared_hinge"),
        (ld.Ridge(positive=True), "positive=False"),
        (ld.LogisticRegression(intercept_scaling=2.0), "intercept_scaling"),
    ]:
        with pytest.raises(ValueError, match=message):
            model.fit(dx, dy, client=False)
    with pytest.raises(TypeError, match="arrays in memory are for lineal's own estimators"):
        ld.LogisticRegression().fit(X, y, client=False)
    with pytest.raises(ValueError, match="4 partitions and y has 2"):
        ld.LogisticRegression().fit(dx, db.from_sequence(list(y), npartitions=2), client=False)
    with pytest.raises(ValueError, match="only one class"):
        ld.LogisticRegression().fit(dx, dy * 0, client=False)
    with pytest.raises(FileNotFoundError, match="no file matches"):
        ld.LogisticRegression().fit("nothing/*.parquet", "label", client=False)
    with pytest.raises(ValueError, match="estimator must be one of"):
        ld.train(False, dx, dy, estimator="Boosting")
    with pytest.raises(ValueError, match="12 features and .* has 11"):
        odd = da.concatenate([dx[:150], da.from_array(np.zeros((0, 12)), chunks=(1, 12))])
        odd = [odd.to_delayed().ravel()[0], dask.delayed(X[150:300, :11])]
        odd = da.concatenate([da.from_delayed(part, shape=(150, 12), dtype=float) for part in odd])
        ld.LogisticRegression().fit(odd, dy[:300], client=False)


def test_arrays_may_be_misaligned_and_read_only():
    X, y, _ = rows(n=200)
    shifted = np.frombuffer(b"x" + X.tobytes(), dtype=np.uint8)[1:].view(np.float64).reshape(X.shape)
    assert not shifted.flags.aligned or not shifted.flags.writeable
    plain, odd = (ld.LogisticRegression().fit(da.from_delayed(dask.delayed(lambda a=a: a)(), X.shape, float), da.from_array(y, chunks=200), client=False) for a in (X, shifted))
    assert in_bits(plain) == in_bits(odd)
    spread = sparse.csr_matrix(X)
    raw = (spread, y, None)
    spread.data = np.frombuffer(b"x" + spread.data.tobytes(), dtype=np.uint8)[1:].view(np.float64)
    assert _shards.look(raw, _shards.Kind("classes")).n_rows == 200


def test_train_is_a_function(client):
    X, y, numbers = rows()
    X = da.from_array(X, chunks=(150, 12))
    model = ld.train(client, X, da.from_array(numbers, chunks=150), estimator="Ridge", alpha=3.0, keep=True)
    same = ld.Ridge(alpha=3.0).fit(X, da.from_array(numbers, chunks=150), client=False)
    assert in_bits(model) == in_bits(same)
    assert ld.train(client, X, da.from_array(y, chunks=150), estimator=ld.LinearSVC(), C=0.5).C == 0.5


def test_what_a_run_takes_is_told(client, capsys):
    X, y, _ = rows()
    model = ld.LogisticRegression(verbose=1).fit(da.from_array(X, chunks=(150, 12)), da.from_array(y, chunks=150), client=client)
    said = capsys.readouterr().out
    assert "4 partitions" in said and "2 workers" in said and "in every pass" in said
    about = model.report_["cluster"]
    assert about["questions"] >= model.report_["passes"] and about["bytes"] == X.nbytes and about["bytes_per_vector"] == 8 * 13
    assert _cluster.megabytes(2.5e9) == "2.5 GB"
