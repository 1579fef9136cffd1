#!/usr/bin/env python3
"""The Python package beside scikit-learn and sklearn-crfsuite, in one process on the same arrays.

    python bench/python.py [--data DIR] [--only NAME]

`--only memory` has peak memory, each fit in a process of its own; `--only no_copy` a CSR matrix of 1 GB; `--only interrupt` how long Ctrl-C takes. These three run only if they are named.

Run it with an interpreter that has lineal, scikit-learn and sklearn-crfsuite (target/wheel-venv has, after `cargo xtask test`). Both sides go to the same objective: scikit-learn's at its default tolerance, then Lineal at the
loosest of a few tolerances whose objective is at most that. Told are wall and CPU seconds (of the process, all threads); on a machine that does other things only the latter mean anything.
"""

import argparse
import gzip
import json
import os
import signal
import subprocess
import sys
import threading
import time
import warnings
from pathlib import Path

import numpy as np
from scipy.special import logsumexp
from sklearn import linear_model, svm
from sklearn.datasets import load_svmlight_file
from sklearn.feature_extraction.text import TfidfVectorizer

import lineal

warnings.filterwarnings("ignore")


def timed(f, repeat=1):
    best = None
    for _ in range(repeat):
        wall, cpu = time.perf_counter(), time.process_time()
        out = f()
        took = (time.perf_counter() - wall, time.process_time() - cpu)
        best = took if best is None or took[1] < best[1] else best
    return out, best


def show(name, ours, theirs, note=""):
    print(f"{name:44} lineal {ours[0]:9.4f} s wall {ours[1]:9.4f} s cpu | peer {theirs[0]:9.4f} {theirs[1]:9.4f} | {theirs[1] / ours[1]:6.1f}x cpu, {theirs[0] / ours[0]:6.1f}x wall  {note}", flush=True)


def softmax_objective(model, X, y, C):
    scores = X @ model.coef_.T + model.intercept_
    ids = np.searchsorted(model.classes_, y)
    return C * (logsumexp(scores, axis=1) - scores[np.arange(len(y)), ids]).sum() + 0.5 * (model.coef_**2).sum()


def svc_objective(model, X, y, C):
    scores = X @ model.coef_.T + model.intercept_
    signs = np.where(y[:, None] == model.classes_[None, :], 1.0, -1.0)
    return C * (np.maximum(0, 1 - signs * scores) ** 2).sum() + 0.5 * (model.coef_**2).sum() + 0.5 * (model.intercept_**2).sum()


def to_same_objective(name, kind, peer, objective, X, y):
    theirs, slow = timed(lambda: peer.fit(X, y))
    goal = objective(theirs, X, y, peer.C)
    for tol in (1.0, 3e-1, 1e-1, 3e-2, 1e-2, 3e-3, 1e-3, 1e-4, 1e-5):
        ours, fast = timed(lambda: kind(C=peer.C, tol=tol).fit(X, y), repeat=2)
        found = objective(ours, X, y, peer.C)
        if found <= goal * (1 + 1e-6):
            break
    show(name, fast, slow, f"objective {found:.4f} and {goal:.4f}, tol {tol:g}")


def newsgroups(folder):
    X, y = read_newsgroups(folder)
    to_same_objective("LogisticRegression, newsgroups", lineal.LogisticRegression, linear_model.LogisticRegression(max_iter=1000), softmax_objective, X, y)
    to_same_objective("LinearSVC, newsgroups", lineal.LinearSVC, svm.LinearSVC(), svc_objective, X, y)
    rows = X[:2000]
    grades = y[:2000].astype(float)
    _, slow = timed(lambda: linear_model.Ridge(tol=1e-6).fit(rows, grades))
    _, fast = timed(lambda: lineal.Ridge(tol=1e-6).fit(rows, grades))
    show("Ridge, 2000 rows of newsgroups", fast, slow)


def mnist(folder):
    X, y = read_mnist(folder)
    to_same_objective("LogisticRegression, 20,000 of MNIST", lineal.LogisticRegression, linear_model.LogisticRegression(max_iter=1000), softmax_objective, X, y)
    _, slow = timed(lambda: linear_model.Ridge().fit(X, y))
    _, fast = timed(lambda: lineal.Ridge().fit(X, y))
    show("Ridge, 20,000 of MNIST", fast, slow)


