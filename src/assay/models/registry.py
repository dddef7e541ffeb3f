"""What each model has beside its class: its guide, its plot, its benchmark. `assay.public` says where the class is.

The conformance tests read this table: what is listed here is exported by `assay`, documented, doctested, put through
scikit-learn's checks, and benchmarked if it is hot.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Any

from assay.errors import ParameterError
from assay.public import MODULES


@dataclass(frozen=True, slots=True)
class Entry:
    """One model.

    Attributes:
        guide: the page of docs/guide that shows it.
        plot: the function of views.models that draws it, as "module:function".
        benchmark: the script of benchmarks/ that measures it; None if it is not hot.
        needs: the package of an extra without which it cannot be fitted.
    """

    guide: str
    plot: str
    benchmark: str | None = None
    needs: str | None = None


MODELS: dict[str, Entry] = {
    "PCA": Entry(guide="components.md", plot="components:pca", benchmark="components.py"),
    "MCA": Entry(guide="categories.md", plot="components:mixed_axes", benchmark="categories.py"),
    "MixedPCA": Entry(guide="categories.md", plot="components:mixed_axes", benchmark="categories.py"),
    "KernelPCA": Entry(guide="kernel-pca.md", plot="components:kernel_pca", benchmark="kernel_pca.py"),
    "LSI": Entry(guide="lsi.md", plot="components:lsi", benchmark="lsi.py"),
    "ClassicalMDS": Entry(guide="mds.md", plot="embedding:classical_mds", benchmark="mds.py"),
    "MDS": Entry(guide="mds.md", plot="embedding:mds", benchmark="mds.py"),
    "DiffusionMap": Entry(guide="diffusion.md", plot="embedding:row_map", benchmark="kernel_pca.py"),
    "SNE": Entry(guide="tsne.md", plot="embedding:row_map"),
    "SymmetricSNE": Entry(guide="tsne.md", plot="embedding:row_map"),
    "TSNE": Entry(guide="tsne.md", plot="embedding:row_map", benchmark="tsne.py"),
    "VAE": Entry(guide="vae.md", plot="embedding:vae", needs="jax"),
    "FillMissing": Entry(guide="missing.md", plot="missing:filled", benchmark="missing.py"),
    "NetworkEmbedding": Entry(guide="network-embedding.md", plot="network:node_map", benchmark="network_embedding.py"),
    "SpectralClustering": Entry(guide="spectral-clustering.md", plot="cluster:spectral", benchmark="spectral.py"),
    "Stringing": Entry(guide="stringing.md", plot="embedding:stringing"),
    "Isomap": Entry(guide="isomap.md", plot="embedding:row_map", benchmark="isomap.py"),
    "GaussianMixture": Entry(guide="mixture.md", plot="cluster:mixture", benchmark="mixture.py"),
    "ZScore": Entry(guide="anomalies.md", plot="anomaly:detector", benchmark="anomalies.py"),
    "Mahalanobis": Entry(guide="anomalies.md", plot="anomaly:detector", benchmark="anomalies.py"),
    "SVDD": Entry(guide="svdd.md", plot="anomaly:detector", benchmark="svdd.py"),
    "RobustSVDD": Entry(guide="robust-svdd.md", plot="anomaly:detector", benchmark="robust_svdd.py"),
    "SVM": Entry(guide="svm.md", plot="prediction:svm", benchmark="svm.py"),
    "KMeans": Entry(guide="kmeans.md", plot="cluster:kmeans", benchmark="kmeans.py"),
    "Agglomerative": Entry(guide="hierarchical.md", plot="cluster:tree", benchmark="agglomerative.py"),
    "LeastSquares": Entry(guide="regression.md", plot="prediction:least_squares", benchmark="ridge.py"),
    "Ridge": Entry(guide="regression.md", plot="prediction:ridge", benchmark="ridge.py"),
    "ElasticNet": Entry(guide="regression.md", plot="prediction:ridge", benchmark="ridge.py"),
    "SVR": Entry(guide="svr.md", plot="prediction:regressor", benchmark="svr.py"),
    "Divisive": Entry(guide="divisive.md", plot="cluster:tree", benchmark="divisive.py"),
    "Logistic": Entry(guide="logistic.md", plot="prediction:classifier", benchmark="logistic.py"),
    "CCA": Entry(guide="cca.md", plot="correlation:linear_pairs", benchmark="cca.py"),
    "MultisetCCA": Entry(guide="cca.md", plot="correlation:sets", benchmark="cca.py"),
    "TemporalCCA": Entry(guide="temporal-cca.md", plot="correlation:delay"),
    "NonlinearCCA": Entry(guide="nonlinear-cca.md", plot="correlation:linear_pairs"),
    "KernelCCA": Entry(guide="nonlinear-cca.md", plot="correlation:kernel_pairs"),
    "DifferenceOfMeans": Entry(guide="discriminant.md", plot="prediction:variates", benchmark="discriminant.py"),
    "Fisher": Entry(guide="discriminant.md", plot="prediction:variates", benchmark="discriminant.py"),
    "GaussianRule": Entry(guide="discriminant.md", plot="prediction:classifier", benchmark="discriminant.py"),
    "NaiveBayes": Entry(guide="naive-bayes.md", plot="prediction:classifier", benchmark="naive_bayes.py"),
    "Perceptron": Entry(guide="perceptron.md", plot="prediction:classifier"),
    "NearestCentroid": Entry(guide="subspace.md", plot="prediction:centroids"),
    "SubspaceClassifier": Entry(guide="subspace.md", plot="prediction:refusing"),
    "MatrixFactorization": Entry(guide="recommender.md", plot="ratings:factors", benchmark="recommender.py"),
}

# Values that a saved model may hold beside numbers and text.
VALUES: dict[str, str] = {
    **{name: MODULES[name] for name in ("Moments", "GroupedMoments", "SharedMoments", "ClassCounts", "Watch")},
    "Encoding": "assay.data.columns.encoding",
    "Predictor": "assay.models.predictor",
}

# Frozen dataclasses that a saved model may hold: options, and the summary it was fitted from. Their fields are saved.
_OPTIONS = "Linear Polynomial Gaussian Precomputed Nearest Within Powers Products RandomFourier HeldOutRidge"
RECORDS: dict[str, str] = {
    **{name: MODULES[name] for name in [*_OPTIONS.split(), "Gram", "Ratings"]},
    "ClassLaws": "assay.models.prediction.naive_bayes.laws",
    "Gower": "assay.summary.distances.metrics",
    "Landmarks": "assay.summary.gram.landmarks",
    "Centring": "assay.summary.gram.gram",
    "TermWeights": "assay.models.components.lsi.term_weights",
}


def model_class(name: str) -> type[Any]:
    """The class of a registered model.

    >>> model_class("PCA").__name__
    'PCA'
    """
    if name not in MODELS:
        raise ParameterError(f"no model {name!r}; there are {', '.join(MODELS)}")
    found: type[Any] = getattr(import_module(MODULES[name]), name)
    return found
