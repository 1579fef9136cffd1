"""Training on a Dask cluster: the same bits on any number of workers, after losses and restarts, and the results of one machine."""

import gzip
import json
import os
import signal
import subprocess
import sys
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
from lineal import _cluster, _dask_transport, _distributed, _shards, _sources  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
DATA = Path(os.environ.get("LINEAL_DATA") or ROOT.parent / "shared" / "data")
pytestmark = pytest.mark.filterwarnings("ignore")


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
        if counts[kind] <= 80:
            (out / kind).mkdir(exist_ok=True)
            (out / kind / f"{counts[kind]:04}.txt").write_text(text)
    return out


@pytest.fixture(scope="module")
def newsgroups(tmp_path_factory):
    """Four groups as LIBSVM files; nothing where they are not there."""
    path = DATA / "newsgroups/tfidf-train.svm.gz"
    if not path.exists():
        return None
    out = tmp_path_factory.mktemp("news")
    with gzip.open(path, "rt") as file:
        lines = [line for line in file if line.split(" ", 1)[0] in ("0", "1", "2", "3")][:800]
    for at in range(4):
        (out / f"part-{at}.svm").write_text("".join(lines[at::4]))
    (out / "all.libsvm").write_text("".join(lines))
    return out


def test_newsgroups(client, newsgroups):
    """LIBSVM files, read by the workers."""
    if newsgroups is None:
        pytest.skip("newsgroups are not there")
    there, here = (ld.LogisticRegression(tol=1e-3).fit(str(newsgroups / "*.svm"), client=which) for which in (client, False))
    assert in_bits(there) == in_bits(here)
    from sklearn.datasets import load_svmlight_file

    X, y = load_svmlight_file(str(newsgroups / "all.libsvm"), n_features=there.n_features_in_, zero_based=False)
    twin = lineal.LogisticRegression(tol=1e-6).fit(X, y)
    assert abs(there.certificate_.objective - twin.certificate_.objective) <= 1e-6


def test_workers_come_and_go(client, scaled_to, killing, folder, newsgroups, monkeypatch):
    """a9a × 50, newsgroups and a folder of texts on 1, 2 and 4 workers, with one of them killed in pass 5, and in one process: the same bits."""
    monkeypatch.setattr(_sources, "FILES_AT_ONCE", 60)
    # Some passes: it is bits that are compared, not optima.
    runs = {
        "a9a": (lambda: ld.LogisticRegression(C=0.01, max_iter=1), a9a_partitions(50)),
        "folder": (lambda: ld.TextClassifier(C=0.01, min_df=3), (str(folder / "*/*.txt"),)),
    }
    if newsgroups is not None:
        runs["newsgroups"] = (lambda: ld.LogisticRegression(max_iter=1), (str(newsgroups / "*.svm"),))
    found = {name: {} for name in runs}
    for n in (1, 2, 4):
        scaled_to(n)
        for name, (model, data) in runs.items():
            found[name][n] = in_bits(model().fit(*data, client=client))
    for name, (model, data) in runs.items():
        monkeypatch.setattr(ld, "Cluster", killing)
        killing.n_asked = 0
        found[name]["killed"] = in_bits(model().fit(*data, client=client))
        assert killing.n_asked > 5 and killing.killed not in client.run(os.getpid).values(), name
        monkeypatch.setattr(ld, "Cluster", _dask_transport.Cluster)
        found[name]["here"] = in_bits(model().fit(*data, client=False))
        assert len(set(found[name].values())) == 1, (name, {key: hash(bits) for key, bits in found[name].items()})


def test_text_from_a_folder_of_files(folder, client, monkeypatch):
    monkeypatch.setattr(_sources, "FILES_AT_ONCE", 60)
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


