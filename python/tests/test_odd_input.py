"""What people have in their frames and pass by mistake: it is taken for what it is, or refused in words that help."""

import inspect
import pickle

import numpy as np
import pytest

import lineal
from lineal import crf, tune

pd = pytest.importorskip("pandas")
pytest.importorskip("sklearn")

N = 80
CODES = [str(i % 4) for i in range(N)]
# Not a threshold of the codes as numbers.
PAIRED = np.where(np.isin(np.arange(N) % 4, [0, 3]), "a", "b")
PARITY = np.array(["a", "b"])[np.arange(N) % 2]


def frames(columns):
    """The same categories as pandas, polars and pyarrow have them."""
    pl, pa = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    return [
        pd.DataFrame({name: pd.Categorical(values) for name, values in columns.items()}),
        pl.DataFrame({name: pl.Series(values, dtype=pl.Categorical) for name, values in columns.items()}),
        pa.table({name: pa.array(values).dictionary_encode() for name, values in columns.items()}),
    ]


def test_categories_that_look_like_numbers_are_categories(tmp_path):
    import pyarrow.parquet

    for table in frames({"code": CODES}):
        assert lineal.TableClassifier().fit(table, PAIRED).score(table, PAIRED) == 1.0, type(table)
    pyarrow.parquet.write_table(table, tmp_path / "codes.parquet")
    streamed = lineal.TableClassifier().fit(tmp_path / "codes.parquet", PAIRED)
    assert (streamed.predict(tmp_path / "codes.parquet") == PAIRED).all()


def test_lazy_frames_of_polars_are_collected():
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame({"x": np.arange(N) % 2, "z": np.arange(N) * 1.0})
    assert lineal.TableClassifier().fit(frame.lazy(), PARITY).score(frame.lazy(), PARITY) == 1.0
    model = lineal.LogisticRegression().fit(frame.lazy(), PARITY)
    assert list(model.feature_names_in_) == ["x", "z"] and (model.predict(frame.lazy()) == PARITY).all()


def test_names_of_several_levels_and_names_that_we_use():
    levels = pd.DataFrame({("u", "a"): np.arange(N) % 2, ("u", "b"): np.arange(N)})
    model = lineal.TableClassifier().fit(levels, PARITY)
    assert list(model.feature_names_in_) == ["u a", "u b"] and model.score(levels, PARITY) == 1.0
    twice = pd.DataFrame(np.column_stack([np.arange(N), np.arange(N) % 2]), columns=["a", "a"])
    model = lineal.TableClassifier().fit(twice, PARITY)
    assert list(model.feature_names_in_) == ["a", "a.1"] and model.score(twice, PARITY) == 1.0
    taken = pd.DataFrame({"lineal label": np.arange(N) % 2, "lineal weight": np.zeros(N)})
    model = lineal.TableClassifier().fit(taken, PARITY, sample_weight=np.ones(N))
    assert model.score(taken, PARITY) == 1.0 and list(model.feature_names_in_) == list(taken.columns)


def odd_tables():
    pl, pa = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    plain = pd.DataFrame({"x": np.arange(N) % 2})
    return [
        (pd.DataFrame({"d": [[1, 2]] * N}), PARITY, "column 'd'.*list"),
        (pl.DataFrame({"d": [[1, 2]] * N}), PARITY, "column 'd'.*List"),
        (pa.table({"d": [{"a": 1}] * N}), PARITY, "column 'd'.*struct"),
        (pd.DataFrame(index=range(N)), PARITY, "no columns"),
        (plain, np.array([None, "b"] * 40, dtype=object), "missing"),
        (plain, np.arange(N) / 7, "Unknown label type"),
        (plain, np.column_stack([PARITY, PARITY]), "1d array"),
        (plain, np.array(["a"] * N), "one class"),
    ]


@pytest.mark.parametrize("at", range(8))
def test_tables_that_cannot_be_learnt_from(at):
    table, y, words = odd_tables()[at]
    model = lineal.TableClassifier()
    with pytest.raises(ValueError, match=words):
        model.fit(table, y)
    assert "classes_" not in vars(model)


