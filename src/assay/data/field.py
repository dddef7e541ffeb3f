"""What is known of a column beyond its values: name, kind, unit, role."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias, get_args

from assay.errors import ParameterError

Kind: TypeAlias = Literal[
    "number", "count", "category", "ordered", "boolean", "time", "text", "identifier", "constant", "empty", "other"
]
KINDS: tuple[Kind, ...] = get_args(Kind)


@dataclass(frozen=True, slots=True)
class Field:
    """One column.

    Attributes:
        name: as the data have it.
        kind: number; count (whole numbers, none negative); category; ordered (categories with an order); boolean;
            time; text; identifier; constant; empty (no values); other (lists, records, bytes).
        unit: as declared by the user, the file or the header, such as "kg".
        role: as declared, such as "target", "label" or "origin".
        levels: of an ordered column, from low to high.
        why: the rule that decided the kind, in a few words.
    """

    name: str
    kind: Kind
    unit: str | None = None
    role: str | None = None
    levels: tuple[str, ...] | None = None
    why: str = ""


@dataclass(frozen=True, slots=True)
class Declared:
    """What the user says about columns; it goes before anything inferred.

    Attributes:
        kinds, units, roles: by column name.
        sensitive: columns whose values must not leave the source.
        skip_unreadable: whether what cannot be read is left out and counted, or refused.
    """

    kinds: Mapping[str, Kind] = field(default_factory=dict)
    units: Mapping[str, str] = field(default_factory=dict)
    roles: Mapping[str, str] = field(default_factory=dict)
    sensitive: frozenset[str] = frozenset()
    skip_unreadable: bool = False

    def __post_init__(self) -> None:
        for name, kind in self.kinds.items():
            if kind not in KINDS:
                raise ParameterError(f"the kind of column {name!r} is one of {', '.join(KINDS)}; got {kind!r}")

    def check(self, names: Iterable[str]) -> None:
        """Refuse what is said about columns that do not exist: a misspelt sensitive column would leak.

        Args:
            names: the columns that there are.
        """
        known = tuple(names)
        present = set(known)
        for said, about in (
            ("sensitive", self.sensitive),
            ("of a kind", self.kinds),
            ("in a unit", self.units),
            ("in a role", self.roles),
        ):
            missing = sorted(name for name in about if name not in present)
            if missing:
                listed = ", ".join(known[:20]) + (", ..." if len(known) > 20 else "")
                raise ParameterError(
                    f"column {missing[0]!r} was declared {said}, but there is none; there are {listed}"
                )
