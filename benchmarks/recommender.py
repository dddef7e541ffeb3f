"""MatrixFactorization beside surprise (SGD), implicit (ALS) and scikit-learn's TruncatedSVD: MovieLens and Jester."""

from __future__ import annotations

import importlib.util
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from assay import MatrixFactorization, Ratings
from assay.models.prediction.recommender.ranking import ranked
from benchmarks.harness import compare, show

DATA = Path(__file__).parents[2] / "shared/data"
FIRST = 20


def run() -> list[dict[str, Any]]:
    rows = []
    for name, file in (
        ("MovieLens, 100,004 ratings", "movielens_latest_small"),
        ("Jester, 363,209 ratings", "jester5k"),
    ):
        path = DATA / file / "ratings.csv"
        seen = Ratings.of(path) if path.exists() else planted()
        for k in (10, 20):
            rows += explicit(seen, name if path.exists() else f"planted in the place of {name}", k)
        if file == "movielens_latest_small":
            rows += implicit(seen, name, 20)
    return rows


def planted(n: int = 700, d: int = 2000, m: int = 100_000) -> Ratings:
    """Ratings with biases, three factors and noise."""
    rng = np.random.default_rng(0)
    cells = np.unique(rng.integers(n, size=m) * d + np.minimum(rng.pareto(1.0, m) * d / 20, d - 1).astype(int))
    user, item = cells // d, cells % d
    P, Q = rng.normal(size=(n, 4)), rng.normal(size=(d, 4))
    value = 3.5 + 0.4 * (P[user, 3] + Q[item, 3]) + 0.4 * (P[user, :3] * Q[item, :3]).sum(axis=1)
    return Ratings.of([(u, i, r) for u, i, r in zip(user, item, value + rng.normal(size=len(user)), strict=True)])


def explicit(seen: Ratings, name: str, k: int) -> list[dict[str, Any]]:
    """Errors on a tenth of the ratings."""
    test = seen.folds(10, 0) == 0
    train, user, item, truth = seen.subset(~test), seen.user[test], seen.item[test], seen.value[test]
    low, high = float(train.value.min()), float(train.value.max())

    def assay() -> np.ndarray:
        model = MatrixFactorization(k).fit(train)
        both = np.einsum("mk,mk->m", model.user_factors_[user], model.item_factors_[item])
        return np.clip(model.mean_ + model.user_bias_[user] + model.item_bias_[item] + both, low, high)

    contenders: dict[str, Callable[[], np.ndarray]] = {
        "assay MatrixFactorization": assay,
        "assay, biases alone": lambda: _biases(train, user, item, low, high),
        "scikit-learn TruncatedSVD": lambda: _truncated(train, user, item, k, low, high),
    }
    if importlib.util.find_spec("surprise"):
        contenders |= _surprise(train, user, item, k)
    return compare(
        f"{k} factors, {name}; quality: held-out error (RMSE)",
        contenders,
        against="assay MatrixFactorization",
        quality=lambda found: f"{np.sqrt(np.mean((found - truth) ** 2)):.4f}",
        rounds=3,
    )


def implicit(seen: Ratings, name: str, k: int) -> list[dict[str, Any]]:
    """Which items users turned to, a fifth held out."""
    test = seen.folds(5, 0) == 0
    ones = seen.with_values(np.ones(len(seen)))
    train, held = ones.subset(~test), ones.subset(test)

    def assay() -> tuple[np.ndarray, np.ndarray]:
        model = MatrixFactorization(k, feedback="implicit", alpha=1.0, tol=1e-2).fit(train)
        return model.user_factors_, model.item_factors_

    contenders: dict[str, Callable[[], tuple[np.ndarray, np.ndarray]]] = {
        "assay MatrixFactorization": assay,
        "popularity": lambda: (np.ones((seen.n_users, 1)), train.per_item[:, None].astype(float)),
    }
    if importlib.util.find_spec("implicit"):
        from implicit.als import AlternatingLeastSquares

        def theirs() -> tuple[np.ndarray, np.ndarray]:
            model = AlternatingLeastSquares(factors=k, regularization=1.0, alpha=2.0, iterations=15, random_state=0)
            model.fit(train.matrix.astype(np.float32), show_progress=False)
            return model.user_factors, model.item_factors

        contenders["implicit ALS"] = theirs

    def quality(found: tuple[np.ndarray, np.ndarray]) -> str:
        P, Q = (part.astype(np.float64) for part in found)
        got = ranked(lambda users: P[users] @ Q.T, train, held, FIRST)
        return f"recall {got.recall.mean():.3f}, NDCG {got.ndcg.mean():.3f}"

    return compare(
        f"{k} factors of counts, {name} as seen or not; quality: of the first {FIRST}",
        contenders,
        against="assay MatrixFactorization",
        quality=quality,
        rounds=3,
    )


def _biases(train: Ratings, user: Any, item: Any, low: float, high: float) -> np.ndarray:
    model = MatrixFactorization(0).fit(train)
    return np.clip(model.mean_ + model.user_bias_[user] + model.item_bias_[item], low, high)


def _truncated(train: Ratings, user: Any, item: Any, k: int, low: float, high: float) -> np.ndarray:
    """What is left of user and item means, missing as zero: as everybody writes it."""
    from sklearn.decomposition import TruncatedSVD

    mean = train.mean
    c = np.bincount(train.item, train.value - mean, train.n_items) / (train.per_item + 3)
    b = np.bincount(train.user, train.value - mean - c[train.item], train.n_users) / (train.per_user + 3)
    rest = train.with_values(train.value - mean - b[train.user] - c[train.item])
    svd = TruncatedSVD(k, random_state=0)
    U = svd.fit_transform(rest.matrix)
    return np.clip(mean + b[user] + c[item] + np.einsum("mk,km->m", U[user], svd.components_[:, item]), low, high)


def _surprise(train: Ratings, user: Any, item: Any, k: int) -> dict[str, Callable[[], np.ndarray]]:
    import surprise

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        scale = (float(train.value.min()), float(train.value.max()))
        import pandas as pd

        frame = pd.DataFrame({"user": train.user, "item": train.item, "rating": train.value})
        kept = surprise.Dataset.load_from_df(frame, surprise.Reader(rating_scale=scale)).build_full_trainset()
    pairs = list(zip(user.tolist(), item.tolist(), strict=True))

    def svd(**options: Any) -> np.ndarray:
        model = surprise.SVD(n_factors=k, random_state=0, **options).fit(kept)
        return np.array([model.predict(u, i).est for u, i in pairs])

    return {
        "surprise SVD, defaults": svd,
        "surprise SVD, 60 epochs, reg .1": lambda: svd(n_epochs=60, reg_all=0.1),
    }


if __name__ == "__main__":
    show(run())
