import numpy as np
import pandas as pd
import pytest
from calibrate.dependent import ICC, autoregression, of_subjects
from calibrate.families import FAMILIES
from calibrate.rates import tables_needed

SMALL = [name for name, family in FAMILIES.items() if family.tables > 3]


@pytest.mark.parametrize("name", SMALL)
def test_a_table_is_the_same_for_the_same_number_and_another_for_the_next(name):
    family = FAMILIES[name]
    first, again, other = (family.table(seed).data for seed in (0, 0, 1))
    pd.testing.assert_frame_equal(first, again)
    assert not first.equals(other)


@pytest.mark.parametrize("name", [name for name in SMALL if FAMILIES[name].sort != "interval"])
def test_what_a_study_is_told_names_columns_that_are_there(name):
    drawn = FAMILIES[name].table(0)
    for value in drawn.options.values():
        assert set([value] if isinstance(value, str) else value) <= set(drawn.data.columns)


@pytest.mark.parametrize("sort", ["independent", "rare", "dependent"])
def test_a_full_run_has_enough_tables_of_each_sort_to_notice_a_rate_of_ten_per_cent(sort):
    assert sum(family.tables for family in FAMILIES.values() if family.sort == sort) >= tables_needed()


def test_series_have_variance_one_and_the_correlation_from_row_to_row_that_they_are_named_after():
    X = autoregression(np.random.default_rng(0), 20_000, 4, 0.7)
    # the variance of a mean of 20,000 such products is about 10 / 20,000: five standard errors
    np.testing.assert_allclose(X.var(axis=0), 1.0, atol=0.12)
    np.testing.assert_allclose((X[1:] * X[:-1]).mean(axis=0), 0.7, atol=0.12)


def test_rows_of_one_subject_correlate_as_stated():
    tables = [of_subjects(np.random.default_rng(seed))[0] for seed in range(40)]
    own = np.concatenate([t.drop(columns="subject").groupby(t["subject"]).mean().to_numpy().ravel() for t in tables])
    # 6,000 means of ten rows each, variance ICC + (1 - ICC) / 10 = .73, known to .73 sqrt(2 / 6,000) = .013
    assert own.var() == pytest.approx(ICC + (1 - ICC) / 10, abs=5 * 0.013)


@pytest.mark.parametrize("lag", [0, 1, 3])
def test_the_series_that_leads_explains_three_tenths_of_the_other_at_its_lag(lag):
    r = []
    for seed in range(40):
        data = FAMILIES[f"a series leads another by {lag}"].table(seed).data
        x, y = data["c1"].to_numpy(), data["c2"].to_numpy()
        r.append(np.corrcoef(x[: 300 - lag], y[lag:])[0, 1])
    # one has a standard error of about .09 with rows that follow each other; the mean of forty .015
    assert np.mean(r) == pytest.approx(np.sqrt(0.3), abs=5 * 0.015)


def test_confounded_columns_go_together_over_all_and_against_each_other_within():
    tables = [FAMILIES["confounding, +.75 over all, -.9 within"].table(seed).data for seed in range(20)]
    over = np.mean([t["c1"].corr(t["c2"]) for t in tables])
    within = np.mean([part["c1"].corr(part["c2"]) for t in tables for _, part in t.groupby("department")])
    # a correlation of 200 rows has a standard error of .03 at .75, one of 40 rows .03 at -.9
    assert over == pytest.approx(0.75, abs=0.04) and within == pytest.approx(-0.9, abs=0.02)
