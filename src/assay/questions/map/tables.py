"""A map as tables: where rows lie and how far that can be believed, and what shuffled maps keep."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from assay.data.as_frames import table_of
from assay.questions.map.answer import RowMap


def tables(found: RowMap) -> dict[str, pa.Table]:
    """The numbers behind the finding.

    Args:
        found: the answer.
    """
    return {
        "places": table_of(
            {
                "row": found.rows + 1, "x": found.coordinates[:, 0], "y": found.coordinates[:, 1],
                "neighbours_kept": found.kept, "standing": found.standing,
            }
        ),
        "chance": table_of({"draw": np.arange(1, len(found.chance) + 1), "neighbours_kept": found.chance}),
    }  # fmt: skip
