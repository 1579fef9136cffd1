"""Models that `convert` writes run in LIBLINEAR and ONNX Runtime with the same answers, and theirs run here."""

import json
from pathlib import Path

import numpy as np
import onnxruntime
import scipy.sparse as sp
from liblinear import liblinearutil
from skl2onnx import to_onnx
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

SETS = ("a9a", "letter", "usps")
FLAGS = (["--loss", "logistic"], ["--loss", "hinge"], ["--loss", "squared-hinge", "--strategy", "ova"], ["--loss", "logistic", "--strategy", "ova", "--bias", "none"])


def answers(program, model, data, *flags):
    """Labels, and probabilities or scores by class, of a model of Lineal's."""
    out = program.output("predict", model, data.path, "--output", "jsonl", "--quiet", *flags)
    return [json.loads(line) for line in out.splitlines()]


def differ(ours, theirs, margins):
    """How many answers differ where the two best scores are not as good as equal."""
    sure = margins > 1e-4
    return int(sum(a != b for a, b, s in zip(ours, theirs, sure) if s))


def margins_of(rows):
    best = [sorted(row["scores"].values())[-2:] for row in rows]
    return np.array([b - a for a, b in best])


def to_liblinear(checks, program, sets):
    for name in SETS:
        data = sets[name].test
        for flags in FLAGS:
            model = program.train(sets[name], "-C", "1", *flags)
            path = Path(program.folder.name) / "theirs.model"
            told = program.run("convert", model.path, path)
            checks.that(told.returncode == 0, f"{model.command}: written", told.stderr)
            theirs = liblinearutil.load_model(str(path))
            has_proba = theirs.is_probability_model() and model.report["loss"] == "logistic"
            rows = answers(program, model.path, data, "--scores", *(["--proba"] if has_proba else []))
            x = sp.csr_matrix(data.x)
            labels, _, values = liblinearutil.predict([], x, theirs, "-q -b 1" if has_proba else "-q")
            n = differ([float(row["label"]) for row in rows], labels, margins_of(rows))
            checks.that(n == 0, f"{model.command}: LIBLINEAR's answers", f"{n} of {len(rows)} differ")
            if has_proba:
                order = [format(label, "g") for label in theirs.get_labels()]
                ours = np.array([[row["proba"][c] for c in order] for row in rows])
                far = np.abs(ours - np.array(values)).max()
                # Weights of single precision are summed in it here, and in double precision there.
                checks.that(far < 1e-6, f"{model.command}: LIBLINEAR's probabilities", f"{far:.1e}")


def from_liblinear(checks, program, sets):
    for name in SETS:
        problem = sets[name]
        labels = problem.labels[problem.y]
        for options in ("-s 0 -B 1", "-s 3 -B -1", "-s 4 -B 2", "-s 5 -B 1"):
            theirs = liblinearutil.train(labels, sp.csr_matrix(problem.x), f"{options} -q")
            path, model = (Path(program.folder.name) / file for file in ("theirs.model", "ours.lineal"))
            liblinearutil.save_model(str(path), theirs)
            told = program.run("convert", path, model)
            checks.that(told.returncode == 0, f"{name} {options}: read", told.stderr)
            rows = answers(program, model, problem.test, "--scores")
            expected, _, _ = liblinearutil.predict([], sp.csr_matrix(problem.test.x), theirs, "-q")
            n = differ([float(row["label"]) for row in rows], expected, margins_of(rows))
            checks.that(n == 0, f"{name} {options}: LIBLINEAR's answers", f"{n} of {len(rows)} differ")


def run_onnx(path, x):
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(None, {session.get_inputs()[0].name: np.ascontiguousarray(x.toarray(), dtype=np.float32)})))