def test_a_driver_that_is_killed_starts_again(tmp_path):
    """`kill -9` of the driver, between a question and its answer."""
    file, data = tmp_path / "run.checkpoint", tmp_path / "rows.npz"
    X, y, _ = rows()
    np.savez(data, X=X, y=y)
    code = """
import os, signal, sys
import dask.array as da, numpy as np
import lineal.dask as ld
from lineal import _cluster
class Ends(_cluster.Here):
    n_left = 7
    def ask(self, question):
        Ends.n_left -= 1
        if Ends.n_left < 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return super().ask(question)
_cluster.Here = Ends
data = np.load(sys.argv[1])
ld.LogisticRegression().fit(da.from_array(data["X"], chunks=(150, 12)), da.from_array(data["y"], chunks=150), client=False, checkpoint=sys.argv[2])
"""
    assert subprocess.run([sys.executable, "-c", code, str(data), str(file)], check=False).returncode == -signal.SIGKILL
    cut = lambda: (da.from_array(X, chunks=(150, 12)), da.from_array(y, chunks=150))
    plain = in_bits(ld.LogisticRegression().fit(*cut(), client=False))
    again = ld.LogisticRegression().fit(*cut(), client=False, checkpoint=file)
    assert in_bits(again) == plain and again.report_["cluster"]["replayed"] == 7
    # Wherever a crash or a full disk cut the file, and whatever became of its end.
    whole = file.read_bytes()
    for at in [0, 1, 8, 23, 24, 25, 100, len(whole) // 2, len(whole) - 1]:
        for end in (b"", b"\0" * 50):
            if at < 24 and end:
                continue
            file.write_bytes(whole[:at] + end)
            model = ld.LogisticRegression().fit(*cut(), client=False, checkpoint=file)
            assert in_bits(model) == plain and file.read_bytes() == whole, at
    file.write_bytes(b"\0" + whole[1:])
    with pytest.raises(ValueError, match="other data or other parameters"):
        ld.LogisticRegression().fit(*cut(), client=False, checkpoint=file)


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
    told = []
    for n_bytes in (3 << 30, 1 << 20):
        transport.keep(_shards.build, plan, n_bytes, told.append)
    assert [one["kept"] for one in told] == [False, True]


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


def shifted(arrays):
    """The same numbers at addresses that no number begins at, read-only, as arrays are that come out of a message."""
    return [np.frombuffer(b"x" + a.tobytes(), dtype=np.uint8)[1:].view(a.dtype) if isinstance(a, np.ndarray) else a for a in arrays]


def test_predict_takes_sparse_rows_that_are_misaligned():
    """Those that came from another worker were refused."""
    X, y, _ = rows(n=100)
    model = lineal.LogisticRegression().fit(X, y)
    moved = sparse.csr_matrix(X)
    moved.data, moved.indices, moved.indptr = shifted([moved.data, moved.indices, moved.indptr])
    assert not moved.data.flags.aligned
    assert (model.predict_proba(moved) == model.predict_proba(sparse.csr_matrix(X))).all()


def test_vocabularies_may_be_misaligned():
    """Counts and encoders come out of messages, too: workers that could not read them asked for them for ever."""
    docs, kinds = texts()
    spec = _shards.text_spec(_shards.look((docs, kinds, None), _shards.Kind("classes", text=True)))
    counts = _shards.count((docs, kinds, None), spec)
    rebuild, parts = counts.__reduce__()
    assert not all(a.flags.aligned for a in shifted(parts) if isinstance(a, np.ndarray) and a.itemsize > 1)
    again = rebuild(*shifted(parts))
    assert len(again.counts) == len(counts.counts)
    plain = counts.counts.finish(spec)
    encoded = [_shards._encoder(spec, list(one)).encode(docs, 1, False)[3].tolist() for one in (plain, shifted(again.counts.finish(spec)))]
    assert encoded[0] == encoded[1]


def odd_frame(n=300):
    rng = np.random.default_rng(7)
    frame = pd.DataFrame({"age": rng.integers(18, 90, n), "pay": rng.normal(3.0, 1.0, n), "ok": rng.random(n) < 0.5, "at": range(n)})
    frame["label"] = np.where(frame.pay + rng.normal(size=n) > 3, "rich", "poor")
    return frame


def test_odd_frames():
    """Partitions without rows and of one class, categories that are not sorted, bags whose partitions are iterators: what newcomers bring."""
    frame = odd_frame()
    plain = frame.drop(columns="at")
    some = dd.from_pandas(frame, npartitions=5)
    some = some[some["at"] < 100].drop(columns="at")
    model = ld.LogisticRegression().fit(some, "label", client=False)
    assert model.report_["examples"] == 100
    left = some.drop(columns="label")
    assert model.predict_proba(left).compute(scheduler="synchronous").shape == (100, 2)
    assert len(model.predict(left).compute(scheduler="synchronous")) == 100
    ordered = plain.sort_values("label").reset_index(drop=True)
    twin = lineal.LogisticRegression(tol=1e-7).fit(plain.drop(columns="label"), plain["label"])
    ours = ld.LogisticRegression().fit(dd.from_pandas(ordered, npartitions=4), "label", client=False)
    assert abs(ours.certificate_.objective - twin.certificate_.objective) <= 1e-6
    named = plain.assign(label=pd.Categorical(plain["label"], categories=["rich", "never", "poor"]))
    assert list(ld.LogisticRegression().fit(dd.from_pandas(named, npartitions=3), "label", client=False).classes_) == ["poor", "rich"]
    whole = plain.assign(label=(plain["label"] == "rich").astype(int), at=frame["at"])
    whole = dd.from_pandas(whole, npartitions=3)
    whole = whole[whole["at"] >= 120].drop(columns="at")
    assert ld.LogisticRegression().fit(whole, "label", client=False).classes_.dtype.kind == "i"
    rows = db.from_sequence([{"t": "red wine cork", "y": "drink"}, {"t": "ball goal team", "y": "sport"}] * 20, npartitions=4).filter(bool)
    text = ld.TextClassifier().fit(rows.map(lambda row: row["t"]), rows.map(lambda row: row["y"]), client=False)
    assert list(text.predict(rows.map(lambda row: row["t"])).compute(scheduler="synchronous"))[:2] == ["drink", "sport"]


def test_odd_values_are_refused_by_partition(client):
    frame = odd_frame().drop(columns="at")
    missing = frame.assign(label=frame["label"].where(frame.index != 205, None))
    with pytest.raises(ValueError, match=r"partition 2 .*y has missing values: the first is that of row 5"):
        ld.LogisticRegression().fit(dd.from_pandas(missing, npartitions=3), "label", client=client)
    with pytest.raises(ValueError, match=r"partition 0 .*column 'city' must be of numbers; it is category"):
        ld.LogisticRegression().fit(dd.from_pandas(frame.assign(city=pd.Categorical(["z", "a", "m"] * 100)), npartitions=3), "label", client=client)
    X, y, _ = rows(n=300)
    with pytest.raises(ValueError, match="X has 300 rows and y has 200"):
        ld.LogisticRegression().fit(da.from_array(X, chunks=(100, 12)), da.from_array(y[:200], chunks=100), client=client)
    with pytest.raises(ValueError, match="one value for each row; it has 2 columns"):
        ld.Ridge().fit(da.from_array(X, chunks=(100, 12)), da.from_array(X[:, :2], chunks=(100, 2)), client=client)
    for which in (client, False):
        with pytest.raises(RuntimeError, match=r"partition 1 \(1 of the array\) could not be made: KeyError: 'oh'"):
            odd = da.from_array(X, chunks=(100, 12)).map_blocks(raising, X[100, 0], dtype=float, meta=X[:0])
            ld.LogisticRegression().fit(odd, da.from_array(y, chunks=100), client=which)


def raising(block, first):
    if len(block) and block[0, 0] == first:
        raise KeyError("oh")
    return block


def test_odd_files(tmp_path):
    frame = odd_frame().drop(columns="at")
    frame.to_csv(tmp_path / "a.csv", index=False)
    (tmp_path / "b.csv").write_text("")
    (tmp_path / "c.csv").write_text("age,pay,ok,label\n")
    model = ld.LogisticRegression().fit(str(tmp_path / "*.csv"), "label", client=False)
    assert model.report_["examples"] == 300
    assert model.predict(str(tmp_path / "*.csv")).compute(scheduler="synchronous").shape == (300,)
    with pytest.raises(ValueError, match="y is missing: name the column"):
        ld.LogisticRegression().fit(str(tmp_path / "*.csv"), client=False)
    (tmp_path / "d.csv").write_text("pay,age,ok,label\n3,4,True,poor\n")
    with pytest.raises(ValueError, match=r"has the columns 'age', 'pay', 'ok' and .* has the columns 'pay', 'age', 'ok'"):
        ld.LogisticRegression().fit(str(tmp_path / "*.csv"), "label", client=False)
    # Columns are counted from 1; a block may lack the last of them, and a file that is predicted may have more.
    (tmp_path / "a.svm").write_text("1 3:0.5 7:1\n-1 1:0.2\n" * 30)
    (tmp_path / "new.svm").write_text("1 3:0.5 7:1 9:5\n-1 1:0.2\n")
    model = ld.LinearSVC().fit(str(tmp_path / "a.svm"), client=False, block=200)
    assert model.n_features_in_ == 7
    assert list(model.predict(str(tmp_path / "new.svm")).compute(scheduler="synchronous")) == [1, -1]


@pytest.mark.parametrize("name", ["four classes, sparse", "labels", "text"])
def test_a_first_phase_of_steps(name, client, monkeypatch):
    """Rounds of averaged stochastic steps before L-BFGS: the same optimum, and the same bits on a cluster and here."""
    monkeypatch.setattr(_distributed, "_solver", lambda plan: "lbfgs")
    data = cases()[name][1]
    plain = cases()[name][0].fit(*data, client=False)
    here, there = (cases()[name][0].fit(*data, client=which, rounds=4) for which in (False, client))
    assert in_bits(here) == in_bits(there) and in_bits(here) != in_bits(plain)
    assert here.certificate_.converged and abs(here.certificate_.objective - plain.certificate_.objective) <= 2e-6 * plain.certificate_.objective
    assert here.report_.curve[3]["pass"] == 4 and here.report_.curve[3]["objective"] is None


def test_steps_that_go_astray_are_left(monkeypatch):
    """A round whose loss is not a number, or which ends worse than it began, leaves the start at 0."""
    monkeypatch.setattr(_distributed, "_solver", lambda plan: "lbfgs")
    X, y, _ = rows()
    data = da.from_array(X, chunks=(150, 12)), da.from_array(y, chunks=150)
    plain = ld.LogisticRegression().fit(*data, client=False)
    for wrong in (lambda value, w: (float("nan"), w), lambda value, w: (value, 1e3 + w)):

        class Astray(_cluster.Here):
            def ask(self, question):
                value, vector = super().ask(question)
                return wrong(value, vector) if question.kind == "steps" else (value, vector)

        monkeypatch.setattr(_cluster, "Here", Astray)
        assert in_bits(ld.LogisticRegression().fit(*data, client=False, rounds=3)) == in_bits(plain)
        monkeypatch.setattr(_cluster, "Here", Astray.__mro__[1])


def test_a_slow_worker_changes_nothing(client):
    """A worker that is stopped for a while, and goes on: the same bits."""
    X, y = a9a_partitions(10, each=1)
    model = lambda: ld.LogisticRegression(C=0.01, max_iter=1)
    plain = in_bits(model().fit(X, y, client=client))
    pid = list(client.run(os.getpid).values())[0]
    stop, go = (threading.Timer(after, os.kill, (pid, which)) for after, which in ((0.3, signal.SIGSTOP), (3.0, signal.SIGCONT)))
    stop.start(), go.start()
    try:
        assert in_bits(model().fit(X, y, client=client)) == plain
    finally:
        stop.join(), go.join()


def test_eight_workers(killing, monkeypatch):
    """The same bits on eight, with one of them killed in a pass and one while it predicts, and here."""
    X, y = a9a_partitions(10, each=1)
    model = lambda: ld.LogisticRegression(C=0.01, max_iter=1)
    here = model().fit(X, y, client=False)
    with distributed.LocalCluster(n_workers=8, threads_per_worker=1, dashboard_address=None, memory_limit="1GB") as made, distributed.Client(made, set_as_default=False) as client:
        client.wait_for_workers(8, timeout=60)
        there = model().fit(X, y, client=client)
        assert there.report_["cluster"]["workers"] == 8
        monkeypatch.setattr(ld, "Cluster", killing)
        killed = model().fit(X, y, client=client)
        assert killing.n_asked > 5 and killing.killed not in client.run(os.getpid).values()
        assert in_bits(here) == in_bits(there) == in_bits(killed)
        timer = threading.Timer(0.2, os.kill, (next(iter(client.run(os.getpid).values())), signal.SIGKILL))
        timer.start()
        found = client.compute(there.predict_proba(X)).result(timeout=60)
        timer.join()
    assert found.tobytes() == here.predict_proba(X).compute(scheduler="synchronous").tobytes()


def test_a_worker_that_is_added_in_a_pass_changes_nothing(cluster, client, scaled_to):
    X, y = a9a_partitions(10, each=1)
    model = lambda: ld.LogisticRegression(C=0.01, max_iter=1)
    plain = in_bits(model().fit(X, y, client=client))

    class Growing(_dask_transport.Cluster):
        n_asked = 0

        def ask(self, question):
            Growing.n_asked += 1
            if Growing.n_asked == 3:
                cluster.scale(3)
            if Growing.n_asked == 8:
                self.client.wait_for_workers(3, timeout=60)
            return super().ask(question)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ld, "Cluster", Growing)
        assert in_bits(model().fit(X, y, client=client)) == plain
    assert Growing.n_asked > 8 and len(client.scheduler_info()["workers"]) == 3
    scaled_to(2)


