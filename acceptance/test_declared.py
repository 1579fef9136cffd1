"""Declared structures: outputs against rules, n-best lists, hostile declarations, figures on CoNLL-04."""

import gzip
import itertools
import json
import random
from pathlib import Path

TASK = ["--task", "declared"]
# Least share of right entity types and least F1 of relations on CoNLL-04's test part, entity spans given.
FIGURES = (0.91, 0.68)
DECLARED = Path(__file__).resolve().parent.parent / "crates/structures/declared/examples/conll04.declared"

# People and places at random; who lives where is said by a word.
SMALL = """
variable entity { Peop Loc } from entities by type
variable relation(head: entity, tail: entity) { none Live_In } from relations by type all pairs
features entity: tokens[start] prefix(2, tokens[start])
features relation: set(tokens[between head tail]) order(head, tail) tokens[head.start] & tokens[tail.start]
rule relation = Live_In implies head = Peop and tail = Loc
rule at most 1 relation = Live_In per head
"""


def made_up(n, seed):
    rng = random.Random(seed)
    lines = []
    for _ in range(n):
        tokens, entities, relations = [], [], []
        for _ in range(rng.randint(1, 3)):
            person, place = f"pe{rng.randint(0, 30)}", f"lo{rng.randint(0, 30)}"
            lives = rng.random() < 0.5
            first = len(entities)
            for token, kind in ((person, "Peop"), ("in" if lives else "saw", None), (place, "Loc")):
                if kind:
                    entities.append({"start": len(tokens), "end": len(tokens) + 1, "type": kind})
                tokens.append(token)
            if lives:
                relations.append({"head": first, "tail": first + 1, "type": "Live_In"})
        lines.append(json.dumps({"tokens": tokens, "entities": entities, "relations": relations}) + "\n")
    return "".join(lines)


def trained(program):
    folder = Path(program.folder.name)
    files = folder / "small.declared", folder / "small-train.jsonl", folder / "small-test.jsonl", folder / "small.lineal"
    if not files[3].exists():
        files[0].write_text(SMALL)
        files[1].write_text(made_up(150, 1))
        files[2].write_text(made_up(60, 2))
        program.output("train", files[1], *TASK, "--declaration", files[0], "-o", files[3], "--quiet")
    return files


def is_legal(row):
    kinds = [entity["type"] for entity in row["entities"]]
    heads = [relation["head"] for relation in row["relations"]]
    typed = all(kinds[r["head"]] == "Peop" and kinds[r["tail"]] == "Loc" for r in row["relations"])
    return typed and len(heads) == len(set(heads))


def outputs(checks, program, sets):
    """Predictions keep the rules, come back as data, and are ranked; known labels stay."""
    _, _, test, model = trained(program)
    told = json.loads(program.output("eval", model, test, "--json", "--quiet"))
    checks.that(told["accuracy"] > 0.9 and told["exact"] > 0.6 and told["unproved"] == 0, "small sentences are learnt", str(told["accuracy"]))
    out = program.output("predict", model, test, "--output", "jsonl", "--n-best", 5, "--confidence", "--quiet")
    rows = [json.loads(line) for line in out.splitlines()]
    checks.that(all(is_legal(row) for row in rows), "every output keeps the rules")
    ranked = [best for row in rows for best in row["n_best"]]
    checks.that(all(is_legal(best) for best in ranked), "every output of the lists keeps the rules")
    for row in rows:
        scores = [best["score"] for best in row["n_best"]]
        checks.that(scores == sorted(scores, reverse=True) and abs(scores[0] - row["score"]) < 1e-6, "best first", str(scores))
    again = Path(program.folder.name) / "again.jsonl"
    again.write_text(program.output("predict", model, test, "--output", "jsonl", "--quiet"))
    same = json.loads(program.output("eval", model, again, "--json", "--quiet"))
    checks.that(same["accuracy"] == 1, "predictions are data that can be read again", str(same["accuracy"]))
    kept = program.output("predict", model, test, "--known", "--output", "jsonl", "--quiet").splitlines()
    gold = test.read_text().splitlines()
    same = all([e["type"] for e in json.loads(a)["entities"]] == [e["type"] for e in json.loads(b)["entities"]] for a, b in zip(kept, gold))
    checks.that(same, "known labels stay")
    found = json.loads(program.output("explain", model, test, "--rows", "1", "--token", 1, "--json", "--quiet"))
    checks.that(found["label"] in ("Peop", "Loc") and found["reasons"], "an explanation", str(found)[:200])


