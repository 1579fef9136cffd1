"""L1 penalties, weights of classes and examples, and regression, against scikit-learn and scipy."""

import warnings

import numpy as np
import scipy.sparse as sp
from sklearn.datasets import load_diabetes
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVR, SVR
from sklearn.utils.class_weight import compute_class_weight

import objective
import peers
import problems
from objective import Spec
from program import Failed
from test_objectives import EXACT_FLAGS, FLAGS, LOOSE, TIGHT, certificate, sgd_flags


def l1_logistic(name, strength):
    """A test: OWL-QN against scikit-learn's liblinear (which penalises the bias) and saga (which does not)."""

    def test(checks, program, sets):
        problem = sets[name]
        for bias in ("free", "penalised", "none"):
            spec = Spec("logistic", 0.0, bias, l1=strength)
            run = program.train(problem, *spec.flags(), "--solver", "lbfgs", *EXACT_FLAGS)
            w = run.weights()
            theirs = sklearn_l1(spec, problem)
            value = objective.value(spec, problem, theirs)
            certificate(checks, spec, problem, run, w, min(value, run.objective))
            checks.close(run.objective, value, TIGHT, f"{run.command}: scikit-learn's L1 logistic")
            # Which weights are exactly zero hangs on the last digits; the numbers must be close.
            n_ours, n_theirs = np.count_nonzero(w), np.count_nonzero(theirs)
            near = abs(n_ours - n_theirs) <= max(2, 0.1 * n_theirs)
            checks.that(near, f"{run.command}: sparsity", f"{n_ours} weights not zero, scikit-learn {n_theirs}, of {w.size}")

    return test


def sklearn_l1(spec, problem):
    """l1·‖w‖₁ + mean loss is ‖w‖₁ + C·Σ loss with C = 1/(l1·n)."""
    free = spec.bias == "free"
    x = problem.x if free else problem.with_bias(spec.bias)
    c = 1.0 / (spec.l1 * problem.n_rows)
    solver = {"solver": "saga", "max_iter": 20000, "tol": 1e-9} if free else {"solver": "liblinear", "max_iter": 5000, "tol": 1e-9}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fit = LogisticRegression(l1_ratio=1.0, C=c, fit_intercept=free, random_state=0, **solver).fit(x, problem.y)
    w = fit.coef_.T
    return np.vstack([w, fit.intercept_[None, :]]) if free else w


def elastic_net(checks, program, sets):
    """l1 and l2 together, against scipy: w = a − b with a, b ≥ 0 makes it smooth."""
    problem = sets["heart"]
    spec = Spec("logistic", 0.01, "free", l1=0.01)
    run = program.train(problem, *spec.flags(), *EXACT_FLAGS)
    dims = peers.shape(spec, problem)
    plain = Spec("logistic", 0.01, "free")

    def split(ab):
        a, b = ab.reshape(2, *dims)
        value, grad = objective.value_grad(plain, problem, a - b)
        penalty = np.full(dims, spec.l1)
        penalty[-1] = 0.0
        return value + (penalty * (a + b)).sum(), np.stack([grad + penalty, penalty - grad]).ravel()

    options = {"ftol": 1e-16, "gtol": 1e-11, "maxiter": 10000, "maxfun": 20000}
    size = 2 * dims[0] * dims[1]
    found = peers.minimize(split, np.zeros(size), jac=True, method="L-BFGS-B", bounds=[(0, None)] * size, options=options)
    a, b = found.x.reshape(2, *dims)
    value = objective.value(spec, problem, a - b)
    certificate(checks, spec, problem, run, run.weights(), min(value, run.objective))
    checks.close(run.objective, value, TIGHT, f"{run.command}: scipy's elastic net")


def class_weights(checks, program, sets):
    """`--class-weight balanced` is scikit-learn's, and named weights are too."""
    for name in ("a9a", "usps"):
        problem = sets[name]
        k = problem.n_classes
        balanced = compute_class_weight("balanced", classes=np.arange(k), y=problem.y)
        named = np.ones(k)
        named[[0, 1]] = [2.5, 0.5]
        text = f"{int(problem.labels[0])}=2.5,{int(problem.labels[1])}=0.5"
        for flag, factors in (("balanced", balanced), (text, named)):
            weighted = problem.weighted(factors.astype(np.float32).astype(np.float64)[problem.y])
            compare_weighted(checks, program, weighted, ["--class-weight", flag])


def example_weights(checks, program, sets):
    """`label|weight` in the file is scikit-learn's sample_weight."""
    for name in ("heart", "letter"):
        problem = sets[name]
        weights = np.random.default_rng(3).integers(0, 5, problem.n_rows) / 2.0
        path = sets.folder / f"{name}-weighted.svm"
        problems.write(path, problem.x, problem.labels[problem.y], weights)
        weighted = problem.weighted(weights)
        weighted.path = path
        compare_weighted(checks, program, weighted, [])


