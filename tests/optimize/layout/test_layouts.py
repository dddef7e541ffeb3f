"""Layouts: gradients against finite differences, the grid against all pairs, threads, callbacks, refusals."""

from functools import partial

import numpy as np
import pytest
from scipy import sparse

from assay.errors import DataError, ParameterError
from assay.models.embedding.sne.new_points import place_gaussian, place_student, weighted_median
from assay.models.embedding.sne.sne_layout import GaussianCost, sne_layout
from assay.optimize.layout import grid_potential
from assay.optimize.layout.grid_potential import GridPotential
from assay.optimize.layout.tsne_layout import StudentCost, tsne_layout
from assay.optimize.team import Team


def some_affinities(n, seed=0, links=6):
    """Symmetric, sparse, sum one, groups of rows near each other."""
    rng = np.random.default_rng(seed)
    W = np.zeros((n, n))
    for i in range(n):
        W[i, (i + 1 + rng.choice(min(n - 1, 3 * links), min(links, n - 1), replace=False)) % n] = rng.random(
            min(links, n - 1)
        )
    W = W + W.T
    return sparse.csr_array(W / W.sum())


def by_rows(P):
    W = P.toarray()
    return sparse.csr_array(W / W.sum(axis=1, keepdims=True))


def divergence(P, Y, student, conditional):
    """KL by its definition."""
    squares = ((Y[:, None] - Y[None]) ** 2).sum(axis=-1)
    w = 1 / (1 + squares) if student else np.exp(-squares)
    np.fill_diagonal(w, 0.0)
    q = w / (w.sum(axis=1, keepdims=True) if conditional else w.sum())
    p = P.toarray()
    return float(np.sum(p[p > 0] * np.log(p[p > 0] / q[p > 0])))


def numerical(cost, Y, h=1e-5):
    gradient = np.empty_like(Y)
    for place in np.ndindex(*Y.shape):
        up, down = Y.copy(), Y.copy()
        up[place] += h
        down[place] -= h
        gradient[place] = (cost(up) - cost(down)) / (2 * h)
    return gradient


@pytest.mark.parametrize("q", [1, 2, 3])
def test_tsne_gradient_is_that_of_the_divergence(q):
    P, Y = some_affinities(15), np.random.default_rng(1).standard_normal((15, q)) * 2
    with Team(2) as team:
        cost = StudentCost(P, q, team, exact=True)
        gradient = 4 * cost.gradient(Y, 1.0)
        assert cost.cost(Y) == pytest.approx(divergence(P, Y, True, False), rel=1e-6)
    np.testing.assert_allclose(gradient, numerical(lambda Y: divergence(P, Y, True, False), Y), atol=1e-7)


@pytest.mark.parametrize("q", [1, 2, 3])
@pytest.mark.parametrize("dof", [0.3, 0.8, 3.0])
def test_tsne_gradient_is_that_of_the_divergence_with_any_tails(q, dof):
    P, Y = some_affinities(15), np.random.default_rng(1).standard_normal((15, q)) * 2

    def by_definition(Y):
        w = (1 + ((Y[:, None] - Y[None]) ** 2).sum(axis=-1) / dof) ** -dof
        np.fill_diagonal(w, 0.0)
        p = P.toarray()
        return float(np.sum(p[p > 0] * np.log(p[p > 0] / (w / w.sum())[p > 0])))

    with Team(2) as team:
        cost = StudentCost(P, q, team, exact=True, dof=dof)
        gradient = 4 * cost.gradient(Y, 1.0)
        assert cost.cost(Y) == pytest.approx(by_definition(Y), rel=1e-6)
    np.testing.assert_allclose(gradient, numerical(by_definition, Y), atol=1e-7)


