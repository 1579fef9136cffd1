"""The page of `lineal serve` in Chromium: a model of every task, tried and looked into, in light and dark, on a phone and on a screen; and what axe-core says of it."""

import base64
import json
import os
import re
import signal
import subprocess
import urllib.request
from pathlib import Path

from browser import Browser, axe
from test_reports import OUTSIDE, table

CHUNKS = "the DT B-NP\nold JJ I-NP\ndog NN I-NP\nbarks VB B-VP\nin IN B-PP\nParis NNP B-NP\n. . O\n\nthe DT B-NP\ncat NN I-NP\nsleeps VB B-VP\n. . O\n\n"
TREES = "1\tthe\tthe\tDET\t_\t_\t2\tdet\t_\t_\n2\tdog\tdog\tNOUN\t_\t_\t3\tnsubj\t_\t_\n3\tbarks\tbark\tVERB\t_\t_\t0\troot\t_\t_\n4\tin\tin\tADP\t_\t_\t5\tcase\t_\t_\n5\tParis\tParis\tPROPN\t_\t_\t3\tobl\t_\t_\n\n1\tcats\tcat\tNOUN\t_\t_\t2\tnsubj\t_\t_\n2\tsleep\tsleep\tVERB\t_\t_\t0\troot\t_\t_\n\n"
BRACKETS = "(S (NP (DT the) (NN dog)) (VP (VBZ barks)) (. .))\n(S (NP (PRP it)) (VP (VBZ sees) (NP (DT the) (NN cat))) (. .))\n"
LETOR = "2 qid:a 1:1 2:0.5\n0 qid:a 1:0 2:0.25\n1 qid:b 1:0.5 2:1\n0 qid:b 1:0.125 2:0\n"
GRAPH = '{"id": "g", "nodes": [{"warm": 0.7}, {"cold": 1.3}], "edges": [[0, 1, [0.3]]], "labels": ["day", "night"]}\n'
RECORD = '{"items": [{"l": "x", "features": {"f": 1}}, {"l": "y", "features": {"f": -1}}]}\n'


def picture(path, mask):
    """Two halves, and the mask of the right one."""
    with open(path, "wb") as image, open(mask, "wb") as labels:
        image.write(b"P6\n24 16\n255\n")
        labels.write(b"P5\n24 16\n255\n")
        for pixel in range(24 * 16):
            left = pixel % 24 < 12
            image.write(bytes([200, 40, 40] if left else [30, 60, 180]))
            labels.write(bytes([0 if left else 255]))


def models(program, reports=False):
    """A model of each task, by name, with the page of its training if that is wanted."""
    folder = Path(program.folder.name)
    for kind in ("two", "three", "number"):
        table(folder / f"{kind}.csv", 300, kind, 1)
    with open(folder / "three.csv") as rows, open(folder / "news.csv", "w") as texts, open(folder / "labels.csv", "w") as labels:
        texts.write("text,label\n")
        labels.write("length,text,kinds\n")
        for line in rows.read().splitlines()[1:]:
            text, length, label = line.rsplit(",", 2)
            texts.write(f"{text},{label}\n")
            labels.write(f'{length},{text},"{label},short"\n' if float(length) < 30 else f"{length},{text},{label}\n")
    (folder / "chunks.conll").write_text(CHUNKS * 5)
    (folder / "arcs.conllu").write_text(TREES * 6)
    (folder / "phrases.mrg").write_text(BRACKETS * 4)
    (folder / "ranks.letor").write_text(LETOR)
    (folder / "graphs.jsonl").write_text(GRAPH * 4)
    (folder / "records.jsonl").write_text(RECORD * 4)
    (folder / "d.declared").write_text("variable item { x y } from items by l\nrule at most 1 item = x\n")
    picture(folder / "a.ppm", folder / "a.pgm")
    (folder / "images.tsv").write_text("a.ppm\ta.pgm\n")
    flags = {
        "news": ["news.csv", "--label", "label", "--text", "text"],
        "two": ["two.csv", "--label", "target", "--loss", "logistic", "--test", folder / "two.csv"],
        "three": ["three.csv", "--label", "target"],
        "number": ["number.csv", "--label", "target"],
        "labels": ["labels.csv", "--label", "kinds", "--task", "multilabel"],
        "chunks": ["chunks.conll", "--task", "tag", "--loss", "logistic", "--test", folder / "chunks.conll"],
        "arcs": ["arcs.conllu", "--task", "dependency", "--loss", "logistic", "--hash", 14],
        "phrases": ["phrases.mrg", "--task", "constituency", "--loss", "logistic", "--hash", 14],
        "ranks": ["ranks.letor", "--task", "rank"],
        "graphs": ["graphs.jsonl", "--task", "segment"],
        "records": ["records.jsonl", "--task", "declared", "--declaration", folder / "d.declared"],
        "images": ["images.tsv", "--task", "segment"],
    }
    made = []
    for name, (data, *more) in flags.items():
        path = folder / f"{name}.lineal"
        report = ["--report", folder / f"{name}-train.html"] if reports else []
        program.output("train", folder / data, "-o", path, *more, *report, "--quiet")
        made.append(path)
    return made


