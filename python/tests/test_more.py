"""Text, reductions, labels, taggers, parsers, rankers, searches."""

import pickle

import numpy as np
import pytest

import lineal
from lineal import crf, tune

pytest.importorskip("sklearn")
from scipy.sparse import csr_matrix  # noqa: E402
from sklearn.datasets import load_digits, load_iris  # noqa: E402
from sklearn.feature_extraction import text as peers  # noqa: E402
from sklearn.linear_model import LogisticRegression, SGDClassifier  # noqa: E402
from sklearn.model_selection import GridSearchCV  # noqa: E402
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier  # noqa: E402
from sklearn.neighbors import KNeighborsClassifier  # noqa: E402
from sklearn.svm import LinearSVC  # noqa: E402
from sklearn.tree import DecisionTreeClassifier  # noqa: E402

DOCUMENTS = [
    "The quick brown fox jumps over the lazy dog",
    "A lazy dog sleeps; the FOX does not.",
    "Über den Wolken muß die Freiheit wohl grenzenlos sein",
    "number 42 and 3.14 and snake_case and e-mail@example.org",
    "",
    "dog dog dog fox",
]


@pytest.mark.parametrize(
    "params",
    [
        dict(),
        dict(sublinear_tf=True, ngram_range=(1, 2)),
        dict(use_idf=False, norm=None),
        dict(min_df=2, max_df=0.9),
        dict(stop_words="english"),
        dict(max_features=5),
        dict(analyzer="char_wb", ngram_range=(2, 4)),
        dict(lowercase=False, token_pattern=r"(?u)\b\w+\b"),
        dict(use_idf=False, binary=True, dtype=np.float32),
    ],
    ids=str,
)
def test_tfidf_has_scikit_learns_values(params):
    ours, theirs = lineal.TfidfVectorizer(**params), peers.TfidfVectorizer(**params)
    mine, expected = ours.fit_transform(DOCUMENTS), theirs.fit_transform(DOCUMENTS)
    assert list(ours.get_feature_names_out()) == list(theirs.get_feature_names_out())
    assert mine.dtype == expected.dtype
    np.testing.assert_allclose(mine.toarray(), expected.toarray(), atol=2e-7)
    new = ["the dog and a Wolken fox", "nothing known here xyz"]
    np.testing.assert_allclose(ours.transform(new).toarray(), theirs.transform(new).toarray(), atol=2e-7)
    assert ours.vocabulary_ == {name: int(at) for name, at in theirs.vocabulary_.items()}
    if ours.use_idf:
        np.testing.assert_allclose(ours.idf_, theirs.idf_, rtol=1e-6)
    copy = pickle.loads(pickle.dumps(ours))
    np.testing.assert_array_equal(copy.transform(new).toarray(), ours.transform(new).toarray())


@pytest.mark.parametrize("params", [dict(n_features=2**12), dict(n_features=2**10, norm=None, ngram_range=(1, 2)), dict(binary=True)], ids=str)
def test_hashing_has_scikit_learns_values(params):
    mine = lineal.HashingVectorizer(**params).fit_transform(DOCUMENTS)
    expected = peers.HashingVectorizer(**params).fit_transform(DOCUMENTS)
    assert mine.shape == expected.shape
    assert abs(mine - expected).max() < 2e-7


def test_what_vectorizers_refuse():
    with pytest.raises(ValueError, match="string object received"):
        lineal.TfidfVectorizer().fit("not a list")
    with pytest.raises(ValueError, match="not fitted"):
        lineal.TfidfVectorizer().transform(DOCUMENTS)
    with pytest.raises(ValueError, match="invalid document"):
        lineal.TfidfVectorizer().fit(["a word", np.nan])
    with pytest.raises(ValueError, match="analyzer"):
        lineal.TfidfVectorizer(analyzer="magic").fit(DOCUMENTS)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "params",
    [
        dict(strip_accents="unicode"),
        dict(tokenizer=str.split),
        dict(preprocessor=str.upper),
        dict(analyzer="char", ngram_range=(1, 3)),
        dict(analyzer=str.split),
        dict(vocabulary=["fox", "dog"]),
        dict(smooth_idf=False),
        dict(norm="l1"),
        dict(binary=True),
        dict(token_pattern=r"\b(?=[df])\w+"),
    ],
    ids=str,
)
def test_what_is_not_ours_is_done_by_scikit_learn(params):
    ours, theirs = lineal.TfidfVectorizer(**params), peers.TfidfVectorizer(**params)
    np.testing.assert_array_equal(ours.fit_transform(DOCUMENTS).toarray(), theirs.fit_transform(DOCUMENTS).toarray())
    np.testing.assert_array_equal(ours.transform(DOCUMENTS[:2]).toarray(), theirs.transform(DOCUMENTS[:2]).toarray())
    assert list(ours.get_feature_names_out()) == list(theirs.get_feature_names_out())
    np.testing.assert_array_equal(ours.idf_, theirs.idf_)
    ours.set_params(**lineal.TfidfVectorizer().get_params()).fit(DOCUMENTS)
    assert "peer_" not in vars(ours)
    for more in (dict(n_features=1000), dict(alternate_sign=False), dict(norm="l1")):
        mine = lineal.HashingVectorizer(**more).fit_transform(DOCUMENTS)
        np.testing.assert_array_equal(mine.toarray(), peers.HashingVectorizer(**more).fit_transform(DOCUMENTS).toarray())


