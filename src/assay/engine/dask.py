"""Map-reduce on a Dask cluster: parts are read and mapped by its workers, only summaries travel.

A worker that dies takes nothing along: its parts are worked on again elsewhere, and the result of each part is merged
once, in the order of the parts.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from logging import ERROR
from typing import Any, TypeVar

from assay.engine.engine import (
    Engine,
    Forwarded,
    InOrder,
    Kept,
    Overheard,
    Parted,
    Progress,
    Read,
    guarded,
    handing,
    needed,
    worked,
)
from assay.errors import AssayError, EngineError
from assay.optimize.team import available_cores
from assay.shown import without_secrets

try:
    import cloudpickle
    from distributed import Client, KilledWorker, LocalCluster, as_completed
    from distributed.client import FutureCancelledError
except ImportError as error:
    raise EngineError("engine='dask' needs Dask: pip install 'assay[dask]'") from error

Block = TypeVar("Block")
Part = TypeVar("Part")
Joined = TypeVar("Joined")

# Tasks that wait on the scheduler for each one that runs.
_WAITING = 4
# Seconds until a scheduler has to answer, and after which a cluster without workers is given up.
_ANSWERS, _ALONE = 20.0, 60.0
# A part that fails by an error not made on purpose, such as a lack of memory, is worked on again so often.
_RETRIES = 3


class DaskEngine(Engine):
    """A Dask cluster.

    Args:
        client: connected to it; stays open.
    """

    def __init__(self, client: Client) -> None:
        self.client = client
        self._own: list[Any] = []

    @classmethod
    def started(cls) -> DaskEngine:
        """A cluster of processes on this machine, one for each core; it ends with the engine."""
        # without a nanny's restarts a worker that ran out of memory would end the run
        cluster = LocalCluster(
            n_workers=available_cores(),
            threads_per_worker=1,
            processes=True,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",
            silence_logs=ERROR,
        )
        engine = cls(Client(cluster))
        engine._own = [engine.client, cluster]
        return engine

    @classmethod
    def at(cls, address: str) -> DaskEngine:
        """A cluster that runs already.

        Args:
            address: of its scheduler.
        """
        try:
            engine = cls(Client(address, timeout=_ANSWERS))
        except (OSError, ValueError, TypeError) as error:
            cause = error if without_secrets(address) == address else None  # its text may hold the address
            raise EngineError(f"no Dask scheduler answers at {address}: is it running, and reachable?") from cause
        engine._own = [engine.client]
        return engine

    @property
    def workers(self) -> int:
        """Threads of all workers."""
        return max(1, int(sum(self.client.nthreads().values())))

    def map_reduce(
        self,
        blocks: Parted[Block],
        map: Callable[[Block], Part],
        merge: Callable[[Part, Part], Part],
        progress: Progress | None = None,
    ) -> Part:
        """Map every block on the workers and merge in the fixed shape."""
        # what all parts need is a task of its own: it travels once to each worker, and is made again if it is lost
        with self._explained():
            shared = self.client.submit(cloudpickle.loads, cloudpickle.dumps((map, merge)), pure=False)
            blocks.begin()
            order = InOrder(merge, blocks.hear, progress)
            for number, result in self._each(_work, blocks.parts(), shared):
                order.take(number, result)
        whole: Part = order.whole()
        return whole

    def scatter(self, blocks: Parted[Block]) -> Parted[Block]:
        """The same blocks in the memory of the workers; one that is lost is read again."""
        if isinstance(blocks, _OnWorkers):
            return blocks
        with self._explained():
            parts = blocks.parts()
            futures = [self.client.submit(_read, _Sent.of(p), None, self._given(p), pure=False) for p in parts]
        return _OnWorkers(blocks, tuple(map(_Future, futures, parts)))

    def gather(self, blocks: Parted[Block]) -> list[Block]:
        """All blocks, in order."""
        found: dict[int, list[Block]] = {}
        with self._explained():
            blocks.begin()
            order = InOrder(lambda a, b: None, blocks.hear, None)
            for number, read in self._each(_read, blocks.parts(), None):
                found[number] = read.blocks
                order.take(number, (None, read.told()))
        return [block for number in sorted(found) for block in found[number]]

    def regroup(
        self,
        blocks: Parted[Block],
        split: Callable[[Block], Sequence[Part]],
        join: Callable[[list[Part]], Joined],
        count: int,
    ) -> Parted[Joined]:
        """Cut up every block and put the pieces together anew; workers hand them to each other."""
        with self._explained():
            submit = partial(self.client.submit, pure=False)
            shared = submit(cloudpickle.loads, cloudpickle.dumps((split, join)))
            cut = [submit(_split, _sent(part), shared, self._given(part)) for part in blocks.parts()]
            pieces = [[submit(_piece, some, number) for some in cut] for number in range(count)]
            futures = [submit(_joined, some, shared) for some in pieces]
        return _OnWorkers(Kept(count), tuple(_Future(future) for future in futures))

    def close(self) -> None:
        """Disconnect, and end a cluster that was started here."""
        for own in self._own:
            own.close()
        self._own = []

    def _each(self, work: Callable[..., Any], parts: Sequence[Any], shared: Any) -> Iterator[tuple[int, Any]]:
        """Results of all parts with their numbers, as they come; a bounded number of tasks is under way."""
        numbers: dict[Any, int] = {}
        rest = iter(enumerate(parts))
        done = as_completed(with_results=True, loop=self.client.loop)  # not that of the client made last

        def submit() -> None:
            for number, part in rest:
                future = self.client.submit(
                    work, _sent(part), shared, self._given(part), pure=False, priority=-number, retries=_RETRIES
                )
                numbers[future] = number
                done.add(future)
                return

        try:
            for _ in range(_WAITING * self.workers):
                submit()
            for future, result in self._finished(done):
                submit()
                if isinstance(result, AssayError):
                    raise result
                yield numbers.pop(future), result
        finally:
            # also where the driver was interrupted: what runs may end, what waits never begins
            if self.client.status == "running":
                self.client.cancel(list(numbers))

    def _finished(self, done: Any) -> Iterator[tuple[Any, Any]]:
        """Each task that ended, with its result; a cluster that is gone is not waited for."""
        watch = _Watch(self.client)
        while not done.is_empty():
            if not done.has_ready():
                with done.thread_condition:
                    done.thread_condition.wait(timeout=0.1)
                watch.look()
                continue
            future, result = next(done)
            if future.status != "finished":
                raise EngineError(_LOST)
            watch = _Watch(self.client)
            yield future, result

    def _given(self, part: Any) -> Any:
        """The partition of a frame that a part needs, where it lies; None for parts that read by themselves."""
        needs = needed(part)
        return None if needs is None else self.client.compute(needs[0].get_partition(needs[1]))

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except (KilledWorker, FutureCancelledError) as error:
            raise EngineError(
                "workers of the Dask cluster died again and again on the same part: most often for lack of memory; "
                f"give each more memory, or fewer threads ({error})"
            ) from error


_LOST = "the Dask scheduler was lost while it worked: start the cluster again, and the run"


class _Watch:
    """Looks after a cluster while nothing is heard from it."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._alone: float | None = None
        self._next = time.monotonic() + 1.0

    def look(self) -> None:
        """Refuse to wait longer for a cluster that has had no workers for a minute; asked once a second."""
        now = time.monotonic()
        if now < self._next:
            return
        self._next = now + 1.0
        if self._client.status == "closed":
            raise EngineError(_LOST)
        if self._client.status == "running" and self._client.nthreads():
            self._alone = None
            return
        self._alone = now if self._alone is None else self._alone
        if now - self._alone >= _ALONE:
            raise EngineError(
                f"the Dask cluster has had no workers for {_ALONE:.0f} seconds: start some, and the run again"
            )