def test_tables_of_a_wrong_kind():
    for table in (np.zeros((N, 2)), pd.Series(np.arange(N)), [1, 2]):
        with pytest.raises(TypeError, match="a table must be a frame"):
            lineal.TableClassifier().fit(table, PARITY[: len(table)])
    with pytest.raises(ValueError, match="'q', which text names"):
        lineal.TableClassifier(text=["q"]).fit(pd.DataFrame({"x": np.arange(N)}), PARITY)
    with pytest.raises(ValueError, match="NaN"):
        lineal.TableRegressor().fit(pd.DataFrame({"x": np.arange(N)}), np.full(N, np.nan))


def test_scores_of_a_table():
    table = pd.DataFrame({"x": np.arange(N) % 2, "z": CODES})
    model = lineal.TableClassifier().fit(table, PARITY)
    scores = model.decision_function(table)
    assert scores.shape == (N,) and (model.classes_[(scores > 0).astype(int)] == model.predict(table)).all()


def test_more_threads_than_any_machine_has():
    """A million threads once took all memory of the machine."""
    from lineal._base import threads

    assert threads(10**6) <= 4096 and threads(3) == 3 and threads(None) == 0
    X = np.arange(20.0)[:, None]
    assert lineal.LogisticRegression(n_jobs=10**6).fit(X, X[:, 0] > 9).score(X, X[:, 0] > 9) == 1.0


WRONG = [
    ("SGDClassifier", "eta0", (-1.0, np.nan)),
    ("SGDClassifier", "l1_ratio", (-1.0, 2.0, "half", np.nan)),
    ("SGDClassifier", "power_t", (np.nan, "x")),
    ("SGDClassifier", "epsilon", (-1.0, np.nan)),
    ("SGDClassifier", "validation_fraction", (0.0, 1.0, "x", np.nan)),
    ("SGDClassifier", "n_iter_no_change", (0, -1, 1.5)),
    ("SGDClassifier", "average", (-1, "x")),
    ("SGDRegressor", "epsilon", (-1.0,)),
    ("PassiveAggressiveClassifier", "C", (np.nan, 0.0)),
    ("Perceptron", "eta0", (0.0, np.nan)),
    ("LinearRegression", "tol", (-1.0, "x", np.nan)),
    ("LogisticRegression", "intercept_scaling", (-1.0, "x", np.nan)),
    ("LogisticRegression", "max_iter", (-1, 2.5)),
    ("LogisticRegression", "C", ("1", -1.0)),
    ("LinearSVC", "max_iter", (-1,)),
    ("LinearSVR", "intercept_scaling", (-1.0,)),
    ("LabelTreeClassifier", "beam", (0, "x")),
    ("LabelTreeClassifier", "leaf_size", (-3,)),
    ("CalibratedClassifierCV", "cv", (1, -1)),
]


@pytest.mark.parametrize("kind,name,values", WRONG, ids=lambda v: v if isinstance(v, str) else "")
def test_wrong_parameters_are_named(kind, name, values):
    X, y = np.random.RandomState(0).randn(60, 3), np.arange(60) % 3
    for value in values:
        with pytest.raises(ValueError, match=name):
            getattr(lineal, kind)(**{name: value}).fit(X, y)


def test_what_scikit_learn_takes_is_taken():
    X, y = np.random.RandomState(0).randn(60, 3), np.arange(60) % 2
    exact = lineal.LogisticRegression(tol=0).fit(X, y)
    np.testing.assert_allclose(exact.coef_, lineal.LogisticRegression(tol=1e-12).fit(X, y).coef_, atol=1e-7)
    assert lineal.LogisticRegression(max_iter=10**30).fit(X, y).certificate_.converged


def test_an_explanation_has_no_negative_length():
    X, y = np.random.RandomState(0).randn(60, 3), np.arange(60) % 2
    model = lineal.LogisticRegression().fit(X, y)
    assert model.explain(X[:1], 0)[0]["contributions"] == []
    for top in (-1, "two", 1.5):
        with pytest.raises(ValueError, match="top must be"):
            model.explain(X[:1], top)
        with pytest.raises(ValueError, match="top must be"):
            lineal.Tagger().fit([["a", "b"]], [["A", "B"]]).explain([["a"]], top)


