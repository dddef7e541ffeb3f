"""The first look, strung: the rows and columns drawn in an order in which like ones stand side by side."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from assay.models.embedding.stringing import Strung, stringing
from assay.study.first_look import FirstLook

Array: TypeAlias = NDArray[np.float64]
Indices: TypeAlias = NDArray[np.intp]

KINDS = ("number", "count", "ordered", "boolean")  # where the distance of two values means something
FAR = 3.0  # standard deviations beyond which values are drawn alike, and so are compared alike
FEWEST_ROWS = 3
FEWEST_COLUMNS = 2
DRAWS = 39
CLEAR = 1 / (DRAWS + 1)  # when no shuffle is as smooth: two such claims, of rows and columns, keep to 0.05


@dataclass(frozen=True, slots=True, eq=False)
class StrungTable:
    """An order of the rows and columns drawn.

    Attributes:
        rows: (m,) positions in the sample, in the order strung.
        columns: (d,) numbers of columns, in the order strung.
        by_row, by_column: how smooth each order is, beside chance.
        with_previous: (d,) correlation of each column, as strung, with the one before; NaN for the first.
        with_rows: (d,) its correlation with the order of the rows.
    """

    rows: Indices
    columns: Indices
    by_row: Strung
    by_column: Strung
    with_previous: Array
    with_rows: Array


def strung_table(look: FirstLook, rows: Indices, columns: Indices, *, seed: int = 0) -> StrungTable | None:
    """String the cells that are drawn.

    Values are compared as they are drawn: in standard deviations from the mean of their column, no farther than three.
    A missing value counts as the mean, for the order only.

    Args:
        look: the sample.
        rows: positions in it that are drawn.
        columns: numbers of the columns drawn; those of other kinds, without spread or without a value are left out.
        seed: of the shuffles that say what chance gives.

    Returns:
        None for fewer than 3 rows or 2 such columns.
    """
    known = (look.scale > 0) & (look.scale < np.inf) & np.isfinite(look.centre)
    fit = [j for j in np.sort(columns) if look.kinds[j] in KINDS and known[j]]
    values = look.values[np.ix_(rows, fit)]
    with np.errstate(all="ignore"):  # what overflows is far
        z = (values - look.centre[fit]) / look.scale[fit]
    z = np.clip(np.nan_to_num(z, nan=0.0, posinf=FAR, neginf=-FAR), -FAR, FAR)
    kept = np.flatnonzero(np.ptp(z, axis=0) > 0) if len(rows) else np.empty(0, dtype=np.intp)
    if len(rows) < FEWEST_ROWS or len(kept) < FEWEST_COLUMNS:
        return None
    z = z[:, kept]
    by_row = stringing(z, axis="rows", standardise=False, draws=DRAWS, random_state=seed)
    by_column = stringing(z, axis="columns", draws=DRAWS, random_state=seed)
    u = z[by_row.order][:, by_column.order]
    u = (u - u.mean(axis=0)) / u.std(axis=0)
    place = np.arange(len(u)) - (len(u) - 1) / 2
    return StrungTable(
        rows=rows[by_row.order],
        columns=np.asarray(fit, dtype=np.intp)[kept][by_column.order],
        by_row=by_row,
        by_column=by_column,
        with_previous=np.append(np.nan, (u[:, 1:] * u[:, :-1]).mean(axis=0)),
        with_rows=place @ u / len(u) / place.std(),
    )
