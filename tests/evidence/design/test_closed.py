"""Columns whose end meets their beginning, so that a shift leaves no jump."""

import numpy as np

from assay.evidence.design import Grouped, Independent, Serial


def test_the_end_of_a_series_meets_its_beginning_wherever_its_rows_stand():
    rng = np.random.default_rng(0)
    Y = rng.standard_normal((200, 3)).cumsum(axis=0)
    closed = Serial(200, np.arange(200), 20).closed(Y)
    np.testing.assert_allclose(closed[0], closed[-1], atol=1e-12)  # sums of 200 steps of size one
    order = rng.permutation(200)
    np.testing.assert_allclose(Serial(200, order, 20).closed(Y[order]), closed[order], atol=1e-12)


def test_a_series_that_forgets_soon_changes_at_its_ends_alone():
    Y = np.random.default_rng(1).standard_normal((200, 1))
    changed = np.abs(Serial(200, np.arange(200), 2).closed(Y) - Y)[:, 0]
    # neighbours are alike by .15 at most (two standard errors), so what is left ten rows on is below .15^10
    assert changed[[0, -1]].min() > 1e-3 * np.abs(Y[-1, 0] - Y[0, 0]) and changed[10:-10].max() < 1e-7


def test_what_is_exchanged_without_a_seam_stays_as_it_is():
    Y = np.random.default_rng(2).standard_normal((6, 2))
    for design in (Independent(6), Grouped(6, np.arange(6) // 2)):
        assert design.closed(Y) is Y
