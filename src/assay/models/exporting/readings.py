"""What each model does with new rows, as nodes of a graph: the same formulas as its `predict` and `transform`.

transformers   rows -> (n, k)                                predictors   rows -> numbers, or label and probabilities
detectors      rows -> label (1 or -1) and score

Rows X are (n, d) doubles; a model is told by the name of its class, so that none is imported here.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from assay.errors import ParameterError
from assay.models.exporting.nodes import OnnxNodes
from assay.summary.gram.kernels import Gaussian, Linear, Polynomial

Outputs: TypeAlias = dict[str, str]  # names of outputs, and of the values they are
Reading: TypeAlias = Callable[[OnnxNodes, Any, str], Outputs]


def pca(to: OnnxNodes, model: Any, rows: str) -> Outputs:
    """Scores: the centred row along the axes."""
    axes = model.components_.T
    if model.whiten:
        spread = np.sqrt(model.explained_variance_)
        axes = axes * np.divide(1.0, spread, out=np.zeros_like(spread), where=spread > 0.0)
    z = to.do("Div", to.do("Sub", rows, model.mean_), model.scale_)
    return {"transformed": to.do("MatMul", z, np.ascontiguousarray(axes))}


def scaler(to: OnnxNodes, model: Any, rows: str) -> Outputs:
    """scikit-learn's StandardScaler."""
    z = rows if model.mean_ is None or not model.with_mean else to.do("Sub", rows, model.mean_)
    return {"transformed": z if model.scale_ is None else to.do("Div", z, model.scale_)}


def plane(to: OnnxNodes, model: Any, rows: str) -> Outputs:
    """Linear regressions: one target or several."""
    coef = np.atleast_2d(model.coef_)
    found = to.affine(rows, coef.T, np.atleast_1d(model.intercept_))
    return {"prediction": found if np.ndim(model.coef_) == 2 else to.flat(found)}


def linear_scores(to: OnnxNodes, model: Any, rows: str) -> Outputs:
    """Classes by linear scores, with probabilities where the model has some."""
    scores = to.affine(rows, model.coef_.T, np.atleast_1d(model.intercept_))
    return _of_scores(to, model, scores, probabilities=hasattr(model, "predict_proba"), single=len(model.coef_) == 1)


def gaussian_rule(to: OnnxNodes, model: Any, rows: str) -> Outputs:
    """score_k = log density at the mean + log prior - |A_k (z - c_k)|^2 / 2."""
    if model.axes_ is not None:
        raise ParameterError("GaussianRule fitted on fewer rows than columns cannot be exported to ONNX; use Fisher")
    varying = np.flatnonzero(model.scale_ > 0.0)
    z = to.do("Div", to.do("Sub", to.columns(rows, varying), model.center_[varying]), model.scale_[varying])
    scores = []
    for k, base in enumerate(model._bases() + np.log(model.priors_)):
        A = model.whitening_[k % len(model.whitening_)]
        far = to.squares(to.do("MatMul", to.do("Sub", z, model.centres_[k]), np.ascontiguousarray(A.T)))
        scores.append(to.do("Add", to.do("Mul", far, -0.5), base))
    return _of_scores(to, model, to.do("Concat", *scores, axis=1), probabilities=True)


def naive_bayes(to: OnnxNodes, model: Any, rows: str) -> Outputs:
    """Sums of log-likelihoods of the cells; missing ones are left out."""
    laws = model.laws_
    with np.errstate(divide="ignore"):
        scores = to.do("Expand", np.log(model.priors_)[None, :], _table_shape(to, rows, len(model.classes_)))
    if len(laws.gaussian):
        says = laws.variance > 0.0
        variance = np.where(says, laws.variance, 1.0)
        size = np.where(says, -0.5 * np.log(2.0 * np.pi * variance), 0.0)
        cells = to.columns(rows, laws.gaussian)
        gone, parts = to.do("IsNaN", cells), []
        for mean, scale, constant in zip(laws.mean, np.where(says, variance**-0.5, 0.0), size, strict=True):
            z = to.do("Mul", to.do("Sub", cells, mean), scale)
            each = to.do("Add", to.do("Mul", to.do("Mul", z, z), -0.5), constant)
            parts.append(to.do("ReduceSum", to.do("Where", gone, 0.0, each), np.array([1]), keepdims=1))
        scores = to.do("Add", scores, to.do("Concat", *parts, axis=1))
    if len(laws.multinomial):
        scores = to.do("Add", scores, to.do("MatMul", _known(to, rows, laws.multinomial), laws.log_share.T))
    if len(laws.bernoulli):
        cells = to.columns(rows, laws.bernoulli)
        yes = _number(to, to.do("Greater", cells, 0.0))
        no = to.do("Sub", to.do("Sub", 1.0, yes), _number(to, to.do("IsNaN", cells)))
        for told, log in ((yes, laws.log_yes), (no, laws.log_no)):
            scores = to.do("Add", scores, to.do("MatMul", told, np.ascontiguousarray(log.T)))
    for column, levels, log_level in zip(laws.categorical, laws.levels, laws.log_level, strict=True):
        hit = _number(to, to.do("Equal", to.columns(rows, np.array([column])), levels[None, :]))
        scores = to.do("Add", scores, to.do("MatMul", hit, np.ascontiguousarray(log_level.T)))
    return _of_scores(to, model, scores, probabilities=True)


