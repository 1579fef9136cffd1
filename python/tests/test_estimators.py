"""scikit-learn's own checks, and what lives around an estimator: pickles, clones, pipelines, searches, threads, processes, interrupts, files."""

import concurrent.futures
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import lineal

pytest.importorskip("sklearn")
import joblib  # noqa: E402
from scipy import sparse  # noqa: E402
from sklearn import calibration, linear_model, multiclass, svm  # noqa: E402
from sklearn.base import clone  # noqa: E402
from sklearn.compose import ColumnTransformer  # noqa: E402
from sklearn.datasets import load_iris, make_classification  # noqa: E402
from sklearn.exceptions import NotFittedError  # noqa: E402
from sklearn.feature_extraction import text  # noqa: E402
from sklearn.model_selection import GridSearchCV, cross_val_predict  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import StandardScaler  # noqa: E402
from sklearn.utils.estimator_checks import check_estimator  # noqa: E402

CHECKED = [
    (lineal.LogisticRegression(tol=1e-12), linear_model.LogisticRegression()),
    (lineal.LinearSVC(), svm.LinearSVC()),
    (lineal.LinearSVR(), svm.LinearSVR()),
    (lineal.Ridge(), linear_model.Ridge()),
    (lineal.LinearRegression(), linear_model.LinearRegression()),
    (lineal.HuberRegressor(), linear_model.HuberRegressor()),
    (lineal.Perceptron(), linear_model.Perceptron()),
    (lineal.PassiveAggressiveClassifier(), linear_model.PassiveAggressiveClassifier()),
    (lineal.SGDClassifier(), linear_model.SGDClassifier()),
    (lineal.SGDRegressor(), linear_model.SGDRegressor()),
    (lineal.CrammerSinger(loss="squared_hinge", tol=1e-13), None),
    (lineal.WestonWatkins(loss="squared_hinge", tol=1e-13), None),
    (lineal.CostSensitiveClassifier(loss="log_loss", tol=1e-13), None),
    # Scores at a tolerance that the eighth digit of a prediction needs.
    (lineal.OneVsRestClassifier(lineal.LinearSVC(tol=1e-12)), multiclass.OneVsRestClassifier(svm.LinearSVC())),
    (lineal.OneVsOneClassifier(lineal.LinearSVC(tol=1e-13)), multiclass.OneVsOneClassifier(svm.LinearSVC())),
    (lineal.OutputCodeClassifier(lineal.LinearSVC(tol=1e-15, max_iter=100_000)), multiclass.OutputCodeClassifier(svm.LinearSVC())),
    (lineal.CalibratedClassifierCV(lineal.LinearSVC(tol=1e-12)), calibration.CalibratedClassifierCV(svm.LinearSVC())),
    (lineal.TfidfVectorizer(), text.TfidfVectorizer()),
    (lineal.HashingVectorizer(), text.HashingVectorizer()),
    (lineal.MultilabelClassifier(threshold=0.5, tol=1e-15), None),
    (lineal.Ranker(), None),
    # These take words, texts, tables, images and examples of their own, and say so by their tags: few checks are for them.
    (lineal.TextClassifier(), None),
    (lineal.TableClassifier(), None),
    (lineal.TableRegressor(), None),
    (lineal.Tagger(), None),
    (lineal.DependencyParser(), None),
    (lineal.ConstituencyParser(), None),
    (lineal.Segmenter(), None),
    (lineal.DeclaredStructure(), None),
    (lineal.crf.CRF(), None),
    # Its nodes are trained in the dual, to its tolerance and not to the eighth digit: as LinearSVR, it is excused from the same predictions of copies and of weights.
    (lineal.LabelTreeClassifier(), svm.LinearSVR()),
]

# Checks that ask for one column of predictions, where there is one for each label.
ONE_COLUMN = {"MultilabelClassifier": {"check_estimator_sparse_array", "check_estimator_sparse_matrix"}}

# Checks that an estimator need not pass, because its twin in scikit-learn does not.
WEIGHTS = {"check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data"}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("ours,theirs", CHECKED, ids=lambda e: type(e).__name__)
def test_scikit_learns_checks(ours, theirs):
    found = check_estimator(ours, on_skip=None, on_fail=None)
    missed = {r["check_name"] for r in found if r["status"] != "passed"}
    # Twins are slow to check, and asked only where there is something to excuse.
    is_excused = theirs is not None and any(not name.startswith("check_array_api") for name in missed)
    peers = check_estimator(theirs, on_skip=None, on_fail=None) if is_excused else []
    excused = {r["check_name"] for r in peers if r["status"] != "passed"}
    # scikit-learn's own skip what other array libraries would be needed for, and Ridge counts no iterations.
    excused_by_name = {name for name in excused if name.startswith("check_array_api")} | {"check_non_transformer_estimators_n_iter"}
    assert excused <= WEIGHTS | excused_by_name, excused
    excused |= ONE_COLUMN.get(type(ours).__name__, set())
    not_passed = [(r["check_name"], r["status"], r["exception"]) for r in found if r["status"] != "passed" and r["check_name"] not in excused]
    assert not [entry for entry in not_passed if entry[1] != "skipped" or entry[0] != "check_array_api_input"], not_passed