def test_all_workers_are_lost_and_others_come(cluster, client):
    """Every worker is killed in the middle; the nannies start others, which read the partitions again."""
    X, y = a9a_partitions(10, each=1)
    model = lambda: ld.LogisticRegression(C=0.01, max_iter=1)
    plain = in_bits(model().fit(X, y, client=client))
    pids = list(client.run(os.getpid).values())
    timer = threading.Timer(0.5, lambda: [os.kill(pid, signal.SIGKILL) for pid in pids])
    timer.start()
    try:
        assert in_bits(model().fit(X, y, client=client)) == plain
    finally:
        timer.join()


def test_what_a_run_takes_is_told_before_it_takes_it(client, capsys, monkeypatch):
    """Memory is told before shards are made."""
    told = []
    real = _dask_transport.Cluster._compute

    def compute(self, name, function, args):
        told.append((name, "MB" in capsys.readouterr().out))
        return real(self, name, function, args)

    monkeypatch.setattr(_dask_transport.Cluster, "_compute", compute)
    X, y, _ = rows()
    ld.LogisticRegression(verbose=1).fit(da.from_array(X, chunks=(150, 12)), da.from_array(y, chunks=150), client=client)
    assert told == [("look", False), ("shard", True)]


def test_what_is_raised_after_a_pass_ends_the_run(monkeypatch):
    """It was swallowed, and the model of that pass returned."""
    X, y, _ = rows()

    class Raising(_cluster.Here):
        def tell(self, event):
            raise OSError("the dashboard is gone")

    monkeypatch.setattr(_cluster, "Here", Raising)
    with pytest.raises(OSError, match="the dashboard is gone"):
        ld.LogisticRegression().fit(da.from_array(X, chunks=(150, 12)), da.from_array(y, chunks=150), client=False)


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


