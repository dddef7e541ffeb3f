"""A source as people look at it: its name, how many rows it has where that is known, and its columns."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

from assay.shown import visible

if TYPE_CHECKING:
    from assay.data.field import Field
    from assay.data.source import Source

_LISTED = 40
_NAME = 60


def as_text(source: Source) -> str:
    """A line on the source, and one for each of its first columns.

    Args:
        source: the source.
    """
    columns = source.schema
    shown = [(visible(field.name, _NAME), field.kind, _told(field)) for field in columns[:_LISTED]]
    wide = max((len(name) for name, _, _ in shown), default=0)
    lines = [f"  {name:<{wide}}  {kind:<10}  {told}".rstrip() for name, kind, told in shown]
    return "\n".join([_opening(source), *lines, *_more(columns)])


def as_html(source: Source) -> str:
    """The same as a table; names are shown as they are, never read as HTML.

    Args:
        source: the source.
    """
    columns = source.schema
    cell = 'style="text-align:left"'
    rows = "".join(
        "<tr>"
        + "".join(
            f"<td {cell}>{html.escape(visible(one, _NAME))}</td>" for one in (field.name, field.kind, _told(field))
        )
        + "</tr>"
        for field in columns[:_LISTED]
    )
    more = "".join(f"<p>{line.strip()}</p>" for line in _more(columns))
    head = "".join(f"<th {cell}>{name}</th>" for name in ("Column", "Kind", "Unit, role"))
    return (
        f"<div><p>{html.escape(_opening(source))}</p><table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
        f"{more}</div>"
    )


def _opening(source: Source) -> str:
    count = len(source.schema)
    rows = "rows not counted yet" if source.rows is None else f"{source.rows:,} {'row' if source.rows == 1 else 'rows'}"
    columns = f"{count:,} {'column' if count == 1 else 'columns'}"
    return f"Source {visible(source.name, 2 * _NAME)}: {rows}, {columns}"


def _told(field: Field) -> str:
    return ", ".join(visible(one, _NAME) for one in (field.unit, field.role) if one)


def _more(columns: tuple[Field, ...]) -> list[str]:
    return [f"  and {len(columns) - _LISTED:,} more"] if len(columns) > _LISTED else []
