#!/usr/bin/env python3
"""The reference of the Python package, from its docstrings.

    python python/reference.py > docs/python-reference.md

Run it with an interpreter that has the package (target/wheel-venv has, after `cargo xtask test`). A test compares the page with what this prints.
"""

import inspect
import re
import sys
import textwrap
from pathlib import Path

# The package that is installed, not its sources beside this file.
sys.path[:] = [place for place in sys.path if Path(place).resolve() != Path(__file__).resolve().parent]

import lineal  # noqa: E402
import lineal.crf  # noqa: E402
import lineal.dask  # noqa: E402
import lineal.spark  # noqa: E402
import lineal.tune  # noqa: E402

HEAD = """# The Python package: reference

Every public class and function, from their docstrings (`python python/reference.py`). [Use Lineal from Python](python.md) is where to begin.
"""


def prose(text):
    """A docstring as Markdown: examples in fences, names in single backquotes."""
    out, example = [], []

    def flush():
        if example:
            out.extend(["```python", *example, "", "```"])
            example.clear()

    for line in (text or "").split("\n"):
        if line.startswith((">>>", "...")) or (example and line.strip()):
            example.append(line)
            continue
        flush()
        out.append(line.replace("``", "`"))
    flush()
    return "\n".join(out).strip()


def signature(thing):
    """What it is called with, without annotations."""
    params = [p.replace(annotation=p.empty) for p in inspect.signature(thing).parameters.values() if p.name != "self"]
    shown = str(inspect.Signature(params))
    return re.sub(r"<[^>]*>", "…", shown)


def of_class(name, kind):
    lines = [f"### `{name}{signature(kind.__init__)}`", "", prose(inspect.getdoc(kind))]
    methods = []
    for method in sorted({m for base in kind.__mro__ for m in vars(base)}):
        value = inspect.getattr_static(kind, method)
        owner = next(base for base in kind.__mro__ if method in vars(base))
        if method.startswith("_") or not owner.__module__.startswith("lineal"):
            continue
        if isinstance(value, property):
            methods.append((method, value.__doc__))
        elif isinstance(value, (staticmethod, classmethod)) or inspect.isfunction(value):
            methods.append((f"{method}{signature(getattr(kind, method))}", value.__doc__))
    if methods:
        lines += ["", "| | |", "|---|---|"]
        lines += [f"| `{name.replace('|', chr(92) + '|')}` | {' '.join(prose(textwrap.dedent(doc or '')).split()).replace('|', chr(92) + '|')} |" for name, doc in methods]
    return lines


def page():
    lines = [HEAD]
    parts = [
        ("lineal", lineal, [name for name in lineal.__all__ if not name.startswith("__") and not inspect.ismodule(getattr(lineal, name))]),
        ("lineal.crf", lineal.crf, ["CRF", "Trainer", "Tagger"]),
        ("lineal.tune", lineal.tune, ["search", "Search"]),
        ("lineal.dask", lineal.dask, lineal.dask.__all__),
        ("lineal.spark", lineal.spark, lineal.spark.__all__),
    ]
    for title, module, names in parts:
        lines += [f"## {title}", ""]
        if module is not lineal:
            lines += [prose(inspect.getdoc(module)), ""]
        for name in names:
            thing = getattr(module, name)
            if inspect.isclass(thing):
                lines += of_class(name, thing)
            else:
                lines += [f"### `{name}{signature(thing)}`", "", prose(inspect.getdoc(thing))]
            lines.append("")
    return "\n".join(lines).rstrip() + "\n"


if __name__ == "__main__":
    print(page(), end="")
