"""Random numbers inside compiled loops: a state of one number each, so that threads share none."""

from __future__ import annotations

from typing import Any

import numpy as np

from assay.compiled import njit


@njit(cache=True, nogil=True)
def next_bits(state: Any) -> Any:
    """Splitmix64 (Steele, Lea and Flood 2014): one step of the state, the next 64 random bits.

    Args:
        state: (1,) unsigned.
    """
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    z = state[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))
