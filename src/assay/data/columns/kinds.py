"""What kind of column is this? Decided from the whole first block by rules that are stated and can be overruled."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa

from assay.arrays import Array
from assay.data.columns import kind_rules, words
from assay.data.columns.cells import coded, form_of, is_text, numbers
from assay.data.columns.units import known, unit_in_name
from assay.data.field import DECLARED, Declared, Field, Kind

# numeric columns are looked at together, about this many values at a time
_TILE = 1 << 18


def understood(schema: pa.Schema, blocks: Sequence[pa.RecordBatch], declared: Declared) -> tuple[Field, ...]:
    """The columns of a schema, understood from the first rows.

    Args:
        schema: the physical columns.
        blocks: the first rows.
        declared: what the user said; it goes before what is inferred.

    >>> block = pa.record_batch({"Weight [kg]": [1.5, 2.5], "smokes": ["yes", "no"]})
    >>> [(field.kind, field.unit) for field in understood(block.schema, [block], Declared())]
    [('number', 'kg'), ('boolean', None)]
    """
    if len(blocks) == 1:
        columns = list(blocks[0].columns)
    else:
        columns = [_whole(type_, [block.column(j) for block in blocks]) for j, type_ in enumerate(schema.types)]
    profiles = dict(_number_profiles(columns))
    fields = []
    for j, (physical, column) in enumerate(zip(schema, columns, strict=True)):
        kind, why, levels = _ruled(physical, column, profiles.get(j), j == 0)
        field = Field(physical.name, kind, _unit(physical, declared), _role(physical, declared), levels, why)
        fields.append(_as_declared(field, column, declared))
    return _with_rated(_with_links(fields, columns, declared), declared)


def _whole(type_: pa.DataType, parts: list[pa.Array]) -> pa.Array:
    if not parts:
        return pa.array([], type_)
    return pa.chunked_array(parts, type_).combine_chunks()


def _is_number(type_: pa.DataType) -> bool:
    return form_of(type_) == "number" and not (pa.types.is_dictionary(type_) or pa.types.is_duration(type_))


def _number_profiles(columns: list[pa.Array]) -> Iterator[tuple[int, kind_rules.Numbers]]:
    picked = [j for j, column in enumerate(columns) if _is_number(column.type)]
    rows = max((len(columns[j]) for j in picked), default=0)
    together = max(1, _TILE // max(rows, 1))
    for start in range(0, len(picked), together):
        tile = picked[start : start + together]
        X = np.stack([numbers(columns[j]) for j in tile])
        finite = np.isfinite(X)
        n = finite.sum(axis=1)
        low = np.where(finite, X, np.inf).min(axis=1, initial=np.inf)
        high = np.where(finite, X, -np.inf).max(axis=1, initial=-np.inf)
        with np.errstate(invalid="ignore"):
            whole = ((np.floor(X) == X) | ~finite).all(axis=1)
        for i, j in enumerate(tile):
            seen = kind_rules.Numbers(int(n[i]), float(low[i]), float(high[i]), bool(whole[i]), first=j == 0)
            yield j, _counted(seen, X[i][finite[i]]) if seen.whole and seen.n else seen


def _counted(seen: kind_rules.Numbers, x: Array) -> kind_rules.Numbers:
    if seen.high - seen.low >= 4 * len(x):
        return replace(seen, distinct=len(np.unique(x)))
    distinct = int(np.count_nonzero(np.bincount((x - seen.low).astype(np.int64))))
    steps = np.diff(x) if distinct == seen.high - seen.low + 1 else np.array([-1.0])
    counts_up, in_runs = bool((steps == 1.0).all()), bool(((steps == 0.0) | (steps == 1.0)).all())
    return replace(seen, distinct=distinct, counts_up=counts_up, in_runs=in_runs)


def _ruled(
    physical: pa.Field, column: pa.Array, seen: kind_rules.Numbers | None, first: bool
) -> tuple[Kind, str, tuple[str, ...] | None]:
    if (physical.metadata or {}).get(b"role") == b"key":
        return "identifier", "key of rows that stand beside it", None
    if seen is not None:
        return *kind_rules.number_kind(physical.name, seen), None
    type_, is_ = physical.type, pa.types
    if column.null_count == len(column):
        return "empty", "no values" if len(column) else "no rows", None
    if is_.is_dictionary(type_):
        return _dictionary(physical, column, first)
    if is_text(type_):
        return kind_rules.text_kind(physical.name, kind_rules.coded_texts(coded(column), first=first))
    if is_.is_boolean(type_):
        constant = len(column) - column.null_count > 1 and len(column.drop_null().unique()) == 1
        return ("constant", "one value in all rows", None) if constant else ("boolean", "true or false", None)
    if is_.is_duration(type_):
        return "number", "durations, in seconds", None
    if is_.is_date(type_) or is_.is_timestamp(type_) or is_.is_time(type_):
        constant = len(column) - column.null_count > 1 and len(column.drop_null().unique()) == 1
        return ("constant", "one value in all rows", None) if constant else ("time", "stored as dates or times", None)
    return "other", f"stored as {type_}", None


def _dictionary(physical: pa.Field, column: pa.Array, first: bool) -> tuple[Kind, str, tuple[str, ...] | None]:
    found = coded(column)
    texts = kind_rules.coded_texts(found, first=first)
    used = int(np.count_nonzero(texts.counts))
    if texts.n > 1 and used == 1:
        return "constant", "one value in all rows", None
    if physical.type.ordered and found.cells:
        return "ordered", "stored as ordered categories", tuple(found.cells)
    if 2 * used > texts.n and texts.n > kind_rules.FEW_LEVELS and is_text(physical.type):
        return kind_rules.text_kind(physical.name, texts)
    return "category", "stored as categories", None


def _role(physical: pa.Field, declared: Declared) -> str | None:
    metadata = physical.metadata
    stored = metadata.get(b"role", b"").decode("utf-8", "replace").strip() if metadata else ""
    return declared.roles.get(physical.name, stored or None)


def _unit(physical: pa.Field, declared: Declared) -> str | None:
    if physical.name in declared.units:
        return declared.units[physical.name]
    metadata = physical.metadata
    stored = metadata.get(b"unit", b"").decode("utf-8", "replace").strip() if metadata else ""
    if stored:
        return known(stored) or stored
    if pa.types.is_duration(physical.type):
        return "s"
    return unit_in_name(physical.name)[1]


def _as_declared(field: Field, column: pa.Array, declared: Declared) -> Field:
    kind = declared.kinds.get(field.name)
    return field if kind is None else with_kind(field, kind, column, DECLARED)


def with_kind(field: Field, kind: Kind, column: pa.Array, why: str) -> Field:
    """A field whose kind somebody decided; an ordered column of text gets its levels from the first rows.

    Args:
        field: as understood.
        kind: as decided.
        column: the first rows.
        why: who decided.
    """
    levels = field.levels if kind == "ordered" else None
    if kind == "ordered" and levels is None and is_text(column.type):
        cells = coded(column).cells
        levels = words.ordered_levels(cells) or tuple(sorted(cells, key=natural))
    return replace(field, kind=kind, levels=levels, why=why)


def natural(text: str) -> tuple[int, float, str]:
    """Sorts numbers by size before other text by letters.

    >>> sorted(["b", "10", "9", "a"], key=natural)
    ['9', '10', 'a', 'b']
    """
    try:
        value = float(text)
    except ValueError:
        return 1, 0.0, text
    return (0, value, text) if value == value else (1, 0.0, text)


def _with_links(fields: list[Field], columns: list[pa.Array], declared: Declared) -> tuple[Field, ...]:
    """Two columns such as source and target name the ends of links, whatever they look like one by one."""
    place = {field.name.strip().lower(): j for j, field in enumerate(fields)}
    for a, b in words.LINK_ENDS:
        if a not in place or b not in place:
            continue
        ends = [place[a], place[b]]
        alike = len({is_text(columns[j].type) for j in ends}) == 1
        named = all(fields[j].kind in ("count", "category", "identifier", "text") for j in ends)
        if alike and named:
            for j in ends:
                if fields[j].name not in declared.kinds:
                    fields[j] = replace(fields[j], kind="identifier", why=f"names the ends of links ({a}, {b})")
    return tuple(fields)


def _with_rated(fields: tuple[Field, ...], declared: Declared) -> tuple[Field, ...]:
    """In a list of ratings (user, item, rating) the item is named by its number, which is no quantity."""
    if len(fields) > 4:  # asked first: words of many names take time
        return fields
    rating = any(words.RATING_NAMES.intersection(words.name_words(field.name)) for field in fields)
    people = [j for j, field in enumerate(fields) if field.kind == "identifier"]
    items = [j for j, field in enumerate(fields) if field.kind == "count" and field.name not in declared.kinds]
    if not (rating and len(people) == len(items) == 1):
        return fields
    named = replace(fields[items[0]], kind="identifier", why="numbers what is rated, in a list of ratings")
    return (*fields[: items[0]], named, *fields[items[0] + 1 :])