def test_words_of_rows():
    ours, theirs = lineal.TfidfVectorizer().fit(DOCUMENTS), peers.TfidfVectorizer().fit(DOCUMENTS)
    X = theirs.transform(DOCUMENTS)
    for mine, expected in zip(ours.inverse_transform(X), theirs.inverse_transform(X)):
        assert sorted(mine) == sorted(expected)


def test_text_classifier():
    texts = ["my invoice is wrong", "cannot log in", "the invoice never came", "log in fails"] * 6
    y = np.array([7, 12, 7, 12] * 6)
    model = lineal.TextClassifier().fit(texts, y)
    assert model.score(texts, y) == 1.0
    np.testing.assert_allclose(model.predict_proba(texts[:2]).sum(axis=1), 1.0)
    (why,) = model.explain(["the invoice"])
    assert why["winner"] == 7 and any("invoice" in str(name) for name, *_ in why["contributions"])
    copy = pickle.loads(pickle.dumps(model))
    assert (copy.predict(texts) == y).all()


@pytest.mark.filterwarnings("ignore")
def test_reductions():
    X, y = load_iris(return_X_y=True)
    ours = lineal.OneVsRestClassifier(lineal.LinearSVC(tol=1e-8)).fit(X, y)
    theirs = OneVsRestClassifier(LinearSVC(dual=False, tol=1e-10)).fit(X, y)
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-3)
    pairs = lineal.OneVsOneClassifier(lineal.LinearSVC(tol=1e-8)).fit(X, y)
    np.testing.assert_array_equal(pairs.predict(X), OneVsOneClassifier(LinearSVC(dual=False, tol=1e-10)).fit(X, y).predict(X))
    assert lineal.OutputCodeClassifier(code="exhaustive").fit(X, y).score(X, y) > 0.6
    # Three classes have three different columns, and scikit-learn's code_size asks for six.
    assert lineal.OutputCodeClassifier(lineal.LinearSVC(), code_size=2).fit(X, y).score(X, y) > 0.6
    assert lineal.OneVsRestClassifier(lineal.LogisticRegression()).fit(X, y).predict_proba(X).shape == (150, 3)
    # Any estimator that is not ours, by scikit-learn's reduction.
    assert lineal.OneVsRestClassifier(DecisionTreeClassifier(random_state=0)).fit(X, y).score(X, y) > 0.95
    assert lineal.OneVsOneClassifier(KNeighborsClassifier()).fit(X, y).score(X, y) > 0.9
    assert lineal.LabelTreeClassifier().fit(X, y).score(X, y) > 0.9


@pytest.mark.filterwarnings("ignore")
def test_a_reduction_has_its_estimators_and_takes_labels():
    X, y = load_iris(return_X_y=True)
    ours = lineal.OneVsRestClassifier(lineal.LinearSVC(tol=1e-8)).fit(X, y)
    theirs = OneVsRestClassifier(LinearSVC(dual=False, tol=1e-10)).fit(X, y)
    assert ours.n_classes_ == 3 and not ours.multilabel_
    for mine, expected in zip(ours.estimators_, theirs.estimators_):
        np.testing.assert_allclose(mine.coef_, expected.coef_, atol=1e-3)
        np.testing.assert_allclose(mine.decision_function(X), expected.decision_function(X), atol=1e-2)
    Y = np.column_stack([y == 0, y > 0, X[:, 0] > 5]).astype(int)
    many = lineal.OneVsRestClassifier(lineal.LogisticRegression(tol=1e-8)).fit(X, Y)
    peer = OneVsRestClassifier(LogisticRegression(tol=1e-10, max_iter=5000)).fit(X, Y)
    assert many.multilabel_
    np.testing.assert_array_equal(many.predict(X), peer.predict(X))


