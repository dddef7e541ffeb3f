"""Blocks made complete: counted, averaged and filled as the whole table would be."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.data.partitions import Here
from assay.study.complete_blocks import completed, tallied


def holed(seed, n=40, d=4, share=0.3):
    rng = np.random.default_rng(seed)
    X = np.asfortranarray(rng.standard_normal((n, d)) + 1e6)
    X[rng.random((n, d)) < share] = np.nan
    return X


def cut(X, pieces):
    starts = np.cumsum([0, *(len(part) for part in np.array_split(X, pieces))]).tolist()
    return Here([(s, np.asfortranarray(part)) for s, part in zip(starts, np.array_split(X, pieces), strict=False)])


@given(st.integers(0, 1000), st.integers(1, 9), st.sampled_from(["fill", "drop"]))
def test_any_cut_gives_the_figures_of_the_whole_table(seed, pieces, missing):
    X = holed(seed)
    tally, _ = tallied(cut(X, pieces), np.arange(4), missing)
    gone = np.isnan(X).any(axis=1) if missing == "drop" else np.isnan(X).all(axis=1)
    used = X[~gone]
    assert (tally.rows, tally.empty, tally.gaps) == (len(used), np.isnan(X).all(axis=1).sum(), np.isnan(X).any(1).sum())
    if len(used):
        np.testing.assert_allclose(tally.mean, np.nanmean(used, axis=0), rtol=1e-14)
        np.testing.assert_array_equal(tally.low, np.nanmin(used, axis=0))
        np.testing.assert_array_equal(tally.high, np.nanmax(used, axis=0))


@pytest.mark.parametrize("missing", ["fill", "drop"])
def test_completed_blocks_have_no_gaps_and_leave_the_given_ones_alone(missing):
    X = holed(1)
    blocks = cut(X, 5)
    before = [block.copy() for _, block in blocks]
    tally, _ = tallied(blocks, np.arange(4), missing)
    used = tally.numbered(blocks, missing)
    passes = completed(used, np.arange(4), tally.mean, seed=3)
    filled, again, known = (np.concatenate([block for _, block in start]) for start in (passes, passes, used))
    assert [first for first, _ in used] == np.cumsum([0, *(len(block) for _, block in used)])[:-1].tolist()
    assert len(filled) == tally.rows and np.isfinite(filled).all()
    np.testing.assert_array_equal(filled, again)
    present = ~np.isnan(known)
    np.testing.assert_array_equal(filled[present], known[present])
    for (_, block), was in zip(blocks, before, strict=True):
        np.testing.assert_array_equal(block, was)


def test_a_column_without_values_has_no_range():
    X = holed(2)
    X[:, 2] = np.nan
    tally, _ = tallied(Here([(0, X)]), np.arange(4), "fill")
    assert not tally.low[2] < tally.high[2]
