"""The pages of `--report` in Chromium: what they show, that tables sort and thresholds move, that no word is broken and nothing sticks out, in light and dark."""

import json
import os
import random
from pathlib import Path

from browser import Browser, axe

# Parts of words that stand on different lines: a tile whose text is higher than one line of it.
BROKEN = """
return [...document.querySelectorAll('.fact b, .fact span, .readout b, .readout span')].filter(function (e) {
  var r = document.createRange(); r.selectNodeContents(e);
  return new Set([...r.getClientRects()].map(function (b) { return Math.round(b.top); })).size > 1;
}).map(function (e) { return e.textContent; });
"""
# Elements that reach over the right edge of the page and cannot be scrolled to.
OUTSIDE = """
return [...document.querySelectorAll('main *')].filter(function (e) {
  return e.getBoundingClientRect().right > document.documentElement.clientWidth + 1 && !e.closest('.scroll') && !e.closest('svg');
}).map(function (e) { return e.tagName + '.' + e.className + ': ' + e.textContent.slice(0, 40); });
"""


def table(path, n, kind, seed):
    """Rows with a text that decides, two numbers, and some wrong labels."""
    draw = random.Random(seed)
    words = {"spam": ["offer", "winner", "cheap", "pills"], "ham": ["meeting", "lunch", "report", "thanks"], "news": ["election", "match", "storm", "market"]}
    classes = ["ham", "spam"] if kind == "two" else ["ham", "spam", "news"]
    with open(path, "w") as out:
        out.write("text,length,target\n")
        for _ in range(n):
            y = draw.choice(classes)
            text = " ".join(draw.choices(words[y] + ["the", "a", "of", "please"], k=8))
            length = draw.gauss(50 if y == "ham" else 30, 15)
            if kind == "number":
                y = f"{3 * length + 20 * text.count('offer') + draw.gauss(0, 20):.2f}"
            elif draw.random() < 0.12:
                y = draw.choice(classes)
            out.write(f'"{text}",{length:.1f},{y}\n')


def pages(program):
    """One page of each kind, by name."""
    folder = Path(program.folder.name)
    made = {}
    for kind in ("two", "three", "number"):
        for part, n, seed in (("train", 400, 1), ("test", 200, 2)):
            table(folder / f"{kind}-{part}.csv", n, kind, seed)
        model, page = folder / f"{kind}.lineal", folder / f"{kind}.html"
        # Two classes with probabilities, three with scores.
        loss = ["--loss", "logistic"] if kind == "two" else []
        flags = ["--label", "target", *loss, "--validation", 0.2, "--quiet", "--report", folder / f"{kind}-training.html"]
        program.output("train", folder / f"{kind}-train.csv", "-o", model, *flags)
        program.output("eval", model, folder / f"{kind}-test.csv", "--report", page, "--quiet")
        made[kind], made[f"{kind}-training"] = page, folder / f"{kind}-training.html"
    program.output("demo", "tags", "--write", folder)
    train, test = folder / "tags-train.conll", folder / "tags-test.conll"
    program.output("train", train, "--task", "tag", "-o", folder / "tags.lineal", "--features", "suffix:1", "--quiet")
    program.output("eval", folder / "tags.lineal", test, "--report", folder / "tags.html", "--quiet")
    made["tags"] = folder / "tags.html"
    return made


def every_task(program):
    """The pages of `eval`, `train` and `compare` for every task, by name."""
    import test_serve

    folder = Path(program.folder.name)
    made = {}
    for path in test_serve.models(program, reports=True):
        file = test_serve.LABELLED[path.stem][0] or "images.tsv"
        made[f"{path.stem}-train"] = folder / f"{path.stem}-train.html"
        made[f"{path.stem}-eval"] = folder / f"{path.stem}-eval.html"
        program.output("eval", path, folder / file, "--report", made[f"{path.stem}-eval"], "--quiet")
    for name, flags in {"three.csv": ["--label", "target"], "chunks.conll": ["--task", "tag"]}.items():
        made[f"{name}-compare"] = folder / f"{name}-compare.html"
        program.output("compare", folder / name, *flags, "--max-passes", 20, "--report", made[f"{name}-compare"], "--quiet")
    return made


def look(checks, program, _):
    """Every task, narrow and wide, light and dark; what axe-core finds; nothing from elsewhere; the look of the page of `serve`."""
    import test_serve

    why = Browser.find()
    if why:
        checks.not_run(f"pages of every task in a browser: {why}")
        return
    script = axe()
    made = every_task(program)
    pictures = os.environ.get("LINEAL_PICTURES")
    style = (Path(__file__).resolve().parent.parent / "crates/cli/src/html/style.css").read_text()
    for page in made.values():
        text = page.read_text()
        checks.that(style in text, f"{page.name}: the look is that of the page of serve")
        checks.that("http://" not in text.replace("http://www.w3.org", "") and "https://" not in text, f"{page.name}: names no other address")
    for dark in (False, True):
        with Browser(dark=dark) as browser:
            for name, page in made.items():
                for width in (400, 1200):
                    browser.resize(width, 900)
                    browser.open(page)
                    where = f"{name} at {width} px, {'dark' if dark else 'light'}"
                    outside = browser.js(OUTSIDE)
                    checks.that(outside == [], f"{where}: nothing sticks out", str(outside[:3]))
                    browser.js(script + "\nreturn 1;")
                    faults = browser.js(test_serve.FAULTS)
                    checks.that(faults == [], f"{where}: no serious fault", str(faults))
                    errors = browser.errors()
                    checks.that(errors == [], f"{where}: no error", str(errors[:3]))
                    if pictures:
                        browser.screenshot(f"{pictures}/{name}-{width}-{'dark' if dark else 'light'}.png")