def test_a_run_ends_in_the_round_that_something_is_raised_in(raising_in_pass, monkeypatch):
    """The rest of the run was made before what a round had raised was told."""
    monkeypatch.setattr(_distributed, "_solver", lambda plan: "lbfgs")
    X, y, _ = rows()
    with pytest.raises(KeyboardInterrupt):
        ld.LogisticRegression().fit(da.from_array(X, chunks=(150, 12)), da.from_array(y, chunks=150), client=False, rounds=4)
    assert raising_in_pass.n_asked == 2


def test_a_loss_is_not_called_an_objective(client, monkeypatch):
    """In rounds of steps only the loss on the way is known, without the penalty."""
    monkeypatch.setattr(_distributed, "_solver", lambda plan: "lbfgs")
    X, y, _ = rows()
    ld.LogisticRegression().fit(da.from_array(X, chunks=(150, 12)), da.from_array(y, chunks=150), client=client, rounds=2)
    events = [event for _, event in client.get_events("lineal")]
    events = events[max(at for at, event in enumerate(events) if event["pass"] == 1) :]
    assert [event["objective"] is None for event in events] == [event["pass"] <= 2 for event in events]
    assert all(event["loss"] > 0 for event in events[:2]) and len(events) > 3


def swapped(y):
    """With the first and the last of two values that differ in each other's place: all counts stay."""
    y = np.array(y)
    other = int(np.flatnonzero(y != y[0])[-1])
    y[[0, other]] = y[[other, 0]]
    return y