@pytest.mark.parametrize("dof", [0.5, 4.0])
def test_exact_and_grid_gradients_agree_with_any_tails(dof):
    P, Y = some_affinities(400), np.random.default_rng(2).standard_normal((400, 2)) * 8
    with Team(2) as team:
        exact, grid = (StudentCost(P, 2, team, exact=exact, dof=dof) for exact in (True, False))
        whole, by_grid = exact.gradient(Y, 1.0).copy(), grid.gradient(Y, 1.0)
        # at its spacing the grid is off by 5e-3 of the repulsion at a = 1, where tails are neither
        assert np.linalg.norm(by_grid - whole) < 1e-2 * np.linalg.norm(whole)
        assert grid.refined(0.25).gradient(Y, 1.0) == pytest.approx(whole, abs=2e-3 * np.abs(whole).max())


def test_with_many_degrees_of_freedom_tails_are_gaussian():
    P, Y = some_affinities(30), np.random.default_rng(3).standard_normal((30, 2))
    with Team(1) as team:
        light, bell = StudentCost(P, 2, team, exact=True, dof=1e7), GaussianCost(P, 2, team, joint=True)
        # (1 + s / a)^-a = exp(-s + s^2 / 2a): 1e-5 apart at s = 15
        np.testing.assert_allclose(light.gradient(Y, 1.0), bell.gradient(Y, 1.0), atol=1e-5)
        assert light.cost(Y) == pytest.approx(bell.cost(Y), rel=1e-5)


@pytest.mark.parametrize("dof", [0.5, 3.0])
def test_a_layout_ends_where_its_exaggerated_gradient_vanishes(dof):
    P = some_affinities(60)
    start = np.random.default_rng(0).standard_normal((60, 2)) * 1e-4
    found = tsne_layout(P, start, exaggeration=2.0, dof=dof, max_iter=3000, tol=1e-9, look_every=200)
    with Team(1) as team:
        cost = StudentCost(P, 2, team, exact=True, dof=dof)
        slope = np.linalg.norm(cost.gradient(found.coordinates, 2.0))
        forces = np.linalg.norm(cost.gradient(found.coordinates, 0.0))
    assert slope < 1e-2 * forces


@pytest.mark.parametrize("q", [1, 2, 3])
@pytest.mark.parametrize("joint", [True, False])
def test_sne_gradients_are_those_of_their_divergences(q, joint):
    P, Y = some_affinities(15), np.random.default_rng(1).standard_normal((15, q))
    P = P if joint else by_rows(P)
    with Team(2) as team:
        cost = GaussianCost(P, q, team, joint=joint)
        gradient = cost.gradient(Y, 1.0) * (4 if joint else 4 * 15)
        assert cost.cost(Y) == pytest.approx(divergence(P, Y, False, not joint), rel=1e-9)
    np.testing.assert_allclose(gradient, numerical(lambda Y: divergence(P, Y, False, not joint), Y), atol=1e-6)


def all_pairs(Y, at=None):
    at = Y if at is None else at
    apart = at[:, None] - Y[None]
    w = 1 / (1 + (apart**2).sum(axis=-1))
    return w.sum(axis=1), -2 * np.einsum("ijk,ij->ik", apart, w * w)


def by_grid(Y, spacing, at=None):
    at = Y if at is None else at
    phi, slope = np.empty(len(at)), np.empty(at.shape)
    with Team() as team:
        grid = GridPotential(len(Y), Y.shape[1], spacing)
        team.run(grid.charge_tasks(Y))
        grid.solve(team.threads)
        team.run(grid.gather_tasks(at, phi, slope, team))
    return phi, slope


@pytest.mark.parametrize(
    ("q", "spread", "spacing", "bound"),
    [
        (1, 60.0, 0.25, 1e-3),
        (1, 3.0, 0.25, 1e-3),
        (1, 1000.0, 0.4, 2e-2),
        (2, 20.0, 0.25, 1e-3),
        (2, 25.0, 0.4, 2e-2),
        (2, 1e-4, 0.4, 5e-3),  # small layouts get the finest spacing whatever is asked
        (2, 0.1, 0.4, 5e-3),
        (3, 1.0, 0.4, 1e-3),
        (3, 4.0, 0.4, 1e-2),
    ],
)
def test_the_grid_agrees_with_all_pairs_to_the_error_it_claims(q, spread, spacing, bound):
    Y = np.random.default_rng(q).standard_normal((1000, q)) * spread
    phi, slope = by_grid(Y, spacing)
    exact, steep = all_pairs(Y)
    assert np.linalg.norm(slope - steep) <= bound * np.linalg.norm(steep)
    assert abs(phi.sum() / exact.sum() - 1) <= bound / 10


