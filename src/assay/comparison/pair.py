"""Two tables as one: the columns they share in one encoding, rows one behind the other, what may change tables."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from assay.arrays import Array, Indices
from assay.asking.card import DataCard
from assay.asking.question import Tell
from assay.asking.table import FirstLook, Table
from assay.comparison.exchange import Exchange, exchange_of
from assay.comparison.schema import Schema
from assay.data.columns.encoded import EncodedSource
from assay.data.columns.encoding import Encoding
from assay.data.fusion.columns import Resolution
from assay.data.fusion.fuse import fuse
from assay.data.source import ArrowSource, Source
from assay.errors import DataError
from assay.evidence.design import Design, Independent, Runs, Serial
from assay.study.first_look import first_look
from assay.study.profile import Profile, profiled
from assay.study.row_dependence.answer import RowDependence
from assay.study.row_dependence.rows import Told
from assay.study.table import label_of, measured, prepare
from assay.study.usable_columns import mirrored
from assay.views.axes.numbers import count, counted

ROWS = 10_000
_COMPARED = ("number", "count", "ordered", "boolean", "category", "text")


@dataclass(frozen=True, slots=True, eq=False)
class Side:
    """One of the two tables.

    Attributes:
        name: how sentences call it.
        profile: of all its rows.
        table: rows in use, as a study has them; at most 10,000, drawn fairly.
        rows: how these depend on each other.
        source: the same rows as they came.
    """

    name: str
    profile: Profile
    table: Table
    rows: RowDependence
    source: ArrowSource

    @property
    def card(self) -> DataCard:
        """What was read and used."""
        return replace(self.table.card, name=self.name)

    @property
    def design(self) -> Design:
        """How rows in use depend on each other."""
        return self.table.design


@dataclass(frozen=True, slots=True, eq=False)
class Pair:
    """Rows of two tables, one behind the other, in the columns they share.

    Attributes:
        names: of the first and the second table.
        exchange: which rows are of the second table, and what chance may do to that.
        columns, kinds: of the columns compared.
        values: (n, c) as of a `FirstLook`: numbers, levels by their number, texts by their length; NaN where missing.
        levels: by column, what the numbers of levels stand for.
        numbers: (n, D) the same columns encoded, NaN where missing.
        labels: (D,) of these numbers, in the user's words.
        owner: (D,) the column that each was made from.
        measured: (D,) whether it is one with its column.
    """

    names: tuple[str, str]
    exchange: Exchange
    columns: tuple[str, ...]
    kinds: tuple[str, ...]
    values: Array
    levels: Mapping[str, tuple[str, ...]]
    numbers: Array
    labels: tuple[str, ...]
    owner: tuple[str, ...]
    measured: NDArray[np.bool_]

    @property
    def n(self) -> int:
        """Rows of both tables."""
        return len(self.values)

    @property
    def second(self) -> NDArray[np.bool_]:
        """(n,) rows of the second table."""
        return self.exchange.second


def side_of(source: Source, name: str, drop: Sequence[str], told: Told, seed: int, tell: Tell) -> Side:
    """Read a table once; more rows than 10,000 are drawn from fairly.

    Args:
        source: the data.
        name: how sentences call it.
        drop: columns to leave out.
        told: what the user says of how rows depend.
        seed: of the draw.
        tell: told what is being done.
    """
    profile = profiled(
        source, size=ROWS, seed=seed, progress=lambda rows, fraction: tell(f"Reading {name}", rows, fraction)
    )
    if profile.rows == 0:
        raise DataError(f"{source.name} has a header but no rows: there is nothing to compare")
    declared = replace(source.declared, sensitive=frozenset())
    sample = ArrowSource(profile.sample.table, source.name, declared)
    drawn = f"A fair sample of {count(ROWS)} of {count(profile.rows)} rows was compared."
    sample.notes = (*source.notes, *([drawn] if profile.rows > ROWS else []))
    problems = tuple(problem.sentence() for problem in source.problems)
    here = {known.name for known in source.schema}
    table, rows = prepare(sample, drop=[one for one in drop if one in here], log="never", told=told, seed=seed)
    empty = table.card.rows - table.card.rows_used
    notes = (rows.sentence, *sample.notes, f"{counted(empty, 'row')} without any value were left out." if empty else "")
    card = replace(table.card, notes=tuple(filter(None, notes)), problems=(*problems, *table.card.problems))
    return Side(name, profile, replace(table, card=card), rows, sample)


def paired(sides: tuple[Side, Side], schema: Schema, drop: Sequence[str]) -> Pair:
    """Put two tables one behind the other, the same way whichever is named first.

    Args:
        sides: the two tables.
        schema: which columns they share.
        drop: columns to leave out.
    """
    if not schema.common:
        raise DataError(
            f"{sides[0].name} and {sides[1].name} have no column in common that could be compared: "
            f"{_listed(sides[0])} here, {_listed(sides[1])} there"
        )
    order = sorted((0, 1), key=lambda i: _fingerprint(sides[i].source.to_arrow()))
    first, last = (sides[i] for i in order)
    conflicts: dict[str, Resolution] = dict.fromkeys(schema.apart, "drop")
    fused = fuse([first.source, last.source], names=["0", "1"], columns="common", resolve=conflicts)
    profile = profiled(fused, size=2 * ROWS)
    aside = {fused.origin, *drop, *(name for side in sides for name in side.rows.by)}
    aside &= {known.name for known in fused.schema}
    encoding = Encoding.of(fused.schema, profile.stats, drop=tuple(aside))
    look = first_look(profile, encoding.fields)
    rows = _rows_in_use(first, last)
    exchange = exchange_of(
        (first.design, last.design),
        (order[0] == 1, order[1] == 1),
        _groups(first, last, rows),
        min(first.rows.effective, last.rows.effective),
    )
    along = np.concatenate([_along(first.design), len(rows[0]) + _along(last.design)])
    used = np.concatenate(rows)[along]
    kept = [j for j, known in enumerate(encoding.fields) if known.kind in _COMPARED and known.name not in aside]
    if not kept:
        raise DataError(
            f"{sides[0].name} and {sides[1].name} share no column that could be compared: identifiers, times and "
            "columns with one value are shown but not compared"
        )
    numbers = np.concatenate(list(EncodedSource(fused, encoding).float_blocks()))[used]
    told = ~mirrored(encoding) & np.array(
        [encoding.source_column(j) in _names(look, kept) for j in range(len(encoding.names))], dtype=bool
    )
    return Pair(
        names=(sides[0].name, sides[1].name),
        exchange=exchange.among(along),
        columns=_names(look, kept),
        kinds=tuple(look.kinds[j] for j in kept),
        values=look.values[used][:, kept],
        levels=look.levels,
        numbers=numbers[:, told],
        labels=tuple(label_of(encoding, int(j)) for j in np.flatnonzero(told)),
        owner=tuple(encoding.source_column(int(j)) for j in np.flatnonzero(told)),
        measured=measured(encoding)[told],
    )


def _names(look: FirstLook, kept: Sequence[int]) -> tuple[str, ...]:
    return tuple(look.columns[j] for j in kept)


def _listed(side: Side) -> str:
    names = [column.name for column in side.card.columns]
    return ", ".join(names[:8]) + (" ..." if len(names) > 8 else "")


def _fingerprint(table: pa.Table) -> tuple[int, str]:
    """What puts two tables in an order that does not depend on which is named first."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return table.num_rows, hashlib.sha256(sink.getvalue()).hexdigest()


