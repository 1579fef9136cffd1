"""Questions to partitions by Dask, and the sums of their answers back.

Rows stay on the workers, as futures of tasks that begin with a read: when a worker is lost, Dask runs these tasks again elsewhere. Nothing is scattered, since what a client scatters is not made
again; what is sent to all (weights, a vocabulary) is the argument of a task. Every wait ends: with an answer, or with an error that says what was waited for.
"""

from __future__ import annotations

import ctypes
import re
import time
import uuid
import warnings
from concurrent.futures import CancelledError
from dataclasses import dataclass
from typing import Any, Callable, Sequence

import distributed
from dask import delayed

from ._cluster import in_partition, megabytes, of_partition
from ._shards import WIDTH, Question, Sum, add_sums, answer, levels, tree

LOOK = 1.0
"""Seconds between two looks at what is done."""

MAKING = ("look", "count", "observe", "name", "shard", "read")
"""Tasks that make something of a partition; the others answer for what was made."""

ATTEMPTS = 3
"""How often a pass is begun again after the scheduler forgot its keys."""


def hold(value: Any) -> Any:
    """A task whose result is its argument: it can be run again, scattered data cannot."""
    return value


def each(function: Callable, number: int, name: str, raw: Any, args: tuple) -> Any:
    """Calls a function with a partition, which it reads if it is one of files, and says which one if that fails.

    A task of its own for reading would read partitions before there is room for them, and a worker that pauses because of these never gets to what would let them go.
    """
    is_read = isinstance(raw, Reading)
    if is_read:
        raw = read(raw.source, raw.number, raw.limit, raw.method)
    try:
        return function(raw, *args)
    except ValueError as why:
        raise ValueError(of_partition(number, name, why)) from None
    finally:
        del raw
        if is_read:
            give_back()


def answered(shard: Any, question: Question) -> Sum:
    """A shard's answer, by as many threads as the worker has: its other tasks share them."""
    return answer(shard, question, distributed.get_worker().state.nthreads)


def streamed(raw: Any, build: Callable, number: int, name: str, plan: Any, question: Question) -> Sum:
    """The answer of a shard that is made for this pass only."""
    try:
        return answered(each(build, number, name, raw, (plan,)), question)
    finally:
        give_back()


def give_back() -> None:
    """Returns memory that is free to the system, where the C library can: it keeps blocks as large as partitions, which count as the worker's, and Dask pauses workers whose memory is nearly full."""
    try:
        ctypes.CDLL(None).malloc_trim(0)
    except (AttributeError, OSError, TypeError):
        pass


@dataclass(frozen=True)
class Reading:
    """How a partition is read."""

    source: Any
    number: int
    limit: int
    method: str


class Reads(list):
    """Tasks that read partitions, and what they do."""

    def __init__(self, calls: Sequence[Reading], tasks: Sequence[Any]):
        super().__init__(tasks)
        self.calls = list(calls)


def added(start: int, add: Callable, *sums: Any) -> Any:
    """Neighbouring nodes of the tree, from that of number ``start`` on their level."""
    return tree(sums, add, start)


def read(source: Any, number: int, limit: int, method: str = "read") -> Any:
    """Reads a partition, if it can fit."""
    fits(number, source.name, source.n_bytes(), limit)
    return getattr(source, method)()


def fits(number: int, name: str, n_bytes: int, limit: int) -> None:
    """Refuses a partition that a worker has no room for."""
    if limit and n_bytes > limit:
        raise MemoryError(
            f"partition {number} ({name}) takes {megabytes(n_bytes)} or more, and a worker has {megabytes(limit)}: make partitions smaller, or give workers more memory"
        )


class WorkersEnded(MemoryError):
    """Workers that ended while they computed something."""


