"""The profile of every column: a table to search and sort, and a few words for its small picture."""

from __future__ import annotations

from assay.asking.card import LISTED, Column, DataCard
from assay.asking.column_profile import ColumnProfile, Value
from assay.views.axes.numbers import MISSING, count, percent, rounded, sparkline
from assay.views.html.escape import visible
from assay.views.html.searchable import most_rows, searchable

_HEADS = (
    "Column", "Kind", "Count", "Missing", "Distinct", "Zeros", "Min", "25%", "Median", "75%", "Max",
    "Mean", "SD", "Most frequent", "Along the file",
)  # fmt: skip
_NUMERIC = range(2, 13)
_ALWAYS = 4  # heads that stay, whatever is in them
_TOP = 3
_NAME = 24


def profile_table(data: DataCard) -> str:
    """A table of every column that was profiled; empty where none was.

    Args:
        data: what was read.
    """
    known = [column for column in data.columns if column.profile is not None]
    if not known:
        return ""
    rows = [_row(column, column.profile, data.rows) for column in known[: most_rows(len(_HEADS))]]
    told = [j for j in range(len(_HEADS)) if j < _ALWAYS or any(row[j] for row in rows)]
    sampled = max(column.profile.sampled for column in known if column.profile is not None)
    scope = (
        f"Count, missing, min, max, mean and SD are of all rows, and so is what is said of categories; the rest is of "
        f"{count(sampled)} rows drawn fairly. "
        if sampled
        else ""
    )
    words = (
        f"<p>{scope}Numbers are rounded to four digits; 25% and 75% are the quartiles. Along the file: the mean, or "
        "the share of the most frequent level, in each tenth of the rows in their order. This describes; nothing in it "
        "was tested.</p>"
    )
    table = searchable(
        "profile", "Every column, in the order of the data", [_HEADS[j] for j in told],
        [[row[j] for j in told] for row in rows],
        numeric=[k for k, j in enumerate(told) if j in _NUMERIC], choices=[1], total=len(known),
        elsewhere=elsewhere(data),
    )  # fmt: skip
    return f'<h3>The profile of each column</h3>{words}<div class="profile">{table}</div>'


def elsewhere(data: DataCard) -> str:
    """Where columns are that do not fit in a table of the page.

    Args:
        data: what was read.
    """
    return "the JSON" if len(data.columns) <= LISTED else "the files that --tables writes"


def _row(column: Column, of: ColumnProfile | None, rows: int) -> list[str]:
    assert of is not None
    missing = f"{count(column.missing)} ({percent(column.missing / rows)})" if column.missing and rows else "0"
    about = "about " if of.sampled and of.zeros else ""
    distinct = "" if of.distinct is None else f"{count(of.distinct)}{' or more' if _least(column, of) else ''}"
    return [
        column.name, column.kind, count(of.count), missing, distinct,
        "" if of.zeros is None else f"{about}{count(of.zeros)}",
        *(_value(value) for value in (of.low, of.quarter, of.median, of.three_quarters, of.high, of.mean, of.sd)),
        _top(of), along(of),
    ]  # fmt: skip


def _least(column: Column, of: ColumnProfile) -> bool:
    """Whether rows that were not drawn may hold more values."""
    return bool(of.sampled) and column.kind not in ("category", "boolean")


def _value(value: Value) -> str:
    """A value of a profile: a date as it is, nothing where it is not known."""
    return value or "" if value is None or isinstance(value, str) else rounded(value)


def _top(of: ColumnProfile) -> str:
    return ", ".join(f"{visible(value, _NAME)} ({count(n)})" for value, n in of.top[:_TOP])


def along(of: ColumnProfile) -> str:
    """How a column changes from the first rows to the last, as small bars with both ends.

    Args:
        of: its profile.
    """
    known = [part for part in of.drift if part is not None]
    if len(known) < 2:
        return ""
    share = of.drift_of.startswith("share")
    if of.drift_of == "mean day":
        return sparkline(of.drift)
    first, last = (percent(part) if share else _value(part) for part in (known[0], known[-1]))
    return f"{sparkline(of.drift)} {first} to {last}"


def spoken(of: ColumnProfile | None) -> list[str]:
    """A few numbers for the small picture of a column.

    Args:
        of: its profile; None where there is none.
    """
    if of is None:
        return []
    said = []
    if of.median is not None:
        said.append(f"median {_value(of.median)}, half from {_value(of.quarter)} to {_value(of.three_quarters)}")
    if of.mean is not None and of.sd is not None:
        said.append(f"mean {_value(of.mean)}, SD {_value(of.sd)}")
    if of.distinct is not None:
        said.append(f"{count(of.distinct)} different")
    if of.zeros:
        said.append(f"{percent(of.zeros / max(of.count, 1))} zeros")
    return said or [MISSING]
