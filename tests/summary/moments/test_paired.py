import numpy as np
import pyarrow as pa
import pytest
from scipy import sparse

from assay.data.source import ArrowSource
from assay.errors import DataError
from assay.summary.moments.grouped import GroupedMoments
from assay.summary.moments.moments import Moments
from assay.summary.moments.paired import Paired, couple, moment_folds

RNG = np.random.default_rng(0)
X, Y = RNG.standard_normal((9000, 3)) + 5.0, RNG.standard_normal((9000, 2))
NAMES = (("a", "b", "c"), ("u", "v"))


def test_moments_are_those_of_the_tables_side_by_side():
    expected = Moments.of(np.hstack([X, Y]))
    for left in (X, sparse.csr_array(X), ArrowSource(pa.table({name: X[:, i] for i, name in enumerate("abc")}))):
        m = Paired(left, Y, NAMES).moments()
        assert m.count == 9000
        np.testing.assert_allclose(m.scatter, expected.scatter, rtol=1e-12, atol=1e-9)
        np.testing.assert_allclose(m.mean, expected.mean, rtol=1e-13, atol=1e-15)


def test_blocks_cut_in_different_places_are_aligned():
    class Cut:
        def __init__(self, rows, ends):
            self.parts = np.split(rows, ends)

        def __iter__(self):
            return iter(self.parts)

    both = Paired(Cut(X, [10, 500]), Cut(Y, [3, 500, 8000]), NAMES)
    parts = list(both.blocks())
    assert [row for row, _, _ in parts] == [0, 3, 10, 500, 8000]
    np.testing.assert_array_equal(np.concatenate([x for _, x, _ in parts]), X)
    np.testing.assert_array_equal(np.concatenate([y for _, _, y in parts]), Y)


def test_a_side_that_ends_early_is_refused():
    with pytest.raises(DataError, match="X has more rows than Y, which ends after 8999"):
        Paired(X, Y[:-1], NAMES).moments()
    with pytest.raises(DataError, match="Y has more rows than X, which ends after 4000"):
        Paired(X[:4000], Y, NAMES).moments()


def test_the_triangle_has_the_scatter_without_squaring():
    m = Paired(X, Y, NAMES).moments()
    R = Paired(X, Y, NAMES).triangle(m.mean, np.ones(5))
    assert R.shape == (5, 5)
    np.testing.assert_allclose(R.T @ R, m.scatter, rtol=1e-11, atol=1e-9)


def test_expansions_are_applied_to_blocks():
    both = Paired(X, Y, NAMES, (lambda x: x**2, lambda y: np.hstack([y, y**3])))
    expected = Moments.of(np.hstack([X**2, Y, Y**3]))
    np.testing.assert_allclose(both.moments().scatter, expected.scatter, rtol=1e-11, atol=1e-8)
    np.testing.assert_allclose(both.fold_moments(3).total.scatter, expected.scatter, rtol=1e-11, atol=1e-8)
    R = both.triangle(expected.mean, np.ones(7))
    np.testing.assert_allclose(R.T @ R, expected.scatter, rtol=1e-10, atol=1e-7)


def test_folds_are_those_of_the_joined_table():
    own, joined = Paired(X, Y, NAMES).fold_moments(4), GroupedMoments.folds(np.hstack([X, Y]), 4)
    for label in joined.labels:
        assert own[label].count == joined[label].count
        np.testing.assert_allclose(own[label].scatter, joined[label].scatter, rtol=1e-12, atol=1e-9)


def test_fold_products_are_those_of_its_rows_about_the_training_mean():
    rows = np.hstack([X, Y])[:60]
    groups = GroupedMoments.of(rows, np.arange(60) % 3)
    fold = moment_folds(groups.parts, 3, np.ones(5))[1]
    new = np.arange(60) % 3 == 1
    moved = rows[new] - rows[~new].mean(axis=0)
    zx, zy = moved[:, :3] @ fold.training.x.vectors, moved[:, 3:] @ fold.training.y.vectors
    np.testing.assert_allclose(fold.cross, zx.T @ zy, atol=1e-10)
    np.testing.assert_allclose(fold.x, zx.T @ zx, atol=1e-10)
    np.testing.assert_allclose(
        fold.training.x.values, couple(Moments.of(rows[~new]), 3, np.ones(5)).x.values, rtol=1e-10
    )


@pytest.mark.parametrize("how", ["moments", "folds"])
def test_a_value_that_cannot_be_summarised_is_named(how):
    bad = Y.copy()
    bad[5000, 1] = np.inf
    both = Paired(X, bad, NAMES)
    with pytest.raises(DataError, match="row 5000, column 'v' is infinite"):
        both.moments() if how == "moments" else both.fold_moments(3)
    expanded = Paired(X, bad, NAMES, (lambda x: x, lambda y: y))
    with pytest.raises(DataError, match="row 5000, column 'v' is infinite"):
        expanded.moments()
