"""Models on wide sparse tables: the answer of the dense table in memory for the entries, or a refusal with a remedy."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn import decomposition as peers

from assay import PCA
from assay.errors import DataError


@pytest.fixture(scope="module")
def table():
    """600 x 3,000, two per cent stored: a few planted directions, and one column stored whole, far from zero."""
    rng = np.random.default_rng(0)
    X = sp.random(600, 3_000, density=0.02, format="lil", random_state=1)
    X[:300, :40] = sp.random(300, 40, density=0.5, random_state=2) * 3
    X[:, 77] = 1e4 + rng.standard_normal((600, 1))
    return X.tocsr()


@pytest.fixture(scope="module")
def huge():
    """As wide as texts are: 8 GB when dense, and 1.6 MB of entries."""
    rng = np.random.default_rng(0)
    entries = (rng.random(100_000), (rng.integers(10_000, size=100_000), rng.integers(100_000, size=100_000)))
    return sp.csr_array(entries, shape=(10_000, 100_000))


@pytest.mark.parametrize("standardise", [False, True])
def test_components_are_those_of_the_dense_table(table, standardise):
    ours = PCA(4, standardise=standardise).fit(table)
    dense = PCA(4, standardise=standardise, solver="svd").fit(table.toarray())
    assert ours.route_ == "products"
    np.testing.assert_allclose(ours.explained_variance_, dense.explained_variance_, rtol=1e-9)
    # directions are as certain as the gap behind them is wide
    np.testing.assert_allclose(ours.components_[:1], dense.components_[:1], atol=1e-7)
    np.testing.assert_allclose(ours.transform(table)[:, 0], dense.transform(table.toarray())[:, 0], atol=1e-7)
    for name in ("mean_", "scale_", "column_variance_"):
        np.testing.assert_allclose(getattr(ours, name), getattr(dense, name), rtol=1e-9)
    np.testing.assert_allclose(ours.noise_variance_, dense.noise_variance_, rtol=1e-9)


def test_components_are_scikit_learns(table):
    ours, peer = PCA(5).fit(table), peers.PCA(5, svd_solver="arpack").fit(table)
    # scikit-learn's products take off a mean of 1e4: eight digits are left of its squares
    np.testing.assert_allclose(ours.explained_variance_, peer.explained_variance_, rtol=1e-6)


def test_tall_sparse_tables_have_the_components_of_the_dense_ones(table):
    tall = table[:, :590].T.tocsr()[:, :560]
    ours, dense = PCA(3).fit(tall), PCA(3, solver="svd").fit(tall.toarray())
    assert ours.route_ == "products"
    np.testing.assert_allclose(ours.explained_variance_, dense.explained_variance_, rtol=1e-9)


@pytest.mark.parametrize("asked", [None, 0.9, "real"])
def test_all_components_of_a_huge_table_are_refused_with_a_number_to_ask_for(huge, asked):
    with pytest.raises(DataError, match="10000 x 100000, and 10000 axes .* more than 1 GiB. Ask for fewer .*=50"):
        PCA(asked).fit(huge)


def test_a_solver_that_needs_the_dense_table_refuses_a_huge_one(huge):
    with pytest.raises(DataError, match=r"7.5 GiB when dense .* Use solver='auto' with a number for n_components"):
        PCA(5, solver="svd").fit(huge)