def nearest_centroid(to: OnnxNodes, model: Any, rows: str) -> Outputs:
    """The class with the nearest mean."""
    if model.refuse is not None:
        raise ParameterError("NearestCentroid(refuse=...) cannot be exported to ONNX: fit it with refuse=None")
    nearest = to.do("ArgMin", _squared_distances(to, rows, model.centroids_)[1], axis=1, keepdims=0)
    return {"label": to.labels(nearest, model.classes_)}


def k_means(to: OnnxNodes, model: Any, rows: str) -> Outputs:
    """The nearest centre, and the distances to all."""
    lengths, less = _squared_distances(to, rows, np.asarray(model.cluster_centers_, dtype=np.float64))
    far = to.do("Sqrt", to.do("Max", to.do("Add", less, lengths), 0.0))
    return {"label": to.do("ArgMin", less, axis=1, keepdims=0), "transformed": far}


def z_score(to: OnnxNodes, model: Any, rows: str) -> Outputs:
    """The largest deviation of a row."""
    varying = _all_vary(model)
    z = to.do("Div", to.do("Sub", to.columns(rows, varying), model.location_[varying]), model.scale_[varying])
    return _flags(to, model, to.do("ReduceMax", to.do("Abs", z), np.array([1]), keepdims=1))


def mahalanobis(to: OnnxNodes, model: Any, rows: str) -> Outputs:
    """Squared length of the whitened row."""
    varying = _all_vary(model)
    if model.axes_.shape[1] < len(varying) and model.ridge_ == 0.0:
        raise ParameterError(
            "Mahalanobis of columns that follow from others cannot be exported to ONNX: rows off their plane are "
            "infinitely far; leave such columns out, or set shrinkage"
        )
    z = to.do("Div", to.do("Sub", rows, model.location_), model.scale_)
    far = to.squares(to.do("MatMul", z, model.axes_ / np.sqrt(model._spread)))
    if model.axes_.shape[1] < len(varying):
        inside = to.do("MatMul", to.do("MatMul", z, model.axes_), np.ascontiguousarray(model.axes_.T))
        far = to.do("Add", far, to.do("Div", to.squares(to.do("Sub", z, inside)), float(model.ridge_)))
    return _flags(to, model, far)


def svm(to: OnnxNodes, model: Any, rows: str) -> Outputs:
    """The side of each boundary; with several classes the one that most pairs decide for."""
    g = len(model.classes_)
    pairs = list(combinations(range(g), 2))
    if model.coef_ is not None:
        decisions = to.affine(to.do("Sub", rows, model._origin), model.coef_.T, -model._rho)
    else:
        weights = np.zeros((len(model.support_), len(pairs)))
        of = np.repeat(np.arange(g), model.n_support_)
        for k, (a, b) in enumerate(pairs):
            weights[of == a, k] = model.dual_coef_[b - 1, of == a]
            weights[of == b, k] = model.dual_coef_[a, of == b]
        values = _kernel_values(to, model.kernel_, rows, model.support_vectors_, "SVM")
        decisions = to.affine(values, weights, -model._rho)
    if g == 2:
        return _of_scores(to, model, decisions, probabilities=False, single=True)
    side = np.zeros((len(pairs), g))
    for k, (a, b) in enumerate(pairs):
        side[k, [a, b]] = 1.0, -1.0
    won = to.do("MatMul", to.do("Where", to.do("Less", decisions, 0.0), -0.5, 0.5), side)
    sure = to.do("MatMul", decisions, side)
    less = to.do("Div", sure, to.do("Mul", to.do("Add", to.do("Abs", sure), 1.0), 3.0))
    return _of_scores(to, model, to.do("Add", won, less), probabilities=False)


