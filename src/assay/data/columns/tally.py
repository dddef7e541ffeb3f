"""How often each of many values occurs, in bounded memory."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Tally:
    """Counts of values, exact up to `bound` different ones.

    Beyond, the smallest counts are lowered together until few enough are left (Misra & Gries), so that a count is at
    most total / bound too low and never too high. `a + b` is the tally of both.

    Reference: Agarwal, Cormode, Huang, Phillips, Wei, Yi, Mergeable summaries, PODS 2012.

    Attributes:
        counts: by value.
        rest: rows that are in no count.
        bound: different values kept at most.

    >>> (Tally.of(["a", "b"], [2, 1]) + Tally.of(["b"], [4])).counts
    {'a': 2, 'b': 5}
    """

    counts: Mapping[str, int]
    rest: int = 0
    bound: int = 10_000

    @classmethod
    def of(cls, values: Iterable[str], counts: Iterable[int], *, bound: int = 10_000) -> Tally:
        """The tally of values with their counts."""
        return cls({v: int(c) for v, c in zip(values, counts, strict=True) if c}, 0, bound)._pruned()

    @property
    def total(self) -> int:
        """Rows counted."""
        return sum(self.counts.values()) + self.rest

    @property
    def exact(self) -> bool:
        """Whether every value has its own, exact count."""
        return self.rest == 0

    def __add__(self, other: Tally) -> Tally:
        counts = dict(self.counts)
        for value, count in other.counts.items():
            counts[value] = counts.get(value, 0) + count
        return Tally(counts, self.rest + other.rest, self.bound)._pruned()

    def most(self) -> list[tuple[str, int]]:
        """Values and counts, the most frequent first, equal ones by name."""
        return sorted(self.counts.items(), key=lambda item: (-item[1], item[0]))

    def _pruned(self) -> Tally:
        if len(self.counts) <= self.bound:
            return self
        lowered = sorted(self.counts.values(), reverse=True)[self.bound]
        kept = {value: count - lowered for value, count in self.counts.items() if count > lowered}
        return Tally(kept, self.total - sum(kept.values()), self.bound)
