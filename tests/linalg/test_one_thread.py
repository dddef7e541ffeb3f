"""BLAS threads: held to one inside, restored outside, whoever leaves last."""

from __future__ import annotations

from threading import Barrier, Thread

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from assay.linalg.one_thread import one_blas_thread


def blas_threads():
    np.ones((2, 2)) @ np.ones((2, 2))
    return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]


def test_one_thread_inside_and_the_old_number_after():
    with threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        with one_blas_thread():
            with one_blas_thread():
                assert set(blas_threads()) == {1}
            assert set(blas_threads()) == {1}
        assert blas_threads() == before


def test_an_error_inside_restores_too():
    with threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        with pytest.raises(ZeroDivisionError), one_blas_thread():
            _ = 1 / 0
        assert blas_threads() == before


def test_overlapping_threads_leave_what_the_first_found():
    with threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        both_in, first_out = Barrier(2), Barrier(2)

        def first():
            with one_blas_thread():
                both_in.wait(10)
            first_out.wait(10)

        def second():
            with one_blas_thread():
                both_in.wait(10)
                first_out.wait(10)

        threads = [Thread(target=first), Thread(target=second)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(20)
        assert blas_threads() == before
