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