class Server:
    """`lineal serve` for as long as the block, or `lineal playground` where there are no models."""

    def __init__(self, program, paths, *flags):
        what = ["serve", *map(str, paths), "--log", "errors", *map(str, flags)] if paths else ["playground"]
        self.process = subprocess.Popen([program.path, *what, "--port", "0"], stderr=subprocess.PIPE, text=True)
        self.url = re.search(r"http://[^ ;]+", self.process.stderr.readline()).group().strip()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGTERM)
        self.said = self.process.stderr.read()
        self.process.wait(60)


# What axe-core finds to be serious or worse, with where it is.
FAULTS = """
return axe.run(document, {resultTypes: ['violations']}).then(function (found) {
  return found.violations.filter(function (v) { return ['serious', 'critical'].includes(v.impact); })
    .map(function (v) { return v.id + ': ' + v.nodes.slice(0, 3).map(function (n) { return n.target + ' ' + (n.any[0] || {}).message; }).join('; '); });
});
"""

# Texts of one drawing that are written over each other, and tables that reach over the edge of their box where they should not.
OVERLAPS = """
var found = [];
document.querySelectorAll('#view svg').forEach(function (svg) {
  var texts = [...svg.querySelectorAll('text')].filter(t => t.textContent.trim() && t.checkVisibility()).map(t => [t.textContent, t.getBoundingClientRect()]);
  texts.forEach(function ([a, p], i) {
    texts.slice(i + 1).forEach(function ([b, q]) {
      var x = Math.min(p.right, q.right) - Math.max(p.left, q.left), y = Math.min(p.bottom, q.bottom) - Math.max(p.top, q.top);
      if (x > 2 && y > 4) found.push(a + ' over ' + b);
    });
  });
});
document.querySelectorAll('#view table.words').forEach(function (t) {
  if (t.scrollWidth > t.parentElement.clientWidth + 1 && innerWidth < 640) found.push('a table of ' + t.scrollWidth + ' pixels in ' + t.parentElement.clientWidth);
});
return found.slice(0, 5);
"""

# What the files of models with a test keep of it.
KEPT = {"two": ["Reliability", "ROC", "Precision–recall", "Confusion matrix", "By class"], "chunks": ["token_accuracy", "span_f1"]}

# What each answer must show.
SHOWN = {
    "news": ["Class", "Why"],
    "two": ["Class", "Why"],
    "three": ["Class", "Against"],
    "number": ["Prediction", "Why this number"],
    "labels": ["Labels", "Why"],
    "chunks": ["Labels", "Token by token", "alternatives"],
    "arcs": ["Dependency tree", "Word by word", "heads by probability"],
    "phrases": ["Tree", "In brackets"],
    "ranks": ["Order", "rank", "Scores"],
    "graphs": ["Labels of nodes"],
    "records": ["Answer"],
    "images": ["Shares", "Mean confidence", "Why a pixel has its label"],
}
EXAMPLES = {"records": RECORD, "news": "cheap pills for the winner, please report to the meeting"}
PICTURES = {("news", "try"): "serve-try", ("two", "inside"): "serve-inside", ("arcs", "try"): "serve-arcs", ("two", "labelled"): "serve-labelled"}


