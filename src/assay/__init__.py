"""assay finds the structure in data, and says which of it would survive a second look.

Names are loaded when first used, so that `import assay` is quick.

>>> import assay
>>> assay.PCA.__name__
'PCA'
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from assay.version import __version__ as __version__

if TYPE_CHECKING:
    from assay.comparison.run import compare as compare
    from assay.data.columns.encoded import encode as encode
    from assay.data.fusion.fuse import fuse as fuse
    from assay.data.read import read as read
    from assay.data.splits import Folds as Folds
    from assay.data.splits import GroupedFolds as GroupedFolds
    from assay.data.splits import HoldOut as HoldOut
    from assay.data.splits import TimeBlocks as TimeBlocks
    from assay.engine.current import using as using
    from assay.evidence.by_chance import expected_by_chance as expected_by_chance
    from assay.evidence.classification import calibration as calibration
    from assay.evidence.classification import confusion as confusion
    from assay.evidence.classification import roc as roc
    from assay.evidence.curves import complexity_curve as complexity_curve
    from assay.evidence.curves import learning_curve as learning_curve
    from assay.evidence.evidence import Evidence as Evidence
    from assay.evidence.fidelity import fidelity as fidelity
    from assay.evidence.ratings import ratings_evidence as ratings_evidence
    from assay.evidence.validation import nested_validation as nested_validation
    from assay.evidence.validation import validate as validate
    from assay.evidence.vc import vc_bound as vc_bound
    from assay.evidence.vc import vc_dimension as vc_dimension
    from assay.linalg.normal.multivariate_normal import MultivariateNormal as MultivariateNormal
    from assay.models.anomaly.mahalanobis import Mahalanobis as Mahalanobis
    from assay.models.anomaly.robust_svdd.robust_svdd import RobustSVDD as RobustSVDD
    from assay.models.anomaly.svdd.svdd import SVDD as SVDD
    from assay.models.anomaly.zscore import ZScore as ZScore
    from assay.models.canonical import HeldOutRidge as HeldOutRidge
    from assay.models.cluster.agglomerative.agglomerative import Agglomerative as Agglomerative
    from assay.models.cluster.divisive.divisive import Divisive as Divisive
    from assay.models.cluster.kmeans.choose import choose_k as choose_k
    from assay.models.cluster.kmeans.cluster_indices import cluster_indices as cluster_indices
    from assay.models.cluster.kmeans.kmeans import KMeans as KMeans
    from assay.models.cluster.mixture.choose import choose_components as choose_components
    from assay.models.cluster.mixture.mixture import GaussianMixture as GaussianMixture
    from assay.models.cluster.spectral.spectral import SpectralClustering as SpectralClustering
    from assay.models.components.dispersion import dispersion as dispersion
    from assay.models.components.kernel_pca.kernel_pca import KernelPCA as KernelPCA
    from assay.models.components.lsi.lsi import LSI as LSI
    from assay.models.components.mixed.mca import MCA as MCA
    from assay.models.components.mixed.mixed_pca import MixedPCA as MixedPCA
    from assay.models.components.pca import PCA as PCA
    from assay.models.correlation.cca.cca import CCA as CCA
    from assay.models.correlation.dependence.dependence import dependence as dependence
    from assay.models.correlation.kernel_cca import KernelCCA as KernelCCA
    from assay.models.correlation.multiset_cca import MultisetCCA as MultisetCCA
    from assay.models.correlation.nonlinear_cca import NonlinearCCA as NonlinearCCA
    from assay.models.correlation.temporal_cca.temporal_cca import TemporalCCA as TemporalCCA
    from assay.models.decision.mdp.gym.explore import explore as explore
    from assay.models.decision.mdp.learning.learn import learn_mdp as learn_mdp
    from assay.models.decision.mdp.mdp import MDP as MDP
    from assay.models.embedding.classical_mds import ClassicalMDS as ClassicalMDS
    from assay.models.embedding.diffusion_map.diffusion_map import DiffusionMap as DiffusionMap
    from assay.models.embedding.isomap.isomap import Isomap as Isomap
    from assay.models.embedding.isomap.isomap_scales import isomap_scales as isomap_scales
    from assay.models.embedding.mds.mds import MDS as MDS
    from assay.models.embedding.sne.sne import SNE as SNE
    from assay.models.embedding.sne.symmetric_sne import SymmetricSNE as SymmetricSNE
    from assay.models.embedding.sne.tsne import TSNE as TSNE
    from assay.models.embedding.stringing import Stringing as Stringing
    from assay.models.embedding.stringing import stringing as stringing
    from assay.models.embedding.vae.vae import VAE as VAE
    from assay.models.exporting.to_onnx import to_onnx as to_onnx
    from assay.models.files import load as load
    from assay.models.missing.filling.fill import FillMissing as FillMissing
    from assay.models.network.communities.communities import communities as communities
    from assay.models.network.communities.communities import modularity as modularity
    from assay.models.network.embedding import NetworkEmbedding as NetworkEmbedding
    from assay.models.network.link_prediction.predict import predict_links as predict_links
    from assay.models.network.pagerank.pagerank import pagerank as pagerank
    from assay.models.prediction.difference_of_means import DifferenceOfMeans as DifferenceOfMeans
    from assay.models.prediction.elastic_net.elastic_net import ElasticNet as ElasticNet
    from assay.models.prediction.fisher import Fisher as Fisher
    from assay.models.prediction.forward_selection import forward_selection as forward_selection
    from assay.models.prediction.gaussian_rule.gaussian_rule import GaussianRule as GaussianRule
    from assay.models.prediction.least_squares.least_squares import LeastSquares as LeastSquares
    from assay.models.prediction.logistic.logistic import Logistic as Logistic
    from assay.models.prediction.naive_bayes.naive_bayes import NaiveBayes as NaiveBayes
    from assay.models.prediction.nearest_centroid import NearestCentroid as NearestCentroid
    from assay.models.prediction.perceptron.perceptron import Perceptron as Perceptron
    from assay.models.prediction.recommender.matrix_factorization import MatrixFactorization as MatrixFactorization
    from assay.models.prediction.ridge import Ridge as Ridge
    from assay.models.prediction.subspace import SubspaceClassifier as SubspaceClassifier
    from assay.models.prediction.svm.svm import SVM as SVM
    from assay.models.prediction.svm.svr import SVR as SVR
    from assay.optimize.enclosing_ball import enclosing_ball as enclosing_ball
    from assay.study.run import study as study
    from assay.summary.classes.class_counts import ClassCounts as ClassCounts
    from assay.summary.distances.dissimilarities import euclidean_dimension as euclidean_dimension
    from assay.summary.gram.expanded import expand as expand
    from assay.summary.gram.features import Powers as Powers
    from assay.summary.gram.features import Products as Products
    from assay.summary.gram.features import RandomFourier as RandomFourier
    from assay.summary.gram.gram import Gram as Gram
    from assay.summary.gram.kernels import Gaussian as Gaussian
    from assay.summary.gram.kernels import Linear as Linear
    from assay.summary.gram.kernels import Polynomial as Polynomial
    from assay.summary.gram.kernels import Precomputed as Precomputed
    from assay.summary.gram.mercer import mercer_check as mercer_check
    from assay.summary.graph.conductance import conductance as conductance
    from assay.summary.graph.graph import Graph as Graph
    from assay.summary.graph.options import Nearest as Nearest
    from assay.summary.graph.options import Within as Within
    from assay.summary.incomplete.normal_em import normal_em as normal_em
    from assay.summary.moments.grouped import GroupedMoments as GroupedMoments
    from assay.summary.moments.moments import Moments as Moments
    from assay.summary.moments.running import running_moments as running_moments
    from assay.summary.network.networks import read_network as read_network
    from assay.summary.ratings.ratings import Ratings as Ratings
    from assay.summary.sharing.shared import SharedMoments as SharedMoments
    from assay.summary.sharing.summarize import summarize as summarize
    from assay.summary.texts.term_documents import TermDocuments as TermDocuments
    from assay.summary.triples.triples import Triples as Triples
    from assay.views.plot import plot as plot
    from assay.watch.watch import Watch as Watch

_HOMES = {
    "read": "assay.data.read",
    "encode": "assay.data.columns.encoded",
    "expand": "assay.summary.gram.expanded",
    "using": "assay.engine.current",
    "fuse": "assay.data.fusion.fuse",
    "study": "assay.study",
    "compare": "assay.comparison.run",
    "load": "assay.models.files",
    "to_onnx": "assay.models.exporting.to_onnx",
    "plot": "assay.views.plot",
    "Watch": "assay.watch.watch",
    "dependence": "assay.models.correlation.dependence.dependence",
    "CCA": "assay.models.correlation.cca.cca",
    "MultisetCCA": "assay.models.correlation.multiset_cca",
    "TemporalCCA": "assay.models.correlation.temporal_cca.temporal_cca",
    "NonlinearCCA": "assay.models.correlation.nonlinear_cca",
    "KernelCCA": "assay.models.correlation.kernel_cca",
    "HeldOutRidge": "assay.models.canonical",
    "Powers": "assay.summary.gram.features",
    "Products": "assay.summary.gram.features",
    "RandomFourier": "assay.summary.gram.features",
    "dispersion": "assay.models.components.dispersion",
    "enclosing_ball": "assay.optimize.enclosing_ball",
    "ZScore": "assay.models.anomaly.zscore",
    "Mahalanobis": "assay.models.anomaly.mahalanobis",
    "SVDD": "assay.models.anomaly.svdd.svdd",
    "RobustSVDD": "assay.models.anomaly.robust_svdd.robust_svdd",
    "SVM": "assay.models.prediction.svm.svm",
    "mercer_check": "assay.summary.gram.mercer",
    "Evidence": "assay.evidence.evidence",
    "HoldOut": "assay.data.splits",
    "Folds": "assay.data.splits",
    "GroupedFolds": "assay.data.splits",
    "TimeBlocks": "assay.data.splits",
    "validate": "assay.evidence.validation",
    "nested_validation": "assay.evidence.validation",
    "complexity_curve": "assay.evidence.curves",
    "learning_curve": "assay.evidence.curves",
    "expected_by_chance": "assay.evidence.by_chance",
    "ratings_evidence": "assay.evidence.ratings",
    "vc_bound": "assay.evidence.vc",
    "vc_dimension": "assay.evidence.vc",
    "roc": "assay.evidence.classification",
    "calibration": "assay.evidence.classification",
    "confusion": "assay.evidence.classification",
    "Moments": "assay.summary.moments.moments",
    "GroupedMoments": "assay.summary.moments.grouped",
    "SharedMoments": "assay.summary.sharing.shared",
    "summarize": "assay.summary.sharing.summarize",
    "ClassCounts": "assay.summary.classes.class_counts",
    "read_network": "assay.summary.network.networks",
    "Triples": "assay.summary.triples.triples",
    "Ratings": "assay.summary.ratings.ratings",
    "MultivariateNormal": "assay.linalg.normal.multivariate_normal",
    "normal_em": "assay.summary.incomplete.normal_em",
    "TermDocuments": "assay.summary.texts.term_documents",
    "running_moments": "assay.summary.moments.running",
    "Gram": "assay.summary.gram.gram",
    "Graph": "assay.summary.graph.graph",
    "Nearest": "assay.summary.graph.options",
    "Within": "assay.summary.graph.options",
    "Linear": "assay.summary.gram.kernels",
    "Polynomial": "assay.summary.gram.kernels",
    "Gaussian": "assay.summary.gram.kernels",
    "Precomputed": "assay.summary.gram.kernels",
    "PCA": "assay.models.components.pca",
    "MCA": "assay.models.components.mixed.mca",
    "MixedPCA": "assay.models.components.mixed.mixed_pca",
    "KernelPCA": "assay.models.components.kernel_pca.kernel_pca",
    "LSI": "assay.models.components.lsi.lsi",
    "ClassicalMDS": "assay.models.embedding.classical_mds",
    "MDS": "assay.models.embedding.mds.mds",
    "euclidean_dimension": "assay.summary.distances.dissimilarities",
    "DiffusionMap": "assay.models.embedding.diffusion_map.diffusion_map",
    "Isomap": "assay.models.embedding.isomap.isomap",
    "isomap_scales": "assay.models.embedding.isomap.isomap_scales",
    "fidelity": "assay.evidence.fidelity",
    "SNE": "assay.models.embedding.sne.sne",
    "SymmetricSNE": "assay.models.embedding.sne.symmetric_sne",
    "TSNE": "assay.models.embedding.sne.tsne",
    "VAE": "assay.models.embedding.vae.vae",
    "NetworkEmbedding": "assay.models.network.embedding",
    "pagerank": "assay.models.network.pagerank.pagerank",
    "communities": "assay.models.network.communities.communities",
    "modularity": "assay.models.network.communities.communities",
    "predict_links": "assay.models.network.link_prediction.predict",
    "SpectralClustering": "assay.models.cluster.spectral.spectral",
    "conductance": "assay.summary.graph.conductance",
    "GaussianMixture": "assay.models.cluster.mixture.mixture",
    "choose_components": "assay.models.cluster.mixture.choose",
    "Stringing": "assay.models.embedding.stringing",
    "stringing": "assay.models.embedding.stringing",
    "FillMissing": "assay.models.missing.filling.fill",
    "KMeans": "assay.models.cluster.kmeans.kmeans",
    "choose_k": "assay.models.cluster.kmeans.choose",
    "cluster_indices": "assay.models.cluster.kmeans.cluster_indices",
    "Agglomerative": "assay.models.cluster.agglomerative.agglomerative",
    "Divisive": "assay.models.cluster.divisive.divisive",
    "Logistic": "assay.models.prediction.logistic.logistic",
    "LeastSquares": "assay.models.prediction.least_squares.least_squares",
    "Ridge": "assay.models.prediction.ridge",
    "ElasticNet": "assay.models.prediction.elastic_net.elastic_net",
    "SVR": "assay.models.prediction.svm.svr",
    "forward_selection": "assay.models.prediction.forward_selection",
    "DifferenceOfMeans": "assay.models.prediction.difference_of_means",
    "Fisher": "assay.models.prediction.fisher",
    "GaussianRule": "assay.models.prediction.gaussian_rule.gaussian_rule",
    "NaiveBayes": "assay.models.prediction.naive_bayes.naive_bayes",
    "Perceptron": "assay.models.prediction.perceptron.perceptron",
    "NearestCentroid": "assay.models.prediction.nearest_centroid",
    "SubspaceClassifier": "assay.models.prediction.subspace",
    "MatrixFactorization": "assay.models.prediction.recommender.matrix_factorization",
    "MDP": "assay.models.decision.mdp.mdp",
    "explore": "assay.models.decision.mdp.gym.explore",
    "learn_mdp": "assay.models.decision.mdp.learning.learn",
}

__all__ = ["__version__", *_HOMES]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'assay' has no attribute {name!r}")
    home = import_module(_HOMES[name])
    # the room `study` is itself callable, so that assay.study(data) and assay.study.run both work
    value = home if home.__name__ == f"assay.{name}" else getattr(home, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
