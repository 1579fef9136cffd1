"""Draws the pictures of the theory pages and takes the screenshots of the gallery.

    python3 docs/pictures/make.py LINEAL                  the drawings: losses.svg, penalties.svg, certificate.svg
    python3 docs/pictures/make.py LINEAL --screenshots    the gallery, too: needs Chromium

LINEAL is the program; its runs use sets that are built in, so that nothing is downloaded.
"""

import json
import math
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
COLOURS = ["#2166c8", "#c75c00", "#14835c", "#7b3fb0", "#b32d45", "#5f6675"]


def number(value):
    return f"{value:.2f}".rstrip("0").rstrip(".")


class Chart:
    """Axes of one panel and what is drawn within."""

    def __init__(self, left, top, width, height, x_range, y_range):
        self.box = (left, top, width, height)
        self.x_range, self.y_range = x_range, y_range
        self.parts = []

    def at(self, x, y):
        left, top, width, height = self.box
        (x0, x1), (y0, y1) = self.x_range, self.y_range
        return left + (x - x0) / (x1 - x0) * width, top + (y1 - y) / (y1 - y0) * height

    def axes(self, title, x_label, x_ticks, y_ticks, x_name=number, y_name=number):
        left, top, width, height = self.box
        self.parts.append(f'<text x="{left}" y="{top - 14}" font-weight="bold">{title}</text>')
        for y in y_ticks:
            _, py = self.at(self.x_range[0], y)
            self.parts.append(f'<path d="M{left} {py:.1f}h{width}" stroke="#e2e4ea"/>')
            self.parts.append(f'<text x="{left - 8}" y="{py + 4:.1f}" text-anchor="end" class="small">{y_name(y)}</text>')
        for x in x_ticks:
            px, _ = self.at(x, self.y_range[0])
            self.parts.append(f'<text x="{px:.1f}" y="{top + height + 18}" text-anchor="middle" class="small">{x_name(x)}</text>')
        self.parts.append(f'<text x="{left + width / 2}" y="{top + height + 38}" text-anchor="middle" class="small">{x_label}</text>')

    def line(self, points, colour, dash="", width=2.2):
        (y0, y1), inside = self.y_range, []
        for x, y in points:
            if y0 - 1e-9 <= y <= y1 + 1e-9:
                px, py = self.at(x, y)
                inside.append(f"{px:.1f},{py:.1f}")
        dash = f' stroke-dasharray="{dash}"' if dash else ""
        self.parts.append(f'<polyline points="{" ".join(inside)}" fill="none" stroke="{colour}" stroke-width="{width}"{dash}/>')

    def upright(self, x, words=""):
        px, py = self.at(x, self.y_range[1])
        height = self.box[3]
        self.parts.append(f'<path d="M{px:.1f} {py:.1f}v{height}" stroke="#9aa0ad" stroke-dasharray="3 3"/>')
        self.parts.append(f'<text x="{px + 5:.1f}" y="{py + 12:.1f}" class="small">{words}</text>')


def legend(entries, left, top, step=150):
    parts = []
    for index, (name, colour, dash) in enumerate(entries):
        x = left + index * step
        dash = f' stroke-dasharray="{dash}"' if dash else ""
        parts.append(f'<path d="M{x} {top}h22" stroke="{colour}" stroke-width="3"{dash}/>')
        parts.append(f'<text x="{x + 28}" y="{top + 4}">{name}</text>')
    return parts


def write(name, width, height, parts, title):
    style = 'text{font:13px sans-serif;fill:#22252e}.small{font-size:11px;fill:#5f6675}'
    body = "\n".join(parts)
    svg = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" aria-label="{title}">\n'
        f"<style>{style}</style>\n<rect width=\"{width}\" height=\"{height}\" fill=\"#fff\"/>\n{body}\n</svg>\n"
    )
    (HERE / name).write_text(svg)
    print(HERE / name)


def curve(f, low, high, steps=240):
    return [(low + (high - low) * i / steps, f(low + (high - low) * i / steps)) for i in range(steps + 1)]


def losses():
    classes = [
        ("logistic", lambda m: math.log1p(math.exp(-m)), ""),
        ("hinge", lambda m: max(0.0, 1 - m), ""),
        ("squared-hinge", lambda m: max(0.0, 1 - m) ** 2, ""),
        ("perceptron", lambda m: max(0.0, -m), ""),
        ("squared", lambda m: (1 - m) ** 2 / 2, ""),
    ]
    chart = Chart(60, 70, 380, 260, (-3, 3), (0, 4))
    chart.axes("Two classes", "margin: score of the right class minus score of the wrong one", range(-3, 4), range(5))
    chart.upright(0, "right from here on")
    for (_, f, dash), colour in zip(classes, COLOURS):
        chart.line(curve(f, -3, 3), colour, dash)
    numbers = [
        ("squared", lambda r: r * r / 2, ""),
        ("huber", lambda r: r * r / 2 if abs(r) <= 1 else abs(r) - 0.5, ""),
        ("epsilon", lambda r: max(0.0, abs(r) - 1.0), ""),
    ]
    other = Chart(540, 70, 380, 260, (-3, 3), (0, 4))
    other.axes("Numbers", "prediction minus truth (delta = 1 and epsilon = 1)", range(-3, 4), range(5))
    for (_, f, dash), colour in zip(numbers, [COLOURS[4], COLOURS[0], COLOURS[2]]):
        other.line(curve(f, -3, 3), colour, dash)
    first = [(name, colour, dash) for (name, _, dash), colour in zip(classes, COLOURS)]
    second = [(name, colour, "") for (name, _, _), colour in zip(numbers, [COLOURS[4], COLOURS[0], COLOURS[2]])]
    parts = chart.parts + other.parts
    for (name, colour, dash), left in zip(first, [60, 150, 224, 353, 468]):
        parts += legend([(name, colour, dash)], left, 24)
    parts += legend(second, 640, 24, 100)
    write("losses.svg", 960, 390, parts, "Losses against the margin, and losses against the error of a number")


