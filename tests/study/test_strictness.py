"""Several questions of one table share its level."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import false_discovery_control

from assay.questions.components.test import components
from assay.study.strictness import strictness

p_values = st.lists(st.floats(0, 1), min_size=1, max_size=6)


@settings(max_examples=200, deadline=None)
@given(p_values)
def test_the_best_question_is_read_as_benjamini_and_hochberg_would(best):
    claimed = np.array(best) * strictness(best).factor <= 0.05
    assert claimed.any() == (false_discovery_control(best) <= 0.05).any()


@settings(max_examples=100, deadline=None)
@given(p_values)
def test_a_question_that_could_not_be_tested_costs_nothing(best):
    assert strictness([*best, None]) == strictness(best)


@settings(max_examples=100, deadline=None)
@given(p_values)
def test_the_words_and_the_rule_have_the_numbers_behind_the_factor(best):
    strict = strictness(best)
    found = int((false_discovery_control(best) <= 0.05).sum())
    assert strict.factor == len(best) / max(found, 1)
    if len(best) == 1:
        assert strict.words == ""
        return
    many = {0: "none of them found anything", len(best): "all of them found something"}
    some = many.get(found, f"{found} of them found something")
    done = "left as it is" if strict.factor == 1.0 else f"multiplied by {strict.factor:.3g}"
    assert strict.words.startswith(
        f"Every p is {done}, because {len(best)} questions on structure were asked and {some}. "
    )
    assert f"{len(best)} / {max(found, 1)} (Benj" in strict.words


def test_without_structure_any_claim_is_as_rare_as_asked_for():
    rng = np.random.default_rng(0)
    p = rng.random((20_000, 3))
    claims = sum(bool((row * strictness(list(row)).factor <= 0.05).any()) for row in p)
    assert abs(claims / len(p) - 0.05) < 4 * np.sqrt(0.05 * 0.95 / len(p))


@pytest.fixture(scope="module")
def found():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((150, 6))
    X[:, :3] += 1.2 * rng.standard_normal((150, 1))
    return components(tuple("abcdef"), rows=X, seed=0)


def test_read_more_strictly_no_component_gains(found):
    assert found.n_real == 1
    for factor in (1.0, 2.0, 50.0, 1e6):
        read = found.stricter(factor, 0.05)
        assert read.n_real <= found.n_real
        assert read.n_real == sum(e.q <= 0.05 for e in read.tested)
        for before, after in zip(found.tested, read.tested, strict=True):
            assert after.p == before.p and after.q == min(before.q * factor, 1.0)
            assert (after.verdict == "supported") <= (before.verdict == "supported")


def test_read_as_strictly_as_before_nothing_changes(found):
    assert found.stricter(1.0, 0.05).evidence == found.evidence


def test_a_direction_is_trusted_only_while_its_component_is(found):
    assert found.evidence.stability > 0.5
    assert found.stricter(1e6, 0.05).evidence.stability is None
