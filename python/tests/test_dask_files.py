"""Partitions that are read from files, or made again: what is in them is what was written, and what changes during a run is refused."""

import contextlib
import json
import types

import numpy as np
import pytest

pytest.importorskip("distributed")
import dask  # noqa: E402
import dask.array as da  # noqa: E402
import dask.bag as db  # noqa: E402
import dask.dataframe as dd  # noqa: E402
import distributed  # noqa: E402
import pandas as pd  # noqa: E402
from scipy import sparse  # noqa: E402
from test_dask import in_bits, rows, texts  # noqa: E402

import lineal  # noqa: E402
import lineal.dask as ld  # noqa: E402
from lineal import _cluster, _dask_transport, _shards, _sources  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")
CHANGED = r"partition 1 \(.*rows are not those that the first scan found"


def changing(monkeypatch, change):
    """Partitions in this process, of which something changes after they were counted."""

    class Changing(_cluster.Here):
        def keep(self, *args):
            change()
            super().keep(*args)

    monkeypatch.setattr(_cluster, "Here", Changing)


@pytest.mark.parametrize("form", ["csv", "parquet", "jsonl", "svm", "txt"])
def test_files_that_change_are_refused(form, tmp_path, monkeypatch):
    """The model of a run whose files were written anew after the first scan was of neither the old rows nor the new ones."""
    X, y, _ = rows(n=40, d=3)
    for at in range(2):
        frame = pd.DataFrame(X[20 * at : 20 * at + 20].round(3), columns=list("abc")).assign(label=y[20 * at : 20 * at + 20])
        if form == "parquet":
            frame.to_parquet(tmp_path / f"{at}.parquet")
        elif form == "svm":
            (tmp_path / f"{at}.svm").write_text("".join(f"{row.label:.0f} 1:{row.a} 2:{row.b} 3:{row.c}\n" for row in frame.itertuples()))
        elif form == "txt":
            for kind in ("good", "bad"):
                (tmp_path / kind).mkdir(exist_ok=True)
                (tmp_path / kind / f"{at}.txt").write_text(f"{kind} words {at}")
        elif form == "jsonl":
            frame.to_json(tmp_path / f"{at}.jsonl", orient="records", lines=True)
        else:
            frame.to_csv(tmp_path / f"{at}.csv", index=False)

    def change():
        last = sorted(tmp_path.rglob(f"*.{form}"))[-1]
        if form == "parquet":
            pd.read_parquet(last).assign(b=0.5).to_parquet(last)
        else:
            last.write_text(last.read_text().replace("1", "2", 1))

    monkeypatch.setattr(_sources, "FILES_AT_ONCE", 2)
    fit = lambda: (ld.TextClassifier() if form == "txt" else ld.LogisticRegression()).fit(str(tmp_path / "**" / f"*.{form}"), *([] if form in ("svm", "txt") else ["label"]), client=False)
    fit()
    changing(monkeypatch, change)
    with pytest.raises(ValueError, match=CHANGED):
        fit()


def test_a_file_that_changes_between_two_passes_is_refused(client, tmp_path, monkeypatch):
    X, y, _ = rows(n=200, d=3)
    for at in range(2):
        pd.DataFrame(X[100 * at : 100 * at + 100], columns=list("abc")).assign(label=y[100 * at : 100 * at + 100]).to_csv(tmp_path / f"{at}.csv", index=False)

    class Changing(_dask_transport.Cluster):
        n_asked = 0

        def ask(self, question):
            Changing.n_asked += 1
            if Changing.n_asked == 3:
                lines = (tmp_path / "1.csv").read_text().splitlines(keepends=True)
                (tmp_path / "1.csv").write_text("".join([*lines[:50], *lines[51:]]))
            return super().ask(question)

    monkeypatch.setattr(ld, "Cluster", Changing)
    with pytest.raises(ValueError, match=CHANGED):
        ld.LogisticRegression().fit(str(tmp_path / "*.csv"), "label", client=client, keep=False)
    assert Changing.n_asked == 3


def test_a_tagger_refuses_sentences_that_change(tmp_path, monkeypatch):
    for at in range(2):
        (tmp_path / f"{at}.conll").write_text("Ada NAME\nsings VERB\n\n" * 3)
    changing(monkeypatch, lambda: (tmp_path / "1.conll").write_text("Ada NAME\nsings NAME\n\n" * 3))
    with pytest.raises(ValueError, match=CHANGED):
        ld.Tagger().fit(str(tmp_path / "*.conll"), client=False)
    changing(monkeypatch, lambda: (tmp_path / "1.conll").write_text(""))
    (tmp_path / "1.conll").write_text("Ada NAME\nsings VERB\n\n" * 3)
    with pytest.raises(ValueError, match=CHANGED):
        ld.Tagger().fit(str(tmp_path / "*.conll"), client=False)


