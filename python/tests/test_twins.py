"""``coef_`` and ``intercept_`` equal scikit-learn's at 1e-5, over losses, penalties, weights of rows and classes, intercepts."""

import itertools
import pickle
import warnings

import numpy as np
import pytest

import lineal

sklearn = pytest.importorskip("sklearn")
from scipy import optimize, sparse  # noqa: E402
from sklearn import linear_model, svm  # noqa: E402
from sklearn.datasets import load_diabetes, load_iris, make_classification  # noqa: E402
from sklearn.preprocessing import StandardScaler  # noqa: E402


def narrow(X):
    """Numbers that single precision has, so that both sides see the same."""
    return np.asarray(X, dtype=np.float32).astype(np.float64)


def two_classes():
    X, y = make_classification(n_samples=120, n_features=8, n_informative=4, flip_y=0.15, random_state=3)
    return narrow(X), np.where(y == 1, "yes", "no")


def three_classes():
    X, y = load_iris(return_X_y=True)
    return narrow(StandardScaler().fit_transform(X)), y


def numbers():
    X, y = load_diabetes(return_X_y=True)
    return narrow(StandardScaler().fit_transform(X)), y / 50.0


def row_weights(n):
    return narrow(np.random.RandomState(5).uniform(0.2, 3.0, n))


def same(ours, theirs, tol=1e-5):
    assert ours.coef_.shape == theirs.coef_.shape
    assert np.shape(ours.intercept_) == np.shape(theirs.intercept_)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=tol, rtol=tol)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=tol, rtol=tol)
    if hasattr(theirs, "classes_"):
        assert (ours.classes_ == theirs.classes_).all()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("data", [two_classes, three_classes])
@pytest.mark.parametrize("C,l1_ratio", [(0.1, 0.0), (1.0, 0.0), (30.0, 0.0), (1.0, 1.0), (0.5, 0.4)])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("weighted", [None, "rows", "balanced", "both"])
def test_logistic_regression(data, C, l1_ratio, fit_intercept, weighted):
    X, y = data()
    weights = row_weights(len(y)) if weighted in ("rows", "both") else None
    class_weight = "balanced" if weighted in ("balanced", "both") else None
    shared = dict(C=C, l1_ratio=l1_ratio, fit_intercept=fit_intercept, class_weight=class_weight)
    solver = "saga" if l1_ratio else "newton-cholesky"
    theirs = linear_model.LogisticRegression(**shared, solver=solver, tol=1e-9 if l1_ratio else 1e-12, max_iter=200_000, random_state=0)
    theirs.fit(X, y, sample_weight=weights)
    ours = lineal.LogisticRegression(**shared, solver=solver, tol=1e-9, max_iter=20_000).fit(X, y, sample_weight=weights)
    same(ours, theirs)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-5)
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-4)
    assert ours.certificate_.converged or l1_ratio


@pytest.mark.parametrize("scaling", [1, 7])
def test_liblinear_penalises_the_intercept(scaling):
    X, y = two_classes()
    shared = dict(solver="liblinear", intercept_scaling=scaling, C=0.7)
    theirs = linear_model.LogisticRegression(**shared, tol=1e-12, max_iter=10_000).fit(X, y)
    same(lineal.LogisticRegression(**shared, tol=1e-9).fit(X, y), theirs)


def test_named_classes_weights_and_sparse_rows():
    X, y = two_classes()
    shared = dict(class_weight={"yes": 3.0, "no": 0.5})
    theirs = linear_model.LogisticRegression(**shared, solver="newton-cholesky", tol=1e-12).fit(X, y)
    for kind in (sparse.csr_matrix, sparse.csc_matrix, sparse.coo_array, np.asfortranarray, np.float32):
        same(lineal.LogisticRegression(**shared, tol=1e-9).fit(kind(X), y), theirs)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("data", [two_classes, three_classes])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("weighted", [None, "rows", "balanced", "both"])