@pytest.mark.parametrize("name", ["two classes", "four classes, sparse", "frame", "ridge", "labels", "text"])
def test_a_checkpoint_knows_its_data(name, tmp_path):
    """Corrected labels in the same numbers replayed the answers of the wrong ones."""
    file = tmp_path / "run.checkpoint"
    model, data = cases()[name][:2]
    model.fit(*data, client=False, checkpoint=file)
    again = cases()[name][0].fit(*cases()[name][1], client=False, checkpoint=file)
    assert again.report_["cluster"]["replayed"] == again.report_["cluster"]["questions"] > 0
    other = {
        "labels": lambda y: da.concatenate([y[1:2], y[:1], y[2:]]).rechunk(y.chunks),
        "text": lambda y: db.from_sequence(list(swapped(y.compute(scheduler="synchronous"))), npartitions=3),
        "frame": lambda y: dd.from_pandas(pd.Series(swapped(y.compute(scheduler="synchronous"))), npartitions=3),
    }.get(name, lambda y: da.from_array(swapped(y.compute(scheduler="synchronous")), chunks=y.chunks))
    for changed in [(data[0], other(data[1])), *([(data[0][::-1].rechunk(data[0].chunks), data[1])] if name == "two classes" else [])]:
        with pytest.raises(ValueError, match="other data or other parameters"):
            cases()[name][0].fit(*changed, client=False, checkpoint=file)


