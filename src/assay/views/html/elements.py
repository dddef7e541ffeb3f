"""Pieces of HTML that every part of the page is made of. What comes from the data is escaped here."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from assay.views.axes.numbers import fraction
from assay.views.html.escape import escaped

NAME = 80


def table(
    caption: str,
    heads: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    numeric: Iterable[int] = (),
    identifier: str = "",
    sortable: bool = False,
) -> str:
    """Lay out a table whose first cell of each row is its heading.

    Args:
        caption: what the table shows; plain text.
        heads: names of the columns; plain text.
        rows: cells, as HTML that is already safe.
        numeric: which columns hold numbers.
        identifier: id of the table.
        sortable: whether the heads are buttons, for a script that sorts.

    >>> "<th scope=col>rows" in table("Data", ["rows"], [["9"]])
    True
    """
    numbers = set(numeric)
    head = "".join(
        f"<th scope=col{' class=num' if j in numbers else ''}>{_head(name, sortable)}" for j, name in enumerate(heads)
    )
    body = "".join(f"<tr>{_cells(row, numbers)}\n" for row in rows)
    named = f' id="{identifier}"' if identifier else ""
    return (
        f'<div class="scroll" role="region" tabindex="0" aria-label="{escaped(caption)}">'
        f"<table{named}><caption><span>{escaped(caption)}</span></caption>"
        f"<thead><tr>{head}</thead><tbody>\n{body}</tbody></table></div>"
    )


def _head(name: str, sortable: bool) -> str:
    return f'<button type="button">{escaped(name)}</button>' if sortable else escaped(name)


def _cells(row: Sequence[str], numbers: set[int]) -> str:
    cells = []
    for j, cell in enumerate(row):
        kind = " class=num" if j in numbers else ""
        if cell.startswith("<td"):
            cells.append(cell)
        elif j == 0:
            cells.append(f"<th scope=row{kind}>{cell}")
        else:
            cells.append(f"<td{kind}>{cell}")
    return "".join(cells)


def definitions(pairs: Iterable[tuple[str, str]]) -> str:
    """List terms with what is said of them.

    Args:
        pairs: plain text and plain text.

    >>> definitions([("Rows", "440")])
    '<dl><div><dt>Rows</dt><dd>440</dd></div></dl>'
    """
    items = "".join(f"<div><dt>{escaped(term)}</dt><dd>{escaped(said)}</dd></div>" for term, said in pairs)
    return f"<dl>{items}</dl>"


def details(summary: str, content: str) -> str:
    """Fold content away under a line of plain text.

    >>> details("Numbers", "<p>1</p>")
    '<details><summary>Numbers</summary><p>1</p></details>'
    """
    return f"<details><summary>{escaped(summary)}</summary>{content}</details>"


def section(identifier: str, title: str, content: str) -> str:
    """Wrap content as a landmark with a heading.

    >>> section("data", "Data", "<p>1</p>").startswith('<section id="data" aria-labelledby="data-title">')
    True
    """
    return (
        f'<section id="{identifier}" aria-labelledby="{identifier}-title">'
        f'<h2 id="{identifier}-title">{escaped(title)}</h2>{content}</section>'
    )


def name_cell(name: str) -> str:
    """Write a name from the data, shortened, in its own direction of reading.

    >>> name_cell("Milk")
    '<bdi>Milk</bdi>'
    """
    return f"<bdi>{escaped(name, NAME)}</bdi>"


def heat_cell(value: float, full: float = 1.0, digits: int = 2) -> str:
    """A cell of a heat table, the stronger the larger its number.

    Args:
        value: the number.
        full: the size from which on a cell is as strong as can be.
        digits: decimals of the number.
    """
    side = "pos" if value >= 0 else "neg"
    return f'<td class="num heat {side}" style="--w:{min(abs(value) / full, 1.0):.2f}">{fraction(float(value), digits)}'
