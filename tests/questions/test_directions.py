"""Which directions come back in halves of the rows, and what is said of those that do not."""

import json
from dataclasses import replace

import numpy as np
import pytest

from assay.evidence.design import Grouped, Independent
from assay.questions.components.directions import COMES_BACK, by_halves, crossed_halves
from assay.questions.components.test import components
from assay.summary.moments.grouped import GroupedMoments


def names(d):
    return tuple(f"c{j}" for j in range(d))


def spiked(rng, n, d, strengths):
    V = np.linalg.qr(rng.standard_normal((d, len(strengths))))[0]
    return rng.standard_normal((n, d)) + (rng.standard_normal((n, len(strengths))) * np.sqrt(strengths)) @ V.T


@pytest.mark.parametrize(("n", "d"), [(30, 80), (80, 30)])
def test_halves_of_rows_are_those_of_singular_vectors(n, d):
    X = spiked(np.random.default_rng(0), n, d, [20.0, 8.0])

    class Fixed(Independent):
        def half(self, rng):
            return np.arange(n) % 2 == 0

    found = crossed_halves(3, rows=X, folds=None, design=Fixed(n), seed=0)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    V = [np.linalg.svd(Z[i::2] - Z[i::2].mean(axis=0), full_matrices=False)[2][:3] for i in (0, 1)]
    np.testing.assert_allclose(np.abs(found[0]), np.abs(V[0] @ V[1].T), atol=1e-8)


def test_halves_of_folds_are_halves_of_their_rows():
    X = spiked(np.random.default_rng(1), 80, 6, [6.0])
    fold = np.arange(80) % 2
    found = crossed_halves(2, rows=None, folds=GroupedMoments.of(X, fold), design=Independent(80), seed=0)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    V = [np.linalg.svd(Z[fold == i] - Z[fold == i].mean(axis=0), full_matrices=False)[2][:2] for i in (0, 1)]
    np.testing.assert_allclose(np.abs(found[0]), np.abs(V[0] @ V[1].T), atol=1e-8)


@pytest.mark.parametrize(("n", "d", "strength"), [(200, 20, 1.2), (50, 200, 16.0), (100, 4, 2.0)])
def test_the_alignment_of_all_rows_is_told_from_halves(n, d, strength):
    rng = np.random.default_rng(d)
    said, true = [], []
    for seed in range(25):
        v = np.linalg.qr(rng.standard_normal((d, 1)))[0]
        X = rng.standard_normal((n, d)) + rng.standard_normal((n, 1)) * np.sqrt(strength) * v.T
        X = (X - X.mean(axis=0)) / X.std(axis=0)
        crossed = crossed_halves(1, rows=X, folds=None, design=Independent(n), seed=seed)
        said.append(by_halves(crossed, d, 1).alignment[0])
        w = v[:, 0] / np.sqrt(1.0 + strength * v[:, 0] ** 2)  # the direction in standardised columns, nearly
        top = np.linalg.svd(X, full_matrices=False)[2][0]
        squared = (top @ w) ** 2 / (w @ w)
        true.append((d * squared - 1.0) / (d - 1.0))
    # spreads of .2 at most over 25 tables: an error of .06 for the difference; without the step from halves to all rows
    # it would be .12 to .2 too small
    assert np.mean(said) == pytest.approx(np.mean(true), abs=0.1)


def test_directions_of_noise_have_no_alignment():
    rng = np.random.default_rng(3)
    found = [
        by_halves(
            crossed_halves(2, rows=rng.standard_normal((60, d)), folds=None, design=Independent(60), seed=0), d, 2
        ).alignment
        for d in (3, 8, 100)
        for _ in range(10)
    ]
    assert np.mean(np.array(found) >= COMES_BACK) < 0.05
    whole = by_halves(np.array([[[0.0, 1.0], [1.0, 0.0]]] * 4), 2, 2)
    assert whole.alignment.max() == 0.0  # two directions of two always come back together


