"""Taggers on a Dask cluster: the same bits on any number of workers, the objective of one machine, and files that workers cut between sentences."""

import gzip
import json
import os
import pickle
from pathlib import Path

import numpy as np
import pytest

import lineal

pytest.importorskip("distributed")
import dask  # noqa: E402
import dask.bag as db  # noqa: E402

import lineal.dask as ld  # noqa: E402
from lineal import _cluster, _dask_transport, _lineal, _sources, _tagging  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
DATA = Path(os.environ.get("LINEAL_DATA") or ROOT.parent / "shared" / "data")
pytestmark = pytest.mark.filterwarnings("ignore")


def chunks(n=300):
    """Sentences of chunks: CoNLL-2000's, where it is there; something of that kind elsewhere."""
    path = DATA / "conll2000/train.conll.gz"
    if path.exists():
        with gzip.open(path, "rt") as file:
            blocks = file.read().strip().split("\n\n")[:n]
        rows = [[line.split() for line in block.split("\n")] for block in blocks]
    else:
        rng = np.random.default_rng(0)
        words = {"DT": ["the", "a"], "NN": ["dog", "cat", "Tree"], "VB": ["sees", "eats"], "IN": ["in", "on"]}
        kinds = {"DT": "B-NP", "NN": "I-NP", "VB": "B-VP", "IN": "B-PP"}
        pattern = ["DT", "NN", "VB", "DT", "NN", "IN", "DT", "NN"]
        rows = [[[rng.choice(words[tag]), tag, kinds[tag] if rng.random() < 0.9 else "O"] for tag in pattern[: rng.integers(2, 9)]] for _ in range(n)]
    X = [[(str(word), tag) for word, tag, _ in sentence] for sentence in rows]
    return X, [[label for *_, label in sentence] for sentence in rows]


