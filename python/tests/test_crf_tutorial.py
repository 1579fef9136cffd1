"""The tutorial of sklearn-crfsuite with the import changed, side by side with the original.

The tutorial's corpus, CoNLL-2002, is downloaded by NLTK; the sentences here have the same form, (word, part of speech, label).
"""

from collections import Counter

import numpy as np
import pytest

import lineal.crf

sklearn_crfsuite = pytest.importorskip("sklearn_crfsuite")
import scipy.stats  # noqa: E402
from sklearn.metrics import make_scorer  # noqa: E402
from sklearn.model_selection import RandomizedSearchCV  # noqa: E402
from sklearn_crfsuite import metrics  # noqa: E402


def corpus(n, seed):
    """Sentences about people who went to places and worked for firms."""
    generator = np.random.RandomState(seed)
    people = ["Ada", "Bob", "Eve", "Juan", "María", "Pedro", "Luis", "Ana"]
    families = ["Smith", "García", "López", "Núñez", "Jones"]
    places = ["Madrid", "Melbourne", "Sevilla", "Oviedo", "Toledo", "Paris"]
    firms = ["EFE", "Telefónica", "Acme", "Initech", "IBM"]
    sents = []
    for _ in range(n):
        person = [(generator.choice(people), "NP", "B-PER")]
        if generator.rand() < 0.6:
            person.append((generator.choice(families), "NP", "I-PER"))
        if generator.rand() < 0.5:
            rest = [("went", "VMI", "O"), ("to", "SP", "O"), (generator.choice(places), "NC", "B-LOC")]
        else:
            rest = [("works", "VMI", "O"), ("for", "SP", "O"), (generator.choice(firms), "NC", "B-ORG")]
        if generator.rand() < 0.3:
            rest += [("in", "SP", "O"), (generator.choice(places), "NC", "B-LOC")]
        if generator.rand() < 0.2:
            rest += [("on", "SP", "O"), ("25", "Z", "O"), ("May", "NC", "O")]
        sents.append([*person, *rest, (".", "Fp", "O")])
    return sents


# The functions of the tutorial, as they are there.
def word2features(sent, i):
    word = sent[i][0]
    postag = sent[i][1]

    features = {
        'bias': 1.0,
        'word.lower()': word.lower(),
        'word[-3:]': word[-3:],
        'word[-2:]': word[-2:],
        'word.isupper()': word.isupper(),
        'word.istitle()': word.istitle(),
        'word.isdigit()': word.isdigit(),
        'postag': postag,
        'postag[:2]': postag[:2],
    }
    if i > 0:
        word1 = sent[i-1][0]
        postag1 = sent[i-1][1]
        features.update({
            '-1:word.lower()': word1.lower(),
            '-1:word.istitle()': word1.istitle(),
            '-1:word.isupper()': word1.isupper(),
            '-1:postag': postag1,
            '-1:postag[:2]': postag1[:2],
        })
    else:
        features['BOS'] = True

    if i < len(sent)-1:
        word1 = sent[i+1][0]
        postag1 = sent[i+1][1]
        features.update({
            '+1:word.lower()': word1.lower(),
            '+1:word.istitle()': word1.istitle(),
            '+1:word.isupper()': word1.isupper(),
            '+1:postag': postag1,
            '+1:postag[:2]': postag1[:2],
        })
    else:
        features['EOS'] = True

    return features


def sent2features(sent):
    return [word2features(sent, i) for i in range(len(sent))]


def sent2labels(sent):
    return [label for token, postag, label in sent]


def tutorial(module):
    """The tutorial's steps; what it looks at comes back."""
    train_sents, test_sents = corpus(150, 0), corpus(60, 1)
    X_train = [sent2features(s) for s in train_sents]
    y_train = [sent2labels(s) for s in train_sents]
    X_test = [sent2features(s) for s in test_sents]
    y_test = [sent2labels(s) for s in test_sents]

    crf = module.CRF(
        algorithm='lbfgs',
        c1=0.1,
        c2=0.1,
        max_iterations=100,
        all_possible_transitions=True
    )
    crf.fit(X_train, y_train)

    labels = list(crf.classes_)
    labels.remove('O')
    y_pred = crf.predict(X_test)
    f1 = metrics.flat_f1_score(y_test, y_pred, average='weighted', labels=labels)

    # group B and I results
    sorted_labels = sorted(labels, key=lambda name: (name[1:], name[0]))

    crf = module.CRF(
        algorithm='lbfgs',
        max_iterations=100,
        all_possible_transitions=True
    )
    params_space = {
        'c1': scipy.stats.expon(scale=0.5),
        'c2': scipy.stats.expon(scale=0.05),
    }
    f1_scorer = make_scorer(metrics.flat_f1_score, average='weighted', labels=labels)
    rs = RandomizedSearchCV(crf, params_space, cv=3, n_jobs=1, n_iter=3, scoring=f1_scorer, random_state=0)
    rs.fit(X_train, y_train)

    crf = rs.best_estimator_
    y_pred = crf.predict(X_test)
    transitions = Counter(crf.transition_features_).most_common(20)
    states = Counter(crf.state_features_).most_common(30)
    return f1, sorted_labels, rs, crf, transitions, states, (X_test, y_test, y_pred)