def to_onnx_runtime(checks, program, sets):
    path = Path(program.folder.name) / "m.onnx"
    for name in SETS:
        data = sets[name].test
        for flags in (*FLAGS, ["--loss", "hinge", "--calibrate", "temperature"]):
            model = program.train(sets[name], "-C", "1", *flags)
            told = program.run("convert", model.path, path)
            checks.that(told.returncode == 0, f"{model.command}: written", told.stderr)
            theirs = run_onnx(path, data.x)
            shown = "probabilities" if "probabilities" in theirs else "scores"
            rows = answers(program, model.path, data, "--scores", *(["--proba"] if shown == "probabilities" else []))
            n = differ([row["label"] for row in rows], theirs["label"], margins_of(rows))
            checks.that(n == 0, f"{model.command}: ONNX Runtime's answers", f"{n} of {len(rows)} differ")
            has_proba = "logistic" in flags or "--calibrate" in flags
            checks.that(has_proba == (shown == "probabilities"), f"{model.command}: probabilities where there are some")
            names = program.classes(model)
            key = "proba" if shown == "probabilities" else "scores"
            ours = np.array([[row[key][c] for c in names] for row in rows])
            far = np.abs(ours - theirs[shown]).max() / max(1.0, np.abs(ours).max())
            checks.that(far < 1e-5, f"{model.command}: {shown}", f"{far:.1e}")


def labels_and_numbers(checks, program, sets):
    rng = np.random.default_rng(3)
    x = np.round(rng.normal(size=(300, 6)), 3)
    folder = Path(program.folder.name)
    data, model, path = folder / "l.svm", folder / "l.lineal", folder / "l.onnx"
    scores = x @ rng.normal(size=(6, 4)) - 0.5
    for task in ("multilabel", "regress"):
        with open(data, "w") as out:
            for row, s in zip(x, scores):
                label = ",".join(str(l) for l in np.flatnonzero(s > 0)) if task == "multilabel" else f"{s[0]:.3f}"
                out.write(label + " " + " ".join(f"{j + 1}:{v}" for j, v in enumerate(row)) + "\n")
        program.output("train", data, "--task", task, "-o", model, "--quiet")
        program.output("convert", model, path, "--quiet")
        theirs = run_onnx(path, sp.csr_matrix(x))
        lines = program.output("predict", model, data, "--output", "jsonl", "--quiet").splitlines()
        if task == "regress":
            ours = np.array([json.loads(line)["value"] if "value" in json.loads(line) else float(json.loads(line)["label"]) for line in lines])
            far = np.abs(ours - theirs["value"].ravel()).max()
            checks.that(far < 1e-4, "numbers", f"{far:.1e}")
        else:
            names = json.loads(program.output("inspect", model, "--json"))["class_names"]
            expected = [[names[l] for l in np.flatnonzero(row)] for row in theirs["labels"]]
            ours = [json.loads(line)["labels"] for line in lines]
            n = sum(sorted(a) != sorted(b) for a, b in zip(ours, expected))
            checks.that(n == 0, "labels", f"{n} of {len(ours)} differ")


def from_scikit_learn(checks, program, sets):
    """What skl2onnx writes of scikit-learn's models is read, a scaler before it too."""
    for name in ("a9a", "letter"):
        problem = sets[name]
        labels = problem.labels[problem.y].astype(int)
        x = problem.x.toarray().astype(np.float32)
        fits = {
            "softmax": LogisticRegression(max_iter=2000),
            "scaled": make_pipeline(StandardScaler(), LogisticRegression(max_iter=2000)),
        }
        for what, fit in fits.items():
            fit.fit(x, labels)
            path, model = (Path(program.folder.name) / file for file in ("s.onnx", "s.lineal"))
            path.write_bytes(to_onnx(fit, x[:1], options={"zipmap": False}).SerializeToString())
            told = program.run("convert", path, model)
            checks.that(told.returncode == 0, f"{name} {what}: read", told.stderr)
            rows = answers(program, model, problem.test, "--scores", "--proba")
            test = problem.test.x.toarray().astype(np.float32)
            expected = fit.predict(test)
            n = differ([int(float(row["label"])) for row in rows], expected, margins_of(rows))
            checks.that(n == 0, f"{name} {what}: scikit-learn's answers", f"{n} of {len(rows)} differ")
            ours = np.array([[row["proba"][str(c)] for c in fit.classes_] for row in rows])
            far = np.abs(ours - fit.predict_proba(test)).max()
            checks.that(far < 1e-4, f"{name} {what}: probabilities", f"{far:.1e}")


TESTS = {
    "models for LIBLINEAR": to_liblinear,
    "models of LIBLINEAR": from_liblinear,
    "models for ONNX Runtime": to_onnx_runtime,
    "labels and numbers for ONNX Runtime": labels_and_numbers,
    "models of scikit-learn by ONNX": from_scikit_learn,
}
