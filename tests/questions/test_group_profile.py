"""Rows far from the middle of their group: the same whether there are more rows or more columns."""

import numpy as np
import pytest

from assay.linalg.normal.shrinkage import rao_blackwell
from assay.questions.groups.profile import _squared_distances


@pytest.mark.parametrize(("m", "d"), [(40, 6), (20, 20), (12, 50)])
def test_distances_are_those_of_the_shrunk_covariance(m, d):
    own = np.random.default_rng(m).standard_normal((m, d)) * np.linspace(1.0, 3.0, d)
    S = own.T @ own / m
    share = max(rao_blackwell(np.linalg.eigvalsh(S), d, float(m)), 1e-3)
    shrunk = (1 - share) * S + share * np.trace(S) / d * np.eye(d)
    wanted = np.einsum("ij,jk,ik->i", own, np.linalg.inv(shrunk), own)
    # the condition of the shrunk covariance is below 1e5, so that 11 of 16 digits are left
    np.testing.assert_allclose(_squared_distances(own), wanted, rtol=1e-9)


def test_rows_that_are_all_alike_are_not_far():
    assert np.allclose(_squared_distances(np.zeros((5, 9))), 0.0)
