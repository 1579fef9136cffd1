"""Solutions of the same objective by others: LIBLINEAR, scikit-learn, and scipy on our own numpy objective.

Each returns weights in Lineal's layout, features (+ bias last) × outputs, or a dict of them by the peer's name.
λ = 1/(C·n): LIBLINEAR and scikit-learn minimise ½‖w‖² + C·Σ loss.
"""

import warnings
from dataclasses import replace

import numpy as np
import scipy.sparse as sp
from liblinear.liblinearutil import train as liblinear_train
from scipy.optimize import minimize
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.svm import SVC

import objective

# -s 0 logistic primal, 1 and 2 squared hinge, 3 hinge, 4 Crammer–Singer, 7 logistic dual.
LIBLINEAR = {"logistic": (0, 7), "squared-hinge": (1, 2), "hinge": (3,)}


def solutions(spec, problem):
    """All peers that have this objective, by name."""
    found = {}
    two = problem.n_classes == 2
    if spec.loss in ("perceptron",):
        return {"zero": np.zeros(shape(spec, problem))}  # every loss is ≥ 0 and 0 at W = 0
    if spec.bias != "free" and problem.weights is None:
        solvers = LIBLINEAR.get(spec.loss, ()) if two else ((4,) if spec.loss == "hinge" and not spec.sum else ())
        for s in solvers:
            found[f"LIBLINEAR -s {s}"] = liblinear(spec, problem, s)
    if spec.loss == "logistic":
        found["scikit-learn LogisticRegression"] = logistic_regression(spec, problem)
    if spec.loss == "squared":
        found["scikit-learn Ridge"] = ridge(spec, problem)
    if spec.loss == "hinge" and two and spec.bias == "free":
        found["scikit-learn SVC"] = svc(spec, problem)
    if is_smooth(spec, problem) and not found:
        found["scipy L-BFGS"] = primal(spec, problem)
    # The reference is slow: only on small samples.
    if problem.n_classes > 2 and spec.bias != "free" and problem.n_rows * problem.n_classes <= 4000:
        if (spec.loss == "hinge" and spec.sum) or (spec.loss == "squared-hinge" and not spec.sum):
            found["scipy on the dual"] = dual(spec, problem)
    return found


def is_smooth(spec, problem):
    if spec.loss == "squared-hinge":
        return problem.n_classes == 2 or spec.sum
    return spec.loss in ("logistic", "squared", "huber")


def shape(spec, problem):
    return problem.x.shape[1] + (spec.bias != "none"), problem.n_outputs


def liblinear(spec, problem, solver, eps=None):
    """LIBLINEAR's -B 1 is a column of ones; we add it."""
    x = problem.with_bias(spec.bias)
    c = 1.0 / (spec.l2 * problem.n_rows)
    eps = eps or (1e-8 if solver in (0, 2) else 1e-7)
    # The class of the first row becomes LIBLINEAR's positive one: labels 0.. in their own order, put back below.
    model = liblinear_train(problem.y.astype(float), x, f"-s {solver} -c {c!r} -e {eps!r} -q")
    n_vectors = 1 if problem.n_classes == 2 and solver != 4 else problem.n_classes
    w = np.ctypeslib.as_array(model.w, (x.shape[1] * n_vectors,)).reshape(x.shape[1], n_vectors).copy()
    labels = model.get_labels()
    if n_vectors == 1:
        return w if labels[0] == 1 else -w
    return w[:, np.argsort(labels)]


def logistic_regression(spec, problem):
    """Softmax has a free direction (the same for all classes), which the penalty fixes."""
    free = spec.bias == "free"
    x = problem.x if free else problem.with_bias(spec.bias)
    total = problem.n_rows if problem.weights is None else problem.weights.sum()
    # scikit-learn stops newton-cg by the largest entry of the gradient of ½‖w‖² + C·Σ loss, over C·n.
    fit = LogisticRegression(C=1.0 / (spec.l2 * total), fit_intercept=free, solver="newton-cg", tol=1e-10, max_iter=5000)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a line search at the limit of f64 is no news; the objective is compared below
        fit.fit(x, problem.y, sample_weight=problem.weights)
    w = fit.coef_.T
    return np.vstack([w, fit.intercept_[None, :]]) if free else w


