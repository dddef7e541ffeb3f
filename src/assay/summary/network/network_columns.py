"""Which columns of a table are the ends and the weights of edges, and what they hold."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from assay.arrays import Array, Whole
from assay.data.formats.edge_lists import FIRST, SECOND, TYPE, WEIGHT, EdgeListSource, folded
from assay.data.source import Source, is_numeric
from assay.errors import DataError, ParameterError

# Numbers that are no weights although they stand behind two names.
_NO_WEIGHT = ("id", "edgeid", "key", "index", "time", "timestamp", "date", "year")
_DIRECTED = {"directed": True, "true": True, "undirected": False, "false": False}


@dataclass(frozen=True, slots=True)
class Roles:
    """What the columns of a list of edges are for.

    Attributes:
        first: where edges begin.
        second: where they end.
        weight: or None.
        type: which may say whether edges are directed, or None.
        unused: the others.
        one_way: whether the names of the ends say that edges lead from one to the other.
    """

    first: str
    second: str
    weight: str | None
    type: str | None
    unused: tuple[str, ...]
    one_way: bool


@dataclass(frozen=True, slots=True, eq=False)
class EdgeTable:
    """All edges of a table.

    Attributes:
        first: (m,) numbers of the nodes where they begin.
        second: (m,) of those where they end.
        values: (m,) weights, 1 where there are none.
        names: of the n nodes.
        types: what the column of types holds, each value once.
    """

    first: Whole
    second: Whole
    values: Array
    names: tuple[str, ...]
    types: frozenset[str]


def column_roles(table: Source, source: str | None, target: str | None, weight: str | None) -> Roles:
    """Find the columns by what the user says, by their names, or by their places."""
    names = table.arrow_schema.names
    for said in (source, target, weight):
        if said is not None and said not in names:
            raise ParameterError(f"there is no column {said!r} in {table.name}; there are {', '.join(names[:20])}")
    if len(names) < 2:
        raise DataError(f"{table.name} has {len(names)} columns; a list of edges has two for the ends of each edge")
    usual_first, usual_second = (_called(names, words) for words in (FIRST, SECOND))
    by_name = usual_first is not None and usual_second is not None
    free = [name for name in names if name not in (source, target, weight)]
    first = source or (usual_first if by_name else None) or free[0]
    second = target or (usual_second if by_name else None) or next(name for name in free if name != first)
    rest = [name for name in names if name not in (first, second)]
    weight = weight or _weight_among(table, rest)
    type_ = _called([name for name in rest if name != weight], TYPE)
    unused = tuple(name for name in rest if name not in (weight, type_))
    return Roles(first, second, weight, type_, unused, by_name and (first, second) == (usual_first, usual_second))


def edges_in(table: Source, roles: Roles, nodes: tuple[str, ...] | None) -> EdgeTable:
    """Read all edges, in one pass; what is held is their ends as numbers, and their weights."""
    firsts: list[pa.Array] = []
    seconds: list[pa.Array] = []
    values: list[Array] = []
    types: set[str] = set()
    row = 0
    for batch in table.blocks():
        for name, chunks in ((roles.first, firsts), (roles.second, seconds)):
            chunks.append(names_in(table, batch.column(name), name, row))
        if roles.weight is None:
            values.append(np.ones(batch.num_rows))
        else:
            values.append(weights_in(table, batch.column(roles.weight), roles.weight, row))
        if roles.type is not None:
            types |= set(pc.unique(batch.column(roles.type).cast(pa.string())).to_pylist())
        row += batch.num_rows
    codes, names = _numbered(firsts + seconds)
    if nodes is not None:
        codes, names = _among(table, codes, names, nodes)
    if not names:
        raise DataError(f"{table.name} holds no edges; name the nodes with nodes= if there are none")
    told = frozenset(str(value).strip().lower() for value in types)
    return EdgeTable(codes[:row], codes[row:], np.concatenate(values) if values else np.empty(0), names, told)


def direction(table: Source, roles: Roles, types: frozenset[str]) -> tuple[bool, str]:
    """Whether edges lead one way, and what says so.

    Args:
        table: the edges.
        roles: of its columns.
        types: what the column of types holds.
    """
    if types and types <= _DIRECTED.keys():
        said = {_DIRECTED[value] for value in types}
        if len(said) > 1:
            raise DataError(
                f"the column {roles.type!r} of {table.name} calls some edges directed and others not; say directed="
            )
        return said.pop(), f"the column {roles.type!r} says so"
    comments = " ".join(table.comments).lower() if isinstance(table, EdgeListSource) else ""
    found = re.search(r"\b(undirected|directed|asym|sym)\b", comments)
    if found:
        return found[1] in ("directed", "asym"), f"a comment in the file says {found[1]!r}"
    if roles.one_way:
        return True, f"the columns are called {roles.first!r} and {roles.second!r}"
    return False, "nothing says that they lead one way; say directed=True if they do"


def refuse_square(table: Source) -> None:
    """Refuse a table of distances or weights."""
    if _looks_square(table):
        raise DataError(
            f"{table.name} looks like a square table, not a list of edges; say form='matrix' if its cells are weights, "
            "and also meaning='distance' if they are distances"
        )


def _looks_square(table: Source) -> bool:
    """Whether the first column repeats the names of the others, as in a table of distances."""
    names = table.arrow_schema.names
    if len(names) < 4:
        return False
    block = next(table.blocks(), None)
    column = [] if block is None else block.column(names[0]).cast(pa.string()).to_pylist()
    return bool([str(cell).strip() for cell in column] == names[1:])


def where(table: Source, row: int) -> str:
    """How messages call the place of a row."""
    line = table.line_of(row)
    return f"row {row + 1}" if line is None else f"line {line}"


def _called(names: list[str], words: tuple[str, ...]) -> str | None:
    return next((name for name in names if folded(name) in words), None)


def _weight_among(table: Source, rest: list[str]) -> str | None:
    usual = _called(rest, WEIGHT)
    if usual is not None or not rest:
        return usual
    nameless = isinstance(table, EdgeListSource) and not table.header
    if not nameless and (len(rest) > 1 or folded(rest[0]) in _NO_WEIGHT):
        return None
    if is_numeric(table.arrow_schema.field(rest[0]).type):
        return rest[0]
    block = next(table.blocks(), None) if isinstance(table, EdgeListSource) else None
    return rest[0] if block is not None and _as_numbers(block.column(rest[0])) is not None else None


def names_in(table: Source, column: pa.Array, name: str, start: int) -> pa.Array:
    """The names in one block: whole numbers if all are, otherwise text."""
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if pa.types.is_floating(column.type):
        column = _whole(table, column, name, start)
    elif not pa.types.is_integer(column.type):
        text = column.cast(pa.string())
        column = _as_whole(text)
        if column is None:
            text = pc.utf8_trim_whitespace(text)
            column = pc.if_else(pc.equal(text, ""), None, text)
    if column.null_count:
        row = int(np.flatnonzero(column.is_null().to_numpy(zero_copy_only=False))[0])
        raise DataError(
            f"{table.name}, {where(table, start + row)}: {name!r} is empty; an edge needs both ends, and nodes without "
            "edges are named with nodes="
        )
    return column


def _as_whole(text: pa.Array) -> pa.Array | None:
    """Whole numbers, if that is how all are written: 007 is another name than 7."""
    try:
        numbers = text.cast(pa.int64())
    except pa.ArrowInvalid:
        return None
    return numbers if pc.all(pc.equal(numbers.cast(pa.string()), text)).as_py() else None


def _whole(table: Source, column: pa.Array, name: str, start: int) -> pa.Array:
    values = column.to_numpy(zero_copy_only=False)
    broken = np.flatnonzero(~np.isnan(values) & ((values != np.rint(values)) | (np.abs(values) > 2.0**53)))
    if len(broken):
        raise DataError(
            f"{table.name}, {where(table, start + int(broken[0]))}: {name!r} is {values[broken[0]]:g}, but nodes are "
            "named by text or whole numbers; name the columns of the ends with source= and target="
        )
    return pc.if_else(pc.is_nan(column), None, column).cast(pa.int64())


def weights_in(table: Source, column: pa.Array, name: str, start: int) -> Array:
    """The weights in one block; what is no weight is refused with its place."""
    numbers = column.cast(pa.float64()) if is_numeric(column.type) else _as_numbers(column)
    if numbers is None:
        texts = column.cast(pa.string())
        row = next(i for i in range(len(texts)) if _as_numbers(texts[i : i + 1]) is None)
        raise _bad_weight(table, start + row, name, repr(texts[row].as_py()))
    values: Array = numbers.to_numpy(zero_copy_only=False)
    bad = np.flatnonzero(~(np.isfinite(values) & (values >= 0)))
    if len(bad):
        raise _bad_weight(table, start + int(bad[0]), name, "missing" if np.isnan(values[bad[0]]) else values[bad[0]])
    return values


def _bad_weight(table: Source, row: int, name: str, value: object) -> DataError:
    return DataError(
        f"{table.name}, {where(table, row)}: the weight {name!r} is {value}, but weights are finite numbers, none "
        "negative; repair it, or read the edges alone with weighted=False"
    )


def _as_numbers(column: pa.Array) -> pa.Array | None:
    try:
        return pc.utf8_trim_whitespace(column.cast(pa.string())).cast(pa.float64())
    except pa.ArrowInvalid:
        return None


def _numbered(chunks: list[pa.Array]) -> tuple[Whole, tuple[str, ...]]:
    """Nodes as numbers: by value where all names are whole numbers, by first appearance otherwise."""
    if all(pa.types.is_integer(chunk.type) and chunk.type != pa.uint64() for chunk in chunks):
        values = np.concatenate([np.empty(0, np.int64), *(chunk.to_numpy().astype(np.int64) for chunk in chunks)])
        codes, numbers = _ranked(values)
        return codes, tuple(pa.array(numbers).cast(pa.string()).to_pylist())
    encoded = pa.chunked_array([chunk.cast(pa.string()) for chunk in chunks]).dictionary_encode()
    names = encoded.chunk(0).dictionary
    codes = np.concatenate([chunk.indices.to_numpy() for chunk in encoded.chunks]).astype(np.int64)
    order = np.argsort(_first_places(codes, len(names)))
    number = np.empty(len(order), np.int64)
    number[order] = np.arange(len(order))
    return number[codes], tuple(names.take(pa.array(order)).to_pylist())


def _ranked(values: Whole) -> tuple[Whole, Whole]:
    """Each value's place among the different ones, and these ascending."""
    low, high = (int(values.min()), int(values.max())) if len(values) else (0, 0)
    if high - low > 4 * len(values) + 1024:
        numbers, codes = np.unique(values, return_inverse=True)
        return codes, numbers
    seen = np.zeros(high - low + 1, np.bool_)  # a table of all numbers in between is faster than sorting
    seen[values - low] = True
    return (np.cumsum(seen) - 1)[values - low], np.flatnonzero(seen) + low


def _first_places(codes: Whole, count: int) -> Whole:
    """Where each code is met first, reading edge by edge."""
    by_edge = codes.reshape(2, -1).T.ravel()
    first = np.empty(count, np.int64)
    first[by_edge[::-1]] = np.arange(len(codes))[::-1]  # of several assignments the last one holds
    return first


def _among(
    table: Source, codes: Whole, names: tuple[str, ...], nodes: tuple[str, ...]
) -> tuple[Whole, tuple[str, ...]]:
    number = {name: i for i, name in enumerate(nodes)}
    place = np.array([number.get(name, -1) for name in names], np.int64)
    mapped = place[codes] if len(codes) else codes
    if len(unknown := np.flatnonzero(mapped < 0)):
        edge = int(min(unknown % (len(codes) // 2)))
        ends = codes[[edge, edge + len(codes) // 2]]
        name = next(names[end] for end in ends if place[end] < 0)
        raise DataError(f"{table.name}, {where(table, edge)}: {name!r} is not among the nodes; add it to nodes=")
    return mapped, nodes