def test_linear_svc(data, loss, fit_intercept, weighted):
    X, y = data()
    weights = row_weights(len(y)) if weighted in ("rows", "both") else None
    class_weight = "balanced" if weighted in ("balanced", "both") else None
    shared = dict(loss=loss, C=0.5, fit_intercept=fit_intercept, class_weight=class_weight)
    theirs = svm.LinearSVC(**shared, dual=loss == "hinge", tol=1e-11, max_iter=2_000_000, random_state=0).fit(X, y, sample_weight=weights)
    ours = lineal.LinearSVC(**shared, tol=1e-9, max_iter=20_000).fit(X, y, sample_weight=weights)
    same(ours, theirs)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("data", [two_classes, three_classes])
def test_linear_svc_of_other_forms(data):
    X, y = data()
    theirs = svm.LinearSVC(multi_class="crammer_singer", tol=1e-10, max_iter=500_000, random_state=0, C=0.5).fit(X, y)
    ours = lineal.LinearSVC(multi_class="crammer_singer", tol=1e-9, C=0.5, max_iter=20_000).fit(X, y)
    same(ours, theirs)
    theirs = svm.LinearSVC(penalty="l1", dual=False, tol=1e-10, max_iter=500_000, random_state=0, C=0.5).fit(X, y)
    ours = lineal.LinearSVC(penalty="l1", dual=False, tol=1e-7, C=0.5, max_iter=20_000).fit(X, y)
    same(ours, theirs)
    theirs = svm.LinearSVC(intercept_scaling=5.0, dual=False, tol=1e-12, C=0.5).fit(X, y)
    same(lineal.LinearSVC(intercept_scaling=5.0, tol=1e-9, C=0.5).fit(X, y), theirs)


@pytest.mark.parametrize("alpha", [0.0, 0.3, 10.0])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix])
def test_least_squares(alpha, fit_intercept, weighted, kind):
    X, y = numbers()
    weights = row_weights(len(y)) if weighted else None
    several = np.column_stack([y, 2 * y + X[:, 0]])
    for target in (y, several):
        theirs = linear_model.Ridge(alpha=alpha, fit_intercept=fit_intercept, solver="cholesky").fit(X, target, sample_weight=weights)
        same(lineal.Ridge(alpha=alpha, fit_intercept=fit_intercept).fit(kind(X), target, sample_weight=weights), theirs)
        theirs = linear_model.LinearRegression(fit_intercept=fit_intercept).fit(X, target, sample_weight=weights)
        same(lineal.LinearRegression(fit_intercept=fit_intercept).fit(kind(X), target, sample_weight=weights), theirs)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix])
def test_weights_of_at_least_0(fit_intercept, weighted, kind):
    X, y = numbers()
    weights = row_weights(len(y)) if weighted else None
    for target in (y, np.column_stack([y, -y])):
        theirs = linear_model.Ridge(alpha=2.0, positive=True, fit_intercept=fit_intercept, tol=1e-12, max_iter=100_000).fit(X, target, sample_weight=weights)
        ours = lineal.Ridge(alpha=2.0, positive=True, fit_intercept=fit_intercept).fit(kind(X), target, sample_weight=weights)
        same(ours, theirs)
        np.testing.assert_allclose(ours.predict(X), theirs.predict(X), atol=1e-4)
        theirs = linear_model.LinearRegression(positive=True, fit_intercept=fit_intercept).fit(X, target, sample_weight=weights)
        ours = lineal.LinearRegression(positive=True, fit_intercept=fit_intercept).fit(kind(X), target, sample_weight=weights)
        same(ours, theirs)
    assert "at least 0" in str(ours.certificate_)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_weights_are_in_the_precision_of_the_features(dtype):
    X, y = three_classes()
    assert lineal.LogisticRegression().fit(X.astype(dtype), y).coef_.dtype == dtype
    assert lineal.Ridge().fit(X.astype(dtype), y.astype(float)).coef_.dtype == dtype
    assert lineal.LinearRegression().fit(X.astype(dtype), np.column_stack([y, y])).coef_.dtype == dtype


