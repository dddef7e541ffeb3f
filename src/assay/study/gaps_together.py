"""Which columns are missing in the same rows: for the profile of each column, whatever questions are asked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from assay.asking.gap_patterns import missing_sets
from assay.asking.table import FirstLook
from assay.data.as_frames import records_of

if TYPE_CHECKING:
    import pyarrow as pa

_COLUMNS = 500  # of those that lack a value, the ones that lack most
_PATTERNS = 200  # sets of columns that are missing together, the commonest
_BESIDE = 5  # columns told beside each
_RECORD = {"column": str, "with": str, "rows": int, "share": float}


@dataclass(frozen=True, slots=True)
class Beside:
    """A column that is missing where another one is.

    Attributes:
        column: its name.
        rows: that lack both.
        share: of the gaps of the other one.
    """

    column: str
    rows: int
    share: float


@dataclass(frozen=True, slots=True)
class GapsTogether:
    """Which columns are missing in the same rows.

    Attributes:
        rows: that were looked at, drawn fairly where there are many.
        patterns: sets of columns that are missing together and no others, with their rows, the commonest first; an
            empty set for complete rows.
        beside: by column that lacks a value, those most often missing with it, the most frequent first.
    """

    rows: int
    patterns: tuple[tuple[tuple[str, ...], int], ...]
    beside: dict[str, tuple[Beside, ...]]

    def as_dict(self) -> dict[str, Any]:
        """As JSON-ready values."""
        return {
            "rows_looked_at": self.rows,
            "patterns": [{"missing": list(columns), "rows": rows} for columns, rows in self.patterns],
            "columns": {
                name: [{"column": one.column, "rows": one.rows, "share": one.share} for one in others]
                for name, others in self.beside.items()
            },
        }

    def table(self) -> pa.Table:
        """Each column with those that are missing with it, one pair a row."""
        pairs = [
            {"column": name, "with": one.column, "rows": one.rows, "share": one.share}
            for name, others in self.beside.items()
            for one in others
        ]
        return records_of(pairs, _RECORD)


def gaps_together(look: FirstLook | None) -> GapsTogether | None:
    """Which columns are missing together, in the rows drawn; None where no value is missing.

    Args:
        look: the rows; None where there are none.

    >>> values = np.array([[1.0, np.nan, np.nan], [2.0, np.nan, 3.0], [1.0, 2.0, 3.0]])
    >>> kinds, units = ("number",) * 3, (None,) * 3
    >>> look = FirstLook(("a", "b", "c"), kinds, units, np.arange(1, 4), values, np.zeros(3), np.ones(3))
    >>> gaps_together(look).beside
    {'b': (Beside(column='c', rows=1, share=0.5),), 'c': (Beside(column='b', rows=1, share=1.0),)}
    """
    if look is None or not len(look.values):
        return None
    counts = np.isnan(look.values).sum(axis=0)
    lacking = np.flatnonzero(counts)
    if not len(lacking):
        return None
    most = np.sort(lacking[np.argsort(-counts[lacking], kind="stable")[:_COLUMNS]])
    names = [look.columns[j] for j in most]
    absent = np.isnan(look.values[:, most])
    # so few rows that whole numbers are exact
    both = absent.T.astype(np.float32) @ absent.astype(np.float32)
    return GapsTogether(len(absent), tuple(missing_sets(absent, names, _PATTERNS)), _beside(both, names))


def _beside(both: NDArray[np.float32], names: list[str]) -> dict[str, tuple[Beside, ...]]:
    own = np.diag(both)
    found = {}
    for i, name in enumerate(names):
        order = np.argsort(-both[i], kind="stable")
        others = [j for j in order.tolist() if j != i and both[i, j] > 0][:_BESIDE]
        found[name] = tuple(Beside(names[j], int(both[i, j]), float(both[i, j] / own[i])) for j in others)
    return found
