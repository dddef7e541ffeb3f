"""Similarities with one width or one for each row."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from assay.models.embedding.diffusion_map.gaussian_affinity import (
    affinities,
    common_width,
    dimension_seen,
    linked_affinities,
    log_affinities,
    own_widths,
    reach_of,
)
from assay.summary.graph.graph import Graph


def cloud(n=50, d=3, seed=0):
    return np.random.default_rng(seed).standard_normal((n, d))


@pytest.mark.parametrize("factor", [1.0, 2.0**900, 2.0**-900])
def test_similarities_follow_the_formula_at_any_scale(factor):
    X = cloud()
    widths = np.linspace(0.5, 2.0, 50)
    oracle = np.exp(-(cdist(X, X) ** 2) / (2 * np.outer(widths, widths)))
    np.testing.assert_allclose(affinities(X * factor, widths * factor), oracle, rtol=1e-8, atol=1e-300)
    np.testing.assert_allclose(
        affinities(X * factor, 0.7 * factor), np.exp(-(cdist(X, X) ** 2) / (2 * 0.7**2)), rtol=1e-8, atol=1e-300
    )


@pytest.mark.parametrize("own", [False, True])
def test_edges_have_the_same_similarities_as_all_pairs(own):
    X = cloud()
    width = own_widths(reach_of(X, 5)) if own else 0.6
    sparse = linked_affinities(Graph.within(X, 1.5), width).toarray()
    whole = affinities(X, width)
    np.testing.assert_allclose(sparse, np.where(cdist(X, X) <= 1.5, whole, 0.0), rtol=1e-8)


@pytest.mark.parametrize("own", [False, True])
@pytest.mark.parametrize("linked", ["all", "union", "mutual", "within"])
def test_known_rows_get_the_similarities_they_had(own, linked):
    X = cloud()
    reach = reach_of(X, 5)
    width = own_widths(reach) if own else common_width(reach)
    D = cdist(X, X)
    near = {
        "all": np.inf > D,
        "union": (reach + 1e-12 >= D) | (reach[:, None] + 1e-12 >= D),
        "mutual": (reach + 1e-12 >= D) & (reach[:, None] + 1e-12 >= D),
        "within": D <= 1.2,
    }[linked]
    logs = log_affinities(X, X, width, k=5, linked=linked, reach=1.2 if linked == "within" else reach)
    np.testing.assert_allclose(np.exp(logs), np.where(near, affinities(X, width), 0.0), rtol=1e-8, atol=1e-300)


def test_copies_do_not_make_a_width_of_zero():
    X = np.repeat(cloud(3), 6, axis=0)
    reach = reach_of(X, 5)
    assert (reach == 0.0).all() and common_width(reach) == 1.0 and (own_widths(reach) == 1.0).all()


def test_one_pair_alone_has_the_slope_of_its_distance():
    # S = 2 exp(-d^2 / (2 s^2)), so d log S / d log s = d^2 / s^2
    assert dimension_seen(np.array([[0.0], [3.0]]), 2.0) == pytest.approx(9 / 4)
    assert dimension_seen(np.array([[0.0], [1e9]]), 1.0) == 0.0
