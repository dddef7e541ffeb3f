import numpy as np
import pytest
from scipy import stats

from assay.summary.pairs.category_basis import codes_of, contrasts


@pytest.mark.parametrize("seed", range(5))
def test_contrasts_are_centred_and_orthonormal_whatever_the_counts(seed):
    rng = np.random.default_rng(seed)
    codes = rng.choice(6, 80, p=rng.dirichlet(np.full(6, 0.5)))
    Z = contrasts(codes).table[codes]
    assert Z.shape[1] == len(np.unique(codes)) - 1
    np.testing.assert_allclose(Z.T @ Z, np.eye(Z.shape[1]), atol=1e-12)
    np.testing.assert_allclose(Z.sum(axis=0), 0.0, atol=1e-12)


def test_to_leave_out_the_first_contrasts_is_to_take_the_rarest_levels_as_one():
    rng = np.random.default_rng(1)
    a, b = rng.choice(5, 400, p=[0.5, 0.3, 0.1, 0.06, 0.04]), rng.integers(3, size=400)
    first, other = contrasts(a).table[a], contrasts(b).table[b]
    for left in range(4):
        rarest = np.argsort(np.bincount(a))[: left + 1]
        lumped = np.where(np.isin(a, rarest), 9, a)
        table = stats.contingency.crosstab(lumped, b).count
        chi2 = stats.chi2_contingency(table, correction=False).statistic
        assert 400 * ((first[:, left:].T @ other) ** 2).sum() == pytest.approx(chi2, rel=1e-9)


def test_rows_filled_with_shares_or_missing_have_no_level_and_say_nothing():
    block = np.array([[1.0, 0.0], [0.0, 1.0], [0.25, 0.75], [np.nan, np.nan], [0.0, 0.0]])
    codes = codes_of(block)
    assert codes.tolist() == [0, 1, -1, -1, 2]
    assert (contrasts(codes).table[codes][2:4] == 0.0).all()


def test_one_level_has_no_contrast():
    assert contrasts(np.zeros(4, np.intp)).table.shape == (2, 0)
