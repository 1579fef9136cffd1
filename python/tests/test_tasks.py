"""One estimator for each task of the library: images, graphs, structures of one's own; and what all have: explanations, files, certificates."""

import json
import os
import pickle

import numpy as np
import pytest

import lineal

WORDS = [["Ada", "sings", "well"], ["Bob", "sleeps"], ["Eve", "sings"], ["Mary", "sleeps", "well"]]
TAGS = [["NAME", "VERB", "ADV"], ["NAME", "VERB"], ["NAME", "VERB"], ["NAME", "VERB", "ADV"]]
TREES = ["(S (NP (N Ada)) (VP (V sings)))", "(S (NP (N Bob)) (VP (V sleeps)))", "(S (NP (N Eve)) (VP (V sings)))"]
ENTITIES = """variable entity { Other Peop Org } from entities by type
variable relation(head: entity, tail: entity) { none Work_For } from relations by type all pairs
features entity: lower(tokens[start..end])
features relation: set(lower(tokens[between head tail])) & order(head, tail)
rule relation = Work_For implies head = Peop and tail = Org
"""


def squares():
    """Bright squares on a dark ground, with noise."""
    generator = np.random.RandomState(0)
    images, masks = [], []
    for k in range(6):
        mask = np.zeros((20, 24), dtype=int)
        mask[3 + k : 12 + k, 4:15] = 1
        image = np.where(mask[:, :, None] == 1, 190, 60) + generator.randint(-40, 40, (20, 24, 3))
        images.append(image.clip(0, 255).astype(np.uint8))
        masks.append(mask)
    return images, masks


def graphs():
    """Chains whose nodes are like their neighbours."""
    generator = np.random.RandomState(1)
    X, y = [], []
    for _ in range(12):
        gold = np.repeat(generator.randint(0, 2, 4), 3)
        nodes = (gold + 0.7 * generator.randn(12))[:, None]
        X.append({"nodes": nodes, "edges": [(a, a + 1, [1.0]) for a in range(11)]})
        y.append(["sky" if label else "sea" for label in gold])
    return X, y


def examples():
    out = []
    for person, firm in (("Ada", "Acme"), ("Bob", "Initech"), ("Eve", "Acme"), ("Mary", "Initech")):
        out.append(
            {
                "tokens": [person, "works", "for", firm],
                "entities": [{"start": 0, "end": 1, "type": "Peop"}, {"start": 3, "end": 4, "type": "Org"}],
                "relations": [{"head": 0, "tail": 1, "type": "Work_For"}],
            }
        )
    return out * 3


def bare(all_examples):
    return [
        {**example, "entities": [{k: v for k, v in entity.items() if k != "type"} for entity in example["entities"]], "relations": []} for example in all_examples
    ]


def test_images():
    images, masks = squares()
    model = lineal.Segmenter(C=0.01).fit(images[:4], masks[:4])
    assert model.score(images[4:], masks[4:]) > 0.95
    assert list(model.classes_) == [0, 1]
    found = model.predict(images[4:])
    assert found[0].shape == masks[4].shape and found[0].dtype == masks[4].dtype
    # Floats from 0 to 1 and Fortran's order are the same image.
    np.testing.assert_array_equal(model.predict([np.asfortranarray(images[4] / 255.0)])[0], found[0])
    sure = model.predict_confidence(images[4:5])[0]
    assert sure.shape == masks[4].shape and 0.49 < sure.min() <= sure.max() <= 1
    known = np.full(masks[4].shape, -1)
    known[0, 0] = 1
    assert model.predict(images[4:5], known=[known])[0][0, 0] == 1
    (why,) = model.explain(images[4:5], pixel=(8, 9))
    assert why["position"] == (8, 9) and why["winner"] == found[0][8, 9] and why["runner_up"] != why["winner"]
    assert abs(sum(amount for *_, amount in why["reasons"]) + why["rest"] - why["lead"]) < 1e-6
    assert (pickle.loads(pickle.dumps(model)).predict(images[4:])[0] == found[0]).all()


def test_images_with_names_and_unknown_pixels():
    images, masks = squares()
    named = [np.where(mask == 1, "square", "ground") for mask in masks]
    named[0] = named[0].astype(object)
    named = [mask.astype("<U8") for mask in named]
    named[0][:2] = "?"
    model = lineal.Segmenter(C=0.01, unknown="?", max_iter=20).fit(images[:4], named[:4])
    assert set(np.unique(model.predict(images[5:])[0])) <= {"square", "ground"}
    assert model.score(images[4:], named[4:]) > 0.9


def test_graphs():
    X, y = graphs()
    model = lineal.Segmenter().fit(X[:8], y[:8])
    alone = lineal.Segmenter(edges=False).fit(X[:8], y[:8])
    assert model.score(X[8:], y[8:]) >= alone.score(X[8:], y[8:])
    assert model.score(X[8:], y[8:]) > 0.8
    assert len(model.predict_confidence(X[8:9])[0]) == 12
    assert model.explain(X[8:9])[0]["winner"] in ("sky", "sea")


@pytest.mark.parametrize("bad", ["shape", "one label", "numbers", "lengths"])
def test_what_a_segmenter_refuses(bad):
    images, masks = squares()
    calls = {
        "shape": (images, [mask[:-1] for mask in masks]),
        "one label": (images, [np.zeros_like(mask) for mask in masks]),
        "numbers": ([image.astype(float) for image in images], masks),
        "lengths": (images, masks[:-1]),
    }
    with pytest.raises(ValueError):
        lineal.Segmenter().fit(*calls[bad])


