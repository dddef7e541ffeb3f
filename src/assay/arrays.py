"""The types of arrays that pass between packages, named once."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[np.float64]
Indices: TypeAlias = NDArray[np.intp]  # positions of rows, columns or groups
Whole: TypeAlias = NDArray[np.int64]  # counts, and positions in compiled loops
Mask: TypeAlias = NDArray[np.bool_]