def test_dates_are_not_numbers(tmp_path):
    """NumPy made numbers of them, and they were features."""
    frame = odd_frame(60)
    when = pd.Timestamp("2026-01-01") + pd.to_timedelta(frame["at"], unit="D")
    odd = {"when": when, "day": when.dt.date, "took": pd.to_timedelta(frame["at"], unit="h"), "city": ["a", "b", "c"] * 20}
    for at, (name, column) in enumerate(odd.items()):
        frame.assign(**{name: column}).to_parquet(tmp_path / f"{at}.parquet")
        with pytest.raises(ValueError, match=f"column '{name}' must be of numbers; it is"):
            ld.LogisticRegression().fit(str(tmp_path / f"{at}.parquet"), "label", client=False)
        model = ld.LogisticRegression().fit(str(tmp_path / f"{at}.parquet"), "label", columns=["age", "pay", "ok"], client=False)
        assert list(model.feature_names_in_) == ["age", "pay", "ok"]
    from decimal import Decimal

    frame.assign(price=[Decimal(at) / 4 for at in range(60)]).to_parquet(tmp_path / "d.parquet")
    assert ld.LogisticRegression().fit(str(tmp_path / "d.parquet"), "label", client=False).n_features_in_ == 5
    only = dd.from_pandas(pd.DataFrame({"when": when, "label": frame["label"]}), npartitions=2)
    with pytest.raises(ValueError, match="partition 0 .*column 'when' must be of numbers; it is datetime64"):
        ld.LogisticRegression().fit(only, "label", client=False)


@pytest.mark.parametrize("form", ["parquet", "csv", "jsonl"])
def test_what_is_predicted_is_not_a_feature(form, table):
    files = str(table[0] / f"*.{form}")
    frame = table[1].assign(label=np.arange(400.0))
    getattr(frame, {"parquet": "to_parquet", "csv": "to_csv", "jsonl": "to_json"}[form])(table[0] / f"t.{form}", **({"orient": "records", "lines": True} if form == "jsonl" else {}))
    for columns, name in ((["a", "label"], "'label' among them, which is y"), (["weight", "a"], "'weight' among them, which is sample_weight")):
        with pytest.raises(ValueError, match=f"columns must not have {name}"):
            ld.Ridge().fit(files, "label", "weight", columns=columns, client=False)
    assert list(ld.Ridge().fit(files, "label", "weight", columns=["b", "a"], client=False).feature_names_in_) == ["b", "a"]