def test_a_declared_structure_keeps_its_rules():
    data = examples()
    model = lineal.DeclaredStructure(ENTITIES).fit(data)
    assert model.score(data) == 1.0
    found = model.predict(bare(data))
    assert found[0]["entities"][0]["type"] == "Peop" and found[0]["relations"] == [{"head": 0, "tail": 1, "type": "Work_For"}]
    other = {"tokens": ["Acme", "works", "for", "Acme"], "entities": [{"start": 0, "end": 1}, {"start": 3, "end": 4}], "relations": []}
    (kept,) = model.predict([other])
    types = [entity["type"] for entity in kept["entities"]]
    assert all((types[r["head"]], types[r["tail"]]) == ("Peop", "Org") for r in kept["relations"])
    assert {why["kind"] for why in model.explain(bare(data)[:1])[0]} == {"entity", "relation"}
    assert pickle.loads(pickle.dumps(model)).predict(bare(data)) == found
    with pytest.raises(ValueError, match="declar"):
        lineal.DeclaredStructure("").fit(data)
    with pytest.raises(ValueError):
        lineal.DeclaredStructure("variable entity {").fit(data)


def fitted():
    images, masks = squares()
    X = np.random.RandomState(0).randn(60, 4)
    grades = (X[:, 0] > 0).astype(float)
    tree = [[(2, "nsubj"), (0, "root")] + [(2, "advmod")] * (len(words) - 2) for words in WORDS]
    return {
        "Tagger": (lineal.Tagger().fit(WORDS, TAGS), WORDS),
        "DependencyParser": (lineal.DependencyParser(epochs=3).fit(WORDS, tree), WORDS),
        "ConstituencyParser": (lineal.ConstituencyParser(epochs=3).fit(TREES), [["Bob", "sings"]]),
        "Segmenter": (lineal.Segmenter(C=0.01, max_iter=10).fit(images[:3], masks[:3]), images[3:]),
        "DeclaredStructure": (lineal.DeclaredStructure(ENTITIES).fit(examples()), bare(examples())),
        "Ranker": (lineal.Ranker().fit(X, grades, groups=[10] * 6), X),
        "MultilabelClassifier": (lineal.MultilabelClassifier().fit(X, [["a"] if x > 0 else ["b", "c"] for x in X[:, 0]]), X),
        "LogisticRegression": (lineal.LogisticRegression().fit(X, grades.astype(int)), X),
        "OneVsOneClassifier": (lineal.OneVsOneClassifier().fit(X, np.arange(60) % 3), X),
        "LabelTreeClassifier": (lineal.LabelTreeClassifier().fit(X, np.arange(60) % 3), X),
        "Ridge": (lineal.Ridge().fit(X, X[:, 0]), X),
        "TextClassifier": (lineal.TextClassifier().fit(["an invoice", "log in"] * 8, ["money", "access"] * 8), ["my invoice", "cannot log in"]),
    }


@pytest.mark.filterwarnings("ignore")
def test_every_estimator_has_a_certificate_a_report_an_explanation_a_page_and_a_file(tmp_path):
    """``lineal.load`` reads what any of them saves, and the file predicts the same."""
    for name, (model, X) in fitted().items():
        assert isinstance(model.certificate_, lineal.Certificate) and str(model.certificate_), name
        assert model.report_["passes"] >= 0 and isinstance(model.report_.curve, list), name
        assert str(model.certificate_.words)[:20] in model._repr_html_().replace("&#x27;", "'"), name
        assert len(model.explain(X)) > 0, name
        path = tmp_path / f"{name}.lineal"
        assert model.save(path) == os.path.getsize(path), name
        again = lineal.load(path)
        assert _plain(again.predict(X)) == _plain(model.predict(X)), name
        assert str(again.certificate_) == str(model.certificate_), name


def _plain(found):
    return json.dumps(found, default=lambda value: value.tolist())


def test_an_exception_of_a_callback_is_raised():
    from lineal import _lineal

    def stop(*_):
        raise ZeroDivisionError("enough")

    X = np.random.RandomState(0).randn(200, 5).astype(np.float32)
    y = (X[:, 0] > 0).astype(np.uint32)
    spec = json.dumps({"task": "classify", "loss": "hinge", "penalty": {"c": 10.0}, "tol": 1e-12})
    with pytest.raises(ZeroDivisionError, match="enough"):
        _lineal.fit(X, y, ["a", "b"], spec, None, None, 1, stop)


def test_messages_name_parameters():
    """What the library says of its fields is said of the estimator's parameters."""
    X = np.random.RandomState(0).randn(30, 3)
    with pytest.raises(ValueError) as why:
        lineal.CalibratedClassifierCV(cv=1).fit(X, np.arange(30) % 2)
    assert "spec." not in str(why.value) and "--" not in str(why.value), why.value
    with pytest.raises(ValueError) as why:
        lineal.LinearSVC().fit(X, np.arange(30) % 2)._model.proba(X)
    assert "spec." not in str(why.value) and "--" not in str(why.value), why.value


def test_progress_is_shown(capsys):
    pytest.importorskip("tqdm")
    X = np.random.RandomState(0).randn(200, 5)
    lineal.LinearSVC(verbose=1).fit(X, (X[:, 0] > 0).astype(int))
    assert "lineal" in capsys.readouterr().err