def test_the_grid_is_exact_for_charges_on_its_points():
    # symmetric about zero with an even number of spacings: its points are multiples of the spacing
    side = np.arange(-8, 9) * 0.5
    Y = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
    phi, slope = by_grid(Y, 0.5)
    exact, steep = all_pairs(Y)
    offset = np.abs(phi - exact).max() / exact.max()
    assert offset < 1e-3
    np.testing.assert_allclose(slope.sum(axis=0), 0.0, atol=1e-9 * np.abs(steep).sum())


def test_the_grid_follows_charges_that_spread_and_come_back():
    Y = np.random.default_rng(0).standard_normal((1000, 2))
    with Team() as team:
        grid = GridPotential(1000, 2, 0.25)
        for size in (0.001, 3.0, 15.0, 0.5):
            phi, slope = np.empty(1000), np.empty((1000, 2))
            team.run(grid.charge_tasks(Y * size))
            grid.solve(team.threads)
            team.run(grid.gather_tasks(Y * size, phi, slope, team))
            assert np.linalg.norm(slope - all_pairs(Y * size)[1]) <= 5e-3 * np.linalg.norm(all_pairs(Y * size)[1])


def test_a_layout_wider_than_the_largest_grid_gets_a_wider_spacing_not_an_error(monkeypatch):
    monkeypatch.setattr(grid_potential, "LARGEST", dict.fromkeys((1, 2, 3), 2**12))
    Y = np.random.default_rng(0).uniform(-40, 40, (500, 2))
    phi, _ = by_grid(Y, 0.4)
    assert phi.sum() == pytest.approx(all_pairs(Y)[0].sum(), rel=0.1)


def test_exact_and_grid_gradients_agree():
    P = some_affinities(1200)
    Y = np.random.default_rng(0).standard_normal((1200, 2)) * 12
    with Team() as team:
        exact = StudentCost(P, 2, team, exact=True)
        grid = StudentCost(P, 2, team, exact=False, spacing=0.25)
        a, b = exact.gradient(Y, 1.0).copy(), grid.gradient(Y, 1.0).copy()
        assert np.linalg.norm(a - b) <= 1e-3 * np.linalg.norm(a)
        assert exact.cost(Y) == pytest.approx(grid.cost(Y), abs=1e-4)


@pytest.mark.parametrize("method", ["exact", "grid"])
def test_the_number_of_threads_does_not_change_a_bit(method):
    P = some_affinities(400)
    start = np.random.default_rng(0).standard_normal((400, 2)) * 1e-4
    found = [tsne_layout(P, start, max_iter=160, method=method, threads=t) for t in (1, 2, 3)]
    for other in found[1:]:
        np.testing.assert_array_equal(other.coordinates, found[0].coordinates)
        assert other.kl == found[0].kl


def test_the_divergence_told_is_that_of_the_coordinates_and_falls_once_exaggeration_ends():
    P = some_affinities(300)
    start = np.random.default_rng(0).standard_normal((300, 2)) * 1e-4
    for method in ("exact", "grid"):
        found = tsne_layout(P, start, method=method)
        assert found.route == method
        assert found.converged
        assert found.kl == pytest.approx(divergence(P, found.coordinates, True, False), abs=1e-4)
        late = found.kl_history[found.kl_history[:, 0] >= 150, 1]
        assert (np.diff(late) <= 5e-3 * late[:-1]).all()
        np.testing.assert_allclose(found.coordinates.mean(axis=0), 0.0, atol=1e-9)


def test_the_start_is_not_changed_and_max_iter_is_kept():
    P = some_affinities(50)
    start = np.random.default_rng(0).standard_normal((50, 2)) * 1e-4
    before = start.copy()
    found = tsne_layout(P, start, max_iter=30)
    np.testing.assert_array_equal(start, before)
    assert found.n_iter == 30
    assert not found.converged