def test_a_search_has_what_its_best_estimator_has(tmp_path):
    X, y = np.random.RandomState(0).randn(90, 3), np.arange(90) % 3
    found = tune.search(X, y, Cs=[1.0], cv=3)
    assert found.certificate_ == found.best_estimator_.certificate_ and "<" in found._repr_html_()
    found.save(tmp_path / "best.lineal")
    np.testing.assert_array_equal(lineal.load(tmp_path / "best.lineal").predict(X), found.predict(X))
    assert found.explain(X[:1])[0]["winner"] == found.predict(X[:1])[0]
    assert (pickle.loads(pickle.dumps(found)).predict(X) == found.predict(X)).all()
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    named = tune.search(frame, y, Cs=[1.0], cv=3)
    assert list(named.best_estimator_.feature_names_in_) == ["a", "b", "c"] and (named.predict(frame) == found.predict(X)).all()
    with pytest.raises(ValueError, match="cv must be the number of folds"):
        tune.search(X, y, cv="five")
    with pytest.raises(AttributeError, match="refit"):
        tune.search(X, y, Cs=[1.0], cv=3, refit=False).predict(X)


def test_parameters_have_scikit_learns_names_and_defaults():
    from sklearn import calibration, linear_model, multiclass, svm
    from sklearn.feature_extraction import text

    n_twins = 0
    for module in (linear_model, svm, multiclass, calibration, text):
        for name in lineal.__all__:
            theirs, ours = getattr(module, name, None), getattr(lineal, name)
            if not inspect.isclass(theirs):
                continue
            n_twins += 1
            own = inspect.signature(ours.__init__).parameters
            for parameter in inspect.signature(theirs.__init__).parameters.values():
                assert parameter.name in own and own[parameter.name].kind == parameter.kind, (name, parameter.name)
                if parameter.default is not inspect.Parameter.empty:
                    assert repr(own[parameter.name].default) == repr(parameter.default), (name, parameter.name)
    assert n_twins >= 16


def test_a_string_is_no_list_of_words():
    """Its letters were taken for words, and each got a label."""
    X, y = [["The", "dog"], ["A", "cat"]] * 3, [["D", "N"], ["D", "N"]] * 3
    tagger = lineal.Tagger().fit(X, y)
    for bad in (["The", "dog"], ["The dog"]):
        with pytest.raises(TypeError, match="sentence 0 must be a list of words, not a string"):
            tagger.predict(bad)
    with pytest.raises(TypeError, match="list of sentences"):
        tagger.predict("The dog")
    with pytest.raises(TypeError, match="sentence 1 must be a list of labels"):
        lineal.Tagger().fit(X[:2], [["D", "N"], "DN"])
    with pytest.raises(TypeError, match="a token must be a word or a tuple"):
        lineal.Tagger().fit([[{"w": "The"}, 7]], [["D", "N"]])
    with pytest.raises(TypeError, match="split it first"):
        lineal.DependencyParser().fit(["ab"], [[(2, "det"), (0, "root")]])
    parser = lineal.ConstituencyParser().fit(["(S (D The) (N dog))", "(S (D A) (N cat))"])
    with pytest.raises(TypeError, match="split it first"):
        parser.predict(["The dog"])


def test_a_missing_label_is_no_class():
    with pytest.raises(ValueError, match="missing"):
        lineal.Tagger().fit([["The", "dog"]], [["D", None]])
    for bad in (None, float("nan"), 1):
        with pytest.raises(TypeError, match="a label must be a string"):
            crf.CRF().fit([[{"w": "a"}, {"w": "b"}]], [["A", bad]])
    with pytest.raises(ValueError, match="missing label in row 0"):
        lineal.MultilabelClassifier().fit(np.eye(2), [["a", None], ["b"]])


def test_complex_numbers_are_no_categories():
    table = pytest.importorskip("pandas").DataFrame({"a": [1.0, 2.0, 3.0, 4.0], "z": [1j, 2j, 3j, 4j]})
    with pytest.raises(ValueError, match="column 'z'.*complex"):
        lineal.TableClassifier().fit(table, ["x", "y", "x", "y"])


