"""What support vector regression is over a range of prices."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assay.arrays import Array


@dataclass(frozen=True, slots=True, eq=False)
class SVRPath:
    """One machine for each price, each the start of the next.

    Attributes:
        C: (k,) the prices, rising.
        objective: (k,) of the dual.
        n_support: (k,) rows with a weight.
        iterations: (k,) steps of the solver.
        kkt_residual: (k,) largest violation of the conditions of a solution.
        held_out_error: (k,) mean absolute error on the rows kept aside; None without any.
    """

    C: Array
    objective: Array
    n_support: NDArray[np.int64]
    iterations: NDArray[np.int64]
    kkt_residual: Array
    held_out_error: Array | None