def _rows_in_use(first: Side, last: Side) -> tuple[Indices, Indices]:
    """Numbers of the rows in use among those of both tables."""
    sizes = [side.source.rows or 0 for side in (first, last)]
    here = [
        np.arange(size) if side.table.in_use is None else side.table.in_use
        for side, size in zip((first, last), sizes, strict=True)
    ]
    return here[0], sizes[0] + here[1]


def _groups(first: Side, last: Side, rows: tuple[Indices, Indices]) -> tuple[Indices, Indices] | None:
    """What rows were taken from, where one column says so in every table whose rows depend."""
    said = {side.rows.by for side in (first, last) if not isinstance(side.design, Independent)}
    if len(said) != 1 or not all(side.rows.how in ("groups", "independent") for side in (first, last)):
        return None
    by = next(iter(said))
    if len(by) != 1:
        return None
    columns = [side.source.to_arrow() for side in (first, last)]
    if any(by[0] not in table.column_names for table in columns):
        return None
    names = [np.array([str(x) for x in table.column(by[0]).to_pylist()]) for table in columns]
    every = np.unique(np.concatenate(names), return_inverse=True)[1]
    return every[rows[0]], every[rows[1]]


def _along(design: Design) -> Indices:
    """Rows in the order of time, where they have one."""
    return np.argsort(design.place, kind="stable") if isinstance(design, (Serial, Runs)) else np.arange(design.n)