def rows():
    X, y = make_classification(n_samples=200, n_features=6, random_state=0)
    return X.astype(np.float32), y


ALL = [ours for ours, _ in CHECKED if ours.__sklearn_tags__().input_tags.two_d_array and hasattr(ours, "predict") and not isinstance(ours, (lineal.Ranker, lineal.MultilabelClassifier))]


def test_every_estimator_is_checked():
    public = {name for name in lineal.__all__ if isinstance(getattr(lineal, name), type) and hasattr(getattr(lineal, name), "fit")}
    assert public <= {type(ours).__name__ for ours, _ in CHECKED}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("model", ALL, ids=lambda e: type(e).__name__)
def test_pickle_joblib_clone(model, tmp_path):
    X, y = rows()
    model = clone(model).fit(X, y)
    for copy in (pickle.loads(pickle.dumps(model)), _through_joblib(model, tmp_path)):
        np.testing.assert_array_equal(copy.predict(X), model.predict(X))
        assert str(copy.certificate_) == str(model.certificate_)
    with pytest.raises(NotFittedError):
        clone(model).predict(X)
    assert "certificate_" not in vars(clone(model))
    assert "<" in model._repr_html_()


def _through_joblib(model, folder):
    joblib.dump(model, folder / "model.joblib")
    return joblib.load(folder / "model.joblib")


@pytest.mark.filterwarnings("ignore")
def test_pipelines_searches_and_columns():
    X, y = load_iris(return_X_y=True)
    search = GridSearchCV(make_pipeline(StandardScaler(), lineal.LogisticRegression()), {"logisticregression__C": [0.1, 1, 10]}, n_jobs=2).fit(X, y)
    peer = GridSearchCV(make_pipeline(StandardScaler(), linear_model.LogisticRegression()), {"logisticregression__C": [0.1, 1, 10]}).fit(X, y)
    np.testing.assert_allclose(search.cv_results_["mean_test_score"], peer.cv_results_["mean_test_score"], atol=1e-9)
    np.testing.assert_array_equal(
        cross_val_predict(lineal.LinearSVC(), X, y), cross_val_predict(svm.LinearSVC(dual=False), X, y)
    )
    scaled = ColumnTransformer([("scale", StandardScaler(), [0, 1])], remainder="passthrough")
    assert make_pipeline(scaled, lineal.LinearSVC()).fit(X, y).score(X, y) > 0.9


def test_sample_weight_is_routed():
    import sklearn

    X, y = rows()
    weights = np.where(y == 1, 5.0, 1.0)
    with sklearn.config_context(enable_metadata_routing=True):
        model = make_pipeline(
            StandardScaler().set_fit_request(sample_weight=False), lineal.LogisticRegression().set_fit_request(sample_weight=True)
        )
        model.fit(X, y, sample_weight=weights)
    plain = lineal.LogisticRegression().fit(StandardScaler().fit_transform(X), y, sample_weight=weights)
    np.testing.assert_allclose(model[-1].coef_, plain.coef_, rtol=1e-6)


def test_frames_and_names():
    pandas = pytest.importorskip("pandas")
    X, y = rows()
    frame = pandas.DataFrame(X, columns=[f"f{j}" for j in range(X.shape[1])])
    model = lineal.LogisticRegression().fit(frame, y)
    assert list(model.feature_names_in_) == list(frame.columns)
    np.testing.assert_array_equal(model.predict(frame), lineal.LogisticRegression().fit(X, y).predict(X))
    why = model.explain(frame[:3], top=2)
    assert len(why) == 3 and why[0]["contributions"][0][0].startswith("f")
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame.rename(columns={"f0": "other"}))


def test_an_explanation_adds_up():
    X, y = rows()
    model = lineal.LogisticRegression().fit(X, y)
    scores = model.decision_function(X[:5])
    for entry, score in zip(model.explain(X[:5], top=None), scores):
        total = entry["bias"] + sum(amount for *_, amount in entry["contributions"]) + entry["rest"]
        assert abs(total - entry["lead"]) < 1e-6
        # The lead of one of two classes is the difference of −f and f.
        assert abs(abs(entry["lead"]) - 2 * abs(score)) < 1e-5 or abs(abs(entry["lead"]) - abs(score)) < 1e-5
        assert entry["winner"] == model.classes_[int(score > 0)]


