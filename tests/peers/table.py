"""Which estimators of scikit-learn are tested, by which of its modules, and how each is said in assay."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn import (
    cluster,
    cross_decomposition,
    decomposition,
    discriminant_analysis,
    linear_model,
    manifold,
    mixture,
    naive_bayes,
    neighbors,
    svm,
)  # fmt: skip
from tests.peers.adapters import Missing, Translation
from tests.peers.translated import Said, kernel, translation

import assay

MODULES = (
    "sklearn.decomposition.tests.test_pca",
    "sklearn.decomposition.tests.test_kernel_pca",
    "sklearn.cluster.tests.test_k_means",
    "sklearn.cluster.tests.test_hierarchical",
    "sklearn.cluster.tests.test_spectral",
    "sklearn.mixture.tests.test_gaussian_mixture",
    "sklearn.linear_model.tests.test_base",
    "sklearn.linear_model.tests.test_ridge",
    "sklearn.linear_model.tests.test_coordinate_descent",
    "sklearn.linear_model.tests.test_sparse_coordinate_descent",
    "sklearn.linear_model.tests.test_logistic",
    "sklearn.linear_model.tests.test_perceptron",
    "sklearn.svm.tests.test_svm",
    "sklearn.svm.tests.test_sparse",
    "sklearn.tests.test_naive_bayes",
    "sklearn.tests.test_discriminant_analysis",
    "sklearn.neighbors.tests.test_nearest_centroid",
    "sklearn.manifold.tests.test_mds",
    "sklearn.manifold.tests.test_classical_mds",
    "sklearn.manifold.tests.test_isomap",
    "sklearn.manifold.tests.test_t_sne",
    "sklearn.cross_decomposition.tests.test_pls",
)


def pca(said: Said, X: Any) -> Any:
    """`svd_solver` is one of assay's where it has the same meaning."""
    solver = {"full": "svd", "covariance_eigh": "moments", "randomized": "randomised"}.get(said("svd_solver"), "auto")
    n_components = said("n_components")
    if n_components == "mle":
        raise Missing("PCA(n_components='mle')")
    return assay.PCA(n_components, whiten=said("whiten"), solver=solver, random_state=said("random_state"))


def kernel_pca(said: Said, X: Any) -> Any:
    """Without a number of components: as many as rows."""
    n_components = said("n_components") or (len(X) if isinstance(X, list) else np.shape(X)[0] if X is not None else 2)
    said("fit_inverse_transform"), said("alpha"), said("remove_zero_eig")
    return assay.KernelPCA(n_components, kernel=kernel(said, X), random_state=said("random_state"))


def k_means(said: Said, X: Any) -> Any:
    """`init` by name or as centres."""
    names = ("n_clusters", "init", "n_init", "max_iter", "tol", "random_state")
    given = {name: said(name) for name in names}
    if callable(given["init"]) or (isinstance(given["init"], str) and given["init"] == "random"):
        raise Missing("KMeans(init='random' or a function)")
    return assay.KMeans(given.pop("n_clusters"), **given)


def agglomerative(said: Said, X: Any) -> Any:
    """Metrics and connectivity under the same names where the model takes them."""
    given = {"linkage": said("linkage"), "distance_threshold": said("distance_threshold")}
    if said("metric") == "precomputed":
        given["dissimilarity"] = "precomputed"
    elif said("metric") != "euclidean":
        raise Missing(f"AgglomerativeClustering(metric={said('metric')!r})")
    return assay.Agglomerative(said("n_clusters"), **given)


def spectral(said: Said, X: Any) -> Any:
    """`affinity` is a graph or a kernel."""
    affinity, neighbours, gamma = said("affinity"), said("n_neighbors"), said("gamma")
    said("n_components"), said("n_init")
    if affinity == "rbf":
        how: dict[str, Any] = {"graph": None, "kernel": assay.Gaussian(sigma=1 / np.sqrt(2 * gamma))}
    elif affinity == "nearest_neighbors":
        how = {"graph": assay.Nearest(neighbours)}
    elif affinity == "precomputed":
        how = {"graph": None, "kernel": "precomputed"}
    else:
        raise Missing(f"SpectralClustering(affinity={affinity!r})")
    return assay.SpectralClustering(said("n_clusters"), random_state=said("random_state"), **how)


def gaussian_mixture(said: Said, X: Any) -> Any:
    """The same words, but `reg_covar`, which is a share of each column's variance in assay."""
    names = (
        "covariance_type",
        "tol",
        "max_iter",
        "n_init",
        "init_params",
        "weights_init",
        "means_init",
        "precisions_init",
    )
    given = {name: said(name) for name in (*names, "random_state")}
    said("reg_covar")
    if given["init_params"] not in ("kmeans", "random_from_data"):
        raise Missing(f"GaussianMixture(init_params={given['init_params']!r})")
    return assay.GaussianMixture(said("n_components"), **given)


def least_squares(said: Said, X: Any) -> Any:
    """Nothing but the intercept."""
    return assay.LeastSquares(fit_intercept=said("fit_intercept"))


def ridge(said: Said, X: Any) -> Any:
    """One penalty."""
    return assay.Ridge(said("alpha"), fit_intercept=said("fit_intercept"))


def ridge_cv(said: Said, X: Any) -> Any:
    """The penalty of a path, by folds; leave-one-out has no word."""
    if said("cv") is None:
        raise Missing("RidgeCV(cv=None), leave one out")
    return assay.Ridge("held-out", alphas=said("alphas"), cv=said("cv"), fit_intercept=said("fit_intercept"))


