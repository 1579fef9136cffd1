"""Makes the problems of this folder and proves their optima.

    python3 -m venv venv && venv/bin/pip install numpy scipy scikit-learn cvxpy
    venv/bin/python testdata/problems/make.py

Objective: mean loss + l2/2 |W|^2 + l1 |W|_1. Each optimum is solved by cvxpy with CLARABEL at a tolerance
of 1e-12 (an interior-point method with its own duality gap); where scikit-learn has the same objective, its value is
asserted to agree. Data is rounded to numbers that f32 holds exactly (multiples of 1/64).
"""

import json
import pathlib

import cvxpy as cp
import numpy as np

HERE = pathlib.Path(__file__).parent
TOL = dict(solver=cp.CLARABEL, tol_gap_abs=1e-12, tol_gap_rel=1e-12, tol_feas=1e-12)


def grid(a):
    return np.round(np.asarray(a) * 64) / 64


def write_svm(name, x, y):
    lines = []
    for row, label in zip(x, y):
        cells = [f"{j + 1}:{v:.10g}" for j, v in enumerate(row) if v != 0]
        lines.append(" ".join([f"{label:.10g}"] + cells))
    (HERE / name).write_text("\n".join(lines) + "\n")


def write_csv(name, x, y):
    d = x.shape[1]
    lines = [",".join([f"x{j}" for j in range(d)] + ["label"])]
    lines += [",".join([f"{v:.10g}" for v in row] + [str(label)]) for row, label in zip(x, y)]
    (HERE / name).write_text("\n".join(lines) + "\n")


def data():
    rng = np.random.default_rng(2026)
    x = grid(rng.normal(size=(20, 3)))
    x[4] = 0  # a row without features
    y = np.where(x @ [1.0, -0.5, 0.25] + 0.6 * rng.normal(size=20) > 0.1, 1, -1)
    write_svm("two.svm", x, y)
    x3 = grid(rng.normal(size=(24, 2)) + np.repeat([[1, 0], [-1, 1], [0, -1]], 8, axis=0))
    y3 = np.repeat([0, 1, 2], 8)
    write_csv("three.csv", x3, np.array(["ash", "birch", "cedar"])[y3])
    xr = grid(rng.normal(size=(16, 3)))
    yr = grid(xr @ [2.0, -1.0, 0.0] + 1.5 + 0.3 * rng.normal(size=16))
    yr[3] += 6  # an outlier
    write_svm("real.svm", xr, yr)
    return {"two.svm": (x, (y > 0).astype(int)), "three.csv": (x3, y3), "real.svm": (xr, yr)}


COST = np.array([[0, 1, 3], [0.5, 0, 1], [2, 1.5, 0]])


def losses(kind, f, y, cost):
    """One convex expression a row. f: scores, one column an output."""
    n = len(y)
    if kind in ("squared", "huber", "epsilon") and f.shape[1] == 1:
        r = f[:, 0] - y
        if kind == "squared":
            return [cp.square(r[i]) / 2 for i in range(n)]
        if kind == "huber":
            return [cp.huber(r[i], 1.0) / 2 for i in range(n)]
        return [cp.pos(cp.abs(r[i]) - 0.1) for i in range(n)]
    if f.shape[1] == 1:
        s = 2 * y - 1
        m = [1 - s[i] * f[i, 0] for i in range(n)]
        return {
            "hinge": lambda: [cp.pos(v) for v in m],
            "squared-hinge": lambda: [cp.square(cp.pos(v)) for v in m],
            "logistic": lambda: [cp.logistic(-s[i] * f[i, 0]) for i in range(n)],
        }[kind]()
    k = f.shape[1]
    delta = cost if cost is not None else 1 - np.eye(k)
    if kind == "squared":
        return [cp.sum_squares(f[i] - (2 * np.eye(k)[y[i]] - 1)) / 2 for i in range(n)]
    if kind == "logistic":
        delta = cost if cost is not None else np.zeros((k, k))
        return [cp.log_sum_exp(f[i] + delta[y[i]]) - f[i, y[i]] for i in range(n)]
    out = []
    for i in range(n):
        m = [delta[y[i], r] + f[i, r] - f[i, y[i]] for r in range(k) if r != y[i]]
        out.append({
            "hinge": lambda: cp.pos(cp.maximum(*m)),
            "sum hinge": lambda: sum(cp.pos(v) for v in m),
            "squared-hinge": lambda: cp.square(cp.pos(cp.maximum(*m))),
            "sum squared-hinge": lambda: sum(cp.square(cp.pos(v)) for v in m),
        }[kind]())
    return out