def test_a_callback_sees_the_way_and_can_end_it():
    P = some_affinities(60)
    start = np.random.default_rng(0).standard_normal((60, 2)) * 1e-4
    seen = []

    def callback(iteration, kl, Y):
        seen.append((iteration, kl, Y.shape))
        Y[:] = np.nan  # a copy: what a callback does to it is its own affair
        return iteration >= 100

    for lay_out in (tsne_layout, partial(sne_layout, joint=True)):
        found = lay_out(P, start, tol=0.0, callback=callback)
        assert [s[0] for s in seen] == [50, 100]
        assert (found.n_iter, found.converged) == (100, False)
        assert np.isfinite(found.coordinates).all()
        seen.clear()


def test_an_error_in_a_task_reaches_the_caller():
    def fail():
        raise ZeroDivisionError

    with Team(2) as team, pytest.raises(ZeroDivisionError):
        team.run([lambda: None, fail, lambda: None])


def test_new_points_do_not_depend_on_each_other_and_minimise_their_divergence():
    rng = np.random.default_rng(0)
    points = rng.standard_normal((200, 2)) * 6
    p = rng.random((9, 200)) * (rng.random((9, 200)) < 0.1)
    P = sparse.csr_array(p / p.sum(axis=1, keepdims=True))
    start = weighted_median(P, points)
    for place, student in ((place_student, True), (place_gaussian, False)):
        whole = place(P, points, start)
        np.testing.assert_array_equal(place(P[[4, 2]], points, start[[4, 2]]), whole[[4, 2]])

        def cost(y, i, student=student):
            squares = ((y - points) ** 2).sum(axis=1)
            k = 1 / (1 + squares) if student else np.exp(-squares)
            row = P.toarray()[i]
            return float(-np.sum(row[row > 0] * np.log(k[row > 0] / k.sum())))

        for i in range(9):
            slope = numerical(lambda y, i=i: cost(y[0], i), whole[[i]])
            assert np.abs(slope).max() < 2e-2


def test_the_weighted_median_has_half_the_weight_on_either_side():
    rng = np.random.default_rng(3)
    points = rng.standard_normal((50, 2))
    P = sparse.csr_array(rng.random((7, 50)))
    found = weighted_median(P, points)
    for i in range(7):
        for axis in range(2):
            row = P.toarray()[i]
            assert row[points[:, axis] < found[i, axis]].sum() <= row.sum() / 2
            assert row[points[:, axis] > found[i, axis]].sum() <= row.sum() / 2


@pytest.mark.parametrize("method", ["exact", "grid"])
def test_a_descent_that_leaves_the_numbers_is_refused_not_drawn(method):
    P, start = some_affinities(100), np.random.default_rng(0).standard_normal((100, 2)) * 1e-4
    with pytest.raises(DataError, match=r"lower learning_rate"):
        tsne_layout(P, start, learning_rate=1e308, method=method)


def test_refusals_say_what_is_wrong():
    P, start = some_affinities(10), np.zeros((10, 2))
    with pytest.raises(DataError, match=r"affinities must sum to 1; they sum to 2. Divide by their sum"):
        tsne_layout(P * 2, start)
    with pytest.raises(DataError, match=r"CSR matrix of shape \(9, 9\); got \(10, 10\)"):
        tsne_layout(P, np.zeros((9, 2)))
    with pytest.raises(ParameterError, match="a layout has 1, 2 or 3 dimensions; got 4"):
        tsne_layout(P, np.zeros((10, 4)))
    with pytest.raises(ParameterError, match='method is "auto", "exact" or "grid"'):
        tsne_layout(P, start, method="tree")
    with pytest.raises(DataError, match="finite and not negative"):
        tsne_layout(sparse.csr_array(-P.toarray()), start)
    with pytest.raises(DataError, match="point 9 has no affinity to any other"):
        rows = by_rows(P).tolil()
        rows[9] = 0.0
        rows[0] *= 2
        sne_layout(sparse.csr_array(rows), start, joint=False)