def page(checks, program, _):
    """Every view of every model."""
    why = Browser.find()
    if why:
        checks.not_run(f"the page of the server in a browser: {why}")
        return
    script = axe()
    folder = Path(program.folder.name)
    pictures = os.environ.get("LINEAL_PICTURES")
    with Server(program, models(program)) as server:
        for dark, width in ((False, 1200), (True, 400), (False, 400), (True, 1200)):
            with Browser(width=width, height=900, dark=dark) as browser:
                for name, words in SHOWN.items():
                    where = f"{name} at {width} px, {'dark' if dark else 'light'}"
                    for view in ("try", "inside", "api"):
                        browser.visit("about:blank")
                        browser.visit(f"{server.url}/#{name}/{view}")
                        browser.until("return document.querySelector('#view') && document.querySelector('#view').dataset.ready")
                        if view == "try":
                            attempt(checks, browser, folder, name, words, where)
                            overlaps = browser.js(OVERLAPS)
                            checks.that(overlaps == [], f"{where}: no letters on others", str(overlaps))
                        body = browser.js("return document.body.innerText")
                        photograph(browser, pictures if not dark and width == 1200 else None, name, view)
                        if view == "inside":
                            checks.that("Certificate" in body and "What it is" in body, f"{where}: what is inside", body[:200])
                            kept = KEPT.get(name)
                            missing = [word for word in kept or [] if word not in body]
                            checks.that(missing == [] and (kept is not None) == ("it was tested with" in body), f"{where}: what the file keeps of its test", f"not {missing} in {body[-600:]}")
                            is_hashed = name in ("arcs", "phrases", "records")
                            checks.that(("keep hashes of their features" in body) == is_hashed and "Features that weigh most" in body, f"{where}: features, or why none are listed", body[-600:])
                            overlaps = browser.js(OVERLAPS)
                            checks.that(overlaps == [], f"{where}: nothing is written over something else", str(overlaps))
                            labelled(checks, browser, folder, name, where)
                            photograph(browser, pictures if not dark and width == 1200 else None, name, "labelled")
                        if view == "api":
                            checks.that("POST /v1/models/{name}/predict" in body, f"{where}: the API", body[:200])
                        outside = browser.js(OUTSIDE)
                        checks.that(outside == [], f"{where}, {view}: nothing sticks out", str(outside[:3]))
                        errors = browser.errors()
                        checks.that(errors == [], f"{where}, {view}: no error", str(errors[:3]))
                        browser.js(script + "\nreturn 1;")
                        faults = browser.js(FAULTS)
                        checks.that(faults == [], f"{where}, {view}: no serious fault", str(faults))
                        elsewhere = browser.js("return performance.getEntriesByType('resource').map(e => e.name).filter(n => !n.startsWith(location.origin) && !n.startsWith('data:'))")
                        checks.that(elsewhere == [], f"{where}, {view}: nothing comes from elsewhere", str(elsewhere))
                if not dark and width == 1200:
                    more(checks, browser, server, folder)
    checks.that(server.process.returncode == 0, "the server ends as asked", str(server.process.returncode))
    checks.that(server.said == "", "and had nothing to complain about", server.said[:500])
    token(checks, program, folder)


def photograph(browser, folder, name, view):
    """The pictures of the documents."""
    picture = PICTURES.get((name, view))
    if not folder or not picture:
        return
    # Where the test has its files is of no interest.
    browser.js("document.querySelectorAll('td').forEach(td => { if (td.textContent.startsWith('/')) td.textContent = td.textContent.split('/').pop(); })")
    if view == "labelled":
        # From there on, as much as a screen shows.
        browser.js("document.querySelector('#labelled').closest('section').scrollIntoView()")
    browser.screenshot(f"{folder}/{picture}.png", whole=view != "labelled")


def call(url, body=None):
    """What the server answers."""
    data = None if body is None else json.dumps(body).encode()
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(urllib.request.Request(url, data, {"content-type": "application/json"}), timeout=60) as answer:
        return json.load(answer)


# A labelled file of each model, and what the page must show of it.
LABELLED = {
    "news": ("news.csv", ["Metrics", "Confusion matrix", "Reliability", "By class", "Closest to the border"]),
    "two": ("two.csv", ["Metrics", "Reliability", "Thresholds", "ROC", "Precision–recall", "Confusion matrix", "Worst mistakes", "Closest to the border"]),
    "three": ("three.csv", ["Metrics", "Thresholds", "Confusion matrix", "Closest to the border"]),
    "number": ("number.csv", ["rmse", "Predicted against actual", "Residuals"]),
    "labels": ("labels.csv", ["micro_f1", "By label"]),
    "chunks": ("chunks.conll", ["Spans by type", "Confusion matrix", "By label", "Closest to the border"]),
    "arcs": ("arcs.conllu", ["las", "uas", "Closest to the border"]),
    "phrases": ("phrases.mrg", ["f1", "Sentences by length"]),
    "ranks": ("ranks.letor", ["ndcg@10", "Closest to the border"]),
    "graphs": ("graphs.jsonl", ["iou"]),
    "records": ("records.jsonl", ["accuracy"]),
    "images": (None, ["iou"]),
}


def labelled(checks, browser, folder, name, where):
    """Drops a labelled file."""
    file, words = LABELLED[name]
    if name == "images":
        import png

        png.write(folder / "a.png", 24, 16, [[200, 40, 40] if x < 12 else [30, 60, 180] for _ in range(16) for x in range(24)])
        browser.choose("#labelled", folder / "a.png")
        browser.choose("#masks", folder / "a.pgm")
        browser.js("document.querySelector('#compare').click()")
    else:
        browser.choose("#labelled", folder / file)
    browser.until("var r = document.querySelector('#labelled').closest('section').querySelector('[aria-live]'); return r.dataset.done")
    text = browser.js("return document.querySelector('#view').innerText").lower()
    missing = [word for word in words if word.lower() not in text]
    checks.that(missing == [], f"{where}: labelled data shows {', '.join(words)}", f"not {missing}: {text[-300:]}")


