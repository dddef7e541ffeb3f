"""ZScore and Mahalanobis beside scikit-learn: fitting at the speed of the moments, scoring, and the robust search."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.covariance import EmpiricalCovariance, LedoitWolf, MinCovDet
from sklearn.preprocessing import StandardScaler

from assay import Mahalanobis, Moments, ZScore
from assay.linalg.normal.mcd import mcd
from benchmarks.harness import compare, show


def run() -> list[dict[str, Any]]:
    X = np.random.default_rng(0).standard_normal((1_000_000, 20)) + 100.0
    wide = np.random.default_rng(1).standard_normal((200, 2_000))
    return fitting(X) + scoring(X) + shrinking(wide) + [row for n in (500, 5_000, 50_000) for row in robust(n)]


def fitting(X: np.ndarray) -> list[dict[str, Any]]:
    return compare(
        "fit of 1,000,000 x 20 float64, mean 100; quality: variance of the first column, less 1",
        {
            "assay Moments": lambda: Moments.of(X),
            "assay Mahalanobis": lambda: Mahalanobis().fit(X),
            "assay ZScore": lambda: ZScore().fit(X),
            "scikit-learn EmpiricalCovariance": lambda: EmpiricalCovariance().fit(X),
            "scikit-learn StandardScaler": lambda: StandardScaler().fit(X),
        },
        against="assay Moments",
        quality=lambda found: f"{_variance(found) - 1:.3e}",
        rounds=5,
    )


def _variance(found: Any) -> float:
    if isinstance(found, Moments):
        return float(found.variance[0])
    if isinstance(found, ZScore):
        return float(found.scale_[0] ** 2)
    return float(found.var_[0] if hasattr(found, "var_") else found.covariance_[0, 0])


def scoring(X: np.ndarray) -> list[dict[str, Any]]:
    ours, columns, peer = Mahalanobis().fit(X), ZScore().fit(X), EmpiricalCovariance().fit(X)
    W = ours.axes_ / np.sqrt(ours.eigenvalues_)
    return compare(
        "scores of 1,000,000 x 20; quality: mean squared distance",
        {
            "bare X @ W": lambda: X @ W,
            "assay Mahalanobis": lambda: -ours.score_samples(X),
            "assay ZScore": lambda: -columns.score_samples(X),
            "scikit-learn EmpiricalCovariance": lambda: peer.mahalanobis(X),
        },
        against="bare X @ W",
        quality=lambda found: f"{found.mean():.3f}" if found.ndim == 1 else "",
        rounds=5,
    )


def shrinking(X: np.ndarray) -> list[dict[str, Any]]:
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    return compare(
        "Ledoit-Wolf and distances of 200 x 2,000; quality: share of the identity, mean squared distance",
        {
            "assay Mahalanobis": lambda: _shrunk(Mahalanobis().fit(X), X),
            "scikit-learn LedoitWolf": lambda: _shrunk(LedoitWolf().fit(Z), Z),
        },
        against="scikit-learn LedoitWolf",
        quality=lambda found: f"{found[0]:.5f}, {found[1]:.1f}",
        rounds=2,
    )


def _shrunk(model: Any, X: np.ndarray) -> tuple[float, float]:
    far = -model.score_samples(X) if isinstance(model, Mahalanobis) else model.mahalanobis(X) * (len(X) - 1) / len(X)
    return float(model.shrinkage_), float(far.mean())


def robust(n: int, d: int = 10) -> list[dict[str, Any]]:
    rng = np.random.default_rng(n)
    X = rng.standard_normal((n, d))
    X[: n // 5] += 5.0
    h = (n + d + 1) // 2

    def found(run: Any) -> tuple[float, int]:
        result = run()
        rows = np.flatnonzero(result.raw_support_) if isinstance(result, MinCovDet) else result.support
        return float(np.linalg.slogdet(np.cov(X[rows].T, bias=True))[1]), int((rows < n // 5).sum())

    return compare(
        f"minimum covariance determinant of {n:,} x {d}, a fifth outliers; quality: log determinant, outliers kept",
        {
            "assay mcd": lambda: found(lambda: mcd(X, h)),
            "scikit-learn MinCovDet": lambda: found(
                lambda: MinCovDet(support_fraction=(h + 0.5) / n, random_state=0).fit(X)
            ),
        },
        against="scikit-learn MinCovDet",
        quality=lambda result: f"{result[0]:.4f}, {result[1]}",
        rounds=3 if n <= 5_000 else 1,
    )


if __name__ == "__main__":
    show(run())
