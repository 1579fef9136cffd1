"""Wapiti as a peer: the program is compiled from the source that the PyPI package libwapiti carries."""

import os
import re
import subprocess
import sys
import tarfile
import tempfile
import time
from pathlib import Path

PACKAGE = "libwapiti==0.2.1"


def program(folder):
    """The path of the program, or None where its source cannot be had or compiled. The package's own module does not load: it lacks a file."""
    path = folder / "wapiti"
    if path.exists():
        return path
    with tempfile.TemporaryDirectory() as temp:
        download = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", ":all:", "--dest", temp, PACKAGE]
        if subprocess.run(download).returncode != 0:
            return None
        archive = next(Path(temp).glob("*.tar.gz"))
        with tarfile.open(archive) as tar:
            tar.extractall(temp, filter="data")
        sources = sorted(Path(temp).glob("*/cwapiti/src/*.c"))
        build = ["cc", "-std=c99", "-O3", "-DNDEBUG", "-o", path, *sources, "-lm", "-lpthread"]
        return path if subprocess.run(build).returncode == 0 else None


def measured(command):
    """Wall and CPU seconds, memory, and the last objective that Wapiti tells."""
    start = time.perf_counter()
    process = subprocess.Popen([str(part) for part in command], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    told = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise RuntimeError(f"{command[0]} failed: {told[-500:]}")
    lines = re.findall(r"\[\s*(\d+)\].*?obj=\s*([-\d.eE+]+)", told)
    iterations, objective = lines[-1] if lines else (0, "nan")
    return {"wall": time.perf_counter() - start, "cpu": usage.ru_utime + usage.ru_stime, "mb": usage.ru_maxrss / 1024,
            "iterations": int(iterations), "objective": float(objective)}
