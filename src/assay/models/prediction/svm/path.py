"""What a support vector machine is over a range of prices."""

from __future__ import annotations

from dataclasses import dataclass

from assay.arrays import Array, Whole


@dataclass(frozen=True, slots=True, eq=False)
class SVMPath:
    """One machine for each price, each the start of the next.

    Attributes:
        C: (k,) the prices, rising.
        objective: (k, p) of the dual, for each pair of classes.
        margin: (k, p) one over the length of w.
        n_support: (k,) rows with a weight.
        iterations: (k,) steps of the solver, over all pairs.
        kkt_residual: (k,) largest violation of the conditions of a solution.
        held_out_error: (k,) share of the rows kept aside that get another class than their own; None without any.
    """

    C: Array
    objective: Array
    margin: Array
    n_support: Whole
    iterations: Whole
    kkt_residual: Array
    held_out_error: Array | None
