"""The VC bound: the published number, its monotony, and refusals."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay import vc_bound, vc_dimension
from assay.errors import ParameterError


def test_the_number_of_the_method_list():
    assert vc_bound(11, 1000, 0.05) == pytest.approx(0.2694719, abs=5e-8)
    assert vc_bound(vc_dimension(10), 1000) == vc_bound(11, 1000)


@given(st.integers(1, 200), st.integers(200, 10**6), st.floats(0.001, 0.5))
def test_more_rows_narrow_it_and_richer_rules_or_less_risk_widen_it(h, n, delta):
    bound = vc_bound(h, n, delta)
    assert vc_bound(h, 2 * n, delta) < bound < vc_bound(h + 1, n, delta)
    assert vc_bound(h, n, delta / 2) > bound
    assert vc_bound(h, n, delta, training_error=0.25) == pytest.approx(bound + 0.25)


def test_the_bound_holds_for_thresholds_on_the_line():
    # the rule "x > t" has h = 1; its worst excess over all t is at most the Kolmogorov distance of labels by chance
    rng = np.random.default_rng(0)
    excess = []
    for _ in range(200):
        x, y = np.sort(rng.random(100)), rng.random(100) < 0.5
        wrong = [np.mean((x > t) != y) for t in np.append(0.0, x)]
        excess.append(0.5 - min(wrong))
    assert np.quantile(excess, 0.95) < vc_bound(1, 100)


def test_arrays_are_taken_side_by_side():
    np.testing.assert_allclose(vc_bound([3, 11], 1000), [vc_bound(3, 1000), vc_bound(11, 1000)])
    np.testing.assert_array_equal(vc_dimension([2, 50], radius=1.0, margin=0.5), [3, 5])
    assert vc_bound(np.array([[3], [11]]), np.array([100, 1000])).shape == (2, 2)


def test_a_margin_replaces_the_number_of_columns_where_it_is_smaller():
    assert vc_dimension(7) == 8
    assert vc_dimension(10**6, radius=3.0, margin=1.0) == 10
    assert vc_dimension(10**6, radius=3.0, margin=0.9) == 13  # 11.11, rounded up, and one
    assert vc_dimension(4, radius=3.0, margin=1.0) == 5
    assert vc_dimension(10**6, radius=0.3, margin=0.1) == 10  # 9 but for rounding


def test_what_has_no_bound_is_refused_in_words():
    with pytest.raises(ParameterError, match="h, the VC dimension, is positive; got 0"):
        vc_bound(0, 10)
    with pytest.raises(ParameterError, match="n, the number of rows, is positive; got -1"):
        vc_bound(1, -1)
    with pytest.raises(ParameterError, match="delta is a chance between 0 and 1; got 1.5"):
        vc_bound(1, 10, 1.5)
    with pytest.raises(ParameterError, match="training_error is a share from 0 to 1; got 2"):
        vc_bound(1, 10, training_error=2)
    with pytest.raises(ParameterError, match="at least h / 2 rows; got h = 30 and n = 10"):
        vc_bound(30, 10)
    with pytest.raises(ParameterError, match="radius and margin go together"):
        vc_dimension(3, margin=1.0)
    with pytest.raises(ParameterError, match="margin is positive; got 0.0"):
        vc_dimension(3, radius=1.0, margin=0.0)
    with pytest.raises(ParameterError, match="d, the number of columns, is a whole number; got 2.5"):
        vc_dimension(2.5)
