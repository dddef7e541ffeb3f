"""Run the bench: jobs in turns over all families, two processes, every finished table kept in a file at once."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from contextlib import suppress
from multiprocessing import current_process, get_context
from pathlib import Path
from typing import Any, NamedTuple

import assay

HERE = Path(__file__).parent
CACHE = HERE / "results" / "tables.jsonl"
_OWN = ("family", "independent", "dependent", "planted", "reference", "intervals", "spread", "measure")


class Job(NamedTuple):
    """A table of a family, or a turn of a table whose spread is measured."""

    part: str
    name: str
    number: int


def source_hash() -> str:
    """Of what decides a record: assay's sources and those of the families."""
    own = [HERE / f"{name}.py" for name in _OWN]
    digest = hashlib.sha256()
    for path in [*sorted(Path(assay.__file__).parent.rglob("*.py")), *own]:
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def jobs(tables: int | None = None, only: str = "") -> list[Job]:
    """Every job, families in turns, so that a run cut short is balanced.

    Args:
        tables: of the usual family; all others in proportion.
        only: part of the name of the families wanted.
    """
    from calibrate.families import FAMILIES
    from calibrate.family import USUAL
    from calibrate.spread import ORDERS, SEEDS, TABLES

    part = 1.0 if tables is None else tables / USUAL
    placed = []
    for family in FAMILIES.values():
        count = max(1, round(part * family.tables))
        placed += [((i + 0.5) / count, Job("table", family.name, i)) for i in range(count)]
    seeds, orders = (min(whole, max(2, round(part * whole))) for whole in (SEEDS, ORDERS))
    turns = [*range(seeds), *range(SEEDS, SEEDS + orders)]
    placed += [((i + 0.5) / len(turns), Job("spread", name, turn)) for name in TABLES for i, turn in enumerate(turns)]
    return [job for _, job in sorted(placed) if only in job.name]


def done(job: Job) -> dict[str, Any]:
    """The record of a job."""
    from calibrate.families import FAMILIES
    from calibrate.measure import measured
    from calibrate.spread import spread_of

    if job.part == "table":
        return measured(FAMILIES[job.name], job.number)
    return spread_of(job.name, job.number)


def known(key: str) -> dict[Job, dict[str, Any]]:
    """Records of the cache that these sources made; a line cut short by a crash is passed over."""
    found = {}
    for line in CACHE.read_text().splitlines() if CACHE.exists() else ():
        try:
            entry = json.loads(line)
        except json.JSONDecodeError:
            continue
        if entry["key"] == key:
            found[Job(*entry["job"])] = entry["record"]
    return found


def run(wanted: Sequence[Job], *, minutes: float | None = None, workers: int = 2) -> dict[Job, dict[str, Any]]:
    """Do what is not in the cache, and give all records there are; Ctrl-C ends it with what is done so far."""
    key = source_hash()
    records = known(key)
    left = [job for job in wanted if job not in records]
    begun, total = time.monotonic(), len(wanted)
    until = None if minutes is None else begun + 60.0 * minutes
    CACHE.parent.mkdir(exist_ok=True)
    with CACHE.open("a") as cache, suppress(KeyboardInterrupt):
        for i, (job, record) in enumerate(_finished(left, until, workers), 1):
            records[job] = record
            cache.write(json.dumps({"key": key, "job": job, "record": record}) + "\n")
            cache.flush()
            _progress(total - len(left) + i, total, (time.monotonic() - begun) / i * (len(left) - i), job.name)
    print(f"\n{len(records)} tables are kept in {CACHE.name}", file=sys.stderr)
    return {job: records[job] for job in wanted if job in records}


def _finished(left: Iterable[Job], until: float | None, workers: int) -> Iterator[tuple[Job, dict[str, Any]]]:
    """Jobs as they end; none is begun after the time; where it is left, by Ctrl-C, those running end."""
    os.environ["OPENBLAS_NUM_THREADS"] = "1"  # two processes on two cores
    waiting: dict[Future[Any], Job] = {}
    queue = iter(left)
    pool = ProcessPoolExecutor(workers, get_context("spawn"), initializer=_worker)
    try:
        while True:
            while len(waiting) < workers + 1 and (until is None or time.monotonic() < until):
                job = next(queue, None)
                if job is None:
                    break
                waiting[pool.submit(done, job)] = job
            if not waiting:
                return
            for one in wait(waiting, return_when=FIRST_COMPLETED).done:
                yield waiting.pop(one), one.result()
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _worker() -> None:
    """Leave Ctrl-C to the parent, and keep to one core: threads of two processes on two cores hinder each other."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(os, "sched_setaffinity"):
        cores = sorted(os.sched_getaffinity(0))
        os.sched_setaffinity(0, {cores[current_process()._identity[0] % len(cores)]})


def _progress(count: int, total: int, seconds: float, name: str) -> None:
    line = f"{count} of {total} tables, about {seconds / 60.0:.0f} min left: {name}"
    print(f"\r{line:<100.100}", end="" if sys.stderr.isatty() else "\n", file=sys.stderr, flush=True)