def attempt(checks, browser, folder, name, words, where):
    """Predicts the example that the page has, or one that is given."""
    if name == "images":
        # Browsers show no PPM, so the picture goes in as PNG.
        import png

        png.write(folder / "a.png", 24, 16, [[200, 40, 40] if x < 12 else [30, 60, 180] for _ in range(16) for x in range(24)])
        browser.choose("#example", folder / "a.png")
    elif name in EXAMPLES:
        browser.js("var f = document.querySelector('#example'); f.value = arguments[0];", EXAMPLES[name])
    browser.js("document.querySelector('button.primary').click()")
    browser.until("return document.querySelector('.result').dataset.done")
    text = browser.js("return document.querySelector('.result').innerText")
    missing = [word for word in words if word not in text]
    checks.that(missing == [], f"{where}: the answer shows {', '.join(words)}", text[:300])
    drawn = {"news": ".text mark", "two": "figure svg rect", "chunks": ".span", "arcs": "svg .arc", "phrases": "svg .arc", "images": "canvas"}.get(name)
    if drawn:
        n = browser.js("return document.querySelectorAll('.result ' + arguments[0]).length", drawn)
        checks.that(n > 0, f"{where}: {drawn} is drawn")


def more(checks, browser, server, folder):
    """What can be done beside predicting."""
    # Another rival has other reasons.
    browser.visit("about:blank")
    browser.visit(f"{server.url}/#three/try")
    browser.until("return document.querySelector('#view') && document.querySelector('#view').dataset.ready")
    browser.js("document.querySelector('button.primary').click()")
    browser.until("return document.querySelector('#rival')")
    last = browser.js("var s = document.querySelector('#rival'); s.selectedIndex = s.options.length - 1; s.dispatchEvent(new Event('change')); return s.value")
    head = browser.until("return [...document.querySelectorAll('h2')].map(e => e.textContent).find(t => t.endsWith('and not ' + arguments[0]))", last)
    checks.that(bool(head), "a rival can be chosen", str(head))
    # An empty field is a missing value.
    browser.js("document.querySelector('input[type=number]').value = ''; document.querySelector('button.primary').click()")
    found = browser.until("var r = document.querySelector('.result'); return r.dataset.done && r.innerText")
    checks.that("Class" in found and "Why" in found, "a field may be left empty", found[:200])
    keyboard(checks, browser, server)
    # A parser with a tagger takes words alone.
    browser.visit(f"{server.url}/#phrases/try")
    browser.until("return document.querySelector('h1').textContent === 'phrases' && document.querySelector('button.primary')")
    browser.js("document.querySelector('#example').value = 'the dog sees it .'; document.querySelector('button.primary').click()")
    found = browser.until("var r = document.querySelector('.result'); return r.dataset.done && r.innerText")
    checks.that("In brackets" in found, "words without parts of speech are parsed", found[:300])
    # A number has all its digits, and nobody leads.
    browser.visit(f"{server.url}/#number/try")
    browser.until("return document.querySelector('h1').textContent === 'number' && document.querySelector('button.primary')")
    browser.js("document.querySelector('button.primary').click()")
    found = browser.until("var r = document.querySelector('.result'); return r.dataset.done && r.innerText")
    number = re.search(r"Together (\S+)\.\n", found + "\n")
    checks.that(number is not None and number.group(1) in found.split("Why")[0] and "leads" not in found, "a number is what its parts come to", found[:300])
    # What weighs most is what a usual difference does, not what one unit does.
    about = call(f"{server.url}/v1/models/three")["top_features"][0]
    checks.that(all(abs(a) >= abs(b) for a, b in zip(about["effects"], about["effects"][1:])), "features are in the order of their effects", str(about)[:300])
    browser.visit(f"{server.url}/#three/inside")
    found = browser.until("var s = document.querySelector('#search'); return s && s.closest('section').innerText")
    checks.that("weight × standard deviation" in found and "To the right it speaks for" in found, "what the bars of features mean", found[-300:])
    # Nodes have the numbers that edges give them.
    browser.visit(f"{server.url}/#graphs/try")
    browser.until("return document.querySelector('h1').textContent === 'graphs' && document.querySelector('button.primary')")
    browser.js("document.querySelector('button.primary').click()")
    found = browser.until("var r = document.querySelector('.result'); return r.dataset.done && r.innerText")
    numbers = [int(n) for n in re.findall(r"Node (\d+): ", found)]
    checks.that(numbers != [] and max(numbers) < 2 and "counted from 0" in found, "nodes are counted from 0", found[:400])
    # What the file keeps is what `eval` says, and the bytes are the same again.
    kept = call(f"{server.url}/v1/models/two")["evaluation"]
    told = json.loads(subprocess.run([server.process.args[0], "eval", folder / "two.lineal", folder / "two.csv", "--json", "--quiet"], capture_output=True, text=True).stdout)
    checks.that(all(kept["metrics"][name] == told[name] for name in ("accuracy", "auc", "log_loss", "mcc")) and kept["classes"]["confusion"] == told["confusion"], "the file keeps what eval says", str(kept)[:300])
    again = [server.process.args[0], "train", folder / "two.csv", "--label", "target", "--loss", "logistic", "--test", folder / "two.csv", "-o", folder / "again.lineal", "--quiet"]
    subprocess.run(again, check=True)
    checks.that((folder / "again.lineal").read_bytes() == (folder / "two.lineal").read_bytes(), "the same data and test give the same file")
    # A dropped file takes the place of what was kept.
    browser.visit(f"{server.url}/#two/inside")
    browser.until("return document.querySelector('h1').textContent === 'two' && document.querySelector('.kept')")
    browser.choose("#labelled", folder / "two.csv")
    browser.until("return document.querySelector('#labelled').closest('section').querySelector('[aria-live]').dataset.done")
    checks.that(browser.js("return [document.querySelectorAll('.kept').length, document.querySelectorAll('#curves').length]") == [0, 1], "a file takes the place of what was kept")
    # Alternatives show where the mouse rests.
    browser.visit(f"{server.url}/#chunks/try")
    browser.until("return document.querySelector('h1').textContent === 'chunks' && document.querySelector('button.primary')")
    browser.js("document.querySelector('button.primary').click()")
    browser.until("return document.querySelector('.span')")
    shown = "return [...document.querySelectorAll('.hint')].filter(e => e.checkVisibility()).map(e => e.innerText)"
    checks.that(browser.js(shown) == [], "alternatives are not in the way")
    browser.hover(".span")
    found = browser.js(shown)
    checks.that(len(found) == 1 and "B-NP" in found[0] and "0." in found[0], "alternatives of a span, with their probabilities", str(found))
    # A word without its part of speech is not passed on to a parser that was trained with them.
    browser.visit(f"{server.url}/#arcs/try")
    browser.until("return document.querySelector('h1').textContent === 'arcs' && document.querySelector('button.primary')")
    note = browser.js("return document.querySelector('form .note').textContent")
    checks.that("also trained with lemma, which" in note, "what a parser is trained with and the form leaves out is told", note)
    browser.js("document.querySelector('#example').value = 'the dog/NOUN'; document.querySelector('button.primary').click()")
    told = browser.until("var w = document.querySelector('.warn'); return w && w.textContent")
    checks.that("the has no part of speech" in told, "a word without its part of speech is told", told)
    # Any pixel is explained where it is clicked.
    browser.visit(f"{server.url}/#images/try")
    browser.until("return document.querySelector('h1').textContent === 'images' && document.querySelector('button.primary')")
    browser.choose("#example", folder / "a.png")
    browser.js("document.querySelector('button.primary').click()")
    browser.until("return document.querySelector('#pixel-x')")
    browser.js("var c = document.querySelector('.result canvas'), b = c.getBoundingClientRect(); c.dispatchEvent(new MouseEvent('click', {clientX: b.left + b.width * 20.5 / 24, clientY: b.top + b.height * 3.5 / 16, bubbles: true}))")
    found = browser.until("return document.querySelector('#pixel-x').value === '20' && document.querySelector('#pixel-y').value === '3' && document.querySelector('.result').innerText")
    checks.that("Label 255, ahead of 0" in found, "a pixel is explained where it is clicked", found[-300:])
    # Labels have the colours of the key, also where an image has one label only.
    import png

    png.write(folder / "b.png", 24, 16, [[30, 60, 180]] * (24 * 16))
    browser.choose("#example", folder / "b.png")
    browser.js("document.querySelector('button.primary').click()")
    browser.until("var r = document.querySelector('.result'); return r.dataset.done && r.innerText.includes('255')")
    red = browser.until("return document.querySelector('.result canvas').getContext('2d').getImageData(5, 5, 1, 1).data[0]")
    checks.that(red > 100, "the only label of an image has its colour", str(red))
    # What cannot be explained is told, and predicted all the same.
    browser.visit(f"{server.url}/#chunks/try")
    browser.until("return document.querySelector('h1').textContent === 'chunks' && document.querySelector('button.primary')")
    browser.js("document.querySelector('#example').value = 'dog NN\\n'.repeat(1001); document.querySelector('button.primary').click()")
    found = browser.until("var r = document.querySelector('.result'); return r.dataset.done && r.innerText")
    checks.that("Token by token" in found and "Not explained: " in found, "what is too long to be explained is told", found[-300:])
    # Browsers log what a server refuses.
    errors = browser.errors()
    checks.that(len(errors) == 1 and "422" in errors[0], "and nothing else goes wrong", str(errors))
    # Weights of labels that follow each other.
    browser.visit(f"{server.url}/#chunks/inside")
    browser.until("return document.querySelector('h1').textContent === 'chunks' && document.querySelector('#class')")
    found = browser.js("var s = document.querySelector('#class'); s.value = [...s.options].find(o => o.text.startsWith('transitions')).value; s.dispatchEvent(new Event('change')); return s.closest('section').querySelector('figure svg').getAttribute('aria-label')")
    checks.that("B-NP → I-NP" in found, "transitions are listed", found[:300])
    # A body that is not JSON is told, and sent when it is mended.
    browser.visit(f"{server.url}/#two/api")
    browser.until("return document.querySelector('h1').textContent === 'two' && document.querySelector('#body-predict')")
    browser.js("var f = document.querySelector('#body-predict'); f.value += ','; f.closest('section').querySelector('button').click()")
    found = browser.until("var p = document.querySelector('#body-predict').closest('section').querySelector('pre'); return !p.hidden && p.textContent")
    checks.that("The body is not JSON" in found, "a body that is not JSON is told", found)
    browser.js("var f = document.querySelector('#body-predict'); f.value = f.value.slice(0, -1); f.closest('section').querySelector('button').click()")
    found = browser.until("var p = document.querySelector('#body-predict').closest('section').querySelector('pre'); return p.textContent.includes('label') && p.textContent")
    checks.that('"label"' in found, "the API can be tried", found[:200])
    # A file can be dropped.
    browser.visit(f"{server.url}/#two/inside")
    browser.until("return document.querySelector('h1').textContent === 'two' && document.querySelector('#labelled')")
    browser.js("var t = new DataTransfer(); t.items.add(new File([arguments[0]], 'two.csv')); document.querySelector('#labelled').closest('section').dispatchEvent(new DragEvent('drop', {dataTransfer: t, bubbles: true, cancelable: true}))", (folder / "two.csv").read_text())
    found = browser.until("return [...document.querySelectorAll('.views h2')].map(e => e.textContent).find(t => t === 'Confusion matrix')")
    checks.that(bool(found), "a labelled file is dropped")
    # Keys go from tab to tab.
    browser.visit(f"{server.url}/#three/try")
    browser.until("return document.querySelector('h1').textContent === 'three' && document.querySelector('#view').dataset.ready")
    browser.js("document.querySelector('[role=tab][aria-selected=true]').focus()")
    browser.press("ArrowRight")
    browser.until("return location.hash === '#three/inside' && document.querySelector('#search')")
    checks.that(True, "arrow keys change the view")
    # Features can be searched.
    browser.js("var s = document.querySelector('#search'); s.value = 'pills'; s.dispatchEvent(new Event('input'))")
    names = browser.js("return document.querySelector('#search').closest('section').querySelector('figure svg').getAttribute('aria-label')")
    checks.that("pills" in names and "lunch" not in names, "features are searched", names[:200])
    # What is compared is what `eval` compares.
    for name, (file, _) in LABELLED.items():
        if name == "images":
            continue
        told = json.loads(subprocess.run([server.process.args[0], "eval", folder / f"{name}.lineal", folder / file, "--json", "--quiet"], capture_output=True, text=True).stdout)
        data = base64.b64encode((folder / file).read_bytes()).decode()
        found = call(f"{server.url}/v1/models/{name}/evaluate", {"file": {"name": file, "data": data}})
        checks.that(found["metrics"] == told, f"{name}: metrics are those of eval", str(found["metrics"])[:200])
        curve = call(f"{server.url}/v1/models/{name}")["curve"]
        shown = json.loads(subprocess.run([server.process.args[0], "inspect", folder / f"{name}.lineal", "--json"], capture_output=True, text=True).stdout)["curve"]
        # Least squares are solved at once, without a pass.
        checks.that(curve == shown and len(curve) <= 200 and (len(curve) > 0) == (name != "number") and all("seconds" not in point for point in curve), f"{name}: the file keeps its curve", str(curve)[:200])
    errors = browser.errors()
    checks.that(errors == [], "no error in all this", str(errors[:3]))


