"""Two sets of columns as tables: the pairs tested, what they are made of, where rows lie along them."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from assay.data.as_frames import table_of
from assay.questions.canonical.answer import Canonical


def tables(found: Canonical) -> dict[str, pa.Table]:
    """The numbers behind the finding.

    Args:
        found: the answer.
    """
    tested, k = len(found.p), found.n_pairs
    made = {
        "pairs": table_of(
            {
                "pair": np.arange(1, tested + 1), "correlation": found.correlations[:tested],
                "held_out": found.held_out[:tested], "p": found.p, "stands": np.arange(tested) < k,
            }
        )
    }  # fmt: skip
    if k:
        loadings = np.concatenate([side[:, :k] for side in found.loadings])
        sides = [name for name, own in zip(found.sides, found.columns, strict=True) for _ in own]
        columns = [name for own in found.columns for name in own]
        made["loadings"] = table_of(
            {"side": sides, "column": columns, **{f"pair_{j + 1}": loadings[:, j] for j in range(k)}}
        )
        made["variates"] = table_of(
            {
                "place": np.arange(1, len(found.variates[0]) + 1),
                **{f"side_{s + 1}_pair_{j + 1}": found.variates[s][:, j] for s in range(2) for j in range(k)},
            }
        )
    return made