def reports(checks, program, _):
    """Every page, at the widths of a phone, a small and a large screen."""
    why = Browser.find()
    if why:
        checks.not_run(f"pages in a browser: {why}")
        return
    made = pages(program)
    pictures = os.environ.get("LINEAL_PICTURES")
    for dark in (False, True):
        with Browser(dark=dark) as browser:
            for name, page in made.items():
                for width in (400, 1200, 1600):
                    browser.resize(width, 900)
                    browser.open(page)
                    where = f"{name} at {width} px, {'dark' if dark else 'light'}"
                    checks.that(browser.errors() == [], f"{where}: no error")
                    broken = browser.js(BROKEN)
                    checks.that(broken == [], f"{where}: no word of a tile is broken", str(broken))
                    outside = browser.js(OUTSIDE)
                    checks.that(outside == [], f"{where}: nothing sticks out", str(outside[:3]))
                    back = browser.js("return getComputedStyle(document.body).backgroundColor")
                    channels = [int(c) for c in back[back.index("(") + 1 : -1].split(",")[:3]]
                    checks.that((sum(channels) < 200) == dark, f"{where}: the background", back)
                    if pictures:
                        browser.screenshot(f"{pictures}/{name}-{width}-{'dark' if dark else 'light'}.png")
            if not dark:
                interact(checks, browser, made)


def interact(checks, browser, made):
    browser.resize(1200, 900)
    browser.open(made["two"])
    # The curve goes through the point of the threshold, and its numbers are those of the counts.
    data = json.loads(browser.js("return document.getElementById('curves-data').textContent"))["classes"][0]
    last = len(data["t"]) - 1
    for at in (0, last // 2, last):
        browser.js("var r = document.querySelector('#curves input'); r.value = arguments[0]; r.dispatchEvent(new Event('input'))", at)
        shown = browser.js("return [...document.querySelectorAll('.readout b')].map(e => e.textContent)")
        tp, fp, (n, others) = data["tp"][at], data["fp"][at], data["rows"]
        want = [tp / (tp + fp), tp / n, 2 * tp / (tp + fp + n), (tp + others - fp) / (n + others)]
        checks.that([f"{value:.3f}" for value in want] == shown[:4], f"threshold {at}: shares", str(shown))
        checks.that([str(int(v)) for v in (tp, n - tp, fp)] == shown[4:], f"threshold {at}: counts", str(shown))
        told = browser.js("return document.querySelector('#curves output').textContent")
        checks.close(float(told), round(data["t"][at], 3), 1e-9, f"threshold {at}: the number")
        x, y = browser.js("var d = document.querySelector('#roc .handle'); return [+d.getAttribute('cx'), +d.getAttribute('cy')]")
        points = browser.js("return document.querySelector('#roc polyline').getAttribute('points')").split()
        near = min(abs(float(p.split(",")[0]) - x) + abs(float(p.split(",")[1]) - y) for p in points)
        checks.that(near < 0.2, f"threshold {at}: the handle is on the curve", str(near))
    # A click into a curve moves the threshold.
    browser.js("""
      var s = document.getElementById('pr'), b = s.getBoundingClientRect();
      s.setPointerCapture = function () {};
      s.dispatchEvent(new PointerEvent('pointerdown', {clientX: b.left + b.width * 0.3, clientY: b.top + b.height * 0.2, pointerId: 1, bubbles: true}));
    """)
    moved = browser.js("return +document.querySelector('#curves input').value")
    checks.that(moved != last, "a click into the curve moves the threshold", str(moved))
    browser.open(made["three"])
    before = browser.js("return document.querySelector('#roc polyline').getAttribute('points')")
    browser.js("var s = document.querySelector('#curves select'); s.value = 2; s.dispatchEvent(new Event('change'))")
    checks.that(before != browser.js("return document.querySelector('#roc polyline').getAttribute('points')"), "another class has another curve")
    # A click on a head sorts, another one the other way round.
    column = "return [...document.querySelector('table.mistakes').tBodies[0].rows].map(r => +r.cells[0].textContent)"
    head = "document.querySelector('table.mistakes').tHead.rows[0].cells[0].click()"
    browser.js(head)
    down = browser.js(column)
    browser.js(head)
    up = browser.js(column)
    checks.that(down == sorted(down, reverse=True) and up == sorted(up) and len(set(up)) > 3, "tables sort both ways", str(up))
    for page, words in {
        "two": ["Thresholds", "Reliability", "Confusion matrix", "Features that weigh most", "Worst mistakes"],
        "number": ["Predicted against actual", "Residuals", "Distribution of residuals", "Features that weigh most", "Worst mistakes"],
        "tags": ["Spans by type", "Confusion matrix", "Worst mistakes"],
        "two-training": ["Features that weigh most"],
    }.items():
        browser.open(made[page])
        heads = browser.js("return [...document.querySelectorAll('h2')].map(e => e.textContent)")
        for word in words:
            checks.that(word in heads, f"{page}: {word}", str(heads))
    browser.open(made["two"])
    text = browser.js("return document.querySelector('table.mistakes tbody').textContent")
    checks.that("text " in text and "length " in text, "mistakes have the text of their rows", text[:200])


TESTS = {"reports: pages in a browser": reports, "reports: pages of every task": look}
