"""Bonferroni's principle: look often enough, and chance alone shows what you look for. How often, before looking.

    looks  m = C(things, together) C(occasions, times)        chance of one look  c = chance^times
    expected by chance  m c                                   at least one        1 - (1 - c)^m <= m c

If m c is not well below what was seen, what was seen is no news. The expected number needs no independence of the
looks; the probability of at least one is exact where they are independent, and m c bounds it where they are not.

Reference: Leskovec, Rajaraman and Ullman, Mining of Massive Datasets, section 1.2.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from assay.errors import ParameterError


@dataclass(frozen=True, slots=True)
class ByChance:
    """What chance alone gives to whoever looks so often.

    Attributes:
        looks: how many combinations could show it.
        chance: that one of them does, by chance alone.
        expected: how many do, on average.
        at_least_one: probability that any does, where they are independent of each other.
        needed: the chance that a single look must stay below, so that any of them does with probability `level`.
        level: as given.
    """

    looks: int
    chance: float
    expected: float
    at_least_one: float
    needed: float
    level: float

    @property
    def sentence(self) -> str:
        """The same in words."""
        looks = (
            f"{self.looks:,} test{'' if self.looks == 1 else 's'}" if self.looks < 10**9 else f"{self.looks:.3g} tests"
        )
        found = f"{self.expected:,.0f}" if self.expected >= 1000 else f"{self.expected:.3g}"
        return (
            f"Of {looks} of data without structure {found} would show this by chance alone, at least one with "
            f"probability {self.at_least_one:.3g}. A single one means something where its own chance is "
            f"{self.needed:.2g} or less."
        )


def expected_by_chance(
    things: int, chance: float, *, together: int = 1, occasions: int = 1, times: int = 1, level: float = 0.05
) -> ByChance:
    """How many hits chance alone gives to whoever looks at everything: Bonferroni's principle.

    Args:
        things: how many there are: columns, people, tests.
        chance: that `together` of them show it on one occasion, where nothing is going on.
        together: how many of them make one look: 2 for pairs.
        occasions: how often each combination could show it.
        times: on how many of these occasions it has to, each with the same chance.
        level: what the probability of any false hit is to be.

    All pairs of eight unrelated columns, each tested at 5%:

    >>> expected_by_chance(8, 0.05, together=2).sentence
    'Of 28 tests of data without structure 1.4 would show this by chance alone, at least one with probability 0.762. A
    single one means something where its own chance is 0.0018 or less.'

    A thousand million people who each spend one day of a hundred in one of 100,000 hotels: pairs who are in the same
    hotel on two of 1,000 days, though nobody has met anybody:

    >>> round(expected_by_chance(10**9, 0.01**2 / 1e5, together=2, occasions=1000, times=2).expected)
    249750
    """
    for name, value in (("things", things), ("together", together), ("occasions", occasions), ("times", times)):
        if value != int(value) or value < 1:
            raise ParameterError(f"{name} is a whole number, at least 1; got {value!r}")
    if not 0.0 <= chance <= 1.0:
        raise ParameterError(f"chance is a probability between 0 and 1; got {chance!r}")
    if not 0.0 < level < 1.0:
        raise ParameterError(f"level is a probability between 0 and 1; got {level!r}")
    looks = math.comb(int(things), int(together)) * math.comb(int(occasions), int(times))
    if not looks:
        raise ParameterError(
            f"{together} of {things} things on {times} of {occasions} occasions cannot be: there is nothing to look at"
        )
    one = float(chance) ** int(times)
    sure = 1.0 if one == 1.0 else -math.expm1(looks * math.log1p(-one))
    return ByChance(looks, one, looks * one, sure, level / looks, level)
