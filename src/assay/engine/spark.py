"""Map-reduce on a Spark cluster: parts are read and mapped by its executors, only summaries travel.

A task that fails is tried again by Spark; the result of each part is merged once, in the order of the parts.
"""

from __future__ import annotations

import gc
import os
import shutil
import signal
import socket
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import Any, TypeVar

import pyarrow as pa

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
    needed,
    worked,
)
from assay.errors import AssayError, EngineError

try:
    import cloudpickle
    from pyspark import StorageLevel, TaskContext
    from pyspark.errors import PySparkException
    from pyspark.sql import SparkSession
except ImportError as error:
    raise EngineError("engine='spark' needs PySpark: pip install 'assay[spark]'") from error

Block = TypeVar("Block")
Part = TypeVar("Part")
Joined = TypeVar("Joined")

# Parts of one Spark job, for each core of the cluster: progress is told after each job.
_PARTS_OF_A_JOB = 8
# A task that fails is tried so often in all; Spark's own number where there is a cluster, one where there is none.
_TRIES = 4
# Seconds until a master has to answer, and a cluster has to have an executor.
_ANSWERS, _ALONE = 20.0, 60.0


class SparkEngine(Engine):
    """A Spark cluster.

    Args:
        session: connected to it; stays open.
    """

    def __init__(self, session: SparkSession) -> None:
        self.session = session
        self._own = False

    @classmethod
    def started(cls) -> SparkEngine:
        """Spark on the cores of this machine; it ends with the engine."""
        return cls.at(f"local[*,{_TRIES}]")

    @classmethod
    def at(cls, address: str) -> SparkEngine:
        """A cluster that runs already, or a `local` one.

        Args:
            address: of its master.
        """
        if shutil.which("java") is None and not os.environ.get("JAVA_HOME"):
            raise EngineError("Spark needs a Java runtime, 17 or newer: install one and set JAVA_HOME, or use 'dask'")
        if address.startswith("spark://"):
            _reached(address)
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        builder = SparkSession.builder.appName("assay").master(address).config("spark.ui.enabled", "false")
        if address.startswith("local"):
            builder = builder.config("spark.driver.host", "127.0.0.1").config("spark.driver.bindAddress", "127.0.0.1")
        try:
            engine = cls(builder.getOrCreate())
        except (PySparkException, RuntimeError, OSError) as error:
            raise EngineError(f"Spark cannot be started at {address}: {error}") from error
        engine.session.sparkContext.setLogLevel("ERROR")
        engine._own = True
        _keep_interrupts()
        if not address.startswith("local"):
            engine._await_executor(address)
        return engine

    def _await_executor(self, address: str) -> None:
        """Wait until somebody can work: without executors a job of Spark would wait for ever."""
        context: Any = self.session.sparkContext
        end = time.monotonic() + _ALONE
        while context._jsc.sc().getExecutorMemoryStatus().size() < 2:  # the driver is one of them
            if time.monotonic() > end:
                self.close()
                raise EngineError(f"Spark at {address} gave no executor in {_ALONE:.0f} seconds: are its workers busy?")
            time.sleep(0.1)

    @property
    def workers(self) -> int:
        """Cores of all executors."""
        return max(1, int(self.session.sparkContext.defaultParallelism))

    def map_reduce(
        self,
        blocks: Parted[Block],
        map: Callable[[Block], Part],
        merge: Callable[[Part, Part], Part],
        progress: Progress | None = None,
    ) -> Part:
        """Map every block on the executors and merge in the fixed shape."""
        blocks.begin()
        order = InOrder(merge, blocks.hear, progress)
        for number, result in enumerate(self._each(lambda part, given=None: worked(part, map, merge, given), blocks)):
            order.take(number, result)
        whole: Part = order.whole()
        return whole

    def scatter(self, blocks: Parted[Block]) -> Parted[Block]:
        """The same blocks in the memory of the executors, or on their disks; one that is lost is read again."""
        if isinstance(blocks, _OnExecutors):
            return blocks
        if any(needed(part) is not None for part in blocks.parts()):  # Spark keeps frames itself: persist them
            return blocks
        kept = self._spread(blocks.parts()).map(_at_work(Read.of)).persist(StorageLevel.MEMORY_AND_DISK)
        return _OnExecutors(blocks, kept)

    def gather(self, blocks: Parted[Block]) -> list[Block]:
        """All blocks, in order."""
        blocks.begin()
        found: list[Block] = []
        for read in self._each(Read.of, blocks):
            found += read.blocks
            blocks.hear(read.what)
        return found

    def regroup(
        self,
        blocks: Parted[Block],
        split: Callable[[Block], Sequence[Part]],
        join: Callable[[list[Part]], Joined],
        count: int,
    ) -> Parted[Joined]:
        """Cut up every block and put the pieces together anew; executors hand them to each other."""
        if not isinstance(blocks, _OnExecutors) and any(needed(part) is not None for part in blocks.parts()):
            return super().regroup(blocks, split, join, count)
        rdd = blocks.kept if isinstance(blocks, _OnExecutors) else self._spread(blocks.parts())

        def cut(number: int, parts: Iterator[Any]) -> Iterator[tuple[int, tuple[int, Any]]]:
            for part in parts:
                pieces = guarded(lambda part: list(zip(*map(split, part), strict=True)))(part)
                wrong = isinstance(pieces, AssayError)
                yield from ((new, (number, pieces if wrong else pieces[new] if pieces else ())) for new in range(count))

        def joined(found: tuple[int, Any]) -> Any:
            pieces = [some for _, some in sorted(found[1], key=lambda some: some[0])]
            wrong = next((some for some in pieces if isinstance(some, AssayError)), None)
            return wrong or guarded(lambda some: Read([join([one for part in some for one in part])], None))(pieces)

        kept = rdd.mapPartitionsWithIndex(cut).groupByKey(count, int).map(joined)
        return _OnExecutors(Kept(count), kept.persist(StorageLevel.MEMORY_AND_DISK))

    def close(self) -> None:
        """End a session that was started here."""
        if self._own:
            self.session.stop()
            self._own = False

    def _spread(self, parts: Sequence[Any]) -> Any:
        """Parts as an RDD, one in each of its partitions."""
        content = [cloudpickle.dumps(part) for part in parts]
        return self.session.sparkContext.parallelize(content, max(1, len(content))).map(cloudpickle.loads)

    def _each(self, work: Callable[..., Any], blocks: Parted[Any]) -> Iterator[Any]:
        """Results of all parts, in order, job by job."""
        if isinstance(blocks, _OnExecutors):
            rdd, count = blocks.kept, len(blocks.parts())
            with self._explained():
                yield from _raised(rdd.map(_at_work(work)).collect() if count else [])
            return
        parts = blocks.parts()
        if parts and needed(parts[0]) is not None:
            with self._explained():
                results = _of_frame(needed(parts[0])[0], parts, _at_work(work))
            yield from _raised(results)
            return
        step = _PARTS_OF_A_JOB * self.workers
        for start in range(0, len(parts), step):
            with self._explained():
                results = self._spread(parts[start : start + step]).map(_at_work(work)).collect()
            yield from _raised(results)

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except PySparkException as error:
            said = (str(error).splitlines() or [type(error).__name__])[0]
            raise EngineError(f"a task failed again and again on the Spark cluster ({said})") from error
        except Exception as error:
            if type(error).__module__.startswith("py4j"):
                raise EngineError(f"a task failed again and again on the Spark cluster ({_cause(error)})") from error
            raise