def brute_force(checks, program, sets):
    """The best output is the best of all, by the scores that forced labels have."""
    _, _, test, model = trained(program)
    line = next(line for line in test.read_text().splitlines() if len(json.loads(line)["entities"]) == 2)
    example = json.loads(line)
    forced = []
    for kinds in itertools.product(("Peop", "Loc"), repeat=2):
        for labels in itertools.product((None, "Live_In"), repeat=2):
            pairs = [{"head": h, "tail": t, "type": label or "none"} for (h, t), label in zip(((0, 1), (1, 0)), labels)]
            entities = [{**entity, "type": kind} for entity, kind in zip(example["entities"], kinds)]
            forced.append({**example, "entities": entities, "relations": pairs})
    path = Path(program.folder.name) / "forced.jsonl"
    scores = []
    for one in forced:
        path.write_text(json.dumps(one) + "\n")
        done = program.run("predict", model, path, "--known", "--output", "jsonl", "--quiet")
        legal = is_legal({**one, "relations": [r for r in one["relations"] if r["type"] != "none"]})
        checks.that((done.returncode == 0) == legal, "only legal outputs have an answer", done.stderr)
        if legal:
            scores.append(json.loads(done.stdout)["score"])
    path.write_text(json.dumps({**example, "entities": [{k: v for k, v in e.items() if k != "type"} for e in example["entities"]], "relations": []}) + "\n")
    best = json.loads(program.output("predict", model, path, "--output", "jsonl", "--quiet"))
    checks.close(best["score"], max(scores), 1e-5, "the best of all outputs")


HOSTILE = [
    ("an unknown label", "variable a { x y }\nrule a = z\n", ":2:", "z"),
    ("an unknown variable", "variable a { x y }\nrule b = x\n", ":2:", "b"),
    ("no labels", "variable a { }\n", ":1:", "label"),
    ("a word that means nothing", "varable a { x y }\n", ":1:", "varable"),
    ("a pattern without end", "variable a { x y }\nrule sequence a matches (x y*\n", ":2:", ")"),
]


def hostile(checks, program, sets):
    """Mistakes in a declaration get their line; rules that contradict each other are named."""
    folder = Path(program.folder.name)
    declared, data, model = folder / "hostile.declared", folder / "hostile.jsonl", folder / "hostile.lineal"
    data.write_text('{"a": [{"label": "x"}, {"label": "y"}]}\n')
    for what, text, place, word in HOSTILE:
        declared.write_text(text)
        done = program.run("train", data, *TASK, "--declaration", declared, "-o", model, "--quiet")
        told = done.stderr
        checks.that(done.returncode == 1 and place in told and word in told and "panicked" not in told, what, f"exit code {done.returncode}: {told}")
    declared.write_text("variable a { x y }\nrule exactly 1 a = x\nrule at most 1 a = y\nrule a = x implies next = x\nrule at least 2 a = y\n")
    done = program.run("train", data, *TASK, "--declaration", declared, "-o", model, "--quiet")
    checks.that(done.returncode == 1 and "line 3" in done.stderr and "line 5" in done.stderr, "rules that contradict each other are named", done.stderr)
    declared.write_text("variable a { x y }\nrule a = x implies next = y\nrule a = y implies next = x\n")
    data.write_text('{"a": [{"label": "x"}, {"label": "y"}, {"label": "x"}]}\n{"a": []}\n')
    done = program.run("train", data, *TASK, "--declaration", declared, "-o", model, "--quiet")
    checks.that(done.returncode == 0, "a circle of implications is no mistake", done.stderr)
    data.write_text('{"a": [{"label": "z"}]}\n')
    done = program.run("train", data, *TASK, "--declaration", declared, "-o", model, "--quiet")
    checks.that(done.returncode == 1 and "hostile.jsonl:1" in done.stderr and "z" in done.stderr, "an unknown label in the data", done.stderr)
    done = program.run("train", data, *TASK, "--declaration", declared, "--loss", "logistic", "-o", model, "--quiet")
    checks.that(done.returncode == 1, "no logistic loss", done.stderr)


JOBS = """
variable person { a b c d e f g h }
features person: names[start]
rule exactly 1 person = a
rule exactly 1 person = b
rule exactly 1 person = c
rule exactly 1 person = d
rule exactly 1 person = e
rule exactly 1 person = f
rule exactly 1 person = g
rule exactly 1 person = h
"""


