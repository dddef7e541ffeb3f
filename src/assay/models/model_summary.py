"""A fitted predictor at a glance: what is known of it as a whole, then its coefficients where it has some."""

from __future__ import annotations

import html
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from assay.data.as_frames import Backend
from assay.errors import ParameterError
from assay.models.coefficients import CoefficientTable
from assay.shown import visible


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ModelSummary:
    """What `summary()` of a predictor gives: print it, let a notebook show it, or take its numbers.

    Attributes:
        lines: the fit as a whole, in words.
        measures: the numbers behind them, by name; NaN for what is not known.
        table: the coefficients; None where the model has none.
    """

    lines: tuple[str, ...]
    measures: Mapping[str, float]
    table: CoefficientTable | None

    def __str__(self) -> str:
        """The lines, then the coefficients."""
        return "\n".join([*map(visible, self.lines), *([] if self.table is None else [str(self.table)])])

    def __repr__(self) -> str:
        """The same."""
        return str(self)

    def _repr_html_(self) -> str:
        """The same for a notebook."""
        lines = "".join(f"<li>{html.escape(visible(line))}</li>" for line in self.lines[1:])
        table = "" if self.table is None else self.table._repr_html_()
        return f"<div><p><strong>{html.escape(visible(self.lines[0]))}</strong></p><ul>{lines}</ul>{table}</div>"

    def to_frame(self, backend: Backend | None = None) -> Any:
        """The coefficients as a frame, one a row.

        Args:
            backend: "pandas", "polars" or "pyarrow"; None for the first of them that is installed.
        """
        if self.table is None:
            raise ParameterError(
                f"{self.lines[0].partition(':')[0]} has no coefficients here; `measures` has its numbers"
            )
        return self.table.to_frame(backend)
