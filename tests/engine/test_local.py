"""map_reduce: block order, bounded memory, progress, interruption."""

import threading
import time

import pytest

from assay.engine.current import map_reduce
from assay.errors import DataError, ParameterError
from assay.optimize.team import available_cores


@pytest.mark.parametrize("threads", [1, 2, 5, None])
def test_parts_are_merged_in_block_order_whoever_finishes_first(threads):
    def slow_first(i):
        time.sleep(0.02 if i % 3 == 0 else 0.0)
        return [i]

    assert map_reduce(range(20), slow_first, lambda a, b: a + b, threads=threads) == list(range(20))


def test_only_a_few_blocks_are_held_at_a_time():
    alive, most, lock = 0, 0, threading.Lock()

    def blocks():
        nonlocal alive, most
        for i in range(50):
            with lock:
                alive += 1
                most = max(most, alive)
            yield i

    def merge(a, b):
        nonlocal alive
        with lock:
            alive -= 1
        return a + b

    assert map_reduce(blocks(), lambda i: i, merge, threads=3) == sum(range(50))
    assert most <= 3 + 2 + 6  # on threads and being taken; of 50 blocks, 6 parts at most wait for a neighbour


def test_progress_counts_blocks_and_may_stop_the_work():
    seen, mapped = [], []

    def stop_at_five(done):
        seen.append(done)
        if done == 5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        map_reduce(range(1000), mapped.append, lambda a, b: None, threads=2, progress=stop_at_five)
    assert seen == [1, 2, 3, 4, 5]
    assert len(mapped) < 20


@pytest.mark.parametrize("threads", [1, 3])
def test_an_error_in_a_block_reaches_the_caller(threads):
    with pytest.raises(ZeroDivisionError):
        map_reduce(range(10), lambda i: 1 / (i - 4), lambda a, b: a + b, threads=threads)


def test_threads_work_at_the_same_time():
    meet = threading.Barrier(2, timeout=5)
    assert map_reduce([0, 1], lambda _: meet.wait() >= 0, lambda a, b: a and b, threads=2)


def test_nothing_to_do_and_no_workers_are_refused():
    with pytest.raises(DataError, match="nothing to summarise"):
        map_reduce([], str, str.__add__)
    with pytest.raises(ParameterError, match="at least 1; got 0"):
        map_reduce([1], str, str.__add__, threads=0)
    assert available_cores() >= 1