def test_shapes_of_one_column():
    X, y = numbers()
    for ours, theirs in ((lineal.Ridge(), linear_model.Ridge()), (lineal.LinearRegression(), linear_model.LinearRegression())):
        ours.fit(X, y[:, None])
        theirs.fit(X, y[:, None])
        same(ours, theirs)
        assert ours.predict(X).shape == theirs.predict(X).shape


def test_ridge_of_a_penalty_for_each_target():
    X, y = numbers()
    several = np.column_stack([y, 2 * y + X[:, 0]])
    theirs = linear_model.Ridge(alpha=[0.1, 20.0], solver="cholesky").fit(X, several)
    same(lineal.Ridge(alpha=[0.1, 20.0]).fit(X, several), theirs)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("loss,epsilon", list(itertools.product(["epsilon_insensitive", "squared_epsilon_insensitive"], [0.0, 0.3])))
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("weighted", [False, True])
def test_linear_svr(loss, epsilon, fit_intercept, weighted):
    X, y = numbers()
    weights = row_weights(len(y)) if weighted else None
    shared = dict(loss=loss, epsilon=epsilon, fit_intercept=fit_intercept, C=0.3)
    theirs = svm.LinearSVR(**shared, dual=True, tol=1e-10, max_iter=3_000_000, random_state=0).fit(X, y, sample_weight=weights)
    ours = lineal.LinearSVR(**shared, tol=1e-9, max_iter=20_000).fit(X, y, sample_weight=weights)
    same(ours, theirs)


def minimise_further(model, X, y, weights):
    """Goes on with scikit-learn's own function from where its search stopped."""
    from sklearn.linear_model._huber import _huber_loss_and_gradient

    intercept = [model.intercept_] if model.fit_intercept else []
    start = np.concatenate([model.coef_, intercept, [model.scale_]])
    bounds = [(None, None)] * (len(start) - 1) + [(1e-12, None)]
    for _ in range(5):
        found = optimize.minimize(
            _huber_loss_and_gradient, start, (X, y, model.epsilon, model.alpha, weights), "L-BFGS-B", True, bounds=bounds, options={"maxiter": 100_000, "gtol": 1e-13, "ftol": 0.0}
        )
        start = found.x
    model.coef_, model.scale_ = start[: X.shape[1]], start[-1]
    if model.fit_intercept:
        model.intercept_ = start[-2]


@pytest.mark.parametrize("epsilon,alpha", [(1.35, 1e-4), (1.1, 0.0), (2.0, 3.0)])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_huber(epsilon, alpha, weighted, fit_intercept):
    X, y = numbers()
    y = y.copy()
    y[::17] += 30.0
    weights = row_weights(len(y)) if weighted else None
    shared = dict(epsilon=epsilon, alpha=alpha, fit_intercept=fit_intercept)
    theirs = linear_model.HuberRegressor(**shared, tol=1e-12, max_iter=100_000).fit(X, y, sample_weight=weights)
    ours = lineal.HuberRegressor(**shared).fit(X, y, sample_weight=weights)

    def objective(model):
        rest = np.abs(y - X @ model.coef_ - model.intercept_) / model.scale_
        losses = model.scale_ * (1 + np.where(rest < epsilon, rest**2, 2 * epsilon * rest - epsilon**2))
        return (losses if weights is None else weights * losses).sum() + alpha * (model.coef_**2).sum()

    # scikit-learn's search stops at a relative change of 2e-9, before the digits of its weights are those of the optimum (its `tol` is of the gradient alone): its own objective is minimised further.
    assert objective(ours) <= objective(theirs) * (1 + 1e-12)
    assert objective(theirs) <= objective(ours) * (1 + 1e-7)
    minimise_further(theirs, X, y, np.ones(len(y)) if weights is None else weights)
    same(ours, theirs)
    assert abs(ours.scale_ - theirs.scale_) < 1e-5
    assert (ours.outliers_ == theirs.outliers_).mean() > 0.99


