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
        plot: the function of views.models that draws it, as "module:function".
        benchmark: the script of benchmarks/ that measures it; None if it is not hot.
        needs: the package of an extra without which it cannot be fitted.
    """

    module: str
    guide: str
    plot: str
    benchmark: str | None = None
    needs: str | None = None


MODELS: dict[str, Entry] = {
    "PCA": Entry(
        "assay.models.components.pca", guide="components.md", plot="components:pca", benchmark="components.py"
    ),
    "MCA": Entry(
        "assay.models.components.mixed.mca",
        guide="categories.md",
        plot="components:mixed_axes",
        benchmark="categories.py",
    ),
    "MixedPCA": Entry(
        "assay.models.components.mixed.mixed_pca",
        guide="categories.md",
        plot="components:mixed_axes",
        benchmark="categories.py",
    ),
    "KernelPCA": Entry(
        "assay.models.components.kernel_pca.kernel_pca",
        guide="kernel-pca.md",
        plot="components:kernel_pca",
        benchmark="kernel_pca.py",
    ),
    "LSI": Entry("assay.models.components.lsi.lsi", guide="lsi.md", plot="components:lsi", benchmark="lsi.py"),
    "ClassicalMDS": Entry(
        "assay.models.embedding.classical_mds", guide="mds.md", plot="embedding:classical_mds", benchmark="mds.py"
    ),
    "MDS": Entry("assay.models.embedding.mds.mds", guide="mds.md", plot="embedding:mds", benchmark="mds.py"),
    "DiffusionMap": Entry(
        "assay.models.embedding.diffusion_map.diffusion_map",
        guide="diffusion.md",
        plot="embedding:row_map",
        benchmark="kernel_pca.py",
    ),
    "SNE": Entry("assay.models.embedding.sne.sne", guide="tsne.md", plot="embedding:row_map"),
    "SymmetricSNE": Entry("assay.models.embedding.sne.symmetric_sne", guide="tsne.md", plot="embedding:row_map"),
    "TSNE": Entry("assay.models.embedding.sne.tsne", guide="tsne.md", plot="embedding:row_map", benchmark="tsne.py"),
    "VAE": Entry("assay.models.embedding.vae.vae", guide="vae.md", plot="embedding:vae", needs="jax"),
    "FillMissing": Entry(
        "assay.models.missing.filling.fill", guide="missing.md", plot="missing:filled", benchmark="missing.py"
    ),
    "NetworkEmbedding": Entry(
        "assay.models.network.embedding",
        guide="network-embedding.md",
        plot="network:node_map",
        benchmark="network_embedding.py",
    ),
    "SpectralClustering": Entry(
        "assay.models.cluster.spectral.spectral",
        guide="spectral-clustering.md",
        plot="cluster:spectral",
        benchmark="spectral.py",
    ),
    "Stringing": Entry("assay.models.embedding.stringing", guide="stringing.md", plot="embedding:stringing"),
    "Isomap": Entry(
        "assay.models.embedding.isomap.isomap", guide="isomap.md", plot="embedding:row_map", benchmark="isomap.py"
    ),
    "GaussianMixture": Entry(
        "assay.models.cluster.mixture.mixture", guide="mixture.md", plot="cluster:mixture", benchmark="mixture.py"
    ),
    "ZScore": Entry(
        "assay.models.anomaly.zscore", guide="anomalies.md", plot="anomaly:detector", benchmark="anomalies.py"
    ),
    "Mahalanobis": Entry(
        "assay.models.anomaly.mahalanobis", guide="anomalies.md", plot="anomaly:detector", benchmark="anomalies.py"
    ),
    "SVDD": Entry("assay.models.anomaly.svdd.svdd", guide="svdd.md", plot="anomaly:detector", benchmark="svdd.py"),
    "RobustSVDD": Entry(
        "assay.models.anomaly.robust_svdd.robust_svdd",
        guide="robust-svdd.md",
        plot="anomaly:detector",
        benchmark="robust_svdd.py",
    ),
    "SVM": Entry("assay.models.prediction.svm.svm", guide="svm.md", plot="prediction:svm", benchmark="svm.py"),
    "KMeans": Entry(
        "assay.models.cluster.kmeans.kmeans", guide="kmeans.md", plot="cluster:kmeans", benchmark="kmeans.py"
    ),
    "Agglomerative": Entry(
        "assay.models.cluster.agglomerative.agglomerative",
        guide="hierarchical.md",
        plot="cluster:tree",
        benchmark="agglomerative.py",
    ),
    "LeastSquares": Entry(
        "assay.models.prediction.least_squares.least_squares",
        guide="regression.md",
        plot="prediction:least_squares",
        benchmark="ridge.py",
    ),
    "Ridge": Entry(
        "assay.models.prediction.ridge", guide="regression.md", plot="prediction:ridge", benchmark="ridge.py"
    ),
    "ElasticNet": Entry(
        "assay.models.prediction.elastic_net.elastic_net",
        guide="regression.md",
        plot="prediction:ridge",
        benchmark="ridge.py",
    ),
    "SVR": Entry("assay.models.prediction.svm.svr", guide="svr.md", plot="prediction:regressor", benchmark="svr.py"),
    "Divisive": Entry(
        "assay.models.cluster.divisive.divisive", guide="divisive.md", plot="cluster:tree", benchmark="divisive.py"
    ),
    "Logistic": Entry(
        "assay.models.prediction.logistic.logistic",
        guide="logistic.md",
        plot="prediction:classifier",
        benchmark="logistic.py",
    ),
    "CCA": Entry(
        "assay.models.correlation.cca.cca", guide="cca.md", plot="correlation:linear_pairs", benchmark="cca.py"
    ),
    "MultisetCCA": Entry(
        "assay.models.correlation.multiset_cca", guide="cca.md", plot="correlation:sets", benchmark="cca.py"
    ),
    "TemporalCCA": Entry(
        "assay.models.correlation.temporal_cca.temporal_cca", guide="temporal-cca.md", plot="correlation:delay"
    ),
    "NonlinearCCA": Entry(
        "assay.models.correlation.nonlinear_cca", guide="nonlinear-cca.md", plot="correlation:linear_pairs"
    ),
    "KernelCCA": Entry(
        "assay.models.correlation.kernel_cca", guide="nonlinear-cca.md", plot="correlation:kernel_pairs"
    ),
    "DifferenceOfMeans": Entry(
        "assay.models.prediction.difference_of_means",
        guide="discriminant.md",
        plot="prediction:variates",
        benchmark="discriminant.py",
    ),
    "Fisher": Entry(
        "assay.models.prediction.fisher",
        guide="discriminant.md",
        plot="prediction:variates",
        benchmark="discriminant.py",
    ),
    "GaussianRule": Entry(
        "assay.models.prediction.gaussian_rule.gaussian_rule",
        guide="discriminant.md",
        plot="prediction:classifier",
        benchmark="discriminant.py",
    ),
    "NaiveBayes": Entry(
        "assay.models.prediction.naive_bayes.naive_bayes",
        guide="naive-bayes.md",
        plot="prediction:classifier",
        benchmark="naive_bayes.py",
    ),
    "Perceptron": Entry(
        "assay.models.prediction.perceptron.perceptron", guide="perceptron.md", plot="prediction:classifier"
    ),
    "NearestCentroid": Entry(
        "assay.models.prediction.nearest_centroid", guide="subspace.md", plot="prediction:centroids"
    ),
    "SubspaceClassifier": Entry("assay.models.prediction.subspace", guide="subspace.md", plot="prediction:refusing"),
    "MatrixFactorization": Entry(
        "assay.models.prediction.recommender.matrix_factorization",
        guide="recommender.md",
        plot="ratings:factors",
        benchmark="recommender.py",
    ),
}

# Values that a saved model may hold beside numbers and text.
VALUES: dict[str, str] = {
    "Moments": "assay.summary.moments.moments",
    "GroupedMoments": "assay.summary.moments.grouped",
    "SharedMoments": "assay.summary.sharing.shared",
    "ClassCounts": "assay.summary.classes.class_counts",
    "Encoding": "assay.data.columns.encoding",
    "Watch": "assay.watch.watch",
}

# Frozen dataclasses that a saved model may hold: options, and the summary it was fitted from. Their fields are saved.
RECORDS: dict[str, str] = {
    "ClassLaws": "assay.models.prediction.naive_bayes.laws",
    "Linear": "assay.summary.gram.kernels",
    "Polynomial": "assay.summary.gram.kernels",
    "Gaussian": "assay.summary.gram.kernels",
    "Precomputed": "assay.summary.gram.kernels",
    "Nearest": "assay.summary.graph.options",
    "Within": "assay.summary.graph.options",
    "Gower": "assay.summary.distances.metrics",
    "Landmarks": "assay.summary.gram.landmarks",
    "Powers": "assay.summary.gram.features",
    "Products": "assay.summary.gram.features",
    "RandomFourier": "assay.summary.gram.features",
    "HeldOutRidge": "assay.models.canonical",
    "Centring": "assay.summary.gram.gram",
    "TermWeights": "assay.models.components.lsi.term_weights",
    "Gram": "assay.summary.gram.gram",
    "Ratings": "assay.summary.ratings.ratings",
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
