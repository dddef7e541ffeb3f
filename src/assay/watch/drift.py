"""Do the rows of a window still follow the law of the reference?

rows       u_i (d,), whitened by the law and drawn in to the ellipsoid that holds 90% of the reference, so that a few
           rows far out are anomalies and not drift, and means have their law soon
features   of the mean        f = u
           of the covariance  f = vec((u - m)(u - m)^T), m the mean of the reference rows
           of the subspace    f_ab = (v_a^T z)(v_b^T z) / (l_a - l_b), z the row in units of the columns, v the axes of
                              its correlation with eigenvalues l, a among the k leading ones, b among the others: to
                              first order, the squares of its mean add up to those of the sines of the principal angles
statistic  |mean f over the window - mean f over the reference|^2
chance     (1 / n_w + 1 / n_r) sum_i w_i chi2_1, w the eigenvalues of the covariance of f, which are known from the
           reference with its degrees of freedom (linalg.quadratic_form)
dependent  rows that depend on those before: f is averaged over runs of rows, longer than they remember, and w is that
           of the averages; whether rows do, the products of rows and later ones tell
looks      window j of each of the three may spend level / 3 j (j + 1), which adds up to level for ever

The reference rows here took no part in the law: given the law, they and the rows of a window have the same chance.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal, TypeAlias, get_args

import numpy as np
from scipy.linalg import eigvalsh

from assay.arrays import Array
from assay.linalg.eigen.spectral import eigen_symmetric
from assay.linalg.normal.shrinkage import ledoit_wolf
from assay.watch._kernels import draw_in
from assay.watch.law import RowLaw
from assay.watch.quadratic_form import QuadraticForm

Aspect: TypeAlias = Literal["mean", "covariance", "subspace"]
ASPECTS: tuple[Aspect, ...] = get_args(Aspect)

FEWEST = 50  # rows, or runs of rows, of the reference without which nothing is tested
_BULK = 0.9
_LAGS = 30
_NOTICED = 4.1  # standard errors: a chance of .001 over the lags that are looked at
_MOST_AXES = 5
_MOST_PRODUCTS = 30_000_000  # products of two columns that are held


@dataclass(frozen=True, eq=False)
class Aspects:
    """What is known of the reference, for one aspect after the other.

    Attributes:
        law: that rows are measured by.
        limit: squared distance to which rows are drawn in.
        rows: of the reference, drawn in.
        run: rows over which features are averaged; 1 where rows do not depend on each other.
        mean: (d,) of the reference rows.
        spread: (d, d) covariance of the reference rows.
        leading: k, dimension of the leading subspace; 0 where none stands out.
        weights: for each aspect, of the sum of squares that chance gives; empty where it is not tested.
    """

    law: RowLaw
    limit: float
    rows: int
    run: int
    mean: Array
    spread: Array
    leading: int
    weights: dict[str, Array]

    @classmethod
    def of(cls, law: RowLaw, columns: Array, fitted: int) -> Aspects:
        """From the reference.

        Args:
            law: of other rows.
            columns: (d, n) reference rows in their order, without gaps.
            fitted: rows behind the law.
        """
        whitened, far = law.whitened(columns)
        limit = float(np.quantile(far, _BULK)) if len(far) else 0.0
        draw_in(whitened, far, limit)
        U = np.ascontiguousarray(whitened.T)
        n, d = U.shape
        mean = U.mean(axis=0) if n else np.zeros(d)
        centred = U - mean
        run = memory(centred)
        weights: dict[str, Array] = {aspect: np.empty(0) for aspect in ASPECTS}
        leading = _leading(law, fitted)
        if n // run >= FEWEST:
            weights["mean"] = _spectrum(_averaged(centred, run))
            weights["covariance"] = _spectrum_of_products(centred, run)
            if leading:
                weights["subspace"] = _spectrum(_averaged(_turns(law, leading, centred), run))
        return cls(law, limit, n, run, mean, centred.T @ centred / max(n, 1), leading, weights)

    @property
    def dependent(self) -> bool:
        """Whether rows depend on those before."""
        return self.run > 1

    def limits(self) -> list[str]:
        """What cannot be said, in words that stand before a count."""
        if not any(map(len, self.weights.values())):
            dependent = f"rows depend on those before, over some {self.run} rows"
            why = dependent if self.dependent else "rows without gaps are few"
            return [f"drift cannot be told from chance here, as {why}: give a longer reference"]
        if self.dependent:
            return [f"rows depend on those before, so that alerts are suggestive; averages are over {self.run} rows"]
        return []

    def drawn_in(self, whitened: Array, far: Array) -> Array:
        """(d, n) whitened rows, drawn in; they are overwritten."""
        draw_in(whitened, far, self.limit)
        return whitened

    @cached_property
    def _chance(self) -> dict[str, QuadraticForm]:
        dof = max(self.rows // self.run - 1.0 - len(self.mean), 5.0)
        return {aspect: QuadraticForm(w, dof) for aspect, w in self.weights.items() if len(w)}

    @cached_property
    def _turning(self) -> tuple[Array, Array, Array]:
        return _axes(self.law, self.leading)

    def judged(self, window: Array) -> dict[Aspect, float]:
        """P of each aspect that can be tested, for (n, d) rows of a window, drawn in."""
        n = len(window)
        mean = window.mean(axis=0)
        centred = window - mean
        change = centred.T @ centred / (n - 1.0) - self.spread * (self.rows / (self.rows - 1.0))
        size = 1.0 / n + 1.0 / self.rows
        found: dict[Aspect, float] = {}
        for aspect, chance in self._chance.items():
            if aspect == "mean":
                square = float(((mean - self.mean) ** 2).sum())
                found["mean"] = chance.quick_tail(square / size)
            elif aspect == "covariance":
                found["covariance"] = chance.quick_tail(float((change**2).sum()) / size)
            else:
                lead, rest, gaps = self._turning
                turned = (lead.T @ change @ rest) / gaps
                found["subspace"] = chance.quick_tail(float((turned**2).sum()) / size)
        return found

    def shift(self, columns: Array) -> Array:
        """(d,) how far the mean of (d, n) rows as they came moved, in standard deviations of the columns."""
        return np.asarray((columns.mean(axis=1) - self.law.location) / self.law.scale)

    def moved_back(self, columns: Array) -> Array:
        """(n, d) rows drawn in, after (d, n) rows as they came were moved to where the law has its centre.

        Rows about another mean are drawn in unevenly, which would change their covariance.
        """
        centred = columns - (columns.mean(axis=1) - self.law.location)[:, None]
        return self.drawn_in(*self.law.whitened(centred)).T

    def change(self, window: Array) -> Array:
        """(d, d) how the covariance changed, in units of the standard deviations of the columns."""
        centred = window - window.mean(axis=0)
        gap = centred.T @ centred / (len(window) - 1.0) - self.spread * (self.rows / (self.rows - 1.0))
        L = self.law.factor / self.law.scale[:, None]
        return np.asarray(L @ gap @ L.T)

    def angle(self, window: Array) -> float:
        """Largest principal angle between the leading subspaces, in degrees."""
        L = self.law.factor / self.law.scale[:, None]
        before = L @ self.spread @ L.T
        both = before, before + self.change(window)
        axes = [eigen_symmetric((C + C.T) / 2.0).vectors[:, : self.leading] for C in both]
        cosine = np.linalg.svd(axes[0].T @ axes[1], compute_uv=False).min()
        return float(np.degrees(np.arccos(np.clip(cosine, 0.0, 1.0))))


def spent(level: float, look: int) -> float:
    """Level of one aspect at look 1, 2, ...; over all looks and aspects they add up to level.

    >>> round(3 * sum(spent(0.05, j) for j in range(1, 100_000)), 5)
    0.05
    """
    return level / len(ASPECTS) / (look * (look + 1.0))


def memory(centred: Array) -> int:
    """Rows over which features are to be averaged so that the averages hardly depend on each other; 1 for none.

    Sums over time of u_t . u_(t+k), and of its square less what that is by chance, are 0 but for noise where rows are
    independent; their noise is known from the same products.
    """
    n = len(centred)
    longest = 1.0
    lags = [k for k in range(1, _LAGS + 1) if n - k > FEWEST]
    squares = np.einsum("ij,ij->i", centred, centred)
    total, spread = float(squares.mean()) if n else 0.0, centred.T @ centred / max(n, 1)
    expected = np.einsum("ij,jk,ik->i", centred, spread, centred) if n else squares
    whole = float((squares**2).mean() - (spread**2).sum()) if n else 0.0
    for kind in ("mean", "covariance"):
        noticed, length = False, 1.0
        for k in lags:
            product = np.einsum("ij,ij->i", centred[:-k], centred[k:])
            if kind == "covariance":
                product = product**2 - expected[:-k] - expected[k:] + float((spread**2).sum())
            error = np.sqrt(float((product**2).sum()))
            z = float(product.sum()) / error if error > 0.0 else 0.0
            noticed |= z > _NOTICED
            if z < 2.0:
                break
            length += 2.0 * float(product.mean()) / (total if kind == "mean" else whole)
        else:
            length *= 2.0  # remembered beyond what was looked at
        if noticed:
            longest = max(longest, length)
    return 1 if longest == 1.0 else int(np.ceil(8.0 * longest))


def _averaged(features: Array, run: int) -> Array:
    """Means over runs of rows, times the root of their length."""
    if run == 1:
        return features
    runs = len(features) // run
    return np.asarray(features[: runs * run].reshape(runs, run, -1).mean(axis=1) * np.sqrt(run))


def _spectrum(features: Array) -> Array:
    """(q,) eigenvalues of the covariance of (n, q) features."""
    centred = features - features.mean(axis=0)
    n, q = centred.shape
    S = centred.T @ centred if q <= n else centred @ centred.T
    return _drawn_together(S / n, q, n, float((np.einsum("ij,ij->i", centred, centred) ** 2).sum()))


def _spectrum_of_products(centred: Array, run: int) -> Array:
    """The same for all products of two columns, whose squares add up to a Frobenius norm."""
    n, d = centred.shape
    q = d * (d + 1) // 2
    rows = centred[: max(_MOST_PRODUCTS // q, FEWEST * run)]
    if q <= len(rows) // run:
        a, b = np.triu_indices(d)
        return _spectrum(_averaged(rows[:, a] * rows[:, b] * np.where(a == b, 1.0, np.sqrt(2.0)), run))
    # more products than rows: inner products of the products are squares of inner products
    rows = centred[: min(n, 3000)]
    runs = len(rows) // run
    G = ((rows @ rows.T) ** 2)[: runs * run, : runs * run].reshape(runs, run, runs, run).mean(axis=(1, 3)) * run
    G = G - G.mean(axis=0) - G.mean(axis=1)[:, None] + G.mean()
    return _drawn_together((G + G.T) / (2.0 * runs), q, runs, float((np.diag(G) ** 2).sum()))


def _drawn_together(S: Array, q: int, n: int, fourth: float) -> Array:
    """(q,) eigenvalues, drawn towards their mean as far as n rows leave them uncertain."""
    values = np.maximum(eigvalsh(S)[::-1][:q], 0.0)
    if not values.any():
        return np.empty(0)
    share = ledoit_wolf(values, q, n, fourth)
    whole = np.zeros(q)
    whole[: len(values)] = values
    return np.asarray((1.0 - share) * whole + share * values.sum() / q) * n / (n - 1.0)


def _leading(law: RowLaw, fitted: int) -> int:
    """How many axes of the correlation stand out of noise, up to the widest gap between them."""
    values = eigen_symmetric(law.correlation).values
    d = len(values)
    edge = (1.0 + np.sqrt(d / max(fitted, 1))) ** 2
    real = min(int((values > edge).sum()), _MOST_AXES, d - 1)
    if real < 1:
        return 0
    return int(np.argmax(values[:real] - values[1 : real + 1])) + 1


def _axes(law: RowLaw, leading: int) -> tuple[Array, Array, Array]:
    """For whitened rows: (d, k) and (d, d - k), which give the scores along both sets of axes; (k, d - k) gaps."""
    found = eigen_symmetric(law.correlation)
    scores = (law.factor / law.scale[:, None]).T @ found.vectors
    gaps = found.values[:leading, None] - found.values[None, leading:]
    return scores[:, :leading], scores[:, leading:], gaps


def _turns(law: RowLaw, leading: int, centred: Array) -> Array:
    lead, rest, gaps = _axes(law, leading)
    products = (centred @ lead)[:, :, None] * (centred @ rest)[:, None, :] / gaps
    return np.asarray(products.reshape(len(centred), -1))