@pytest.mark.filterwarnings("ignore")
def test_costs_move_predictions():
    X, y = load_iris(return_X_y=True)
    cost = 1.0 - np.eye(3)
    plain = lineal.CostSensitiveClassifier(cost).fit(X, y)
    cost[2, 1] = 50.0
    dear = lineal.CostSensitiveClassifier(cost).fit(X, y)
    assert ((dear.predict(X) == 1) & (y == 2)).sum() <= ((plain.predict(X) == 1) & (y == 2)).sum()
    with pytest.raises(ValueError, match="cost"):
        lineal.CostSensitiveClassifier(np.ones((2, 2))).fit(X, y)


def test_labels_in_both_forms():
    generator = np.random.RandomState(0)
    X = generator.randn(300, 5)
    Y = (X[:, :3] + 0.1 * generator.randn(300, 3) > 0).astype(int)
    matrix = lineal.MultilabelClassifier().fit(X, Y)
    assert (matrix.predict(X) == Y).mean() > 0.9 and matrix.predict(X).shape == Y.shape
    assert matrix.predict_proba(X).shape == Y.shape
    names = np.array(["a", "b", "c"])
    lists = lineal.MultilabelClassifier().fit(X, [list(names[row == 1]) for row in Y])
    found = np.array([[name in row for name in names] for row in lists.predict(X)])
    np.testing.assert_array_equal(found, matrix.predict(X).astype(bool))


WORDS = [["Ada", "sings", "well"], ["Bob", "sleeps"], ["Eve", "sings"], ["Mary", "sleeps", "well"]]
LABELS = [["NAME", "VERB", "ADV"], ["NAME", "VERB"], ["NAME", "VERB"], ["NAME", "VERB", "ADV"]]


def word_features(sentence):
    return [{"bias": 1.0, "word": word, "title": word.istitle(), "ends": {"2": word[-2:]}} for word in sentence]


def test_crf_is_crfsuites():
    """The same objective over the same features: the same marginals and weights."""
    sklearn_crfsuite = pytest.importorskip("sklearn_crfsuite")
    X = [word_features(sentence) for sentence in WORDS]
    shared = dict(algorithm="lbfgs", c1=0.0, c2=0.3)
    theirs = sklearn_crfsuite.CRF(**shared, epsilon=1e-9, delta=1e-12, max_iterations=2000).fit(X, LABELS)
    ours = crf.CRF(**shared, epsilon=1e-9, max_iterations=2000).fit(X, LABELS)
    assert ours.predict(X) == [list(row) for row in theirs.predict(X)]
    assert sorted(ours.classes_) == sorted(theirs.classes_)
    for mine, expected in zip(ours.predict_marginals(X), theirs.predict_marginals(X)):
        for a, b in zip(mine, expected):
            for label in b:
                assert abs(a[label] - b[label]) < 1e-4
    for key, weight in theirs.transition_features_.items():
        assert abs(ours.transition_features_[key] - weight) < 1e-3
    assert set(ours.state_features_) == set(theirs.state_features_)
    for key, weight in theirs.state_features_.items():
        assert abs(ours.state_features_[key] - weight) < 1e-3
    copy = pickle.loads(pickle.dumps(ours))
    assert copy.predict(X) == ours.predict(X) and copy.state_features_ == ours.state_features_


@pytest.mark.parametrize("algorithm", ["lbfgs", "l2sgd", "ap", "pa"])
def test_crf_algorithms_and_empty_sequences(algorithm):
    X = [word_features(sentence) for sentence in WORDS]
    model = crf.CRF(algorithm=algorithm, max_iterations=20).fit(X, LABELS)
    assert model.predict([X[0], [], X[1]]) == [LABELS[0], [], LABELS[1]]
    assert model.score(X, LABELS) == 1.0
    with pytest.raises(ValueError, match="differ"):
        model.fit(X, [row[:-1] for row in LABELS])