def test_rows_may_come_in_another_order():
    """Only the last bits depend on it; tables that were shuffled by Dask have an order of their own each time."""
    X, y, _ = rows(n=300)
    turns = [0]

    def part(at):
        turns[0] += 1
        order = np.random.default_rng(turns[0]).permutation(100)
        return X[100 * at : 100 * at + 100][order], y[100 * at : 100 * at + 100][order]

    made = [dask.delayed(part, nout=2, pure=False)(at) for at in range(3)]
    dx = da.concatenate([da.from_delayed(x, (100, 12), float) for x, _ in made])
    dy = da.concatenate([da.from_delayed(t, (100,), int) for _, t in made])
    plain = lineal.LogisticRegression(tol=1e-7).fit(X, y)
    model = ld.LogisticRegression().fit(dx, dy, client=False)
    assert turns[0] >= 6 and abs(model.certificate_.objective - plain.certificate_.objective) <= 1e-6


@pytest.mark.parametrize(
    "X, y, weights",
    [
        (np.arange(6.0).reshape(3, 2), np.array([0, 1, 1]), np.array([1.0, 2.0, 3.0])),
        (np.arange(6, dtype=np.float32).reshape(3, 2), np.array(["a", "b", "b"]), None),
        (sparse.csr_matrix([[0.0, 1.0], [2.0, 3.0], [4.0, 0.0]]), np.array(["a", None, "b"], dtype=object), None),
        (["a b", "c", "\ud800"], ["x", "y", "y"], None),
        (np.arange(6.0).reshape(3, 2), [["a"], [], ["a", "b"]], None),
        (np.arange(6.0).reshape(3, 2), sparse.csr_matrix([[0, 1], [1, 1], [0, 0]]), None),
        (np.arange(6.0).reshape(3, 2), np.array([True, False, False]), None),
    ],
)
def test_rows_in_short(X, y, weights):
    """The same in another order, another with other rows."""
    some = lambda part, at: part if part is None else [part[i] for i in at] if isinstance(part, list) else part[np.array(at, dtype=int)]
    of = lambda at: _shards.mark(*(some(part, at) for part in (X, y, weights)))
    assert of([0, 1, 2]) == of([2, 0, 1])
    assert len({of(at) for at in ([0, 1, 2], [0, 1], [0, 0, 1, 2], [1, 1, 2], [])}) == 5


def test_words_stay_words(tmp_path):
    """JSON's "007" became 7, and pandas' words for nothing were texts "nan" and "None"."""
    lines = [{"a": at % 5 - 1.5 * (at % 2), "label": ["007", "1e5"][at % 2]} for at in range(40)]
    (tmp_path / "t.jsonl").write_text("\n".join(map(json.dumps, lines)))
    model = ld.LogisticRegression().fit(str(tmp_path / "t.jsonl"), "label", client=False)
    assert list(model.classes_) == ["007", "1e5"]
    (tmp_path / "x.csv").write_text("text,label\n" + 'NA,a\n,b\n12,a\n"null, and more",b\n' * 5)
    found = _sources.sources(str(tmp_path / "x.csv"), "label", text=True)[0].read()
    assert found[0] == ["NA", "", "12", "null, and more"] * 5 and list(found[1]) == ["a", "b"] * 10
    (tmp_path / "y.jsonl").write_text('{"text": "a", "label": "x"}\n{"text": null, "label": "y"}\n')
    for form in ("jsonl", "parquet"):
        if form == "parquet":
            pd.read_json(tmp_path / "y.jsonl", lines=True).to_parquet(tmp_path / "y.parquet")
        with pytest.raises(ValueError, match="partition 0 .*row 1 has no text"):
            ld.TextClassifier().fit(str(tmp_path / f"y.{form}"), "label", client=False)


