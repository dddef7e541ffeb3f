"""The folds by which models choose a penalty: a number of them, a splitter, pairs of rows, or the fold of each row."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.arrays import Array, Indices
from assay.data.folds import fold_numbers
from assay.data.splits import Pair, as_pairs
from assay.errors import DataError, ParameterError


def folds_of(cv: Any, n: int, target: NDArray[Any], seed: int, remedy: str) -> Indices:
    """(n,) the fold of each row, counted from 0; every row is tested once, by a model of all others.

    Args:
        cv: a number of random folds, None for 5; a splitter of scikit-learn's kind; pairs of training and test rows; or
            the (n,) fold of each row.
        n: number of rows.
        target: (n,) or (n, p), for splitters.
        seed: of random folds.
        remedy: what to set where there are fewer rows than folds.

    >>> folds_of(["a", "b", "a"], 3, np.zeros(3), 0, "")
    array([0, 1, 0])
    """
    cv = 5 if cv is None else cv
    if is_number(cv):
        if n < cv:
            raise DataError(f"{cv} folds need as many rows; there are {n} (n_samples={n}): set cv or {remedy}")
        return fold_numbers(0, n, int(cv), seed)
    pairs = _pairs(cv, n, target)
    if pairs is not None:
        return _tested_once(pairs, n, cv)
    named = np.asarray(cv)
    if named.shape != (n,):
        raise ParameterError(
            f"cv is a number of folds, a splitter, pairs of training and test rows, or the fold of each of {n} "
            f"rows; got shape {named.shape}"
        )
    return np.unique(named, return_inverse=True)[1].astype(np.intp)


def is_number(cv: Any) -> bool:
    """Whether a `cv` says how many folds there are, and leaves open which.

    >>> is_number(5), is_number([0, 1, 1, 0])
    (True, False)
    """
    return isinstance(cv, (int, np.integer)) and not isinstance(cv, bool)


def refuse_empty_folds(folds: Indices, weights: Array | None) -> None:
    """Raise where there is a single fold, or one without rows of some weight."""
    inside = np.bincount(folds, weights)
    if len(inside) < 2 or (inside <= 0.0).any():
        raise DataError(f"there must be at least 2 folds, each with rows of some weight; got weights {inside}")


def _pairs(cv: Any, n: int, target: NDArray[Any]) -> list[Pair] | None:
    """Training and test rows of a splitter, or as they are listed; None for anything else."""
    if hasattr(cv, "split") and not isinstance(cv, str):
        return as_pairs(cv.split(np.empty((n, 1)), target), n)
    if isinstance(cv, Iterator):
        return as_pairs(cv, n)
    listed = isinstance(cv, (list, tuple)) and bool(cv) and all(np.iterable(each) for each in cv)
    return as_pairs(cv, n) if listed and not any(isinstance(each, str) for each in cv) else None


def _tested_once(pairs: list[Pair], n: int, given: Any) -> Indices:
    """The fold of each row, where each is tested once by a model of all others: train = all - fold."""
    folds = np.full(n, -1, dtype=np.intp)
    for fold, (train, test) in enumerate(pairs):
        both = np.bincount(np.concatenate([train, test]), minlength=n)
        if (folds[test] >= 0).any() or (both != 1).any():
            break
        folds[test] = fold
    if (folds < 0).any():
        told = f"{given!r} does" if hasattr(given, "split") else f"the {len(pairs)} pairs given do"
        raise ParameterError(
            f"cv must test each row once and train on all others, so that folds can be taken out of the whole; "
            f"{told} not"
        )
    return folds