def _at_work(work: Callable[..., Any]) -> Callable[..., Any]:
    """Guarded work in a process of an executor, which pays for what it has loaded once and not with every task."""
    inner = guarded(work)

    def done(*given: Any) -> Any:
        result = inner(*given)
        _set_modules_apart()
        return result

    return done


_modules = 0


def _set_modules_apart() -> None:
    """Keep what modules hold out of the collection of garbage that PySpark asks for after every task.

    It goes through every object, those of numba and SciPy among them: a tenth of a second, more than most tasks take.
    """
    global _modules
    if len(sys.modules) != _modules:
        gc.collect()
        gc.freeze()
        _modules = len(sys.modules)


def _keep_interrupts() -> None:
    """Let Control-C be one: before 4.2 what PySpark does then may fail, and its error would take the place of it."""
    asked = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(asked):
        return

    def interrupted(number: int, frame: FrameType | None) -> None:
        try:
            asked(number, frame)
        finally:
            raise KeyboardInterrupt

    signal.signal(signal.SIGINT, interrupted)


def _reached(address: str) -> None:
    """Refuse an address where no master listens: Spark itself would try for a minute, and then stop without a word."""
    for master in address.removeprefix("spark://").split(","):
        host, _, port = master.rpartition(":")
        try:
            socket.create_connection((host, int(port)), timeout=_ANSWERS).close()
        except (OSError, ValueError):
            continue
        return
    raise EngineError(f"no Spark master answers at {address}: is it running, and reachable?")


def _of_frame(frame: Any, parts: Sequence[Any], work: Callable[..., Any]) -> list[Any]:
    """Results of all partitions of a data frame, each handed to its part as Arrow batches."""

    def of_partition(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        here = TaskContext.get()
        number = 0 if here is None else here.partitionId()
        result = cloudpickle.dumps(work(parts[number], batches))
        yield pa.RecordBatch.from_arrays([pa.array([number]), pa.array([result])], names=["number", "result"])

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # about the version of pandas
        rows = frame.mapInArrow(of_partition, "number long, result binary").collect()
    found = {row.number: cloudpickle.loads(bytes(row.result)) for row in rows}
    return [found[number] for number in range(len(parts))]


class _OnExecutors(Forwarded):
    """Blocks in the memory of the executors."""

    def __init__(self, blocks: Parted[Any], kept: Any) -> None:
        super().__init__(blocks)
        self.kept = kept

    @property
    def portable(self) -> bool:
        return True

    def heard_by(self, listen: Callable[[Any], object]) -> _OnExecutors:
        """The same blocks; somebody else is told, too."""
        return _OnExecutors(Overheard(self._blocks, listen), self.kept)


def _raised(results: Sequence[Any]) -> Iterator[Any]:
    for result in results:
        if isinstance(result, AssayError):
            raise result
        yield result


def _cause(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if "Error" in line or "Exception" in line]
    return lines[-1][:300] if lines else type(error).__name__
