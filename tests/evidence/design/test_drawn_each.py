"""Many draws of chance at once are those that come one by one."""

import numpy as np
import pytest

from assay.evidence.design import Grouped, Independent, Runs, Serial

PLACE = np.random.default_rng(8).permutation(30)
DESIGNS = [
    Independent(30),
    Serial(30, PLACE, 2),
    Serial(1, np.zeros(1, np.intp), 1),
    Grouped(30, np.arange(30) // 3),
    Runs(30, PLACE, 4, np.array([0, 30])),
    Runs(30, PLACE, 3, np.array([0, 12, 30])),
]


@pytest.mark.parametrize("count", [0, 5, 200])
@pytest.mark.parametrize(
    "design", DESIGNS, ids=["independent", "serial", "one row", "grouped", "runs and a rest", "runs"]
)
def test_many_draws_are_those_that_come_one_by_one(design, count):
    apart, at_once = np.random.default_rng(4), np.random.default_rng(4)
    one_by_one = [design.drawn(apart).tolist() for _ in range(count)]
    assert design.drawn_each(at_once, count).tolist() == one_by_one
    assert apart.random() == at_once.random()
