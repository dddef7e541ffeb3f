"""Several starts of one minimisation, side by side."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Event, Lock

from assay.arrays import Array
from assay.models.embedding.mds.smacof import Majorised, majorise
from assay.models.embedding.mds.stress import StressObjective


def from_all(
    starts: Sequence[Array],
    objective: Callable[[], StressObjective],
    *,
    tol: float,
    max_iter: int,
    threads: int,
    callback: Callable[[int, int, float], bool | None] | None = None,
) -> list[Majorised]:
    """Majorise from every start; the results do not depend on the number of threads.

    Args:
        starts: (n, k) coordinates each.
        objective: makes the objective of one run.
        tol, max_iter: as for `majorise`.
        threads: how many runs go on at a time.
        callback: called as callback(start, iteration, value), one call at a time; True ends all runs, an exception
            too, as does an interrupt.

    Returns:
        One Majorised for each start.
    """
    stop, one_at_a_time = Event(), Lock()

    def run(number: int) -> Majorised:
        def after(iteration: int, value: float) -> bool:
            with one_at_a_time:
                if callback is not None and not stop.is_set() and callback(number, iteration, value):
                    stop.set()
            return stop.is_set()

        return majorise(objective(), starts[number], tol=tol, max_iter=max_iter, callback=after)

    if len(starts) == 1 or threads == 1:
        return [run(number) for number in range(len(starts))]
    with ThreadPoolExecutor(min(threads, len(starts)), "assay-starts") as pool:
        runs = [pool.submit(run, number) for number in range(len(starts))]
        try:
            return [each.result() for each in runs]
        except BaseException:
            stop.set()  # before the pool waits for its threads
            raise