def text(folder):
    texts, _ = read_texts(folder)
    ours, theirs = lineal.TfidfVectorizer(), TfidfVectorizer()
    _, fast = timed(lambda: ours.fit_transform(texts), repeat=3)
    _, slow = timed(lambda: theirs.fit_transform(texts))
    show(f"TfidfVectorizer.fit_transform, {len(texts)} texts", fast, slow)
    _, fast = timed(lambda: ours.transform(texts), repeat=3)
    _, slow = timed(lambda: theirs.transform(texts))
    show("TfidfVectorizer.transform", fast, slow)


def one_row(_):
    X = np.random.RandomState(0).randn(500, 20)
    y = (X[:, 0] > 0).astype(int)
    row = X[:1]
    for name, kind in (("LogisticRegression", (lineal.LogisticRegression, linear_model.LogisticRegression)),):
        ours, theirs = (k().fit(X, y) for k in kind)
        n = 2000
        _, fast = timed(lambda: [ours.predict(row) for _ in range(n)], repeat=5)
        _, slow = timed(lambda: [theirs.predict(row) for _ in range(n)], repeat=3)
        show(f"{name}.predict of one row, µs x 1e-6", tuple(t / n for t in fast), tuple(t / n for t in slow), f"{fast[1] / n * 1e6:.1f} and {slow[1] / n * 1e6:.1f} µs of CPU")


def sequences(folder):
    import sklearn_crfsuite

    from lineal.crf import CRF

    path = next((folder / "conll2000").glob("*train*"))
    with gzip.open(path, "rt") if path.suffix == ".gz" else open(path) as file:
        sentences = [[line.split() for line in block.split("\n") if line] for block in file.read().split("\n\n") if block.strip()][:2000]

    def attributes(sentence, t):
        out = {"bias": 1.0}
        for offset in (-2, -1, 0, 1, 2):
            if 0 <= t + offset < len(sentence):
                word, tag = sentence[t + offset][:2]
                out[f"w[{offset}]"], out[f"p[{offset}]"] = word.lower(), tag
        return out

    X = [[attributes(s, t) for t in range(len(s))] for s in sentences]
    y = [[token[-1] for token in s] for s in sentences]
    shared = dict(algorithm="lbfgs", c1=0.0, c2=1.0, all_possible_transitions=True)
    theirs, slow = timed(lambda: sklearn_crfsuite.CRF(**shared).fit(X, y))
    goal = theirs.training_log_.last_iteration["loss"] / len(X)
    for within in (1e-3, 1e-4):
        for epsilon in (3e-1, 1e-1, 5e-2, 3e-2, 2e-2, 1e-2, 5e-3, 3e-3, 1e-3):
            ours, fast = timed(lambda: CRF(**shared, epsilon=epsilon).fit(X, y), repeat=2)
            found = ours.report_["objective"]
            if found <= goal * (1 + within):
                break
        show(f"CRF.fit, 2,000 sentences, within {within:g}", fast, slow, f"objective {found:.5f} and {goal:.5f}, epsilon {epsilon:g}; accuracy {ours.score(X, y):.4f} and {theirs.score(X, y):.4f}")


def peak_kb():
    """The most memory of this process since the last call of `forget_peak`."""
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmHWM"))


def forget_peak():
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")


def read_newsgroups(folder):
    X, y = load_svmlight_file(str(folder / "newsgroups/tfidf-train.svm.gz"), dtype=np.float32)
    X.sort_indices()
    X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
    return X, y.astype(int)


def read_mnist(folder):
    with gzip.open(folder / "mnist/train-images-idx3-ubyte.gz") as file:
        X = np.frombuffer(file.read(), dtype=np.uint8, offset=16).reshape(-1, 784)[:20_000].astype(np.float32) / 255
    with gzip.open(folder / "mnist/train-labels-idx1-ubyte.gz") as file:
        return X, np.frombuffer(file.read(), dtype=np.uint8, offset=8)[:20_000].astype(int)


