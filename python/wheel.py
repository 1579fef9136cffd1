#!/usr/bin/env python3
"""The wheel: built, and tested in a fresh virtual environment.

    python3 python/wheel.py build [--out DIR]
    python3 python/wheel.py test [PYTEST ARGUMENTS]

`cargo xtask wheel` and `cargo xtask test` call this. The packages of python/requirements.txt are installed into target/wheel-venv, once for each version of that file; the wheel is installed anew each time.
"""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "acceptance"))

import environment  # noqa: E402


def target():
    return Path(os.environ.get("CARGO_TARGET_DIR") or ROOT / "target")


def call(*command, **how):
    print("$", *command, flush=True)
    subprocess.run([str(part) for part in command], check=True, **how)


def build(python, out):
    """Builds the wheel with the profile and the folder of the program, so that both share what is compiled. Returns its path."""
    for old in out.glob("lineal-*.whl"):
        old.unlink()
    call(python, "-m", "maturin", "build", "--release", "--locked", "--out", out, cwd=ROOT)
    (wheel,) = out.glob("lineal-*.whl")
    return wheel


def main():
    command, *rest = sys.argv[1:] or ["help"]
    if command not in ("build", "test"):
        sys.exit(__doc__)
    python = environment.ensure(target() / "wheel-venv", ROOT / "python/requirements.txt")
    out = Path(rest[1]).resolve() if command == "build" and rest[:1] == ["--out"] else target() / "wheels"
    out.mkdir(parents=True, exist_ok=True)
    wheel = build(python, out)
    print(wheel)
    if command == "test":
        call(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "--no-index", "--force-reinstall", wheel)
        # Away from the sources, so that the wheel is what is imported.
        call(python, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "--rootdir", ROOT / "python/tests", ROOT / "python/tests", *rest, cwd=target())


if __name__ == "__main__":
    main()
