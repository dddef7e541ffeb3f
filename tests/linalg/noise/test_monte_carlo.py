"""Draws that end once the answer is clear: what is drawn, what it costs, and that p keeps what it promises."""

import numpy as np
import pytest
from scipy.stats import beta, binom

from assay.linalg.noise.monte_carlo import different, endless, monte_carlo, rank_p

TABLES = 4000
LEVELS = np.array([0.01, 0.05, 0.1, 0.2, 0.3, 0.5, 0.9])
# where P(p <= a) = a, of 4000 tables more than this share of them has a p of a or less with a chance below 1e-5; a rule
# that says p <= .05 in 7.2% of the tables, or p <= .01 in 2.2%, would be noticed nine times in ten
MOST = beta.isf(1e-5, LEVELS * TABLES + 1, TABLES - LEVELS * TABLES)


def shares(p):
    return (np.asarray(p)[:, None] <= LEVELS + 1e-12).mean(axis=0)


def one_by_one(values, found, enough, n):
    return monte_carlo(values, list, [1] * n, reaches=lambda x: x >= found, enough=enough)


def test_without_an_early_end_p_is_the_rank_of_the_data():
    found = monte_carlo([3.0, 1.0, 2.0, 5.0], list, [4], reaches=lambda x: x >= 2.0)
    assert found.p == rank_p(3, 4) == 0.8 and found.values == [3.0, 1.0, 2.0, 5.0]


@pytest.mark.parametrize("enough", [None, 3, 20])
def test_p_of_data_that_chance_made_is_valid_at_every_level(enough):
    rng = np.random.default_rng(0)
    values = rng.standard_normal((TABLES, 100))
    p = [one_by_one(row[1:], row[0], enough, 99).p for row in values]
    assert (shares(p) <= MOST).all()
    # and not by saying little: at 5% it has to say so in 4% of them
    assert shares(p)[1] > 0.04


def test_p_that_ends_after_a_first_stage_is_valid_at_every_level():
    rng = np.random.default_rng(1)
    p = []
    for row in rng.standard_normal((TABLES, 100)):

        def rank(drawn, own=row[0]):
            return rank_p(int((np.array(drawn) >= own).sum()), len(drawn))

        p.append(rank(monte_carlo(row[1:], list, [19, 80], clear=lambda drawn: rank(drawn) > 0.2).values))
    assert (shares(p) <= MOST).all() and shares(p)[1] > 0.04


def test_a_loop_that_ends_as_soon_as_p_is_small_would_be_noticed():
    # the error that early ends invite, and what the bounds above are there to see
    peeking = []
    for row in np.random.default_rng(2).standard_normal((TABLES, 100)):
        ranks = (1.0 + np.cumsum(row[1:] >= row[0])) / (2.0 + np.arange(99))
        small = np.flatnonzero(ranks <= 0.2)
        peeking.append(ranks[small[0]] if len(small) else ranks[-1])
    assert (shares(peeking) > MOST).any()


def test_ties_count_against_the_data():
    assert monte_carlo([1.0] * 19, list, [19], reaches=lambda x: x >= 1.0).p == 1.0


def test_draws_end_with_the_one_that_is_enough_and_p_is_their_share():
    found = one_by_one([0, 1, 0, 1, 1, 0], 1, 2, 6)
    assert found.values == [0, 1, 0, 1] and found.p == 2 / 4
    unlucky = one_by_one([0, 0, 0, 1, 0, 1], 1, 3, 6)
    assert len(unlucky.values) == 6 and unlucky.p == rank_p(2, 6)


@pytest.mark.parametrize("size", [1, 2, 5, 33, 99])
def test_batches_give_the_p_of_draws_one_by_one(size):
    for row in np.random.default_rng(3).standard_normal((50, 100)):
        stages = [size] * -(-99 // size)
        found = monte_carlo(row[1:], list, stages, reaches=lambda x, own=row[0]: x >= own, enough=5)
        assert found.p == one_by_one(row[1:], row[0], 5, 99).p


def test_what_is_not_drawn_costs_no_random_numbers():
    rng, other = np.random.default_rng(4), np.random.default_rng(4)
    found = monte_carlo((rng.random() for _ in range(99)), list, [10, 89], clear=lambda drawn: True)
    assert found.values == list(other.random(10)) and rng.random() == other.random()


def test_progress_is_told_what_each_stage_comes_to():
    told = []
    monte_carlo(range(9), list, [2, 3, 4], progress=told.append, clear=lambda drawn: len(drawn) >= 5)
    assert told == [2, 5]


def test_no_draws_say_nothing():
    assert monte_carlo([], list, []).values == [] and monte_carlo([], list, []).p == 1.0


@pytest.mark.parametrize(("first", "most", "enough"), [(99, 999, 40), (199, 1999, 100)])
def test_p_is_valid_down_to_one_in_the_most_draws(first, most, enough):
    # exact, not simulated: with the data at the u-th part of chance, draws reach them with the probability u. A batch
    # ends where enough have, so P(p <= a) is the mean over u of the probability that fewer than enough of the first
    # floor(enough / a) draws reached them, or for small a of a rank among all. 4000 values of u, evenly: 1e-4 of error
    u = (np.arange(4000) + 0.5) / 4000
    for a in (0.0005, 0.001, 0.01, 0.05, 0.2, 0.5):
        # h / l <= a needs the h-th to come at draw h / a or later: at most h - 1 among the draws before
        before = int(np.ceil(enough / a - 1e-9)) - 1
        if before <= most:
            share = binom.cdf(enough - 1, before, u).mean()
        else:
            share = binom.cdf(np.floor(a * (1 + most) + 1e-9) - 1, most, u).mean()
        assert share <= a + 2e-4
        assert share >= 0.8 * a - 2e-4 or a < 1.0 / (1 + most)


def test_draws_that_came_before_are_not_made_again_and_end_where_there_are_no_others():
    rng = np.random.default_rng(5)
    shifts = list(different(endless(lambda: np.roll(np.arange(7), rng.integers(7)))))
    assert len(shifts) == 7 and len({tuple(one) for one in shifts}) == 7
    found = monte_carlo(iter(shifts), lambda some: [0.0] * len(some), [4, 4, 4], reaches=lambda x: x >= 1.0)
    assert len(found.values) == 7 and found.p == rank_p(0, 7)