def jobs(checks, program, sets):
    """Eight people and eight jobs: each job once, proved; labels that nobody declared, names of examples, limits, both ways to learn."""
    folder = Path(program.folder.name)
    declared, train, test, model = (folder / name for name in ("jobs.declared", "jobs-train.jsonl", "jobs-test.jsonl", "jobs.lineal"))
    declared.write_text(JOBS)
    rng = random.Random(7)

    def example(number, wrong):
        labels = rng.sample("abcdefgh", 8)
        names = [label + str(rng.randint(0, 3)) if rng.random() > wrong else "x" for label in labels]
        people = [{"start": i, "label": label} for i, label in enumerate(labels)]
        return {"id": f"day {number}", "names": names, "person": people}

    train.write_text("".join(json.dumps(example(i, 0.1)) + "\n" for i in range(60)))
    rows = [example(i, 0.2) for i in range(30)]
    rows[0]["person"][0]["label"] = "z"
    test.write_text("".join(json.dumps(row) + "\n" for row in rows))
    out = program.output("train", train, *TASK, "--declaration", declared, "-o", model, "--test", test, "--compare-local", "--json", "--quiet")
    both = json.loads(out)["compare_local"]
    checks.that(set(both) == {"rules", "local"} and both["rules"]["accuracy"] > 0.9, "both ways are compared", str(both)[:300])
    checks.that(both["local"]["violations"] > 0 and both["local"]["unproved"] == 0, "rules that nobody kept", str(both["local"])[:300])
    told = json.loads(program.output("eval", model, test, "--json", "--quiet"))
    checks.that(told["unseen"] == 1 and told["accuracy"] < 1 and told["variables"] == 240, "a label that is not declared counts as wrong", str(told)[:200])
    said = program.run("eval", model, test).stderr
    checks.that("`z`" in said and "counted as wrong" in said, "and is said", said)
    found = [json.loads(line) for line in program.output("predict", model, test, "--output", "jsonl", "--max-nodes", 50, "--time-limit", 5, "--quiet").splitlines()]
    checks.that([row["id"] for row in found] == [f"day {i}" for i in range(30)], "names of examples come back")
    checks.that(all(sorted(p["label"] for p in row["person"]) == list("abcdefgh") and row["slack"] == 0 for row in found), "each job once, proved")
    text = program.output("predict", model, test, "--quiet").splitlines()
    checks.that(text[3].startswith("day 3\tperson[0]="), "names of examples in text", text[3])
    done = program.run("predict", model, test, "--known", "--quiet")
    checks.that(done.returncode == 1 and "jobs-test.jsonl:1" in done.stderr and "`z`" in done.stderr, "an unknown label cannot be kept", done.stderr)
    done = program.run("train", test, *TASK, "--declaration", declared, "-o", model, "--quiet")
    checks.that(done.returncode == 1 and "jobs-test.jsonl:1" in done.stderr, "nor learnt", done.stderr)
    train.write_text(train.read_text() + json.dumps({"names": ["a0"] * 2, "person": [{"start": i, "label": "a"} for i in range(2)] + [{"label": c} for c in "bcdefg"]}) + "\n")
    done = program.run("train", train, *TASK, "--declaration", declared, "-o", model)
    checks.that(done.returncode == 0 and "break the rule in line 4" in done.stderr and "jobs-train.jsonl:61" in done.stderr, "labels that break rules are told", done.stderr[-600:])


def tags(checks, program, sets):
    """Rules of the same language hold for a tagger."""
    folder = Path(program.folder.name)
    data, rules, model = folder / "rules.conll", folder / "rules.txt", folder / "rules.lineal"
    rng = random.Random(4)
    lines = []
    for _ in range(200):
        for _ in range(rng.randint(2, 7)):
            name = rng.random() < 0.5
            lines.append(f"{'Na' if name != (rng.random() < 0.2) else 'wo'}{rng.randint(0, 9)}\t{'B-PER' if name else 'O'}\n")
        lines.append("\n")
    data.write_text("".join(lines))
    rules.write_text("at most 1 spans of PER\n")
    program.output("train", data, "--task", "tag", "--rules", rules, "-o", model, "--quiet")
    for flags in ([], ["--n-best", 3]):
        found = program.output("predict", model, data, *flags, "--quiet").rstrip("\n").split("\n\n")
        columns = range(2, 2 + (flags[1] if flags else 1))
        most = max(sum(line.split("\t")[c] == "B-PER" for line in sentence.splitlines() if len(line.split("\t")) > c) for sentence in found for c in columns)
        checks.that(most == 1, f"at most one span {flags}", str(most))


def accuracy(checks, program, sets):
    """What CoNLL-04 must reach."""
    if sets.source is None or not (sets.source / "conll04").is_dir():
        return
    folder = Path(program.folder.name)
    for name in ("train", "test"):
        (folder / f"conll04-{name}.jsonl").write_bytes(gzip.decompress((sets.source / f"conll04/{name}.jsonl.gz").read_bytes()))
    out = program.output("train", folder / "conll04-train.jsonl", *TASK, "--declaration", DECLARED, "-o", folder / "conll04.lineal", "--test", folder / "conll04-test.jsonl", "--json", "--quiet")
    kinds = json.loads(out)["test"]["kinds"]
    for kind, least in zip(("entity", "relation"), FIGURES):
        checks.that(kinds[kind]["micro_f1"] >= least, f"F1 of {kind} ≥ {least}", str(kinds[kind]["micro_f1"]))


TESTS = {
    "declared: outputs": outputs,
    "declared: brute force": brute_force,
    "declared: hostile": hostile,
    "declared: jobs": jobs,
    "declared: tags": tags,
    "declared: accuracy": accuracy,
}
