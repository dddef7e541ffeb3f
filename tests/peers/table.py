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
from sklearn.model_selection import LeaveOneOut
from tests.peers.adapters import Missing, Translation
from tests.peers.translated import Said, folds, kernel, translation

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
    """The same words, but for second names of metrics."""
    given = {name: said(name) for name in ("linkage", "distance_threshold", "connectivity")}
    metric = said("metric")
    if isinstance(metric, str):
        metric = {"l1": "manhattan", "cityblock": "manhattan", "l2": "euclidean"}.get(metric, metric)
    return assay.Agglomerative(said("n_clusters"), metric=metric, **given)


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
    """The penalty with the least squared error on held-out rows, which without `cv` are single ones."""
    cv, scoring = said("cv"), said("scoring")
    if scoring not in (None, "neg_mean_squared_error"):
        raise Missing("RidgeCV(scoring=)")
    cv = LeaveOneOut() if cv is None else folds(said)
    return assay.Ridge("held-out", alphas=np.atleast_1d(said("alphas")), cv=cv, fit_intercept=said("fit_intercept"))


def logistic(said: Said, X: Any) -> Any:
    """`penalty` is 1 / C."""
    C, penalty = said("C"), said("penalty")
    if penalty not in ("deprecated", "l2", None):
        raise Missing(f"LogisticRegression(penalty={penalty!r})")
    if said("l1_ratio"):
        raise Missing("LogisticRegression(l1_ratio=)")
    strength = 0.0 if penalty is None or np.inf == C else 1 / C
    given = {name: said(name) for name in ("fit_intercept", "class_weight")}
    max_iter = None if said("max_iter") == said.defaults["max_iter"] else said("max_iter")
    return assay.Logistic(strength, max_iter=max_iter, **given)


def logistic_cv(said: Said, X: Any) -> Any:
    """`penalties` are 1 / Cs; the score is the log likelihood of held-out rows."""
    grid = np.logspace(-4, 4, said("Cs")) if isinstance(said("Cs"), int) else np.asarray(said("Cs"), dtype=float)
    if said("penalty") not in ("deprecated", "l2"):
        raise Missing(f"LogisticRegressionCV(penalty={said('penalty')!r})")
    ratios = said("l1_ratios")
    if not (ratios is None or isinstance(ratios, str) or tuple(ratios) in ((0,), (None,))):
        raise Missing("LogisticRegressionCV(l1_ratios=)")
    if said("scoring") not in ("warn", "neg_log_loss"):
        raise Missing(f"LogisticRegressionCV(scoring={said('scoring')!r})")
    given = {name: said(name) for name in ("fit_intercept", "class_weight", "random_state")}
    if not said("refit"):
        raise Missing("LogisticRegressionCV(refit=False)")
    return assay.Logistic("held-out", penalties=1 / grid, cv=folds(said, classes=True), **given)


def elastic_net(said: Said, X: Any) -> Any:
    """The same words; `tol` is a share of the objective here too, but a far smaller one."""
    names = ("fit_intercept", "positive", "random_state", "max_iter")
    if isinstance(said("precompute"), np.ndarray):
        raise Missing(f"{said.peer}(precompute=), a matrix")
    ratio = said("l1_ratio") if "l1_ratio" in said.given else 1.0
    return assay.ElasticNet(
        said("alpha"), l1_ratio=ratio, tol=min(said("tol"), 1e-10), **{name: said(name) for name in names}
    )


def elastic_net_cv(said: Said, X: Any) -> Any:
    """The price of a path, by folds."""
    names = ("fit_intercept", "positive", "random_state", "max_iter")
    if isinstance(said("precompute"), np.ndarray):
        raise Missing(f"{said.peer}(precompute=), a matrix")
    ratio = said("l1_ratio") if "l1_ratio" in said.given else 1.0
    alphas = said("alphas")
    if isinstance(alphas, int | np.integer):
        if alphas != said.defaults["alphas"]:
            raise Missing(f"{said.peer}(alphas={alphas}), how many")
        alphas = None
    how = {name: said(name) for name in names}
    return assay.ElasticNet("held-out", l1_ratio=ratio, alphas=alphas, cv=folds(said), **how)


def perceptron(said: Said, X: Any) -> Any:
    """Rosenblatt's rule on columns as they are."""
    return assay.Perceptron(scale=False, max_iter=said("max_iter"), random_state=said("random_state"))


def svc(said: Said, X: Any) -> Any:
    """The dual machine, by price or by share."""
    given = {name: said(name) for name in ("class_weight", "tol", "random_state")}
    price = {"nu": said("nu")} if "nu" in said.given else {"C": None if np.inf == said("C") else said("C")}
    price |= {} if said("max_iter") == -1 else {"max_iter": said("max_iter")}
    return assay.SVM(kernel=kernel(said, X), probability=said("probability") is True, **price, **given)


def linear_svc(said: Said, X: Any) -> Any:
    """The primal machine of two classes; of more, scikit-learn sets one against the rest, assay each pair."""
    given = {name: said(name) for name in ("C", "loss", "class_weight", "random_state")}
    if said("penalty") != "l2":
        raise Missing(f"LinearSVC(penalty={said('penalty')!r})")
    if not said("fit_intercept"):
        raise Missing("LinearSVC(fit_intercept=False)")
    return assay.SVM(solver="primal", kernel="linear", **given)


