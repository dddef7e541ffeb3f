"""Linking rows by as few neighbours as keep them together."""

import numpy as np

from assay.summary.graph.linking import link
from assay.summary.graph.options import Nearest


def test_as_few_neighbours_as_link_all_rows_are_taken():
    rng = np.random.default_rng(0)
    near = rng.standard_normal((60, 2))
    assert link(near).option == Nearest(10)
    # groups of 15 far apart: 10 nearest stay inside, 20 do not
    groups = np.concatenate([rng.standard_normal((15, 2)) + 100 * i for i in range(3)])
    found = link(groups)
    assert found.option == Nearest(20)
    assert found.graph.components().count == 1


def test_where_none_links_all_the_one_that_links_most_is_taken():
    rng = np.random.default_rng(1)
    apart = np.concatenate(
        [rng.standard_normal((50, 2)), rng.standard_normal((50, 2)) + 1e3, 1e6 + np.arange(16)[:, None] * [1, 1]]
    )
    found = link(apart)
    assert found.option == Nearest(20) and found.graph.components().sizes.max() == 66


def test_few_rows_are_all_linked():
    assert link(np.zeros((2, 1))).option == Nearest(1)
    assert link(np.arange(5.0)[:, None]).graph.links.tolist() == [4] * 5
