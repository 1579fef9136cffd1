"""The driver of a run whose rows are on other machines. It knows neither Dask nor Spark: a transport brings questions to the partitions and the sums of their answers back.

The steps are those of ``lineal.DistributedTraining`` in the library: L-BFGS, OWL-QN with l1, Newton's method with conjugate gradients. Given the same answers it takes the same steps, so a
checkpoint is the list of answers: a driver that starts again gets these from the file, and asks the cluster from there on.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import struct
import time
from dataclasses import dataclass
from typing import Any, Callable, Protocol, Sequence

import numpy as np

from . import _lineal
from ._base import class_factors, names_of
from ._shards import Facts, Kind, Plan, Question, Sum, add_counts, add_sums, agree, aligned, answer, build, count, look, text_spec, tree

log = logging.getLogger("lineal.cluster")


class Transport(Protocol):
    """What brings questions to partitions."""

    names: Sequence[str]

    def map(self, name: str, function: Callable, *args: Any) -> list[Any]:
        """``function(partition, *args)`` of every partition, in their order."""
        ...

    def reduce(self, name: str, function: Callable, add: Callable, *args: Any) -> Any:
        """The same, added up by the tree."""
        ...

    def keep(self, function: Callable, plan: Any, n_bytes: int, tell: Callable[[dict[str, Any]], None]) -> None:
        """Makes a shard of every partition. Before that it tells where they will be and what they will take."""
        ...

    def ask(self, question: Question) -> Sum:
        """The sum of what all shards answer."""
        ...

    def tell(self, event: dict[str, Any]) -> None:
        """Shows how far the run is."""
        ...

    def close(self) -> None:
        """Lets go of the shards."""
        ...


class Here:
    """All partitions in this process, one after the other: the same bits as on a cluster."""

    def __init__(self, names: Sequence[str], reads: Sequence[Callable[[], Any]]):
        self.names, self._reads, self._shards = names, reads, []  # type: ignore[var-annotated]

    def map(self, name: str, function: Callable, *args: Any) -> list[Any]:
        """``function(partition, *args)`` of every partition."""
        out = []
        for number, read in enumerate(self._reads):
            try:
                out.append(function(read(), *args))
            except ValueError as why:
                raise ValueError(of_partition(number, self.names[number], why)) from None
            except (ArithmeticError, AttributeError, LookupError, OSError, RuntimeError, TypeError) as why:
                raise RuntimeError(in_partition(number, self.names[number], why)) from why
        return out

    def reduce(self, name: str, function: Callable, add: Callable, *args: Any) -> Any:
        """The same, added up by the tree."""
        return tree(self.map(name, function, *args), add)

    def keep(self, function: Callable, plan: Any, n_bytes: int, tell: Callable[[dict[str, Any]], None]) -> None:
        """Makes the shards."""
        tell({"workers": 0, "kept": True, "bytes_per_worker": n_bytes})
        self._shards = self.map("shard", function, plan)

    def ask(self, question: Question) -> Sum:
        """The sum of what all shards answer."""
        return tree([answer(shard, question, os.cpu_count() or 1) for shard in self._shards], add_sums)

    def tell(self, event: dict[str, Any]) -> None:
        """Nobody looks."""

    def close(self) -> None:
        """Lets go of the shards."""
        self._shards = []


class Checkpoint:
    """Answers in a file. A record is the question's digest, the value, the vector and a digest of both; a record that a crash cut short is written again."""

    def __init__(self, path: Any, run: str):
        self._path, digest = os.fspath(path), hashlib.blake2b(run.encode(), digest_size=16).digest()
        self._file = open(path, "r+b" if os.path.exists(path) else "w+b")
        mine, head = b"lineal 1" + digest, self._file.read(24)
        if head != mine and mine.startswith(head):
            # A new file, or one that a crash left with part of its head.
            self._file.seek(0)
            self._file.write(mine)
            self._file.flush()
        elif head != mine:
            self._file.close()
            raise ValueError(f"{self._path} is a checkpoint of other data or other parameters: name another file, or remove it")
        self.n_replayed = 0

    def around(self, ask: Callable[[Question], Sum]) -> Callable[[Question], Sum]:
        """Answers from the file as long as there are any, then from the cluster."""

        def asked(question: Question) -> Sum:
            key = hashlib.blake2b(question.kind.encode(), digest_size=16)
            for vector in (question.w, question.v):
                key.update(b"" if vector is None else vector.tobytes())
            place = self._file.tell()
            found = self._record(key.digest(), len(question.w))
            if found is not None:
                self.n_replayed += 1
                return found
            self._file.seek(place)
            self._file.truncate()
            value, vector = ask(question)
            body = struct.pack("<d", value) + vector.tobytes()
            self._file.write(key.digest() + body + hashlib.blake2b(body, digest_size=16).digest())
            self._file.flush()
            os.fsync(self._file.fileno())
            return value, vector

        return asked

    def _record(self, key: bytes, n: int) -> Sum | None:
        record = self._file.read(16 + 8 + 8 * n + 16)
        body = record[16:-16]
        if len(record) < 40 + 8 * n or hashlib.blake2b(body, digest_size=16).digest() != record[-16:]:
            return None
        if record[:16] != key:
            raise ValueError(f"{self._path}: the answers of the checkpoint are to other questions; remove it")
        return struct.unpack("<d", body[:8])[0], np.frombuffer(body[8:], dtype=np.float64)

    def close(self) -> None:
        """Closes the file."""
        self._file.close()


