"""Tastes as tables: errors beside yardsticks, and items along their factors."""

from __future__ import annotations

import pyarrow as pa

from assay.data.as_frames import records_of, table_of
from assay.questions.tastes.answer import Tastes


def tables(found: Tastes) -> dict[str, pa.Table]:
    """The numbers behind the findings.

    Args:
        found: the answer.
    """
    errors = [{"method": name, **own} for name, own in found.numbers()["held_out_errors"].items()]
    factors = {f"factor_{j + 1}": found.factors[:, j] for j in range(found.factors.shape[1])}
    return {
        "errors": records_of(errors, {"method": str, "rmse": float, "low": float, "high": float}),
        "items": table_of({"item": list(found.found.ratings.items), "level": found.levels, **factors}),
    }