def svr(to: OnnxNodes, model: Any, rows: str) -> Outputs:
    """Sums of kernel values with the rows that bear the tube."""
    if model.coef_ is not None:
        return {"prediction": to.flat(to.affine(rows, model.coef_.T, model.intercept_))}
    values = _kernel_values(to, model.kernel_, rows, model.support_vectors_, "SVR")
    return {"prediction": to.flat(to.affine(values, model.dual_coef_.T, model.intercept_))}


READINGS: dict[str, Reading] = {
    "PCA": pca,
    "StandardScaler": scaler,
    "LeastSquares": plane,
    "Ridge": plane,
    "ElasticNet": plane,
    "Logistic": linear_scores,
    "Fisher": linear_scores,
    "DifferenceOfMeans": linear_scores,
    "GaussianRule": gaussian_rule,
    "NaiveBayes": naive_bayes,
    "NearestCentroid": nearest_centroid,
    "KMeans": k_means,
    "ZScore": z_score,
    "Mahalanobis": mahalanobis,
    "SVM": svm,
    "SVR": svr,
}


def _of_scores(to: OnnxNodes, model: Any, scores: str, *, probabilities: bool, single: bool = False) -> Outputs:
    """Labels of (n, k) scores, or of (n, 1) scores of the second class against the first."""
    if single:
        numbers = to.do("Cast", to.flat(to.do("Greater", scores, 0.0)), to=7)
    else:
        numbers = to.do("ArgMax", scores, axis=1, keepdims=0)
    outputs = {"label": to.labels(numbers, model.classes_)}
    if probabilities and single:
        second = to.do("Sigmoid", scores)
        outputs["probabilities"] = to.do("Concat", to.do("Sigmoid", to.do("Neg", scores)), second, axis=1)
    elif probabilities:
        outputs["probabilities"] = to.do("Softmax", scores, axis=1)
    return outputs


def _flags(to: OnnxNodes, model: Any, far: str) -> Outputs:
    """1 and -1 by the score of a detector, minus how far a row is out."""
    score = to.flat(to.do("Neg", far))
    usual = to.do("GreaterOrEqual", score, float(model.offset_))
    return {"label": to.do("Where", usual, 1, -1), "score": score}


def _all_vary(model: Any) -> NDArray[np.intp]:
    if not (model.scale_ > 0.0).all():
        j = int(np.flatnonzero(model.scale_ == 0.0)[0])
        raise ParameterError(
            f"column {j} is constant in the rows fitted, and whatever differs from it is infinitely far, which ONNX "
            f"cannot say: leave it out, and fit {type(model).__name__} again"
        )
    return np.arange(len(model.scale_))


def _squared_distances(to: OnnxNodes, rows: str, points: NDArray[Any]) -> tuple[str, str]:
    """|z|^2 (n, 1), and |p|^2 - 2 z.p (n, k), seen from the middle of the points, where fewest digits cancel."""
    middle = points.mean(axis=0)
    z, p = to.do("Sub", rows, middle), points - middle
    return to.squares(z), to.affine(z, -2.0 * p.T, np.einsum("ij,ij->i", p, p))


def _kernel_values(to: OnnxNodes, kernel: Any, rows: str, points: Any, who: str) -> str:
    if isinstance(kernel, Linear):
        return to.do("MatMul", rows, np.ascontiguousarray(points.T))
    if isinstance(kernel, Polynomial):
        products = to.affine(rows, kernel.gamma * points.T, float(kernel.coef0))
        return to.do("Pow", products, float(kernel.degree))
    if isinstance(kernel, Gaussian) and kernel.sigma is not None:
        lengths, less = _squared_distances(to, rows, np.asarray(points))
        far = to.do("Max", to.do("Add", less, lengths), 0.0)
        return to.do("Exp", to.do("Mul", far, -0.5 / kernel.sigma**2))
    raise ParameterError(f"{who} with the kernel {kernel!r} cannot be exported to ONNX: it is no formula of the rows")


def _known(to: OnnxNodes, rows: str, columns: NDArray[np.intp]) -> str:
    """Cells, zero where they are missing."""
    cells = to.columns(rows, columns)
    return to.do("Where", to.do("IsNaN", cells), 0.0, cells)


def _number(to: OnnxNodes, told: str) -> str:
    return to.do("Cast", told, to=11)


def _table_shape(to: OnnxNodes, rows: str, k: int) -> str:
    return to.do("Concat", to.do("Shape", rows, start=0, end=1), np.array([k]), axis=0)
