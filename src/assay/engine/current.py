"""Which engine is in use, and the one way through which summaries and models reach it."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

from assay.engine.cache import Cache
from assay.engine.engine import Engine, Items, Parted, Progress
from assay.engine.local import LocalEngine
from assay.engine.named import NAMES, engine_named
from assay.engine.resume import KeptResults
from assay.engine.tree import NOTHING
from assay.errors import DataError, ParameterError

Block = TypeVar("Block")
Part = TypeVar("Part")

_LOCAL = LocalEngine()
_IN_USE: ContextVar[Engine] = ContextVar("engine", default=_LOCAL)
_KEPT: ContextVar[KeptResults | None] = ContextVar("kept", default=None)
_CACHE: ContextVar[Cache | None] = ContextVar("cache", default=None)
_SENDS_ARRAYS: ContextVar[bool] = ContextVar("sends_arrays", default=False)


def map_reduce(
    blocks: Iterable[Block],
    map: Callable[[Block], Part],
    merge: Callable[[Part, Part], Part],
    *,
    threads: int | None = None,
    progress: Progress | None = None,
    empty: Any = NOTHING,
) -> Part:
    """Map every block and merge the parts, on the engine in use.

    Blocks are merged in pairs, pairs of pairs and so on, in their order: the result does not depend on the engine, on
    how many workers there are, or on which is done first. Blocks that lie in this process are worked on here.

    Args:
        blocks: what to work on; where they come in parts, workers read them.
        map: from a block to its part.
        merge: from two neighbouring parts to one.
        threads: how many threads, where the work is done here; default: the cores this process may use.
        progress: called with the number of blocks or parts done so far. Raise in it to stop.
        empty: the result where there are no blocks; without it that is refused.

    >>> map_reduce([[1, 2], [3]], sum, lambda a, b: a + b)
    6
    """
    engine, kept, cache = _IN_USE.get(), _KEPT.get(), _CACHE.get()
    if not is_elsewhere(blocks):
        engine = engine if threads is None and isinstance(engine, LocalEngine) else LocalEngine(threads)
    if kept is not None and isinstance(blocks, Parted) and blocks.portable:
        whole = kept.map_reduce(engine, blocks, map, merge, progress)
    elif cache is not None and isinstance(engine, LocalEngine) and isinstance(blocks, Parted) and blocks.portable:
        whole = cache.map_reduce(engine, blocks, map, merge, progress)
    else:
        whole = engine.map_reduce(blocks, map, merge, progress)  # type: ignore[arg-type]  # the local one takes any
    if whole is NOTHING:
        if empty is NOTHING:
            raise DataError("there is nothing to summarise: the source has no blocks")
        return empty  # type: ignore[no-any-return]
    return whole


def scattered(blocks: Any) -> Any:
    """The same blocks, kept with the workers of the engine in use where they are read by workers.

    Args:
        blocks: anything that `map_reduce` takes; it will be passed over several times.
    """
    engine = _IN_USE.get()
    return engine.scatter(blocks) if isinstance(blocks, Parted) and blocks.portable else blocks


def gathered_blocks(blocks: Iterable[Block]) -> list[Block]:
    """All blocks, read by the workers of the engine in use and brought here; for what is known to be small.

    Args:
        blocks: anything that `map_reduce` takes.
    """
    engine = _IN_USE.get()
    return engine.gather(blocks) if isinstance(blocks, Parted) and blocks.portable else list(blocks)


def mapped_blocks(blocks: Iterable[Block], map: Callable[[Block], Part]) -> list[Part]:
    """map(block) for each block, in order, on the engine in use; for results that are small beside the blocks.

    Args:
        blocks: anything that `map_reduce` takes.
        map: from a block to its result.

    >>> mapped_blocks([[1, 2], [3]], sum)
    [3, 3]
    """
    return map_reduce(blocks, lambda block: [map(block)], list.__add__, empty=[])


def regrouped(blocks: Any, split: Callable[[Any], Sequence[Any]], join: Callable[[list[Any]], Any], count: int) -> Any:
    """Blocks cut up and put together anew by the workers of the engine in use, who keep them.

    Args:
        blocks: anything that `map_reduce` takes, in parts.
        split: from a block to `count` pieces, one for each new block.
        join: from all pieces of a new block, in order, to that block.
        count: how many new blocks.

    >>> odd_and_even = regrouped(Items([[1, 2], [3, 4]]), lambda b: [b[:1], b[1:]], lambda parts: sum(parts, []), 2)
    >>> gathered_blocks(odd_and_even)
    [[1, 3], [2, 4]]
    """
    engine = _IN_USE.get() if blocks.portable else _LOCAL
    return engine.regroup(blocks, split, join, count)


def spread(work: Callable[[Block], Part], items: Sequence[Block]) -> list[Part]:
    """work(item) for each item by the workers of the engine in use, results in order.

    Args:
        work: what to do.
        items: what to do it with; they can be pickled.

    >>> spread(abs, [-1, 2])
    [1, 2]
    """
    return mapped_blocks(Items(items), work)


def is_elsewhere(blocks: Any) -> bool:
    """Whether blocks are read and worked on by workers in other processes.

    Args:
        blocks: anything that `map_reduce` takes.
    """
    return not is_local() and isinstance(blocks, Parted) and blocks.portable


def in_use() -> Engine:
    """The engine in use."""
    return _IN_USE.get()


def is_local() -> bool:
    """Whether the engine in use is this process."""
    return isinstance(_IN_USE.get(), LocalEngine)


def sends_arrays() -> bool:
    """Whether rows of arrays in this process go to the workers; else they are worked on here."""
    return _SENDS_ARRAYS.get() and not is_local()


@contextmanager
def using(
    engine: Any = None, *, arrays: bool = False, resume: str | os.PathLike[str] | None = None
) -> Iterator[Engine]:
    """Let everything inside run on an engine: what reads a source in blocks, its workers read and summarise.

    Args:
        engine: "local", "dask" or "spark", started here and ended with the block; the address of a cluster, such as
            "tcp://host:8786" or "spark://host:7077"; a live `dask.distributed.Client` or `SparkSession`, which stays
            alive; an `Engine`; or None for the one in use.
        arrays: send rows of arrays in this process to the workers, too. That pays only where the work on a row costs
            more than its way; without it arrays are worked on here.
        resume: a folder of your own for results of parts of files: if the run ends early, the next one with the same
            folder goes on from there. It is empty again once all inside has ended well.

    >>> with using("local") as engine:
    ...     engine.workers >= 1
    True
    """
    with _resuming(resume):
        if engine is None:
            yield _IN_USE.get()
            return
        opened = engine if isinstance(engine, Engine) else _opened(engine)
        token, sends = _IN_USE.set(opened), _SENDS_ARRAYS.set(arrays)
        try:
            yield opened
        finally:
            _IN_USE.reset(token)
            _SENDS_ARRAYS.reset(sends)
            if opened is not engine:
                opened.close()


@contextmanager
def _resuming(folder: str | os.PathLike[str] | None) -> Iterator[None]:
    if folder is None:
        yield
        return
    kept = KeptResults(folder)
    token = _KEPT.set(kept)
    try:
        yield
    finally:
        _KEPT.reset(token)
    kept.clear()


@contextmanager
def caching(cache: bool | str | os.PathLike[str] = True) -> Iterator[Cache | None]:
    """Let results of long passes over large files inside be kept for the next run, and taken where they are there.

    Args:
        cache: False for no, True for the user's cache folder, or another folder of the user's.
    """
    kept = None if cache is False else Cache(None if cache is True else cache)
    token = _CACHE.set(kept)
    try:
        yield kept
    finally:
        _CACHE.reset(token)


def engine_of(data: Any) -> Any:
    """The engine on which data lie: the Client or session of a data frame of Dask or Spark; None for all others.

    Args:
        data: what the user gave.
    """
    room = type(data).__module__
    if room.startswith("pyspark.sql") and hasattr(data, "sparkSession"):
        return data.sparkSession
    if room.startswith("dask.") and (distributed := sys.modules.get("distributed")) is not None:
        try:
            return distributed.default_client()
        except ValueError:  # there is none: Dask computes on threads of this process
            return None
    return None


def _opened(given: Any) -> Engine:
    if isinstance(given, str):
        name = engine_named(given)
        if name == "dask":
            from assay.engine.dask import DaskEngine

            return DaskEngine.started() if given == name else DaskEngine.at(given)
        if name == "spark":
            from assay.engine.spark import SparkEngine

            return SparkEngine.started() if given == name else SparkEngine.at(given)
        return LocalEngine()
    # what is alive has imported its own library
    distributed, sql = sys.modules.get("distributed"), sys.modules.get("pyspark.sql")
    if distributed is not None and isinstance(given, distributed.Client):
        from assay.engine.dask import DaskEngine

        return DaskEngine(given)
    if sql is not None and isinstance(given, sql.SparkSession):
        from assay.engine.spark import SparkEngine

        return SparkEngine(given)
    raise ParameterError(
        f"an engine is one of {', '.join(NAMES)}, an address, a Client of dask.distributed or a SparkSession; "
        f"got a {type(given).__name__}"
    )