@pytest.mark.parametrize("model", [lineal.LogisticRegression(), lineal.LinearSVC(), lineal.Ridge(), lineal.CrammerSinger()], ids=lambda e: type(e).__name__)
def test_save_and_load(model, tmp_path):
    X, y = rows()
    model = clone(model).fit(X, y)
    path = tmp_path / "model.lineal"
    assert model.save(path) == path.stat().st_size
    again = lineal.load(path)
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    assert str(again.certificate_) == str(model.certificate_)


def test_what_is_wrong_is_said():
    X, y = rows()
    model = lineal.LogisticRegression()
    with pytest.raises(NotFittedError):
        model.predict(X)
    with pytest.raises(ValueError, match="'C' parameter"):
        lineal.LogisticRegression(C=-1).fit(X, y)
    with pytest.raises(ValueError, match="solver"):
        lineal.LogisticRegression(solver="magic").fit(X, y)
    with pytest.raises(ValueError, match="NaN"):
        model.fit(np.where(X == X[0, 0], np.nan, X), y)
    with pytest.raises(ValueError, match="inconsistent"):
        model.fit(X, y[:-1])
    with pytest.raises(ValueError, match="class"):
        model.fit(X, np.zeros(len(X)))
    with pytest.raises(ValueError, match="Unknown label type"):
        model.fit(X, np.random.rand(len(X)))
    assert not hasattr(model, "coef_") and not hasattr(model, "n_features_in_")
    model.fit(X, y)
    with pytest.raises(ValueError, match="features"):
        model.predict(X[:, :3])
    with pytest.raises(ValueError, match="NaN"):
        model.predict(np.full((1, X.shape[1]), np.nan))
    with pytest.raises(ValueError, match="single precision|infinity|too large"):
        model.predict(np.full((1, X.shape[1]), 1e300))
    with pytest.raises(OSError):
        lineal.load("/nowhere/at/all.lineal")


def test_two_fits_at_once_and_two_threads_on_one_model():
    X, y = make_classification(n_samples=3000, n_features=40, random_state=1)
    kinds = [lineal.LogisticRegression(C=c) for c in (0.1, 1.0)] * 2
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        fitted = list(pool.map(lambda model: clone(model).fit(X, y).coef_, kinds))
    np.testing.assert_array_equal(fitted[0], fitted[2])
    np.testing.assert_array_equal(fitted[1], fitted[3])
    model = lineal.LogisticRegression().fit(X, y)
    expected = model.predict_proba(X)
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        for found in pool.map(lambda _: model.predict_proba(X), range(8)):
            np.testing.assert_array_equal(found, expected)


def _in_child(seed):
    X, y = make_classification(n_samples=400, n_features=10, random_state=seed)
    return lineal.LogisticRegression().fit(X, y).score(X, y)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_a_fork_after_a_fit_and_a_pool_of_processes(method):
    here = [_in_child(seed) for seed in range(3)]
    with multiprocessing.get_context(method).Pool(2) as pool:
        assert pool.map_async(_in_child, range(3)).get(timeout=120) == here


@pytest.mark.filterwarnings("ignore")
def test_an_interrupt_leaves_the_estimator_as_it_was():
    generator = np.random.RandomState(0)
    # Made by hand: SciPy's random matrices take longer than what is tested.
    columns = np.sort(generator.randint(0, 100, (60_000, 30)) + 100 * np.arange(30), axis=1)
    X = sparse.csr_matrix((generator.rand(columns.size).astype(np.float32), columns.ravel(), np.arange(0, columns.size + 1, 30)), shape=(60_000, 3_000))
    y = generator.randint(0, 2, X.shape[0])
    model = lineal.LinearSVC(loss="hinge", C=1000.0, tol=1e-12, max_iter=100_000)
    before = dict(vars(model))
    sent = []
    # Also where whoever runs the tests ignores it, as a shell does for what it runs in the background.
    signal.signal(signal.SIGINT, signal.default_int_handler)

    def interrupt():
        time.sleep(1.0)
        sent.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    thread.join()
    assert sent and vars(model) == before


INTERRUPTED = """
import os, signal, threading
import numpy as np
import lineal

signal.signal(signal.SIGINT, signal.default_int_handler)
generator = np.random.RandomState(0)
X, grades = generator.randn(100_000, 100).astype(np.float32), generator.randint(0, 3, 100_000).astype(float)
model = lineal.Ranker(C=1e5, tol=1e-12)
threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    model.fit(X, grades)
except KeyboardInterrupt:
    del X
    print("interrupted", hasattr(model, "coef_"))
"""


