import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.errors import DataError, ParameterError
from assay.models.correlation.temporal_cca.lagged import LaggedMoments
from assay.summary.moments.moments import Moments


def series(n=60, d=3, seed=0, shift=0.0):
    return np.random.default_rng(seed).standard_normal((n, d)).cumsum(axis=0) + shift


def stacked(rows, lags, p):
    low, high = min(0, *lags), max(0, *lags)
    t = np.arange(-low, len(rows) - high)
    return np.hstack([rows[t, :p]] + [rows[t + lag, p:] for lag in lags])


@given(
    cuts=st.lists(st.integers(1, 59), max_size=6),
    lags=st.lists(st.integers(-6, 6), min_size=1, max_size=4, unique=True),
    seed=st.integers(0, 100),
)
@settings(max_examples=40, deadline=None)
def test_stretches_merged_are_the_whole_series_however_cut(cuts, lags, seed):
    rows, lags = series(seed=seed, shift=100.0), sorted(lags)
    span = max(0, *lags) - min(0, *lags)
    whole = LaggedMoments.of([rows], span)
    parts = [LaggedMoments.of([part], span) for part in np.split(rows, sorted(set(cuts)))]
    merged = parts[0]
    for part in parts[1:]:
        merged = merged + part
    again = parts[-1]
    for part in parts[-2::-1]:  # the other way to put brackets
        again = part + again
    expected = Moments.of(stacked(rows, lags, 1))
    for found in (whole, merged, again, LaggedMoments.of(np.split(rows, sorted(set(cuts))), span)):
        m = found.stacked(lags, 1)
        assert m.count == expected.count
        np.testing.assert_allclose(m.scatter, expected.scatter, rtol=1e-9, atol=1e-8)
        np.testing.assert_allclose(m.mean, expected.mean, rtol=1e-12)


def test_long_series_are_cut_into_chunks_that_meet():
    rows = series(20_000, 2)
    m = LaggedMoments.of([rows], 3).stacked([0, 3], 1)
    expected = Moments.of(stacked(rows, [0, 3], 1))
    np.testing.assert_allclose(m.scatter, expected.scatter, rtol=1e-9)


def test_a_constant_column_has_exactly_no_scatter_even_far_from_zero():
    rows = np.column_stack([series(30, 1), np.full(30, 1e9)])
    parts = [LaggedMoments.of([part], 2) for part in np.split(rows, [7])]
    scatter = (parts[0] + parts[1]).stacked([0, 2], 1).scatter
    assert (scatter[1:] == 0).all() and scatter[0, 0] > 0


def test_one_row_and_no_lags():
    one = LaggedMoments.of([np.array([[1.0, 2.0]])], 0) + LaggedMoments.of([np.array([[3.0, 1.0]])], 0)
    np.testing.assert_allclose(one.stacked([0], 1).scatter, [[2.0, -1.0], [-1.0, 0.5]])


def test_what_cannot_be_is_refused():
    whole = LaggedMoments.of([series(10)], 3)
    with pytest.raises(ParameterError, match="lags from -2 to 2 need a span of 4; this one is 3"):
        whole.stacked([-2, 2], 1)
    with pytest.raises(DataError, match="lags from 0 to 9 leave 1 of 10 rows with all of them; at least 2 are"):
        LaggedMoments.of([series(10)], 9).stacked([9], 1)
    with pytest.raises(DataError, match="span 3, and of 3 columns and span 2, cannot be joined"):
        whole + LaggedMoments.of([series(10)], 2)
    with pytest.raises(ParameterError, match="span is a number of rows, not negative; got -1"):
        LaggedMoments.of([series(10)], -1)
    bad = series(10)
    bad[4, 1] = np.nan
    with pytest.raises(DataError, match="row 4, column 'y' is missing"):
        LaggedMoments.of([bad[:3], bad[3:]], 1, ("x", "y", "z"))
