"""Examples in docstrings and pages run, and the types hold."""

import doctest
import importlib
import json
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

import lineal

ROOT = Path(__file__).resolve().parents[2]
PAGES = ["docs/python.md", "docs/cluster.md", "docs/coming-from/sklearn-crfsuite.md"]
MODULES = ["lineal"] + [f"lineal.{module.name}" for module in pkgutil.iter_modules(lineal.__path__) if module.name != "_lineal"]


@pytest.mark.parametrize("name", MODULES)
def test_examples_of_docstrings(name):
    assert doctest.testmod(importlib.import_module(name)).failed == 0


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("page", PAGES)
def test_examples_of_pages(page):
    found = doctest.testfile(str(ROOT / page), module_relative=False)
    assert found.attempted > 0 and found.failed == 0


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("path", sorted((ROOT / "docs/notebooks").glob("*.ipynb")), ids=lambda path: path.stem)
def test_notebooks_run(path, monkeypatch):
    monkeypatch.chdir(path.parent)
    namespace = {}
    for cell in json.loads(path.read_text())["cells"]:
        if cell["cell_type"] == "code":
            exec(compile("".join(cell["source"]), str(path), "exec"), namespace)


def test_what_is_public_is_documented():
    for name in lineal.__all__:
        thing = getattr(lineal, name)
        assert name == "__version__" or thing.__doc__, name
        for method, value in vars(thing).items() if isinstance(thing, type) else ():
            if not method.startswith("_") and callable(value):
                assert value.__doc__, f"{name}.{method}"


def test_the_reference_is_what_the_docstrings_say():
    """``python python/reference.py > docs/python-reference.md`` makes it anew."""
    done = subprocess.run([sys.executable, str(ROOT / "python/reference.py")], capture_output=True, text=True, check=True)
    assert done.stdout == (ROOT / "docs/python-reference.md").read_text()


def test_types():
    pytest.importorskip("mypy")
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--no-incremental", "--ignore-missing-imports", "--package", "lineal"], capture_output=True, text=True, cwd=sys.prefix
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_without_scikit_learn(tmp_path):
    """NumPy is enough: with scikit-learn and SciPy hidden, estimators fit, predict, refuse and pickle."""
    script = tmp_path / "alone.py"
    script.write_text(
        """
import sys
for name in ("sklearn", "scipy", "pandas", "joblib"):
    sys.modules[name] = None
import pickle
import numpy as np
import lineal
X = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 0.5], [0.5, 2.0]] * 5)
y = np.array(["cold", "hot", "hot", "cold"] * 5)
for model in (lineal.LogisticRegression(), lineal.LinearSVC(), lineal.SGDClassifier(random_state=0), lineal.CrammerSinger(), lineal.OneVsRestClassifier()):
    assert model.fit(X, y).score(X, y) == 1.0, model
    assert (pickle.loads(pickle.dumps(model)).predict(X) == y).all()
assert abs(lineal.Ridge(alpha=0.1).fit(X, X[:, 0]).score(X, X[:, 0])) > 0.99
try:
    lineal.LogisticRegression().predict(X)
except lineal._base.NotFittedError:
    pass
else:
    raise SystemExit("not refused")
for bad in (np.full((2, 2), np.nan), np.zeros(3)):
    try:
        lineal.LogisticRegression().fit(bad, y[:2])
    except ValueError:
        continue
    raise SystemExit("not refused")
print(repr(lineal.LogisticRegression(C=2.0)), lineal.LogisticRegression().set_params(C=3.0).get_params()["C"])
"""
    )
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "LogisticRegression(C=2.0) 3.0"
