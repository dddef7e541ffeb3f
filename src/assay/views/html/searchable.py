"""Tables of thousands of rows that stay usable: searched, narrowed, sorted and paged in the page, by `tables.js`.

The rows are kept once, as text in a template, never as markup or script, and fifty at a time are drawn. Without
scripts, and on paper, the first hundred rows stand there as a plain table.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence

from assay.views.axes.numbers import count
from assay.views.html.elements import NAME, table
from assay.views.html.escape import escaped, visible

PLAIN = 100
FEW = 10  # rows that need no box of a height of its own and no pages
BUDGET = 1_000_000
CELL = 160
_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))
_NUMBER = 5  # characters of a number up to 9999, and a comma


def searchable(
    identifier: str,
    caption: str,
    heads: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    numeric: Iterable[int] = (),
    choices: Iterable[int] = (),
    only: Iterable[int] = (),
    of: str = "a column",
    first: int = NAME,
    total: int | None = None,
    elsewhere: str = "the JSON",
) -> str:
    """Lay out a table that is searched by its first cell and sorted by its heads.

    Args:
        identifier: id of the table.
        caption: what it shows; plain text.
        heads: names of the columns; plain text.
        rows: cells as plain text, the most telling rows first; what exceeds the budget of a megabyte is left out, and
            the caption says so.
        numeric: which columns hold numbers, perhaps with words behind them.
        choices: columns that begin with one of few words, up to a comma, which rows can be narrowed to.
        only: columns that are mostly empty; rows can be narrowed to those that are not.
        of: what a row is about, with its article.
        first: letters of the first cell.
        total: how many rows there are, where those beyond `most_rows` are not given.
        elsewhere: where the rows are that do not fit.

    >>> text = searchable("t", "All", ["Column", "Kind"], [["a", "number"], ["b", "text"]], choices=[1])
    >>> '<option value="text">text (1)</option>' in text
    True
    """
    every = list(rows)
    kept = _within_budget(every, first)
    total = len(every) if total is None else total
    if len(kept) < total:
        caption = f"{caption}: the first {count(len(kept))} of {count(total)}, the rest are in {elsewhere}"
    numbers = set(numeric)
    tools = [
        f'<label>Find {escaped(of)} <input type="search" id="{identifier}-search" autocomplete="off"></label>',
        *(_choice(heads[j], j, [row[j] for row in kept]) for j in choices),
        *(_only(heads[j], j) for j in only if any(row[j] for row in kept)),
    ]
    plain = [
        [f"<bdi>{escaped(cell)}</bdi>" if j == 0 else escaped(cell) for j, cell in enumerate(row)]
        for row in kept[:PLAIN]
    ]
    paper = (
        f'<p class="paper">The first {count(PLAIN)} of {count(len(kept))}; the page on a screen has them all.</p>'
        if len(kept) > PLAIN
        else ""
    )
    kind = "finder few" if len(kept) <= FEW else "finder"
    return (
        f'<div class="{kind}"><div class="tools">{"".join(tools)}</div>'
        f"{table(caption, heads, plain, numeric=numbers, identifier=identifier, sortable=True)}"
        '<p class="pages"><button type="button" data-step="-1">Previous</button> '
        '<button type="button" data-step="1">Next</button> '
        f'<output aria-live="polite">{count(len(kept))} in all</output></p>{paper}'
        f'<template data-rows="{identifier}">{_packed(kept, numbers)}</template></div>'
    )


def most_rows(heads: int) -> int:
    """How many rows may fit at most, whatever is in them: no others need be made.

    Args:
        heads: how many cells a row may have; those that turn out empty everywhere cost nothing.
    """
    return BUDGET // _NUMBER // max(heads // 2, 1) + 1


def _within_budget(rows: list[Sequence[str]], first: int) -> list[list[str]]:
    """The first rows, as they may be shown, whose packed form fits: a text that recurs in its column costs a number."""
    size, seen, kept = 0, set[tuple[int, str]](), []
    for row in rows:
        shown = [visible(cell, CELL if j else first) for j, cell in enumerate(row)]
        for cell in enumerate(shown):
            size += _NUMBER if cell in seen else _NUMBER + len(_literal(cell[1]).encode())
            seen.add(cell)
        if size > BUDGET:
            break
        kept.append(shown)
    return kept


def _packed(rows: list[list[str]], numbers: set[int]) -> str:
    """The cells by column, one of recurring texts as the texts and which of them it is."""
    columns = []
    for cells in zip(*rows, strict=True):
        place = {cell: i for i, cell in enumerate(dict.fromkeys(cells))}
        recurring = sum(map(len, place)) + _NUMBER * len(cells) < sum(map(len, cells))
        columns.append([list(place), [place[cell] for cell in cells]] if recurring else [cells])
    return _literal({"numeric": sorted(numbers), "columns": columns})


def _literal(value: object) -> str:
    """JSON with nothing in it that is markup."""
    text = _ENCODER.encode(value)
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def _choice(head: str, column: int, cells: list[str]) -> str:
    options = "".join(
        f'<option value="{escaped(word)}">{escaped(word)} ({count(n)})</option>'
        for word, n in Counter(cell.partition(", ")[0] for cell in cells if cell).most_common()
    )
    return (
        f'<label>{escaped(head)} <select data-choice="{column}"><option value="">any</option>{options}</select></label>'
    )


def _only(head: str, column: int) -> str:
    return f'<label><input type="checkbox" data-only="{column}"> only with a {escaped(head.lower())}</label>'
