"""SNE and symmetric SNE: their costs, groups kept, new rows, edges."""

import numpy as np
import pytest
from scipy.spatial.distance import pdist, squareform
from sklearn.neighbors import NearestNeighbors

import assay
from assay import SNE, Graph, SymmetricSNE
from assay.errors import DataError, ParameterError
from assay.summary.graph.perplexity import affinities


def groups(n=120, d=6, g=3, seed=0):
    rng = np.random.default_rng(seed)
    labels = np.arange(n) % g
    return rng.standard_normal((g, d))[labels] * 8.0 + rng.standard_normal((n, d)), labels


def divergence(Sne, X, Y, perplexity):
    """By its definition."""
    e = np.exp(-squareform(pdist(Y, "sqeuclidean")))
    np.fill_diagonal(e, 0.0)
    found = affinities(X, perplexity)
    p = (found.conditional if Sne is SNE else found.P).toarray()
    q = e / e.sum(axis=1 if Sne is SNE else None, keepdims=True)
    return float(np.sum(p[p > 0] * np.log(p[p > 0] / q[p > 0])))


@pytest.fixture(params=[SNE, SymmetricSNE])
def sne(request):
    return request.param


def test_the_divergence_told_is_that_of_the_embedding_and_falls(sne):
    X, _ = groups()
    model = sne(perplexity=20).fit(X)
    assert model.kl_divergence_ == pytest.approx(divergence(sne, X, model.embedding_, 20), rel=1e-6)
    late = model.kl_history_[1:, 1]
    assert (np.diff(late) <= 1e-3 * late[:-1]).all()
    assert model.converged_
    assert model.route_ == "exact"


def test_no_small_move_of_the_points_lowers_the_divergence_much(sne):
    X, _ = groups(45)
    model = sne(perplexity=10, tol=0.0, max_iter=2000)
    with pytest.warns(assay.errors.NotConverged):
        model.fit(X)
    rng = np.random.default_rng(0)
    for _ in range(20):
        moved = model.embedding_ + rng.standard_normal(model.embedding_.shape) * 1e-3
        assert divergence(sne, X, moved, 10) >= model.kl_divergence_ * (1 - 1e-4)


@pytest.mark.parametrize("q", [1, 2, 3])
def test_groups_that_are_apart_stay_apart(sne, q):
    X, labels = groups()
    Y = sne(q).fit_transform(X)
    near = NearestNeighbors(n_neighbors=5).fit(Y).kneighbors(return_distance=False)
    assert (labels[near] == labels[:, None]).mean() > 0.98


def test_fitted_rows_take_their_places_and_new_ones_join_their_group(sne):
    X, labels = groups(150)
    model = sne().fit(X[:120])
    np.testing.assert_array_equal(model.transform(X[:120]), model.embedding_)
    near = (
        NearestNeighbors(n_neighbors=3)
        .fit(model.embedding_)
        .kneighbors(model.transform(X[120:]), return_distance=False)
    )
    assert (labels[:120][near] == labels[120:, None]).mean() > 0.95


def test_the_same_seed_gives_the_same_bits(sne):
    X, _ = groups()
    np.testing.assert_array_equal(sne(random_state=1).fit_transform(X), sne(random_state=1).fit_transform(X))


@pytest.mark.parametrize("n", [1, 2, 3, 5])
def test_few_rows_are_laid_out(sne, n):
    Y = sne().fit_transform(np.random.default_rng(0).standard_normal((n, 3)))
    assert Y.shape == (n, 2)
    assert np.isfinite(Y).all()


@pytest.mark.parametrize("scale", [1e-300, 1e150])
def test_very_small_and_very_large_numbers_and_copies_are_laid_out(sne, scale):
    X, _ = groups(40)
    assert np.isfinite(sne().fit_transform(np.repeat(X * scale, 2, axis=0))).all()


def test_constant_rows_have_nothing_to_tell(sne):
    assert sne().fit(np.ones((20, 3))).kl_divergence_ == pytest.approx(0.0, abs=1e-6)


def test_a_graph_is_laid_out(sne):
    X, labels = groups(90)
    model = sne().fit_graph(Graph.nearest(X, 20))
    near = NearestNeighbors(n_neighbors=3).fit(model.embedding_).kneighbors(return_distance=False)
    assert (labels[near] == labels[:, None]).mean() > 0.95


def test_a_model_saved_and_loaded_places_rows_alike(sne, tmp_path):
    X, _ = groups(60)
    model = sne().fit(X[:50])
    model.save(tmp_path / "map.assay")
    np.testing.assert_array_equal(assay.load(tmp_path / "map.assay").transform(X[50:]), model.transform(X[50:]))


def test_a_callback_stops_the_descent(sne):
    model = sne(callback=lambda i, kl, Y: True).fit(groups()[0])
    assert (model.n_iter_, model.converged_) == (50, False)


def test_too_many_rows_and_impossible_options_are_refused(sne):
    with pytest.raises(DataError, match=f"{sne.__name__} compares all pairs.*at most 5000; there are 5001. Use TSNE"):
        sne().fit(np.zeros((5001, 1)))
    with pytest.raises(ParameterError, match="n_components is 1, 2 or 3; got 7"):
        sne(7).fit(np.zeros((20, 3)))
    with pytest.raises(ParameterError, match="perplexity must be less than n_samples=20"):
        sne(perplexity=25).fit(np.zeros((20, 3)))
