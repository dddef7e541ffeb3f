"""What is known of a column beyond its values: name, kind, unit, role."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias, get_args

from assay.errors import ParameterError
from assay.shown import a_few

Kind: TypeAlias = Literal[
    "number", "count", "category", "ordered", "boolean", "time", "text", "identifier", "constant", "empty", "other"
]
KINDS: tuple[Kind, ...] = get_args(Kind)
# reasons for a kind that somebody decided
DECLARED, AS_ASKED = "declared", "as asked"


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

    @property
    def inferred(self) -> bool:
        """Whether a rule found its kind, so that later rows may show another; what somebody decided stays."""
        return self.why not in ("", DECLARED, AS_ASKED)


@dataclass(frozen=True, slots=True)
class Declared:
    """What the user says about columns; it goes before anything inferred.

    Attributes:
        kinds, units, roles: by column name.
        sensitive: columns whose values must not leave the source; a name stands for every column that is seen so,
            copies of it included.
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

    def hides(self, *names: str) -> bool:
        """Whether a column that goes by any of these names is sensitive, in whatever case they are written.

        >>> Declared(sensitive=frozenset({"diag"})).hides("Diag (2)")
        True
        """
        if not self.sensitive:
            return False
        hidden = {seen(name).casefold() for name in self.sensitive}
        return any(form.casefold() in hidden for name in names for form in _forms(name))

    def hidden(self, names: Iterable[str]) -> frozenset[str]:
        """Those of some columns that are sensitive."""
        return frozenset(name for name in names if self.hides(name)) if self.sensitive else frozenset()

    def check(self, names: Iterable[str]) -> None:
        """Refuse what is said about columns that do not exist: a misspelt sensitive column would leak.

        Args:
            names: the columns that there are.
        """
        known = tuple(names)
        present = set(known)
        if self.sensitive:
            there = set().union(*map(_forms, known))
            present |= {name for name in self.sensitive if seen(name) in there}
        for said, about in (
            ("sensitive", self.sensitive),
            ("of a kind", self.kinds),
            ("in a unit", self.units),
            ("in a role", self.roles),
        ):
            missing = sorted(name for name in about if name not in present)
            if missing:
                raise ParameterError(
                    f"column {missing[0]!r} was declared {said}, but there is none; there are {a_few(known)}"
                )


def seen(name: str) -> str:
    """A name as a reader sees it: without blanks round it and marks that do not show.

    >>> seen("\ufeffdiag ")
    'diag'
    """
    plain = unicodedata.normalize("NFKC", name)
    shown = "".join(c for c in plain if c.isspace() or unicodedata.category(c)[0] != "C")
    return " ".join(shown.split())


def _forms(name: str) -> set[str]:
    """What a column may be called: as it is seen, and without the number that a copy of a name gets."""
    whole = seen(name)
    return {whole, re.sub(r"(?<=.) \(\d+\)$", "", whole)}