def test_trainer_and_tagger(tmp_path):
    pycrfsuite = pytest.importorskip("pycrfsuite")
    found = {}
    for module, suffix in ((crf, "lineal"), (pycrfsuite, "crfsuite")):
        trainer = module.Trainer(verbose=False)
        for sentence, labels in zip(WORDS, LABELS):
            trainer.append(word_features(sentence), labels)
        trainer.select("lbfgs")
        trainer.set_params({"c1": 0.0, "c2": 0.3, "max_iterations": 1000, "epsilon": 1e-9})
        path = str(tmp_path / f"model.{suffix}")
        trainer.train(path)
        tagger = module.Tagger()
        tagger.open(path)
        labels = tagger.tag(word_features(WORDS[0]))
        found[suffix] = (list(labels), tagger.probability(labels), tagger.marginal("VERB", 1), sorted(tagger.labels()))
    mine, theirs = found["lineal"], found["crfsuite"]
    assert mine[0] == theirs[0] and mine[3] == theirs[3]
    assert abs(mine[1] - theirs[1]) < 1e-4 and abs(mine[2] - theirs[2]) < 1e-4


def test_tagger_and_parsers(tmp_path):
    tagger = lineal.Tagger().fit(WORDS, LABELS)
    assert tagger.score(WORDS, LABELS) == 1.0
    tagger.save(tmp_path / "tagger.lineal")
    assert lineal.Tagger.load(tmp_path / "tagger.lineal").predict(WORDS) == tagger.predict(WORDS)
    assert abs(sum(tagger.predict_marginals(WORDS)[0][0].values()) - 1) < 1e-6
    with pytest.raises(ValueError, match="task"):
        lineal.DependencyParser.load(tmp_path / "tagger.lineal")
    tags = {"NAME": "NOUN", "VERB": "VERB", "ADV": "ADV"}
    sentences = [[(w, tags[t]) for w, t in zip(ws, ts)] for ws, ts in zip(WORDS, LABELS)]
    trees = [[(2, "nsubj"), (0, "root")] + [(2, "advmod")] * (len(words) - 2) for words in WORDS]
    parser = lineal.DependencyParser(epochs=4).fit(sentences, trees)
    assert parser.score(sentences, trees) == 1.0
    assert pickle.loads(pickle.dumps(parser)).predict(sentences) == parser.predict(sentences)


@pytest.mark.parametrize("loss", ["pairs", "squared_pairs", "logistic_pairs", "softmax", "plackett_luce", "ndcg", "map"])
def test_ranker(loss):
    generator = np.random.RandomState(0)
    X = generator.randn(60, 4)
    grades = (X[:, 0] > 0).astype(float)
    model = lineal.Ranker(loss).fit(X, grades, groups=[10] * 6)
    scores = model.predict(X, groups=[10] * 6)
    for q in range(6):
        own = slice(10 * q, 10 * q + 10)
        good, bad = scores[own][grades[own] == 1], scores[own][grades[own] == 0]
        assert not len(good) or not len(bad) or (good[:, None] > bad[None, :]).mean() > 0.9
    with pytest.raises(ValueError, match="groups"):
        model.fit(X, grades, groups=[10])


def test_search_has_gridsearchs_attributes():
    X, y = load_iris(return_X_y=True)
    found = tune.search(X, y, Cs=[0.01, 1.0, 100.0], losses=["log_loss", "hinge"], cv=5)
    assert len(found.cv_results_["params"]) == 6
    assert found.best_score_ == max(found.cv_results_["mean_test_score"])
    assert found.cv_results_["rank_test_score"][found.best_index_] == 1
    assert found.best_estimator_.score(X, y) > 0.93
    splits = np.column_stack([found.cv_results_[f"split{f}_test_score"] for f in range(5)])
    np.testing.assert_allclose(splits.mean(axis=1), found.cv_results_["mean_test_score"])
    theirs = GridSearchCV(lineal.LogisticRegression(), {"C": [0.01, 1.0]}, cv=5).fit(X, y)
    attributes = {name for name in dir(theirs) if name.endswith("_") and not name.startswith("_") and hasattr(theirs, name)}
    assert attributes <= set(dir(found)), attributes - set(dir(found))
    assert set(theirs.cv_results_) <= set(found.cv_results_)
    assert found.scorer_(found, X, y) == found.score(X, y)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("method", ["sigmoid", "isotonic", "temperature"])