@pytest.mark.parametrize("form", ["csv", "jsonl"])
def test_a_block_of_a_file_is_read_once(form, table, monkeypatch):
    folder, _ = table
    n_read, real = [], _sources.Source._lines
    monkeypatch.setattr(_sources.Source, "_lines", lambda self: n_read.append(self) or real(self))
    found = _sources.sources(str(folder / f"*.{form}"), "label", block=9000)
    assert sum(len(source.read()[1]) for source in found) == 400
    assert len(n_read) == len(found) > 2


def first(raw, *args):
    return raw[0][0, 0]


def wrong(left, right):
    raise RuntimeError("nobody can add that")


class Mute:
    def __init__(self, raw):
        self.is_mute = raw[0][0, 0] == 1.0

    def answer(self, question, n_threads):
        if self.is_mute:
            raise OSError("nothing to say")
        return 0.0, np.zeros(1)


def mute(raw, plan):
    return Mute(raw)


def test_errors_of_sums_and_answers_are_not_those_of_making(client):
    """An error in a sum was told as that of the partition that the sum begins with."""
    parts = [dask.delayed(tuple)([np.array([[float(at)]]), None, None]) for at in range(3)]
    transport = _dask_transport.Cluster(client, ["p0", "p1", "p2"], parts, timeout=60, keep=True)
    with pytest.raises(RuntimeError, match="^nobody can add that$"):
        transport.reduce("count", first, wrong)
    transport.keep(mute, _shards.Plan(_shards.Kind("numbers"), 3, 1, 3.0, 1), 100, lambda about: None)
    with pytest.raises(RuntimeError, match=r"^partition 1 \(p1\) could not answer: OSError: nothing to say$"):
        transport.ask(_shards.Question("gradient", np.zeros(1), None, "", 0, 0.0))
    transport.close()


def test_columns_that_look_like_numbers_are_not_numbers():
    """Codes, as words or as categories, once became features by their value."""
    frame = odd_frame(60).drop(columns="at")
    for kind in ("category", "string"):
        coded = dd.from_pandas(frame.assign(code=pd.Series(["1", "2", "3"] * 20, dtype=kind)), npartitions=2)
        with pytest.raises(ValueError, match="partition 0 .*column 'code' must be of numbers"):
            ld.LogisticRegression().fit(coded, "label", client=False)


