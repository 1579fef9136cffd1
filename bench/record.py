"""The tables, on the screen and in bench/record."""

import datetime
import importlib.metadata
import json
import os
import platform
import subprocess
import sys
from pathlib import Path

from sets import REPEATS

ROOT = Path(__file__).resolve().parent.parent
PEERS = ("liblinear-official", "scikit-learn", "scipy", "numpy")


def write(folder, args, results, bench):
    circumstances = about(args, bench)
    text = "\n".join([*head(circumstances), *training(results["training"]), *reading(results["reading"]), *prediction(results["prediction"])])
    print("\n" + text)
    if args.quick:
        print("\n--quick: nothing recorded")
        return
    folder.mkdir(exist_ok=True)
    stem = folder / f"{circumstances['date']}-{args.name}"
    stem.with_suffix(".md").write_text(text + "\n")
    stem.with_suffix(".json").write_text(json.dumps({"about": circumstances, **results}, indent=1, ensure_ascii=False) + "\n")
    print(f"\nwrote bench/record/{stem.name}.md and .json")


def about(args, bench):
    return {
        "date": datetime.date.today().isoformat(),
        "name": args.name,
        "cpu": cpu(),
        "cores": os.cpu_count(),
        "load_at_end": round(os.getloadavg()[0], 2),
        "system": f"{platform.system()} {platform.release()}",
        "lineal": output([str(bench.lineal), "--version"]),
        # A program that was given may be of any commit.
        "commit": commit() if args.built_here else "unknown (the program was given with --lineal)",
        "python": platform.python_version(),
        "peers": {name: importlib.metadata.version(name) for name in PEERS},
        "command": "python3 bench/run.py" + "".join(f" {a}" for a in shown(sys.argv[1:])),
        "repeat": args.repeat,
    }


def commit():
    return output(["git", "-C", str(ROOT), "describe", "--always", "--dirty", "--abbrev=12"]) or "none yet"


def shown(arguments):
    """Without paths of this machine."""
    return [Path(a).name if a.startswith("/") else a for a in arguments]


def cpu():
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def output(command):
    done = subprocess.run(command, capture_output=True, text=True)
    return done.stdout.strip() if done.returncode == 0 else ""


def head(about):
    peers = ", ".join(f"{name} {version}" for name, version in about["peers"].items())
    return [
        f"# {about['name']}, {about['date']}",
        "",
        f"Machine: {about['cpu']}, {about['cores']} cores, {about['system']}; load average at the end {about['load_at_end']} "
        "(above 1 the machine had other work, and times are uncertain).",
        "",
        f"Command: `{about['command']}`, {about['lineal']}, commit {about['commit']}. Peers: {peers}; Python {about['python']}.",
        "",
        f"Caveats: one thread on both sides; CPU seconds, least of {about['repeat']}; one run after the other, each in its own process. "
        "See bench/README.md for what is counted.",
        "",
    ]


def training(rows):
    if not rows:
        return []
    table = [
        ["set", "objective", "peer", "peer CPU s", "Lineal", "CPU s", "ratio", "peer wall s", "wall s", "peer objective", "Lineal's", "peer accuracy", "Lineal's", "peer MB", "MB"]
    ]
    for row in rows:
        theirs, ours = row["peer"], row["lineal"]
        start = [row["data"], f"{row['case']}, {row['bias']} bias", theirs["name"], f"{theirs['train_cpu']:.3f}"]
        if ours is None:
            table.append([*start, "not reached", "", "", f"{theirs['train_wall']:.3f}", "", f"{theirs['objective']:.8f}", "", "", "", "", ""])
            continue
        ratio = theirs["train_cpu"] / max(ours["train_cpu"], 1e-6)
        table.append([
            *start, f"{ours['solver']} --tol {ours['tol']}", f"{ours['train_cpu']:.3f}", f"**{ratio:.1f}**",
            f"{theirs['train_wall']:.3f}", f"{ours['train_wall']:.3f}",
            f"{theirs['objective']:.8f}", f"{ours['objective']:.8f}", f"{theirs['accuracy']:.4f}", f"{ours['accuracy']:.4f}",
            f"{theirs['rss_mb']:.0f}", f"{ours['rss_mb']:.0f}",
        ])
    return ["## Training to the peer's objective", "", *markdown(table), "", *against_best(rows)]


def against_best(rows):
    """For each case the fastest peer, and what it takes Lineal to match that one."""
    table = [["set", "objective", "fastest peer", "peer CPU s", "Lineal CPU s", "ratio"]]
    cases = dict.fromkeys((row["data"], row["case"], row["bias"]) for row in rows)
    for case in cases:
        of_case = [row for row in rows if (row["data"], row["case"], row["bias"]) == case]
        row = min(of_case, key=lambda row: row["peer"]["train_cpu"])
        theirs, ours = row["peer"], row["lineal"]
        ours_cpu = "not reached" if ours is None else f"{ours['train_cpu']:.3f}"
        ratio = "" if ours is None else f"**{theirs['train_cpu'] / max(ours['train_cpu'], 1e-6):.1f}**"
        table.append([case[0], f"{case[1]}, {case[2]} bias", theirs["name"], f"{theirs['train_cpu']:.3f}", ours_cpu, ratio])
    return ["## Against the fastest peer", "", *markdown(table), ""]


def reading(rows):
    if not rows:
        return []
    table = [["file", "MB", "scikit-learn CPU s", "Lineal wall s", "ratio", "Lineal MB/s"]]
    for row in rows:
        theirs, ours, size = row["scikit-learn"]["read_cpu"], row["lineal"]["read_wall"], row["bytes"] / 1e6
        table.append([row["data"], f"{size:.1f}", f"{theirs:.3f}", f"{ours:.4f}", f"**{theirs / ours:.1f}**", f"{size / ours:.0f}"])
    return [f"## Reading LIBSVM files (each set {REPEATS} times over)", "", *markdown(table), ""]


def prediction(rows):
    if not rows:
        return []
    table = [["set", "peer", "peer rows/s, file to labels", "Lineal rows/s, file to labels", "ratio", "peer rows/s in memory"]]
    for row in rows:
        theirs, n = row["peer"], row["peer"]["test_rows"]
        whole = n / (theirs["test_read_cpu"] + theirs["predict_cpu"])
        ours = n / row["lineal"]["cpu"]
        table.append([row["data"], theirs["name"], f"{whole:,.0f}", f"{ours:,.0f}", f"**{ours / whole:.1f}**", f"{n / theirs['predict_cpu']:,.0f}"])
    return ["## Prediction", "", *markdown(table), ""]


def markdown(table):
    lines = ["| " + " | ".join(row) + " |" for row in table]
    return [lines[0], "|" + "---|" * len(table[0]), *lines[1:]]