def test_calibration(method):
    X, y = load_iris(return_X_y=True)
    model = lineal.CalibratedClassifierCV(lineal.LinearSVC(), method=method, cv=5).fit(X, y)
    proba = model.predict_proba(X)
    np.testing.assert_allclose(proba.sum(axis=1), 1.0)
    assert model.score(X, y) > 0.9
    assert -np.log(proba[np.arange(150), y].clip(1e-12)).mean() < 0.4
    around = lineal.CalibratedClassifierCV(DecisionTreeClassifier(max_depth=2, random_state=0)).fit(X, y)
    assert around.predict_proba(X).shape == (150, 3)


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
def test_frames_with_mixed_columns(kind, tmp_path, monkeypatch):
    library = pytest.importorskip(kind)
    n = 60
    columns = {
        "months": [float(i % 12) if i % 7 else None for i in range(n)],
        "plan": ["basic" if i % 3 else "gold" for i in range(n)],
        "city": [f"city {i % 4}" for i in range(n)],
    }
    y = np.array(["left" if i % 3 == 0 else "stayed" for i in range(n)])
    table = library.table(columns) if kind == "pyarrow" else library.DataFrame(columns)
    model = lineal.TableClassifier().fit(table, y)
    assert model.score(table, y) == 1.0
    assert model.predict_proba(table).shape == (n, 2)
    assert (pickle.loads(pickle.dumps(model)).predict(table) == y).all()
    numbers = lineal.TableRegressor().fit(table, np.arange(n) % 3)
    assert numbers.predict(table).shape == (n,)
    if kind == "pyarrow":
        import pyarrow.parquet

        path = tmp_path / "table.parquet"
        pyarrow.parquet.write_table(table, path)
        assert (model.predict(path) == y).all()
        # By the stream, some rows at a time: the same model.
        from lineal import _table

        monkeypatch.setattr(_table, "BATCH", 7)
        streamed = lineal.TableClassifier().fit(path, y)
        assert (streamed.predict(path) == y).all()
        np.testing.assert_array_equal(streamed.predict_proba(path), model.predict_proba(table))
        assert list(streamed.feature_names_in_) == list(columns)
        with pytest.raises(ValueError, match="inconsistent"):
            lineal.TableClassifier().fit(path, y[:-1])
    (why, *_) = model.explain(table[:3] if kind != "pyarrow" else table.slice(0, 3))
    assert why["winner"] in ("left", "stayed") and why["contributions"]
    model.save(tmp_path / "table.lineal")
    assert (lineal.load(tmp_path / "table.lineal").predict(table) == y).all()
    with pytest.raises(ValueError, match="inconsistent"):
        lineal.TableClassifier().fit(table, y[:-1])
    spaced = np.where(y == "left", " left", 'stayed, "so"')
    assert lineal.TableClassifier().fit(table, spaced).score(table, spaced) == 1.0


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["iris", "digits"])
def test_duels_are_those_of_scikit_learn(name):
    """Ten classes: the library trains pairs in squares, and the estimators are in the order of scikit-learn all the same."""
    X, y = load_iris(return_X_y=True) if name == "iris" else load_digits(return_X_y=True)
    ours = lineal.OneVsOneClassifier(lineal.LinearSVC(C=0.01, tol=1e-10)).fit(X, y)
    theirs = OneVsOneClassifier(LinearSVC(C=0.01, dual=False, tol=1e-10)).fit(X, y)
    assert ours.n_classes_ == theirs.n_classes_ and ours.pairwise_indices_ is None and len(ours.estimators_) == len(theirs.estimators_)
    for mine, expected in zip(ours.estimators_, theirs.estimators_):
        np.testing.assert_allclose(mine.coef_, expected.coef_, atol=1e-3)
        np.testing.assert_allclose(mine.intercept_, expected.intercept_, atol=1e-3)
        assert mine.classes_.tolist() == expected.classes_.tolist() == [0, 1]
    two = lineal.OneVsOneClassifier().fit(X[y < 2], y[y < 2])
    assert (two.estimators_[0].predict(X[y < 2]) == y[y < 2]).all()
    with pytest.raises(AttributeError, match="not fitted"):
        _ = lineal.OneVsOneClassifier().estimators_


@pytest.mark.filterwarnings("ignore")
def test_codes_have_a_book_and_estimators():
    X, y = load_digits(return_X_y=True)
    for how in (dict(code_size=2.0), dict(code="bch"), dict(code="sparse")):
        model = lineal.OutputCodeClassifier(lineal.LinearSVC(C=0.01), random_state=0, **how).fit(X, y)
        book = model.code_book_
        assert book.shape == (10, len(model.estimators_)) and set(np.unique(book)) <= {-1.0, 0.0, 1.0}
        for column, one in zip(book.T, model.estimators_):
            took = column[y] != 0
            assert one.classes_.tolist() == [-1, 1] and (one.predict(X)[took] == column[y][took]).mean() > 0.8
    peer = lineal.OutputCodeClassifier(KNeighborsClassifier(), random_state=0).fit(X, y)
    assert peer.code_book_.shape == (10, 15) and len(peer.estimators_) == 15


