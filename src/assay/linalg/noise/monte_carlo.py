"""Draws of what chance does, until the answer is clear, and the p-value that follows from them.

    all n draws made            p = (1 + #{draws that reach the data}) / (1 + n)
    ended at the h-th of these  p = h / l, l the draws it took             Besag and Clifford
    ended after a stage         p of the draws made so far, by whatever formula is valid for as many draws, such as
                                Student's t where they are nearly normal (`student_p`)

Each keeps P(p <= a) <= a for data that chance made. The second because l draws or more are needed for their h-th that
reaches the data with a chance of h / l at most, by exchangeability. The third, where draws end after the first stage if
its p is above b, because p <= a then says that of the first stage for a > b, and else that of all draws.

How many draws are made at most may follow from the work they cost, not from what they show. They end early only where
p is large; so more are made where it is small, down to p = 1 / (1 + n). Where chance has few draws that differ, such as
the shifts of a series, each is made once at most (`different`), and p cannot fall below what so few can show.

Reference: Besag and Clifford, Sequential Monte Carlo p-values, Biometrika 78 (1991).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtr

S = TypeVar("S")
T = TypeVar("T")

_ROUNDING = 1e-12  # of the largest draw: a spread below is that of sums in another order


@dataclass(frozen=True, slots=True, eq=False)
class Drawn(Generic[T]):
    """What chance did.

    Attributes:
        values: of the draws made, in order.
        reached: for each, whether it reaches the data; empty where nobody asked.
        enough: how many of these end the draws; None where none do.
    """

    values: list[T]
    reached: list[bool]
    enough: int | None

    @property
    def p(self) -> float:
        """How often chance does as well as the data; by the draws up to the one that was enough, or by all."""
        if self.enough is not None and sum(self.reached) >= self.enough:
            places = [place for place, reached in enumerate(self.reached, start=1) if reached]
            return self.enough / places[self.enough - 1]
        return rank_p(sum(self.reached), len(self.reached))


def rank_p(reached: int, draws: int) -> float:
    """The rank of the data among themselves and the draws, as a share: p where the number of draws was fixed.

    Args:
        reached: draws that reach the data.
        draws: draws made.

    >>> rank_p(0, 19), rank_p(19, 19)
    (0.05, 1.0)
    """
    return (1.0 + reached) / (1.0 + draws)


def student_p(found: float, chance: NDArray[np.float64]) -> float | None:
    """Chance of one more draw as large, where draws are nearly normal; None where they do not vary.

    One more draw, which the data are if chance made them, follows Student's t about the mean of the others. With few
    draws it says more than a rank can; for draws skewed towards large values it says too much.

    Args:
        found: of the data.
        chance: (m,) of the draws.

    >>> round(student_p(4.0, np.array([0.0, 1.0, 2.0])), 3)
    0.061
    """
    spread = float(chance.std(ddof=1)) * np.sqrt(1 + 1 / len(chance))
    if spread <= _ROUNDING * np.abs(chance).max():
        return None
    return float(stdtr(len(chance) - 1, (chance.mean() - found) / spread))


def endless(draw: Callable[[], S]) -> Iterator[S]:
    """One draw after another, made when it is read."""
    while True:
        yield draw()


def different(draws: Iterable[NDArray[np.intp]], tries: int = 50) -> Iterator[NDArray[np.intp]]:
    """Each draw once, as far as they differ; ends after so many in a row that came before.

    Args:
        draws: any number of them.
        tries: of 50 draws in a row one would be new with a chance of .92 if a twentieth of them were still to come.

    >>> [int(one[0]) for one in different(np.array([[2], [1], [2], [3]]), tries=2)]
    [2, 1, 3]
    """
    seen: set[bytes] = set()
    missed = 0
    for one in draws:
        known = one.tobytes()
        missed = missed + 1 if known in seen else 0
        if not missed:
            seen.add(known)
            yield one
        if missed == tries:
            return


def monte_carlo(
    source: Iterable[S],
    make: Callable[[list[S]], Sequence[T]],
    stages: Iterable[int],
    *,
    reaches: Callable[[T], bool] | None = None,
    enough: int | None = None,
    clear: Callable[[list[T]], bool] | None = None,
    progress: Callable[[int], object] | None = None,
) -> Drawn[T]:
    """Draw in stages, and end once the answer is clear.

    Args:
        source: what each draw is made of, a seed or a shuffle; read no further than draws are made.
        make: from some of these to their draws, in order: one by one, in threads, or all in one product.
        stages: how many draws each stage has.
        reaches: whether a draw does as well as the data.
        enough: end after a stage with which so many reach the data.
        clear: end after a stage whose draws, with those before, make this true.
        progress: told before each stage how many draws there will be after it.

    >>> found = monte_carlo([7, 1, 5, 9, 3, 8], lambda some: [x % 6 for x in some], [2, 2, 2],
    ...                     reaches=lambda x: x >= 3, enough=2)
    >>> found.values, found.p
    ([1, 1, 5, 3], 0.5)
    """
    unread = iter(source)
    values: list[T] = []
    reached: list[bool] = []
    for size in stages:
        if progress is not None:
            progress(len(values) + size)
        some = list(islice(unread, size))
        if not some:
            break
        fresh = make(some)
        values += fresh
        if reaches is not None:
            reached += [bool(reaches(value)) for value in fresh]
        if (enough is not None and sum(reached) >= enough) or (clear is not None and clear(values)):
            break
    return Drawn(values, reached, enough)
