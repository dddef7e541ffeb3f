"""A fitted regression at a glance: what is known of it as a whole, then its coefficients."""

from __future__ import annotations

import html
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from assay.data.as_frames import Backend
from assay.models.coefficients import CoefficientTable


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ModelSummary:
    """What `summary()` of a regression gives: print it, let a notebook show it, or take its numbers.

    Attributes:
        lines: the fit as a whole, in words.
        measures: the numbers behind them, by name; NaN for what is not known.
        table: the coefficients.
    """

    lines: tuple[str, ...]
    measures: Mapping[str, float]
    table: CoefficientTable

    def __str__(self) -> str:
        """The lines, then the coefficients."""
        return "\n".join([*self.lines, str(self.table)])

    def __repr__(self) -> str:
        """The same."""
        return str(self)

    def _repr_html_(self) -> str:
        """The same for a notebook."""
        lines = "".join(f"<li>{html.escape(line)}</li>" for line in self.lines[1:])
        return (
            f"<div><p><strong>{html.escape(self.lines[0])}</strong></p><ul>{lines}</ul>{self.table._repr_html_()}</div>"
        )

    def to_frame(self, backend: Backend | None = None) -> Any:
        """The coefficients as a frame, one a row.

        Args:
            backend: "pandas", "polars" or "pyarrow"; None for the first of them that is installed.
        """
        return self.table.to_frame(backend)
