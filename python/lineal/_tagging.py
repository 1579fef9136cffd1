"""Taggers on partitions: what a process does with the sequences of one, and the driver of a run.

A partition is text that the library reads (CoNLL, JSON lines, CRFsuite), or lists of words and labels that become such text. Labels and attributes are numbered in the order of the partitions, as they
would be in one file; a shard is a partition's sequences as numbers, with the weights of all. Nothing here knows a cluster.
"""

from __future__ import annotations

import hashlib
import json
import weakref
from typing import Any

import numpy as np

from . import _cluster, _lineal
from ._shards import CHANGED, Question, Sum, aligned
from ._tagger import Tagger

Form = tuple[str, "str | None", "str | None"]
"""How text is read: its format, the column of the label, the key of the weight."""

LISTS: Form = ("conll", None, None)


def text_of(raw: tuple[Any, Any, Any]) -> bytes:
    """A partition's text; of words and labels the text that ``lineal.Tagger`` makes of them."""
    X, y, _ = raw
    return X if isinstance(X, bytes) else Tagger._text(X, y)[0]


def survey(raw: Any, form: Form) -> tuple[str, int, str] | None:
    """Columns, labels and sizes of a partition in JSON, its bytes and a digest of its text; nothing of one without words."""
    text = text_of(raw)
    found = _lineal.tag_survey(text, form)
    return None if found is None else (found, len(text), _digest(text))


def _digest(text: bytes) -> str:
    return hashlib.blake2b(text, digest_size=16).hexdigest()


class TagPlan:
    """What every process knows of all sequences. It can be sent."""

    def __init__(self, plan: Any, form: Form, marks: frozenset[str] = frozenset()):
        self.plan, self.form, self.marks = plan, form, marks
        """``marks`` are the digests of all partitions, "" of those without words; nothing is checked where there are none."""

    @property
    def dim(self) -> int:
        """Weights."""
        return self.plan.dim

    def __reduce__(self) -> Any:
        return _plan, (self.form, *self.plan.to_parts(), self.marks)

    def __sizeof__(self) -> int:
        json_, attributes, observed = self.plan.to_parts()
        return 256 + len(json_) + sum(3 * array.nbytes for array in attributes or ()) + (0 if observed is None else 2 * observed.nbytes)


_PLANS: weakref.WeakValueDictionary[bytes, TagPlan] = weakref.WeakValueDictionary()
"""The plans of this process, by a digest: each shard that comes back from a disk brings its own, and all of these are the same."""


def _plan(form: Form, json_: str, attributes: Any, observed: Any, marks: frozenset[str] = frozenset()) -> TagPlan:
    attributes, observed = aligned(attributes), aligned(observed)
    digest = hashlib.blake2b(repr((form, sorted(marks))).encode() + json_.encode(), digest_size=16)
    for array in (*(attributes or ()), *(() if observed is None else (observed,))):
        digest.update(b"%d " % len(array))
        digest.update(array)
    plan = _PLANS.get(digest.digest())
    if plan is None:
        plan = _PLANS[digest.digest()] = TagPlan(_lineal.TagPlan.from_parts(json_, attributes, observed), form, marks)
    return plan


class TagCounts:
    """How often attributes come. They can be sent; ``None`` are those of nothing."""

    def __init__(self, counts: Any):
        self.counts = counts

    def __reduce__(self) -> Any:
        return _counts, self.counts.to_parts()

    def __sizeof__(self) -> int:
        return 64 + 32 * len(self.counts)


def _counts(*parts: Any) -> TagCounts:
    return TagCounts(_lineal.TagCounts.from_parts(*aligned(parts)))


def count(raw: Any, plan: TagPlan) -> TagCounts | None:
    """The attributes of a partition."""
    counts = plan.plan.count(text_of(raw), plan.form)
    return None if counts is None else TagCounts(counts)


def add_counts(left: TagCounts | None, right: TagCounts | None) -> TagCounts | None:
    """Of two neighbours."""
    if left is None or right is None:
        return left or right
    return TagCounts(left.counts.merge(right.counts))


def observe(raw: Any, plan: TagPlan) -> np.ndarray | None:
    """The bits of the labels that the attributes of a partition come with."""
    return plan.plan.observe(text_of(raw), plan.form)


def unite(left: np.ndarray | None, right: np.ndarray | None) -> np.ndarray | None:
    """Of two neighbours."""
    if left is None or right is None:
        return right if left is None else left
    return left | right


