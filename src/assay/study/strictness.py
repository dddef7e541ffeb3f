"""Several questions asked of one table: by how much each of them must be read more strictly.

Questions are chosen by Benjamini and Hochberg on the best p of each; inside a chosen one tests are made at alpha R / m,
with R of m questions chosen. So the chance of any false claim in a table without structure stays at alpha, and a
question costs the others nothing where both find something.

Reference: Benjamini and Bogomolov, Selective inference on multiple families of hypotheses, JRSS B 76 (2014).
"""

from __future__ import annotations

from collections.abc import Sequence


def strictness(best: Sequence[float | None], alpha: float = 0.05) -> float:
    """What every p of every question is to be multiplied with: m / R.

    Args:
        best: the smallest valid p of each question; None for one that could not be tested.
        alpha: the level of the study.

    >>> strictness([.01, .04]), strictness([.01, .5]), strictness([.5, .6]), strictness([.04, None])
    (1.0, 2.0, 2.0, 1.0)
    """
    tested = sorted(p for p in best if p is not None)
    m = len(tested)
    chosen = max((rank for rank, p in enumerate(tested, 1) if p <= alpha * rank / m), default=1)
    return m / chosen if m else 1.0
