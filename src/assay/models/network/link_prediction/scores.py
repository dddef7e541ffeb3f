"""Scores of pairs of nodes: how likely two nodes are to be linked, by the links there are.

With N(u) the nodes u is linked with and d(z) the number of links of z, for links that lead both ways:

    degrees      d(u) d(v)                                      preferential attachment
    common       |N(u) & N(v)|                                  common neighbours
    adamic_adar  sum of 1 / log d(z), z in N(u) & N(v)          Adamic and Adar
    resource     sum of 1 / d(z), z in N(u) & N(v)              resource allocation
    low_rank_k   (D^1/2 X L X^T D^1/2)_uv, k = 4 and 16         the largest eigenvalues L of D^-1/2 A D^-1/2 and one
                                                                more, by modulus; D the degrees and their mean

For links that lead one way u is where one would begin: degrees are out-links of u times in-links of v, z has
u -> z -> v and d(z) counts both ways, the low rank is that of singular values, and beside these

    back         1 where v -> u                                 links that are returned
    either       resource, links taken both ways

Weights of links are not used: whether there is a link is the question.
References: Liben-Nowell and Kleinberg, JASIST 58, 2007; Zhou, Lu and Zhang, European Physical Journal B 71, 2009;
Joseph and Yu, Annals of Statistics 44, 2016 (the mean added to degrees).
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

import numpy as np
from scipy import sparse

from assay.arrays import Array, Whole
from assay.summary.network.held_out_links import adjacency, degrees
from assay.summary.network.random_graphs import Ends

RANKS = (4, 16)
_ROOM = 8  # vectors beside those kept, and products with them: a score needs no more digits
_PASSES = 5
BOTH_WAYS = ("degrees", "common", "adamic_adar", "resource", "low_rank_4", "low_rank_16")
ONE_WAY = ("degrees", "back", "common", "adamic_adar", "resource", "either", "low_rank_4", "low_rank_16")


def names_of(one_way: bool) -> tuple[str, ...]:
    """The scores there are, the plainest first."""
    return ONE_WAY if one_way else BOTH_WAYS


class PairScores:
    """All scores of a network.

    Args:
        ends: of its links.
        seed: of the start of the low-rank scores.
    """

    def __init__(self, ends: Ends, seed: int = 0) -> None:
        self.ends = ends
        self.seed = seed
        self.names = names_of(ends.one_way)

    def of(self, us: Whole, vs: Whole, names: tuple[str, ...] | None = None) -> dict[str, Array]:
        """(k,) every score of some pairs.

        Args:
            us: (k,) nodes; those where a link would begin.
            vs: (k,) nodes.
            names: of the scores; all if not given.
        """
        wanted = self.names if names is None else names
        found: dict[str, Array] = {}
        if "degrees" in wanted:
            out, into = degrees(self.ends)
            found["degrees"] = out[us].astype(np.float64) * into[vs]
        if {"common", "adamic_adar", "resource"} & set(wanted):
            over = self._over(us, vs, one_way=self.ends.one_way)
            found |= dict(zip(("common", "adamic_adar", "resource"), over.T, strict=True))
        if "back" in wanted:
            found["back"] = np.asarray(self.links[vs, us], dtype=np.float64).ravel()
        if "either" in wanted:
            found["either"] = self._over(us, vs, one_way=False)[:, 2]
        for rank in RANKS:
            if f"low_rank_{rank}" in wanted:
                left, right = self.vectors(rank)
                found[f"low_rank_{rank}"] = np.einsum("ij,ij->i", left[us], right[vs])
        return {name: found[name] for name in wanted}

    def between(self, name: str) -> Array:
        """(n,) what a node between two adds to a score that counts such nodes.

        Args:
            name: "common", "adamic_adar" or "resource".
        """
        return np.ones(self.ends.n) if name == "common" else self._weights[:, 0 if name == "adamic_adar" else 1]

    @property
    def between_either(self) -> Array:
        """(n,) what a node between two adds to "either"."""
        return np.ascontiguousarray(self._either_weights[:, 1])

    def vectors(self, rank: int) -> tuple[Array, Array]:
        """(n, k) and (n, k): their products are the low-rank score.

        Args:
            rank: 4 or 16.
        """
        left, right = self._low_rank
        return left[:, : 1 + rank], right[:, : 1 + rank]

    @cached_property
    def links(self) -> sparse.csr_array:
        """(n, n) ones where nodes are linked."""
        return adjacency(self.ends)

    @cached_property
    def either(self) -> sparse.csr_array:
        """(n, n) the same, whichever way links lead."""
        if not self.ends.one_way:
            return self.links
        found = adjacency(replace(self.ends, one_way=False))
        found.sum_duplicates()  # a link and its return are one
        return found

    @cached_property
    def _weights(self) -> Array:
        n = self.ends.n
        d = np.bincount(self.ends.sources, minlength=n) + np.bincount(self.ends.targets, minlength=n)
        # a node between two others has two links at least; what the others have is not used
        several = np.maximum(d, 2)
        return np.stack([1.0 / np.log(several), 1.0 / several], axis=1)

    def _over(self, us: Whole, vs: Whole, *, one_way: bool) -> Array:
        from assay.models.network.link_prediction._kernels import shared

        A = self.links if one_way else self.either
        B = self._arriving if one_way else A
        weights = self._weights if one_way or not self.ends.one_way else self._either_weights
        out = np.empty((len(us), 3))
        shared(A.indptr, A.indices, B.indptr, B.indices, us, vs, np.ascontiguousarray(weights), out)
        return out

    @cached_property
    def _either_weights(self) -> Array:
        several = np.maximum(np.diff(self.either.indptr), 2)
        return np.stack([1.0 / np.log(several), 1.0 / several], axis=1)

    @cached_property
    def _arriving(self) -> sparse.csr_array:
        found = sparse.csr_array(self.links.T.tocsr())
        found.sort_indices()
        return found

    @cached_property
    def _low_rank(self) -> tuple[Array, Array]:
        A, n = self.links, self.ends.n
        roots = [np.sqrt(d + max(float(d.mean()), 1.0 / n)) for d in degrees(self.ends)]
        scaled = 1.0 / (np.repeat(roots[0], np.diff(A.indptr)) * roots[1][A.indices])
        B = sparse.csr_array((scaled, A.indices, A.indptr), shape=A.shape)
        keep = min(1 + RANKS[-1], n)
        rng = np.random.default_rng(self.seed)
        Q = rng.standard_normal((n, min(keep + _ROOM, n)))
        Q[:, 0] = roots[1]  # nearly the first of them
        for _ in range(_PASSES):
            Q = np.linalg.qr(B.T @ (B @ Q))[0]
        if not self.ends.one_way:
            values, turn = np.linalg.eigh(_symmetric(Q.T @ (B @ Q)))
            order = np.argsort(-np.abs(values), kind="stable")[:keep]
            X = roots[0][:, None] * (Q @ turn[:, order])
            return X * values[order], X
        U, s, Vt = np.linalg.svd(B @ Q, full_matrices=False)
        right = Q @ Vt.T
        return roots[0][:, None] * (U * s)[:, :keep], roots[1][:, None] * right[:, :keep]


def _symmetric(T: Array) -> Array:
    return np.asarray(0.5 * (T + T.T))