def names(raw: Any, plan: TagPlan, hashes: list[int]) -> dict[int, str]:
    """The names of those attributes that a partition has."""
    return dict(plan.plan.names(text_of(raw), plan.form, hashes))


def add_names(left: dict[int, str], right: dict[int, str]) -> dict[int, str]:
    """Of two neighbours; what the first says counts."""
    return {**right, **left}


class TagShard:
    """A partition's sequences as the library takes them. It is sent as its text."""

    def __init__(self, plan: TagPlan, text: bytes, shard: Any):
        self.plan, self.text, self.shard = plan, text, shard

    def answer(self, question: Question, n_threads: int) -> Sum:
        """What its sequences add to the mean loss and to its vector."""
        return self.shard.answer(question.kind, aligned(question.w), aligned(question.v), n_threads)

    def __reduce__(self) -> Any:
        return _shard, (self.plan, self.text)

    def __sizeof__(self) -> int:
        return 256 + len(self.text) + self.shard.n_bytes


def _shard(plan: TagPlan, text: bytes) -> TagShard | None:
    shard = plan.plan.shard(text, plan.form)
    return None if shard is None else TagShard(plan, text, shard)


def build(raw: Any, plan: TagPlan) -> TagShard | None:
    """The shard of a partition; ``None`` of one without words."""
    text = text_of(raw)
    shard = _shard(plan, text)
    if plan.marks and ("" if shard is None else _digest(text)) not in plan.marks:
        raise ValueError(CHANGED)
    return shard


def _told(schema: dict[str, Any]) -> list[str]:
    """What partitions must agree on, in words."""
    texts = {None: "lists of tokens", "objects": "texts with spans that are objects", "triples": "texts with spans that are lists"}[schema.get("texts")]
    return [f"is {schema['format']}", f"has {texts}", f"has the columns {', '.join(schema['columns'])}", f"has its labels in the column {schema['columns'][schema['label']]}"]


def _agree(found: list[tuple[int, str]], name: Any) -> None:
    """Refuses partitions that are not alike, and says in what."""
    first: Any = None
    for number, one in found:
        told = _told(json.loads(one)["schema"])
        if first is None:
            first = (number, told)
        for a, b in zip(first[1], told):
            if a != b:
                raise ValueError(f"{name(first[0])} {a}, and {name(number)} {b}: all partitions must be alike")


def run(
    transport: _cluster.Transport,
    form: Form,
    spec: dict[str, Any],
    *,
    rounds: int = 0,
    checkpoint: Any = None,
    on_pass: Any = None,
    verbose: Any = 0,
) -> tuple[Any, dict[str, Any]]:
    """Trains, and tells what it cost."""
    try:
        each = transport.map("look", survey, form)
        found = [(number, one[0]) for number, one in enumerate(each) if one is not None]
        if not found:
            raise ValueError("no partition has a sentence")
        _agree(found, lambda number: f"partition {number} ({transport.names[number]})")
        marks = frozenset("" if one is None else one[2] for one in each)
        plan = TagPlan(_lineal.TagPlan([one for _, one in found], json.dumps(spec)), form, marks)
        counts = transport.reduce("count", count, add_counts, plan)
        assert counts is not None
        plan = TagPlan(plan.plan.with_attributes(counts.counts), form, marks)
        parts = counts.counts.to_parts()
        # An attribute of a token takes some bytes of its own, and its weights' places some for each label that it came with.
        n_bytes = sum(one[1] for one in each if one is not None) + 12 * int(parts[1].sum() + parts[3].sum())
        del counts, parts
        plan = TagPlan(plan.plan.with_observed(aligned(transport.reduce("observe", observe, unite, plan))), form, marks)

        def named(hashes: list[int]) -> list[tuple[int, str]]:
            return list(transport.reduce("name", names, add_names, plan, hashes).items())

        def train(question: Any, after: Any) -> Any:
            norm, _ = question("norm", np.empty(0), None)
            return _lineal.train_distributed_tags(plan.plan, norm, rounds, question, named, after)

        facts = plan.plan.facts
        drive = _cluster.Drive(
            transport=transport, build=build, plan=plan, n_bytes=n_bytes, dim=plan.dim, same=[spec, form, facts, plan.dim, rounds, [one and one[2] for one in each]],
            ask=lambda kind, w, v: Question(kind, w, v, "", 0, 0.0), train=train,
        )  # fmt: skip
        return drive.run(checkpoint, on_pass, verbose)
    finally:
        transport.close()
