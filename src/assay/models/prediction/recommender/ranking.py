"""How well an order of the items puts those first that a user turned to: recall and discounted gain of the first k.

recall  hits among the first k / min(k, held-out items of the user)
NDCG    sum of 1 / log2(place + 1) over hits, place from 1, / its largest value

Items in the training ratings of a user are left out of the order. Means over users with held-out items.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from assay.arrays import Array
from assay.summary.ratings.ratings import Ratings

_CELLS = 2**22  # scores held at a time


class Ranked(NamedTuple):
    """Measures of the users who have held-out items.

    Attributes:
        users: (v,) their numbers.
        recall: (v,)
        ndcg: (v,)
    """

    users: NDArray[np.int64]
    recall: Array
    ndcg: Array


def ranked(score: Callable[[Any], Array], train: Ratings, test: Ratings, k: int) -> Ranked:
    """Measure an order of the items for each user.

    Args:
        score: from (b,) numbers of users to (b, d) scores of all items; larger is better.
        train: what was known; left out of the order.
        test: what should come first.
        k: how many come first.
    """
    d = train.n_items
    users = np.flatnonzero(test.per_user)
    k = min(k, d)
    gain = 1.0 / np.log2(np.arange(2, k + 2))
    best = np.concatenate([[0.0], np.cumsum(gain)])
    recall, ndcg = np.empty(len(users)), np.empty(len(users))
    step = max(1, _CELLS // max(d, 1))
    for lo in range(0, len(users), step):
        part = users[lo : lo + step]
        scores = score(part)
        for row, user in zip(scores, part, strict=True):
            row[train.item[train.starts[user] : train.starts[user + 1]]] = -np.inf
        order = first(scores, k)
        for at, user in enumerate(part):
            held = test.item[test.starts[user] : test.starts[user + 1]]
            hit = np.isin(order[at], held)
            most = min(k, len(held))
            recall[lo + at] = hit.sum() / most
            ndcg[lo + at] = gain[hit].sum() / best[most]
    return Ranked(users, recall, ndcg)


def first(scores: Array, k: int) -> NDArray[np.int64]:
    """(b, k) numbers of the largest scores of each row, descending; equal ones by their number."""
    b, d = scores.shape
    # all that equal the k-th are kept, so that ties do not depend on the partition
    least = -np.partition(-scores, k - 1, axis=1)[:, k - 1] if k < d else np.full(b, -np.inf)
    out = np.empty((b, k), np.int64)
    for at in range(b):
        some = np.flatnonzero(scores[at] >= least[at])
        out[at] = some[np.argsort(-scores[at, some], kind="stable")[:k]]
    return out