# How a screen reader names what each view has.
TREE = ["heading \"news\"", "combobox \"Model\"", "tab \"Try\" [selected]", "tab \"Look inside\"", "tabpanel \"Try\"", "textbox \"Text\"", "button \"Predict\"", "heading \"Class\"", "img \"", "combobox \"Against\""]


def keyboard(checks, browser, server):
    """A prediction without a mouse, and what a screen reader is told of it."""
    browser.visit("about:blank")
    browser.visit(f"{server.url}/#news/try")
    browser.until("return document.querySelector('#view') && document.querySelector('#view').dataset.ready")
    reached = []
    for _ in range(12):
        browser.press("Tab")
        reached.append(browser.js("var e = document.activeElement; return e.id || e.getAttribute('role') || e.className || e.tagName"))
        if reached[-1] == "example":
            break
    checks.that(reached[0] == "skip" and reached[-1] == "example", "the tabulator comes to the text, by a link over the head of the page", str(reached))
    browser.press("Control+a")
    browser.type("the election and the storm")
    browser.press("Control+Enter")
    browser.until("return document.querySelector('.result').dataset.done")
    head = browser.js("return document.querySelector('.result .big').textContent")
    checks.that(head == "news", "Ctrl+Enter predicts what was typed", head)
    tree = browser.tree()
    missing = [part for part in TREE if part not in tree]
    checks.that(missing == [], "a screen reader is told what everything is", f"not {missing} in {tree[:1500]}")