def test_texts_of_the_columns_of_training(tmp_path):
    """What was fitted to one column of a file looked for a column "text" in files to predict."""
    docs, kinds = texts(60)
    lines = [json.dumps({"id": at, "body": text, "kind": kind}) for at, (text, kind) in enumerate(zip(docs, kinds))]
    (tmp_path / "a.jsonl").write_text("\n".join(lines))
    (tmp_path / "b.jsonl").write_text("\n".join(json.dumps({"body": text, "kind": kind}) for text, kind in zip(docs, kinds)))
    for file, how in (("a", {"columns": "body"}), ("b", {})):
        model = ld.TextClassifier().fit(str(tmp_path / f"{file}.jsonl"), "kind", client=False, **how)
        assert (model.predict(str(tmp_path / f"{file}.jsonl")).compute(scheduler="synchronous") == model.predict(docs)).all()
    frame = dd.from_pandas(pd.DataFrame({"body": docs, "id": range(60), "kind": kinds}), npartitions=2)
    with pytest.raises(ValueError, match=r"partition 0 .*texts must be one column or bag, as in frame\['text'\]"):
        ld.TextClassifier().fit(frame, "kind", client=False)
    assert in_bits(ld.TextClassifier().fit(frame["body"], frame["kind"], client=False)) == in_bits(
        ld.TextClassifier().fit(db.from_sequence(docs, npartitions=2), db.from_sequence(list(kinds), npartitions=2), client=False)
    )


def test_folders_that_dask_and_spark_write(tmp_path):
    """A folder with notes beside its files was refused, and a pattern that matches folders found nothing."""
    X, y, _ = rows(n=100, d=3)
    frame = dd.from_pandas(pd.DataFrame(X, columns=list("abc")).assign(label=y), npartitions=2)
    for name in ("one.parquet", "two.parquet"):
        frame.to_parquet(tmp_path / name, write_metadata_file=True)
        (tmp_path / name / "_SUCCESS").write_text("")
    assert (tmp_path / "one.parquet" / "_metadata").exists()
    for pattern, n in (("one.parquet", 100), ("*.parquet", 200)):
        assert ld.LogisticRegression().fit(str(tmp_path / pattern), "label", client=False).report_["examples"] == n


def test_labels_of_files(tmp_path):
    """Several labels of a line of LIBSVM were not numbers."""
    lines = [f"{'1,3' if at % 2 else '2' if at % 3 else ''} 1:{at % 2}.5 2:{at % 3}\n" for at in range(60)]
    (tmp_path / "a.svm").write_text("".join(lines))
    model = ld.MultilabelClassifier(C=100.0).fit(str(tmp_path / "a.svm"), client=False, block=200)
    assert model.report_["cluster"]["partitions"] > 2 and model.classes_.tolist() == [1, 2, 3]
    expected = [[1, 3] if at % 2 else [2] if at % 3 else [] for at in range(60)]
    assert [list(row) for row in model.predict(str(tmp_path / "a.svm")).compute(scheduler="synchronous")] == expected
    (tmp_path / "a.csv").write_text('a,label\n1,"x,y"\n2,x\n' * 4)
    with pytest.raises(ValueError, match="lists of labels are read from Parquet, JSON lines and LIBSVM files"):
        ld.MultilabelClassifier().fit(str(tmp_path / "a.csv"), "label", client=False)
    X = da.from_array(rows(n=60)[0], chunks=(30, 12))
    with pytest.raises(ValueError, match="partition 0 .*missing label in row 2"):
        ld.MultilabelClassifier().fit(X, db.from_sequence([["a"], ["b"], ["a", None]] * 20, npartitions=2), client=False)
    with pytest.raises(ValueError, match=r"partition 0 .*row 0 of y is the text .* not a list: Dask's dataframes turn lists into texts"):
        ld.MultilabelClassifier().fit(dd.from_pandas(pd.DataFrame({"a": [1.0] * 4}), npartitions=2), dd.from_pandas(pd.Series([["a"], ["a", "b"]] * 2), npartitions=2), client=False)
    with pytest.raises(ValueError, match="partition 0 .*labels of y must be all words or all numbers; those of row 1"):
        ld.MultilabelClassifier().fit(X, db.from_sequence([["a"], [1]] * 30, npartitions=2), client=False)


def test_files_without_columns_have_none_to_name(tmp_path):
    """Names that could not be columns were taken no notice of."""
    (tmp_path / "a.svm").write_text("1 1:0.5\n0 1:0.2\n" * 5)
    (tmp_path / "x").mkdir()
    (tmp_path / "x" / "a.txt").write_text("a b")
    for pattern, message in (("a.svm", "LIBSVM files have no named columns"), ("x/*.txt", "class of a text file is the name of its folder")):
        for how in ({"y": "label"}, {"sample_weight": "w"}, {"columns": ["a"]}):
            with pytest.raises(ValueError, match=f"{next(iter(how))} must be left out: .*{message}"):
                ld.LogisticRegression().fit(str(tmp_path / pattern), client=False, **how)
    (tmp_path / "x" / "b.csv").write_text("a,b\n")
    with pytest.raises(ValueError, match="are of different formats"):
        ld.TextClassifier().fit(str(tmp_path / "x"), client=False)


