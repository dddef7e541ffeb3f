"""The short part of the bench: only pairs are asked for, which is quick. `make calibrate` asks every question."""

import pytest
from calibrate.families import FAMILIES
from calibrate.measure import false_claims, studied
from calibrate.rates import most_allowed, tables_needed

QUICK = ("correlations",)
PAIRS = ("parabola", "circle", "cross", "multiplicative noise", "line, r = .3")
PLANTED = (*(f"{name}, 200 x 4" for name in PAIRS), "a series leads another by 0", "treatment between subjects")


@pytest.mark.slow
@pytest.mark.parametrize("sort", ["independent", "rare", "dependent"])
def test_where_there_is_nothing_one_table_in_twenty_is_claimed_to_have_something_at_most(sort):
    """321 tables or more: a true rate of 5% passes with probability .95 at least, one of 10% with .05 at most."""
    families = [f for f in FAMILIES.values() if f.sort == sort and f.tables > 3 and "target" not in f.name]
    each = -(-tables_needed() // len(families))
    claims = {
        family.name: sum(bool(false_claims(studied(family.table(seed), QUICK, seed), family)) for seed in range(each))
        for family in families
    }
    assert sum(claims.values()) <= most_allowed(each * len(families)), claims


@pytest.mark.slow
@pytest.mark.parametrize("name", PLANTED)
def test_what_is_planted_is_found_in_four_of_five_tables(name):
    """13 of 20 or more: a true rate of 80% passes with probability .97, one of 50% with .13, one of 40% with .02."""
    family = FAMILIES[name]
    drawn = [family.table(seed) for seed in range(20)]
    assert sum(family.found(studied(one, QUICK, seed), one) for seed, one in enumerate(drawn)) >= 13
