import pytest
from calibrate.rates import chance_of_notice, exact_interval, most_allowed, noticed_rate, tables_needed
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, binomtest


@given(st.integers(1, 400).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_the_interval_of_a_rate_is_clopper_and_pearsons(counts):
    x, n = counts
    expected = binomtest(x, n).proportion_ci(0.95, "exact")
    assert exact_interval(x, n) == pytest.approx((expected.low, expected.high), abs=1e-10)


@given(st.integers(1, 2000))
def test_a_rate_of_five_per_cent_is_called_too_high_one_time_in_twenty_at_most_and_one_table_fewer_would_be_more(n):
    c = most_allowed(n)
    assert binom.sf(c, n, 0.05) <= 0.05 < binom.sf(c - 1, n, 0.05)


@given(st.integers(3, 500))
def test_the_rate_noticed_is_noticed_with_the_probability_stated(n):
    assert chance_of_notice(n, noticed_rate(n)) == pytest.approx(0.95, abs=1e-6)


def test_so_many_tables_and_all_greater_numbers_notice_ten_per_cent_and_one_fewer_does_not():
    needed = tables_needed()
    assert chance_of_notice(needed - 1, 0.10) < 0.95
    assert all(chance_of_notice(n, 0.10) >= 0.95 for n in range(needed, needed + 200))
