"""Communities as tables: the community of each node, and what each community says of links left out."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from assay.data.as_frames import records_of, table_of
from assay.questions.communities.answer import Clustered

_EACH = {
    "community": int, "size": int, "central": str, "inside": float, "firm": bool, "comes_back": float,
    "unseen_inside": float, "unseen_expected": float,
}  # fmt: skip


def tables(found: Clustered) -> dict[str, pa.Table]:
    """The numbers behind the finding; communities are counted from 1.

    Args:
        found: the answer.
    """
    sure = np.full(len(found.labels), np.nan) if found.left is None else found.left.sure
    each = [
        {**one, "community": c, "central": ", ".join(one["central"])}
        for c, one in enumerate(found.numbers()["communities"], 1)
    ]
    return {
        "labels": table_of(
            {
                "node": [found.node_name(i) for i in range(len(found.labels))], "community": found.labels + 1,
                "sure": sure,
            }
        ),
        "communities": records_of(each, _EACH),
    }  # fmt: skip
