import numpy as np
import pytest
from scipy.stats import f as fisher

from assay import CCA
from assay.models.grouped_law import apart, grouped_law, shared_part, sharing


def correlations(rows, groups):
    """Correlations of rows made uncorrelated within each group."""
    members = [np.flatnonzero(groups == g) for g in np.unique(groups)]
    return apart(np.cov(rows, rowvar=False), members)


def judged(rows, groups, seed=0, **options):
    return grouped_law(correlations(rows, groups), groups, len(rows), rng=np.random.default_rng(seed), **options)


def test_made_apart_groups_have_identity_blocks_and_the_canonical_correlations_between_them():
    rows = np.random.default_rng(0).standard_normal((50, 5)) @ np.random.default_rng(1).standard_normal((5, 5))
    R = correlations(rows, np.array([0, 0, 0, 1, 1]))
    np.testing.assert_allclose(R[:3, :3], np.eye(3), atol=1e-9)
    np.testing.assert_allclose(R[3:, 3:], np.eye(2), atol=1e-9)
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
    found = judged(X, np.array([0, 0, 0, 1]), seed, level=0.5, n_max=399)
    # 399 draws at most: a standard error of .025
    assert abs(found.p_values[0] - exact) < 0.09


def test_axes_that_share_nothing_are_not_tested():
    assert sharing(np.array([1.3, 1.0 + 1e-12, 0.7])) == 1
    found = grouped_law(np.eye(3), np.arange(3), 50, rng=np.random.default_rng(0))
    assert found.n_real == 0 and len(found.p_values) == 0


def test_two_planted_axes_are_two():
    rng = np.random.default_rng(3)
    hidden = rng.standard_normal((200, 2))
    rows = np.hstack([np.hstack([hidden, np.zeros((200, 1))]) + rng.standard_normal((200, 3)) for _ in range(3)])
    found = judged(rows, np.repeat([0, 1, 2], 3))
    assert found.n_real == 2 and len(found.p_values) == 3


def test_the_shared_part_is_what_lies_between_groups():
    rng = np.random.default_rng(4)
    groups = np.repeat([0, 1, 2], 3)
    members = [np.flatnonzero(groups == g) for g in range(3)]
    L = np.zeros((9, 2))
    for group in members:
        Q, _ = np.linalg.qr(rng.standard_normal((3, 2)))
        L[group] = Q * [0.8, 0.5]
    R = L @ L.T
    for group in members:
        R[np.ix_(group, group)] = np.eye(3)
    found = shared_part(R, members, 2)
    # iterations end once nothing moves by more than 1e-4
    np.testing.assert_allclose(found @ found.T, L @ L.T, atol=2e-3)
    # of two groups it is their canonical correlation, where the first axis has half of one more
    two = shared_part(R[:6, :6], members[:2], 1)
    assert np.linalg.norm(two[:3] @ two[3:].T) == pytest.approx(0.64, abs=2e-3)