def bags(X, y, n):
    """As many partitions, cut alike."""
    size = -(-len(X) // n)
    cut = lambda rows: db.from_delayed([dask.delayed(list)(rows[at : at + size]) for at in range(0, len(rows), size)])
    return cut(X), cut(y)


def in_bits(model):
    """All weights, with the hashes of their attributes; what is read for their names has none of them."""
    for text, form in ((b"? ? ?\n", "conll"), (b"? ?\n", "conll"), (b'{"tokens": ["?"], "pos": ["?"], "labels": ["?"]}\n', "jsonl")):
        try:
            return model._model.tag_weights(text, form)
        except ValueError:
            pass
    raise AssertionError("no text is of its columns")


def test_the_objective_and_the_features_of_one_machine():
    X, y = chunks()
    twin = lineal.Tagger(tol=1e-7).fit(X, y)
    ours = ld.Tagger(tol=1e-7).fit(*bags(X, y, 5), client=False)
    a, b = ours.certificate_, twin.certificate_
    assert a.converged and abs(a.objective - b.objective) <= 1e-6 * b.objective, (a, b)
    assert a.gap is not None and 0 <= a.gap <= 3e-6 * a.objective
    # What is proven holds of the other's weights, too.
    assert a.objective - a.gap <= b.objective * (1 + 1e-9)
    assert ours.classes_ == twin.classes_
    assert ours.report_["features"] == twin.report_["features"] and ours.report_["weights"] == twin.report_["weights"] > 1000
    assert ours.predict(X) == twin.predict(X)


def test_the_default_tolerance_is_kept():
    X, y = chunks()
    twin = lineal.Tagger(tol=1e-7).fit(X, y)
    for rounds in (0, 4):
        ours = ld.Tagger().fit(*bags(X, y, 4), client=False, rounds=rounds)
        assert ours.certificate_.converged and ours.certificate_.gap <= 1e-2 * ours.certificate_.objective
        assert twin.certificate_.objective * (1 - 1e-6) <= ours.certificate_.objective <= twin.certificate_.objective * 1.01
        assert ours.certificate_.objective - ours.certificate_.gap <= twin.certificate_.objective


def test_workers_come_and_go(client, scaled_to, killing, monkeypatch):
    """1, 2 and 4 workers, one of them killed, one process, streamed passes, a first phase of steps: the same bits where the request is the same."""
    X, y = chunks(60)
    parts = bags(X, y, 6)
    model = lambda: ld.Tagger()
    found = {}
    for n in (1, 2, 4):
        scaled_to(n)
        found[n] = in_bits(model().fit(*parts, client=client))
    monkeypatch.setattr(ld, "Cluster", killing)
    killed = in_bits(model().fit(*parts, client=client))
    assert killing.n_asked > 5 and killing.killed not in client.run(os.getpid).values()
    monkeypatch.undo()
    here, streamed = model().fit(*parts, client=False), model().fit(*parts, client=client, keep=False)
    assert found[1] == found[2] == found[4] == killed == in_bits(here) == in_bits(streamed)
    assert not streamed.report_["cluster"]["kept"]
    stepped = [in_bits(model().fit(*parts, client=which, rounds=3)) for which in (client, False)]
    assert stepped[0] == stepped[1]


def write(folder, X, y, form, n=3):
    size = -(-len(X) // n)
    for at in range(n):
        some = list(zip(X, y))[at * size : (at + 1) * size]
        if form == "jsonl":
            lines = [json.dumps({"tokens": [word for word, _ in sentence], "pos": [tag for _, tag in sentence], "labels": labels}) for sentence, labels in some]
            (folder / f"{at}.jsonl").write_text("\n".join(lines) + "\n")
        else:
            text = "\n\n".join("\n".join(f"{word} {tag} {label}" for (word, tag), label in zip(*one)) for one in some)
            # Files may end without a line, and have several, and spaces in them.
            (folder / f"{at}.conll").write_text(text + ["", "\n", "\n \n\n"][at % 3])


@pytest.mark.parametrize("form", ["conll", "jsonl"])
def test_files_are_read_by_workers(form, client, tmp_path):
    X, y = chunks(60)
    write(tmp_path, X, y, form)
    files = str(tmp_path / f"*.{form}")
    there = ld.Tagger(tol=1e-6).fit(files, client=client, block=2000)
    assert there.report_["cluster"]["partitions"] > 5
    assert in_bits(there) == in_bits(ld.Tagger(tol=1e-6).fit(files, client=False, block=2000))
    twin = lineal.Tagger(tol=1e-6).fit(X, y)
    assert abs(there.certificate_.objective - twin.certificate_.objective) <= 2e-6 * twin.certificate_.objective
    found = client.compute(there.predict(files)).result(timeout=60)
    assert found == twin.predict(X)
    likely = there.predict_marginals(files).compute(scheduler="synchronous")
    assert [max(one, key=one.get) for one in likely[0]] == found[0]
    there.save(tmp_path / "m.lineal")
    again = lineal.load(tmp_path / "m.lineal")
    if form == "conll":
        assert again.predict(X) == found


def test_every_sentence_of_a_cut_file_is_read_once(tmp_path):
    sentences = ["\n".join(f"w{i}-{t} X" for t in range(1 + i % 4)) for i in range(60)]
    gaps = ["\n\n", "\n\n\n", "\n \n", "\n\r\n\n"]
    (tmp_path / "t.conll").write_bytes("".join(sentence + gaps[i % 4] for i, sentence in enumerate(sentences)).encode())
    whole = (tmp_path / "t.conll").read_bytes()
    for block in (7, 13, 50, 101, 10**6):
        parts = [source.read_text()[0] for source in _sources.sequence_sources(str(tmp_path / "t.conll"), block=block)]
        assert b"".join(parts) == whole
        for part in parts:
            found = [" ".join(line.split()) for line in part.decode().replace("\r", "").split("\n")]
            blocks = [one for one in "\n".join(found).split("\n\n") if one.strip()]
            assert all(one.strip("\n") in sentences for one in blocks), part


def test_labels_and_attributes_that_few_partitions_have(client):
    """One-class partitions, empty ones, labels that come late."""
    X = [["a", "b"], ["a"]] * 10 + [["c"], ["c", "a"]] * 10
    y = [["A", "B"], ["A"]] * 10 + [["C"], ["C", "A"]] * 10
    parts = lambda rows: db.from_delayed([dask.delayed(list)(rows[:20]), dask.delayed(list)([]), dask.delayed(list)(rows[20:])])
    there, here = (ld.Tagger(tol=1e-5).fit(parts(X), parts(y), client=which) for which in (client, False))
    assert in_bits(there) == in_bits(here) and there.classes_ == ["A", "B", "C"]
    twin = lineal.Tagger(tol=1e-5).fit(X, y)
    assert twin.classes_ == there.classes_ and there.predict(X) == twin.predict(X)
    assert there.predict(parts(X)).compute(scheduler="synchronous") == there.predict(X)


def test_a_driver_starts_again(client, tmp_path):
    X, y = chunks(150)
    parts = bags(X, y, 3)
    plain = ld.Tagger(tol=1e-4).fit(*parts, client=client)

    class Ends(_dask_transport.Cluster):
        n_left = 6

        def ask(self, question):
            Ends.n_left -= 1
            if Ends.n_left < 0:
                raise KeyboardInterrupt
            return super().ask(question)

    file = tmp_path / "run.checkpoint"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ld, "Cluster", Ends)
        with pytest.raises(KeyboardInterrupt):
            ld.Tagger(tol=1e-4).fit(*parts, client=client, checkpoint=file)
    again = ld.Tagger(tol=1e-4).fit(*parts, client=client, checkpoint=file)
    assert in_bits(again) == in_bits(plain) and again.report_["cluster"]["replayed"] == 6


def test_plans_counts_and_shards_can_be_sent():
    """Also from messages, in which arrays begin anywhere."""
    X, y = chunks(20)
    raw = (X, y, None)
    form = _tagging.LISTS
    spec = json.dumps({"task": "tag", "loss": "logistic"})
    plan = _tagging.TagPlan(_lineal.TagPlan([_tagging.survey(raw, form)[0]], spec), form)
    shift = lambda a: np.frombuffer(b"x" + a.tobytes(), dtype=np.uint8)[1:].view(a.dtype) if isinstance(a, np.ndarray) else tuple(map(shift, a)) if isinstance(a, tuple) else a
    counts = _tagging.count(raw, plan)
    rebuild, parts = counts.__reduce__()
    counts = rebuild(*map(shift, parts))
    plan = _tagging.TagPlan(plan.plan.with_attributes(counts.counts), form)
    plan = _tagging.TagPlan(plan.plan.with_observed(_tagging.observe(raw, plan)), form)
    rebuild, parts = plan.__reduce__()
    sent = rebuild(*map(shift, parts))
    shard = _tagging.build(raw, plan)
    ask = _tagging.Question("gradient", np.linspace(-1, 1, plan.dim), None, "", 0, 0.0)
    answers = [one.answer(ask, threads) for one, threads in ((shard, 1), (_tagging.build(raw, sent), 2), (pickle.loads(pickle.dumps(shard)), 1))]
    assert all(a[0] == answers[0][0] and (a[1] == answers[0][1]).all() for a in answers)
    assert shard.__sizeof__() > len(shard.text)
    # A worker that takes its shards from the disk again holds the plan once.
    again = [pickle.loads(pickle.dumps(shard)) for _ in range(3)]
    assert again[0].plan is again[1].plan is again[2].plan is rebuild(*map(shift, parts))
    assert rebuild(("jsonl", None, None), *parts[1:]) is not again[0].plan


def test_requests_that_make_no_sense(tmp_path):
    X, y = chunks(10)
    parts = bags(X, y, 2)
    with pytest.raises(ValueError, match="must have algorithm='crf'"):
        ld.Tagger("perceptron").fit(*parts, client=False)
    with pytest.raises(ValueError, match=r"partition 1 .*sentence 0 has .* labels"):
        ld.Tagger().fit(parts[0], bags(X, y[:5] + [["O"]] * 5, 2)[1], client=False)
    with pytest.raises(ValueError, match="no partition has a sentence"):
        ld.Tagger().fit(db.from_sequence([[]], npartitions=1), db.from_sequence([[]], npartitions=1), client=False)
    with pytest.raises(ValueError, match=r"partition 0 .* has the columns 0, 1, 2, and partition 1 .* has the columns 0, 1: all partitions must be alike"):
        ld.Tagger().fit(bags(X[:5] + [[word for word, _ in s] for s in X[5:]], y, 2)[0], parts[1], client=False)
    with pytest.raises(ValueError, match=r"partition \d .*scheme"):
        ld.Tagger(scheme="bio").fit(bags([["a", "b"]] * 4, [["O", "B-X"]] * 3 + [["O", "I-X"]], 2)[0], bags([["a", "b"]] * 4, [["O", "B-X"]] * 3 + [["O", "I-X"]], 2)[1], client=False)
    for at, one in enumerate(['{"tokens": ["a"], "labels": ["X"]}', '{"text": "a b", "spans": [[0, 1, "X"]]}']):
        (tmp_path / f"{at}.jsonl").write_text(one + "\n")
    with pytest.raises(ValueError, match=r"0\.jsonl.* has lists of tokens, and .*1\.jsonl.* has texts with spans that are lists: all partitions must be alike"):
        ld.Tagger().fit(str(tmp_path / "*.jsonl"), client=False)
    (tmp_path / "t.csv").write_text("a,b\n")
    with pytest.raises(ValueError, match="must end in .conll"):
        ld.Tagger().fit(str(tmp_path / "*.csv"), client=False)


def test_train_is_a_function(client):
    X, y = chunks(40)
    parts = bags(X, y, 2)
    assert in_bits(ld.train(client, *parts, estimator="Tagger", C=2.0, rounds=2)) == in_bits(ld.Tagger(C=2.0).fit(*parts, client=False, rounds=2))


def test_a_run_ends_in_the_round_that_something_is_raised_in(raising_in_pass):
    X, y = chunks(60)
    with pytest.raises(KeyboardInterrupt):
        ld.Tagger().fit(*bags(X, y, 2), client=False, rounds=4)
    # The norm, and two rounds.
    assert raising_in_pass.n_asked == 3


def test_a_checkpoint_knows_its_data(tmp_path):
    """Other data of the same shape replayed the old model."""
    X, y = [["a", "b"], ["b", "a"]] * 5, [["A", "B"], ["B", "A"]] * 5
    file = tmp_path / "run.checkpoint"
    for _ in range(2):
        model = ld.Tagger().fit(*bags(X, y, 2), client=False, checkpoint=file)
    assert model.report_["cluster"]["replayed"] == model.report_["cluster"]["questions"] > 0
    with pytest.raises(ValueError, match="other data or other parameters"):
        ld.Tagger().fit(*bags(X, [["B", "A"], ["A", "B"]] + y[2:], 2), client=False, checkpoint=file)


@pytest.mark.parametrize("form", ["jsonl", "conllu"])
def test_partitions_without_a_word(form, client, tmp_path):
    """A block of comments, or of sentences without words, was refused."""
    if form == "jsonl":
        sentence, nothing = '{"tokens": ["a", "b"], "labels": ["A", "B"]}\n', '{"tokens": [], "labels": []}\n'
    else:
        word = lambda at, form, tag: f"{at}\t{form}\t_\t{tag}" + "\t_" * 6 + "\n"
        sentence, nothing = word(1, "a", "A") + word(2, "b", "B") + "\n", "# a comment\n\n"
    for at, text in enumerate([sentence * 5, nothing * 3, sentence * 2 + nothing]):
        (tmp_path / f"{at}.{form}").write_text(text)
    files = str(tmp_path / f"*.{form}")
    there, here = (ld.Tagger().fit(files, *(["upos"] if form == "conllu" else []), client=which) for which in (client, False))
    assert there.report_["examples"] == 7 and there.certificate_ == here.certificate_
    assert here.predict(files).compute(scheduler="synchronous") == [["A", "B"]] * 7
    streamed = ld.Tagger().fit(files, *(["upos"] if form == "conllu" else []), client=client, keep=False)
    assert streamed.certificate_ == here.certificate_
    (tmp_path / f"0.{form}").write_text(nothing), (tmp_path / f"2.{form}").write_text("")
    with pytest.raises(ValueError, match="no partition has a sentence"):
        ld.Tagger().fit(files, client=False)


def test_hashes_of_attributes():
    """Counts replaced them in the plan of the driver, and workers had another."""
    X, y = chunks(60)
    X, y = [[word for word, _ in sentence] for sentence in X], y
    raws = [(X[:30], y[:30], None), (X[30:], y[30:], None)]
    spec = {"task": "tag", "tag": {"hash_bits": 10}, "loss": "logistic", "tol": 1e-6}
    here = _cluster.Here(["p0", "p1"], [lambda raw=raw: pickle.loads(pickle.dumps(raw)) for raw in raws])
    model, _ = _tagging.run(here, _tagging.LISTS, spec)
    whole = _tagging.text_of((X, y, None))
    twin = _lineal.fit_structured(whole, "conll", json.dumps(spec), 1, None)
    assert json.loads(model.report)["objective"] == pytest.approx(json.loads(twin.report)["objective"], rel=2e-6)
