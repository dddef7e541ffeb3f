"""MultisetCCA: CCA, PCA and MCA as its ends, the sum it maximises, cca-zoo, chance, edges."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

import assay
from assay import CCA, MCA, PCA, Moments, MultisetCCA
from assay.errors import DataError, ParameterError

SIZES = (4, 3, 2)


def several(n=150, sizes=SIZES, strengths=(0.6,), seed=0):
    """Sets whose first columns share hidden ones, each by so much of its variance."""
    rng = np.random.default_rng(seed)
    hidden = rng.standard_normal((n, len(strengths)))
    parts = []
    for size in sizes:
        X = rng.standard_normal((n, size))
        for j, share in enumerate(strengths):
            X[:, j] = np.sqrt(share) * hidden[:, j] + np.sqrt(1.0 - share) * X[:, j]
        parts.append(X @ rng.standard_normal((size, size)) + 3.0)
    return np.hstack(parts)


def test_two_sets_have_one_plus_their_canonical_correlations():
    X = several(sizes=(4, 3))
    found, cca = MultisetCCA((4, 3)).fit(X), CCA().fit(X[:, :4], X[:, 4:])
    np.testing.assert_allclose(found.eigenvalues_, 1.0 + cca.canonical_correlations_, atol=1e-9)
    np.testing.assert_allclose(found.canonical_correlations_, cca.canonical_correlations_, atol=1e-9)
    for ours, theirs in zip(found.variates(X), cca.transform(X[:, :4], X[:, 4:]), strict=True):
        for j in range(3):
            assert abs(np.corrcoef(ours[:, j], theirs[:, j])[0, 1]) == pytest.approx(1.0, abs=1e-8)


def test_sets_of_one_column_are_the_pca_of_correlations():
    X = several()
    found, pca = MultisetCCA().fit(X), PCA(scale=True).fit(X)
    np.testing.assert_allclose(found.eigenvalues_, pca.eigenvalues_[:8], rtol=1e-9)
    np.testing.assert_allclose(found.loadings_, pca.loadings_[:, :8], atol=1e-7)


def test_sets_of_levels_are_mca():
    codes = np.random.default_rng(0).integers(0, (3, 4, 2), (200, 3))
    Z = np.hstack([np.eye(size)[codes[:, j]] for j, size in enumerate((3, 4, 2))])
    found = MultisetCCA((3, 4, 2)).fit(Z)
    assert found.rank_.tolist() == [2, 3, 1]  # indicators sum to one
    np.testing.assert_allclose(found.eigenvalues_, 3 * MCA().fit(codes).eigenvalues_[:3], atol=1e-9)


def test_an_eigenvalue_is_the_sum_of_squared_multiple_correlations_and_no_other_column_has_more():
    X = several()
    found = MultisetCCA(SIZES).fit(X)
    edges = np.cumsum((0, *SIZES))

    def reached(f):
        f = f - f.mean()
        total = 0.0
        for a, b in pairwise(edges):
            A = X[:, a:b] - X[:, a:b].mean(axis=0)
            fitted = A @ np.linalg.lstsq(A, f, rcond=None)[0]
            total += (fitted @ fitted) / (f @ f)
        return total

    F = found.transform(X)
    for j in range(found.n_components_):
        assert reached(F[:, j]) == pytest.approx(found.eigenvalues_[j], rel=1e-9)
    rng = np.random.default_rng(1)
    assert all(reached(F[:, 0] + 0.2 * rng.standard_normal(150)) < found.eigenvalues_[0] for _ in range(20))
    np.testing.assert_allclose(np.cov(F, rowvar=False), np.eye(F.shape[1]), atol=1e-9)
    U = found.variates(X)
    by_hand = [[np.corrcoef(U[g, :, j], F[:, j])[0, 1] for j in range(F.shape[1])] for g in range(3)]
    np.testing.assert_allclose(by_hand, found.set_correlations_, atol=1e-9)
    np.testing.assert_allclose((found.set_correlations_**2).sum(axis=0), found.eigenvalues_, rtol=1e-9)
    loadings = np.corrcoef(np.hstack([X, F]), rowvar=False)[:9, 9:]
    np.testing.assert_allclose(found.loadings_, loadings, atol=1e-9)


def test_common_variates_are_those_of_cca_zoo():
    zoo = pytest.importorskip("cca_zoo.linear")
    X = several(strengths=(0.8, 0.5))
    views = np.split(X - X.mean(axis=0), np.cumsum(SIZES)[:-1], axis=1)
    peer = zoo.GCCA(2).fit(views)
    ours = MultisetCCA(SIZES, 2).fit(X).variates(X)
    for mine, theirs in zip(ours, peer.transform(views), strict=True):
        for j in range(2):
            assert abs(np.corrcoef(mine[:, j], theirs[:, j])[0, 1]) == pytest.approx(1.0, abs=1e-8)


def test_any_invertible_map_of_a_set_changes_nothing():
    X = several()
    turned = X.copy()
    turned[:, 4:7] = X[:, 4:7] @ np.random.default_rng(2).standard_normal((3, 3)) * 1e4 - 7.0
    one, other = MultisetCCA(SIZES).fit(X), MultisetCCA(SIZES).fit(turned)
    np.testing.assert_allclose(one.eigenvalues_, other.eigenvalues_, atol=1e-9)
    np.testing.assert_allclose(np.abs(one.transform(X)[:, 0]), np.abs(other.transform(turned)[:, 0]), atol=1e-7)


def test_names_sources_and_moments_of_three_places_give_the_same(tmp_path):
    X = several()
    names = [*(f"a{j}" for j in range(4)), *(f"b{j}" for j in range(3)), "c0", "c1"]
    frame = pd.DataFrame(X, columns=names)
    sets = {"first": names[:4], "second": names[4:7], "third": names[7:]}
    here = MultisetCCA(SIZES).fit(X)
    named, read = MultisetCCA(sets).fit(frame), MultisetCCA(sets).fit(assay.read(frame))
    parts = [Moments.of(part) for part in np.array_split(X, 3)]
    summed = MultisetCCA(SIZES).fit_moments(parts[0] + parts[1] + parts[2])
    numbered = MultisetCCA({"a": range(4), "b": range(4, 7), "c": [7, 8]}).fit(X)
    for other in (named, read, summed, numbered):
        np.testing.assert_allclose(other.eigenvalues_, here.eigenvalues_, atol=1e-9)
        np.testing.assert_allclose(other.weights_, here.weights_, atol=1e-8)
    assert named.set_names_.tolist() == ["first", "second", "third"]
    read.save(tmp_path / "sets")
    np.testing.assert_array_equal(assay.load(tmp_path / "sets").transform(assay.read(frame)), read.transform(frame))


def test_columns_in_no_set_are_not_used():
    X = several()
    found = MultisetCCA({"a": range(4), "b": range(4, 7)}).fit(X)
    np.testing.assert_allclose(found.eigenvalues_, MultisetCCA((4, 3)).fit(X[:, :7]).eigenvalues_, atol=1e-9)
    assert (found.weights_[7:] == 0.0).all() and found.groups_[7:].tolist() == [-1, -1]


class TestChance:
    @pytest.mark.parametrize("rows", [True, False])
    def test_independent_sets_share_nothing_and_planted_variates_are_found(self, rows):
        false = found = more = 0
        for seed in range(40):
            X = several(80, strengths=(), seed=seed)
            false += MultisetCCA(SIZES, random_state=seed).fit(X).chance(X if rows else None).n_real > 0
        for seed in range(15):
            X = several(80, strengths=(0.7,), seed=seed)
            n = MultisetCCA(SIZES, random_state=seed).fit(X).chance(X if rows else None).n_real
            found, more = found + (n > 0), more + (n > 1)
        # of 40 more than 6: a chance of .003 at a true rate of 5%, .10 at 10%, .90 at 25%; a second one more than 3
        # times in 15: a chance of .006 at a true rate of 5%, of .54 at 25%, .91 at 40%
        assert false <= 6 and found == 15 and more <= 3

    def test_of_two_sets_the_first_p_is_near_that_of_the_largest_correlation_of_permuted_rows(self):
        X = several(60, (3, 2), strengths=(0.25,), seed=4)
        largest = CCA(1).fit(X[:, :3], X[:, 3:]).canonical_correlations_[0]
        rng = np.random.default_rng(0)
        draws = [CCA(1).fit(X[:, :3], X[rng.permutation(60), 3:]).canonical_correlations_[0] for _ in range(200)]
        expected = np.mean(np.array(draws) >= largest)
        p = MultisetCCA((3, 2), random_state=0).fit(X).chance(X, level=0.5).p_values[0]
        # each of 200 draws: a standard error of .035 at most, so of .05 for their difference
        assert abs(p - expected) < 0.17


class TestEdges:
    def test_more_columns_than_rows_force_common_variates(self):
        X = np.random.default_rng(0).standard_normal((10, 16))
        found = MultisetCCA((8, 8)).fit(X)
        assert found.forced_ == 7
        np.testing.assert_allclose(found.eigenvalues_[:7], 2.0, atol=1e-9)

    def test_constant_columns_are_no_obstacle_but_sets_of_them_are(self):
        X = several()
        X[:, 1] = 5.0
        found = MultisetCCA(SIZES).fit(X)
        assert found.rank_.tolist() == [3, 3, 2] and (found.loadings_[1] == 0.0).all()
        with pytest.raises(DataError, match="fewer than two sets have columns that vary"):
            MultisetCCA((4, 3)).fit(np.hstack([X[:, :4], np.ones((150, 3))]))

    @pytest.mark.parametrize(
        ("sets", "message"),
        [
            ((4, 3), "how many of the 9 columns each set has; they sum to 7"),
            ((9,), "two or more; got 1"),
            ({"a": [0], "b": [0, 1]}, "column 0 is in two sets"),
            ({"a": [0], "b": ["size"]}, "no column 'size' for set 'b'; there are columns 0 to 8"),
            ({"a": [0], "b": [9]}, "no column 9 for set 'b'"),
            ({"a": [0], "b": []}, "set 'b' has no columns"),
        ],
    )
    def test_sets_that_make_no_sense_are_refused(self, sets, message):
        with pytest.raises(ParameterError, match=message):
            MultisetCCA(sets).fit(several())

    def test_what_is_not_finite_is_refused_with_its_place(self):
        X = several()
        X[3, 2] = np.nan
        with pytest.raises(DataError, match="row 3"):
            MultisetCCA(SIZES).fit(X)
