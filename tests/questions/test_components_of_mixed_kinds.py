"""Categories beside numbers: what indicators share by making is not called a component."""

import re

import numpy as np
import pytest

from assay.questions.components.test import components
from assay.questions.components.views import loading_tables
from assay.summary.moments.grouped import GroupedMoments


def mixed(rng, n, strength=0.0):
    """Two categories of 4 and 3 levels and four numbers; with strength, the first category moves two numbers."""
    a, b = rng.integers(0, 4, n), rng.integers(0, 3, n)
    numbers = rng.standard_normal((n, 4))
    numbers[:, :2] += strength * (a == 0)[:, None]
    X = np.hstack([a[:, None] == np.arange(4), b[:, None] == np.arange(3), numbers]).astype(float)
    return X, np.array([0] * 4 + [1] * 3 + [2, 3, 4, 5])


NAMES = (*(f"a = {i}" for i in range(4)), *(f"b = {i}" for i in range(3)), "w", "x", "y", "z")


def judged(X, groups, *, streamed):
    folds = GroupedMoments.folds(X, 10, random_state=0)
    return components(NAMES, rows=None if streamed else X, folds=folds, groups=groups)


@pytest.mark.slow
@pytest.mark.parametrize("streamed", [False, True])
def test_independent_categories_and_numbers_give_no_component(streamed):
    rng = np.random.default_rng(0)
    runs = 120
    false = sum(judged(*mixed(rng, 150), streamed=streamed).n_real > 0 for _ in range(runs))
    # of 120 more than 12: a chance of .007 at a true rate of 5%, of .42 at 10%, .997 at 20%
    assert false <= 12


@pytest.mark.parametrize("streamed", [False, True])
def test_a_level_that_moves_two_numbers_is_found_and_named(streamed):
    found = judged(*mixed(np.random.default_rng(1), 400, strength=2.0), streamed=streamed)
    assert found.n_real >= 1
    assert found.loadings.shape[0] == len(NAMES)
    top = {NAMES[j] for j in np.argsort(-np.abs(found.loadings[:, 0]))[:3]}
    assert top == {"a = 0", "w", "x"}


def test_indicators_left_alone_would_be_called_a_component():
    X, _ = mixed(np.random.default_rng(2), 300)
    apart = components(NAMES, rows=X, folds=GroupedMoments.folds(X, 10, random_state=0), groups=np.arange(11))
    assert apart.n_real > 0


def test_from_rows_and_from_folds_the_loadings_agree():
    X, groups = mixed(np.random.default_rng(3), 400, strength=2.0)
    kept, streamed = judged(X, groups, streamed=False), judged(X, groups, streamed=True)
    np.testing.assert_allclose(kept.loadings[:, 0], streamed.loadings[:, 0], atol=1e-9)
    np.testing.assert_allclose(kept.values, streamed.values, atol=1e-9)


def test_columns_that_make_no_component_stand_below_those_that_do():
    rng = np.random.default_rng(3)
    shared = rng.standard_normal((600, 2))
    X = np.hstack([shared[:, :1] + rng.standard_normal((600, 3)) / 2, rng.standard_normal((600, 2))])
    X = np.hstack([X, shared[:, 1:] + rng.standard_normal((600, 2)) / 2])
    found = components(tuple("abcdefg"), rows=X, folds=GroupedMoments.folds(X, 10, random_state=0), groups=np.arange(7))
    assert found.n_told == 2
    shown = re.findall("<bdi>(.)</bdi>", loading_tables(found)[0])
    assert set(shown[:3]) == set("abc") and set(shown[3:5]) == set("fg") and set(shown[5:]) == set("de")
