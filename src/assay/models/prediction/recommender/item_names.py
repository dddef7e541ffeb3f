"""What items are called: a table beside the ratings, such as movies.csv beside ratings.csv."""

from __future__ import annotations

from typing import Any

from assay.data.formats.edge_lists import folded
from assay.data.read import read
from assay.errors import DataError
from assay.summary.ratings.ratings import Ratings, as_name

_CALLED = ("title", "name", "itemname", "moviename", "movietitle", "productname", "label", "text", "description")


def item_names(data: Any, ratings: Ratings) -> dict[str, str]:
    """Names of items by how the ratings call them; items that the table does not have keep theirs.

    Args:
        data: what `assay.read` takes: a column that holds the items as the ratings do, and one of names, called title,
            name or the like, or else the first other one that holds text.
        ratings: the ratings.
    """
    table = read(data).to_arrow()
    texts = {
        name: [None if cell is None else as_name(cell) for cell in table.column(name).to_pylist()]
        for name in table.schema.names
    }
    known = ratings.item_numbers
    found = {name: len(known.keys() & set(cells)) for name, cells in texts.items()}
    key = max(found, key=lambda name: found[name], default=None)
    if key is None or not found[key]:
        raise DataError(f"no column of the table of items holds items of the ratings, such as {ratings.items[0]!r}")
    rest = [name for name in texts if name != key]
    usual = [name for word in _CALLED for name in rest if folded(name) == word]
    words = [name for name in rest if not all(_is_number(cell) for cell in texts[name][:100])]
    named = next(iter([*usual, *words]), None)
    if named is None:
        raise DataError(f"the table of items has no column of names beside {key!r}; call it title or name")
    pairs = zip(texts[key], texts[named], strict=True)
    return {item: name for item, name in pairs if item is not None and name and item in known}


def _is_number(cell: str | None) -> bool:
    try:
        float(cell or "0")
    except ValueError:
        return False
    return True