def survey(transport: Transport, kind: Kind, class_weight: Any = None, columnwise: bool = False, text: dict[str, Any] | None = None) -> tuple[Plan, Facts]:
    """A first pass: how many rows, which classes, how long rows are; for text a second, for the vocabulary."""
    each = transport.map("look", look, kind)
    if not each:
        raise ValueError("there are no partitions")
    facts = agree(each, kind, lambda number: f"partition {number} ({transport.names[number]})")
    if not facts.n_rows:
        raise ValueError("no partition has a row")
    if not facts.weight > 0:
        raise ValueError("all weights are 0")
    shift, n_features, total = 0, facts.n_features, facts.weight
    if kind.libsvm:
        # Columns of LIBSVM's files are counted from 1, unless one is 0; how many there are is what the largest says.
        shift = int(facts.least_column > 0)
        n_features -= shift
    classes, factors, share, n_outputs, indicator = None, None, 1.0, 1, False
    if kind.target != "numbers":
        indicator = isinstance(facts.values, int)
        classes = np.arange(facts.values) if indicator else facts.values
        counts = facts.counts
        if kind.target == "classes":
            if len(classes) < 2:
                raise ValueError(f"there must be at least 2 classes, but the data contains only one class: {classes!r}")
            factors = class_factors(class_weight, classes, np.arange(len(classes)), counts)
            counts = counts if factors is None else counts * factors
            total = float(counts.sum())
            n_outputs = 1 if len(classes) == 2 else len(classes)
        else:
            n_outputs = len(classes)
        if not len(classes):
            raise ValueError("no row has a label; there is nothing to learn")
        shares = counts / total
        share = float(min(shares.min(), 1 - shares.max()) if columnwise or kind.target == "labels" else shares.min())
    found, longest = None, facts.longest
    if kind.text:
        spec = text_spec(next(one for one in each if one.n_rows), **(text or {}))
        counted = transport.reduce("count", count, add_counts, spec)
        found = (spec, *counted.counts.finish(spec))
        # Rows have length 1, but for rounding.
        n_features, longest = len(found[2]), 1.001
    plan = Plan(
        kind=kind, n_rows=facts.n_rows, n_features=n_features, total=total, n_outputs=n_outputs, shift=shift, classes=classes, factors=factors,
        names=None if kind.text else facts.names, least_share=share, longest=longest, indicator=indicator, dtype=facts.dtype, text=found, marks=facts.marks,
    )  # fmt: skip
    return plan, facts