def token(checks, program, folder):
    """The page asks for the token, and keeps it."""
    (folder / "token").write_text("correct-horse\n")
    with Server(program, [folder / "two.lineal"], "--token-file", folder / "token") as server, Browser() as browser:
        browser.visit(f"{server.url}/")
        browser.until("return document.querySelector('#token')")
        checks.that(browser.js("return document.querySelector('[role=alert]').textContent") == "", "nothing is wrong before a token is given")
        browser.js("document.querySelector('#token').value = 'wrong-horse'; document.querySelector('form').requestSubmit()")
        told = browser.until("return document.querySelector('[role=alert]').textContent")
        checks.that("does not accept this token" in told, "a wrong token is told", told)
        browser.js("document.querySelector('#token').value = 'correct-horse'; document.querySelector('form').requestSubmit()")
        found = browser.until("return document.querySelector('h1').textContent === 'two'")
        checks.that(found, "the token opens the page")


def playground(checks, program, _):
    """Points in the plane, and the steps of three algorithms."""
    why = Browser.find()
    if why:
        checks.not_run(f"the playground in a browser: {why}")
        return
    script = axe()
    pictures = os.environ.get("LINEAL_PICTURES")
    with Server(program, []) as server:
        for dark, width in ((False, 1200), (True, 400), (False, 400), (True, 1200)):
            with Browser(width=width, height=900, dark=dark) as browser:
                where = f"at {width} px, {'dark' if dark else 'light'}"
                browser.visit(f"{server.url}/")
                plane(checks, browser, where, script, pictures if not dark and width == 1200 else None)
                for view, last in (("Code matrix", "nearest"), ("Viterbi", "The best labels: the DET, old ADJ, dog NOUN, barks VERB"), ("Chu–Liu–Edmonds", "a score of 70")):
                    steps(checks, browser, where, view, last)
                    well(checks, browser, f"{where}, {view}", script)
                errors = browser.errors()
                checks.that(errors == [], f"{where}: no error", str(errors[:3]))