def ridge(spec, problem):
    """½‖Xw − t‖²/n + (λ/2)‖w‖² is Ridge with alpha = λn; classes aim at ±1, as RidgeClassifier has it."""
    if problem.n_classes > 2:
        target = np.where(problem.y[:, None] == np.arange(problem.n_classes), 1.0, -1.0)
    else:
        target = problem.y if problem.n_classes == 0 else np.where(problem.y == 1, 1.0, -1.0)
    free = spec.bias == "free"
    x = problem.x if free else problem.with_bias(spec.bias)
    x = x.toarray() if x.shape[1] < 2000 else x
    total = problem.n_rows if problem.weights is None else problem.weights.sum()
    solver = "sparse_cg" if sp.issparse(x) else "cholesky"
    fit = Ridge(alpha=spec.l2 * total, fit_intercept=free, solver=solver, tol=1e-13, max_iter=20000)
    fit.fit(x, target, sample_weight=problem.weights)
    w = np.atleast_2d(fit.coef_).T
    return np.vstack([w, np.atleast_1d(fit.intercept_)[None, :]]) if free else w


def svc(spec, problem):
    """LIBSVM: the hinge with a free bias, which LIBLINEAR does not have."""
    fit = SVC(C=1.0 / (spec.l2 * problem.n_rows), kernel="linear", tol=1e-7, cache_size=500)
    fit.fit(problem.x, problem.y)
    coef = fit.coef_.toarray() if sp.issparse(fit.coef_) else fit.coef_
    return np.vstack([coef.T, fit.intercept_[None, :]])


def primal(spec, problem):
    """scipy's L-BFGS on the smooth objective. The objective sees X by XXᵀ = U S Uᵀ alone, so where features outnumber rows it
    is minimised over the columns of U √S, and W = Xᵀ U S^-½ V put back."""
    turn = None
    if problem.x.shape[1] > problem.n_rows:
        s, u = np.linalg.eigh((problem.x @ problem.x.T).toarray())
        u, s = u[:, s > 1e-10 * s[-1]], s[s > 1e-10 * s[-1]]
        turn = np.asarray(problem.x.T @ (u / np.sqrt(s)))
        problem = replace(problem, x=u * np.sqrt(s))
    dims = shape(spec, problem)

    def flat(w):
        value, grad = objective.value_grad(spec, problem, w.reshape(dims))
        return value, grad.ravel()

    options = {"maxiter": 20000, "maxfun": 40000, "ftol": 1e-16, "gtol": 1e-10, "maxcor": 30}
    w = minimize(flat, np.zeros(dims).ravel(), jac=True, method="L-BFGS-B", options=options).x.reshape(dims)
    if turn is None:
        return w
    return np.vstack([turn @ w[: turn.shape[1]], w[turn.shape[1] :]])


def dual(spec, problem):
    """Flows a_ir ≥ 0 from the gold class to the others, scipy's L-BFGS-B on

        ½/λ‖Xᵀ(A − gold·ΣA)‖² − Σa     with a ≤ 1/n             (sum of hinges)
        ½/λ‖Xᵀ(A − gold·ΣA)‖² − Σa + (n/4)·Σᵢ(Σᵣ a_ir)²         (square of the worst)

    and W = −Xᵀ(A − gold·ΣA)/λ.
    """
    x = problem.with_bias(spec.bias)
    gram = (x @ x.T).toarray()
    n, k = problem.n_rows, problem.n_classes
    gold = np.eye(k)[problem.y]
    squared = spec.loss == "squared-hinge"

    def flat(a):
        a = a.reshape(n, k)
        flow = a.sum(axis=1)
        g = a - gold * flow[:, None]
        pull = gram @ g / spec.l2
        value = 0.5 * (g * pull).sum() - flow.sum()
        slope = pull - (gold * pull).sum(axis=1)[:, None] - 1.0
        if squared:
            value += 0.25 * n * (flow * flow).sum()
            slope += 0.5 * n * flow[:, None]
        return value, (slope * (1 - gold)).ravel()

    # In units of 1/n, so that steps are of size 1.
    top = np.where(gold == 1, 0.0, np.inf if squared else 1.0).ravel()
    scaled = lambda b: tuple(n * v if i == 0 else v for i, v in enumerate(flat(b / n)))
    options = {"maxiter": 4000, "maxfun": 8000, "ftol": 1e-16, "gtol": 1e-8, "maxcor": 50}
    found = minimize(
        scaled, np.zeros(n * k), jac=True, method="L-BFGS-B", bounds=list(zip(np.zeros(n * k), top)), options=options
    )
    a = found.x.reshape(n, k) / n
    return -np.asarray(x.T @ (a - gold * a.sum(axis=1)[:, None])) / spec.l2
