"""Input validation: finite, real float64 arrays of the right shape. The first offender is named by its place."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from assay.arrays import Array
from assay.errors import DataError, ParameterError

ComplexArray: TypeAlias = NDArray[np.complex128]
RandomState: TypeAlias = int | np.random.Generator | np.random.RandomState | None


def as_matrix(A: ArrayLike, *, name: str = "A", allow_empty: bool = False) -> Array:
    """Take a matrix of finite real numbers, as float64.

    Args:
        A: anything array-like of two dimensions. It is not copied when it already is float64.
        name: what to call it in a message.
        allow_empty: let a side of length 0 pass.

    Returns:
        (m, n) float64.

    >>> as_matrix([[1, 2], [3, 4]]).dtype
    dtype('float64')
    """
    return _finite(_real(A, name, ndim=2, allow_empty=allow_empty), name)


def as_vector(x: ArrayLike, *, name: str = "x", size: int | None = None) -> Array:
    """Take a vector of finite real numbers, as float64.

    Args:
        x: anything array-like of one dimension.
        name: what to call it in a message.
        size: the length it must have, if known.

    Returns:
        (n,) float64.

    >>> as_vector([1, 2, 3], size=3)
    array([1., 2., 3.])
    """
    array = _finite(_real(x, name, ndim=1, allow_empty=False), name)
    if size is not None and array.size != size:
        raise DataError(f"{name} must have {size} entries, has {array.size}.")
    return array


def as_right_side(b: ArrayLike, rows: int, *, name: str = "b") -> Array:
    """Take the right side of equations: a vector, or a matrix with one column for each problem.

    Returns:
        (rows,) or (rows, p) float64.

    >>> as_right_side([1, 2], 2)
    array([1., 2.])
    """
    ndim = np.ndim(b)
    array = as_vector(b, name=name) if ndim == 1 else as_matrix(b, name=name)
    if array.shape[0] != rows:
        raise DataError(f"{name} must have {rows} rows like the matrix, has {array.shape[0]}.")
    return array


def as_square(A: ArrayLike, *, name: str = "A") -> Array:
    """Take a square matrix of finite real numbers, as float64.

    Returns:
        (n, n) float64.

    >>> as_square([[1, 2], [3, 4]]).shape
    (2, 2)
    """
    matrix = as_matrix(A, name=name)
    if matrix.shape[0] != matrix.shape[1]:
        raise DataError(f"{name} must be square, has shape {matrix.shape}.")
    return matrix


def as_symmetric(A: ArrayLike, *, name: str = "A", tol: float = 1e-10) -> Array:
    """Take a symmetric matrix; rounding in its two halves is averaged away, more is refused.

    Args:
        A: square array-like.
        name: what to call it in a message.
        tol: how far A[i, j] and A[j, i] may differ, relative to the largest entry.

    Returns:
        (n, n) float64, exactly symmetric.

    >>> as_symmetric([[2, 1], [1, 3]])
    array([[2., 1.],
           [1., 3.]])
    """
    matrix = as_square(A, name=name)
    if np.array_equal(matrix, matrix.T):
        return matrix
    with np.errstate(over="ignore"):
        gap = np.abs(matrix - matrix.T)
    i, j = (int(p) for p in np.unravel_index(int(np.argmax(gap)), gap.shape))
    if gap[i, j] > tol * np.abs(matrix).max():
        raise DataError(
            f"{name} must be symmetric: row {i}, column {j} (counted from 0) is {matrix[i, j]:.6g} but row {j}, "
            f"column {i} is {matrix[j, i]:.6g}. If only the symmetric part is meant, pass (A + A.T) / 2."
        )
    # Halves first: the sum of two entries near 1e308 would overflow.
    return 0.5 * matrix + 0.5 * matrix.T


def as_count(k: int, limit: int, *, name: str = "k", what: str = "the size of the matrix") -> int:
    """Take a whole number between 1 and a limit.

    >>> as_count(2, 3)
    2
    """
    if isinstance(k, bool) or not isinstance(k, (int, np.integer)):
        raise ParameterError(f"{name} must be a whole number, is {k!r}.")
    if not 1 <= k <= limit:
        raise ParameterError(f"{name} must be between 1 and {limit} ({what}), is {k}.")
    return int(k)


def as_generator(random_state: RandomState) -> np.random.Generator:
    """Make the one source of randomness from a seed, a Generator or scikit-learn's RandomState.

    >>> float(as_generator(0).random()) == float(as_generator(0).random())
    True
    """
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(0, 2**31 - 1))
    return np.random.default_rng(random_state)


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
    return int(draw(2**31 - 1))


def power_of_two(array: Array) -> float:
    """Find the power of two just below the largest modulus: dividing by it rounds nothing and lets squares be formed.

    >>> power_of_two(np.array([3.0, -5.0]))
    4.0
    """
    # Two reductions instead of abs(): no temporary as large as the data.
    largest = max(float(array.max(initial=0.0)), -float(array.min(initial=0.0)))
    if largest == 0.0:
        return 1.0
    # Clipped so that 1 / scale is finite too.
    return float(np.ldexp(1.0, int(np.clip(np.frexp(largest)[1] - 1, -1022, 1023))))


def _real(A: ArrayLike, name: str, *, ndim: int, allow_empty: bool) -> Array:
    if hasattr(A, "toarray"):
        raise DataError(f"{name} must be a dense array here, is sparse ({type(A).__name__}). Call .toarray() first.")
    raw = np.asarray(A)
    if np.iscomplexobj(raw):
        raise DataError(f"{name} must be real, is complex ({raw.dtype}). Pass its real part if that is meant.")
    try:
        array = np.asarray(raw, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(f"{name} must hold numbers, holds {raw.dtype}: {error}.") from None
    if array.ndim != ndim:
        kind = {1: "a vector (1 dimension)", 2: "a matrix (2 dimensions)"}[ndim]
        raise DataError(f"{name} must be {kind}, has shape {array.shape}.")
    if array.size == 0 and not allow_empty:
        raise DataError(f"{name} must not be empty, has shape {array.shape}.")
    return array


def _finite(array: Array, name: str) -> Array:
    # NaN and infinity survive min and max, so two reductions without a temporary decide for all entries.
    if array.size == 0 or (np.isfinite(array.min()) and np.isfinite(array.max())):
        return array
    finite = np.isfinite(array)
    place = np.unravel_index(int(np.argmin(finite)), array.shape)
    value = array[place]
    shown = "NaN" if np.isnan(value) else "infinite"
    where = f"row {place[0]}, column {place[1]}" if array.ndim == 2 else f"entry {place[0]}"
    count = int(array.size - np.count_nonzero(finite))
    raise DataError(
        f"{name} must be finite: {where} (counted from 0) is {shown} ({count} such in all). "
        "Fill or drop missing values first."
    )