def svr(said: Said, X: Any) -> Any:
    """The dual machine, by width of the tube or by share."""
    if np.inf == said("C"):
        raise Missing(f"{said.peer}(C=inf)")
    tube = {"nu": said("nu")} if "nu" in said.given else {"epsilon": said("epsilon")}
    tube |= {} if said("max_iter") == -1 else {"max_iter": said("max_iter")}
    return assay.SVR(said("C"), tol=said("tol"), kernel=kernel(said, X), **tube)


def gaussian_nb(said: Said, X: Any) -> Any:
    """Normal columns; the least variance is a share of each column's own, not of the largest."""
    floor = said("var_smoothing")
    return assay.NaiveBayes("gaussian", priors=said("priors"), var_floor="auto" if floor == 1e-9 else floor)


def multinomial_nb(said: Said, X: Any) -> Any:
    """Counts."""
    return assay.NaiveBayes("multinomial", **_counted(said))


def bernoulli_nb(said: Said, X: Any) -> Any:
    """Above zero or not."""
    return assay.NaiveBayes("bernoulli", **_counted(said))


def categorical_nb(said: Said, X: Any) -> Any:
    """Levels by number."""
    return assay.NaiveBayes("categorical", **_counted(said))


def _counted(said: Said) -> dict[str, Any]:
    alpha, priors = said("alpha"), said("class_prior")
    if np.ndim(alpha):
        raise Missing(f"{said.peer}(alpha=), one for each column")
    if not said("fit_prior") and priors is None and said.y is not None:
        classes = np.unique(said.y)
        priors = np.full(len(classes), 1 / len(classes))
    return {"smoothing": alpha, "priors": priors}


def _n_iter(model: Any) -> Any:
    return np.atleast_1d(model.n_iter_)


def _steps_of_all(model: Any) -> Any:
    raise Missing("LogisticRegressionCV.n_iter_, of each fold")


def _price(model: Any) -> Any:
    return 1 / model.penalty_


def _prices(model: Any) -> Any:
    return 1 / np.asarray(model.penalties_)


def _priors_log(model: Any) -> Any:
    return np.log(model.priors_)


def _totals(model: Any) -> Any:
    return model.counts_.totals


def _tallies(model: Any) -> Any:
    return list(model.counts_.tallies)


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
    """The same words; the first start is the classical map."""
    given = {name: said(name) for name in ("metric_mds", "metric", "n_init", "max_iter", "random_state")}
    if isinstance(said("metric"), bool):  # until scikit-learn 1.8 `metric` was `metric_mds`, `dissimilarity` the metric
        given["metric_mds"], given["metric"] = said("metric"), "euclidean"
    if said("dissimilarity") != "deprecated":
        given["metric"] = said("dissimilarity")
    said("init")
    if said("normalized_stress") is True:
        raise Missing("MDS(normalized_stress=True); `stress1_` has it")
    return assay.MDS(said("n_components"), **given)


def classical_mds(said: Said, X: Any) -> Any:
    """Of rows or of distances."""
    return assay.ClassicalMDS(said("n_components"), metric=said("metric"))


def isomap(said: Said, X: Any) -> Any:
    """A graph of nearest rows, or of rows within a radius."""
    metric, p = said("metric"), said("p")
    if metric == "minkowski":
        metric = {1: "manhattan", 2: "euclidean"}.get(p)
        if metric is None:
            raise Missing(f"Isomap(p={p})")
    radius, neighbours = said("radius"), said("n_neighbors")
    if radius is not None and neighbours is not None:
        raise ValueError("Both n_neighbors and radius are provided")  # assay's graph is one or the other by its type
    if radius is not None and np.isinf(radius):  # all rows
        radius, neighbours = None, 5 if X is None else np.shape(X)[0] - 1
    graph = assay.Within(radius, metric) if radius is not None else assay.Nearest(neighbours, metric)
    return assay.Isomap(said("n_components"), graph=graph)


def tsne(said: Said, X: Any) -> Any:
    """The same words; the fast method is another."""
    names = ("perplexity", "early_exaggeration", "learning_rate", "max_iter", "metric", "init", "random_state")
    method = {"barnes_hut": "auto"}.get(said("method"), said("method"))
    return assay.TSNE(said("n_components"), method=method, **{name: said(name) for name in names})


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
        _entry(linear_model, "Lasso", elastic_net),
        _entry(linear_model, "ElasticNet", elastic_net),
        _entry(linear_model, "LassoCV", elastic_net_cv),
        _entry(linear_model, "ElasticNetCV", elastic_net_cv),
        _entry(linear_model, "LogisticRegression", logistic, n_iter_=_n_iter),
        _entry(linear_model, "LogisticRegressionCV", logistic_cv, C_=_price, Cs_=_prices, n_iter_=_steps_of_all),
        _entry(linear_model, "Perceptron", perceptron),
        _entry(svm, "SVC", svc),
        _entry(svm, "NuSVC", svc),
        _entry(svm, "LinearSVC", linear_svc),
        _entry(svm, "SVR", svr),
        _entry(svm, "NuSVR", svr),
        _entry(naive_bayes, "GaussianNB", gaussian_nb, class_prior_="priors_"),
        _entry(naive_bayes, "MultinomialNB", multinomial_nb, class_log_prior_=_priors_log, feature_count_=_totals),
        _entry(naive_bayes, "BernoulliNB", bernoulli_nb, class_log_prior_=_priors_log, feature_count_=_totals),
        _entry(naive_bayes, "CategoricalNB", categorical_nb, class_log_prior_=_priors_log, category_count_=_tallies),
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