@dataclass
class Drive:
    """A run: partitions become shards, a solver asks them, and what that cost is told."""

    transport: Transport
    build: Callable
    plan: Any
    n_bytes: int
    """What all shards take, about."""
    dim: int
    """Weights."""
    same: Any
    """What a checkpoint must agree with, beside the partitions."""
    ask: Callable[[str, np.ndarray, "np.ndarray | None"], Question]
    train: Callable[[Callable, Callable], Any]
    """The solver, which is given what asks and what is called after each pass."""

    def run(self, checkpoint: Any, on_pass: Any, verbose: Any) -> tuple[Any, dict[str, Any]]:
        """The model, and what it cost."""
        started, transport = time.monotonic(), self.transport
        about: dict[str, Any] = {}

        def tell(where: dict[str, Any]) -> None:
            about.update(where, partitions=len(transport.names), bytes=self.n_bytes, bytes_per_vector=8 * self.dim, bytes_of_driver=25 * 8 * self.dim)
            told = memory_in_words(about)
            log.info(told)
            if verbose:
                print(told)

        log_file = None
        asked, seconds = 0, []
        try:
            transport.keep(self.build, self.plan, self.n_bytes, tell)
            ask: Callable[[Question], Sum] = transport.ask
            if checkpoint is not None:
                log_file = Checkpoint(checkpoint, json.dumps([self.same, list(transport.names)]))
                ask = log_file.around(ask)

            def question(kind: str, w: np.ndarray, v: np.ndarray | None) -> Sum:
                nonlocal asked
                asked += 1
                before = time.monotonic()
                value, vector = ask(self.ask(kind, w, v))
                seconds.append(time.monotonic() - before)
                return value, aligned(vector)

            def after(number: int, objective: float | None, gap: float | None, loss: float | None) -> None:
                event = {"pass": number, "asked": asked, "objective": objective, "gap": gap, "loss": loss, "bytes": asked * about["bytes_per_vector"], "seconds": time.monotonic() - started}
                transport.tell(event)
                log.info("pass %d: objective %s, gap %s, loss %s, %d questions", number, objective, gap, loss, asked)
                if on_pass is not None:
                    on_pass(number, objective, gap)

            model = self.train(question, after)
        finally:
            transport.close()
            if log_file is not None:
                about["replayed"] = log_file.n_replayed
                log_file.close()
        about.update(questions=asked, seconds=time.monotonic() - started, seconds_per_question=float(np.median(seconds)) if seconds else None)
        return model, about


def run(
    transport: Transport, plan: Plan, facts: Facts, spec: dict[str, Any], *, rounds: int = 0, checkpoint: Any = None, on_pass: Any = None, verbose: Any = 0
) -> tuple[Any, dict[str, Any]]:
    """Trains, and tells what it cost."""
    said = json.dumps({"standardize": "never", "precision": "f64", **spec})
    n_classes = 0 if plan.classes is None else len(plan.classes)
    rows = {
        "n_rows": plan.n_rows,
        "total_weight": plan.total,
        "n_features": plan.n_features,
        "target": plan.kind.target,
        "classes": [] if plan.classes is None else names_of(plan.classes),
        "names": plan.names,
        "facts": (plan.longest, plan.least_share) if plan.least_share > 0 else None,
        "text": None if plan.text is None else aligned(plan.text),
        "rounds": rounds,
    }
    same = [said, plan.n_rows, plan.n_features, plan.total.hex(), plan.longest.hex(), [str(c) for c in plan.classes] if n_classes else [], rounds, facts.digest]
    drive = Drive(
        transport=transport, build=build, plan=plan, n_bytes=facts.n_bytes, dim=plan.dim, same=same,
        ask=lambda kind, w, v: Question(kind, w, v, said, n_classes, plan.total),
        train=lambda question, after: _lineal.train_distributed(rows, said, question, after),
    )  # fmt: skip
    return drive.run(checkpoint, on_pass, verbose)


def of_partition(number: int, name: str, why: BaseException) -> str:
    """What is wrong with a partition, whose name may already be part of the words."""
    return f"partition {number} ({name}): {str(why).removeprefix(f'{name}: ')}"


def in_partition(number: int, name: str, why: BaseException, failed: str = "could not be made") -> str:
    """What to say of an error that somebody else's code raised while a partition was made, or answered."""
    return f"partition {number} ({name}) {failed}: {type(why).__name__}: {why}"


def megabytes(n_bytes: float) -> str:
    """A size that people read."""
    return f"{n_bytes / 1e9:.1f} GB" if n_bytes >= 1e9 else f"{n_bytes / 1e6:.1f} MB"


def memory_in_words(about: dict[str, Any]) -> str:
    """What a run will take, before it takes it."""
    where = f"{about['workers']} workers, about {megabytes(about['bytes_per_worker'])} of rows and sums on each" if about["workers"] else "this process"
    how = "kept in memory" if about["kept"] else "read anew in every pass, since they do not fit"
    return (
        f"lineal: {about['partitions']} partitions, {megabytes(about['bytes'])} of rows, {how}; {where}; "
        f"{megabytes(about['bytes_per_vector'])} to each worker and back in every pass, {megabytes(about['bytes_of_driver'])} for the driver"
    )