def optimum(x, y, loss, bias, l2, l1=0.0, cost=None, classes=True):
    k = 1 if not classes or y.max() == 1 else int(y.max()) + 1
    w = cp.Variable((x.shape[1], k))
    f, penalised = x @ w, [w]
    if loss == "squared" and classes and k == 1:
        y = 2 * y - 1
    if bias != "none":
        b = cp.Variable((1, k))
        f = f + np.ones((len(y), 1)) @ b
        penalised += [b] if bias == "penalised" else []
    value = sum(losses(loss, f, y, cost)) / len(y)
    value += sum(l2 / 2 * cp.sum_squares(p) for p in penalised)
    if l1:
        value += sum(l1 * cp.sum(cp.abs(p)) for p in penalised)
    problem = cp.Problem(cp.Minimize(value))
    problem.solve(**TOL)
    assert problem.status == "optimal", problem.status
    return problem.value


def against_sklearn(sets):
    """The same numbers from another program, where it has the same objective."""
    from sklearn.linear_model import LogisticRegression, Ridge
    from sklearn.svm import LinearSVC

    def value(m, x, y, loss, l2, penalise_bias):
        f = x @ m.coef_[0] + m.intercept_[0]
        b = m.intercept_[0] if penalise_bias else 0.0
        return np.mean(loss((2 * y - 1) * f)) + l2 / 2 * (m.coef_[0] @ m.coef_[0] + b * b)

    x, y = sets["two.svm"]
    n, l2 = len(y), 0.1
    m = LogisticRegression(C=1 / (l2 * n), tol=1e-12, max_iter=10**5).fit(x, y)
    ours = optimum(x, y, "logistic", "free", l2)
    assert abs(value(m, x, y, lambda v: np.log1p(np.exp(-v)), l2, False) / ours - 1) < 1e-8
    for name, loss, of in [("hinge", "hinge", lambda v: np.maximum(0, 1 - v)),
                           ("squared-hinge", "squared_hinge", lambda v: np.maximum(0, 1 - v) ** 2)]:
        m = LinearSVC(C=1 / (l2 * n), loss=loss, tol=1e-12, max_iter=10**7, dual=True).fit(x, y)
        ours = optimum(x, y, name, "penalised", l2)
        assert abs(value(m, x, y, of, l2, True) / ours - 1) < 1e-8, name
    x, y = sets["real.svm"]
    m = Ridge(alpha=l2 * len(y), solver="cholesky").fit(x, y)
    ours = optimum(x, y, "squared", "free", l2, classes=False)
    theirs = np.mean((m.predict(x) - y) ** 2) / 2 + l2 / 2 * m.coef_ @ m.coef_
    assert abs(theirs / ours - 1) < 1e-10


def main():
    sets = data()
    against_sklearn(sets)
    problems = []

    def add(file, loss, l2, l1=0.0, total=False, cost=None):
        x, y = sets[file]
        classes = file != "real.svm"
        for bias in ("free", "penalised", "none"):
            kind = f"sum {loss}" if total else loss
            value = optimum(x, y, kind, bias, l2, l1, cost, classes)
            problem = dict(data=file, task="classify" if classes else "regress", loss=loss, bias=bias, l2=l2)
            problem |= dict(sum=True) if total else {}
            problem |= dict(l1=l1) if l1 else {}
            problem |= dict(cost=cost.tolist()) if cost is not None else {}
            problems.append(problem | dict(optimum=value))

    for loss in ("hinge", "squared-hinge", "logistic", "squared"):
        add("two.svm", loss, 0.1)
        add("three.csv", loss, 0.05)
    for loss in ("hinge", "squared-hinge"):
        add("three.csv", loss, 0.05, total=True)
        add("three.csv", loss, 0.05, total=True, cost=COST)
    for loss in ("hinge", "squared-hinge", "logistic"):
        add("three.csv", loss, 0.05, cost=COST)
    for loss in ("squared", "huber", "epsilon"):
        add("real.svm", loss, 0.1)
    add("two.svm", "logistic", 0.05, l1=0.03)
    add("two.svm", "logistic", 0.0, l1=0.03)
    add("three.csv", "logistic", 0.02, l1=0.02)
    add("real.svm", "huber", 0.02, l1=0.05)
    about = "made by testdata/problems/make.py (cvxpy CLARABEL at 1e-12; scikit-learn agrees where it has the objective)"
    lines = ",\n    ".join(json.dumps(p) for p in problems)
    (HERE / "problems.json").write_text(f'{{\n  "about": {json.dumps(about)},\n  "problems": [\n    {lines}\n  ]\n}}\n')
    print(len(problems), "problems")


main()