@pytest.mark.filterwarnings("ignore")
def test_the_tutorial():
    ours, theirs = tutorial(lineal.crf), tutorial(sklearn_crfsuite)
    assert abs(ours[0] - theirs[0]) < 0.02
    assert ours[1] == theirs[1]
    # The same candidates are measured, and come out alike.
    np.testing.assert_allclose(ours[2].cv_results_["mean_test_score"], theirs[2].cv_results_["mean_test_score"], atol=0.02)
    assert ours[2].best_params_ == theirs[2].best_params_ or abs(ours[2].best_score_ - theirs[2].best_score_) < 0.01
    assert [key for key, _ in ours[4]][0] == [key for key, _ in theirs[4]][0]
    # all_possible_transitions: every pair of labels has a weight, also those that never occur.
    crf = lineal.crf.CRF(c1=0.0, c2=0.1, all_possible_transitions=True).fit(ours[6][0], ours[6][1])
    assert len(crf.transition_features_) == len(crf.classes_) ** 2
    assert min(crf.transition_features_.values()) < 0
    plain = lineal.crf.CRF(c1=0.0, c2=0.1).fit(ours[6][0], ours[6][1])
    assert len(plain.transition_features_) < len(crf.transition_features_)


@pytest.mark.parametrize("states", [False, True])
@pytest.mark.parametrize("transitions", [False, True])
def test_the_same_weights_as_crfsuite_has(states, transitions):
    sents = corpus(40, 3)
    X, y = [sent2features(s) for s in sents], [sent2labels(s) for s in sents]
    shared = dict(algorithm="lbfgs", c1=0.0, c2=0.5, all_possible_states=states, all_possible_transitions=transitions)
    theirs = sklearn_crfsuite.CRF(**shared, epsilon=1e-9, delta=1e-12, max_iterations=2000).fit(X, y)
    ours = lineal.crf.CRF(**shared, epsilon=1e-9, max_iterations=2000).fit(X, y)
    assert set(ours.transition_features_) == set(theirs.transition_features_)
    assert set(ours.state_features_) == set(theirs.state_features_)
    for key, weight in theirs.transition_features_.items():
        assert abs(ours.transition_features_[key] - weight) < 1e-3
    # The probability of any labelling, not of the best one alone.
    tagger, peer = ours.tagger_, theirs.tagger_
    for labels in (y[0], ["O"] * len(y[0])):
        tagger.set(X[0])
        peer.set(X[0])
        assert abs(tagger.probability(labels) - peer.probability(labels)) < 1e-4
    assert tagger.probability(["UNHEARD"] * len(y[0])) == 0.0


def test_items_of_every_form():
    """Dictionaries, nested ones, lists, sets, strings and NumPy's numbers are the attributes that python-crfsuite makes of them."""
    X = [
        [{"word": "Ada", "n": np.float32(2), "ok": np.bool_(True), "more": {"a": {"b": 1}}}, {"list": ["x", "y"], "colon:in": "a:b\\c"}],
        [["plain", "strings"], "just one"],
        [{"f": 0.5, "word": "Bob"}, {"s": {"one"}}],
    ]
    y = [["A", "B"], ["A", "B"], ["A", "B"]]
    shared = dict(algorithm="lbfgs", c1=0.0, c2=0.1)
    ours = lineal.crf.CRF(**shared).fit(X, y)
    theirs = sklearn_crfsuite.CRF(**shared).fit([[item if not isinstance(item, str) else [item] for item in s] for s in X], y)
    assert set(ours.state_features_) == set(theirs.state_features_)
    for bad, error in ((3, TypeError), ({"x": float("nan")}, ValueError), ({"a\tb": 1}, ValueError), ([1, 2], TypeError), ({"x": object()}, TypeError)):
        with pytest.raises(error):
            ours.fit([[bad]], [["A"]])
    assert ours.score(X, y) == 1.0


