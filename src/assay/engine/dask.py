"""Map-reduce on a Dask cluster: parts are read and mapped by its workers, only summaries travel.

A worker that dies takes nothing along: its parts are worked on again elsewhere, and the result of each part is merged
once, in the order of the parts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from assay.engine.engine import Engine, InOrder, Kept, Parted, Progress, Read, worked
from assay.engine.local import available_cores
from assay.errors import AssayError, EngineError

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
            engine = cls(Client(address, timeout="20s"))
        except (OSError, TimeoutError) as error:
            raise EngineError(f"no Dask scheduler answers at {address}: is it running, and reachable?") from error
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
            futures = [self.client.submit(_read, _Sent.of(part), pure=False) for part in blocks.parts()]
        return _OnWorkers(blocks, tuple(_Future(future) for future in futures))

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
            cut = [submit(_split, _sent(part), shared) for part in blocks.parts()]
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
        done = as_completed(loop=self.client.loop, with_results=True)

        def submit() -> None:
            for number, part in rest:
                future = self.client.submit(work, _sent(part), shared, pure=False, priority=-number, retries=1)
                numbers[future] = number
                done.add(future)
                return

        try:
            for _ in range(_WAITING * self.workers):
                submit()
            for future, result in done:
                submit()
                if isinstance(result, AssayError):
                    raise result
                yield numbers.pop(future), result
        finally:
            self.client.cancel(list(numbers))

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except (KilledWorker, FutureCancelledError) as error:
            raise EngineError(
                "workers of the Dask cluster died again and again on the same part: most often for lack of memory; "
                f"give each more memory, or fewer threads ({error})"
            ) from error


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


class _OnWorkers:
    """Blocks in the memory of the workers."""

    def __init__(self, blocks: Parted[Any], futures: tuple[_Future, ...]) -> None:
        self._blocks = blocks
        self._futures = futures

    @property
    def portable(self) -> bool:
        return True

    def __iter__(self) -> Iterator[Any]:
        return iter(self._blocks)

    def of_parts(self) -> Iterator[Any]:
        return iter(self._blocks.of_parts())

    def parts(self) -> Sequence[Any]:
        return self._futures

    def begin(self) -> None:
        self._blocks.begin()

    def hear(self, told: Any) -> None:
        self._blocks.hear(told)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._blocks, name)


def _sent(part: Any) -> Any:
    return part.future if isinstance(part, _Future) else _Sent.of(part)


def _part(sent: Any) -> Any:
    return cloudpickle.loads(sent.content) if isinstance(sent, _Sent) else sent


def _read(sent: Any, shared: Any = None) -> Any:
    if isinstance(sent, AssayError):
        return sent
    try:
        return Read.of(_part(sent))
    except AssayError as error:  # no fault of the worker: no other would do better
        return error


def _work(sent: Any, shared: Any) -> Any:
    if isinstance(sent, AssayError):  # what was to be kept could not be read
        return sent
    try:
        return worked(_part(sent), *shared)
    except AssayError as error:
        return error


def _split(sent: Any, shared: Any) -> Any:
    """The pieces of a part by the new block they go to: for each a list, one piece of each block of the part."""
    if isinstance(sent, AssayError):
        return sent
    try:
        return list(zip(*(shared[0](block) for block in _part(sent)), strict=True))
    except AssayError as error:
        return error


def _piece(found: Any, number: int) -> Any:
    if isinstance(found, AssayError):
        return found
    return found[number] if found else ()


def _joined(found: list[Any], shared: Any) -> Any:
    wrong = next((some for some in found if isinstance(some, AssayError)), None)
    if wrong is not None:
        return wrong
    try:
        return Read([shared[1]([piece for some in found for piece in some])], None)
    except AssayError as error:
        return error