SGD = [
    dict(loss="hinge"),
    dict(loss="log_loss", penalty="l1", alpha=1e-3),
    dict(loss="squared_hinge", penalty="elasticnet", alpha=1e-3, l1_ratio=0.3),
    dict(loss="modified_huber", learning_rate="invscaling", eta0=0.1),
    dict(loss="perceptron", learning_rate="constant", eta0=0.5, penalty=None),
    dict(loss="hinge", learning_rate="adaptive", eta0=0.1),
    dict(loss="hinge", average=True),
    dict(loss="log_loss", average=30, class_weight="balanced"),
    dict(loss="hinge", fit_intercept=False, shuffle=False),
    dict(loss="hinge", early_stopping=True),
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("data", [two_classes, three_classes])
@pytest.mark.parametrize("params", SGD, ids=str)
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize("weighted", [False, True])
def test_sgd_classifier_takes_the_same_steps(data, params, kind, weighted):
    X, y = data()
    X = kind(X)
    weights = row_weights(len(y)) if weighted else None
    theirs = linear_model.SGDClassifier(**params, random_state=7, max_iter=40).fit(X, y, sample_weight=weights)
    ours = lineal.SGDClassifier(**params, random_state=7, max_iter=40).fit(X, y, sample_weight=weights)
    assert ours.n_iter_ == theirs.n_iter_
    same(ours, theirs)
    assert ours.t_ == theirs.t_


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix])
def test_an_epoch_in_parts_takes_the_same_steps(kind, monkeypatch):
    from lineal import _stochastic

    X, y = make_classification(n_samples=3500, n_features=6, random_state=0)
    shared = dict(loss="log_loss", penalty="l1", average=True, random_state=0, max_iter=3, tol=None)
    whole = lineal.SGDClassifier(**shared).fit(kind(X), y)
    monkeypatch.setattr(_stochastic, "PART", 1)
    same(lineal.SGDClassifier(**shared).fit(kind(X), y), whole, 0.0)


@pytest.mark.filterwarnings("error")
def test_probabilities_of_scores_far_from_0():
    """Scores of rows that are not scaled are in the hundreds."""
    X, y = load_iris(return_X_y=True)
    X = narrow(X)
    theirs = linear_model.SGDClassifier(loss="log_loss", random_state=0).fit(X, y)
    ours = lineal.SGDClassifier(loss="log_loss", random_state=0).fit(X, y)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-3)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("data", [two_classes, three_classes])
def test_partial_fit_takes_the_same_steps(data):
    X, y = data()
    for params in (dict(loss="log_loss"), dict(loss="modified_huber"), dict(penalty="l1")):
        theirs = linear_model.SGDClassifier(**params, random_state=1)
        ours = lineal.SGDClassifier(**params, random_state=1)
        for _ in range(3):
            for part in (slice(0, 70), slice(70, None)):
                theirs.partial_fit(X[part], y[part], classes=np.unique(y))
                ours.partial_fit(X[part], y[part], classes=np.unique(y))
        same(ours, theirs)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("data", [two_classes, three_classes])
@pytest.mark.parametrize("params", [dict(), dict(penalty="l2", eta0=0.1), dict(class_weight="balanced"), dict(shuffle=False, tol=None, max_iter=2)], ids=str)
def test_perceptron(data, params):
    X, y = data()
    same(lineal.Perceptron(**params).fit(X, y), linear_model.Perceptron(**params).fit(X, y))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("data", [two_classes, three_classes])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("C", [0.01, 1.0])
