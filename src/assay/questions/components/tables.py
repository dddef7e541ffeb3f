"""Components as tables: the spectrum, what components are made of, where rows lie along them."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from assay.data.as_frames import table_of
from assay.questions.components.answer import Components


def tables(found: Components) -> dict[str, pa.Table]:
    """The numbers behind the finding.

    Args:
        found: the answer.
    """
    r, tested, real = len(found.values), len(found.tested), found.n_real
    spectrum = table_of(
        {
            "component": np.arange(1, r + 1),
            "eigenvalue": found.values,
            "share": found.share,
            "held_out_share": _padded(found.held_out, r),
            "held_out_low": _padded(found.held_out_interval[:, 0], r),
            "held_out_high": _padded(found.held_out_interval[:, 1], r),
            "chance_median": _padded(found.chance_median, r),
            "chance_upper": _padded(found.chance_upper, r),
            "p": _padded(np.array([np.nan if e.p is None else e.p for e in found.tested]), r),
            "q": _padded(np.array([np.nan if e.q is None else e.q for e in found.tested]), r),
            "verdict": pa.array([e.verdict for e in found.tested] + [None] * (r - tested), pa.string()),
            "direction_known": pa.array([*found.holds, *[None] * (r - tested)], pa.bool_()),
        }
    )
    if not real:
        return {"spectrum": spectrum}
    along = {f"component_{j + 1}": found.loadings[:, j] for j in range(min(real, found.loadings.shape[1]))}
    made = {"spectrum": spectrum, "loadings": table_of({"column": found.columns, **along})}
    every = found.every_score
    scores, rows = (found.scores, found.score_rows) if every is None else (every, np.arange(len(every)))
    if len(scores):
        where = {f"component_{j + 1}": scores[:, j] for j in range(min(real, scores.shape[1]))}
        made["scores"] = table_of({"row": np.asarray(rows) + 1, **where})
    return made


def _padded(values: np.ndarray, length: int) -> np.ndarray:
    """As many as there are components; those that were not asked about are not known."""
    return np.concatenate([values[:length], np.full(max(length - len(values), 0), np.nan)])
