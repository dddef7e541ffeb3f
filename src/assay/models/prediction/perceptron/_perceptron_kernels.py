"""The perceptron's walk over rows. Imported only when it runs."""

from __future__ import annotations

from typing import Any

from assay.compiled import njit


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def walk(Z: Any, codes: Any, order: Any, start: int, stop: int, W: Any, U: Any, state: Any, scores: Any) -> int:
    """Visit rows order[start:stop]; correct W (k, e) at each mistake, and U by the step times the correction.

    A mistake is a row whose own class does not score above every other. State holds [steps, mistakes, run, longest]:
    run counts the rows in a row that W got right. Where a run ends that is longer than the longest before, the walk
    stops before the correction, so that W can be looked at: `longest` is set to it, and the row is visited again.
    Returns the place in the order to go on from.
    """
    k, e = W.shape
    for place in range(start, stop):
        i = order[place]
        x, own = Z[i], codes[i]
        for c in range(k):
            total = 0.0
            w = W[c]
            for j in range(e):
                total += w[j] * x[j]
            scores[c] = total
        rival = 1 if own == 0 else 0
        for c in range(k):
            if c != own and scores[c] > scores[rival]:
                rival = c
        if scores[own] > scores[rival]:
            state[0] += 1
            state[2] += 1
            continue
        if state[2] > state[3]:
            state[3] = state[2]
            return place
        state[1] += 1
        state[2] = 0
        for j in range(e):
            W[own, j] += x[j]
            W[rival, j] -= x[j]
            U[own, j] += state[0] * x[j]
            U[rival, j] -= state[0] * x[j]
        state[0] += 1
    return stop
