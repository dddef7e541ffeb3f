"""A map of a network as tables: where nodes lie, and what random graphs give."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from assay.data.as_frames import table_of
from assay.questions.network_map.answer import NetworkMap


def tables(found: NetworkMap) -> dict[str, pa.Table]:
    """The numbers behind the finding.

    Args:
        found: the answer.
    """
    n = len(found.places)
    names = found.names or tuple(map(str, range(n)))
    return {
        "places": table_of(
            {
                "node": list(names), "x": found.places[:, 0], "y": found.places[:, 1], "doubt": found.doubt,
                "links": found.degrees,
            }
        ),
        "chance": table_of({"draw": np.arange(1, len(found.chance) + 1), "statistic": found.chance}),
    }  # fmt: skip