@pytest.mark.filterwarnings("ignore")
def test_a_calibrated_classifier_is_at_hand():
    X, y = load_iris(return_X_y=True)
    model = lineal.CalibratedClassifierCV(lineal.LinearSVC()).fit(X, y)
    (one,) = model.calibrated_classifiers_
    assert one.method == "sigmoid" and one.classes.tolist() == [0, 1, 2]
    np.testing.assert_array_equal(one.predict_proba(X), model.predict_proba(X))
    np.testing.assert_allclose(one.estimator.decision_function(X), lineal.LinearSVC().fit(X, y).decision_function(X), atol=0.05)
    folds = lineal.CalibratedClassifierCV(KNeighborsClassifier(), cv=3).fit(X, y)
    assert len(folds.calibrated_classifiers_) == 3
    with pytest.raises(AttributeError, match="not fitted"):
        _ = lineal.CalibratedClassifierCV().calibrated_classifiers_


@pytest.mark.parametrize("kind", ["OneVsRestClassifier", "OneVsOneClassifier"])
def test_reductions_learn_from_parts(kind):
    from sklearn import multiclass

    X, y = load_iris(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    ours, theirs = (module(estimator(random_state=0)) for module, estimator in ((getattr(lineal, kind), lineal.SGDClassifier), (getattr(multiclass, kind), SGDClassifier)))
    order = np.random.RandomState(0).permutation(len(y))
    for part in np.array_split(order, 3):
        assert ours.partial_fit(X[part], y[part], classes=[0, 1, 2]) is ours
        theirs.partial_fit(X[part], y[part], classes=[0, 1, 2])
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-4)
    assert ours.score(X, y) > 0.7 and ours.classes_.tolist() == [0, 1, 2]
    whole = ours.fit(X, y)
    assert whole.score(X, y) > 0.7
    # A part that follows goes on from there, and an estimator of whole tables has no such method.
    assert whole.partial_fit(X, y).score(X, y) > 0.7
    assert not hasattr(getattr(lineal, kind)(), "partial_fit") and not hasattr(lineal.OutputCodeClassifier(SGDClassifier()), "partial_fit")


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("shape", ["tall", "wide", "of less rank", "almost"])
def test_least_squares_have_a_rank(shape, weighted):
    from sklearn.linear_model import LinearRegression

    generator = np.random.RandomState(0)
    X = generator.randn(*((12, 30) if shape == "wide" else (5000, 8)))
    if shape == "of less rank":
        X[:, 3] = X[:, 1] - X[:, 2]
    if shape == "almost":
        X[:, 3] = X[:, 1] + 1e-7 * X[:, 3]
    y = generator.randn(len(X))
    weights = generator.rand(len(X)) if weighted else None
    for intercept in (True, False):
        ours, theirs = (kind(fit_intercept=intercept).fit(X, y, weights) for kind in (lineal.LinearRegression, LinearRegression))
        assert ours.rank_ == theirs.rank_
        # What is 0 but for rounding differs.
        np.testing.assert_allclose(ours.singular_, theirs.singular_, rtol=1e-8, atol=1e-12 * theirs.singular_[0])
        # Of many solutions the shortest: in single precision dependent features are not quite that, and got weights of half a million.
        np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-5)
        np.testing.assert_allclose(ours.predict(X), theirs.predict(X), atol=1e-4)
    assert not hasattr(ours.fit(csr_matrix(X), y), "rank_")


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_constant_feature_has_no_weight(dtype):
    from sklearn.linear_model import LinearRegression

    generator = np.random.RandomState(0)
    X = np.column_stack([generator.randn(80, 2), np.ones(80), np.full(80, 1000.0)]).astype(dtype)
    y = X[:, 0] - 2 * X[:, 1] + 3
    ours, theirs = (kind().fit(X, y) for kind in (lineal.LinearRegression, LinearRegression))
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-5)
    assert ours.intercept_ == pytest.approx(3, abs=1e-4) and abs(ours.coef_[2:]).max() < 1e-6
    both = [kind().fit(X, np.column_stack([y, -y])) for kind in (lineal.LinearRegression, LinearRegression)]
    np.testing.assert_allclose(both[0].coef_, both[1].coef_, atol=1e-5)
    np.testing.assert_allclose(both[0].intercept_, both[1].intercept_, atol=1e-4)
