"""Groups in one frame: the same geometry from a summary and from the rows."""

import numpy as np
import pytest

from assay.errors import DataError
from assay.summary.classes.group_frame import GroupFrame, column_counts
from assay.summary.moments.grouped import GroupedMoments


def rows(n=20, d=45):
    rng = np.random.default_rng(0)
    codes = np.arange(n) % 3
    X = rng.standard_normal((n, d)) * np.linspace(0.1, 30, d) + rng.standard_normal((3, d))[codes]
    X[:, 4] = 7.0
    return X, codes


def test_axes_of_the_rows_carry_all_that_the_columns_carry():
    X, codes = rows()
    wide, tall = GroupFrame.of_rows(X, codes, None), GroupFrame.of_moments(GroupedMoments.of(X, codes))
    np.testing.assert_allclose(wide.scale, tall.scale, rtol=1e-10)
    assert wide.d == tall.d == 44 and wide.scale[4] == 0.0 and wide.r == 19
    np.testing.assert_allclose(wide.axes.T @ wide.axes, np.eye(19), atol=1e-10)
    Q = wide.axes[wide.scale > 0]
    np.testing.assert_allclose(Q @ wide.within() @ Q.T, tall.within(), atol=1e-9)
    for k in range(3):
        np.testing.assert_allclose(Q @ wide.scatter(k) @ Q.T, tall.scatter(k), atol=1e-9)
    np.testing.assert_allclose(wide.centres @ Q.T, tall.centres, atol=1e-10)


def test_units_are_spreads_within_groups():
    X, codes = rows()
    frame = GroupFrame.of_moments(GroupedMoments.of(X, codes))
    np.testing.assert_allclose(np.diag(frame.within()), 20 - 3)
    means = np.stack([X[codes == k].mean(axis=0) for k in range(3)])
    z = (X - means[codes])[:, frame.scale > 0] / frame.scale[frame.scale > 0]
    expected = np.bincount(codes, np.sum(z**2, axis=1) ** 2)
    np.testing.assert_allclose(frame.fourth_powers(X, codes), expected, rtol=1e-9)


def test_a_column_that_varies_between_groups_only_has_the_unit_of_all_rows():
    X = np.array([[0.0, 1.0], [1.0, 1.0], [0.0, 3.0], [1.0, 3.0]])
    frame = GroupFrame.of_moments(GroupedMoments.of(X, [0, 0, 1, 1]))
    assert frame.scale[1] == pytest.approx(X[:, 1].std(ddof=1))


def test_rows_out_of_all_proportion_keep_their_direction():
    X, codes = rows()
    frame = GroupFrame.of_moments(GroupedMoments.of(X, codes))
    far = np.zeros((2, 45))
    far[:, :2] = [[1e300, -1e307], [1e200, 2e200]]
    z = frame.units(far)
    assert np.isfinite(z).all() and np.abs(z).max() <= 1e100 * (1 + 1e-9)
    slope = far[:, 1] / frame.scale[1] / (far[:, 0] / frame.scale[0])
    np.testing.assert_allclose(z[:, 1] / z[:, 0], slope, rtol=1e-9)


def test_gaps_are_refused_by_their_place():
    X, codes = rows()
    X[13, 2] = np.nan
    with pytest.raises(DataError, match="row 13, column 'c' is missing"):
        column_counts(X[:, :3], codes, None, ("a", "b", "c"))