def read_texts(folder):
    with gzip.open(folder / "newsgroups/test.jsonl.gz", "rt") as file:
        return [json.loads(line)["text"] for line in file], None


CASES = {
    "LogisticRegression, newsgroups": (read_newsgroups, lambda: linear_model.LogisticRegression(max_iter=1000), lambda: lineal.LogisticRegression(tol=3e-2)),
    "LinearSVC, newsgroups": (read_newsgroups, svm.LinearSVC, lambda: lineal.LinearSVC(tol=1e-2)),
    "LogisticRegression, 20,000 of MNIST": (read_mnist, lambda: linear_model.LogisticRegression(max_iter=1000), lambda: lineal.LogisticRegression(tol=1e-1)),
    "Ridge, 20,000 of MNIST": (read_mnist, linear_model.Ridge, lineal.Ridge),
    "TfidfVectorizer, texts": (read_texts, TfidfVectorizer, lineal.TfidfVectorizer),
}


def child(folder, case, side):
    """What one fit takes above the data, in kB."""
    read, theirs, ours = CASES[case]
    X, y = read(folder)
    model = ours() if side == "ours" else theirs()
    forget_peak()
    before = peak_kb()
    model.fit(X) if y is None else model.fit(X, y)
    print(peak_kb() - before, peak_kb())


def memory(folder):
    for case in CASES:
        found = []
        for side in ("ours", "theirs"):
            done = subprocess.run([sys.executable, __file__, "--data", str(folder), "--child", case, side], capture_output=True, text=True, check=True)
            found.append([int(n) / 1024 for n in done.stdout.split()])
        (mine, mine_all), (peer, peer_all) = found
        print(f"{case:44} above the data: lineal {mine:7.1f} MB, peer {peer:7.1f} MB, {mine / max(peer, 1e-9):5.2f} of it; whole process {mine_all:7.1f} and {peer_all:7.1f} MB", flush=True)


def sparse_rows(n_rows, per_row, n_cols):
    """A CSR matrix of single precision with so many entries in each row, one in each group of columns so that they rise, and two classes that weights tell apart."""
    from scipy.sparse import csr_matrix

    generator, part = np.random.default_rng(0), 50_000
    X = csr_matrix((n_rows, n_cols), dtype=np.float32)
    X.indptr = np.arange(0, n_rows * per_row + 1, per_row, dtype=np.int32)
    X.indices, X.data = np.empty(n_rows * per_row, dtype=np.int32), np.empty(n_rows * per_row, dtype=np.float32)
    width, score = n_cols // per_row, np.empty(n_rows, dtype=np.float32)
    weights = generator.standard_normal(n_cols, dtype=np.float32)
    for a in range(0, n_rows, part):
        own = slice(a * per_row, (a + part) * per_row)
        columns = generator.integers(0, width, (part, per_row), dtype=np.int32) + np.arange(per_row, dtype=np.int32) * width
        X.indices[own], X.data[own] = columns.ravel(), generator.random(part * per_row, dtype=np.float32)
        score[a : a + part] = (weights[columns] * X.data[own].reshape(columns.shape)).sum(axis=1)
    X.has_sorted_indices = X.has_canonical_format = True
    return X, (score > np.median(score)).astype(int)


def no_copy(_):
    """A CSR matrix whose indices and values have 1 GB: how much more a fit takes."""
    n_rows, n_cols = 1_250_000, 10_000
    X, y = sparse_rows(n_rows, 100, n_cols)
    size = (X.indices.nbytes + X.data.nbytes) / 2**20
    for model in (lineal.LinearSVC(tol=0.1, max_iter=3), lineal.LogisticRegression(tol=0.1, max_iter=1)):
        forget_peak()
        before = peak_kb()
        _, took = timed(lambda: model.fit(X, y))
        state = n_rows * 8 / 2**20 + n_cols * 8 / 2**20
        print(f"{type(model).__name__:20} {size:7.1f} MB of CSR: {(peak_kb() - before) / 1024:7.1f} MB more, of which weights and dual state {state:.1f}; {took[0]:.1f} s", flush=True)


