"""What a run shows while it goes on: a bar on a terminal, lines in a pipe, and no more than that."""

import os
import pty
import re
import subprocess
from pathlib import Path


def made(folder, n):
    """Rows that no hyperplane separates, so that a bounded number of passes is used up."""
    path = Path(folder) / f"progress-{n}.svm"
    with open(path, "w") as out:
        for i in range(n):
            x = [(i * (j + 3) * 2654435761 >> 7) % 1000 / 500 - 1 for j in range(8)]
            out.write(f"{'ab'[(i * 7919 >> 3) % 2]} " + " ".join(f"{j + 1}:{v}" for j, v in enumerate(x)) + "\n")
    return path


def on_terminal(command):
    """All that a command writes to a terminal of 100 columns by its standard error, and its exit code."""
    ours, its = pty.openpty()
    os.set_blocking(ours, True)
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=its, env={**os.environ, "TERM": "xterm", "COLUMNS": "100"})
    os.close(its)
    written = b""
    while True:
        try:
            piece = os.read(ours, 65536)
        except OSError:  # the other end is closed
            break
        if not piece:
            break
        written += piece
    os.close(ours)
    return written.decode(), child.wait()


def bars(checks, program, sets):
    data, model = made(program.folder.name, 60_000), Path(program.folder.name) / "bar.lineal"
    train = [program.path, "train", str(data), "-o", str(model), "--solver", "sgd", "--max-passes", "40", "--threads", "1"]
    written, code = on_terminal(train)
    shown = re.findall(r"(\d+)/40 passes, (\S+) left", written)
    checks.that(code == 0, "a run on a terminal", written[-300:])
    checks.that(len({done for done, _ in shown}) >= 3, "a bar fills, pass by pass", repr(shown[:20]))
    checks.that(any(re.fullmatch(r"\d+m?s", left) for _, left in shown), "with an estimate of the time that is left", repr(shown[:20]))
    checks.that(all(int(done) <= 40 for done, _ in shown), "and never above its end")
    checks.that("\x1b[2K" in written, "and it is wiped at the end", repr(written[-200:]))
    checks.that("in 40 passes" in written, "and the passes told in the end are those of the bar", repr(written[-400:]))
    written, code = on_terminal([*train, "--quiet"])
    checks.that((written, code) == ("", 0), "nothing with --quiet", repr(written))


def pipes(checks, program, sets):
    data, model = made(program.folder.name, 200), Path(program.folder.name) / "pipe.lineal"
    done = program.run("train", data, "-o", model)
    passes = [line for line in done.stderr.splitlines() if line.startswith("pass ")]
    checks.that(done.returncode == 0 and not passes, "a short run in a pipe tells no passes", done.stderr)
    checks.that("\x1b" not in done.stderr + done.stdout, "and moves no cursor", repr(done.stderr))
    done = program.run("train", data, "-o", model, "--quiet")
    checks.that((done.returncode, done.stderr, done.stdout) == (0, "", ""), "nothing with --quiet", done.stderr + done.stdout)


TESTS = {"progress on a terminal": bars, "progress in a pipe": pipes}
