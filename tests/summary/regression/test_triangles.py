"""The triangle of strips of rows."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.summary.regression.triangles import triangle


@given(st.integers(1, 12), st.lists(st.integers(0, 15), min_size=1, max_size=4), st.integers(0, 2**31))
@settings(max_examples=40)
def test_strips_in_any_number_give_the_products_of_all_rows(k, heights, seed):
    rng = np.random.default_rng(seed)
    strips = [rng.standard_normal((b, k)) for b in heights]
    kept = [strip.copy() for strip in strips]
    R = triangle(*strips)
    assert R.shape == (k, k) and not np.tril(R, -1).any()
    np.testing.assert_allclose(R.T @ R, sum(strip.T @ strip for strip in strips), atol=1e-12 * max(1, sum(heights)))
    again = triangle(triangle(*strips[:1]), *strips[1:])
    np.testing.assert_allclose(again.T @ again, R.T @ R, atol=1e-12 * max(1, sum(heights)))
    assert all(np.array_equal(a, b) for a, b in zip(strips, kept, strict=True))


def test_nothing_is_squared():
    # products would leave 1 + 1e-18 = 1 and a singular matrix
    R = triangle(np.array([[1.0, 1.0], [0.0, 1e-9]]))
    assert abs(R[1, 1]) == pytest.approx(1e-9)