def as_objects(values, n=2):
    """An array of Python's own objects, in partitions."""
    whole = np.empty(len(values), dtype=object)
    whole[:] = values
    return da.from_array(whole, chunks=-(-len(values) // n))


def test_classes_keep_their_type():
    """Whole numbers among Python's objects once became words, and so did a mixture of both."""
    X = da.from_array(rows(n=60)[0], chunks=(30, 12))
    model = ld.LogisticRegression().fit(X, as_objects([1, 2] * 30), client=False)
    assert model.classes_.tolist() == [1, 2] and model.predict(rows(n=60)[0]).dtype.kind == "i"
    assert ld.LogisticRegression().fit(X, as_objects(["u", "v"] * 30), client=False).classes_.tolist() == ["u", "v"]
    with pytest.raises(ValueError, match="partition 0 .*all words or all numbers"):
        ld.LogisticRegression().fit(X, as_objects([1, "a"] * 30), client=False)
    with pytest.raises(ValueError, match="all words or all numbers; one partition has"):
        ld.LogisticRegression().fit(X, as_objects([1, 2] * 15 + ["a", "b"] * 15), client=False)
    with pytest.raises(ValueError, match="partition 0 .*Unknown label type"):
        ld.LogisticRegression().fit(X, X[:, 0], client=False)


def test_mistakes_are_told_in_words(client, tmp_path):
    data, y, _ = rows(n=60)
    X, y = da.from_array(data, chunks=(30, 12)), da.from_array(y, chunks=30)
    for which in (client, False):
        with pytest.raises(ValueError, match="partition 0 .*single precision"):
            ld.LogisticRegression().fit(X * 1e300, y, client=which)
    with pytest.raises(TypeError, match="client must be a distributed.Client"):
        ld.LogisticRegression().fit(X, y, client="tcp://127.0.0.1:8786")
    for rounds in (-1, "two"):
        with pytest.raises(ValueError, match="rounds must be"):
            ld.LogisticRegression().fit(X, y, client=False, rounds=rounds)
    frame = dd.from_pandas(odd_frame(60).drop(columns="at"), npartitions=2)
    with pytest.raises(ValueError, match="no column 'lable'; there are"):
        ld.LogisticRegression().fit(frame, "lable", client=False)
    with pytest.raises(ValueError, match="partition 0 .*y must be finite numbers"):
        ld.Ridge().fit(X, as_objects(["a"] * 60), client=False)
    assert ld.train(False, X, y, estimator=ld.LinearSVC, C=2.0).C == 2.0
    (tmp_path / "a.csv").write_text("a,b,label\n" + "1,2,0\n2,1,1\n" * 5 + "x,1,0\n")
    with pytest.raises(ValueError, match=r"partition 0 \([^:]*a\.csv, bytes 0 to \d+\): column 'a' must be of numbers.*'x'"):
        ld.LogisticRegression().fit(str(tmp_path / "*.csv"), "label", client=False)
    (tmp_path / "b.parquet").write_bytes(b"nothing")
    with pytest.raises(ValueError, match="b.parquet: "):
        ld.LogisticRegression().fit(str(tmp_path / "b.parquet"), "label", client=False)


def test_patterns_of_urls_that_match_nothing():
    for pattern, estimator in (("memory://nothing/*.parquet", ld.LogisticRegression), ("memory://nothing/*.conll", ld.Tagger)):
        with pytest.raises(FileNotFoundError, match="no file matches memory://nothing"):
            estimator().fit(pattern, "label", client=False)


def test_partitions_of_files_are_read_by_the_tasks_that_need_them(table, client):
    """Tasks that only read filled a worker with partitions until it paused, and then it never got to the tasks that would have let them go."""
    folder, _ = table
    names, parts, _ = ld._partitions(str(folder / "*.parquet"), "label", None, None, {"timeout": 10.0, "columns": None, "labels": False, "block": 2500}, False)

    class Seen:
        def compute(self, tasks):
            return tasks

    transport = _dask_transport.Cluster(Seen(), names, parts, timeout=10)
    tasks = transport._compute("look", _shards.look, ())
    assert len(tasks) == len(names) > 1 and not any("read" in str(key) for task in tasks for key in dict(task.dask))


def test_parquet_is_read_some_rows_at_a_time(tmp_path, monkeypatch):
    import pyarrow as pa
    import pyarrow.parquet as pq

    n = 100
    columns = {
        "a": pa.array(range(n), pa.int64()),
        "b": pa.array([None if i % 7 == 0 else i / 8 for i in range(n)], pa.float32()),
        "c": pa.array([i % 3 == 0 for i in range(n)]),
        "w": pa.array([1.0 + i for i in range(n)]),
        "y": pa.array(["no", "yes"] * (n // 2)).dictionary_encode(),
    }
    pq.write_table(pa.table(columns), tmp_path / "t.parquet", row_group_size=30)
    (one,) = _sources.sources(str(tmp_path / "t.parquet"), "y", "w")
    whole = one.read()
    monkeypatch.setattr(_sources, "ROWS_AT_ONCE", 7)
    for X, y, weights in (whole, one.read()):
        np.testing.assert_array_equal(X.to_numpy(), np.column_stack([columns[name].to_numpy(zero_copy_only=False).astype(float) for name in "abc"]))
        assert list(y) == ["no", "yes"] * (n // 2) and list(weights) == columns["w"].to_pylist() and list(X.columns) == ["a", "b", "c"]
