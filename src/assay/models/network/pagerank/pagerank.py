"""PageRank: how often a walk along links is at each node.

    x = d (P^T x + v sum_{i without out-links} x_i) + (1 - d) v,      P_ij = w_ij / sum_k w_ik

The walk follows an out-link with probability d, in proportion to the weights, and jumps to v otherwise, or where there
is no out-link. The map on the right brings any two x closer by the factor d in the 1-norm, so there is one x, and how
far an iterate is from it is known (`power.py`).

References: Page, Brin, Motwani and Winograd, The PageRank citation ranking, 1999; Langville and Meyer, Google's
PageRank and beyond, 2006.
"""

from __future__ import annotations

import math
import os
import warnings
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from assay.arrays import Array
from assay.engine.current import is_local, using
from assay.errors import DataError, NotConverged, ParameterError
from assay.linalg.validate import RandomState, seed_of
from assay.models.network.pagerank.elsewhere import given_weights, links_of_triples, solve_elsewhere
from assay.models.network.pagerank.links import Links, links_of, turned
from assay.models.network.pagerank.power import solve
from assay.models.network.pagerank.ranking import Ranking
from assay.models.network.pagerank.spread_links import SpreadLinks, spread_links
from assay.models.network.pagerank.striped import StripedRanking, ranked
from assay.summary.network.networks import edge_table
from assay.summary.triples.allowance import as_bytes
from assay.summary.triples.triples import Triples
from assay.summary.triples.vectors import delivered


def pagerank(
    data: Any,
    *,
    damping: float = 0.85,
    personalise: Mapping[Any, float] | ArrayLike | None = None,
    start: Ranking | ArrayLike | None = None,
    directed: bool | None = None,
    tol: float = 1e-10,
    max_iter: int | None = None,
    resamples: int = 200,
    graphs: int = 99,
    random_state: RandomState = 0,
    memory: int | str | None = None,
    out: str | os.PathLike[str] | None = None,
    engine: Any = None,
    progress: Callable[[float], object] | None = None,
) -> Ranking:
    """Rank the nodes of a graph by PageRank, and say which of the order holds.

    Links with weight 0 are none, links given several times count with the sum of their weights, a link from a node to
    itself counts, and a node without out-links jumps as `personalise` says.

    Args:
        data: whatever `assay.read_network` takes, a `Graph`, or a sparse matrix with a row for the out-links of each
            node. Pairs in a list lead one way, unless `directed` says otherwise; other data as they say themselves.
            `Triples` of links (from, to, weight) between nodes numbered from 0: ranked in stripes on disk.
        damping: probability of following a link, at least 0 and below 1.
        personalise: where jumps go: a weight for each node, or for some of them by name; everywhere
            alike when not given.
        start: scores to begin from, of this graph before it changed: a `Ranking`, or (n,) numbers.
        directed: whether links lead one way.
        tol: what the error bound is to be.
        max_iter: steps at most; as many as `tol` needs when not given.
        resamples: draws behind `intervals` and `outranks`.
        graphs: random graphs with the same degrees behind `beyond_degree`.
        random_state: of these draws: a whole number from 0 on, None for 0, or a generator of NumPy's.
        memory: of `Triples`: what the ranking may take, in bytes or as "200 MB"; 1 GB when not given.
        out: of `Triples`: path of a .npy file for the scores.
        engine: where links in files are read and kept: "dask", "spark", an address or whatever `assay.using` takes;
            the one in use when not given. The scores are the same to rounding.
        progress: told which share of the random graphs behind `beyond_degree` is drawn, while that is computed.

    Returns:
        Scores, their order and error bound; `intervals`, `outranks` and `beyond_degree` are computed when asked for.
        Of `Triples`, and of links that workers keep, a `StripedRanking`: scores and error bound only, mapped from a
        file where they do not fit.

    >>> found = pagerank([("a", "c"), ("b", "c"), ("c", "a")])
    >>> [name for name, _ in found.top()]
    ['c', 'a', 'b']
    >>> found.error_bound < 1e-10
    True
    """
    _check(damping, tol, max_iter, resamples, graphs)
    with using(engine):
        elsewhere = _elsewhere(data, directed, memory, out)
        if elsewhere is not None:
            v = _jumps(given_weights(personalise, elsewhere.n, "personalise"), elsewhere)
            begin = _begin(given_weights(start, elsewhere.n, "start"), elsewhere, v)
            found = solve_elsewhere(elsewhere, float(damping), v, begin, float(tol), max_iter)
            _warn(found.bound, tol, max_iter, rounded=found.rounded)
            scores = delivered(lambda lo, hi: found.scores[lo:hi], elsewhere.n, elsewhere.n, in_memory=True, out=out)
            return StripedRanking(
                scores, elsewhere.names, found.bound, found.iterations, float(damping), elsewhere.notes
            )
    if isinstance(data, Triples):
        size = as_bytes("1 GB" if memory is None else memory)
        ranking, rounded = ranked(data, size, float(damping), personalise, start, float(tol), max_iter, out)
        _warn(ranking.error_bound, tol, max_iter, rounded=rounded)
        return ranking
    links = links_of(data, directed)
    v = _jumps(personalise, links)
    found = solve(turned(links), float(damping), v, _begin(start, links, v), float(tol), max_iter)
    _warn(found.bound, tol, max_iter, rounded=found.rounded)
    return Ranking(
        found.scores,
        links.names,
        found.bound,
        found.iterations,
        float(damping),
        links.notes,
        links,
        v,
        resamples,
        graphs,
        seed_of(random_state),
        progress,
    )