def interrupted_fits():
    """Estimators whose fits take seconds, with what they are fitted to."""
    generator = np.random.RandomState(0)
    X, _ = sparse_rows(300_000, 100, 20_000)
    y, numbers = generator.randint(0, 5, X.shape[0]), generator.randn(X.shape[0])
    dense, wide = generator.randn(200_000, 300).astype(np.float32), generator.randn(8000, 3000).astype(np.float32)
    long = dict(C=1000.0, tol=1e-12, max_iter=100_000)
    yield lineal.LogisticRegression(**long), X, y
    yield lineal.LogisticRegression(**long), dense, y[: len(dense)]
    yield lineal.LinearSVC(**long), X, y
    yield lineal.LinearSVC(loss="hinge", **long), X, y
    yield lineal.LinearSVC(**long), dense, y[: len(dense)]
    yield lineal.CrammerSinger(**long), X, y
    yield lineal.OneVsOneClassifier(lineal.LinearSVC(C=1000.0, tol=1e-12)), X, y
    yield lineal.LinearSVR(**long), X, numbers
    yield lineal.Ridge(), wide, numbers[: len(wide)]
    yield lineal.Ridge(alpha=1e-6, tol=1e-14), X, numbers
    yield lineal.SGDClassifier(max_iter=1000, tol=None), X, y
    yield lineal.Ranker(C=1e5, tol=1e-12), dense, generator.randint(0, 3, len(dense)).astype(float)
    words = [[f"w{i}" for i in generator.randint(0, 20_000, 25)] for _ in range(6000)]
    tags = [[f"T{i}" for i in generator.randint(0, 30, 25)] for _ in words]
    yield lineal.crf.CRF(c2=1e-3, max_iterations=10_000), [[{"w": w, "p": w[-2:]} for w in s] for s in words], tags
    yield lineal.Tagger(tol=1e-9), words, tags
    yield lineal.DependencyParser(), [[(w, "N") for w in s] for s in words], [[(head, "x") for head in range(len(s))] for s in words]
    texts = [" ".join(f"w{i}" for i in generator.randint(0, 20_000, 200)) for _ in range(40_000)]
    yield lineal.TextClassifier(), texts, generator.randint(0, 20, len(texts))
    yield lineal.TfidfVectorizer(ngram_range=(1, 2)), texts, None


def interrupt(_):
    """Ctrl-C in the middle of a fit: how long until the exception."""
    for model, X, y in interrupted_fits():
        taken = []
        for wait in (0.3, 0.7, 1.3, 2.1):
            sent, done = [], False

            def send():
                time.sleep(wait)
                sent.append(time.perf_counter())
                os.kill(os.getpid(), signal.SIGINT)

            thread = threading.Thread(target=send)
            thread.start()
            try:
                model.fit(X, y)
                # It ended before it was asked to, and the signal is still to come.
                done = True
                thread.join()
                time.sleep(0.1)
            except KeyboardInterrupt:
                if not done:
                    taken.append(1000 * (time.perf_counter() - sent[0]))
            thread.join()
        told = f"{max(taken):6.0f} ms at most ({', '.join(f'{t:.0f}' for t in taken)})" if taken else "ended before it was interrupted"
        print(f"{type(model).__name__:24} on {type(X).__name__:12} KeyboardInterrupt after {told}", flush=True)


ON_REQUEST = {"memory": memory, "no_copy": no_copy, "interrupt": interrupt}
PARTS = {"newsgroups": newsgroups, "mnist": mnist, "text": text, "one_row": one_row, "sequences": sequences}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("LINEAL_DATA") or Path(__file__).resolve().parents[2] / "shared/data"))
    parser.add_argument("--only", choices=[*PARTS, *ON_REQUEST])
    parser.add_argument("--child", nargs=2, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.child:
        return child(args.data, *args.child)
    if args.only in ON_REQUEST:
        return ON_REQUEST[args.only](args.data)
    for name, part in PARTS.items():
        if args.only in (None, name):
            part(args.data)


if __name__ == "__main__":
    main()
