"""Kernel rows of two groups: those of the whole matrix, however much of them is shared."""

import numpy as np
import pytest

from assay import Gaussian, Gram, Linear
from assay.models.prediction.svm.pairs import GroupedRows
from assay.optimize.smo.rows import MatrixRows
from assay.summary.gram.kernel_rows import kernel_rows


class Counted(MatrixRows):
    """A matrix that counts the values taken from it."""

    taken = 0

    def among(self, columns, dtype):
        inner = super().among(columns, dtype)

        def fill(rows, out):
            self.taken += out.size
            inner(rows, out)

        return fill


def groups_of(n, g, sorted_rows):
    codes = np.sort(np.arange(n) % g) if sorted_rows else np.arange(n) % g
    return [np.flatnonzero(codes == c) for c in range(g)]


@pytest.mark.parametrize("kernel", [Gaussian(1.0), Linear()])
@pytest.mark.parametrize("hold", [True, False])
@pytest.mark.parametrize("sorted_rows", [True, False])
@pytest.mark.parametrize("shared_mb", [0.0, 1.0])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rows_of_a_pair_are_those_of_the_whole(kernel, hold, sorted_rows, shared_mb, dtype):
    X = np.random.default_rng(0).standard_normal((40, 3))
    groups = groups_of(40, 3, sorted_rows)
    rows = GroupedRows(kernel_rows(Gram.of(X, kernel, hold=hold)), groups, shared_mb).pair(0, 2)
    both = np.concatenate([groups[0], groups[2]])
    K = Gram.of(X, kernel).values[np.ix_(both, both)]
    np.testing.assert_allclose(rows.diagonal, np.diag(K))
    size = np.abs(K).max()
    for columns in (None, np.array([2, 3, 9, 15, 26]), np.array([0, 1]), np.array([20, 22])):
        for asked in (np.arange(len(both)), np.array([4, 18]), np.array([25])):
            out = np.empty((len(asked), len(both) if columns is None else len(columns)), dtype=dtype)
            rows.among(columns, np.dtype(dtype))(asked, out)
            truth = K[asked] if columns is None else K[np.ix_(asked, columns)]
            np.testing.assert_allclose(out, truth, atol=2e-6 * size if dtype == np.float32 else 1e-13 * size)


def test_what_pairs_share_is_computed_once():
    K = Counted(np.eye(30))
    groups = groups_of(30, 3, sorted_rows=True)
    whole = GroupedRows(K, groups, 1.0)
    for a, b in ((0, 1), (0, 2), (1, 2)):
        out = np.empty((20, 20))
        whole.pair(a, b).among(None, np.dtype(np.float64))(np.arange(20), out)
    assert K.taken == 30 * 30  # every value of the matrix, once
