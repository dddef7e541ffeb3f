import numpy as np
import pytest
from scipy import stats
from sklearn.datasets import load_linnerud, load_wine

from assay.evidence.design import Grouped, Serial
from assay.questions.correlations.test import correlations


def test_noise_is_called_no_more_often_than_the_level():
    # of 450 tables more than 34: a chance of .008 at a true rate of 5%, of .95 at 10%
    rng = np.random.default_rng(0)
    names = tuple("abcdef")
    found = [correlations(rng.lognormal(size=(40, 6)), np.arange(6), names) for _ in range(450)]
    assert sum(one.evidence.verdict == "supported" for one in found) <= 34


def test_the_strongest_pair_of_noise_is_not_said_to_hold_on_unseen_rows():
    # the strongest of 780 pairs in 30 rows looks strong in both halves of the rows that chose it
    rng = np.random.default_rng(3)
    found = correlations(rng.standard_normal((30, 40)), np.arange(40), tuple(f"x{j}" for j in range(40)))
    assert found.evidence.verdict == "not distinguishable from chance" and abs(found.found.pairs.unseen[0]) > 0.4
    assert found.evidence.held_out is None and "unseen" not in found.findings()[0].sentence


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


def bits(share, rows, columns):
    return lambda rng: ((rng.random((rows, columns)) < share).astype(float), np.arange(columns))


def levels(shares, rows, columns):
    def draw(rng):
        blocks = [np.eye(len(shares))[rng.choice(len(shares), rows, p=shares)] for _ in range(columns)]
        groups = np.repeat(np.arange(columns), len(shares))
        return np.concatenate(blocks, axis=1), groups

    return draw


@pytest.mark.parametrize(
    "draw",
    [
        bits(0.02, 200, 6),
        bits(0.02, 500, 20),
        bits(0.01, 300, 10),
        bits(0.05, 200, 10),
        levels([0.94, 0.02, 0.02, 0.02], 200, 8),
        levels([0.5, 0.25, 0.12, 0.06, 0.04, 0.03], 100, 6),
    ],
    ids=["2% of 200", "2% of 500", "1% of 300", "5% of 200", "three rare levels", "six skewed levels"],
)
def test_rare_levels_make_no_false_pairs(draw):
    # 60 tables at 5% at most: a rate of 15% is noticed with probability .92, of 20% with .99
    rng = np.random.default_rng(7)
    called = 0
    for seed in range(60):
        X, groups = draw(rng)
        found = correlations(X, groups, tuple(map(str, range(groups[-1] + 1))), seed=seed)
        called += found is not None and found.evidence.verdict == "supported"
    assert called <= 5


def test_rare_levels_that_do_go_together_are_found():
    rng = np.random.default_rng(8)
    X = (rng.random((400, 5)) < 0.04).astype(float)
    X[:, 1] = np.where(rng.random(400) < 0.8, X[:, 0], X[:, 1])
    found = correlations(X, np.arange(5), tuple("abcde"))
    assert found.n_pairs == 1 and found.evidence.verdict == "supported"