def test_a_table_is_no_column_of_text():
    """The names of its columns were taken for the texts."""
    texts, y = ["a good film", "a bad film"] * 8, np.array([["good"], ["bad"]] * 8)
    frame = pd.DataFrame({"text": texts})
    with pytest.warns(match="column-vector"):
        model = lineal.TextClassifier().fit(frame["text"], y)
    for bad in (frame, {"text": texts}):
        with pytest.raises(ValueError, match="pick the column that has the text"):
            model.predict(bad)
        with pytest.raises(ValueError, match="pick the column that has the text"):
            lineal.TfidfVectorizer().fit(bad)
    arrow = pytest.importorskip("pyarrow").chunked_array([texts])
    assert (model.predict(arrow) == y[:, 0]).all()
    with pytest.raises(ValueError, match="missing"):
        lineal.TextClassifier().fit(texts, ["good", None] * 8)
    with pytest.raises(ValueError, match="Unknown label type"):
        lineal.TextClassifier().fit(texts, np.linspace(0, 1, 16))


@pytest.mark.parametrize("params", [dict(), dict(tokenizer=str.split)], ids=str)
@pytest.mark.filterwarnings("ignore")
def test_a_vectorizer_keeps_what_it_learnt_if_a_fit_fails(params):
    vectorizer = lineal.TfidfVectorizer(**params).fit(["good film", "bad film"])
    names = list(vectorizer.get_feature_names_out())
    for bad in ([None], ["", ""]):
        with pytest.raises((ValueError, AttributeError)):
            vectorizer.fit(bad)
        assert list(vectorizer.get_feature_names_out()) == names and vectorizer.transform(["film"]).nnz == 1


def test_queries_by_the_query_of_each_document():
    generator = np.random.RandomState(0)
    X, grades = generator.randn(60, 3), generator.randint(0, 3, 60)
    qid = np.repeat([7, 3, 9], [10, 30, 20])
    by_size, by_query = lineal.Ranker().fit(X, grades, groups=[10, 30, 20]), lineal.Ranker().fit(X, grades, qid=qid)
    np.testing.assert_array_equal(by_size.coef_, by_query.coef_)
    assert by_query.score(X, grades, qid=qid) == by_size.score(X, grades, groups=[10, 30, 20])
    assert [len(query) for query in by_query.explain(X, qid=qid)] == [10, 30, 20]
    for params, words in ((dict(groups=qid), "give them as qid"), (dict(qid=np.tile([0, 1], 30)), "sort the rows by qid"), (dict(qid=qid, groups=[60]), "either groups"), (dict(qid=qid[:-1]), "add up to")):
        with pytest.raises(ValueError, match=words):
            lineal.Ranker().fit(X, grades, **params)


@pytest.mark.parametrize("names", [["007", "7"], ["1_000", "2"], ["nan", "1.5"], ["-3", "12"], ["0.5", "1e-05"]], ids=str)
def test_names_of_classes_that_only_look_like_numbers(names, tmp_path):
    """``007`` became 7, and two classes one."""
    X = np.arange(20.0)[:, None]
    model = lineal.LogisticRegression().fit(X, np.array(names)[(X[:, 0] > 9).astype(int)])
    model.save(tmp_path / "m.lineal")
    found = lineal.load(tmp_path / "m.lineal").classes_
    are_numbers = names[0] in ("-3", "0.5")
    assert (found.dtype.kind in "if") == are_numbers
    assert [float(c) for c in found] == [float(c) for c in sorted(names)] if are_numbers else list(found) == sorted(names)


def misaligned(x):
    out = np.ndarray(x.shape, x.dtype, buffer=np.zeros(x.nbytes + 1, np.uint8), offset=1)
    out[...] = x
    return out


def every_other(x):
    return np.repeat(x, 2, axis=0)[::2]


@pytest.mark.parametrize("layout", [misaligned, every_other])
def test_arrays_that_are_parts_of_others(layout):
    """Weights, numbers and parts of sparse matrices that did not lie side by side were refused."""
    from scipy.sparse import csr_matrix

    generator = np.random.RandomState(0)
    X, weights = generator.randn(60, 4), generator.rand(60)
    for model, y in ((lineal.LogisticRegression(), X[:, 0] > 0), (lineal.LinearSVR(), X[:, 0]), (lineal.Ridge(), X[:, 0]), (lineal.SGDRegressor(random_state=0), X[:, 0]), (lineal.SGDClassifier(random_state=0), X[:, 0] > 0)):
        plain = np.array(model.fit(X, y, sample_weight=weights).coef_)
        np.testing.assert_array_equal(model.fit(layout(X), layout(y), sample_weight=layout(weights)).coef_, plain)
    sparse = csr_matrix(X)
    plain = np.array(lineal.LinearSVC().fit(sparse, X[:, 0] > 0).coef_)
    for part in ("data", "indices", "indptr"):
        other = csr_matrix(X)
        setattr(other, part, layout(getattr(other, part)))
        np.testing.assert_array_equal(lineal.LinearSVC().fit(other, X[:, 0] > 0).coef_, plain)
    np.testing.assert_array_equal(lineal.Ranker().fit(X, layout(np.arange(60.0) % 3)).coef_, lineal.Ranker().fit(X, np.arange(60) % 3).coef_)


