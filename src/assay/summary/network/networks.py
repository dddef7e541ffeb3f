"""Networks as people keep them, read into a `Graph`: lists of edges and matrices of weights, with names."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pyarrow as pa
from scipy import sparse

from assay.data.formats.edge_lists import EdgeListSource
from assay.data.formats.recognise import format_by_name
from assay.data.read import read
from assay.data.source import ArrowSource, Source
from assay.errors import DataError, ParameterError
from assay.summary.graph.edges import edges_of, matrix_of, mirrored
from assay.summary.graph.graph import Graph, Meaning
from assay.summary.network.network_columns import EdgeTable, column_roles, direction, edges_in, refuse_square
from assay.summary.network.network_matrices import graph_of_matrix, matrix_in_file, matrix_in_table

Form = Literal["edges", "matrix"]


@dataclass(frozen=True, slots=True)
class _Said:
    """What the user says about a network."""

    directed: bool | None
    weighted: bool | None
    source: str | None
    target: str | None
    weight: str | None
    nodes: tuple[str, ...] | None
    meaning: Meaning


def read_network(
    data: Any,
    *,
    form: Form | None = None,
    directed: bool | None = None,
    weighted: bool | None = None,
    source: str | None = None,
    target: str | None = None,
    weight: str | None = None,
    nodes: Iterable[object] | None = None,
    meaning: Meaning = "similarity",
    header: bool | None = None,
) -> Graph:
    """Read a network from whatever it is kept in; what was decided is in the `notes` of the graph.

    An edge given several times counts with the sum of its weights (the least of its lengths). If edges lead both ways
    and are given both ways, the larger weight (the lesser length) counts. Edges from a node to itself stay. Edges of
    weight zero are none. Nodes whose names are all whole numbers come in their order, others as they appear first.

    Args:
        data: path of a list of edges (text of any delimiter, or any table that `assay.read` knows), of a matrix in
            Matrix Market format (.mtx) or as a table (form="matrix"); a square array or sparse matrix; a data frame,
            Arrow table or `Source` with a row for each edge; a list of (from, to) or (from, to, weight); or a graph of
            networkx.
        form: "edges" or "matrix"; when not given, square arrays and .mtx files are matrices, the rest are edges.
        directed: whether edges lead one way. When not given: as a column Type or a comment of the file says; yes if the
            columns are called source and target, from and to or the like; no otherwise. A matrix is if not symmetric.
        weighted: False leaves weights out, True demands them.
        source: column in which edges begin; found by its name, otherwise the first.
        target: column in which they end; found by its name, otherwise the second.
        weight: column of the weights; found by its name, or the third of a file without names if it holds numbers.
        nodes: names of all nodes in order, for those without edges; of a matrix, the names of its rows.
        meaning: of the weights, "similarity" or "distance".
        header: whether the first line of a text file names the columns; found out when not given.

    >>> graph = read_network([("Ann", "Bob", 2.0), ("Bob", "Cleo", 1.0)])
    >>> graph.names, graph.degree
    (('Ann', 'Bob', 'Cleo'), array([2., 3., 1.]))
    """
    if isinstance(data, Graph):
        return data
    if form not in (None, "edges", "matrix"):
        raise ParameterError(f'form must be "edges" or "matrix", is {form!r}')
    if weighted is False and weight is not None:
        raise ParameterError(f"weighted=False leaves weights out, but weight={weight!r} names them; say one of both")
    named = None if nodes is None else _distinct(nodes)
    said = _Said(directed, weighted, source, target, weight, named, meaning)
    matrix = _matrix(data, form, header)
    if matrix is not None:
        W, found, called = matrix
        return graph_of_matrix(
            W, named or found, called, directed=directed, meaning=meaning, weighted=weighted is not False
        )
    if callable(getattr(data, "is_directed", None)) and hasattr(data, "edges") and hasattr(data, "nodes"):
        return _of_networkx(data, said)
    return _of_table(_edges(data, header), said)


def edge_table(data: Any) -> Source | None:
    """The table of edges that `read_network` would read, where the data are one in files or elsewhere; else None.

    Args:
        data: what `read_network` takes.
    """
    if isinstance(data, Source):
        return data
    if isinstance(data, str | os.PathLike) and not _is_mtx(data):
        return _edges(data, None)
    return None


def _is_mtx(path: Any) -> bool:
    return Path(path).name.lower().removesuffix(".gz").endswith(".mtx")


def _distinct(nodes: Iterable[object]) -> tuple[str, ...]:
    if isinstance(nodes, str):
        raise ParameterError("nodes is a list of names, not one text")
    names = tuple(str(node) for node in nodes)
    if len(set(names)) < len(names):
        twice = next(name for i, name in enumerate(names) if name in names[:i])
        raise DataError(f"the node {twice!r} is named twice; give each node one name of its own")
    return names


def _matrix(data: Any, form: Form | None, header: bool | None) -> tuple[Any, tuple[str, ...] | None, str] | None:
    """The matrix, the names in it and how it is called, if the data are one."""
    if form == "edges":
        return None
    if isinstance(data, str | os.PathLike) and _is_mtx(data):
        return matrix_in_file(Path(data)), None, str(data)
    if sparse.issparse(data) or (isinstance(data, np.ndarray) and (form == "matrix" or _is_square(data))):
        return data, None, "the matrix"
    if form != "matrix":
        return None
    if isinstance(data, list | tuple):
        return np.asarray(data), None, "the matrix"
    table = _edges(data, header)
    return *matrix_in_table(table), table.name


def _is_square(array: np.ndarray[Any, Any]) -> bool:
    return array.ndim == 2 and array.shape[0] == array.shape[1]


def _edges(data: Any, header: bool | None) -> Source:
    if isinstance(data, str | os.PathLike) and format_by_name(os.fspath(data)) in (None, "csv"):
        return EdgeListSource(os.fspath(data), header)
    if header is not None:
        raise ParameterError("header is about text files; leave it out")
    if not isinstance(data, list | tuple):
        return read(data)
    return _listed(data)


def _listed(edges: Sequence[Any], called: str = "the list") -> Source:
    sizes = {len(edge) if isinstance(edge, list | tuple | np.ndarray) else 0 for edge in edges}
    if sizes not in ({2}, {3}):
        raise DataError(f"{called} of edges must hold (from, to) or (from, to, weight), all of the same length")
    names = ["first", "second", "weight"][: sizes.pop()]
    # a number survives the way through text, and what is no number is refused with its row
    return ArrowSource(pa.table({name: [str(edge[i]) for edge in edges] for i, name in enumerate(names)}), called)


def _of_networkx(graph: Any, said: _Said) -> Graph:
    edges = list(graph.edges(data=said.weight or "weight", default=1))
    nodes = _distinct(graph.nodes) if said.nodes is None else said.nodes
    directed = bool(graph.is_directed()) if said.directed is None else said.directed
    if not edges:
        return Graph.of_edges([], [], n=len(nodes), names=nodes, directed=directed, meaning=said.meaning)
    table = _listed(edges, "the graph")
    return _of_table(table, replace(said, nodes=nodes, directed=directed, weight=None))


def _of_table(table: Source, said: _Said) -> Graph:
    roles = column_roles(table, said.source, said.target, said.weight)
    if said.weighted is False and roles.weight is not None:
        roles = replace(roles, weight=None, unused=(*roles.unused, roles.weight))
    elif said.weighted and roles.weight is None:
        raise DataError(f"{table.name} has no column of weights; name it with weight=")
    if said.source is None:
        refuse_square(table)
    edges = edges_in(table, roles, said.nodes)
    directed, why = direction(table, roles, edges.types) if said.directed is None else (said.directed, "as said")
    notes = [f"Links join {roles.first!r} and {roles.second!r} and lead {_ways(directed)}: {why}."]
    notes.append(f"Weights are in {roles.weight!r}." if roles.weight else "Edges have no weights: each counts 1.")
    if roles.unused:
        some = ", ".join(map(repr, roles.unused[:10])) + (", ..." if len(roles.unused) > 10 else "")
        notes.append(f"Columns that are not used: {some}.")
    return _graph(edges, directed, said.meaning, (*notes, *(problem.sentence() for problem in table.problems)))


def _graph(edges: EdgeTable, directed: bool, meaning: Meaning, notes: Sequence[str]) -> Graph:
    """Merge what is given more than once, and say what was."""
    n, lengths = len(edges.names), meaning == "distance"
    kept = np.ones(len(edges.values), np.bool_) if lengths else edges.values > 0
    W = matrix_of((edges.first[kept], edges.second[kept], edges.values[kept]), n, "min" if lengths else "sum")
    rows, cols, _ = edges_of(W)
    loops = int((rows == cols).sum())
    repeated = f"Edges that repeat another; their {'least length' if lengths else 'sum'} counts"
    found = [
        ("Edges of weight zero, left out", len(kept) - int(kept.sum())),
        (repeated, int(kept.sum()) - len(rows)),
        ("Edges from a node to itself, kept", loops),
    ]
    if not directed:
        M = mirrored(W, "union", lengths=lengths)
        found += _both_ways(W, M, "lesser length" if lengths else "larger weight")
        W = M
    size = f"{n:,} nodes, {W.nnz if directed else (W.nnz + loops) // 2:,} edges."
    told = (f"{what}: {count:,}." for what, count in found if count)
    return Graph(W, meaning, directed, edges.names, (size, *notes, *told))


def _both_ways(W: sparse.csr_array, M: sparse.csr_array, which: str) -> list[tuple[str, int]]:
    n = int(W.shape[0])
    rows, cols, given = edges_of(W)
    all_rows, all_cols, used = edges_of(M)
    loops = int((rows == cols).sum())
    twice = len(rows) - loops - (len(all_rows) - loops) // 2
    if not twice:
        return []
    differing = int((used[np.searchsorted(all_rows * n + all_cols, rows * n + cols)] != given).sum())
    return [
        ("Edges given both ways, counted once", twice),
        (f"Edges given both ways with different weights, of which the {which} counts", differing),
    ]


def _ways(directed: bool) -> str:
    return "one way" if directed else "both ways"
