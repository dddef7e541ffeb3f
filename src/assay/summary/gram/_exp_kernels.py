"""Compiled powers of two. Imported only when they run: numba takes a second to load.

2^x = 2^w 2^f with w whole and f at most 1/2 in size: a polynomial for 2^f, and w added to the exponent's bits. Compiled
this way eight (or four) values are computed at once; exp of the C library takes them one by one.
"""

from __future__ import annotations

from math import factorial, log
from typing import Any

import numpy as np

from assay.compiled import njit

_NO_NAN = {"contract", "nnan", "nsz"}  # without these flags minima are not taken eight at a time
_STRIP = 2048  # values at a time, so that they stay in the first cache
# Taylor's series of 2^f; what is left out is below half a unit in the last place for |f| <= 1/2
_S = tuple(np.float32(log(2) ** k / factorial(k)) for k in range(8))
_L = tuple(log(2) ** k / factorial(k) for k in range(14))


@njit(cache=True, nogil=True, fastmath=_NO_NAN)
def exp2_float32(rows: Any) -> None:
    """2^x in place, for x held within -126 and 0; error below 2e-7 of the value."""
    whole = np.empty(_STRIP, np.int32)
    for r in range(len(rows)):  # iterating over the array itself would lose that its rows are contiguous
        row = rows[r]
        for s in range(0, row.size, _STRIP):
            part = row[s : min(s + _STRIP, row.size)]
            bits = part.view(np.int32)
            for k in range(part.size):
                x = min(max(part[k], np.float32(-126.0)), np.float32(0.0))
                whole[k] = np.int32(x - np.float32(0.5))  # towards zero: the nearest whole number, for x <= 0
                part[k] = x
            for k in range(part.size):
                f = part[k] - np.float32(whole[k])
                high = ((_S[7] * f + _S[6]) * f + _S[5]) * f + _S[4]
                part[k] = (((high * f + _S[3]) * f + _S[2]) * f + _S[1]) * f + _S[0]
            for k in range(part.size):
                bits[k] += whole[k] << np.int32(23)


@njit(cache=True, nogil=True, fastmath=_NO_NAN)
def exp2_float64(rows: Any) -> None:
    """2^x in place, for x held within -1022 and 0; error below 4e-16 of the value."""
    whole = np.empty(_STRIP, np.int32)
    for r in range(len(rows)):  # iterating over the array itself would lose that its rows are contiguous
        row = rows[r]
        for s in range(0, row.size, _STRIP):
            part = row[s : min(s + _STRIP, row.size)]
            bits = part.view(np.int64)
            for k in range(part.size):
                x = min(max(part[k], -1022.0), 0.0)
                whole[k] = np.int32(x - 0.5)
                part[k] = x
            for k in range(part.size):
                f = part[k] - np.float64(whole[k])
                high = (((_L[13] * f + _L[12]) * f + _L[11]) * f + _L[10]) * f + _L[9]
                middle = (((high * f + _L[8]) * f + _L[7]) * f + _L[6]) * f + _L[5]
                part[k] = ((((middle * f + _L[4]) * f + _L[3]) * f + _L[2]) * f + _L[1]) * f + _L[0]
            for k in range(part.size):
                bits[k] += np.int64(whole[k]) << np.int64(52)