def test_two_equal_directions_come_back_as_a_plane():
    rng = np.random.default_rng(4)
    angle = rng.uniform(0.0, np.pi, 20)
    turned = np.array([[[np.cos(a), -np.sin(a)], [np.sin(a), np.cos(a)]] for a in angle])
    found = by_halves(turned, 30, 2)
    np.testing.assert_array_equal(found.together, [[0, 2], [0, 2]])
    assert found.alignment.min() > 0.99 and found.halves.max() < 0.8


def test_one_far_row_makes_a_component_but_no_direction():
    rng = np.random.default_rng(5)
    X = rng.standard_normal((100, 10))
    X[0] *= 8.0
    found = components(names(10), rows=X)
    assert found.n_real >= 1 and found.n_told == 0
    (finding,) = found.findings()
    assert finding.evidence.verdict == "suggestive"
    assert finding.sentence.startswith("There are more directions than chance gives, which ones cannot be told: ")
    assert found.headline("supported") == "" and found.because() == ""


@pytest.fixture(scope="module")
def wide():
    """Two strong directions in 80 x 300, and three that exceed chance without being known."""
    return components(names(300), rows=spiked(np.random.default_rng(6), 80, 300, [150.0, 60.0, 6.5, 6.0, 5.5]))


def test_what_exceeds_chance_and_does_not_come_back_is_counted_in_one_finding(wide):
    (finding,) = wide.findings()
    assert (finding.id, finding.kind, finding.evidence.verdict) == ("components", "component", "supported")
    assert wide.having("supported") == [0, 1] and wide.n_real > 2
    assert finding.sentence.startswith("2 directions are real. Together they carry ")
    left = wide.n_real - 2
    whose = "s chance, but its direction" if left == 1 else " chance, but their directions"
    assert f"{left} more exceed{whose} cannot be told." in finding.sentence
    assert wide.headline("supported") == "2 components of 79" and wide.headline("suggestive") == ""
    assert finding.inside.count("the direction is not known") == len(wide.tested) - 2


def test_the_finding_has_the_variance_of_its_components_together(wide):
    evidence = wide.findings()[0].evidence
    assert evidence.held_out == pytest.approx(wide.held_out[:2].sum())
    low, high = evidence.interval
    assert low < evidence.held_out < high
    assert evidence.q == wide.tested[1].q and evidence.stability == min(e.stability for e in wide.tested[:2])


def test_a_set_stands_or_falls_together(wide):
    directions = by_halves(np.array([[[0.0, 1.0], [-1.0, 0.0]]] * 4), wide.d, 2)
    tested = tuple(replace(e, p=p, q=p) for e, p in zip(wide.tested[:2], (0.001, 0.02), strict=True))
    pair = replace(wide, n_real=2, tested=tested, holds=(True, True), directions=directions)
    read = pair.stricter(1.0, 0.05)
    assert [e.verdict for e in read.tested] == ["supported"] * 2
    assert [one["known_with"] for one in json.loads(json.dumps(read.as_dict()))["numbers"]["components"]] == [
        [2],
        [1],
    ]
    assert [e.verdict for e in pair.stricter(3.0, 0.05).tested] == ["suggestive", "not distinguishable from chance"]


def test_rows_of_one_subject_stay_in_one_half():
    """A direction that one subject has is not found again in the others."""
    rng = np.random.default_rng(7)
    label = np.repeat(np.arange(8), 12)
    X = 5.0 * rng.standard_normal(20) * (label == 0)[:, None] + rng.standard_normal((96, 20))
    apart = by_halves(crossed_halves(2, rows=X, folds=None, design=Grouped(96, label), seed=0), 20, 2)
    mixed = by_halves(crossed_halves(2, rows=X, folds=None, design=Independent(96), seed=0), 20, 2)
    assert apart.alignment[0] < COMES_BACK < mixed.alignment[0]


@pytest.mark.parametrize("n", [3, 9, 11])
def test_few_rows_and_copies_of_rows_have_an_answer(n):
    X = np.random.default_rng(8).standard_normal((n, 5))
    for rows in (X, np.repeat(X, 2, axis=0), X[:, [0, 1, 2, 0, 1]], np.repeat(X, 2, axis=0) @ np.ones((5, 30))):
        found = components(names(rows.shape[1]), rows=rows)
        assert len(found.findings()) == 1 and np.isfinite(found.directions.alignment).all()