def test_a_ranking_that_is_interrupted_reads_no_row_afterwards():
    """The rows are the caller's: a thread that was left behind with them ended the process."""
    done = subprocess.run([sys.executable, "-c", INTERRUPTED], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0 and done.stdout.split() == ["interrupted", "False"], done


def test_weights_that_a_user_sets_stay_in_a_pickle():
    X, y = rows()
    model = lineal.LogisticRegression().fit(X, y)
    model.coef_ = -model.coef_
    model.intercept_ = -model.intercept_
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict(X), model.predict(X))
    assert (model.predict(X) != lineal.LogisticRegression().fit(X, y).predict(X)).mean() > 0.9


def test_broken_matrices_are_refused():
    """SciPy does not look at where pointers lead; a walk along them once ended the process."""
    X, y = rows()
    for pointers in ([0, 3, 1000], [0, 5, 2], [1, 2, 3], [0, -4, 2]):
        bad = sparse.csr_matrix(X)
        bad.indptr = bad.indptr.copy()
        bad.indptr[: len(pointers)] = pointers
        with pytest.raises(ValueError, match="pointers"):
            lineal.LogisticRegression().fit(bad, y)
    for index in (-1, 99):
        bad = sparse.csr_matrix(X)
        bad.indices = bad.indices.copy()
        bad.indices[0] = index
        with pytest.raises(ValueError, match="indices"):
            lineal.LogisticRegression().fit(bad, y)


def test_parameters_that_are_not_numbers_are_named():
    X, y = rows()
    for params in (dict(n_jobs="two"), dict(random_state=-1), dict(random_state=2**80)):
        with pytest.raises(ValueError, match=next(iter(params))):
            lineal.LogisticRegression(**params).fit(X, y)


def test_layouts_give_the_same_bits():
    X, y = rows()
    plain = lineal.LogisticRegression().fit(X, y)
    def misaligned(x):
        out = np.ndarray(x.shape, x.dtype, buffer=np.zeros(x.nbytes + 1, np.uint8), offset=1)
        out[:] = x
        return out

    def read_only(x):
        out = x.copy()
        out.flags.writeable = False
        return out

    for kind in (np.asfortranarray, lambda x: x.astype(np.float64), lambda x: np.repeat(x, 2, axis=0)[::2], lambda x: x.astype(">f4"), misaligned, read_only):
        np.testing.assert_array_equal(plain.predict_proba(kind(X)), plain.predict_proba(X))
        np.testing.assert_array_equal(lineal.LogisticRegression().fit(kind(X), y).coef_.astype(np.float32), plain.coef_)
    for index in (np.int32, np.int64):
        csr = sparse.csr_matrix(X)
        csr.indices, csr.indptr = csr.indices.astype(index), csr.indptr.astype(index)
        np.testing.assert_allclose(lineal.LogisticRegression().fit(csr, y).coef_, plain.coef_, rtol=1e-6)


def test_n_jobs_changes_nothing():
    X, y = make_classification(n_samples=2000, n_features=20, n_classes=3, n_informative=6, random_state=1)
    one, two = (lineal.LogisticRegression(n_jobs=n).fit(X, y) for n in (1, 2))
    np.testing.assert_array_equal(one.coef_, two.coef_)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("model", [
    lineal.SGDClassifier(random_state=0),
    lineal.SGDClassifier(loss="log_loss", random_state=0),
    lineal.Perceptron(random_state=0),
    lineal.PassiveAggressiveClassifier(random_state=0),
], ids=repr)
def test_weights_of_stochastic_steps_are_saved_and_explained(model, n_classes, tmp_path):
    X = np.random.RandomState(0).randn(90, 4)
    y = np.array(["a", "b", "c"])[np.abs(X[:, 0] * 2).astype(int) % n_classes]
    model.fit(X, y)
    model.save(tmp_path / "m.lineal")
    again = lineal.load(tmp_path / "m.lineal")
    assert (again.predict(X) == model.predict(X)).all()
    if hasattr(model, "predict_proba"):
        np.testing.assert_allclose(again.predict_proba(X), model.predict_proba(X), rtol=1e-5)
    assert [entry["winner"] for entry in model.explain(X[:5])] == list(model.predict(X[:5]))
    # Weights that a user sets are those that are saved.
    model.coef_ = -model.coef_
    model.save(tmp_path / "m.lineal")
    assert (lineal.load(tmp_path / "m.lineal").predict(X) == model.predict(X)).all()


def test_a_regression_by_stochastic_steps_is_saved(tmp_path):
    X = np.random.RandomState(0).randn(90, 4)
    model = lineal.SGDRegressor(random_state=0).fit(X, X[:, 0] - X[:, 2] + 3)
    model.save(tmp_path / "m.lineal")
    np.testing.assert_allclose(lineal.load(tmp_path / "m.lineal").predict(X), model.predict(X), rtol=1e-5)
    assert len(model.explain(X[:2])) == 2
