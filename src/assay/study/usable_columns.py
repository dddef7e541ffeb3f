"""Which columns of the data can be used, and why the others cannot."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import numpy as np
from numpy.typing import NDArray

from assay.arrays import Indices
from assay.asking.table import NumberedBlocks
from assay.data.columns.column_stats import ColumnStats
from assay.data.columns.encoding import Encoding
from assay.errors import DataError
from assay.study.complete_blocks import CompleteTally, Missing, Progress, tallied
from assay.study.profile import Profile
from assay.study.row_dependence.copies import Copies

FEWEST_ROWS = 3
FEWEST_VALUES = 20  # of a column that lacks more than half of them
# Beyond this many numbers a row, their (D, D) moments are larger than the rows they stand for are likely to be.
WIDEST = 4000
NOT_DRAWN = "not drawn"
_COPIES = 4  # of columns that were drawn, questions may hold so many: ranks, indicators, rows that others stand in for
_REACH = 1e140


def unusable(profile: Profile, dropped: set[str], missing: Missing) -> dict[str, str]:
    """Columns that cannot be used whatever their encoding, and why.

    Args:
        profile: what one pass told.
        dropped: columns left out for other reasons.
        missing: what is done with gaps; where rows with gaps are left out, a column that mostly lacks its value would
            take most rows with it.
    """
    why = {}
    for known, stats in zip(profile.stats.settled, profile.columns, strict=True):
        gaps = _gaps(stats)
        if known.name in dropped or known.kind in ("identifier", "constant", "empty", "other"):
            continue
        if gaps == profile.rows:
            why[known.name] = "no values"
        elif 2 * gaps > profile.rows and (missing == "drop" or profile.rows - gaps < FEWEST_VALUES):
            why[known.name] = f"{gaps:,} of {profile.rows:,} values missing"
        elif known.kind in ("number", "count") and _out_of_reach(stats.low, stats.high):
            why[known.name] = (
                f"values from {stats.low:g} to {stats.high:g}, whose squares leave the range of numbers: rescale it"
            )
        elif known.kind in ("number", "count", "ordered", "boolean", "time") and stats.low == stats.high:
            why[known.name] = f"constant ({stats.low:g})" if known.kind != "time" else "constant"
    return why


def mostly_missing(profile: Profile) -> frozenset[str]:
    """Columns that have values but lack more than half of them."""
    columns = zip(profile.stats.settled, profile.columns, strict=True)
    return frozenset(known.name for known, stats in columns if profile.rows < 2 * _gaps(stats) < 2 * profile.rows)


def not_drawn(encoding: Encoding, rows: int, held: int, always: Collection[str], seed: int) -> frozenset[str]:
    """Columns left out at random where all would be too many to hold rows of them, and too many for their moments.

    What is left either fits, or is so few that moments of all rows stand for them. Columns are drawn whole, each with
    the same chance, whatever they hold.

    Args:
        encoding: what the columns became.
        rows: how many there are.
        held: bytes of numbers that may be held.
        always: columns that stay.
        seed: of the draw.
    """
    widths = np.array([column.outputs for column in encoding.columns])
    if widths.sum() <= max(WIDEST, held // (8 * max(rows, 1))):
        return frozenset()
    most = max(WIDEST, held // (8 * _COPIES * max(rows, 1)))
    order = np.random.default_rng(seed).permutation(len(widths))
    last = np.array([encoding.columns[j].name not in always for j in order], dtype=bool)
    order = order[np.argsort(last, kind="stable")]
    out = order[np.cumsum(widths[order]) > most]
    return frozenset(encoding.columns[j].name for j in out if widths[j])


def varying(
    name: str,
    blocks: NumberedBlocks,
    encoding: Encoding,
    aside: dict[str, str],
    missing: Missing,
    rows: int,
    *,
    maybe_none: bool,
    progress: Progress | None = None,
) -> tuple[Indices, CompleteTally, Copies]:
    """The encoded columns that vary in the rows in use; what varies only in rows left out does not vary.

    Args:
        name: of the data.
        blocks: (b, D) encoded, NaN where missing.
        encoding: what the columns became.
        aside: by name, why a column is not used; what is found here is added.
        missing: what is done with gaps.
        rows: how many there are.
        maybe_none: whether there may be none of them, as where too much is missing: then that can still be asked about.
        progress: told how many blocks of a pass are done.

    Returns:
        numbers of the columns, what is in them, and rows that are copies of others.
    """
    used = np.flatnonzero(~mirrored(encoding))
    while True:
        if not len(used) and not maybe_none:
            raise _nothing(name, aside)
        tally, copies = tallied(blocks, used, missing, rows, progress)
        if tally.rows < FEWEST_ROWS and len(used):
            raise too_few(name, rows, tally.rows)
        flat = ~(tally.low < tally.high)
        if not flat.any():
            return used, tally, copies
        used = used[~flat]
        left = {encoding.source_column(int(j)) for j in used}
        for column in encoding.columns:
            if column.used and column.name not in left and column.name not in aside:
                aside[column.name] = "constant in the rows in use"


def too_few(name: str, rows: int, complete: int) -> DataError:
    """What is said where rows are too few.

    Args:
        name: of the data.
        rows: how many there are.
        complete: how many could be used.
    """
    counted = f"{rows} {'row' if rows == 1 else 'rows'}, {complete} of them complete"
    return DataError(f"{name} has {counted}; at least {FEWEST_ROWS} are needed")


def _nothing(name: str, aside: Mapping[str, str]) -> DataError:
    reasons = ", ".join(f"{column} ({why})" for column, why in list(aside.items())[:8])
    links = any("ends of links" in why for why in aside.values())
    remedy = "assay.read_network reads a list of links" if links else "at least one is needed"
    return DataError(f"{name} has no column that can be used: {reasons}; {remedy}")


def _gaps(stats: ColumnStats) -> int:
    return stats.missing + stats.bad + stats.not_finite


def _out_of_reach(low: float, high: float) -> bool:
    return max(abs(low), abs(high)) > _REACH or 0.0 < high - low < 1.0 / _REACH


def mirrored(encoding: Encoding) -> NDArray[np.bool_]:
    """(D,) the first of two levels, which says nothing that the second does not.

    Args:
        encoding: what columns became.
    """
    first = np.zeros(len(encoding.names), dtype=bool)
    for column, span in zip(encoding.columns, encoding.spans, strict=True):
        if column.kind == "category" and span.stop - span.start == 2:
            first[span.start] = True
    return first