READY = "return document.querySelector('.plane') && document.querySelector('.plane').dataset.ready"
# Presses and lets go at a place of the first canvas.
DRAW = """
var c = document.querySelector('canvas'), b = c.getBoundingClientRect();
['pointerdown', 'pointerup'].forEach(function (kind) { c.dispatchEvent(new PointerEvent(kind, {clientX: b.left + 40, clientY: b.top + 40, buttons: 1, bubbles: true})); });
"""


def well(checks, browser, where, script):
    """Nothing sticks out, and axe-core finds nothing serious."""
    outside = browser.js(OUTSIDE)
    checks.that(outside == [], f"{where}: nothing sticks out", str(outside[:3]))
    browser.js(script + "\nreturn 1;")
    faults = browser.js(FAULTS)
    checks.that(faults == [], f"{where}: no serious fault", str(faults))


def again(browser):
    """The address, opened anew."""
    address = browser.js("return location.href")
    browser.visit("about:blank")
    browser.visit(address)


def choose(browser, field, value):
    browser.js("var s = document.querySelector(arguments[0]); s.value = arguments[1]; s.dispatchEvent(new Event('change'))", field, value)


def plane(checks, browser, where, script, pictures):
    """Points, learners side by side, and their loss surfaces."""
    browser.until(READY)
    told = browser.js("return [...document.querySelectorAll('.plane [aria-live]')].map(e => e.innerText)")
    wrong = [int(re.match(r"(\d+) of 160 wrong", text).group(1)) for text in told]
    checks.that(wrong[0] >= 10 and wrong[1] == 0, f"{where}: one-vs-all gives up a class beside the strip, and joint does not", str(told))
    surfaces = browser.js("return [...document.querySelectorAll('canvas.surface')].map(e => e.getAttribute('aria-label'))")
    checks.that(len(surfaces) == 2 and all("Objective" in text for text in surfaces), f"{where}: two loss surfaces", str(surfaces))
    well(checks, browser, f"{where}, plane", script)
    if pictures:
        browser.screenshot(f"{pictures}/playground.png")
    # The mouse adds a point; a choice trains anew; the address restores both.
    browser.js(DRAW)
    browser.until("return document.querySelector('.plane [aria-live]').innerText.includes('of 161 wrong')")
    choose(browser, "#strategy-0", "ovo")
    browser.until("return document.querySelector('.plane pre').textContent.includes('--strategy=ovo')")
    browser.js("var s = document.querySelector('#passes'); s.value = 3; s.dispatchEvent(new Event('input'))")
    browser.until("return document.querySelector('.plane pre').textContent.includes('--max-passes=3')")
    again(browser)
    browser.until(READY)
    checks.that(browser.js("return document.querySelector('#strategy-0').value") == "ovo", f"{where}: the address restores the choice")
    text = browser.js("return document.querySelector('.plane').innerText")
    checks.that("of 161 wrong" in text and "After 3 passes" in text, f"{where}: and the points, and the passes", text[:200])
    checks.that("Solid lines: the score of each pair of classes is 0" in text, f"{where}: what the lines are", text[:600])
    # Pass by pass, until it is stopped.
    button = "var b = [...document.querySelectorAll('.plane button')].find(b => ['Pass by pass', 'Stop'].includes(b.textContent)); "
    browser.js(button + "b.click()")
    browser.until(button + "return b.textContent === 'Stop' && document.querySelector('#passes').value === '2'")
    browser.js(button + "b.click()")
    browser.until(button + "return b.textContent === 'Pass by pass'")
    checks.that(int(browser.js("return document.querySelector('#passes').value")) < 20, f"{where}: passes can be stopped")
    browser.js("var s = document.querySelector('#passes'); s.value = 0; s.dispatchEvent(new Event('input'))")
    # Three learners beside each other, on another set, with the surface of another score.
    choose(browser, "#pairs", "perceptron, SVM, logistic")
    choose(browser, "#set", "three classes")
    browser.until("return document.querySelectorAll('.grid canvas.surface').length === 3 && document.querySelector('.plane').innerText.includes('120 points')")
    label = "the score of b"
    choose(browser, "#surface", label)
    found = browser.until("var all = [...document.querySelectorAll('canvas.surface')].map(e => e.getAttribute('aria-label')); return all.length === 3 && all.every(t => t.includes(arguments[0])) && all", label)
    checks.that(bool(found), f"{where}: perceptron, SVM and logistic regression side by side")
    losses = browser.js("return [0, 1, 2].map(i => document.querySelector('#loss-' + i).value)")
    checks.that(losses == ["perceptron", "hinge", "logistic"], f"{where}: their losses", str(losses))


