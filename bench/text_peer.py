"""One run of a peer from raw text to a saved model, in a process of its own: `text_peer.py JOB.json` prints one JSON object last.

Clocks start when all is imported. Training is reading the file, making features, learning, writing the model; prediction is reading the file, making
features, predicting, with the model in memory.
"""

import json
import pickle
import random
import re
import resource
import sys
import time
import warnings


def main():
    with open(sys.argv[1]) as file:
        job = json.load(file)
    warnings.simplefilter("ignore")
    report = globals()[job["what"]](job)
    report["rss_mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps(report))


class Clock:
    """CPU and wall seconds since it was made."""

    def __init__(self):
        self.wall, self.cpu = time.perf_counter(), time.process_time()

    def read(self, name):
        return {f"{name}_wall": time.perf_counter() - self.wall, f"{name}_cpu": time.process_time() - self.cpu}


def rows(path):
    """Labels and texts of JSON lines, or of a tsv with a header."""
    labels, texts = [], []
    with open(path, encoding="utf-8") as lines:
        if path.endswith(".tsv"):
            next(lines)
        for line in lines:
            if path.endswith(".tsv"):
                label, text = line.rstrip("\n").split("\t", 1)
            else:
                row = json.loads(line)
                label, text = row["label"], row["text"]
            labels.append(label)
            texts.append(text)
    return labels, texts


def shuffled(path):
    """The rows in a random order, always the same: those who learn row by row need one."""
    pairs = list(zip(*rows(path)))
    random.Random(0).shuffle(pairs)
    return pairs


def words(text):
    """What scikit-learn takes for words, between spaces."""
    return " ".join(re.findall(r"(?u)\b\w\w+\b", text.lower()))


def accuracy(gold, found):
    return sum(a == b for a, b in zip(gold, found)) / len(gold)


def sklearn(job):
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.svm import LinearSVC

    learner = LinearSVC(random_state=0) if job["learner"] == "LinearSVC" else LogisticRegression()
    model = make_pipeline(TfidfVectorizer(sublinear_tf=True), learner)
    clock = Clock()
    labels, texts = rows(job["train"])
    model.fit(texts, labels)
    with open(job["out"], "wb") as out:
        pickle.dump(model, out)
    trained = clock.read("train")
    clock = Clock()
    gold, texts = rows(job["test"])
    found = model.predict(texts)
    return {**trained, **clock.read("predict"), "accuracy": accuracy(gold, found)}


def vectorize(job):
    from sklearn.feature_extraction.text import TfidfVectorizer

    labels, texts = rows(job["train"])
    clock = Clock()
    TfidfVectorizer(sublinear_tf=True, ngram_range=(1, 2)).fit_transform(texts)
    return {**clock.read("train"), "bytes": sum(len(text.encode()) for text in texts)}


def as_fasttext(source, target):
    """The same rows as fastText reads them: tokens as its users make them, lower-cased words."""
    with open(target, "w", encoding="utf-8") as out:
        for label, text in shuffled(source):
            out.write(f"__label__{label.replace(' ', '_')} {words(text)}\n")


def fasttext(job):
    import fasttext as peer

    for part in ("train", "test"):
        as_fasttext(job[part], job["out"] + f".{part}.txt")
    clock = Clock()
    model = peer.train_supervised(input=job["out"] + ".train.txt", thread=1, verbose=0)
    model.save_model(job["out"])
    trained = clock.read("train")
    clock = Clock()
    lines = [line.rstrip("\n") for line in open(job["out"] + ".test.txt", encoding="utf-8")]
    gold = [line.split(" ", 1)[0] for line in lines]
    found, _ = model.predict([line.split(" ", 1)[1] if " " in line else "" for line in lines])
    return {**trained, **clock.read("predict"), "accuracy": accuracy(gold, [one[0] for one in found])}


def vw(job):
    """One pass of one-against-all over words as VW splits them. Writing its format is left out, in its favour."""
    import vowpalwabbit

    names = {}
    for part in ("train", "test"):
        # For the other side to read.
        as_fasttext(job[part], job["out"] + f".{part}.txt")
        with open(job["out"] + f".{part}.vw", "w", encoding="utf-8") as out:
            for label, text in shuffled(job[part]):
                number = names.setdefault(label, len(names) + 1)
                out.write(f"{number} | {words(text)}\n")
    flags = f"--oaa {len(names)} -b {job['bits']} --loss_function hinge --quiet"
    clock = Clock()
    model = vowpalwabbit.Workspace(f"{flags} -d {job['out']}.train.vw -f {job['out']}")
    model.finish()
    trained = clock.read("train")
    clock = Clock()
    model = vowpalwabbit.Workspace(f"-t -i {job['out']} -d {job['out']}.test.vw -p {job['out']}.found --quiet")
    model.finish()
    predicted = clock.read("predict")
    gold = [line.split(" ", 1)[0] for line in open(job["out"] + ".test.vw", encoding="utf-8")]
    found = [line.split()[0].split(".")[0] for line in open(job["out"] + ".found")]
    return {**trained, **predicted, "accuracy": accuracy(gold, found)}


if __name__ == "__main__":
    main()
