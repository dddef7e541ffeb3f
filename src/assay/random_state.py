"""What users give as `random_state`, as the one whole number that everything random is drawn from."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from assay.errors import ParameterError

RandomState: TypeAlias = int | np.random.RandomState | np.random.Generator | None

_MOST = 2**31 - 1  # a seed drawn from a generator lies below


def seed_of(random_state: RandomState) -> int:
    """The seed that a `random_state` stands for.

    Args:
        random_state: a whole number from 0 on, which is the seed; None for 0, so that results repeat; or a generator of
            NumPy's, `RandomState` or `Generator`, from which a seed is drawn.

    >>> seed_of(3), seed_of(None)
    (3, 0)
    """
    if random_state is None:
        return 0
    if isinstance(random_state, int | np.integer) and not isinstance(random_state, bool) and random_state >= 0:
        return int(random_state)
    draw = getattr(random_state, "integers", None) or getattr(random_state, "randint", None)
    if draw is None:
        raise ParameterError(
            f"random_state is a whole number from 0 on, None or a generator of NumPy's; got {random_state!r}"
        )
    return int(draw(_MOST))