def notebook(module, path):
    """The steps of python-crfsuite's own example (CoNLL 2002.ipynb); what it looks at comes back."""
    sents = corpus(150, 0)
    X_train = [sent2features(s) for s in sents]
    y_train = [sent2labels(s) for s in sents]

    trainer = module.Trainer(verbose=False)
    for xseq, yseq in zip(X_train, y_train):
        trainer.append(xseq, yseq)
    trainer.set_params({
        'c1': 1.0,   # coefficient for L1 penalty
        'c2': 1e-3,  # coefficient for L2 penalty
        'max_iterations': 50,  # stop earlier

        # include transitions that are possible, but not observed
        'feature.possible_transitions': True
    })
    params = trainer.params()
    trainer.train(path)

    tagger = module.Tagger()
    tagger.open(path)
    return trainer, params, tagger.info(), tagger


def test_the_example_of_python_crfsuite(tmp_path, capsys):
    """The names of parameters, the log of the run and the weights of a file: these were not there."""
    pycrfsuite = pytest.importorskip("pycrfsuite")
    ours, theirs = notebook(lineal.crf, str(tmp_path / "a.lineal")), notebook(pycrfsuite, str(tmp_path / "a.crfsuite"))
    assert ours[1] == theirs[1]
    last, peer = ours[0].logparser.last_iteration, theirs[0].logparser.last_iteration
    assert last["loss"] == pytest.approx(peer["loss"], rel=0.02)
    assert last["num"] == len(ours[0].logparser.iterations)
    mine, info = ours[2], theirs[2]
    assert set(mine.labels) == set(info.labels)
    assert set(mine.transitions) == {pair for pair, weight in info.transitions.items() if weight}
    strongest = dict(Counter(info.transitions).most_common(5))
    assert {pair: mine.transitions[pair] for pair in strongest} == pytest.approx(strongest, abs=0.2)
    # The model keeps the names of the attributes that weigh most. With hardly any penalty and features that come twice, their weights are alike in sign and order only.
    names = [name for name, _ in Counter(info.state_features).most_common(10)]
    assert all(mine.state_features[name] > 0 for name in names)
    assert [name for name, _ in Counter(mine.state_features).most_common(3)] == names[:3]
    ours[3].dump(tmp_path / "dump.txt")
    ours[3].dump()
    text = (tmp_path / "dump.txt").read_text()
    assert capsys.readouterr().out.strip() == text.strip()
    (pair, weight), *_ = mine.transitions.items()
    assert f"(1) {pair[0]} --> {pair[1]}: {weight:.6f}\n" in text


@pytest.mark.parametrize("algorithm", ["lbfgs", "l2sgd", "ap", "pa"])
def test_a_trainer_has_python_crfsuites_parameters(algorithm):
    pycrfsuite = pytest.importorskip("pycrfsuite")
    ours, theirs = lineal.crf.Trainer(algorithm, verbose=False), pycrfsuite.Trainer(algorithm, verbose=False)
    assert ours.get_params() == theirs.get_params()
    ours.set("feature.minfreq", 2.0)
    assert ours.get("feature.minfreq") == 2.0 and "occurs" in ours.help("feature.minfreq")
    for wrong in (lambda: ours.set("magic", 1), lambda: ours.get("magic"), lambda: ours.help("magic")):
        with pytest.raises(ValueError, match="Parameter not found: magic"):
            wrong()
    with pytest.raises(ValueError, match="algorithm"):
        ours.select("magic")


def test_a_number_sign_begins_no_comment():
    """An attribute that began with ``#`` was lost, and so were all after it in its item."""
    X = [[{"#tags": 2.0, "word": "a"}, ["#nlp", "other"]], [["\\#nlp", "a\\#"], {"#": "#"}]]
    y = [["#", "@"], ["\\#", ":"]]
    shared = dict(algorithm="lbfgs", c1=0.0, c2=0.1)
    ours, theirs = lineal.crf.CRF(**shared).fit(X, y), sklearn_crfsuite.CRF(**shared).fit(X, y)
    assert set(ours.state_features_) == set(theirs.state_features_)
    assert ours.predict(X) == [list(labels) for labels in theirs.predict(X)] == y


def test_a_single_sequence_is_not_a_list_of_sequences():
    """Its items were taken for sequences, and the names of their features for items."""
    sents = corpus(20, 0)
    crf = lineal.crf.CRF().fit([sent2features(s) for s in sents], [sent2labels(s) for s in sents])
    one = sent2features(sents[0])
    assert crf.predict_single(one) == crf.predict([one])[0]
    with pytest.raises(TypeError, match="sequence 0 must be a list of items, not a dict"):
        crf.predict(one)
    with pytest.raises(TypeError, match="sequence 0 must be a list of labels, not a str"):
        crf.fit([one], ["O" * len(one)])
    with pytest.raises(ValueError, match="label must not be empty"):
        crf.fit([one], [[""] * len(one)])