class Cluster:
    """Partitions on the workers of a client. ``parts`` are delayed ``(X, y, weights)``."""

    def __init__(self, client: Any, names: Sequence[str], parts: Sequence[Any], *, timeout: float, keep: Any = "auto"):
        self.client, self.names, self.timeout, self._keep = client, names, timeout, keep
        # Partitions of files are read by the tasks that need them.
        self._parts: Sequence[Any] = getattr(parts, "calls", parts)
        self._made: tuple[Callable, Any, Any] | None = None
        """What makes shards, the plan, and the plan on the workers."""
        self._shards: list[Any] | None = None
        self._n = 0

    def map(self, name: str, function: Callable, *args: Any) -> list[Any]:
        """``function(partition, *args)`` of every partition."""

        def once() -> list[Any]:
            futures = self._compute(name, function, args)
            return self._results(futures, f"{name} of partitions", futures)

        return self._again(once)

    def reduce(self, name: str, function: Callable, add: Callable, *args: Any) -> Any:
        """The same, added up by the tree."""
        return self._again(lambda: self._root(self._compute(name, function, args), name, add))

    def keep(self, function: Callable, plan: Any, n_bytes: int, tell: Callable[[dict[str, Any]], None]) -> None:
        """Makes shards where there is memory for all of them; else they are made anew in every pass."""
        workers = self.workers()
        limits, n_workers, n_parts = self.limits(), len(workers), max(len(self.names), 1)
        # Answers stay until they are added up: one for each partition, and weights, a product and a node of the sum for each worker.
        vectors = 8 * plan.dim * (n_parts + 3 * n_workers)
        room = sum(limits) if all(limits) else None
        kept = self._keep if self._keep != "auto" else room is None or 1.5 * n_bytes + vectors <= 0.6 * room
        rows = n_bytes / n_workers if kept else n_bytes / n_parts * max(worker["nthreads"] for worker in workers.values())
        tell({"workers": n_workers, "kept": bool(kept), "bytes_per_worker": int(rows + vectors / n_workers), "least_memory": min(limits) if all(limits) else 0})

        def once() -> None:
            self._make(function, plan, bool(kept))
            if self._shards is not None:
                self._wait(self._shards, "shards to be read", self._shards)

        self._again(once)

    def _make(self, function: Callable, plan: Any, kept: bool) -> None:
        self._made = (function, plan, self._hold(plan, "plan"))
        self._shards = self._compute("shard", function, (self._made[2],)) if kept else None

    def ask(self, question: Question) -> Sum:
        """The sum of what all shards answer."""

        def lost() -> None:
            assert self._made is not None
            self._make(*self._made[:2], kept=self._shards is not None)

        return self._again(lambda: self._ask(question), lost)

    def _again(self, once: Callable[[], Any], lost: Callable[[], None] = lambda: None) -> Any:
        """Calls ``once``, and again where results were lost with their workers. Where workers end while they compute, one more time only: others may have ended them, or what they computed."""
        forgotten, ended = ATTEMPTS - 1, 1
        while True:
            try:
                return once()
            except CancelledError:
                if (forgotten := forgotten - 1) < 0:
                    raise
            except WorkersEnded:
                if (ended := ended - 1) < 0:
                    raise
            lost()

    def _ask(self, question: Question) -> Sum:
        self._n += 1
        at, name = self._hold(question, "weights"), f"lineal-{question.kind}-{uuid.uuid4().hex}"
        keys = [f"{name}-{number}" for number in range(len(self.names))]
        if self._shards is not None:
            leaves = self.client.map(answered, self._shards, [at] * len(keys), key=keys, pure=False)
        else:
            assert self._made is not None
            build, _, plan = self._made
            tasks = [
                delayed(streamed, pure=False)(raw, build, number, self.names[number], plan, at, dask_key_name=keys[number])
                for number, raw in enumerate(self._parts)
            ]
            leaves = self.client.compute(tasks)
        return self._root(leaves, question.kind, add_sums)

    def tell(self, event: dict[str, Any]) -> None:
        """An event of the topic ``lineal``, which the dashboard shows."""
        self.client.log_event("lineal", event)

    def close(self) -> None:
        """Lets go of the shards."""
        self._shards = self._made = None

    def limits(self) -> list[int]:
        """The memory of each worker, 0 where there is no limit."""
        return [int(worker["memory_limit"] or 0) for worker in self.workers().values()]

    def workers(self) -> dict[str, Any]:
        """What is known of the workers, by their addresses, as soon as there is one."""
        waited = time.monotonic()
        while True:
            workers = self.client.scheduler_info(n_workers=-1)["workers"]
            if workers:
                return dict(sorted(workers.items()))
            if time.monotonic() - waited > self.timeout:
                raise TimeoutError(f"waited {self.timeout:g} s for a worker: the scheduler {self.client.scheduler.address} has none")
            time.sleep(LOOK / 10)

    def _compute(self, name: str, function: Callable, args: tuple) -> list[Any]:
        """Tasks for all partitions."""
        held = tuple(arg if isinstance(arg, distributed.Future) else self._hold(arg, name) for arg in args)
        run = uuid.uuid4().hex
        call = delayed(each, pure=False)
        tasks = [call(function, number, self.names[number], raw, held, dask_key_name=f"lineal-{name}-{run}-{number}") for number, raw in enumerate(self._parts)]
        return self.client.compute(tasks)

    def _hold(self, value: Any, name: str) -> Any:
        with warnings.catch_warnings():
            # That a vector is large is known; it is sent once.
            warnings.simplefilter("ignore", UserWarning)
            return self.client.submit(hold, value, key=f"lineal-{name}-{uuid.uuid4().hex}", pure=False)

    def _root(self, leaves: list[Any], name: str, add: Callable) -> Any:
        level, run, size = leaves, uuid.uuid4().hex, 1
        for nodes in levels(len(leaves)):
            below = [level[a // size : -(-b // size)] for a, b in nodes]
            level = [self.client.submit(added, a // size, add, *some, key=f"lineal-add-{run}-{size}-{a}", pure=False) for (a, _), some in zip(nodes, below)]
            size *= WIDTH
        (root,) = self._results(level, f"pass {self._n} ({name})", leaves)
        return root

    def _results(self, futures: list[Any], what: str, parts: list[Any]) -> list[Any]:
        """What was computed, as soon as all is done. What a worker takes with it before it was sent is waited for again."""
        while True:
            self._wait(futures, what, parts)
            try:
                return self.client.sync(lambda: self.client.gather(futures, asynchronous=True), callback_timeout=self.timeout)
            except (TimeoutError, distributed.TimeoutError):
                if all(future.status == "finished" for future in futures):
                    raise TimeoutError(f"waited {self.timeout:g} s for the results of {what}, which workers have and did not send") from None

    def _wait(self, futures: list[Any], what: str, parts: list[Any]) -> None:
        """Until all are done; no longer than ``timeout`` without any progress."""
        last, since = -1, time.monotonic()
        while True:
            try:
                with self.client.as_current():
                    distributed.wait(futures, timeout=LOOK)
            except (TimeoutError, distributed.TimeoutError):
                pass
            failed = [future for future in [*parts, *futures] if future.status in ("error", "cancelled")]
            if failed:
                self._fail(failed[0])
            if all(future.status == "finished" for future in futures):
                return
            done = sum(future.status == "finished" for future in parts)
            # Fewer are done after a loss: what was lost is made again, and each that is made counts.
            if done != last:
                last, since = done, time.monotonic()
            elif time.monotonic() - since > self.timeout:
                missing = [number for number, future in enumerate(parts) if future.status != "finished"]
                names = ", ".join(f"{number} ({self.names[number]})" for number in missing[:3])
                workers = self.client.scheduler_info(n_workers=-1)["workers"]
                paused = sum(worker["status"] == "paused" for worker in workers.values())
                full = f", {paused} of them paused because their memory is nearly full: make partitions smaller, or give workers more memory" if paused else ""
                rest = f"partitions {names}{' …' if len(missing) > 3 else ''}" if missing else "the sum"
                raise TimeoutError(f"waited {self.timeout:g} s for {what} without progress: {len(missing)} of {len(parts)} partitions are missing ({rest}); there are {len(workers)} workers{full}")

    def _fail(self, future: Any) -> None:
        if future.status == "cancelled":
            raise CancelledError(future.key)
        error = future.exception(timeout=self.timeout)
        if isinstance(error, distributed.scheduler.KilledWorker):
            found = self._partition_of(error.task)
            named = str(error.task) if found is None else f"partition {found[1]} ({self.names[found[1]]})"
            limits = self.limits()
            raise WorkersEnded(
                f"{named}: every worker that was given it ended, the last one {error.last_worker.address}. It may need more memory than the "
                f"{megabytes(min(limits)) if limits else 'memory'} of a worker: make partitions smaller, or give workers more memory"
            ) from error
        found = self._partition_of(future.key)
        if found is not None and isinstance(error, (ArithmeticError, AttributeError, LookupError, OSError, RuntimeError, TypeError)):
            name, number = found
            failed = "could not be made" if name in MAKING else "could not answer"
            raise RuntimeError(in_partition(number, self.names[number], error, failed)) from error
        raise error

    def _partition_of(self, key: Any) -> tuple[str, int] | None:
        """What is done with which partition by the task of a key; nothing of a task that adds up."""
        found = re.fullmatch(r"lineal-([a-z]+)-[0-9a-f]+-(\d+)", str(key))
        return (found[1], int(found[2])) if found and int(found[2]) < len(self.names) else None