def steps(checks, browser, where, view, last):
    """Goes on until it ends; the address restores a step on the way."""
    browser.js("[...document.querySelectorAll('[role=tab]')].find(t => t.textContent === arguments[0]).click()", view)
    if view == "Code matrix":
        browser.js("document.querySelectorAll('button.sign')[2].click()")
    else:
        browser.js("document.querySelector('#view section > button').click()")
    before = browser.js("return document.querySelector('#view').innerText")
    again(browser)
    browser.until("return document.querySelector('#view section')")
    checks.that(browser.js("return document.querySelector('#view').innerText") == before, f"{where}, {view}: the address restores it", before[:200])
    text = ""
    for _ in range(8):
        text = browser.js("return document.querySelector('#view').innerText")
        if last in text:
            break
        browser.js("document.querySelector('#view section > button').click()")
    checks.that(last in text, f"{where}: {view} ends as it should", text[:300])
    if view == "Code matrix":
        cut = browser.js("var b = document.querySelector('.scroll'); return b.scrollWidth - b.clientWidth")
        checks.that(cut <= 1, f"{where}: the matrix fits", f"{cut} pixels of it do not")
    if view == "Viterbi":
        # One step before the end, where the column is that was filled last.
        seen = browser.until("var b = document.querySelector('.scroll'), c = [...b.querySelectorAll('rect')].pop().getBoundingClientRect(), r = b.getBoundingClientRect(); return {inside: c.right <= r.right + 1 && c.left >= r.left - 1}")
        checks.that(seen["inside"], f"{where}: the column that was filled last is seen")


TESTS = {"serve: the page in a browser": page, "serve: the playground in a browser": playground}
