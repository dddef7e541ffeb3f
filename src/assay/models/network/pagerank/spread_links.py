"""Links of a table that workers read: names become numbers, and each worker keeps the links that lead to some nodes.

    first pass     the names of all nodes and whether all weights can be used; the names come here
    second pass    links go to whoever keeps the node they lead to: there those given several times are added up, and
                   lie by target, origins ascending

Links that lead both ways are sent to both of their ends; of one given both ways the larger weight counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from assay.arrays import Array, Whole
from assay.data.partitions import numbered_blocks
from assay.data.source import Source
from assay.engine.current import map_reduce, regrouped
from assay.errors import DataError
from assay.summary.graph.edges import matrix_of
from assay.summary.network.network_columns import Roles, column_roles, direction, names_in, refuse_square, weights_in
from assay.summary.numbering import Numbering, joined, told_apart

_BLOCK, _BLOCKS = 2**18, 64  # links kept together at least, and blocks of them at most


@dataclass(frozen=True, slots=True, eq=False)
class LinksTo:
    """Links that lead to consecutive nodes.

    Attributes:
        first: number of the first node.
        starts: (k + 1,) where the links to each begin.
        origins: (m,) nodes they come from, ascending for each.
        weights: (m,) larger than 0; none where each is 1.
        loops: how many come from the node they lead to.
    """

    first: int
    starts: Whole
    origins: NDArray[np.uint32]
    weights: Array
    loops: int


@dataclass(frozen=True, slots=True, eq=False)
class SpreadLinks:
    """Links kept by workers.

    Attributes:
        n: how many nodes.
        blocks: `LinksTo`, in the order of the nodes, in parts; `map_reduce` takes them.
        names: of the nodes, if they have any.
        notes: what was decided.
    """

    n: int
    blocks: Any
    names: tuple[str, ...] | None
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class _Told:
    """What a block tells: names as they come first, rows, edges of weight zero, values of the column of types."""

    names: pa.Array
    rows: int
    zeros: int
    types: frozenset[str]

    def __add__(self, other: _Told) -> _Told:
        both = joined(self.names, other.names)
        return _Told(both, self.rows + other.rows, self.zeros + other.zeros, self.types | other.types)


def spread_links(table: Source, directed: bool | None) -> SpreadLinks:
    """Links of a table with a row for each, by the engine in use; what they mean is found as by `read_network`.

    Args:
        table: read by the workers, twice.
        directed: whether links lead one way; as names, comments or a column of types say when not given.
    """
    roles = column_roles(table, None, None, None)
    refuse_square(table)

    def look(block: tuple[int, pa.RecordBatch]) -> _Told:
        first, second, values, types = _read(table, roles, block)
        by_edge = np.arange(2 * len(values)).reshape(2, -1).T.ravel()
        first, second = _alike(first, second)
        names = pc.unique(pa.concat_arrays([first, second]).take(pa.array(by_edge)))
        return _Told(names, len(values), int((values == 0.0).sum()), types)

    told = map_reduce(
        numbered_blocks(table), look, _Told.__add__, empty=_Told(pa.array([], "int64"), 0, 0, frozenset())
    )
    if not len(told.names):
        raise DataError(f"{table.name} holds no edges; give a row for each")
    types = frozenset(value.strip().lower() for value in told.types)
    one_way, why = direction(table, roles, types) if directed is None else (directed, "as said")
    numeric = pa.types.is_integer(told.names.type)
    numbering = Numbering.of(told.names.take(pc.sort_indices(told.names)) if numeric else told.names)

    def ends(block: tuple[int, pa.RecordBatch]) -> tuple[Whole, Whole, Array]:
        first, second, values, _ = _read(table, roles, block)
        return numbering.numbers(first), numbering.numbers(second), values

    kept = kept_links(numbered_blocks(table).map(ends), len(numbering), told.rows, both_ways=not one_way)
    found, loops = kept_count(kept)
    notes = [
        f"{len(numbering):,} nodes, {found if one_way else (found + loops) // 2:,} edges.",
        f"Links join {roles.first!r} and {roles.second!r} and lead {'one way' if one_way else 'both ways'}: {why}.",
        f"Weights are in {roles.weight!r}." if roles.weight else "Edges have no weights: each counts 1.",
        *(problem.sentence() for problem in table.problems),
    ]
    counted = [("Edges of weight zero, left out", told.zeros), ("Edges from a node to itself, kept", loops)]
    if one_way:
        counted.insert(1, ("Edges that repeat another; their sum counts", told.rows - told.zeros - found))
    notes += [f"{what}: {count:,}." for what, count in counted if count]
    names = tuple(numbering.names.cast(pa.string()).to_pylist())
    return SpreadLinks(len(numbering), kept, names, tuple(notes))


def kept_links(blocks: Any, n: int, count: int, *, both_ways: bool = False) -> Any:
    """Links sent to those who keep the nodes they lead to.

    Args:
        blocks: in parts; (from, to, weight) as numbers below n, weights not negative.
        n: how many nodes.
        count: about how many links.
        both_ways: whether each leads back, too.

    Returns:
        Blocks of `LinksTo`.
    """
    if n >= 2**31:
        raise DataError(f"a ranking takes fewer than {2**31:,} nodes; these are {n:,}")
    many = int(min(max(1, -(-count // _BLOCK)), _BLOCKS, n))
    cuts = n * np.arange(many + 1) // many

    def split(block: tuple[Whole, Whole, Array]) -> list[tuple[Any, ...]]:
        i, j, value = block
        there = value > 0.0
        if not there.all():
            i, j, value = i[there], j[there], value[there]
        back = np.zeros(len(i), np.bool_)
        if both_ways:
            i, j, value = np.concatenate([i, j]), np.concatenate([j, i]), np.concatenate([value, value])
            back = np.concatenate([back, ~back])
        to = np.searchsorted(cuts, j, side="right") - 1
        order = np.argsort(to, kind="stable")
        at = np.searchsorted(to[order], np.arange(many + 1))
        parts = (i[order].astype(np.uint32), j[order].astype(np.uint32), value[order], back[order])
        return [
            (int(cuts[b]), int(cuts[b + 1]), *(part[at[b] : at[b + 1]] for part in parts), both_ways)
            for b in range(many)
        ]

    return regrouped(blocks, split, _joined, many)


def kept_count(blocks: Any) -> tuple[int, int]:
    """How many links are kept, and how many of them are loops."""
    return map_reduce(blocks, lambda part: (len(part.origins), part.loops), lambda a, b: (a[0] + b[0], a[1] + b[1]))


def _joined(pieces: list[tuple[Any, ...]]) -> LinksTo:
    lo, hi, both_ways = pieces[0][0], pieces[0][1], pieces[0][6]
    i, j, value, back = (np.concatenate([piece[k] for piece in pieces]) for k in (2, 3, 4, 5))
    to, origin = j.astype(np.int64) - lo, i.astype(np.int64)
    n = max(int(origin.max(initial=0)) + 1, hi - lo)
    W = matrix_of((to[~back], origin[~back], value[~back]), n)
    if both_ways:
        W = W.maximum(matrix_of((to[back], origin[back], value[back]), n))
        W.sort_indices()
    weights = np.asarray(W.data, np.float64)
    starts, origins = W.indptr[: hi - lo + 1].astype(np.int64), W.indices.astype(np.uint32)
    loops = int((np.repeat(np.arange(lo, hi), np.diff(starts)) == origins).sum())
    return LinksTo(lo, starts, origins, weights if (weights != 1.0).any() else np.empty(0), loops)


def _read(
    table: Source, roles: Roles, block: tuple[int, pa.RecordBatch]
) -> tuple[pa.Array, pa.Array, Array, frozenset[str]]:
    """Ends, weights and types of the edges of a block."""
    row, batch = block
    first, second = (told_apart(names_in(table, batch.column(name), name, row)) for name in (roles.first, roles.second))
    values = (
        np.ones(batch.num_rows)
        if roles.weight is None
        else weights_in(table, batch.column(roles.weight), roles.weight, row)
    )
    types: frozenset[str] = frozenset()
    if roles.type is not None:
        types = frozenset(map(str, pc.unique(batch.column(roles.type).cast(pa.string())).to_pylist()))
    return first, second, values, types


def _alike(first: pa.Array, second: pa.Array) -> tuple[pa.Array, pa.Array]:
    if first.type == second.type:
        return first, second
    return first.cast(pa.string()), second.cast(pa.string())
