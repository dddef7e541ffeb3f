"""Are neighbouring rows alike, as they are where the order is time?

Lag correlations of every column and of the leading components, by ranks. Rows that stand in any order are as likely as
not to be alike from one to the next; a table sorted by classes or by one column is not, and is no series. So first the
order is cut where the level changes, and what is left within the parts is tested.

statistic  z = sqrt(n) sum_k w_k r_k / |w|, lags 1 to 5, of each column and component; and their sum over components
chance     standard normal for rows in any order, pooled by the Cauchy rule, which holds however columns are related
verdict    no dependence, weak (runs of a few rows exchanged), or strong (circular shifts): by how many rows are left;
           where rows are alike again some rows later, they are the lines of a grid (shifts over the map); where steps
           are larger after every so many rows, these are of one subject each

Reference: Liu and Xie, Cauchy combination test, JASA 115 (2020).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from assay.arrays import Array, Indices
from assay.evidence.design import Design, Grouped, Placed, Runs, Serial, within_parts
from assay.linalg.noise.cauchy_combination import cauchy_combined
from assay.linalg.ranks import average_ranks

FEWEST_ROWS = 20
_SEEN = 4096  # rows that are looked at, from the first on
_WEIGHTS = np.array([1.0, 0.7, 0.5, 0.35, 0.25])
_AXES = 8
_PARTS, _LEAST_PART = 12, 12
_WEAK, _STRONG = 0.9, 0.65  # of the rows, what is left: above the first nothing is done, below the second shifts
_FADED = 0.1  # a lag correlation that is small
_LINES, _AGAIN = 5, 0.5  # a grid has so many lines at least, and rows one line later are alike again
_SHUFFLES = 5
_STEP, _SURE = 1.2, 1e-4  # rows of one subject: steps between runs larger by so much, by chance so seldom
_OFTEN = 0.8  # of the rows, the most that may have one and the same value
LEVEL = 1e-3


@dataclass(frozen=True, slots=True, eq=False)
class SerialLook:
    """How alike neighbouring rows are.

    Attributes:
        p: chance of as much in rows that stand in any order.
        alike: correlation from row to row in the column that has most.
        column: its number.
        left: share of the rows that are left for the pair of columns that loses most.
        design: how rows depend; None where they do not.
        parts: into how many the order was cut, where levels change.
    """

    p: float
    alike: float
    column: int
    left: float
    design: Design | None
    parts: int


def serial_look(X: Array, *, given: Indices | None = None) -> SerialLook | None:
    """Look at rows in their order; None for too few rows or columns.

    Args:
        X: (n, D) rows.
        given: (n,) place of each row in time where the user told it; then dependence is not in doubt, only its reach.
    """
    place = np.arange(len(X)) if given is None else given
    order = np.argsort(place, kind="stable")[:_SEEN]
    kept, Z, steps = _ranked(X[order], sorted_apart=given is None)
    if len(order) < FEWEST_ROWS or not Z.shape[1]:
        return None
    cuts = np.array([0, len(Z)]) if given is not None else np.union1d(parts(_components(Z)), steps)
    R = within_parts(Z, cuts)
    z, lags = _alike(R, len(cuts) - 1)
    z_axes, _ = _alike(within_parts(_components(Z), cuts), len(cuts) - 1)
    pooled = z_axes.sum() / np.sqrt(len(z_axes))
    every = ndtr(-np.concatenate([z, z_axes, np.full(len(z), pooled)]))
    p, most = float(cauchy_combined(every)), int(z.argmax())
    left = _left(R)
    found = (p <= LEVEL and left < _WEAK) or given is not None
    design = _design(X, place, Z, cuts, left, told=given is not None) if found else None
    return SerialLook(p, float(lags[0, most]), int(kept[most]), left, design, len(cuts) - 1)


def _ranked(X: Array, *, sorted_apart: bool) -> tuple[Indices, Array, Indices]:
    """Numbers of columns that vary enough, their ranks, of length 1, and where the order steps from class to class.

    Without columns that the table is sorted by, and what goes along with those of many values; those of few values are
    classes, at whose ends the order is cut.
    """
    # of a column that nearly always has one value, a few rows side by side would decide
    often = _commonest(X)
    kept = np.flatnonzero(often <= _OFTEN * len(X))
    along: NDArray[np.bool_] = np.zeros(len(kept), dtype=bool)
    smooth, ends = False, np.empty(0, dtype=np.intp)
    if sorted_apart:
        rises = np.diff(X[:, kept], axis=0)
        along = np.asarray((rises >= 0).all(axis=0) | (rises <= 0).all(axis=0))
        for step in rises[:, along].T:
            here = np.flatnonzero(step) + 1
            if len(here) < _PARTS and np.diff([0, *here, len(X)]).min() >= _LEAST_PART:
                ends = np.union1d(ends, here)
            else:
                smooth = True
    kept = kept[~along]
    Z = average_ranks(X[:, kept], axis=0)
    Z = Z - Z.mean(axis=0)
    if smooth:
        t = np.linspace(-1.0, 1.0, len(X))
        basis = np.linalg.qr(np.stack([np.ones_like(t), t, t**2, t**3], axis=1))[0]
        Z = Z - basis @ (basis.T @ Z)
    size = np.linalg.norm(Z, axis=0)
    return kept[size > 0], np.asarray(Z[:, size > 0] / size[size > 0]), ends


def _commonest(X: Array) -> Indices:
    """(D,) how many rows have the commonest value of each column; of many columns, all at once."""
    if X.shape[1] < len(X):
        return np.array([np.unique(x, return_counts=True)[1].max() for x in X.T])
    ordered = np.sort(X, axis=0)
    run = np.ones(X.shape[1], dtype=np.intp)
    most = run.copy()
    for before, row in pairwise(ordered):
        run = np.where(row == before, run + 1, 1)
        np.maximum(most, run, out=most)
    return most


def _components(Z: Array) -> Array:
    """(n, m) leading components, of length 1."""
    m = min(_AXES, *Z.shape)
    n, d = Z.shape
    if d <= n:
        vectors = np.linalg.eigh(Z.T @ Z)[1][:, ::-1][:, :m]
        scores = Z @ vectors
    else:
        scores = np.linalg.eigh(Z @ Z.T)[1][:, ::-1][:, :m]
    size = np.linalg.norm(scores, axis=0)
    return np.asarray(scores[:, size > 1e-6] / size[size > 1e-6])


def parts(S: Array) -> Indices:
    """Where the level of any component changes: parts of at least 12 rows, at most 12, each cut beyond chance.

    Args:
        S: (n, m) components in the order of the rows.
    """
    n, m = S.shape
    enough = m + 4.0 * np.sqrt(2.0 * m) + 12.0  # of a sum of m squares, for the best of some hundred places
    cuts = [0, n]
    while len(cuts) <= _PARTS:
        tried = [_best_cut(S[a:b], a) for a, b in pairwise(cuts) if b - a >= 2 * _LEAST_PART]
        gain, at = max(tried, default=(0.0, 0))
        if gain < enough:
            break
        cuts = sorted([*cuts, at])
    return np.array(cuts)


def _best_cut(S: Array, start: int) -> tuple[float, int]:
    n = len(S)
    centred = S - S.mean(axis=0)
    sums = np.cumsum(centred, axis=0)[_LEAST_PART - 1 : n - _LEAST_PART]
    before = np.arange(_LEAST_PART, n - _LEAST_PART + 1, dtype=np.float64)
    variance = np.maximum(centred.var(axis=0), 1e-300)
    gain = (sums**2 / variance).sum(axis=1) * n / (before * (n - before))
    best = int(gain.argmax())
    return float(gain[best]), start + _LEAST_PART + best


def _alike(R: Array, n_parts: int) -> tuple[Array, Array]:
    """(D,) weighted sum of lag correlations, standard normal for rows in any order; (lags, D) the correlations."""
    n = len(R)
    lags = np.stack([np.einsum("ij,ij->j", R[k:], R[:-k]) for k in range(1, len(_WEIGHTS) + 1)])
    return np.asarray(np.sqrt(n) * (_WEIGHTS @ (lags + n_parts / n)) / np.linalg.norm(_WEIGHTS)), lags


def _left(R: Array) -> float:
    """Share of the rows left for the pair of columns that loses most; of a column and its like if there is no pair.

    Columns that go together share the noise of their periodograms, which looks like fewer rows; so it is compared with
    that of the same rows in other orders.
    """
    n = len(R)
    design = Serial(n, np.arange(n), 1)
    rng = np.random.default_rng(0)
    shuffled = np.mean([design.least_effective(R[rng.permutation(n)]) for _ in range(_SHUFFLES)])
    return min(1.0, float(design.least_effective(R) / shuffled))


def _design(X: Array, place: Indices, Z: Array, cuts: Indices, left: float, *, told: bool) -> Design:
    n, seen = len(X), len(Z)
    memory = min(max(_memory(Z, 0.75), 2), max(n // 4, 1))
    if told:
        return Serial(n, place, memory)
    line = _line(Z, n) if left < _STRONG else 0
    if line:
        return Placed(n, np.stack(np.divmod(place, line), axis=1).astype(np.float64), float(memory))
    run = _run(Z, n)
    if run:
        return Grouped(n, place // run)
    if left < _STRONG:
        return Serial(n, place, memory)
    scaled = np.unique(np.round(cuts * (n / seen)).astype(np.intp))
    return Runs(n, place, max(4, min(2 * _memory(within_parts(Z, cuts), 1.0), n // 10)), scaled)


def _run(Z: Array, n: int) -> int:
    """Rows of one subject, where subjects follow each other with as many rows each; 0 elsewhere."""
    steps = (np.diff(Z, axis=0) ** 2).sum(axis=1)
    best, found = 0.0, 0
    lengths = [run for run in range(2, n // _LINES + 1) if n % run == 0 and 2 * run < len(Z)]
    for run in lengths:
        between = np.arange(1, len(steps) + 1) % run == 0
        outer, inner = steps[between], steps[~between]
        error = np.sqrt(outer.var() / len(outer) + inner.var() / len(inner))
        more = float(outer.mean() - inner.mean())
        sure = error > 0.0 and ndtr(-more / error) * len(lengths) <= _SURE
        explained = len(outer) * len(inner) * more**2  # of the squares of steps: most at the true length
        if sure and outer.mean() > _STEP * inner.mean() and explained > best:
            best, found = explained, run
    return found


def _lags(Z: Array) -> Array:
    """(n / 2, D) correlations with the rows so many places later, from the spectrum."""
    n = len(Z)
    spectrum = np.abs(np.fft.rfft(Z, 2 * n, axis=0)) ** 2
    return np.asarray(np.fft.irfft(spectrum, axis=0)[: n // 2])


def _memory(Z: Array, share: float) -> int:
    """Rows over which correlations fade in such a share of the columns."""
    faded = np.flatnonzero(np.quantile(_lags(Z), share, axis=1) < _FADED)
    return int(faded[0]) if len(faded) else len(Z) // 2


def _line(Z: Array, n: int) -> int:
    """Rows in a line of a grid, where rows are one: alike again, after they had faded, one line later; 0 elsewhere."""
    alike = _lags(Z).mean(axis=1)[: n // _LINES + 1]
    faded = np.flatnonzero(alike < _AGAIN / 2.0)
    line = int(faded[0] + alike[faded[0] :].argmax()) if len(faded) else 0
    return line if line > 1 and n % line == 0 and alike[line] >= _AGAIN else 0
