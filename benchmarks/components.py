"""PCA, 20 components, beside scikit-learn, scikit-learn-intelex (where installed) and ARPACK: tall and wide."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import sklearn.decomposition as peers

from assay import PCA
from benchmarks.harness import compare, show

K = 20


def run() -> list[dict[str, Any]]:
    return tall() + wide()


def tall() -> list[dict[str, Any]]:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((1_000_000, 100)) * np.linspace(3, 1, 100)
    truth = np.linalg.eigvalsh(np.cov(X, rowvar=False))[::-1][:K]
    contenders = {
        "assay PCA": lambda: PCA(K).fit(X),
        "scikit-learn PCA": lambda: peers.PCA(K).fit(X),
        "scikit-learn PCA covariance_eigh": lambda: peers.PCA(K, svd_solver="covariance_eigh").fit(X),
        **_intelex(X),
    }
    return compare(
        "PCA of 1,000,000 x 100; quality: largest relative error of an eigenvalue",
        contenders,
        against="scikit-learn PCA",
        quality=_error(truth),
        rounds=5,
    )


def wide() -> list[dict[str, Any]]:
    rng = np.random.default_rng(1)
    noise = rng.standard_normal((2_000, 20_000))
    signal = (rng.standard_normal((2_000, 40)) * np.linspace(30, 5, 40)) @ rng.standard_normal((40, 20_000))
    return _wide("noise", noise) + _wide("40 directions in noise", noise + signal / np.sqrt(40))


def _wide(what: str, X: np.ndarray) -> list[dict[str, Any]]:
    centred = X - X.mean(axis=0)
    truth = np.linalg.eigvalsh(centred @ centred.T)[::-1][:K] / (len(X) - 1)
    del centred
    return compare(
        f"PCA of 2,000 x 20,000, {what}; quality: largest relative error of an eigenvalue",
        {
            "assay PCA": lambda: PCA(K).fit(X),
            "scikit-learn PCA arpack": lambda: peers.PCA(K, svd_solver="arpack").fit(X),
            "scikit-learn PCA default": lambda: peers.PCA(K, random_state=0).fit(X),
        },
        against="scikit-learn PCA arpack",
        quality=_error(truth),
        rounds=3,
    )


def _error(truth: np.ndarray) -> Callable[[Any], str]:
    return lambda pca: f"{np.abs(pca.explained_variance_ / truth - 1).max():.0e}"


def _intelex(X: np.ndarray) -> dict[str, Callable[[], Any]]:
    try:
        from sklearnex.decomposition import PCA as Intelex
    except ImportError:
        return {}
    return {"scikit-learn-intelex PCA": lambda: Intelex(K).fit(X)}


if __name__ == "__main__":
    show(run())