@dataclass(frozen=True, slots=True)
class _Sent:
    """A part on its way, pickled by value, so that functions of a script or notebook travel too."""

    content: bytes

    @classmethod
    def of(cls, part: Any) -> _Sent:
        return cls(cloudpickle.dumps(part))


@dataclass(frozen=True, slots=True, eq=False)
class _Future:
    """A part in the memory of a worker."""

    future: Any
    part: Any = None

    def identity(self) -> Any:
        """That of the part; None for what workers put together."""
        return None if self.part is None else (self.part,)


class _OnWorkers(Forwarded):
    """Blocks in the memory of the workers."""

    def __init__(self, blocks: Parted[Any], futures: tuple[_Future, ...]) -> None:
        super().__init__(blocks)
        self._futures = futures

    @property
    def portable(self) -> bool:
        return True

    def parts(self) -> Sequence[Any]:
        return self._futures

    def heard_by(self, listen: Callable[[Any], object]) -> _OnWorkers:
        """The same blocks; somebody else is told, too."""
        return _OnWorkers(Overheard(self._blocks, listen), self._futures)


def _sent(part: Any) -> Any:
    return part.future if isinstance(part, _Future) else _Sent.of(part)


def _part(sent: Any) -> Any:
    return cloudpickle.loads(sent.content) if isinstance(sent, _Sent) else sent


@guarded
def _read(sent: Any, shared: Any, given: Any) -> Any:
    return Read.of(_part(sent), given)


@guarded
def _work(sent: Any, shared: Any, given: Any) -> Any:
    map, merge = shared
    return worked(_part(sent), map, merge, given)


@guarded
def _split(sent: Any, shared: Any, given: Any) -> Any:
    """The pieces of a part by the new block they go to: for each a list, one piece of each block of the part."""
    with handing(given):
        return list(zip(*(shared[0](block) for block in _part(sent)), strict=True))


@guarded
def _piece(found: Any, number: int) -> Any:
    return found[number] if found else ()


@guarded
def _joined(found: list[Any], shared: Any) -> Any:
    for some in found:
        if isinstance(some, AssayError):
            raise some
    return Read([shared[1]([piece for some in found for piece in some])], None)