def compare_weighted(checks, program, problem, flags):
    total = problem.weights.sum()
    for loss, theirs in (("logistic", peers.logistic_regression), ("squared", peers.ridge), ("squared-hinge", peers.primal)):
        if loss == "squared-hinge" and problem.n_classes > 2:
            continue
        spec = Spec(loss, problem.l2)
        value = objective.value(spec, problem, theirs(spec, problem))
        for solver in ("newton", "dual"):
            # -C c is λ = 1/(c·Σ weights): scikit-learn's C.
            c = float(1.0 / (problem.l2 * total))
            try:
                run = program.train(problem, "--loss", loss, "-C", repr(c), *flags, "--solver", solver, *EXACT_FLAGS)
            except Failed as failure:
                checks.fail(f"{problem.name} {' '.join(flags)} runs", str(failure))
                return
            certificate(checks, spec, problem, run, run.weights(), min(value, run.objective))
            checks.close(run.objective, value, TIGHT, f"{run.command}: weighted objective of {theirs.__name__}")


def regression(checks, program, sets):
    """Ridge, Huber and the tube on the diabetes data that scikit-learn ships."""
    x, y = load_diabetes(return_X_y=True)
    path = sets.folder / "diabetes.svm"
    x = sp.csr_matrix((x / x.std(axis=0)).astype(np.float32).astype(np.float64))
    problems.write(path, x, y / 50.0)
    problem = problems.read("diabetes", path, regress=True)
    for bias in ("free", "penalised", "none"):
        for spec in (Spec("squared", 0.01, bias), Spec("huber", 0.01, bias, delta=0.5), Spec("epsilon", 0.05, bias)):
            runs = {}
            for solver in {"squared": ["exact", "newton", "lbfgs", "dual", "gd", "sgd"],
                           "huber": ["newton", "lbfgs", "dual", "gd", "sgd"], "epsilon": ["dual", "sgd"]}[spec.loss]:
                flags = FLAGS.get(solver, EXACT_FLAGS) + (sgd_flags(spec) if solver == "sgd" else [])
                runs[solver] = program.train(problem, "--task", "regress", *spec.flags(), "--solver", solver, *flags)
            theirs = {"squared": peers.ridge, "huber": peers.primal, "epsilon": support_vector_regression}[spec.loss]
            value = objective.value(spec, problem, theirs(spec, problem))
            best = min(value, *(run.objective for run in runs.values()))
            for solver, run in runs.items():
                certificate(checks, spec, problem, run, run.weights(), best)
                checks.close(run.objective, value, LOOSE if solver in FLAGS else TIGHT, f"{run.command}: {theirs.__name__}")
        model = runs["dual"]
        predicted = np.array([row["label"] for row in program.predict(model, problem)])
        own = objective.scores(problem.x, model.weights(), bias)[:, 0]
        checks.that(np.abs(predicted - own).max() < 1e-9, f"{model.command}: predictions", f"{np.abs(predicted - own).max():.2e}")
        report = program.evaluate(model, problem)
        checks.close(report["rmse"], np.sqrt(np.mean((own - problem.y) ** 2)), 1e-9, f"{model.command}: rmse")
        checks.close(report["mae"], np.abs(own - problem.y).mean(), 1e-9, f"{model.command}: mae")
        checks.close(report["r2"], 1 - np.sum((own - problem.y) ** 2) / np.sum((problem.y - problem.y.mean()) ** 2), 1e-9, f"{model.command}: r2")


def support_vector_regression(spec, problem):
    """SVR (LIBSVM) with a free bias, LinearSVR (LIBLINEAR -s 13) else."""
    c = 1.0 / (spec.l2 * problem.n_rows)
    if spec.bias == "free":
        fit = SVR(kernel="linear", C=c, epsilon=spec.epsilon, tol=1e-8).fit(problem.x.toarray(), problem.y)
        return np.vstack([fit.coef_.T, fit.intercept_[None, :]])
    x = problem.with_bias(spec.bias)
    fit = LinearSVR(C=c, epsilon=spec.epsilon, fit_intercept=False, tol=1e-9, max_iter=200000, random_state=0)
    return fit.fit(x, problem.y).coef_[:, None]


TESTS = {
    "l1 logistic a9a": l1_logistic("a9a", 0.002),
    "l1 logistic heart": l1_logistic("heart", 0.01),
    "l1 and l2 heart": elastic_net,
    "class weights": class_weights,
    "example weights": example_weights,
    "regression diabetes": regression,
}
