"""Latent semantic indexing of texts beside scikit-learn (ARPACK, randomised) and gensim; and of a wide sparse table."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline

from assay import LSI
from benchmarks.harness import compare, show


def run() -> list[dict[str, Any]]:
    return _texts(20_000, 100, rounds=3) + _table((5_000, 50_000), 1e-3, 50, rounds=5)


def short_texts(n: int, topics: int = 40, vocabulary: int = 12_000) -> list[str]:
    """Messages of about 15 words, half of them of one of some topics."""
    rng = np.random.default_rng(0)
    words = np.array([f"w{j:x}q" for j in range(vocabulary)], dtype=object)
    base = np.cumsum(1.0 / (np.arange(vocabulary) + 10.0))
    base /= base[-1]
    order = [rng.permutation(vocabulary) for _ in range(topics)]
    lengths = np.maximum(rng.lognormal(np.log(14), 0.5, n).astype(int), 2)
    texts = []
    for length in lengths:
        drawn = np.searchsorted(base, rng.random(length))
        special = rng.random(length) < 0.5
        drawn[special] = order[rng.integers(topics)][drawn[special]]
        texts.append(" ".join(words[drawn]))
    return texts


def _texts(n: int, k: int, rounds: int) -> list[dict[str, Any]]:
    texts = short_texts(n)
    table = TfidfVectorizer().fit_transform(texts)
    total = float((table.data**2).sum())

    def sklearn(algorithm: str) -> np.ndarray:
        svd = TruncatedSVD(k, algorithm=algorithm, random_state=0)
        make_pipeline(TfidfVectorizer(), svd).fit_transform(texts)
        return np.asarray(svd.singular_values_)

    def assay(weights: Any) -> np.ndarray:
        return LSI(k, weights=weights, stop_words=None).fit_texts(texts).singular_values_

    contenders: dict[str, Callable[[], np.ndarray]] = {
        "assay LSI.fit_texts": lambda: assay("tf-idf"),
        "scikit-learn, arpack": lambda: sklearn("arpack"),
        "scikit-learn, randomized": lambda: sklearn("randomized"),
    }
    if importlib.util.find_spec("gensim"):
        from gensim.corpora import Dictionary
        from gensim.models import LsiModel, TfidfModel

        def gensim() -> np.ndarray:
            cut = [text.split() for text in texts]
            terms = Dictionary(cut)
            counts = [terms.doc2bow(one) for one in cut]
            idf = TfidfModel(counts, wglobal=lambda df, total: np.log((1 + total) / (1 + df)) + 1)
            return np.asarray(LsiModel(idf[counts], id2word=terms, num_topics=k, random_seed=0).projection.s)

        contenders["gensim LsiModel"] = gensim
    return compare(
        f"{n:,} short texts to {k} dimensions, tf-idf; quality: share of the sum of squares captured",
        contenders,
        against="assay LSI.fit_texts",
        quality=lambda values: f"{float((values**2).sum()) / total:.6f}",
        rounds=rounds,
    )


def _table(shape: tuple[int, int], density: float, k: int, rounds: int) -> list[dict[str, Any]]:
    X = sparse.random_array(shape, density=density, rng=np.random.default_rng(0), format="csr")
    total = float((X.data**2).sum())

    def sklearn(algorithm: str) -> np.ndarray:
        return np.asarray(TruncatedSVD(k, algorithm=algorithm, random_state=0).fit(X).singular_values_)

    return compare(
        f"sparse {shape[0]:,} x {shape[1]:,}, density {density}, without gaps, to {k} dimensions; quality as above",
        {
            "assay LSI.fit": lambda: LSI(k).fit(X).singular_values_,
            "scikit-learn, arpack": lambda: sklearn("arpack"),
            "scikit-learn, randomized": lambda: sklearn("randomized"),
        },
        against="assay LSI.fit",
        quality=lambda values: f"{float((values**2).sum()) / total:.6f}",
        rounds=rounds,
    )


if __name__ == "__main__":
    show(run())
