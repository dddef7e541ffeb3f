import numpy as np
import pytest
from scipy.stats import f as fisher

from assay.summary.grouped_law import apart, grouped_law, sharing


def correlations(rows, groups):
    """Correlations of rows made uncorrelated within each group."""
    members = [np.flatnonzero(groups == g) for g in np.unique(groups)]
    return apart(np.cov(rows, rowvar=False), members)


def judged(rows, groups, seed=0, **options):
    values, vectors = np.linalg.eigh(correlations(rows, groups))
    rng = np.random.default_rng(seed)
    return grouped_law(values[::-1], vectors[:, ::-1], groups, len(rows), rng=rng, **options)


def test_made_apart_groups_have_identity_blocks_and_the_canonical_correlations_between_them():
    rows = np.random.default_rng(0).standard_normal((50, 5)) @ np.random.default_rng(1).standard_normal((5, 5))
    R = correlations(rows, np.array([0, 0, 0, 1, 1]))
    np.testing.assert_allclose(R[:3, :3], np.eye(3), atol=1e-9)
    np.testing.assert_allclose(R[3:, 3:], np.eye(2), atol=1e-9)
    from assay import CCA

    found = np.linalg.svd(R[:3, 3:], compute_uv=False)
    np.testing.assert_allclose(found, CCA().fit(rows[:, :3], rows[:, 3:]).canonical_correlations_, atol=1e-9)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_p_of_one_column_beside_a_group_is_that_of_its_regression(seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((60, 4))
    X[:, 3] += 0.2 * X[:, 0]
    A, y = X[:, :3] - X[:, :3].mean(axis=0), X[:, 3] - X[:, 3].mean()
    explained = np.sum((A @ np.linalg.lstsq(A, y, rcond=None)[0]) ** 2) / np.sum(y**2)
    exact = fisher.sf(explained / 3 / ((1 - explained) / 56), 3, 56)
    found = judged(X, np.array([0, 0, 0, 1]), seed, alpha=0.5, n_max=399)
    # 399 draws at most: a standard error of .025
    assert abs(found.p_values[0] - exact) < 0.09


def test_axes_that_share_nothing_are_not_tested():
    assert sharing(np.array([1.3, 1.0 + 1e-12, 0.7])) == 1
    found = grouped_law(np.ones(3), np.eye(3), np.arange(3), 50, rng=np.random.default_rng(0))
    assert found.n_real == 0 and len(found.p_values) == 0


def test_two_planted_axes_are_two():
    rng = np.random.default_rng(3)
    hidden = rng.standard_normal((200, 2))
    rows = np.hstack([np.hstack([hidden, np.zeros((200, 1))]) + rng.standard_normal((200, 3)) for _ in range(3)])
    found = judged(rows, np.repeat([0, 1, 2], 3))
    assert found.n_real == 2 and len(found.p_values) == 3