def test_words_with_spaces_in_them():
    """Thin spaces within numbers and names of two words are tokens in many treebanks; they were refused."""
    X, y = [["10\u00a0000", "New York", "is"]] * 3, [["NUM", "B PER", "V"]] * 3
    assert lineal.Tagger().fit(X, y).predict(X) == y
    trees = [[(2, "x"), (3, "x"), (0, "root")]] * 3
    parser = lineal.DependencyParser(epochs=2).fit(X, trees)
    assert parser.predict([["New York", "10\u00a0000"]])[0]
    for bad in ("a\tb", "a\nb", " ", ""):
        with pytest.raises(ValueError, match="a word must not"):
            lineal.Tagger().fit([[bad]], [["X"]])
    for head in (None, 2.5, "one", 4, -1):
        with pytest.raises(ValueError, match="the head of word 1 is .* from 0 to 3"):
            parser.fit(X, [[(head, "x"), (3, "x"), (0, "root")]] * 3)
    assert parser.fit(X, [[("2", "x"), (3.0, "x"), (np.int64(0), "root")]] * 3).score(X, trees) == 1.0
    with pytest.raises(ValueError, match="spaces"):
        lineal.ConstituencyParser(epochs=2).fit(["(S (N dog))"] * 3).predict([["New York"]])


def test_labels_as_rows_of_an_indicator_matrix():
    """Lists of 0 and 1 were taken for lists of the labels 0 and 1."""
    X = np.random.RandomState(0).randn(90, 4)
    Y = (X[:, :3] > 0).astype(int)
    matrix, rows = lineal.MultilabelClassifier().fit(X, Y), lineal.MultilabelClassifier().fit(X, Y.tolist())
    np.testing.assert_array_equal(rows.predict(X), matrix.predict(X))
    assert matrix.score(X, Y) == (matrix.predict(X) == Y).all(axis=1).mean() > 0.5
    lists = [[name for name, on in zip("abc", row) if on] for row in Y]
    named = lineal.MultilabelClassifier().fit(X, lists)
    assert named.score(X, lists) == matrix.score(X, Y)
    single = lineal.MultilabelClassifier().fit(X, [row[:1] and row[0] or "a" for row in lists])
    assert 0 <= single.score(X, ["a"] * 90) <= 1
    assert list(lineal.MultilabelClassifier().fit(X, [[0, 1], [1]] * 45).classes_) == [0, 1]
    for sizes in ([45, 45.5], "half", [[45], [45]]):
        with pytest.raises(ValueError, match="groups must be"):
            lineal.Ranker().fit(X, Y[:, 0], groups=sizes)


def test_classes_of_a_table_keep_their_type():
    table = pd.DataFrame({"x": np.arange(N) % 2})
    for y in (PARITY.astype(object), pd.Series(PARITY), pd.Categorical(PARITY), np.arange(N) % 2 == 0, (np.arange(N) % 2).astype(np.int8)):
        model = lineal.TableClassifier().fit(table, y)
        assert model.classes_.dtype == model.predict(table).dtype == np.unique(np.asarray(y)).dtype and (model.predict(table) == np.asarray(y)).all()


def test_no_texts_have_no_rows():
    """These were a panic of the library."""
    texts, y = ["an invoice", "log in"] * 8, ["money", "access"] * 8
    model = lineal.TextClassifier().fit(texts, y)
    assert len(model.predict([])) == 0 and model.predict_proba([]).shape == (0, 2) and model.explain([]) == []
    assert lineal.TfidfVectorizer().fit(texts).transform([]).shape == (0, 4)
    assert lineal.HashingVectorizer(n_features=16).transform([]).shape == (0, 16)
