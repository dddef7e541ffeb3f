"""What the views of several answers share on one page: the rows drawn, so that they are selected together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from assay.arrays import Array, Indices
from assay.evidence.evidence import Verdict

if TYPE_CHECKING:
    from assay.asking.answer import Answer


@dataclass(frozen=True, slots=True, eq=False)
class Plane:
    """Where rows lie in two directions that mean something.

    Attributes:
        places: (m, 2).
        axes: what the two directions are.
    """

    places: Array
    axes: tuple[str, str]


@dataclass(frozen=True, slots=True)
class PairTold:
    """What the study found of two columns.

    Attributes:
        measure: what its size is called, such as "rank correlation".
        size: in the rows at hand.
        p: probability of as much by chance.
        q: the same, corrected for all looks of the study.
        verdict: on this pair.
        unseen: its size on rows that did not choose it, as findings say it; None where that was not asked.
    """

    measure: str
    size: float
    p: float
    q: float
    verdict: Verdict
    unseen: float | None = None


@dataclass(frozen=True, slots=True, eq=False)
class PairsTold:
    """Which pairs of columns were tested, and what was found of those that are listed.

    Attributes:
        columns: every two of them were tested.
        of: by the names of both columns, those that stand first, the strongest before others.
        unlisted: the verdict on a pair that was tested and is not listed.
    """

    columns: frozenset[str] = frozenset()
    of: Mapping[tuple[str, str], PairTold] = field(default_factory=dict)
    unlisted: Verdict = "not distinguishable from chance"


class Page:
    """What answers offer each other; see `Answer.offers`.

    Attributes:
        level: level of the study.
        include_rows: whether values may be shown as they came; otherwise coarse ones stand in for them.
        source: the rows drawn, as a source of figures that are selected together; None where nothing offers one.
        plane: where these rows lie; None likewise.
        groups: (m,) what each row drawn is called by its group; None likewise.
        group_rows: (m,) numbers of these rows, from 1; None likewise.
        node_groups: (n,) what each node of a network is called by its community, "" for none; None likewise.
        pairs: what was found of pairs of columns.
    """

    def __init__(self, answers: Iterable[Answer] = (), *, level: float = 0.05, include_rows: bool = False) -> None:
        self.level = level
        self.include_rows = include_rows
        self.source: Any = None
        self.plane: Plane | None = None
        self.groups: list[str] | None = None
        self.group_rows: Indices | None = None
        self.node_groups: list[str] | None = None
        self.pairs = PairsTold()
        for answer in answers:
            answer.offers(self)