SHAPES = {
    "parabola": lambda rng, x, e: (x, x**2 + 0.5 * e),
    "circle": lambda rng, x, e: (np.cos(4 * x) + 0.2 * rng.standard_normal(200), np.sin(4 * x) + 0.2 * e),
    "cross": lambda rng, x, e: (x, x * rng.choice([-1, 1], 200) + 0.3 * e),
    "spread": lambda rng, x, e: (x, x * e),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_pairs_of_any_shape_are_found_among_others_and_said_to_be_no_line(shape):
    # 40 tables: a true share of 85% passes with probability .04
    rng = np.random.default_rng(9)
    hits = []
    for seed in range(40):
        X = rng.standard_normal((200, 6))
        X[:, 0], X[:, 1] = SHAPES[shape](rng, X[:, 0], X[:, 1])
        found = correlations(X, np.arange(6), tuple("abcdef"), seed=seed)
        pairs = found.found.pairs
        right = {pairs.first[0], pairs.second[0]} == {0, 1} and found.evidence.verdict == "supported"
        hits.append(right and not pairs.monotone[0] and pairs.strength_name[0] == "correlation of curves")
    assert sum(hits) >= 38


def test_the_curves_of_a_parabola_are_a_bend_and_a_line():
    rng = np.random.default_rng(10)
    x = rng.standard_normal(500)
    found = correlations(np.column_stack([x, 0.3 * rng.standard_normal(500) - x**2]), np.arange(2), ("x", "y"))
    u = np.linspace(0.01, 0.99, 99)
    drawn = found.found.pairs.curves[0] @ np.cos(np.pi * np.outer(np.arange(1, 7), u))
    drawn *= np.sign(drawn[1, -1] - drawn[1, 0])  # so that y rises
    ends = max(drawn[0][:15].mean(), drawn[0][-15:].mean())
    assert drawn[0][40:60].mean() > ends + 1.0 and np.corrcoef(drawn[1], u)[0, 1] > 0.7  # 1 for a line, 0 for a bend


def test_a_step_is_no_curve():
    rng = np.random.default_rng(18)
    x = rng.standard_normal((300, 4))
    x[:, 1] = x[:, 0] + 0.3 * rng.standard_normal(300) > 0.8
    pairs = correlations(x, np.arange(4), tuple("abcd")).found.pairs
    assert {pairs.first[0], pairs.second[0]} == {0, 1}
    assert pairs.monotone[0] and pairs.strength_name[0] == "rank correlation"


def test_the_strongest_come_first_where_p_is_zero_for_many():
    rng = np.random.default_rng(11)
    f = rng.standard_normal((20_000, 1))
    X = np.array([0.5, 0.6, 0.9, 0.95, 0.7]) * f + 0.5 * rng.standard_normal((20_000, 5))
    found = correlations(X, np.arange(5), tuple("abcde"))
    pairs = found.found.pairs
    assert found.n_pairs == 10 and (pairs.p[:5] < 1e-290).all()
    exact = np.abs(stats.spearmanr(X).statistic[pairs.first, pairs.second])
    # neighbours may differ by less than the error of halves
    assert (np.diff(exact) <= 0.005).all() and exact[0] == exact.max()


def test_a_level_that_is_part_of_another_has_v_one():
    subject = np.repeat(np.arange(30), 10)
    arm = np.random.default_rng(12).integers(3, size=30)[subject]
    X = np.concatenate([np.eye(30)[subject], np.eye(3)[arm]], axis=1)
    found = correlations(X, np.repeat([0, 1], [30, 3]), ("subject", "arm"))
    pairs = found.found.pairs
    assert pairs.strength_name[0] == "V" and pairs.strength[0] == pytest.approx(1.0)
    assert pairs.unseen[0] > 0.9 and found.evidence.verdict == "supported"


def spearman(r):
    return 6 / np.pi * np.arcsin(r / 2)


@pytest.mark.parametrize(("loading", "n"), [(0.4, 100), (0.8, 100), (0.5, 300)])
def test_the_interval_of_the_strongest_of_many_alike_covers_its_truth(loading, n):
    # 60 tables: at a coverage of 80% it passes with probability .02; one that ignores the choice covers 5 to 40%
    rng = np.random.default_rng(13)
    covered = []
    for seed in range(60):
        X = loading * rng.standard_normal((n, 1)) + np.sqrt(1 - loading**2) * rng.standard_normal((n, 20))
        found = correlations(X, np.arange(20), tuple(map(str, range(20))), seed=seed)
        if found.evidence.interval is not None:
            low, high = found.evidence.interval
            covered.append(low <= spearman(loading**2) <= high)
    assert len(covered) > 45 and np.mean(covered) >= 0.88


def test_the_interval_of_one_pair_among_noise_covers_its_truth():
    # 60 tables: at a coverage of 80% it passes with probability .02
    rng = np.random.default_rng(14)
    covered = []
    for seed in range(60):
        X = rng.standard_normal((100, 10))
        X[:, 1] = 0.5 * X[:, 0] + np.sqrt(0.75) * X[:, 1]
        found = correlations(X, np.arange(10), tuple("abcdefghij"), seed=seed)
        if found.evidence.interval is not None:
            low, high = found.evidence.interval
            right = {found.found.pairs.first[0], found.found.pairs.second[0]} == {0, 1}
            covered.append(low <= (spearman(0.5) if right else 0.0) <= high)
    assert len(covered) > 45 and np.mean(covered) >= 0.88


def test_another_seed_or_order_of_rows_says_the_same():
    wine = load_wine().data[:, :8]
    names = tuple(map(str, range(8)))
    rng = np.random.default_rng(15)
    first = correlations(wine, np.arange(8), names)
    width = np.diff(first.evidence.interval)[0]
    for seed in range(1, 6):
        other = correlations(wine[rng.permutation(len(wine))], np.arange(8), names, seed=seed)
        assert other.evidence.verdict == first.evidence.verdict and abs(other.n_pairs - first.n_pairs) <= 1
        assert abs(other.evidence.held_out - first.evidence.held_out) < width / 2


def test_rows_of_subjects_count_as_subjects():
    # 40 tables at 5%: a rate of 20% is noticed with probability .95
    rng = np.random.default_rng(16)
    subject = np.repeat(np.arange(30), 10)
    called = 0
    for seed in range(40):
        X = np.sqrt(0.7) * rng.standard_normal((30, 6))[subject] + np.sqrt(0.3) * rng.standard_normal((300, 6))
        found = correlations(X, np.arange(6), tuple("abcdef"), seed=seed, design=Grouped(300, subject))
        called += found.evidence.verdict == "supported"
    assert called <= 5


def test_a_series_that_leads_another_is_named_with_its_lag_whatever_the_order_of_the_rows():
    rng = np.random.default_rng(17)
    X = rng.standard_normal((300, 3))
    for t in range(1, 300):
        X[t] += 0.7 * X[t - 1]
    X[:, 1] = np.roll(X[:, 0], 3) + X[:, 1]
    order = rng.permutation(300)
    found = correlations(X[order], np.arange(3), tuple("abc"), design=Serial(300, order, 10))
    pairs = found.found.pairs
    assert found.evidence.verdict == "supported"
    assert (pairs.first[0], pairs.second[0], pairs.lag[0]) == (0, 1, 3) and "lags up to 10" in found.evidence.method


def test_ties_that_less_than_half_of_the_rows_share_do_not_hide_a_pair():
    sport = load_linnerud(as_frame=True).frame[["Situps", "Waist", "Chins"]]
    found = correlations(sport.to_numpy(dtype=float), np.arange(3), tuple(sport.columns))
    pairs = found.found.pairs
    for i, j, p in zip(pairs.first, pairs.second, pairs.p, strict=True):  # four of twenty rows have the same waist
        assert p < 4.0 * stats.spearmanr(sport.iloc[:, i], sport.iloc[:, j]).pvalue


def test_where_too_few_rows_are_independent_no_pair_is_tested():
    walks = np.cumsum(np.random.default_rng(1).standard_normal((150, 2)), axis=0)
    found = correlations(walks, np.arange(2), ("a", "b"), design=Serial(150, np.arange(150), 40))
    assert found.found.pairs.effective.max() < 12
    (finding,) = found.stricter(2.0, 0.05).findings()
    assert (finding.evidence.p, finding.evidence.verdict) == (None, "not testable here")
    assert finding.sentence.startswith("Too few rows are independent of each other")


def test_numbers_for_programs_say_strength_lag_and_shape():
    wine = load_wine().data[:, :4]
    found = correlations(wine, np.arange(4), tuple("abcd"))
    told = found.numbers()["pairs"][0]
    assert set(told) == {
        "columns", "rank", "strength", "strength_name", "unseen", "interval", "p", "q", "lag", "monotone", "again"
    }  # fmt: skip
    assert told["interval"] == list(found.evidence.interval) and told["strength_name"] == "rank correlation"


def test_the_level_by_chance_is_that_of_the_strongest_of_all_pairs():
    rng = np.random.default_rng(2)
    best = [correlations(rng.standard_normal((50, 7)), np.arange(7), tuple("abcdefg")) for _ in range(200)]
    sizes = np.array([abs(one.found.pairs.rank[0]) for one in best])
    null = next(one.evidence.null for one in best if one.evidence.null is not None)  # others are not of ranks
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


def test_a_column_that_another_table_alone_has_goes_with_nothing_that_is_constant_there():
    # two files one below the other: the second has no `radius`, whose most frequent value the first alone can have
    rng = np.random.default_rng(10)
    origin = (np.arange(186) < 32).astype(float)
    radius = np.where(origin == 1.0, rng.choice([0.5, 0.3, 0.7, 0.1], 32).repeat(6)[:186], np.nan)
    other = rng.standard_normal(186)
    found = correlations(np.column_stack([radius, origin, other]), np.arange(3), ("radius", "origin", "other"))
    assert found.n_pairs == 0 and found.found.tested == 2
    assert np.isnan(found.found.rank[0, 1])


def test_gaps_do_not_weaken_a_pair():
    rng = np.random.default_rng(11)
    X = rng.multivariate_normal([0.0, 0.0], [[1.0, 0.8], [0.8, 1.0]], 300)
    X[rng.random((300, 2)) < 0.4] = np.nan
    found = correlations(X, np.arange(2), ("a", "b"))
    both = ~np.isnan(X).any(axis=1)
    assert found.found.pairs.strength[0] == pytest.approx(stats.spearmanr(X[both]).statistic, abs=1e-12)
    # half of about 108 rows: a standard error of .05
    assert found.found.pairs.unseen[0] == pytest.approx(found.found.pairs.strength[0], abs=0.1)
    assert found.evidence.verdict == "supported" and found.found.pairs.n[0] == both.sum()


def test_tables_of_three_files_support_no_pair_that_no_file_has():
    # 60 tables at 5%: a rate of 15% is noticed with probability .92; by products of all rows it was 82%
    called = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((150, 2)) + 2.0 * (np.arange(150) % 3 == 1)[:, None]
        X[2::3, 0] = X[0::3, 1] = np.nan
        found = correlations(X, np.arange(2), ("a", "b"), seed=seed)
        called += found is not None and found.evidence.verdict == "supported"
    assert called <= 6
