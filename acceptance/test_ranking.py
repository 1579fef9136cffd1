"""Rankings: metrics against scikit-learn, objectives against LinearSVC on explicit pairs, hostile files, figures on MQ2008."""

import gzip
import json
from pathlib import Path

import numpy as np
from sklearn.metrics import average_precision_score, ndcg_score
from sklearn.svm import LinearSVC

TASK = ["--task", "rank"]
# Least NDCG@10 over queries with a relevant document, and least MAP over all queries, of the default on MQ2008's test set.
FIGURES = (0.720, 0.4546)


def made_up(n_queries, seed):
    """Queries with a hidden scoring function and noise, as LETOR lines."""
    rng = np.random.default_rng(seed)
    truth = np.random.default_rng(0).normal(size=8)
    lines = []
    for q in range(n_queries):
        x = np.round(rng.random((rng.integers(1, 20), 8)), 3)
        score = x @ truth + 0.3 * rng.normal(size=len(x))
        grades = np.clip(np.round(2 * score), 0, 2).astype(int)
        for grade, row in zip(grades, x):
            features = " ".join(f"{j}:{value:g}" for j, value in enumerate(row, 1))
            lines.append(f"{grade} qid:{q + 1} {features} # made up\n")
    return "".join(lines)


def has_real(sets):
    return sets.source is not None and (sets.source / "mq2008").is_dir()


def text_of(sets, name):
    if not has_real(sets):
        return made_up(60 if name == "train" else 30, len(name))
    with gzip.open(sets.source / f"mq2008/{name}.letor.gz", "rt") as file:
        return file.read()


def read(text):
    """Features, grades and the query of each document."""
    x, grades, queries = [], [], []
    for line in text.splitlines():
        words = line.split("#")[0].split()
        grades.append(float(words[0]))
        queries.append(words[1])
        x.append({int(j): float(v) for j, v in (word.split(":") for word in words[2:])})
    dense = np.zeros((len(x), max(max(row, default=0) for row in x)))
    for i, row in enumerate(x):
        for j, value in row.items():
            dense[i, j - 1] = value
    return dense, np.array(grades), np.array(queries)


def prepared(program, sets):
    folder = Path(program.folder.name)
    for name in ("train", "test"):
        path = folder / f"ranking-{name}.letor"
        if not path.exists():
            path.write_text(text_of(sets, name))
    return folder, folder / "ranking-train.letor", folder / "ranking-test.letor"


def metrics(checks, program, sets):
    """`eval` says what scikit-learn counts from the scores that `predict` writes."""
    folder, train, test = prepared(program, sets)
    model = folder / "ranking.lineal"
    program.output("train", train, *TASK, "-o", model, "--quiet")
    told = json.loads(program.output("eval", model, test, "--json", "--quiet"))
    _, grades, queries = read(test.read_text())
    scores = np.array([float(line) for line in program.output("predict", model, test, "--quiet").split()])
    checks.that(len(scores) == len(grades), "one score per document", f"{len(scores)} and {len(grades)}")
    found = {"ndcg@1": [], "ndcg@5": [], "ndcg@10": [], "map": [], "mrr": []}
    for name in dict.fromkeys(queries):
        of = queries == name
        relevant = grades[of] > 0
        # Documents of equal scores stand in the order of the file.
        order = np.argsort(-scores[of], kind="stable")
        ranks = np.empty(len(order))
        ranks[order] = -np.arange(len(order))
        if not relevant.any():
            found["map"].append(0.0)
            found["mrr"].append(0.0)
            continue
        for k in (1, 5, 10):
            gains = 2.0 ** grades[of] - 1
            value = ndcg_score([gains], [ranks], k=k) if len(gains) > 1 else 1.0
            found[f"ndcg@{k}"].append(value)
        found["map"].append(average_precision_score(relevant, ranks))
        found["mrr"].append(1 / (1 + np.flatnonzero(relevant[order])[0]))
    for key, values in found.items():
        checks.close(told[key], float(np.mean(values)), 1e-9, key)


def objectives(checks, program, sets):
    """The objective of pairs is that of LinearSVC on explicit pairs."""
    folder, train, _ = prepared(program, sets)
    x, grades, queries = read(train.read_text())
    pairs = []
    for name in dict.fromkeys(queries):
        of = np.flatnonzero(queries == name)
        pairs += [(i, j) for i in of for j in of if grades[i] > grades[j]]
    a, b = np.array(pairs).T
    difference, n = x[a] - x[b], len(pairs)
    # Half of the pairs are turned round: a classifier needs two classes.
    sign = np.where(np.arange(n) % 2 == 0, 1.0, -1.0)
    for loss, name in (("hinge", "hinge"), ("squared_hinge", "squared-hinge")):
        c = 0.01
        svc = LinearSVC(loss=loss, C=c, fit_intercept=False, dual=True, tol=1e-6, max_iter=20000, random_state=0)
        w = svc.fit(difference * sign[:, None], sign).coef_[0]
        slack = np.maximum(0, 1 - difference @ w)
        peer = (np.sum(slack**2 if loss == "squared_hinge" else slack) + 0.5 / c * w @ w) / n
        out = program.output("train", train, *TASK, "--loss", name, "-C", c, "--tol", 1e-4, "-o", folder / "pairs.lineal", "--json", "--quiet")
        ours = json.loads(out)
        checks.that(ours["converged"] and ours["gap"] <= 1e-4 * ours["objective"], f"{name}: certified", str(ours["gap"]))
        checks.that(ours["objective"] <= peer * (1 + 2e-4), f"{name}: no worse than LinearSVC", f"{ours['objective']} and {peer}")
        checks.that(ours["objective"] - ours["gap"] <= peer * (1 + 1e-6), f"{name}: the bound holds", f"{ours['objective']}, {ours['gap']}, {peer}")