def test_what_is_not_finite_is_named(tmp_path):
    X, y, _ = rows(n=40, d=3)
    X[25, 1] = np.inf
    cut = lambda a: da.from_array(a, chunks=(20, *a.shape[1:]))
    with pytest.raises(ValueError, match=r"partition 1 .*finite numbers: in row 5, feature 1 is inf"):
        ld.LogisticRegression().fit(cut(X), cut(y), client=False)
    frame = pd.DataFrame(X, columns=["age", "pay", "size"]).assign(label=y)
    frame.loc[3, "size"] = None
    with pytest.raises(ValueError, match=r"partition 0 .*finite numbers: in row 3, column 'size' is nan"):
        ld.LogisticRegression().fit(dd.from_pandas(frame, npartitions=2), "label", client=False)
    thin = sparse.csr_matrix([[0.0, 1.0], [np.nan, 2.0]])
    with pytest.raises(ValueError, match="in row 1, feature 0 is nan"):
        _shards.look((thin, np.array([0, 1]), None), _shards.Kind("classes"))


def columns(at):
    X = np.random.default_rng(at).normal(size=(50, 6))
    return pd.DataFrame(X, columns=list("abcdef")).assign(label=(X[:, 0] > 0).astype(int), weight=1.0 + at)


def test_names_of_columns_of_files_that_dask_reads(tmp_path):
    """Of a few columns Dask puts partitions together: X had 12 of them, the label 3, and they were "not cut alike"."""
    for at in range(12):
        columns(at).to_parquet(tmp_path / f"{at:02}.parquet")
    frame = dd.read_parquet(tmp_path / "*.parquet")
    assert len(frame["label"].to_delayed()) < len(frame.to_delayed()) == 12
    named = ld.LogisticRegression().fit(frame, "label", "weight", client=False)
    apart = ld.LogisticRegression().fit(frame[list("abcdef")], frame["label"], frame["weight"], client=False)
    assert in_bits(named) == in_bits(apart) and named.n_features_in_ == 6
    assert named.report_["cluster"]["partitions"] == apart.report_["cluster"]["partitions"] == 12


@pytest.mark.parametrize("form", ["arrays", "names", "columns", "bags"])
def test_what_x_and_y_share_is_made_once(form):
    """Each made it for itself, so that what is not made twice alike gave rows the labels of others."""
    calls = []

    def made(at):
        calls.append(at)
        return columns(at)

    if form == "arrays":
        parts = [dask.delayed(made)(at) for at in range(3)]
        cut = lambda names, width: da.concatenate([da.from_delayed(part[names].to_numpy(), (50, *width), float) for part in parts])
        data, model = (cut(list("abc"), (3,)), cut("label", ())), ld.Ridge()
    elif form == "bags":
        bag = db.from_delayed([dask.delayed(lambda at: [(f"word{row % 2}", str(row % 2)) for row in range(len(made(at)))])(at) for at in range(3)])
        data, model = (bag.map(lambda row: row[0]), bag.map(lambda row: row[1])), ld.TextClassifier()
    else:
        frame = dd.from_map(made, range(3), meta=columns(0))
        data, model = ((frame, "label") if form == "names" else (frame[list("abc")], frame["label"])), ld.Ridge()
    model.fit(*data, client=False)
    # The first scan, words of text, and shards.
    assert sorted(calls) == sorted([0, 1, 2] * (3 if form == "bags" else 2))


class Coordinates:
    """Rows in another library's sparse arrays, which say no more of themselves than this."""

    def __init__(self, X):
        self.shape, self.nnz, self.dtype, self.ndim, self._X = X.shape, X.nnz, X.dtype, 2, X

    def tocsr(self):
        return self._X


def test_sparse_arrays_of_others():
    """They were taken by `fit`, and refused by `predict`."""
    X, y, _ = rows(n=60)
    model = lineal.LogisticRegression().fit(X, y)
    thin = Coordinates(sparse.csr_matrix(X))
    assert _shards.look((thin, y, None), _shards.Kind("classes")).n_features == 12
    assert (ld._call_on(thin, model, "predict", None) == model.predict(X)).all()


