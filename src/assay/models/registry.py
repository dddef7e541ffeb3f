"""Every model, once: where it lives, which question it answers, whether it must be fast.

The conformance tests read this table: what is listed here is exported by `assay`, documented, doctested, put through
scikit-learn's checks, and benchmarked if it is hot.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Any

from assay.errors import ParameterError


@dataclass(frozen=True, slots=True)
class Entry:
    """One model.

    Attributes:
        module: where its class lives.
        guide: the page of docs/guide that shows it.
        benchmark: the script of benchmarks/ that measures it; None if it is not hot.
        needs: the package of an extra without which it cannot be fitted.
    """

    module: str
    guide: str
    benchmark: str | None = None
    needs: str | None = None


MODELS: dict[str, Entry] = {
    "PCA": Entry("assay.models.components.pca", guide="components.md", benchmark="components.py"),
    "KernelPCA": Entry("assay.models.components.kernel_pca", guide="kernel-pca.md", benchmark="kernel_pca.py"),
    "LSI": Entry("assay.models.components.lsi", guide="lsi.md"),
    "ClassicalMDS": Entry("assay.models.embedding.classical_mds", guide="mds.md", benchmark="mds.py"),
    "MDS": Entry("assay.models.embedding.mds", guide="mds.md", benchmark="mds.py"),
    "DiffusionMap": Entry("assay.models.embedding.diffusion_map", guide="diffusion.md", benchmark="kernel_pca.py"),
    "SNE": Entry("assay.models.embedding.sne", guide="tsne.md"),
    "SymmetricSNE": Entry("assay.models.embedding.symmetric_sne", guide="tsne.md"),
    "TSNE": Entry("assay.models.embedding.tsne", guide="tsne.md", benchmark="tsne.py"),
    "VAE": Entry("assay.models.embedding.vae.vae", guide="vae.md", needs="jax"),
    "FillMissing": Entry("assay.models.missing.fill", guide="missing.md", benchmark="missing.py"),
    "NetworkEmbedding": Entry(
        "assay.models.network.embedding", guide="network-embedding.md", benchmark="network_embedding.py"
    ),
    "SpectralClustering": Entry(
        "assay.models.cluster.spectral.spectral", guide="spectral-clustering.md", benchmark="spectral.py"
    ),
    "Stringing": Entry("assay.models.embedding.stringing", guide="stringing.md"),
    "Isomap": Entry("assay.models.embedding.isomap", guide="isomap.md", benchmark="isomap.py"),
    "GaussianMixture": Entry("assay.models.cluster.mixture.mixture", guide="mixture.md", benchmark="mixture.py"),
    "ZScore": Entry("assay.models.anomaly.zscore", guide="anomalies.md", benchmark="anomalies.py"),
    "Mahalanobis": Entry("assay.models.anomaly.mahalanobis", guide="anomalies.md", benchmark="anomalies.py"),
    "SVDD": Entry("assay.models.anomaly.svdd", guide="svdd.md", benchmark="svdd.py"),
    "RobustSVDD": Entry("assay.models.anomaly.robust_svdd", guide="robust-svdd.md", benchmark="robust_svdd.py"),
    "SVM": Entry("assay.models.prediction.svm.svm", guide="svm.md", benchmark="svm.py"),
    "KMeans": Entry("assay.models.cluster.kmeans.kmeans", guide="kmeans.md", benchmark="kmeans.py"),
    "Agglomerative": Entry("assay.models.cluster.agglomerative", guide="hierarchical.md", benchmark="agglomerative.py"),
    "LeastSquares": Entry("assay.models.prediction.least_squares", guide="regression.md", benchmark="ridge.py"),
    "Ridge": Entry("assay.models.prediction.ridge", guide="regression.md", benchmark="ridge.py"),
    "SVR": Entry("assay.models.prediction.svr.svr", guide="svr.md", benchmark="svr.py"),
    "Divisive": Entry("assay.models.cluster.divisive.divisive", guide="divisive.md", benchmark="divisive.py"),
    "Logistic": Entry("assay.models.prediction.logistic.logistic", guide="logistic.md", benchmark="logistic.py"),
    "CCA": Entry("assay.models.correlation.cca", guide="cca.md", benchmark="cca.py"),
    "TemporalCCA": Entry("assay.models.correlation.temporal_cca", guide="temporal-cca.md"),
    "NonlinearCCA": Entry("assay.models.correlation.nonlinear_cca", guide="nonlinear-cca.md"),
    "KernelCCA": Entry("assay.models.correlation.kernel_cca", guide="nonlinear-cca.md"),
    "DifferenceOfMeans": Entry(
        "assay.models.prediction.difference_of_means", guide="discriminant.md", benchmark="discriminant.py"
    ),
    "Fisher": Entry("assay.models.prediction.fisher", guide="discriminant.md", benchmark="discriminant.py"),
    "GaussianRule": Entry(
        "assay.models.prediction.gaussian_rule", guide="discriminant.md", benchmark="discriminant.py"
    ),
    "NaiveBayes": Entry(
        "assay.models.prediction.naive_bayes.naive_bayes", guide="naive-bayes.md", benchmark="naive_bayes.py"
    ),
    "Perceptron": Entry("assay.models.prediction.perceptron", guide="perceptron.md"),
    "NearestCentroid": Entry("assay.models.prediction.nearest_centroid", guide="subspace.md"),
    "SubspaceClassifier": Entry("assay.models.prediction.subspace", guide="subspace.md"),
}

# Values that a saved model may hold beside numbers and text.
VALUES: dict[str, str] = {
    "Moments": "assay.summary.moments",
    "GroupedMoments": "assay.summary.grouped",
    "ClassCounts": "assay.summary.class_counts",
    "Encoding": "assay.data.columns.encoding",
}

# Frozen dataclasses that a saved model may hold: options, and the summary it was fitted from. Their fields are saved.
RECORDS: dict[str, str] = {
    "ClassLaws": "assay.models.prediction.naive_bayes.laws",
    "Linear": "assay.summary.kernels",
    "Polynomial": "assay.summary.kernels",
    "Gaussian": "assay.summary.kernels",
    "Precomputed": "assay.summary.kernels",
    "Nearest": "assay.summary.graph_options",
    "Within": "assay.summary.graph_options",
    "Landmarks": "assay.summary.landmarks",
    "Powers": "assay.summary.features",
    "Products": "assay.summary.features",
    "RandomFourier": "assay.summary.features",
    "HeldOutRidge": "assay.models.canonical",
    "Centring": "assay.summary.gram",
    "Gram": "assay.summary.gram",
}


def model_class(name: str) -> type[Any]:
    """The class of a registered model.

    >>> model_class("PCA").__name__
    'PCA'
    """
    if name not in MODELS:
        raise ParameterError(f"no model {name!r}; there are {', '.join(MODELS)}")
    found: type[Any] = getattr(import_module(MODELS[name].module), name)
    return found
