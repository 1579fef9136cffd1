"""One measurement of UDPipe 1 for bench/dependencies.py, in a process of its own: `dependency_peer.py JOB.json` prints one JSON object last.

Sentences are read before the clock starts and written after it has stopped: the CPU seconds, on one thread, are of training alone, or of parsing alone.
"""

import json
import sys
import time

from ufal.udpipe import InputFormat, Model, OutputFormat, ProcessingError, Sentence, Sentences, Trainer


def main():
    with open(sys.argv[1]) as file:
        job = json.load(file)
    print(json.dumps(globals()[job["what"]](job)))


def sentences(path):
    reader, error, all_of_them = InputFormat.newInputFormat("conllu"), ProcessingError(), Sentences()
    with open(path, encoding="utf-8") as file:
        reader.setText(file.read())
    sentence = Sentence()
    while reader.nextSentence(sentence, error):
        all_of_them.append(sentence)
        sentence = Sentence()
    if error.occurred():
        raise SystemExit(error.message)
    return all_of_them


def train(job):
    """A parser on gold tags, without a tokenizer and a tagger."""
    data, dev, error = sentences(job["train"]), Sentences(), ProcessingError()
    start = time.process_time()
    model = Trainer.train("morphodita_parsito", data, dev, Trainer.NONE, Trainer.NONE, job["parser"], error)
    cpu = time.process_time() - start
    if error.occurred():
        raise SystemExit(error.message)
    # The model is bytes that Python shows as text.
    with open(job["model"], "wb") as out:
        out.write(model if isinstance(model, bytes) else model.encode("utf-8", "surrogateescape"))
    return {"cpu": cpu}


def parse(job):
    model = Model.load(job["model"])
    data = list(sentences(job["test"]))
    n_words = sum(sentence.words.size() - 1 for sentence in data)
    start = time.process_time()
    for sentence in data:
        model.parse(sentence, job.get("options", Model.DEFAULT))
    cpu = time.process_time() - start
    writer = OutputFormat.newOutputFormat("conllu")
    with open(job["out"], "w", encoding="utf-8") as out:
        out.writelines(writer.writeSentence(sentence) for sentence in data)
    return {"cpu": cpu, "tokens": n_words}


if __name__ == "__main__":
    main()
