"""What a design promises: rows that depend stay together, and chance varies as its signature says."""

from __future__ import annotations

import numpy as np
import pytest

from assay.evidence.design import Grouped, Independent, Placed, Serial

RNG = np.random.default_rng(5)
GRID = np.stack(np.meshgrid(np.arange(12.0), np.arange(12.0)), axis=-1).reshape(-1, 2)
DESIGNS = {
    "independent": Independent(120),
    "time": Serial(120, RNG.permutation(120), 5),
    "groups": Grouped(120, np.sort(RNG.integers(0, 17, 120))),
    "even groups": Grouped(120, RNG.permutation(np.repeat(np.arange(20), 6))),
    "place": Placed(144, GRID, 2.0),
}


@pytest.mark.parametrize("name", DESIGNS)
def test_folds_and_halves_divide_all_rows_about_evenly(name):
    design = DESIGNS[name]
    counts = np.bincount(design.folds(5, 1), minlength=5)
    assert counts.sum() == design.n and counts.min() >= 0.7 * design.n / 5
    share = design.half(np.random.default_rng(1)).mean()
    assert 0.4 < share < 0.6


@pytest.mark.parametrize("name", [name for name in DESIGNS if name != "groups"])
def test_a_draw_is_a_permutation_wherever_parts_are_alike(name):
    design = DESIGNS[name]
    drawn = design.drawn(np.random.default_rng(2))
    assert sorted(drawn) == list(range(design.n)) and (drawn != np.arange(design.n)).any()


@pytest.mark.parametrize("name", ["groups", "even groups"])
def test_whole_groups_are_exchanged_and_divided(name):
    design = DESIGNS[name]
    drawn = design.drawn(np.random.default_rng(3))
    for group in range(len(design.sizes)):
        own = design.label == group
        assert len(np.unique(design.label[drawn[own]])) == 1
        assert len(np.unique(design.folds(5, 0)[own])) == 1
        assert len(np.unique(design.half(np.random.default_rng(4))[own])) == 1


def test_neighbours_in_time_stay_neighbours_but_at_the_seam():
    design = DESIGNS["time"]
    place = design.place[design.drawn(np.random.default_rng(3))[design.order]]
    assert (np.diff(place) == 1).sum() == design.n - 2
    assert (np.diff(design.folds(4)[design.order]) >= 0).all()


def test_the_signature_of_time_is_the_variance_over_all_shifts():
    # white columns: the average over neighbouring frequencies that the signature takes changes nothing on average
    n, rng = 128, np.random.default_rng(0)
    design = Serial(n, np.arange(n), 1)
    ratios = []
    for _ in range(200):
        Z = _unit(rng.standard_normal((n, 2)).cumsum(axis=0) * 0.2 + rng.standard_normal((n, 2)))
        over_shifts = np.mean([(Z[:, 0] @ np.roll(Z[:, 1], s)) ** 2 for s in range(n)])
        S = design.signature(Z)
        ratios.append(float(S[:, 0] @ S[:, 1]) / over_shifts)
    # the window keeps 6/16 of a lone line and all of a smooth spectrum
    assert 0.75 < np.mean(ratios) < 1.25


@pytest.mark.parametrize("name", ["independent", "even groups"])
def test_the_signature_is_the_variance_over_draws(name):
    design, rng = DESIGNS[name], np.random.default_rng(1)
    subject = rng.standard_normal((20, 2))
    label = design.label if isinstance(design, Grouped) else np.arange(120) % 20
    Z = _unit(subject[label] + 0.7 * rng.standard_normal((120, 2)))
    drawn = [float(Z[:, 0] @ Z[design.drawn(rng), 1]) for _ in range(4000)]
    S = design.signature(Z)
    # a variance of 4,000 draws is known to sqrt(2 / 4000) = 2.2%, one standard error; groups keep their inner order,
    # which a law of exchangeable rows within does not know
    assert np.var(drawn) / float(S[:, 0] @ S[:, 1]) == pytest.approx(1.0, abs=0.15)


@pytest.mark.parametrize(("places", "reach"), [("grid", 1.5), ("anywhere", 0.7), ("anywhere", 1.5)])
def test_the_signature_of_places_is_the_variance_over_fields(places, reach):
    rng = np.random.default_rng(2)
    at = GRID if places == "grid" else rng.uniform(0, 10, (250, 2))
    near = np.exp(-((at[:, None] - at) ** 2).sum(axis=2) / (2 * reach**2)) + 1e-6 * np.eye(len(at))
    Z = _unit(np.linalg.cholesky(near) @ rng.standard_normal((len(at), 300)))
    S = Placed(len(at), at, reach).signature(Z)
    pairs = np.triu_indices(300, 1)
    # 300 fields make 150 independent pairs, whose mean square is known to sqrt(2 / 150) = 12%, one standard error
    assert (S.T @ S)[pairs].mean() == pytest.approx(((Z.T @ Z)[pairs] ** 2).mean(), rel=0.25)


def test_independent_rows_count_each_and_copies_of_a_subject_once():
    Z = _unit(np.random.default_rng(0).standard_normal((120, 3)))
    assert Independent(120).effective(Z)[0, 1] == pytest.approx(120.0)
    subjects = np.repeat(np.arange(20), 6)
    same = _unit(np.random.default_rng(0).standard_normal((20, 3))[subjects])
    assert Grouped(120, subjects).effective(same)[0, 1] == pytest.approx(20.0)


def test_thinned_rows_are_apart():
    rng = np.random.default_rng(0)
    rows = DESIGNS["place"].thinned(rng)
    gaps = np.linalg.norm(GRID[rows][:, None] - GRID[rows], axis=2)
    assert gaps[~np.eye(len(rows), dtype=bool)].min() > 2.0
    assert np.diff(np.sort(DESIGNS["time"].place[DESIGNS["time"].thinned(rng)])).min() == 5
    assert len(DESIGNS["even groups"].thinned(rng)) == 20


@pytest.mark.parametrize("name", DESIGNS)
def test_some_rows_have_the_design_of_all(name):
    design = DESIGNS[name].among(np.arange(0, 100, 2))
    assert design.n == 50 and len(design.drawn(np.random.default_rng(0))) == 50 and design.kind == DESIGNS[name].kind


def _unit(X: np.ndarray) -> np.ndarray:
    X = X - X.mean(axis=0)
    return X / np.linalg.norm(X, axis=0)


@pytest.mark.parametrize("columns", [1, 2, 7, 60])
@pytest.mark.parametrize("side", [1, 4, 512])
def test_the_pair_that_has_the_fewest_rows_is_found_without_a_matrix_of_all_pairs(columns, side, monkeypatch):
    monkeypatch.setattr("assay.evidence.design.design._SIDE", side)
    rng = np.random.default_rng(columns)
    n = 80
    Z = np.cumsum(rng.standard_normal((n, columns)), axis=0) * (rng.random(columns) < 0.3) + rng.standard_normal(
        (n, columns)
    )
    Z -= Z.mean(axis=0)
    Z /= np.linalg.norm(Z, axis=0)
    for design in (Serial(n, np.arange(n), 1), Independent(n)):
        every = design.effective(Z)
        pairs = np.triu_indices(columns, 1) if columns > 1 else ([0], [0])
        # products of as many terms as there are frequencies, in another order
        assert design.least_effective(Z) == pytest.approx(every[pairs].min(), rel=1e-12)