def test_partitions_of_other_kinds():
    """Types of numbers may differ; words that look like numbers were features."""
    X, y, _ = rows(n=90)
    X = X.astype(np.float32)

    def fit(change_x=lambda part: part, change_y=lambda part: part):
        parts = [(X[at : at + 30], y[at : at + 30], None) for at in (0, 30, 60)]
        parts[1] = (change_x(parts[1][0]), change_y(parts[1][1]), None)
        return ld.LogisticRegression()._run(_cluster.Here(["a", "b", "c"], [lambda part=part: part for part in parts]), False, None)

    plain = fit()
    for change in (lambda part: part.astype(float), np.asfortranarray, sparse.csc_matrix, lambda part: part.astype(object)):
        assert abs(fit(change).certificate_.objective - plain.certificate_.objective) <= 1e-9
    for change in (lambda part: part.astype(bool), lambda part: part.astype(np.int8), lambda part: part.astype(float)):
        assert (fit(change_y=change).classes_ == [0, 1]).all()
    for change, message in [
        (lambda part: part.astype(str), r"partition 1 \(b\): features must be numbers; they are <U"),
        (pd.DataFrame, r"partition 0 \(a\) has columns without names and partition 1 \(b\) has the columns '0'"),
        (lambda part: part[:, :3], r"partition 0 \(a\) has 12 features and partition 1 \(b\) has 3"),
    ]:
        with pytest.raises(ValueError, match=message):
            fit(change)
    with pytest.raises(ValueError, match="one partition has 0 and another has '0'"):
        fit(change_y=lambda part: part.astype(str))


class Known:
    """A future of which is known how far it is."""

    key = "lineal-look-0-0"
    status = "finished"


def told(monkeypatch, waited):
    """A transport whose client does nothing, and ``waited`` instead of waiting; its clock says what the first of the list says."""
    clock = [0.0]
    monkeypatch.setattr(_dask_transport, "time", types.SimpleNamespace(monotonic=lambda: clock[0]))
    monkeypatch.setattr(distributed, "wait", lambda futures, timeout: waited(clock))
    client = types.SimpleNamespace(as_current=contextlib.nullcontext, scheduler_info=lambda n_workers: {"workers": {}})
    return _dask_transport.Cluster(client, [f"p{at}" for at in range(10)], [], timeout=300)


def test_what_is_made_again_after_a_loss_is_progress(monkeypatch):
    """After a loss late in a pass nothing counted as progress until more was done than before it."""
    parts, n_done = [Known() for _ in range(10)], [9, *range(2, 11)]

    def waited(clock):
        clock[0] += 200.0
        done = n_done.pop(0)
        for at, part in enumerate(parts):
            part.status = "finished" if at < done else "pending"

    transport = told(monkeypatch, waited)
    transport._wait(parts, "pass 1", parts)
    assert not n_done
    n_done += [9] * 9
    with pytest.raises(TimeoutError, match="waited 300 s for pass 1 without progress: 1 of 10 partitions are missing"):
        transport._wait(parts, "pass 1", parts)


def test_results_that_nobody_sends_end_a_run(monkeypatch):
    """They were waited for without an end, or for no longer than a pass may take after a loss."""
    part = Known()
    transport = told(monkeypatch, lambda clock: setattr(part, "status", "finished"))
    answers = iter([TimeoutError, ["sum"]])

    def sync(call, callback_timeout):
        assert callback_timeout == 300
        found = next(answers)
        if found is TimeoutError:
            part.status = "pending"
            raise TimeoutError
        return found

    transport.client.sync = sync
    assert transport._results([part], "pass 1", [part]) == ["sum"]

    def never(call, callback_timeout):
        raise TimeoutError

    transport.client.sync = never
    with pytest.raises(TimeoutError, match="waited 300 s for the results of pass 1"):
        transport._results([part], "pass 1", [part])


def test_sums_are_counted_in_what_a_worker_takes(client):
    """Each partition's answer stays until it is added up, which was not told."""
    transport = _dask_transport.Cluster(client, [str(at) for at in range(40)], [], timeout=10)
    transport._compute = lambda *_: []
    plan = _shards.Plan(_shards.Kind("numbers"), 10**6, 10**6, 1e6, 1)
    about = []
    transport.keep(_shards.build, plan, 1 << 20, about.append)
    assert about[0]["bytes_per_worker"] >= 20 * 8 * plan.dim
