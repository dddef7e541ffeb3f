"""Sums of rows released under differential privacy: bounded, whole numbers, with noise of a discrete normal law.

    row       u = (x - c) / h clipped to [-1, 1]^d,  z = round(M u),  M = 1024: whole numbers of modulus at most M
    sums      a = sum of (M^2, M z_i, z_i z_j for i <= j), exactly, in each part
    one row   changes one part, by at most  D = M^2 sqrt((d + 1)(d + 2) / 2)  in length
    release   a + discrete normal noise of scale s in every entry: (D / s)^2 / 2 -zCDP, so (epsilon, delta)-private

A row is in one part only, and in which does not depend on other rows, so that all parts together cost no more than one.
Noise, and the scale for epsilon and delta, are those of OpenDP. Since sums are whole numbers there is no rounding by
which noise of floating point numbers could tell more than it should.

References: Canonne, Kamath and Steinke, The discrete Gaussian for differential privacy (2020). Mironov, On significance
of the least significant bits for differential privacy (2012).
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

from assay.arrays import Array, Whole
from assay.data.columns._codecs import Boolean, LevelCodec, Number
from assay.data.columns.agreed import of_codecs
from assay.data.columns.encoding import Encoding
from assay.data.field import Field
from assay.data.partitions import numbered_blocks
from assay.data.source import Source
from assay.engine.current import map_reduce
from assay.errors import DataError, ParameterError
from assay.linalg import double_double as dd
from assay.summary.moments.moments import Moments
from assay.summary.sharing.release import Release, semidefinite
from assay.summary.sharing.shared import Contribution, SharedMoments

AddNoise: TypeAlias = Callable[[Whole, float], Whole]
Tell: TypeAlias = Callable[[str, int | None, float | None], object]

STEPS = 1 << 10  # M
_WIDEST = 200
_LEAST, _MOST = 0.05, 1e6  # scales over the length, between which lie those of every epsilon that is taken
_EPSILON = (1e-4, 100.0)
_NEEDED = "differential privacy needs the package opendp: pip install 'assay[privacy]'"


def private_summary(
    source: Source,
    by: str | None,
    folds: int,
    drop: Sequence[str],
    like: SharedMoments | Encoding | None,
    groups: Sequence[str],
    bounds: Mapping[str, tuple[float, float]],
    epsilon: float | None,
    delta: float | None,
    *,
    fewest_rows: int,
    tell: Tell,
    noise: AddNoise | None = None,
) -> SharedMoments:
    """See `assay.summarize`.

    Args:
        source, by, folds, drop, like, groups, bounds, epsilon, delta, fewest_rows, tell: as there.
        noise: adds noise of a scale to whole numbers; only tests give one, that of OpenDP is used else.
    """
    if epsilon is None or delta is None or not bounds:
        raise ParameterError("differential privacy takes epsilon, delta and bounds of the columns: give all three")
    if not (_EPSILON[0] <= epsilon <= _EPSILON[1] and 1e-15 <= delta < 0.1):
        raise ParameterError(f"epsilon is from 0.0001 to 100, delta from 1e-15 to 0.1; got {epsilon} and {delta}")
    if by is not None and not (groups or (isinstance(like, SharedMoments) and like.groups)):
        raise ParameterError(
            f"which groups of {by!r} there are is known from rows: with epsilon name them, --group A --group B"
        )
    encoding = _encoding(source, by, drop, like, bounds)
    low, high = _ends(encoding, bounds)
    known = tuple(groups) or (like.groups if isinstance(like, SharedMoments) else ())
    d = len(encoding.names)
    if d > _WIDEST:
        raise ParameterError(f"noise for {d} columns would drown everything: name at most {_WIDEST}")
    parts = folds * max(len(known), 1)
    length = STEPS**2 * float(np.sqrt((d + 1) * (d + 2) / 2))
    scale = noise_scale(length, epsilon, delta)
    sums = _sums(source, encoding, by, known, folds, (low + high) / 2.0, (high - low) / 2.0, tell)
    tell("Adding noise", None, None)
    noisy = (noise or discrete_noise)(sums.ravel(), scale).reshape(sums.shape)
    release = Release(epsilon, delta, scale / STEPS**2, tuple(low.tolist()), tuple(high.tolist()), parts)
    made = tuple(_moments(one, release, encoding.names) for one in noisy / STEPS**2)
    worst = min(part.count for part in made)
    if worst < fewest_rows:
        raise DataError(
            f"noise (standard deviation {release.sigma:.3g} rows) leaves {worst} rows in one of {parts} parts; "
            "take fewer folds or groups, fewer columns, or a larger epsilon; this epsilon counts as spent"
        )
    one = Contribution(secrets.token_hex(16), None, None, release)
    return SharedMoments(encoding, made, folds, by, known, (one,))


@cache
def noise_scale(length: float, epsilon: float, delta: float) -> float:
    """The least scale of noise, by OpenDP's conversion from zero-concentrated to approximate privacy.

    Args:
        length: by which one row can change the sums.
        epsilon, delta: to be kept.
    """
    dp = _opendp()

    def measured(scale: float) -> Any:
        return dp.c.make_fix_delta(dp.c.make_zCDP_to_approxDP(_gaussian(dp, scale)), delta)

    reach = (_LEAST * length, _MOST * length)
    scale: float = dp.binary_search_param(measured, length, (epsilon, delta), bounds=reach)
    return scale


def discrete_noise(values: Whole, scale: float) -> Whole:
    """Whole numbers with noise of OpenDP's discrete normal law, from the randomness of the operating system.

    Args:
        values: the numbers.
        scale: standard deviation, to within a share that is far below rounding here.
    """
    found = _gaussian(_opendp(), scale)(values.tolist())
    return np.array(found, dtype=np.int64)


def _opendp() -> Any:
    try:
        import opendp.prelude as dp
    except ImportError:
        raise ParameterError(_NEEDED) from None
    dp.enable_features("contrib")
    return dp


def _gaussian(dp: Any, scale: float) -> Any:
    return dp.m.make_gaussian(dp.vector_domain(dp.atom_domain(T=dp.i64)), dp.l2_distance(T=float), scale)


def _encoding(
    source: Source, by: str | None, drop: Sequence[str], like: SharedMoments | Encoding | None,
    bounds: Mapping[str, tuple[float, float]],
) -> Encoding:  # fmt: skip
    """That of another site, or the bounded columns as they are: nothing is decided from rows."""
    if like is not None:
        from assay.summary.sharing.summarize import encoding_like

        return encoding_like(like, by, drop)
    names = source.arrow_schema.names
    for column in bounds:
        if column not in names or column == by or column in drop:
            raise ParameterError(f"there is no column {column!r} to bound; there are {', '.join(names[:20])}")
    units = {known.name: known.unit for known in source.schema}
    return of_codecs([(Field(name, "number", units[name]), Number()) for name in names if name in bounds])


def _ends(encoding: Encoding, bounds: Mapping[str, tuple[float, float]]) -> tuple[Array, Array]:
    """(D,) least and largest value of each number."""
    ends: list[tuple[float, float]] = []
    for known, codec, span in zip(encoding.fields, encoding.codecs, encoding.spans, strict=True):
        if isinstance(codec, (Boolean, LevelCodec)):
            ends += [(0.0, 1.0)] * (span.stop - span.start)
            continue
        if known.name not in bounds or span.stop - span.start > 1:
            raise ParameterError(f"bounds of {known.name!r} are needed, and of every column but levels: LOW and HIGH")
        least, most = bounds[known.name]
        if not (np.isfinite(least) and np.isfinite(most) and least < most):
            raise ParameterError(
                f"bounds of {known.name!r} are two numbers, the lower one first; got {least} and {most}"
            )
        logged = isinstance(codec, Number) and codec.log
        if logged and least < 0.0:
            raise ParameterError(f"log(1 + {known.name}) is taken in the other summary: its bounds begin at 0 or above")
        ends.append((float(np.log1p(least)), float(np.log1p(most))) if logged else (float(least), float(most)))
    return np.array([e[0] for e in ends]), np.array([e[1] for e in ends])


def _sums(
    source: Source, encoding: Encoding, by: str | None, known: tuple[str, ...], folds: int, centre: Array, half: Array,
    tell: Tell,
) -> Whole:  # fmt: skip
    """(parts, 1 + d + d (d + 1) / 2) exact sums."""
    from assay.summary.sharing.summarize import group_codes, unknown_levels

    d, parts = len(centre), folds * max(len(known), 1)
    upper = np.triu_indices(d)

    def work(numbered: tuple[int, pa.RecordBatch]) -> Whole:
        _, batch = numbered
        rows = encoding.transform(batch)
        _, codes = group_codes(batch, by, known)
        fold = np.random.default_rng(secrets.randbits(128)).integers(0, folds, len(rows))
        use = ~(np.isnan(rows).any(axis=1) | (codes < 0) | unknown_levels(rows, encoding))
        label = (codes * folds + fold)[use]
        z = np.rint(STEPS * np.clip((rows[use] - centre) / half, -1.0, 1.0))
        found = np.zeros((parts, 1 + d + len(upper[0])), dtype=np.int64)
        for part in np.unique(label).tolist():
            own = z[label == part]  # whole numbers whose sums stay below 2^53: floating point is exact here
            found[part, 0] = STEPS**2 * len(own)
            found[part, 1 : 1 + d] = STEPS * own.sum(axis=0)
            found[part, 1 + d :] = (own.T @ own)[upper]
        return found

    whole: Whole = map_reduce(
        numbered_blocks(source),
        work,
        np.add,
        progress=lambda done: tell("Summing", source.rows_read, source.fraction_read),
    )
    return whole


def _moments(sums: Array, release: Release, names: tuple[str, ...]) -> Moments:
    """Moments of noisy sums, made such that rows could have them."""
    d = len(names)
    n, S = float(sums[0]), sums[1 : 1 + d]
    Q = np.zeros((d, d))
    Q[np.triu_indices(d)] = sums[1 + d :]
    Q = Q + np.triu(Q, 1).T
    count = max(round(n), 0)
    if count < 1:
        return Moments.empty(d, names)
    mean = np.clip(S / n, -1.0, 1.0)
    scatter = semidefinite(Q - n * np.outer(mean, mean))
    h = release.half
    return Moments(
        count, dd.pair(float(count)), dd.pair(release.centre + h * mean), dd.pair(np.outer(h, h) * scatter), names
    )
