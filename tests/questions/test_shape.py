"""The shape of a pair in words: planted shapes get their names, and both halves of the rows have to agree."""

import numpy as np
import pytest

from assay.evidence.design import Independent, Serial
from assay.questions.correlations.shape import PairShape, shape_of, told
from assay.questions.correlations.swings import bins_along, swings

NEITHER = "neither rises with the other, but they are not independent"


def named(x, y, seed=0, levels=((), ())):
    sides = tuple(v if v.ndim == 2 else v[:, None] for v in (x, y))
    return told(shape_of(sides, (0, 1), design=Independent(len(x)), seed=seed), ["x", "y"], levels)


def circle(rng, n):
    angle = rng.uniform(0, 2 * np.pi, n)
    return np.cos(angle) + 0.2 * rng.standard_normal(n), np.sin(angle) + 0.2 * rng.standard_normal(n)


def over(f, x=lambda rng, n: rng.standard_normal(n)):
    def make(rng, n):
        at = x(rng, n)
        return at, f(at, rng)

    return make


SHAPES = {
    "y rises with x": over(lambda x, rng: 0.7 * x + 0.7 * rng.standard_normal(len(x))),
    "y falls as x rises": over(lambda x, rng: np.exp(-3 * x) * (1 + 0.1 * rng.random(len(x)))),
    "y is lowest at middling x": over(lambda x, rng: x**2 + 0.5 * rng.standard_normal(len(x))),
    "y is highest at middling x": over(lambda x, rng: np.exp(-(x**2)) + 0.15 * rng.standard_normal(len(x))),
    "y rises, then falls, then rises along x": over(
        lambda x, rng: -np.cos(3 * np.pi * x) + 0.3 * rng.standard_normal(len(x)), lambda rng, n: rng.random(n)
    ),
    "y varies least at middling x": over(lambda x, rng: x * rng.standard_normal(len(x))),
    "y varies more the higher x is": over(
        lambda x, rng: x * rng.standard_normal(len(x)), lambda rng, n: rng.lognormal(size=n)
    ),
    f"x and y form a ring: {NEITHER}": circle,
    f"x and y form a cross: {NEITHER}": over(
        lambda x, rng: x * rng.choice([-1, 1], len(x)) + 0.2 * rng.standard_normal(len(x))
    ),
}


@pytest.mark.parametrize("words", SHAPES)
def test_a_planted_shape_is_called_by_its_name(words):
    # 20 tables of 300 rows: a shape that is named four times of five passes with a chance of 41%, three of five 2%
    rng = np.random.default_rng(0)
    found = [named(*SHAPES[words](rng, 300), seed) for seed in range(20)]
    assert found.count(words) >= 17


def test_columns_that_know_nothing_of_each_other_have_no_shape():
    # six questions are asked of a pair, at 1% each or less: 8 of 60 and more with a chance of 3%
    rng = np.random.default_rng(1)
    assert sum(bool(named(rng.standard_normal(200), rng.lognormal(size=200), seed)) for seed in range(60)) < 8


def test_what_rises_and_falls_is_that_of_the_ranks():
    rng = np.random.default_rng(2)
    x, y = SHAPES["y is lowest at middling x"](rng, 300)
    assert named(x, np.sinh(4 * y)) == named(x, y) == "y is lowest at middling x"
    assert named(-x, y) == "y is lowest at middling x"
    assert named(x, -y) == "y is highest at middling x"


def test_a_swing_that_one_half_alone_shows_is_none():
    rng = np.random.default_rng(3)
    x, half = rng.random(400), np.arange(400) < 200
    y = np.where(half, np.abs(x - 0.5) * 8, 0.0) + rng.standard_normal(400)
    codes = bins_along(x)
    assert len(swings(np.abs(x - 0.5) * 8 + rng.standard_normal(400), codes, half)) == 2
    assert swings(y, codes, half) == ()


def test_rows_that_repeat_each_other_are_not_counted_as_many():
    rng = np.random.default_rng(4)
    walks = np.cumsum(rng.standard_normal((30, 400, 2)), axis=1)
    sides = [tuple(np.hsplit(walk, 2)) for walk in walks]
    free = [shape_of(side, (0, 1), design=Independent(400)).form for side in sides]
    bound = [shape_of(side, (0, 1), design=Serial(400, np.arange(400), 100)).form for side in sides]
    assert free.count("none") < 5 and bound.count("none") > 20


def test_levels_that_share_the_lowest_values_are_not_named():
    codes = np.arange(300) % 4
    x = np.where(codes == 2, 1.99, 0.99)
    assert named(x, np.eye(4)[codes], levels=((), tuple("abcd"))) == "x is highest where y is c"


def test_of_a_category_the_highest_and_the_lowest_level_are_named():
    rng = np.random.default_rng(5)
    level = rng.integers(3, size=150)
    y = np.array([0.0, 2.0, 1.0])[level] + rng.standard_normal(150)
    words = "x is highest where y is b and lowest where it is a"
    assert named(y, np.eye(3)[level], levels=((), ("a", "b", "c"))) == words
    assert named(rng.standard_normal(150), np.eye(3)[level], levels=((), ("a", "b", "c"))) == ""


def test_of_two_categories_the_levels_that_go_together_are_named():
    rng = np.random.default_rng(6)
    a = rng.integers(3, size=200)
    b = np.where((a == 2) & (rng.random(200) < 0.8), 1, rng.integers(4, size=200))
    assert named(np.eye(3)[a], np.eye(4)[b], levels=(("p", "q", "r"), ("s", "t", "u", "v"))) == "x r goes with y t"


def test_between_two_levels_a_rise_is_a_difference():
    rng = np.random.default_rng(7)
    yes = rng.integers(2, size=200).astype(float)
    more, same = rng.standard_normal(200) + yes, np.where(rng.random(200) < 0.8, 1 - yes, yes)
    told_yes, none = ("no", "yes"), ()
    assert named(more, yes, levels=(none, told_yes)) == "x is higher where y is yes"
    assert named(yes, -more, levels=(told_yes, none)) == "y is higher where x is no"
    assert named(yes, same, levels=(told_yes, ("off", "on"))) == "y is more often on where x is no"


def test_constant_columns_and_few_rows_have_no_shape():
    assert named(np.ones(30), np.arange(30.0)) == ""
    assert named(np.arange(3.0), np.array([1.0, 0.0, 1.0])) == ""
    assert told(PairShape(0, 1, "level", 1, 0, (1, -1, 1, -1)), ["x", "y"], [(), ()]) == "y goes up and down along x"


def test_a_category_of_two_levels_is_told_by_how_often_it_has_one():
    words = told(PairShape(0, 1, "highest", 1, 0, levels=(2, 0)), ["who", "arm"], [("a", "b", "c"), ("no", "yes")])
    assert words == "arm is most often yes where who is c and least often where it is a"
