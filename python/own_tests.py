#!/usr/bin/env python3
"""scikit-learn's own test files with the import changed: which of their tests pass, and which do not.

    python python/own_tests.py [--update]

Takes the test files of LogisticRegression, LinearSVC, Ridge and Perceptron from the scikit-learn package that is installed, puts Lineal's estimator into their namespace in place of scikit-learn's, and compares the tests that
fail with python/own_tests.txt, where each has its reason. `--update` rewrites the names there and keeps the reasons.
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

import sklearn

HERE = Path(__file__).resolve().parent
LIST = HERE / "own_tests.txt"
FILES = [
    ("linear_model/tests/test_logistic.py", ["LogisticRegression"], "not LogisticRegressionCV and not logistic_cv and not _cv_"),
    ("svm/tests/test_svm.py", ["svm.LinearSVC"], "linearsvc or linear_svc or LinearSVC or linear_svm or linear"),
    ("linear_model/tests/test_ridge.py", ["Ridge"], "not Classifier and not classifier and not cv and not CV and not gcv and not loo"),
    ("linear_model/tests/test_perceptron.py", ["Perceptron"], ""),
]


def changed(text, names):
    """The file with the estimators replaced after its imports."""
    lines = ["import lineal as _lineal_package"]
    for name in names:
        plain = name.rpartition(".")[2]
        if "." in name:
            lines += ["import types as _types", "svm = _types.SimpleNamespace(**{**vars(svm), 'LinearSVC': _lineal_package.LinearSVC})"]
        lines.append(f"{plain} = _lineal_package.{plain}")
    # Before the first definition, when all imports have been made.
    at = re.search(r"^(?:@|def |class )", text, flags=re.M).start()
    return text[:at] + "\n".join(lines) + "\n\n\n" + text[at:]


def failures(folder):
    found, passed = {}, 0
    for place, names, only in FILES:
        source = Path(sklearn.__file__).parent / place
        copy = folder / f"own_{source.name}"
        copy.write_text(changed(source.read_text(), names))
        command = [sys.executable, "-m", "pytest", "-q", "-rfE", "--tb=line", "-p", "no:cacheprovider", "-p", "sklearn.conftest", "-W", "ignore", str(copy)]
        done = subprocess.run([*command, *(["-k", only] if only else [])], capture_output=True, text=True, cwd=folder)
        for line in done.stdout.splitlines():
            if line.startswith(("FAILED", "ERROR")):
                name = re.sub(r"\[.*", "", line.split("::", 1)[1].split(" - ")[0])
                found.setdefault(f"{source.name}::{name}", 0)
                found[f"{source.name}::{name}"] += 1
        count = re.search(r"(\d+) passed", done.stdout)
        passed += int(count[1]) if count else 0
    return found, passed


def main():
    with tempfile.TemporaryDirectory() as folder:
        found, passed = failures(Path(folder))
    known = dict(line.split("  ", 1) for line in LIST.read_text().splitlines() if line and not line.startswith("#")) if LIST.exists() else {}
    if "--update" in sys.argv:
        head = [line for line in LIST.read_text().splitlines() if line.startswith("#")] if LIST.exists() else []
        LIST.write_text("\n".join([*head, *(f"{name}  {known.get(name, '?')}" for name in sorted(found))]) + "\n")
    print(f"{passed} passed, {sum(found.values())} failed in {len(found)} tests")
    new, gone = sorted(set(found) - set(known)), sorted(set(known) - set(found))
    for name in new:
        print("fails and is not in the list:", name)
    for name in gone:
        print("is in the list and passes:", name)
    if "--update" not in sys.argv and new:
        sys.exit(1)


if __name__ == "__main__":
    main()
