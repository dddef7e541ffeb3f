"""Transitions and rewards of any form as one list of pairs (state, action), checked on the way."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from assay.arrays import Array, Whole
from assay.engine.local import in_threads
from assay.errors import DataError, ParameterError
from assay.linalg.sparse.structure import as_sparse
from assay.models.shares import may_be_off

Names: TypeAlias = Sequence[Hashable]

_EPS = float(np.finfo(np.float64).eps)
_WOVEN = 2048  # states woven at a time
_SHARE = 64 * _WOVEN  # states of a task
NAMED = 5  # so many names in a message


@dataclass(frozen=True, slots=True, eq=False)
class StateLayout:
    """Pairs sorted by state and action, their transitions by the next state.

    Attributes:
        first: (n + 1,) the pairs of a state.
        action: (m,) the action of each pair.
        start: (m + 1,) the transitions of a pair.
        after: (z,) the next state of each.
        p: (z,) its probability.
        r: (m,) expected reward of a pair.
        each: (z,) reward of each transition; None where it is that of its pair.
        final: (n,) value of states without actions; 0 elsewhere.
        merged: transitions given more than once, which were added up.
        dropped: transitions of probability 0, which were left out.
    """

    first: Whole
    action: NDArray[np.int32]
    start: Whole
    after: NDArray[np.int32]
    p: Array
    r: Array
    each: Array | None
    final: Array
    merged: int = 0
    dropped: int = 0


def some(names: Sequence[object]) -> str:
    """The first few names, for a message."""
    return ", ".join(map(repr, names[:NAMED])) + (", ..." if len(names) > NAMED else "")


def of_rows(
    state: Whole,
    action: Whole,
    after: Whole,
    p: Array,
    reward: Array,
    final: Array,
    states: Names,
    actions: Names,
) -> StateLayout:
    """From one row for each transition, in any order; rows of the same transition are added up.

    Args:
        state: (z,) numbers of states.
        action: (z,) numbers of actions.
        after: (z,) numbers of next states.
        p: (z,) probabilities, finite and not negative.
        reward: (z,) finite.
        final: (n,) values of states without actions.
        states: n names.
        actions: names.
    """
    n, key = len(states), state * max(len(actions), 1) + action
    order = np.lexsort((after, key))
    key, after, p, reward = key[order], after[order], p[order], reward[order]
    new_pair = np.append(True, key[1:] != key[:-1])[: len(key)]
    new = new_pair | np.append(True, after[1:] != after[:-1])[: len(key)]
    at, pair = np.flatnonzero(new), np.cumsum(new_pair) - 1
    same = _constant(reward, np.flatnonzero(new_pair), pair)
    weight, gain = p, p * reward
    if len(at):
        weight, gain = np.add.reduceat(p, at), np.add.reduceat(gain, at)
    mean = np.divide(gain, weight, out=reward[at].copy(), where=weight > 0.0)
    alone = np.diff(np.append(at, len(key))) == 1
    one = same[pair[at]] | alone if len(at) else alone
    mean[one] = reward[at][one]
    keys = key[new_pair]
    sizes = np.bincount(pair[at], minlength=len(keys))
    return _finished(
        np.searchsorted(keys // max(len(actions), 1), np.arange(n + 1)),
        keys % max(len(actions), 1),
        sizes,
        after[at],
        weight,
        mean,
        final,
        (states, actions),
        merged=len(key) - len(at),
    )


def of_matrices(P: Any, rewards: Any, states: Names | None, actions: Names | None) -> tuple[StateLayout, Names, Names]:
    """From a matrix of transitions for each action, (n, n), dense or sparse; a row of zeros is no action there.

    Args:
        P: the matrices, or an array (k, n, n).
        rewards: (n,) of states, (n, k) of actions in states, or as many matrices as in P of transitions.
        states: names.
        actions: names.
    """
    matrices, grain = _square(P, "transitions")
    n, k = int(matrices[0].shape[0]), len(matrices)
    states = _checked(states, n, "states")
    actions = _checked(actions, k, "actions")
    sizes = np.empty((n, k), np.int64)
    for a, M in enumerate(matrices):
        np.subtract(M.indptr[1:], M.indptr[:-1], out=sizes[:, a])
    begin = np.zeros(n * k + 1, np.int64)
    np.cumsum(sizes.ravel(), out=begin[1:])
    after, p, sums, zeros = _woven(matrices, begin, states, actions)
    by_state, by_pair, each = _rewards(rewards, n, k)
    reward = None if each is None else _rewards_woven(matrices, each, begin, sizes)
    final = np.zeros(n)
    first, action, there = _pairs(sizes)
    if by_state is not None:
        ending = first[1:] == first[:-1]
        final[ending] = by_state[ending]
    pair_reward = None
    if by_pair is not None:
        pair_reward = by_pair.ravel()[there]
    elif by_state is not None:
        pair_reward = np.repeat(by_state, np.diff(first))
    for rewarded, of_pairs in ((final, False), (pair_reward, True)):
        if rewarded is None or np.isfinite(rewarded).all():
            continue
        bad = int(np.flatnonzero(~np.isfinite(rewarded))[0])
        whose = int(np.searchsorted(first, bad, side="right")) - 1 if of_pairs else bad
        raise DataError(
            f"a reward of state {states[whose]!r} is {rewarded[bad]:g}, but rewards are finite numbers; "
            "give a large finite one, or leave the action out"
        )
    if reward is not None and not np.isfinite(reward).all():
        j = int(np.flatnonzero(~np.isfinite(reward))[0])
        i = int(np.searchsorted(begin, j, side="right")) - 1
        raise DataError(
            f"the reward of state {states[i // k]!r}, action {actions[i % k]!r}, next state {states[after[j]]!r} is "
            f"{reward[j]:g}, but rewards are finite numbers"
        )
    named, found = (states, actions), (sums[there], zeros)
    made = _finished(
        first,
        action,
        sizes.ravel()[there],
        after,
        p,
        reward,
        final,
        named,
        pair_reward=pair_reward,
        found=found,
        grain=grain,
    )
    return made, states, actions


def _pairs(sizes: Whole) -> tuple[Whole, NDArray[np.int32], Any]:
    """The first pair of each state, the action of each pair, and where pairs are among all (state, action)."""
    n, k = sizes.shape
    if sizes.all():
        return np.arange(0, n * k + 1, k), np.tile(np.arange(k, dtype=np.int32), n), slice(None)
    first = np.zeros(n + 1, np.int64)
    np.cumsum((sizes > 0).sum(axis=1), out=first[1:])
    there = np.flatnonzero(sizes.ravel())
    return first, (there % k).astype(np.int32), there


def _woven(
    matrices: list[Any], begin: Whole, states: Names, actions: Names
) -> tuple[NDArray[np.int32], Array, Array, int]:
    """Next states and probabilities by pair, the sums of these, and how many are 0."""
    from assay.models.decision.mdp._layout_kernels import weave

    n, k, z = int(matrices[0].shape[0]), len(matrices), int(begin[-1])
    after, p, sums = np.empty(z, np.int32), np.empty(z), np.empty(n * k)

    def share(lo: int) -> int:
        """How many are 0; -1 - a for the first action with one that is no probability."""
        zeros = 0
        # a few states at a time: what is written for all actions stays in the cache
        for at in range(lo, min(lo + _SHARE, n), _WOVEN):
            for a, M in enumerate(matrices):
                end = min(at + _WOVEN, n)
                found = int(weave(at, end, a, k, M.indptr, M.indices, M.data, begin, after, p, sums))
                if found < 0:
                    return -1 - a
                zeros += found
        return zeros

    found = in_threads(share, range(0, n, _SHARE))
    for a in sorted(-1 - count for count in found if count < 0):
        M = matrices[a]
        t = int(np.flatnonzero(~(np.isfinite(M.data) & (M.data >= 0.0)))[0])
        row = int(np.searchsorted(M.indptr, t, side="right") - 1)
        raise DataError(
            f"the probability of state {states[row]!r}, action {actions[a]!r}, next state "
            f"{states[M.indices[t]]!r} is {M.data[t]:g}, but probabilities are finite and not negative"
        )
    return after, p, sums, sum(found)


def _rewards_woven(matrices: list[Any], each: list[Any], begin: Whole, sizes: Whole) -> Array:
    """Rewards of transitions by pair."""
    n, k = sizes.shape
    reward = np.empty(int(begin[-1]))
    for a, M in enumerate(matrices):
        at = np.repeat(begin[:-1].reshape(n, k)[:, a] - M.indptr[:-1], sizes[:, a]) + np.arange(M.nnz)
        rows = np.repeat(np.arange(n), sizes[:, a])
        reward[at] = np.asarray(each[a][rows, M.indices]).ravel()
    return reward


def _square(P: Any, what: str) -> tuple[list[Any], np.dtype[Any]]:
    """A sparse matrix of float64 for each action, and the coarsest type of float that one was given in."""
    many: Any = [P] if sparse.issparse(P) else list(P) if isinstance(P, Iterable) else P
    try:
        types = {M.dtype for M in many if getattr(M, "dtype", np.dtype(object)).kind == "f"}
        matrices = [_sparse(M) if sparse.issparse(M) else _dense(M) for M in many]
    except DataError:
        raise
    except (TypeError, ValueError) as error:
        raise ParameterError(f"{what} must hold numbers: a matrix (n, n) for each action ({error})") from error
    shapes = {M.shape for M in matrices}
    if len(shapes) != 1 or len(shape := shapes.pop()) != 2 or shape[0] != shape[1] or not shape[0]:
        raise ParameterError(
            f"{what} must be a matrix (n, n) for each action, all of one size; got "
            f"{', '.join(str(M.shape) for M in matrices[:NAMED]) or 'none'}"
        )
    for M in matrices:
        M.sum_duplicates()
    return matrices, min(types, key=lambda each: each.itemsize, default=np.dtype(np.float64))


def _sparse(M: Any) -> sparse.csr_array:
    made = sparse.csr_array(as_sparse(M))
    made = made.astype(np.float64) if made.dtype != np.float64 else made
    return made if made.has_canonical_format else made.copy()


def _dense(M: Any) -> sparse.csr_array:
    array: Any = np.asarray(M, np.float64)
    if array.ndim != 2:
        raise ValueError(f"one of them has {array.ndim} dimensions")
    return sparse.csr_array(array)


def _checked(names: Names | None, n: int, what: str) -> Names:
    if names is None:
        return range(n)
    if isinstance(names, str):
        raise ParameterError(f"{what} is a list of names, not one text")
    given = names if isinstance(names, range) else tuple(names)
    if len(given) != n:
        raise ParameterError(f"{what} holds {len(given)} names, but there are {n}")
    if not isinstance(given, range) and len(set(given)) < n:
        seen: set[Hashable] = set()
        twice = next(name for name in given if name in seen or seen.add(name))  # type: ignore[func-returns-value]
        raise ParameterError(f"{what} holds {twice!r} twice; give each a name of its own")
    return given


def _rewards(rewards: Any, n: int, k: int) -> tuple[Array | None, Array | None, list[Any] | None]:
    if sparse.issparse(rewards) or (isinstance(rewards, list | tuple) and any(map(sparse.issparse, rewards))):
        matrices, _ = _square(rewards, "rewards")
        if len(matrices) != k or matrices[0].shape[0] != n:
            raise ParameterError(f"rewards of transitions must be {k} matrices ({n}, {n}), as the transitions are")
        return None, None, matrices
    try:
        array = np.asarray(rewards, np.float64)
    except (TypeError, ValueError) as error:
        raise ParameterError(f"rewards must be numbers ({error})") from error
    if array.shape == (n,):
        return array, None, None
    if array.shape == (n, k):
        return None, array, None
    if array.shape == (k, n, n):
        return None, None, list(array)
    raise ParameterError(
        f"rewards have the shape {array.shape}; they are ({n},) for states, ({n}, {k}) for states and actions, or "
        f"({k}, {n}, {n}) for transitions"
    )


def _constant(reward: Array, heads: Whole, pair: Whole) -> NDArray[np.bool_]:
    """(m,) whether all rewards of a pair are the same."""
    if not len(heads):
        return np.empty(0, np.bool_)
    return np.asarray(np.logical_and.reduceat(reward == reward[heads][pair], heads))


def _finished(
    first: Whole,
    action: NDArray[Any],
    sizes: Whole,
    after: NDArray[Any],
    p: Array,
    reward: Array | None,
    final: Array,
    named: tuple[Names, Names],
    *,
    pair_reward: Array | None = None,
    merged: int = 0,
    found: tuple[Array, int] | None = None,
    grain: Any = np.float64,
) -> StateLayout:
    """Check sums, leave out what cannot happen, and take expectations.

    `found` are sums and zeros, where known, and `grain` is the type in which probabilities were given.
    """
    states, actions = named
    start = np.zeros(len(sizes) + 1, np.int64)
    np.cumsum(sizes, out=start[1:])
    if found is None:
        found = (np.add.reduceat(p, start[:-1]) if len(sizes) else np.empty(0)), int((p == 0.0).sum())
    sums, dropped = found
    off = np.abs(sums - 1.0)
    worst = float(off.max(initial=0.0))
    if len(bad := np.flatnonzero(~(off <= may_be_off(grain, sizes)))):
        i = int(bad[0])
        state = int(np.searchsorted(first, i, side="right")) - 1
        others = f" ({len(bad)} pairs are so)" if len(bad) > 1 else ""
        raise DataError(
            f"the probabilities of state {states[state]!r}, action {actions[action[i]]!r} sum to "
            f"{sums[i]:.10g}, not 1{others}; give all next states with all digits, or leave the "
            "action out where it cannot be taken"
        )
    if worst > 4.0 * _EPS * sizes.min(initial=1):
        uneven = off > 4.0 * _EPS * sizes
        p = np.where(np.repeat(uneven, sizes), p / np.repeat(sums, sizes), p)
    if dropped:
        there = p > 0.0
        sizes = np.add.reduceat(there, start[:-1], dtype=np.int64)
        start = np.concatenate([[0], np.cumsum(sizes)])
        after, p = after[there], p[there]
        reward = None if reward is None else reward[there]
    if reward is not None:
        pair = np.repeat(np.arange(len(sizes)), sizes)
        same = _constant(reward, start[:-1], pair)
        pair_reward = np.add.reduceat(p * reward, start[:-1]) if len(sizes) else np.empty(0)
        pair_reward[same] = reward[start[:-1]][same]
        reward = None if same.all() else reward
    return StateLayout(
        first=first.astype(np.int64, copy=False),
        action=action.astype(np.int32, copy=False),
        start=start,
        after=np.ascontiguousarray(after, dtype=np.int32),
        p=np.ascontiguousarray(p),
        r=np.array(pair_reward, dtype=np.float64),  # never the array of the user
        each=reward,
        final=np.where(first[1:] == first[:-1], final, 0.0),
        merged=merged,
        dropped=dropped,
    )