def test_passive_aggressive(data, loss, C):
    X, y = data()
    for average in (False, True):
        shared = dict(loss=loss, C=C, random_state=2, average=average, max_iter=30)
        same(lineal.PassiveAggressiveClassifier(**shared).fit(X, y), linear_model.PassiveAggressiveClassifier(**shared).fit(X, y))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "params",
    [
        dict(),
        dict(loss="huber", epsilon=0.5),
        dict(loss="epsilon_insensitive", epsilon=0.2, penalty="l1"),
        dict(loss="squared_epsilon_insensitive", average=10),
        dict(learning_rate="adaptive"),
        dict(early_stopping=True),
    ],
    ids=str,
)
@pytest.mark.parametrize("weighted", [False, True])
def test_sgd_regressor_takes_the_same_steps(params, weighted):
    X, y = numbers()
    weights = row_weights(len(y)) if weighted else None
    theirs = linear_model.SGDRegressor(**params, random_state=7, max_iter=60).fit(X, y, sample_weight=weights)
    ours = lineal.SGDRegressor(**params, random_state=7, max_iter=60).fit(X, y, sample_weight=weights)
    assert ours.n_iter_ == theirs.n_iter_
    same(ours, theirs)


def test_crammer_singer_is_at_an_optimum_that_the_certificate_proves():
    X, y = three_classes()
    for kind in (lineal.CrammerSinger, lineal.WestonWatkins):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            model = kind(C=1.0, tol=1e-5).fit(X, y)
        scores = X @ model.coef_.T + model.intercept_
        ids = np.searchsorted(model.classes_, y)
        margins = 1 + scores - scores[np.arange(len(y)), ids][:, None]
        margins[np.arange(len(y)), ids] = 0
        losses = np.maximum(margins, 0)
        loss = losses.sum(axis=1) if kind is lineal.WestonWatkins else losses.max(axis=1)
        objective = loss.mean() + (model.coef_**2).sum() / (2 * len(y))
        np.testing.assert_allclose(model.certificate_.objective, objective, rtol=1e-6)
        assert 0 <= model.certificate_.gap <= 1e-5 * objective


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("kind", ["LinearRegression", "Ridge", "LogisticRegression"])
def test_seconds_since_1970_are_told_apart(kind):
    """In single precision there are 128 seconds between two neighbours there: what was learnt from five thousand of them was noise, without a word."""
    generator = np.random.RandomState(0)
    since = generator.rand(1000, 1) * 5000
    X = np.hstack([1.7e9 + since, generator.randn(1000, 1), np.full((1000, 1), 1e9)])
    y = since[:, 0] * 2 + 100 * generator.randn(1000)
    params = {}
    if kind == "LogisticRegression":
        y, params = (y > 5000).astype(int), dict(C=10.0, tol=1e-8)
    ours = getattr(lineal, kind)(**params).fit(X, y)
    theirs = getattr(linear_model, kind)(**params).fit(X - X.mean(axis=0), y)
    assert ours.score(X, y) > 0.95 and ours.score(X, y) == pytest.approx(theirs.score(X - X.mean(axis=0), y), abs=2e-3)
    np.testing.assert_allclose(ours.coef_.ravel()[0], theirs.coef_.ravel()[0], rtol=1e-4)
    assert pickle.loads(pickle.dumps(ours)).score(X, y) == ours.score(X, y) and ours.certificate_.converged
    many = ours.fit(np.vstack([X, X]), np.concatenate([y, y]))
    np.testing.assert_allclose(many.coef_, ours.coef_)


def test_what_single_precision_loses_is_told():
    X = 1.7e9 + np.random.RandomState(0).rand(200, 2) * [100, 1e9]
    y = (X[:, 1] > 2.2e9).astype(int)
    with pytest.warns(UserWarning, match="feature 0 are so large beside their range"):
        lineal.LinearSVC(max_iter=1).fit(X, y)
    with pytest.warns(UserWarning, match="feature 'when' are so large"):
        lineal.Ridge(fit_intercept=False).fit(pytest.importorskip("pandas").DataFrame(X, columns=["when", "size"]), y)
