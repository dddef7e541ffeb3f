import numpy as np
import pytest

from assay.questions.correlations import halves as pair_halves
from assay.questions.correlations.halves import Halves, ProductBlocks, curve, unseen_strength
from assay.summary.pairs.association import standardised


@pytest.mark.parametrize("gemm", [0, 200])
def test_correlations_in_halves_are_those_of_their_rows(gemm, monkeypatch):
    monkeypatch.setattr(pair_halves, "_GEMM", gemm)
    Z = np.random.default_rng(0).standard_normal((100, 4)) + 5.0
    halves = Halves.of_rows(100, seed=1)
    first, second = np.triu_indices(4, 1)
    C = halves.correlations(Z, first, second)
    for k in (0, 7):
        inside = halves.sides[k][halves.part]
        for which, rows in enumerate((inside, ~inside)):
            # means of 5 and spreads of 1: sums of squares lose two digits
            np.testing.assert_allclose(C[which, k], np.corrcoef(Z[rows].T)[first, second], atol=1e-12)
    assert halves.counts.sum(axis=0).tolist() == [100.0] * len(halves.sides)


def test_rows_of_one_part_are_in_one_half():
    part = np.repeat(np.arange(6), 5)
    halves = Halves.of(part, seed=0)
    assert (halves.sides.sum(axis=1) == 3).all()
    assert (halves.among(np.arange(10)).part == part[:10]).all()


def test_unseen_strength_of_noise_has_no_bias_where_the_strength_at_hand_has():
    rng = np.random.default_rng(1)
    squares, unseen = [], []
    for _ in range(100):
        codes = rng.integers(10, size=(200, 2))
        X = np.concatenate([np.eye(10)[codes[:, 0]], np.eye(10)[codes[:, 1]]], axis=1)
        ready = standardised(X, np.repeat([0, 1], 10), ranks=True)
        blocks = ProductBlocks.of(ready.starts, np.array([0]), np.array([1]))
        C = Halves.of_rows(200).correlations(ready.Z, blocks.first, blocks.second)
        unseen.append(blocks.summed((C[0] * C[1]).mean(axis=0))[0] / 9)
        squares.append(((ready.Z[:, :9].T @ ready.Z[:, 9:]) ** 2).sum() / 9)
    # V^2 of noise is 9 / 199 on average, and its estimate from other rows 0
    assert np.mean(squares) == pytest.approx(9 / 199, rel=0.1)
    assert abs(np.mean(unseen)) < 4 * np.std(unseen) / 10 and abs(np.mean(unseen)) < 0.01


def test_unseen_strength_is_that_of_the_population():
    rng = np.random.default_rng(2)
    x = rng.standard_normal(4000)
    X = np.column_stack([x, 0.8 * x + 0.6 * rng.standard_normal(4000)])
    ready = standardised(X, np.arange(2), ranks=True)
    blocks = ProductBlocks.of(ready.starts, np.array([0]), np.array([1]))
    C = Halves.of_rows(4000).correlations(ready.Z, blocks.first, blocks.second)
    # Spearman's of a normal pair with correlation .8 is (6 / pi) arcsin(.4); its error is 1 / sqrt(n) at most
    assert unseen_strength(C, blocks)[0] == pytest.approx(6 / np.pi * np.arcsin(0.4), abs=4 / np.sqrt(4000))


def test_blocks_list_every_product_of_two_columns():
    blocks = ProductBlocks.of(np.array([0, 2, 3, 6]), np.array([0, 1]), np.array([2, 2]))
    assert blocks.first.tolist() == [0, 0, 0, 1, 1, 1, 2, 2, 2]
    assert blocks.second.tolist() == [3, 4, 5] * 3
    assert blocks.summed(np.arange(9.0)).tolist() == [15.0, 21.0]


def test_curves_chosen_by_one_half_are_measured_in_the_other():
    C = np.zeros((2, 3, 2, 2))
    C[0, :, 0, 0], C[1, :, 0, 0], C[1, :, 1, 1] = 0.8, 0.6, 0.7
    found = curve(C, C.mean(axis=(0, 1)))
    # the first half chooses (0, 0), which is .6 in the other; the second (1, 1), which is 0 in the first
    assert found.unseen == pytest.approx(0.3) and found.strength == pytest.approx(0.7)


@pytest.mark.parametrize("gemm", [0, 200])
def test_with_gaps_they_are_those_of_the_rows_where_both_have_a_value(gemm, monkeypatch):
    monkeypatch.setattr(pair_halves, "_GEMM", gemm)
    rng = np.random.default_rng(2)
    seen = rng.random((100, 4)) < 0.7
    Z = np.where(seen, rng.standard_normal((100, 4)), 0.0)
    halves = Halves.of_rows(100, seed=1)
    first, second = np.triu_indices(4, 1)
    C = halves.correlations(Z, first, second, seen)
    for k in (0, 7):
        inside = halves.sides[k][halves.part]
        for which, rows in enumerate((inside, ~inside)):
            for m, (i, j) in enumerate(zip(first, second, strict=True)):
                both = rows & seen[:, i] & seen[:, j]
                assert C[which, k, m] == pytest.approx(np.corrcoef(Z[both, i], Z[both, j])[0, 1], abs=1e-12)