def run(lineal, *args, folder):
    done = subprocess.run([lineal, *args], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout


def certificate(lineal, folder):
    run(lineal, "demo", "tickets", "--write", ".", folder=folder)
    points = []
    for passes in range(1, 13):
        told = run(
            lineal, "train", "tickets-train.svm", "-o", "t.lineal", "--solver", "dual", "--tol", "1e-9",
            "--max-passes", str(passes), "--json", "--quiet", folder=folder,
        )
        report = json.loads(told)
        points.append((passes, report["objective"], report["objective"] - report["gap"]))
    chart = Chart(60, 70, 380, 260, (1, 12), (0.1, 0.7))
    chart.axes("Bounds of the optimum after each pass", "passes over the data", range(1, 13), [0.1, 0.3, 0.5, 0.7])
    upper = [(passes, primal) for passes, primal, _ in points]
    lower = [(passes, bound) for passes, _, bound in points]
    ring = [chart.at(*point) for point in upper + lower[::-1]]
    shape = " ".join(f"{x:.1f},{y:.1f}" for x, y in ring)
    chart.parts.insert(0, f'<polygon points="{shape}" fill="#2166c8" opacity="0.12"/>')
    chart.line(upper, COLOURS[0])
    chart.line(lower, COLOURS[1])
    other = Chart(540, 70, 380, 260, (1, 12), (-4, 0.5))
    other.axes("Their distance, as a share of the objective", "passes over the data", range(1, 13), range(-4, 1), y_name=lambda y: f"{100 * 10 ** y:g} %")
    other.line([(1, -3), (12, -3)], COLOURS[5], "4 4", 1.5)
    x, y = other.at(1, -3)
    other.parts.append(f'<text x="{x + 6:.1f}" y="{y + 15:.1f}" class="small">--tol 0.001, the default: stop here</text>')
    other.line([(passes, math.log10((primal - bound) / primal)) for passes, primal, bound in points], COLOURS[2])
    entries = [("objective of the weights so far", COLOURS[0], ""), ("no weights can have less than this", COLOURS[1], "")]
    parts = chart.parts + other.parts + legend(entries, 60, 24, 240) + legend([("duality gap", COLOURS[2], "")], 540, 24)
    write("certificate.svg", 960, 390, parts, "Upper and lower bound of the optimum come together pass by pass")
    for passes, primal, bound in points:
        print(passes, round(primal, 6), round(bound, 6))


def penalties():
    """Ridge and lasso in one dimension: what becomes of a least-squares weight."""
    chart = Chart(70, 70, 380, 260, (-3, 3), (-3, 3))
    chart.axes("What a penalty does to one weight", "weight without a penalty", range(-3, 4), range(-3, 4))
    chart.line(curve(lambda w: w, -3, 3), COLOURS[5], "4 4")
    chart.line(curve(lambda w: w / 2, -3, 3), COLOURS[0])
    chart.line(curve(lambda w: math.copysign(max(0.0, abs(w) - 1), w), -3, 3), COLOURS[1])
    entries = [("none", COLOURS[5], "4 4"), ("l2 = 1: smaller", COLOURS[0], ""), ("l1 = 1: zero if small", COLOURS[1], "")]
    write("penalties.svg", 520, 390, chart.parts + legend(entries, 70, 24, 135), "An l2 penalty shrinks a weight, an l1 penalty makes small ones zero")


SHOTS = [
    # name, window, commands; the last argument is the page
    ("explain", (900, 756), ["train letters-train.csv --label desk --ignore subject -o l.lineal", "explain l.lineal letters-test.csv --rows 2,5 --top 6 --html page.html"]),
    ("eval", (1200, 1560), ["train letters-train.csv --label desk --loss logistic -o l.lineal", "eval l.lineal letters-test.csv --report page.html"]),
    ("train", (1200, 1400), ["train houses-train.csv --label price --task regress --standardize --loss huber --validation 0.25 -o h.lineal --report page.html"]),
    ("compare", (1200, 1270), ["compare letters-train.csv --label desk --losses hinge,squared-hinge,logistic --report page.html"]),
    ("tags", (1200, 1500), ["train tags-train.conll --task tag --scheme bio --features word,shape,suffix:2,window:2 -o t.lineal", "eval t.lineal tags-test.conll --report page.html"]),
]


def screenshots(lineal, folder):
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if not chromium:
        sys.exit("the screenshots need Chromium (Debian: apt install chromium)")
    for name in ["letters", "houses", "tags"]:
        run(lineal, "demo", name, "--write", ".", folder=folder)
    for name, (width, height), commands in SHOTS:
        for command in commands:
            run(lineal, *command.split(), folder=folder)
        picture = HERE / f"{name}.png"
        subprocess.run(
            [chromium, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", f"--window-size={width},{height}",
             f"--screenshot={picture}", (Path(folder) / "page.html").as_uri()],
            check=True, capture_output=True,
        )
        print(picture)


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    lineal = str(Path(sys.argv[1]).resolve())
    losses()
    penalties()
    with tempfile.TemporaryDirectory() as folder:
        certificate(lineal, folder)
        if "--screenshots" in sys.argv:
            screenshots(lineal, folder)


main()
