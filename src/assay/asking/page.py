"""What the views of several answers share on one page: the rows drawn, so that they are selected together."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from assay.arrays import Array

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


class Page:
    """What answers offer each other; see `Answer.offers`.

    Attributes:
        level: level of the study.
        source: the rows drawn, as a source of figures that are selected together; None where nothing offers one.
        plane: where these rows lie; None likewise.
        groups: (m,) what each row drawn is called by its group; None likewise.
        node_groups: (n,) what each node of a network is called by its community, "" for none; None likewise.
    """

    def __init__(self, answers: Iterable[Answer] = (), *, level: float = 0.05) -> None:
        self.level = level
        self.source: Any = None
        self.plane: Plane | None = None
        self.groups: list[str] | None = None
        self.node_groups: list[str] | None = None
        for answer in answers:
            answer.offers(self)
