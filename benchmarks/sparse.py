"""A wide sparse table, as texts, ratings and links are: models that keep it sparse beside scikit-learn's."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn import cluster, decomposition, linear_model, naive_bayes

from assay import LSI, PCA, Fisher, KMeans, Logistic, NaiveBayes, Ridge
from benchmarks.harness import compare, show

SHAPE, DENSITY = (5_000, 50_000), 1e-3


def run() -> list[dict[str, Any]]:
    X = sparse.random_array(SHAPE, density=DENSITY, rng=np.random.default_rng(0), format="csr")
    rng = np.random.default_rng(1)
    y = X @ rng.standard_normal(SHAPE[1]) + 0.1 * rng.standard_normal(SHAPE[0])
    return _components(X) + _regression(X, y) + _classes(X, y > np.median(y)) + _groups(X)


def _named(what: str) -> str:
    return f"sparse {SHAPE[0]:,} x {SHAPE[1]:,}, density {DENSITY}: {what}"


def _components(X: Any, k: int = 50) -> list[dict[str, Any]]:
    found = compare(
        _named(f"{k} principal components; quality: sum of their variances"),
        {
            "assay PCA": lambda: PCA(k).fit(X).explained_variance_,
            "scikit-learn PCA, arpack": lambda: decomposition.PCA(k, svd_solver="arpack").fit(X).explained_variance_,
        },
        against="assay PCA",
        quality=lambda values: f"{values.sum():.8f}",
        rounds=5,
    )
    return found + compare(
        _named(f"{k} dimensions of LSI; quality: sum of squares captured"),
        {
            "assay LSI": lambda: LSI(k).fit(X).singular_values_,
            "scikit-learn TruncatedSVD, arpack": lambda: (
                decomposition.TruncatedSVD(k, algorithm="arpack").fit(X).singular_values_
            ),
            "scikit-learn TruncatedSVD, randomized": lambda: decomposition.TruncatedSVD(k).fit(X).singular_values_,
        },
        against="assay LSI",
        quality=lambda values: f"{float(values @ values):.6f}",
        rounds=5,
    )


def _regression(X: Any, y: Any) -> list[dict[str, Any]]:
    mean = np.asarray(X.mean(axis=0)).ravel()

    def back(r: Any) -> Any:
        return X.T @ r - mean * r.sum()

    def gradient(coef: Any) -> str:
        left = (y - y.mean()) - (X @ coef - mean @ coef)
        return f"{np.linalg.norm(back(left) - coef) / np.linalg.norm(back(y - y.mean())):.0e}"

    def peer(solver: Any, tol: float) -> Any:
        return linear_model.Ridge(1.0, solver=solver, tol=tol).fit(X, y).coef_

    return compare(
        _named("ridge regression; quality: gradient, relative to that at zero"),
        {
            "assay Ridge": lambda: Ridge(1.0).fit(X, y).coef_,
            "scikit-learn Ridge, sparse_cg to 1e-10": lambda: peer("sparse_cg", 1e-10),
            "scikit-learn Ridge, lsqr to 1e-10": lambda: peer("lsqr", 1e-10),
            "scikit-learn Ridge as it comes (1e-4)": lambda: peer("auto", 1e-4),
        },
        against="assay Ridge",
        quality=gradient,
        rounds=9,
    )


def _classes(X: Any, y: Any) -> list[dict[str, Any]]:
    def loss(model: Any) -> str:
        ahead = np.where(y, 1.0, -1.0) * model.decision_function(X)
        coef = np.asarray(model.coef_).ravel()
        return f"{np.logaddexp(0.0, -ahead).sum() + 0.5 * float(coef @ coef):.6f}"

    found = compare(
        _named("logistic regression; quality: penalised loss"),
        {
            "assay Logistic": lambda: Logistic().fit(X, y),
            "scikit-learn LogisticRegression to 1e-8": lambda: linear_model.LogisticRegression(
                tol=1e-8, max_iter=1_000
            ).fit(X, y),
            "scikit-learn LogisticRegression as it comes (1e-4)": lambda: linear_model.LogisticRegression().fit(X, y),
        },
        against="assay Logistic",
        quality=loss,
        rounds=5,
    )
    return found + compare(
        _named("two classes by one solution; quality: share of fitted rows told right"),
        {
            "assay Fisher(shrinkage=0.5)": lambda: Fisher(shrinkage=0.5).fit(X, y),
            "assay Fisher(shrinkage='auto')": lambda: Fisher(shrinkage="auto").fit(X, y),
            "assay NaiveBayes, multinomial": lambda: NaiveBayes("multinomial").fit(X, y),
            "scikit-learn RidgeClassifier": lambda: linear_model.RidgeClassifier(tol=1e-10).fit(X, y),
            "scikit-learn MultinomialNB": lambda: naive_bayes.MultinomialNB().fit(X, y),
        },
        against="assay Fisher(shrinkage=0.5)",
        quality=lambda model: f"{np.mean(model.predict(X) == y):.4f}",
        rounds=5,
    )


def _groups(X: Any, k: int = 8) -> list[dict[str, Any]]:
    return compare(
        _named(f"k-means, {k} groups, 10 starts; quality: inertia"),
        {
            "assay KMeans": lambda: KMeans(k, n_init=10, random_state=0).fit(X).inertia_,
            "scikit-learn KMeans": lambda: cluster.KMeans(k, n_init=10, random_state=0).fit(X).inertia_,
        },
        against="assay KMeans",
        quality=lambda inertia: f"{inertia:.1f}",
        rounds=3,
    )


if __name__ == "__main__":
    show(run())
