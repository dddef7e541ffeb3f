"""CCA beside cca-zoo and scikit-learn: many rows, many columns with a ridge, and more than two sets."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.cross_decomposition import CCA as Peer

from assay import CCA, MultisetCCA
from benchmarks.harness import compare, show

K = 10
RIDGE = 0.25


def run() -> list[dict[str, Any]]:
    return tall() + wide() + sets()


def tall() -> list[dict[str, Any]]:
    X, Y = _sides(np.random.default_rng(0), 100_000, 50, 40, strength=0.3)
    question = "CCA of 100,000 x (50, 40), 10 pairs; quality: largest error of what the weights reach"
    own = {"assay CCA": lambda: _weights(CCA(K).fit(X, Y))}
    exact, error = {**own, **_zoo(X, Y)}, _error(X, Y)
    rows = compare(question, exact, against=list(exact)[-1], quality=error, rounds=5)
    # half a minute a turn, so one turn
    iterated = {**own, "scikit-learn CCA": lambda: _rotations(Peer(K, scale=False).fit(X, Y))}
    return rows + compare(
        f"{question} (default tolerance)", iterated, against="scikit-learn CCA", quality=error, rounds=1
    )


def wide() -> list[dict[str, Any]]:
    X, Y = _sides(np.random.default_rng(1), 500, 5_000, 3_000, strength=0.1)
    contenders = {"assay CCA": lambda: _weights(CCA(K, ridge=RIDGE, scale=False).fit(X, Y)), **_zoo_ridge(X, Y)}
    return compare(
        f"CCA of 500 x (5,000, 3,000), 10 pairs, ridge {RIDGE}; quality: largest error of what the weights reach",
        contenders,
        against=list(contenders)[-1],
        quality=_error(X, Y, RIDGE),
        rounds=5,
    )


def sets() -> list[dict[str, Any]]:
    rng = np.random.default_rng(2)
    hidden = rng.standard_normal((20_000, 8)) * np.linspace(0.4, 0.1, 8)
    views = [rng.standard_normal((20_000, d)) + hidden @ rng.standard_normal((8, d)) for d in (20, 15, 10)]
    X = np.hstack(views)
    contenders = {"assay MultisetCCA": lambda: MultisetCCA((20, 15, 10), K).fit(X).variates(X), **_zoo_sets(views)}
    return compare(
        "MultisetCCA of 20,000 x (20, 15, 10), 10 variates; quality: least first correlation between sets",
        contenders,
        against=list(contenders)[-1],
        quality=lambda found: f"{min(_pairs([np.asarray(one)[:, 0] for one in found])):.12f}",
        rounds=3,
    )


def _pairs(first: list[np.ndarray]) -> list[float]:
    R = np.abs(np.corrcoef(first))
    return [float(R[a, b]) for a in range(len(R)) for b in range(a)]


def _zoo_sets(views: list[np.ndarray]) -> dict[str, Callable[[], Any]]:
    try:
        from cca_zoo.linear import GCCA
    except ImportError:
        return {}
    return {"cca-zoo GCCA": lambda: GCCA(K).fit(views).transform(views)}


def _sides(rng: np.random.Generator, n: int, p: int, q: int, strength: float) -> tuple[np.ndarray, np.ndarray]:
    """Two sides that share fifteen hidden directions, the later ones less."""
    hidden = rng.standard_normal((n, 15)) * np.linspace(1.0, 0.2, 15) * strength
    sides = [rng.standard_normal((n, d)) + hidden @ rng.standard_normal((15, d)) for d in (p, q)]
    return sides[0], sides[1]


def _zoo(X: np.ndarray, Y: np.ndarray) -> dict[str, Callable[[], Any]]:
    try:
        from cca_zoo.linear import CCA as Zoo
    except ImportError:
        return {}
    return {"cca-zoo CCA": lambda: Zoo(K).fit([X, Y]).weights_}


def _zoo_ridge(X: np.ndarray, Y: np.ndarray) -> dict[str, Callable[[], Any]]:
    try:
        from cca_zoo.linear import RidgeCCA
    except ImportError:
        return {}
    share = RIDGE / (1.0 + RIDGE)  # its covariances are (1 - share) S + share I
    return {"cca-zoo RidgeCCA": lambda: RidgeCCA(K, shrinkage=share).fit([X, Y]).weights_}


def _weights(fitted: Any) -> tuple[np.ndarray, np.ndarray]:
    return fitted.x_weights_, fitted.y_weights_


def _rotations(fitted: Any) -> tuple[np.ndarray, np.ndarray]:
    return fitted.x_rotations_, fitted.y_rotations_


def _error(X: np.ndarray, Y: np.ndarray, ridge: float = 0.0) -> Callable[[Any], str]:
    """How far the quotients that weights reach are from canonical correlations by singular values of the rows."""
    n, white = len(X), []
    sides = [side - side.mean(axis=0) for side in (X, Y)]
    for side in sides:
        left, values, _ = np.linalg.svd(side, full_matrices=False)
        white.append(left * (values / np.sqrt(values**2 + (n - 1) * ridge)))
    truth = np.linalg.svd(white[0].T @ white[1], compute_uv=False)[:K]

    def error(weights: Any) -> str:
        (u, a), (v, b) = (
            (side @ w, (n - 1) * ridge * (w**2).sum(axis=0)) for side, w in zip(sides, weights, strict=True)
        )
        reached = np.abs((u * v).sum(axis=0)) / np.sqrt(((u**2).sum(axis=0) + a) * ((v**2).sum(axis=0) + b))
        return f"{np.abs(reached - truth).max():.0e}"

    return error


if __name__ == "__main__":
    show(run())