def _elsewhere(data: Any, directed: bool | None, memory: Any, out: Any) -> SpreadLinks | None:
    """Links kept by the workers of the engine in use; None where they are ranked here."""
    if isinstance(data, Triples):
        if directed is False:
            raise ParameterError("links of Triples lead one way, from i to j; give both (i, j) and (j, i)")
        pieces = data.spread
        size = as_bytes("1 GB" if memory is None else memory)
        return None if pieces is None else links_of_triples(data, pieces, size)
    if memory is not None or out is not None:
        raise ParameterError(
            "memory= and out= are for links as assay.Triples, whose nodes are all numbers from 0 to the largest; give "
            "pagerank(assay.Triples.of(links), memory=...), or leave them out"
        )
    table = None if is_local() else edge_table(data)
    return None if table is None or not table.portable else spread_links(table, directed)


def _warn(bound: float, tol: float, max_iter: int | None, *, rounded: bool) -> None:
    if bound > tol:
        why = (
            "rounding allows no less: ask for a larger tol"
            if rounded or max_iter is None
            else f"after max_iter={max_iter} steps: allow more, or leave max_iter out"
        )
        warnings.warn(f"PageRank is known to within {bound:.2g}, not tol={tol:g}; {why}", NotConverged, stacklevel=3)


def _check(damping: float, tol: float, max_iter: int | None, resamples: int, graphs: int) -> None:
    if not 0.0 <= damping < 1.0:
        raise ParameterError(
            f"damping is at least 0 and below 1, since without jumps the scores need not be unique; got {damping!r}"
        )
    if not 0.0 < tol < math.inf:
        raise ParameterError(f"tol is a number larger than 0; got {tol!r}")
    whole = (("max_iter", 1 if max_iter is None else max_iter, 1), ("resamples", resamples, 20), ("graphs", graphs, 19))
    for name, value, least in whole:
        if value != int(value) or value < least:
            raise ParameterError(f"{name} is a whole number, at least {least}; got {value!r}")


def _jumps(given: Mapping[Any, float] | ArrayLike | None, links: Links | SpreadLinks) -> Array:
    """(n,) probabilities of where jumps go."""
    if given is None:
        return np.full(links.n, 1.0 / links.n)
    return _normalised(_values(given, links, "personalise"), links, "personalise")


def _begin(given: Ranking | ArrayLike | None, links: Links | SpreadLinks, v: Array) -> Array:
    if given is None:
        return v.copy()
    if not isinstance(given, Ranking):
        return _normalised(_values(given, links, "start"), links, "start")
    if given.names is None or links.names is None:
        if len(given.scores) != links.n:
            raise ParameterError(
                f"start has {len(given.scores):,} nodes without names, the graph {links.n:,}: give names to both, or "
                "one score for each node"
            )
        return given.scores.copy()
    known = dict(zip(given.names, given.scores.tolist(), strict=True))
    return _normalised(np.array([known.get(name, 1.0 / links.n) for name in links.names]), links, "start")


def _values(given: Mapping[Any, float] | ArrayLike, links: Links | SpreadLinks, called: str) -> Array:
    if not isinstance(given, Mapping):
        values = np.asarray(given, dtype=np.float64)
        if values.shape != (links.n,):
            raise ParameterError(f"{called} needs one number for each of {links.n:,} nodes; got shape {values.shape}")
        return values
    names = {name: i for i, name in enumerate(links.names)} if links.names is not None else None
    values = np.zeros(links.n)
    for name, weight in given.items():
        at = names.get(str(name)) if names is not None else name
        if not isinstance(at, int | np.integer) or not 0 <= at < links.n:
            raise ParameterError(f"{called} names {name!r}, which is no node of the graph; leave it out")
        values[at] = weight
    return values


def _normalised(values: Array, links: Links | SpreadLinks, called: str) -> Array:
    bad = np.flatnonzero(~(np.isfinite(values) & (values >= 0.0)))
    if len(bad):
        name = links.names[bad[0]] if links.names is not None else bad[0]
        raise ParameterError(f"{called} must be finite and not negative; node {name} has {values[bad[0]]}")
    largest = float(values.max())
    if largest == 0.0:
        raise DataError(f"{called} is 0 for every node; give one of them a weight, or leave it out")
    values = np.ldexp(values, -int(np.frexp(largest)[1]))
    return np.asarray(values / math.fsum(values), dtype=np.float64)
