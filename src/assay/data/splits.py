"""Which rows train and which test: by chance, in folds, by groups that stay together, by blocks of time.

Each way is an option object that follows scikit-learn's protocol, `split(X, y, groups)` and `get_n_splits`, so that it
serves in `GridSearchCV` too, and scikit-learn's own splitters serve here.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from assay.arrays import Indices
from assay.data.codes import numbered
from assay.data.folds import fold_numbers
from assay.errors import DataError, ParameterError
from assay.linalg.validate import RandomState, seed_of

Pair: TypeAlias = tuple[Indices, Indices]


class Splitter(ABC):
    """A way to split n rows into training and test rows, once or several times."""

    def split(
        self, X: Any, y: ArrayLike | None = None, groups: ArrayLike | None = None
    ) -> Iterator[tuple[Indices, Indices]]:
        """Numbers of the training and of the test rows, in ascending order, for each split.

        Args:
            X: (n, d) rows; only their number counts.
            y: (n,) classes, where they are to be spread evenly.
            groups: (n,) what stays together, where that is asked for.
        """
        n = len(X) if not hasattr(X, "shape") else int(X.shape[0])
        for test, left_out in self._tests(n, y, groups):
            train = np.ones(n, dtype=bool)
            train[test] = False
            train[left_out] = False
            yield np.flatnonzero(train), np.sort(test)

    @abstractmethod
    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """How many splits there are."""

    @abstractmethod
    def _tests(self, n: int, y: ArrayLike | None, groups: ArrayLike | None) -> Iterator[tuple[Indices, Indices]]:
        """Test rows, and rows that are neither for training nor for the test."""


@dataclass(frozen=True, slots=True)
class HoldOut(Splitter):
    """One split: a share of the rows, drawn by chance, is kept for the test.

    Attributes:
        test_size: share of the rows that are held out, between 0 and 1.
        random_state: of the draw: a whole number from 0 on, None for 0, or a generator of NumPy's.
        stratify: hold out the same share of every class.

    >>> train, test = next(HoldOut(test_size=0.25).split(np.zeros((8, 1))))
    >>> len(train), len(test)
    (6, 2)
    """

    test_size: float = 0.25
    random_state: RandomState = 0
    stratify: bool = False

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """One."""
        return 1

    def _tests(self, n: int, y: ArrayLike | None, groups: ArrayLike | None) -> Iterator[tuple[Indices, Indices]]:
        if not 0.0 < self.test_size < 1.0:
            raise ParameterError(f"test_size is a share between 0 and 1; got {self.test_size!r}")
        if n < 2:
            raise DataError(f"a hold-out needs at least 2 rows; there is {n}")
        size = min(max(round(self.test_size * n), 1), n - 1)
        order = _drawn(n, seed_of(self.random_state), y if self.stratify else None)
        # every (n / size)-th row of the order: of each class, which are together there, its share to within one row
        steps = np.arange(n + 1) * size // n
        yield order[np.diff(steps) == 1], _nobody()


@dataclass(frozen=True, slots=True)
class Folds(Splitter):
    """k splits: each row is tested once, by a model that was trained without its fold.

    Without strata the folds are those of `GroupedMoments.folds(X, n_splits, random_state=...)`.

    Attributes:
        n_splits: how many folds.
        random_state: of the folds: a whole number from 0 on, None for 0, or a generator of NumPy's.
        stratify: spread the rows of each class evenly over the folds.

    >>> [len(test) for _, test in Folds(3).split(np.zeros((10, 1)))]
    [3, 3, 4]
    """

    n_splits: int = 10
    random_state: RandomState = 0
    stratify: bool = False

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """The number of folds."""
        return _count(self.n_splits)

    def _tests(self, n: int, y: ArrayLike | None, groups: ArrayLike | None) -> Iterator[tuple[Indices, Indices]]:
        k = _count(self.n_splits)
        if n < k:
            raise DataError(f"{k} folds need at least {k} rows; there are {n}: ask for fewer folds")
        if self.stratify:
            fold = np.empty(n, dtype=np.intp)
            fold[_drawn(n, seed_of(self.random_state), y)] = np.arange(n) % k
        else:
            fold = fold_numbers(0, n, k, seed_of(self.random_state))
        for i in range(k):
            yield np.flatnonzero(fold == i), _nobody()


@dataclass(frozen=True, slots=True)
class GroupedFolds(Splitter):
    """k splits in which rows of one group, a patient or a device, are never on both sides.

    The largest group goes to the smallest fold so far, then the next one: folds of about equal size.

    Attributes:
        n_splits: how many folds.

    >>> groups = ["a", "a", "b", "c", "c", "c"]
    >>> [test.tolist() for _, test in GroupedFolds(2).split(np.zeros((6, 1)), groups=groups)]
    [[3, 4, 5], [0, 1, 2]]
    """

    n_splits: int = 10

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """The number of folds."""
        return _count(self.n_splits)

    def _tests(self, n: int, y: ArrayLike | None, groups: ArrayLike | None) -> Iterator[tuple[Indices, Indices]]:
        k = _count(self.n_splits)
        if groups is None:
            raise ParameterError("grouped folds need to know the groups: give groups=, one for each row")
        codes, labels = _codes(groups, n, "group")
        if len(labels) < k:
            raise DataError(f"{k} folds need at least {k} groups; there are {len(labels)}: ask for fewer folds")
        sizes = np.bincount(codes)
        fold, filled = np.empty(len(labels), dtype=np.intp), np.zeros(k, dtype=np.intp)
        for group in np.argsort(-sizes, kind="stable"):
            fold[group] = np.argmin(filled)
            filled[fold[group]] += sizes[group]
        for i in range(k):
            yield np.flatnonzero(fold[codes] == i), _nobody()


@dataclass(frozen=True, slots=True)
class TimeBlocks(Splitter):
    """k splits of rows in the order of time: each test is a block of rows without a break.

    Attributes:
        n_splits: how many tests.
        gap: rows next to the test block that are left out of training, on both sides, because they still depend on it.
        forward: train on what came before the block only. Then the first of n_splits + 1 blocks is never tested.

    >>> [(train.tolist(), test.tolist()) for train, test in TimeBlocks(3, gap=1).split(np.zeros((6, 1)))]
    [([3, 4, 5], [0, 1]), ([0, 5], [2, 3]), ([0, 1, 2], [4, 5])]
    """

    n_splits: int = 10
    gap: int = 0
    forward: bool = False

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """The number of tests."""
        return _count(self.n_splits, fewest=1 if self.forward else 2)

    def _tests(self, n: int, y: ArrayLike | None, groups: ArrayLike | None) -> Iterator[tuple[Indices, Indices]]:
        blocks = self.get_n_splits() + self.forward
        if isinstance(self.gap, bool) or self.gap < 0:
            raise ParameterError(f"gap is a number of rows, 0 or more; got {self.gap!r}")
        if n < blocks:
            raise DataError(f"{blocks} blocks of time need at least {blocks} rows; there are {n}: ask for fewer")
        ends = np.arange(blocks + 1) * n // blocks
        for first, last in zip(ends[self.forward :], ends[self.forward + 1 :], strict=False):
            near = np.arange(max(first - self.gap, 0), n if self.forward else min(last + self.gap, n))
            if len(near) == n:
                raise DataError(
                    f"a gap of {self.gap} rows beside the test block of rows {first} to {last - 1} leaves none of "
                    f"{n} rows for training: ask for a smaller gap, or fewer blocks"
                )
            yield np.arange(first, last), near


def as_pairs(splits: Iterable[Any], n: int) -> list[Pair]:
    """Pairs of training and test rows as numbers from 0 to n - 1, each given by numbers or by a mask.

    >>> as_pairs([([0, 2], [1]), (np.array([True, True, False]), [-1])], 3)[1]
    (array([0, 1]), array([2]))
    """
    found = []
    for i, each in enumerate(splits):
        if isinstance(each, str) or not np.iterable(each) or len(pair := list(each)) != 2:
            raise ParameterError(
                f"splits are pairs of training and test rows, (train, test); number {i} is {str(each)[:60]!r}"
            )
        found.append((_numbers(pair[0], n, i), _numbers(pair[1], n, i)))
    return found


def _numbers(rows: ArrayLike, n: int, i: int) -> Indices:
    told = np.asarray(rows)
    if told.dtype == bool and told.shape == (n,):
        return np.flatnonzero(told)
    if told.ndim != 1 or (told.size and told.dtype.kind not in "iu"):
        raise ParameterError(
            f"split {i} has rows that are neither their numbers nor a mask of all {n}: they are {told.dtype} of shape "
            f"{told.shape}"
        )
    numbers = told.astype(np.intp)
    beyond = (numbers < -n) | (numbers >= n)
    if beyond.any():
        raise ParameterError(f"split {i} has row {numbers[beyond][0]}; there are {n} rows, counted from 0")
    return np.where(numbers < 0, numbers + n, numbers)


def _count(k: int, *, fewest: int = 2) -> int:
    if isinstance(k, bool) or not isinstance(k, (int, np.integer)) or k < fewest:
        raise ParameterError(f"n_splits is a whole number, {fewest} or more; got {k!r}")
    return int(k)


def _codes(labels: ArrayLike, n: int, what: str) -> tuple[Indices, NDArray[Any]]:
    """(n,) numbers of labels, and the labels."""
    found, codes = numbered(np.asarray(labels))
    if codes.shape != (n,):
        raise ParameterError(f"there must be one {what} for each of the {n} rows; got shape {np.shape(labels)}")
    return codes, found


def _drawn(n: int, seed: int, y: ArrayLike | None) -> Indices:
    """All rows in an order drawn by chance; class after class where classes are given."""
    order = np.random.default_rng(seed).permutation(n)
    if y is None:
        return order
    codes, classes = _codes(y, n, "class")
    sizes = np.bincount(codes)
    if sizes.min() < 2:
        raise DataError(
            f"class {classes[int(sizes.argmin())]!s} has one row, which cannot be on both sides: leave it out, or do "
            "not stratify"
        )
    return order[np.argsort(codes[order], kind="stable")]


def _nobody() -> Indices:
    return np.empty(0, dtype=np.intp)