# What is wrong, the file, the line that the message names, and a word of it.
MALFORMED = [
    ("an empty file", "", None, "empty"),
    ("no query", "1 qid:1 1:1\n0 1:1\n", 2, "qid"),
    ("a query that comes back", "1 qid:1 1:1\n0 qid:2 1:1\n0 qid:1 1:0\n", 3, "begin in line 1"),
    ("a grade that is not a number", "1 qid:1 1:1\ngood qid:1 1:1\n", 2, "good"),
    ("a negative grade", "1 qid:1 1:1\n-1 qid:1 1:1\n", 2, "-1"),
    ("a value that is not a number", "1 qid:1 1:1\n0 qid:1 1:x\n", 2, "x"),
]


def hostile(checks, program, sets):
    """Each mistake gets its message with the line; what is odd but right is ranked."""
    folder = Path(program.folder.name)
    path, model = folder / "malformed.letor", folder / "malformed.lineal"
    for what, text, line, word in MALFORMED:
        path.write_text(text)
        done = program.run("train", path, *TASK, "-o", model, "--quiet")
        place = f"malformed.letor:{line}:" if line else "malformed.letor"
        told = done.stderr.strip()
        checks.that(done.returncode == 1 and place in told and word in told, what, f"exit code {done.returncode}: {told}")
        checks.that(not model.exists() and "panicked" not in told, f"{what}: nothing is written", told)
    for what, text in [("one document per query", "1 qid:1 1:1\n0 qid:2 1:1\n"), ("equal grades", "1 qid:1 1:1\n1 qid:1 1:0\n")]:
        path.write_text(text)
        done = program.run("train", path, *TASK, "-o", model, "--quiet")
        checks.that(done.returncode == 1 and "different grades" in done.stderr, what, done.stderr)
    for kind in ("ndcg", "map"):
        path.write_text("1 qid:1 1:1\n0 qid:1 1:0\n")
        done = program.run("train", path, *TASK, "--rank", kind, "--loss", "logistic", "-o", model, "--quiet")
        checks.that(done.returncode == 1 and "choose --loss hinge" in done.stderr, f"{kind} has no logistic loss", done.stderr)
    rng = np.random.default_rng(3)
    lines = [f"{int(x > 0.8)} qid:1 1:{x:.4f} 2:{noise:.4f}\n" for x, noise in rng.random((100_000, 2))]
    path.write_text("".join(lines))
    for kind in ([], ["--loss", "logistic"], ["--rank", "plackett-luce"], ["--rank", "ndcg", "--ndcg-at", 10]):
        told = json.loads(program.output("train", path, *TASK, *kind, "-o", model, "--test", path, "--json", "--quiet"))
        # The first ten ranks say nothing of the others.
        key = "ndcg@10" if "ndcg" in kind else "pairwise_accuracy"
        checks.that(told["test"][key] > 0.95, f"100,000 documents in one query {kind}", str(told["test"][key]))


def outputs(checks, program, sets):
    """Scores, orders and explanations agree."""
    folder, train, test = prepared(program, sets)
    model = folder / "ranking.lineal"
    if not model.exists():
        program.output("train", train, *TASK, "-o", model, "--quiet")
    scores = [float(line) for line in program.output("predict", model, test, "--quiet").split()]
    rows = [json.loads(line) for line in program.output("predict", model, test, "--output", "jsonl", "--quiet").splitlines()]
    checks.that([s for row in rows for s in row["scores"]] == scores, "scores are the same in every form")
    for row in rows[:20]:
        ordered = [row["scores"][d - 1] for d in row["order"]]
        checks.that(ordered == sorted(ordered, reverse=True), f"order of query {row['query']}")
    found = [json.loads(line) for line in program.output("explain", model, test, "--rows", "1", "--json", "--top", 1000, "--quiet").splitlines()]
    checks.that([one["document"] for one in found] == rows[0]["order"], "explanations come in the order of ranks")
    for one in found[:-1]:
        lead = sum(reason["lead"] for reason in one["reasons"])
        checks.that(abs(lead - one["lead"]) <= 1e-6 * (1 + abs(lead)), "reasons add up to the lead", f"{lead} and {one['lead']}")


def accuracy(checks, program, sets):
    """What MQ2008 must reach."""
    if not has_real(sets):
        return
    folder, train, test = prepared(program, sets)
    out = program.output("train", train, *TASK, "-o", folder / "mq2008.lineal", "--test", test, "--json", "--quiet")
    told = json.loads(out)["test"]
    for key, least in zip(("ndcg@10", "map"), FIGURES):
        checks.that(told[key] >= least, f"{key} ≥ {least}", str(told[key]))


TESTS = {
    "ranking: metrics": metrics,
    "ranking: objectives": objectives,
    "ranking: outputs": outputs,
    "ranking: hostile": hostile,
    "ranking: accuracy": accuracy,
}
