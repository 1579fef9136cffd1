"""Segmentation: metrics against numpy, labels against a maximum flow of scipy, hostile files, figures on the horses."""

import json
import struct
import tarfile
import zlib
from pathlib import Path

import numpy as np
from safetensors import safe_open
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_flow

import horses

TASK = ["--task", "segment"]
# Least mean IoU of the foreground on the horses' test part, and by how much edges must help.
FIGURES = (0.80, 0.02)


def write_ppm(path, image):
    height, width = image.shape[:2]
    kind = b"P6" if image.ndim == 3 else b"P5"
    path.write_bytes(kind + f" {width} {height} 255\n".encode() + image.astype(np.uint8).tobytes())


def made_up(folder, n_images, seed):
    """Bright discs on a dark, noisy ground, with masks; a list of them."""
    rng = np.random.default_rng(seed)
    folder.mkdir(exist_ok=True)
    lines = []
    for i in range(n_images):
        height, width = rng.integers(20, 40, 2)
        y, x = np.mgrid[:height, :width]
        inside = (y - height / 2) ** 2 + (x - width / 2) ** 2 < rng.integers(20, 80)
        image = rng.normal(90, 40, (height, width, 3)) + 70 * inside[..., None]
        write_ppm(folder / f"{seed}-{i}.ppm", np.clip(image, 0, 255))
        write_ppm(folder / f"{seed}-{i}.pgm", 255 * inside)
        lines.append(f"{seed}-{i}.ppm\t{seed}-{i}.pgm\n")
    listed = folder / f"{seed}.tsv"
    listed.write_text("".join(lines))
    return listed


