import numpy as np
import pytest
from sklearn.datasets import load_wine

from assay.questions.correlations.test import correlations


def test_noise_is_called_no_more_often_than_the_level():
    # of 450 tables more than 34: a chance of .008 at a true rate of 5%, of .95 at 10%
    rng = np.random.default_rng(0)
    names = tuple("abcdef")
    found = [correlations(rng.lognormal(size=(40, 6)), np.arange(6), names) for _ in range(450)]
    assert sum(one.evidence.verdict == "supported" for one in found) <= 34


def test_planted_pairs_are_found_with_their_size_on_unseen_rows():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((400, 8))
    X[:, 3] = 0.8 * X[:, 2] + 0.6 * X[:, 3]
    found = correlations(X, np.arange(8), tuple("abcdefgh"))
    assert found.evidence.verdict == "supported" and found.n_pairs == 1
    assert {found.found.pairs.first[0], found.found.pairs.second[0]} == {2, 3}
    # Spearman's of a normal pair with correlation .8 is (6 / pi) arcsin(.4)
    assert found.evidence.held_out == pytest.approx(6 / np.pi * np.arcsin(0.4), abs=0.08)
    assert found.again == 1.0 and found.strongest_interval[0] > 0.7


def test_the_level_by_chance_is_that_of_the_strongest_of_all_pairs():
    rng = np.random.default_rng(2)
    best = [correlations(rng.standard_normal((50, 7)), np.arange(7), tuple("abcdefg")) for _ in range(200)]
    sizes = np.array([abs(one.found.pairs.rank[0]) for one in best])
    null = best[0].evidence.null
    # 200 draws: a share of 5% has a standard error of 1.5%, one of half 3.5%
    assert abs((sizes > null.upper).mean() - 0.05) < 0.05
    assert abs((sizes > null.median).mean() - 0.5) < 0.11


def test_stricter_multiplies_q_and_counts_pairs_anew():
    wine = load_wine().data
    found = correlations(wine, np.arange(13), tuple(map(str, range(13))))
    harder = found.stricter(50.0, 0.05)
    np.testing.assert_allclose(np.sort(harder.q), np.minimum(np.sort(found.q) * 50, 1))
    stands = (harder.q <= 0.05) & (harder.found.pairs.again >= 0.5)
    assert harder.n_pairs == stands.sum() < found.n_pairs and stands[: harder.n_pairs].all()
    assert harder.stricter(2.0, 0.05).factor == 100.0


def test_columns_of_any_kind_are_put_in_order():
    rng = np.random.default_rng(4)
    levels = (3, 4, 6, 8, 1)
    X = np.column_stack([np.eye(k)[rng.integers(k, size=300)] if k > 1 else rng.random(300) for k in levels])
    found = correlations(X, np.repeat(np.arange(5), levels), tuple("abcde"))
    assert sorted(found.order) == [0, 1, 2, 3, 4]


def test_columns_without_rows_in_common_are_not_tested_and_not_linked():
    rng = np.random.default_rng(5)
    X = rng.standard_normal((60, 3))
    X[:30, 0] = X[30:, 1] = np.nan
    found = correlations(X, np.arange(3), tuple("abc"))
    assert found.found.tested == 2 and np.isnan(found.found.rank[0, 1])
    assert sorted(found.order) == [0, 1, 2]


def test_a_category_of_as_many_levels_as_rows_is_not_tested():
    rng = np.random.default_rng(6)
    X = np.column_stack([np.eye(12), rng.standard_normal((12, 2))])
    found = correlations(X, np.repeat(np.arange(3), [12, 1, 1]), tuple("abc"))
    assert found.found.tested == 1 and 0.0 <= found.evidence.p <= 1.0


def test_too_few_rows_or_columns_cannot_be_asked():
    X = np.random.default_rng(3).standard_normal((9, 3))
    assert correlations(X, np.arange(3), tuple("abc")) is None
    assert correlations(np.vstack([X, X])[:, :1], np.arange(1), ("a",)) is None
    constant = np.ones((20, 2))
    assert correlations(constant, np.arange(2), ("a", "b")) is None
