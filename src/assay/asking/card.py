"""What was read, what of it was used, and why the rest was not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from assay.asking.column_profile import ColumnProfile
from assay.views.axes.numbers import count, counted

LISTED = 20_000  # columns in JSON: more are hardly read, and take half a kilobyte each


@dataclass(frozen=True, slots=True)
class Column:
    """One column of the data and what was done with it.

    Attributes:
        name, kind, unit, role: as understood or declared.
        used: whether it entered the analysis.
        missing: how many values are missing.
        note: why it was set aside, or what else a reader must know.
        encoded: what it became, such as "log(1 + x)" or "3 levels, 5 rare ones pooled"; empty for as it is.
        typical: what its values look like, such as "3 to 112,151, mean 12,000" or "a (60%), b (40%)".
        suspicious: values that look wrong, in words; empty if none do.
        why: the rule that decided the kind.
        profile: how many values there are, which, and how they spread; None where there are no rows to tell.
    """

    name: str
    kind: str
    used: bool
    missing: int = 0
    note: str = ""
    unit: str | None = None
    role: str | None = None
    encoded: str = ""
    typical: str = ""
    suspicious: str = ""
    why: str = ""
    profile: ColumnProfile | None = None

    @property
    def remark(self) -> str:
        """What a reader should see of it first: values that look wrong, and why it was set aside."""
        return "; ".join(filter(None, (self.suspicious, self.note)))

    def as_dict(self) -> dict[str, Any]:
        """As JSON-ready values."""
        return {
            "name": self.name,
            "kind": self.kind,
            "unit": self.unit,
            "role": self.role,
            "used": self.used,
            "missing": self.missing,
            "encoded": self.encoded,
            "typical": self.typical,
            "suspicious": self.suspicious,
            "note": self.note,
            "why": self.why,
            "profile": None if self.profile is None else self.profile.as_dict(),
        }


@dataclass(frozen=True, slots=True)
class Duplicates:
    """How many rows are the same as others.

    Attributes:
        copies: rows that are the same as an earlier one in every column.
        unnamed: the same without the columns that name rows; None where no column does.
        names: these columns.
        exact: whether all rows were compared; of very many a fair part is, and the numbers are estimates.
    """

    copies: int
    unnamed: int | None = None
    names: tuple[str, ...] = ()
    exact: bool = True

    def sentence(self) -> str:
        """In words.

        >>> Duplicates(0).sentence()
        'No two rows are the same.'
        >>> Duplicates(0, 12, ("id",)).sentence()
        'No two rows are the same; 12 are copies of others but for id.'
        """
        about = "" if self.exact else "about "
        said = "No two rows are the same"
        if self.copies:
            said = f"{about}{counted(self.copies, 'row is a copy of another', 'rows are copies of others')}"
        if self.unnamed is not None and self.unnamed > self.copies:
            names = " and ".join(self.names[:2]) + (" ..." if len(self.names) > 2 else "")
            same = "is a copy of another" if self.unnamed == 1 else "are copies of others"
            said += f"; {about}{count(self.unnamed)} {same} but for {names}"
        return f"{said[0].upper()}{said[1:]}."

    def as_dict(self) -> dict[str, Any]:
        """As JSON-ready values."""
        return {"copies": self.copies, "but_for_names": self.unnamed, "names": list(self.names), "exact": self.exact}


@dataclass(frozen=True, slots=True)
class DataCard:
    """What was read, what of it was used, and why the rest was not.

    Attributes:
        name: the file's name, without its folder.
        rows: rows read.
        rows_used: rows that entered the analysis.
        columns: every column, in the order of the data.
        notes: sentences a reader must see before trusting the rest.
        problems: sentences on what was wrong while reading, with places.
        duplicates: how many rows are the same as others; None where that was not counted.
        form: of the data, such as "table" or "network".
        facts: how much there is, where the data are no table, such as "796 nodes" and "2,823 links"; what is counted
            first is what studies of this form are about.
        units: one and several of what is drawn and selected in views of such data, such as nodes.
    """

    name: str
    rows: int
    rows_used: int
    columns: tuple[Column, ...]
    notes: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    duplicates: Duplicates | None = None
    form: str = "table"
    facts: tuple[str, ...] = ()
    units: tuple[str, str] = ("row", "rows")

    @property
    def size(self) -> str:
        """How much was looked at, such as "440 rows" or "796 nodes"."""
        return self.facts[0] if self.facts else counted(self.rows_used or self.rows, "row")

    def listed(self) -> tuple[Column, ...]:
        """The columns that JSON lists, in the order of the data: of very many, those with a remark and the first."""
        if len(self.columns) <= LISTED:
            return self.columns
        last = sorted(range(len(self.columns)), key=lambda j: not self.columns[j].remark)
        return tuple(self.columns[j] for j in sorted(last[:LISTED]))

    def as_dict(self) -> dict[str, Any]:
        """The card as JSON-ready values; of very many columns not all, see `listed`."""
        return {
            "name": self.name,
            "rows": self.rows,
            "rows_used": self.rows_used,
            "form": self.form,
            "facts": list(self.facts),
            "duplicates": None if self.duplicates is None else self.duplicates.as_dict(),
            "columns": [column.as_dict() for column in self.listed()],
            "columns_in_data": len(self.columns),
            "notes": list(self.notes),
            "problems": list(self.problems),
        }