def mask_of(path):
    """A grey PNG of 8 bits, as `predict` writes masks."""
    data = path.read_bytes()
    at, packed = 8, b""
    while at < len(data):
        (length,), kind = struct.unpack(">I", data[at : at + 4]), data[at + 4 : at + 8]
        body = data[at + 8 : at + 8 + length]
        if kind == b"IHDR":
            width, height, depth, colour = struct.unpack(">IIBB", body[:10])
            assert (depth, colour) == (8, 0), "masks of two grey labels are grey, of 8 bits"
        if kind == b"IDAT":
            packed += body
        at += 12 + length
    raw = np.frombuffer(zlib.decompress(packed), np.uint8).reshape(height, width + 1)
    out = np.zeros((height, width), int)
    for y in range(height):
        line, above = raw[y, 1:].astype(int), out[y - 1] if y else np.zeros(width, int)
        for x in range(width):
            left, corner = (out[y, x - 1], above[x - 1]) if x else (0, 0)
            paeth = min((abs(above[x] - corner), 0, left), (abs(left - corner), 1, above[x]), (abs(left + above[x] - 2 * corner), 2, corner))[2]
            out[y, x] = (line[x] + [0, left, above[x], (left + above[x]) // 2, paeth][raw[y, 0]]) % 256
    return out


def metrics(checks, program, sets):
    """`eval` says what numpy counts from the masks that `predict` writes."""
    folder = Path(program.folder.name) / "discs"
    train, test, masks, model = made_up(folder, 12, 1), made_up(folder, 6, 2), folder / "masks", folder / "m.lineal"
    out = program.output("train", train, *TASK, "--mask-labels", "ground=0,disc=255", "-o", model, "--json", "--quiet")
    report = json.loads(out)
    checks.that(report["gap"] is not None and report["gap"] <= 0.011 * report["objective"], "certified", str(report["gap"]))
    told = json.loads(program.output("eval", model, test, "--json", "--quiet"))
    lines = program.output("predict", model, test, "-o", masks, "--overlay", "--confidence", "--quiet").splitlines()
    gold, found, foreground = [], [], []
    for line in lines:
        image, mask = map(Path, line.split("\t"))
        y = horses.read_pnm(image.with_suffix(".pgm"))[..., 0] > 127
        y_hat = mask_of(mask) > 127
        gold.append(y.ravel())
        found.append(y_hat.ravel())
        foreground.append((y & y_hat).sum() / (y | y_hat).sum())
        checks.that((masks / f"{image.stem}.overlay.png").exists() and (masks / f"{image.stem}.confidence.png").exists(), f"pictures of {image.stem}")
    gold, found = np.concatenate(gold), np.concatenate(found)
    iou = [((gold == k) & (found == k)).sum() / ((gold == k) | (found == k)).sum() for k in (False, True)]
    checks.close(told["pixel_accuracy"], float((gold == found).mean()), 1e-9, "pixel_accuracy")
    checks.close(told["iou"], float(np.mean(iou)), 1e-9, "iou")
    checks.close(told["iou_by_label"]["disc"], float(iou[1]), 1e-9, "iou of the disc")
    checks.close(told["foreground_iou"], float(np.mean(foreground)), 1e-9, "foreground_iou")
    checks.that(told["iou"] > 0.9, "discs are found", str(told["iou"]))
    # The list that predict printed is one that eval reads.
    listed = folder / "found.tsv"
    listed.write_text("".join(f"{line}\n" for line in lines))
    same = json.loads(program.output("eval", model, listed, "--json", "--quiet"))
    checks.that(same["pixel_accuracy"] == 1, "masks of the model are read as they were written", str(same["pixel_accuracy"]))


def graph_line(rng, i):
    n = int(rng.integers(3, 12))
    truth = rng.random(n) < 0.5
    nodes = np.round(rng.normal(size=(n, 3)) + 0.8 * truth[:, None], 3)
    edges = [[u, v, [round(float(rng.random()), 3), 1.0]] for u in range(n) for v in range(u) if rng.random() < 0.4]
    return {"id": str(i), "nodes": nodes.tolist(), "edges": edges, "labels": ["on" if t else "off" for t in truth]}


def cuts(checks, program, sets):
    """The labels of graphs are a minimum cut of what the weights say, by scipy's maximum flow in integers."""
    folder = Path(program.folder.name)
    rng = np.random.default_rng(5)
    graphs = [graph_line(rng, i) for i in range(60)]
    data, model = folder / "graphs.jsonl", folder / "graphs.lineal"
    data.write_text("".join(json.dumps(graph) + "\n" for graph in graphs))
    program.output("train", data, *TASK, "-o", model, "--quiet")
    with safe_open(str(model), "np") as file:
        w = file.get_tensor("weights").astype(np.float64)
    v = w[4:]
    checks.that(len(w) == 6 and (v >= 0).all(), "weights of edges are not negative", str(w))
    rows = [json.loads(line) for line in program.output("predict", model, data, "--output", "jsonl", "--quiet").splitlines()]
    for graph, row in zip(graphs, rows):
        own = np.array(graph["nodes"]) @ w[:3] + w[3]
        cost = np.array([np.dot(f, v) for _, _, f in graph["edges"]]) if graph["edges"] else np.zeros(0)
        # Label order is that of first sight: find which label scores.
        names = sorted({label for g in graphs for label in g["labels"]}, key=lambda l: [x for g in graphs for x in g["labels"]].index(l))
        on = np.array([label == names[1] for label in row["labels"]])
        score = own[on].sum() - sum(c for (u, t, _), c in zip(graph["edges"], cost) if on[u] != on[t])
        n, scale = len(own), 2**24
        matrix = np.zeros((n + 2, n + 2), np.int64)
        for i, o in enumerate(own):
            matrix[n, i] += int(round(max(o, 0) * scale))
            matrix[i, n + 1] += int(round(max(-o, 0) * scale))
        for (a, b, _), c in zip(graph["edges"], cost):
            matrix[a, b] += int(round(c * scale))
            matrix[b, a] += int(round(c * scale))
        flow = maximum_flow(csr_array(matrix.astype(np.int32)), n, n + 1).flow_value / scale
        best = np.maximum(own, 0).sum() - flow
        checks.that(abs(score - best) < 1e-4, f"graph {graph['id']} has the best labels", f"{score} and {best}")


def png_header(width, height):
    """The beginning of a PNG that promises so many pixels."""
    def chunk(body):
        return struct.pack(">I", len(body) - 4) + body + struct.pack(">I", zlib.crc32(body))

    header = b"IHDR" + struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(header) + chunk(b"IDAT" + zlib.compress(b"\0"))


def hostile(checks, program, sets):
    """Each mistake gets its message; nothing is written."""
    folder = Path(program.folder.name) / "hostile"
    folder.mkdir(exist_ok=True)
    model = folder / "m.lineal"
    write_ppm(folder / "a.ppm", np.zeros((8, 8, 3)))
    write_ppm(folder / "a.pgm", np.tile([0, 255], (8, 4)))
    write_ppm(folder / "small.pgm", np.zeros((4, 8)))
    write_ppm(folder / "shades.pgm", np.arange(64).reshape(8, 8) * 3)
    (folder / "large.png").write_bytes(png_header(20_000, 20_000))
    (folder / "cut.png").write_bytes(png_header(8, 8))
    cases = [
        ("an empty list", "", [], "no images"),
        ("a missing image", "none.ppm\ta.pgm\n", [], "list.tsv:1"),
        ("a mask of another size", "a.ppm\ta.pgm\na.ppm\tsmall.pgm\n", [], "8×4"),
        ("a mask with unknown labels", "a.ppm\tshades.pgm\n", ["--mask-labels", "no=0,yes=255"], "not a label"),
        ("an image without a mask", "a.ppm\n", [], "mask"),
        ("a large image", "large.png\ta.pgm\n", [], "20000"),
        ("a truncated image", "cut.png\ta.pgm\n", [], "cut short"),
        ("one label", "a.ppm\tsmall.pgm\n", ["--mask-void", "0"], "8×4"),
        ("logistic loss", "a.ppm\ta.pgm\n", ["--loss", "logistic"], "choose --loss hinge"),
    ]
    for what, text, flags, word in cases:
        (folder / "list.tsv").write_text(text)
        done = program.run("train", folder / "list.tsv", *TASK, *flags, "-o", model, "--quiet")
        told = done.stderr.strip()
        checks.that(done.returncode == 1 and word in told.replace(",", "") and "panicked" not in told, what, f"exit code {done.returncode}: {told}")
        checks.that(not model.exists(), f"{what}: nothing is written")
    graphs = [
        ("a node that is not there", {"nodes": [[1]], "edges": [[0, 1, [1]]], "labels": ["a"]}, "1"),
        ("an edge to itself", {"nodes": [[1], [2]], "edges": [[0, 0, [1]]], "labels": ["a", "b"]}, "itself"),
        ("a negative feature of an edge", {"nodes": [[1], [2]], "edges": [[0, 1, [-1]]], "labels": ["a", "b"]}, "-1"),
        ("too few labels", {"nodes": [[1], [2]], "edges": [], "labels": ["a"]}, "label"),
    ]
    for what, graph, word in graphs:
        (folder / "graphs.jsonl").write_text(json.dumps(graph) + "\n")
        done = program.run("train", folder / "graphs.jsonl", *TASK, "-o", model, "--quiet")
        told = done.stderr.strip()
        checks.that(done.returncode == 1 and "graphs.jsonl:1" in told and word in told, what, f"exit code {done.returncode}: {told}")


def accuracy(checks, program, sets):
    """What the horses must reach, and what edges add."""
    if sets.source is None or not (sets.source / "horses.tar.gz").exists():
        return
    folder = Path(program.folder.name) / "horses"
    with tarfile.open(sets.source / "horses.tar.gz") as archive:
        archive.extractall(folder, filter="data")
    images = next(folder.rglob("horse001.ppm")).parent
    train, _, test = horses.split(images)
    for part, names in (("train", train), ("test", test)):
        (folder / f"{part}.tsv").write_text("".join(f"{images}/{name}.ppm\t{images}/{name}.pgm\n" for name in names))
    found = {}
    # Fewer passes than the default, for the time of it.
    for name, flags in (("with edges", ["--max-passes", 30]), ("without", ["--no-edges", "--max-passes", 15])):
        out = program.output("train", folder / "train.tsv", *TASK, "--mask-threshold", 127, *flags, "-o", folder / "m.lineal", "--test", folder / "test.tsv",
                             "--threads", 2, "--json", "--quiet")
        found[name] = json.loads(out)["test"]["foreground_iou"]
    least, more = FIGURES
    checks.that(found["with edges"] >= least, f"IoU ≥ {least}", str(found))
    checks.that(found["with edges"] - found["without"] >= more, f"edges add {more}", str(found))


TESTS = {
    "segmentation: metrics": metrics,
    "segmentation: cuts": cuts,
    "segmentation: hostile": hostile,
    "segmentation: accuracy": accuracy,
}
