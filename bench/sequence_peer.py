"""One measurement of CRFsuite for bench/sequences.py, in a process of its own: `sequence_peer.py JOB.json` prints one JSON object last.

The attribute file is read line by line as CRFsuite's own reader would; the seconds are of reading, training and writing the model.
"""

import json
import sys
import time

import pycrfsuite


def main():
    with open(sys.argv[1]) as file:
        job = json.load(file)
    print(json.dumps(globals()[job["what"]](job)))


def sentences(path):
    labels, items = [], []
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            fields = line.rstrip("\n").split("\t")
            if len(fields) > 1:
                labels.append(fields[0])
                items.append(fields[1:])
            elif labels:
                yield items, labels
                labels, items = [], []
    if labels:
        yield items, labels


def train(job):
    start, cpu = time.perf_counter(), time.process_time()
    trainer = pycrfsuite.Trainer(verbose=True)
    trainer.select(job["algorithm"])
    trainer.set_params(job["params"])
    for items, labels in sentences(job["train"]):
        trainer.append(items, labels)
    read = time.perf_counter() - start
    trainer.train(job["model"])
    seconds = time.perf_counter() - start
    last = trainer.logparser.last_iteration or {}
    return {"read": read, "wall": seconds, "cpu": time.process_time() - cpu, "loss": last.get("loss"), "iterations": last.get("num")}


def tag(job):
    tagger = pycrfsuite.Tagger()
    tagger.open(job["model"])
    data = list(sentences(job["test"]))
    start = time.perf_counter()
    predicted = [tagger.tag(items) for items, _ in data]
    wall = time.perf_counter() - start
    with open(job["out"], "w", encoding="utf-8") as out:
        for (_, gold), labels in zip(data, predicted):
            out.writelines(f"{g} {y}\n" for g, y in zip(gold, labels))
            out.write("\n")
    return {"wall": wall, "tokens": sum(map(len, predicted))}


if __name__ == "__main__":
    main()
