"""Several moments of the same columns as a few arrays for a file, and back, with a look at whether they can be true."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import scipy.linalg as sla
from numpy.typing import NDArray

from assay.errors import FileFormatError
from assay.summary.moments.moments import Moments

Arrays: TypeAlias = dict[str, NDArray[Any]]

_NAMES = ("weight", "mean", "scatter")
_ROUNDING = 1e-8  # of a correlation: far more than sums of billions of rows leave


def stacked(parts: Sequence[Moments]) -> tuple[dict[str, Any], Arrays]:
    """Header and arrays of a file: (g,) weights, (g, d) means and (g, d, d) scatters, each in two words.

    Args:
        parts: g moments of the same columns, at least one.
    """
    pairs = [(m.weight_pair, m.mean_pair, m.scatter_pair) for m in parts]
    arrays: Arrays = {
        f"{name}_{word}": np.stack([np.asarray(pair[i][j]) for pair in pairs])
        for i, name in enumerate(_NAMES)
        for j, word in enumerate(("high", "low"))
    }
    names = parts[0].columns
    return {"counts": [m.count for m in parts], "columns": None if names is None else list(names)}, arrays


def unstacked(header: dict[str, Any], arrays: Arrays) -> tuple[Moments, ...]:
    """The moments that a file holds; what no rows can have is refused.

    Args:
        header: of the file.
        arrays: of the file.
    """
    counts, names = header["counts"], header["columns"]
    stacks = [(arrays[f"{name}_high"], arrays[f"{name}_low"]) for name in _NAMES]
    d, g = stacks[1][0].shape[-1] if stacks[1][0].ndim else 0, len(counts)
    for (name, both), shape in zip(zip(_NAMES, stacks, strict=True), ((g,), (g, d), (g, d, d)), strict=True):
        for word in both:
            if word.shape != shape:
                raise FileFormatError(f"its {name} has shape {word.shape}, not {shape}")
    columns = None if names is None else tuple(map(str, names))
    (weight, weight_low), (mean, mean_low), (scatter, scatter_low) = stacks
    return tuple(
        possible(
            Moments(count, (weight[i], weight_low[i]), (mean[i], mean_low[i]), (scatter[i], scatter_low[i]), columns)
        )
        for i, count in enumerate(counts)
    )


def possible(m: Moments) -> Moments:
    """The same moments; refused where no rows can have them.

    Args:
        m: from a file.
    """
    if isinstance(m.count, bool) or not isinstance(m.count, int) or m.count < 0:
        raise FileFormatError(f"a count of rows is a whole number; it has {m.count!r}")
    if m.columns is not None and (len(m.columns) != m.d or len(set(m.columns)) != m.d):
        raise FileFormatError(f"it has {len(m.columns)} names, of which {len(set(m.columns))} differ, of {m.d} columns")
    for name, (high, low) in zip(_NAMES, (m.weight_pair, m.mean_pair, m.scatter_pair), strict=True):
        if {np.asarray(high).dtype, np.asarray(low).dtype} != {np.dtype(np.float64)}:
            raise FileFormatError(f"its {name} is not made of double precision numbers")
        if not (np.isfinite(high).all() and np.isfinite(low).all()):
            raise FileFormatError(f"its {name} is not finite")
        if (np.abs(low) > 2.0**-50 * np.abs(high)).any():
            raise FileFormatError(f"its {name} has a second word that is no rounding of the first")
    if m.weight < 0.0 or (np.diag(m.scatter) < 0.0).any():
        raise FileFormatError("it has a weight or a variance below zero")
    if (m.count == 0 or m.weight == 0.0) and (m.weight or m.mean.any() or m.scatter.any()):
        raise FileFormatError("it has moments of no rows")
    _refuse_indefinite(m.scatter)
    return m


def _refuse_indefinite(S: NDArray[np.float64]) -> None:
    d = len(S)
    if not d:
        return
    spread = np.sqrt(np.diag(S))
    unit = np.where(spread > 0.0, spread, 1.0)
    R = S / unit[:, None] / unit
    if np.abs(R - R.T).max() > _ROUNDING or S[spread == 0.0].any() or np.abs(R).max() > 1.0 + _ROUNDING:
        raise FileFormatError("its scatter is not that of any rows")
    try:
        sla.cholesky((R + R.T) / 2.0 + d * _ROUNDING * np.eye(d), check_finite=False)
    except np.linalg.LinAlgError:
        raise FileFormatError(
            "its scatter is not that of any rows: a sum of columns has a variance below zero"
        ) from None