def logistic(said: Said, X: Any) -> Any:
    """`penalty` is 1 / C."""
    C, penalty = said("C"), said("penalty")
    if penalty not in ("deprecated", "l2", None):
        raise Missing(f"LogisticRegression(penalty={penalty!r})")
    strength = 0.0 if penalty is None or np.inf == C else 1 / C
    return assay.Logistic(strength, fit_intercept=said("fit_intercept"), class_weight=said("class_weight"))


def perceptron(said: Said, X: Any) -> Any:
    """Rosenblatt's rule on columns as they are."""
    return assay.Perceptron(standardise=False, max_iter=said("max_iter"), random_state=said("random_state"))


def svc(said: Said, X: Any) -> Any:
    """The dual machine."""
    given = {
        "C": said("C"),
        "class_weight": said("class_weight"),
        "tol": said("tol"),
        "random_state": said("random_state"),
    }
    return assay.SVM(kernel=kernel(said, X), probability=said("probability") is True, **given)


def svr(said: Said, X: Any) -> Any:
    """The dual machine."""
    return assay.SVR(said("C"), epsilon=said("epsilon"), tol=said("tol"), kernel=kernel(said, X))


def gaussian_nb(said: Said, X: Any) -> Any:
    """Normal columns; the floor of variances is a share of each column's own."""
    return assay.NaiveBayes("gaussian", priors=said("priors"), var_floor=said("var_smoothing"))


def multinomial_nb(said: Said, X: Any) -> Any:
    """Counts."""
    return assay.NaiveBayes("multinomial", alpha=said("alpha"), priors=said("class_prior"))


def bernoulli_nb(said: Said, X: Any) -> Any:
    """Above zero or not."""
    return assay.NaiveBayes("bernoulli", alpha=said("alpha"), priors=said("class_prior"))


def categorical_nb(said: Said, X: Any) -> Any:
    """Levels by number."""
    return assay.NaiveBayes("categorical", alpha=said("alpha"), priors=said("class_prior"))


def fisher(said: Said, X: Any) -> Any:
    """Shares, shrinkage, directions."""
    return assay.Fisher(said("n_components"), priors=said("priors"), shrinkage=said("shrinkage"))


def gaussian_rule(said: Said, X: Any) -> Any:
    """One covariance a class."""
    return assay.GaussianRule(priors=said("priors"), shrinkage=said("shrinkage"))


def nearest_centroid(said: Said, X: Any) -> Any:
    """Euclidean centroids."""
    return assay.NearestCentroid()


def mds(said: Said, X: Any) -> Any:
    """Metric or not, of rows or of distances."""
    given = {
        "metric": said("metric_mds"),
        "n_init": said("n_init"),
        "max_iter": said("max_iter"),
        "random_state": said("random_state"),
    }
    said("init"), said("dissimilarity")
    kind = said("metric") if isinstance(said("metric"), str) else "euclidean"
    return assay.MDS(said("n_components"), dissimilarity=kind, **given)


def classical_mds(said: Said, X: Any) -> Any:
    """Of rows or of distances."""
    return assay.ClassicalMDS(said("n_components"), dissimilarity=said("metric"))


def isomap(said: Said, X: Any) -> Any:
    """A graph of nearest rows, or of rows within a radius."""
    metric = {"minkowski": "euclidean"}.get(said("metric"), said("metric"))
    radius, neighbours = said("radius"), said("n_neighbors")
    graph = assay.Within(radius, metric) if radius is not None else assay.Nearest(neighbours, metric)
    return assay.Isomap(said("n_components"), graph=graph)


def tsne(said: Said, X: Any) -> Any:
    """The same words."""
    names = ("perplexity", "early_exaggeration", "learning_rate", "max_iter", "metric", "init", "random_state")
    return assay.TSNE(said("n_components"), **{name: said(name) for name in names})


def cca(said: Said, X: Any) -> Any:
    """Canonical pairs."""
    return assay.CCA(said("n_components"), scale=said("scale"))


def _entry(home: Any, name: str, build: Any, **renamed: Any) -> tuple[str, Translation]:
    return f"{home.__name__}.{name}", translation(getattr(home, name), build, **renamed)


PEERS: dict[str, Translation] = dict(
    [
        _entry(decomposition, "PCA", pca),
        _entry(decomposition, "KernelPCA", kernel_pca),
        _entry(cluster, "KMeans", k_means),
        _entry(cluster, "AgglomerativeClustering", agglomerative),
        _entry(cluster, "SpectralClustering", spectral),
        _entry(mixture, "GaussianMixture", gaussian_mixture),
        _entry(linear_model, "LinearRegression", least_squares),
        _entry(linear_model, "Ridge", ridge),
        _entry(linear_model, "RidgeCV", ridge_cv),
        _entry(linear_model, "LogisticRegression", logistic),
        _entry(linear_model, "Perceptron", perceptron),
        _entry(svm, "SVC", svc),
        _entry(svm, "SVR", svr),
        _entry(naive_bayes, "GaussianNB", gaussian_nb, class_prior_="priors_"),
        _entry(naive_bayes, "MultinomialNB", multinomial_nb, class_log_prior_=lambda model: np.log(model.priors_)),
        _entry(naive_bayes, "BernoulliNB", bernoulli_nb, class_log_prior_=lambda model: np.log(model.priors_)),
        _entry(naive_bayes, "CategoricalNB", categorical_nb, class_log_prior_=lambda model: np.log(model.priors_)),
        _entry(discriminant_analysis, "LinearDiscriminantAnalysis", fisher),
        _entry(discriminant_analysis, "QuadraticDiscriminantAnalysis", gaussian_rule),
        _entry(neighbors, "NearestCentroid", nearest_centroid),
        _entry(manifold, "MDS", mds),
        _entry(manifold, "ClassicalMDS", classical_mds),
        _entry(manifold, "Isomap", isomap),
        _entry(manifold, "TSNE", tsne),
        _entry(cross_decomposition, "CCA", cca),
    ]
)
