"""scikit-learn's estimators in assay's words.

A translation takes the peer's arguments out of `given` with `Said`, which names what assay has no word for: an argument
that is neither translated nor harmless (`HARMLESS`) and differs from its default ends the test as missing.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.model_selection import KFold, StratifiedKFold
from tests.peers.adapters import Missing, Translation

import assay

# how hard, how, how loud and on how many processors the peer works; what it keeps and copies
HARMLESS = {
    "copy", "copy_X", "copy_x", "verbose", "verbose_interval", "n_jobs", "cache_size", "shrinking",
    "iterated_power", "power_iteration_normalizer", "eigen_solver", "eigen_tol",
    "neighbors_algorithm", "path_method", "svd_solver", "algorithm", "n_iter", "memory", "compute_full_tree",
    "compute_distances", "store_covariance", "selection", "dual", "store_precision", "gcv_mode",
    "solver", "tol", "max_iter", "random_state", "intercept_scaling", "n_iter_without_progress",
    "min_grad_norm", "angle", "method", "eps", "assign_labels", "use_legacy_attributes", "force_alpha",
    "batch_size", "max_no_improvement", "init_size",
    "reassignment_ratio", "compute_labels", "store_cv_results", "missing_values",
}  # fmt: skip


class Said:
    """The arguments of one peer, taken out one by one."""

    def __init__(self, peer: str, given: dict[str, Any], defaults: dict[str, Any], y: Any) -> None:
        self.peer, self.given, self.defaults, self.y, self.taken = peer, given, defaults, y, set()

    def __call__(self, name: str) -> Any:
        self.taken.add(name)
        return self.given[name]

    def rest_is_default(self) -> None:
        for name, value in self.given.items():
            default = self.defaults[name]
            if name in self.taken or name in HARMLESS or value is default:
                continue
            if not (np.isscalar(value) and np.isscalar(default) and value == default):
                raise Missing(f"{self.peer}({name}={value!r})"[:120])


def translation(peer: type, build: Callable[[Said, Any], Any], **renamed: Any) -> Translation:
    """The `Translation` of `build`, which refuses what it did not take."""
    defaults = {name: p.default for name, p in inspect.signature(peer).parameters.items()}

    def built(given: dict[str, Any], X: Any, y: Any) -> Any:
        said = Said(peer.__name__, given, defaults, y)
        model = build(said, X)
        said.rest_is_default()
        return model

    return Translation(built, renamed)


def folds(said: Said, *, classes: bool = False) -> Any:
    """scikit-learn's folds, which are of neighbouring rows; assay's are shuffled."""
    cv = 5 if said("cv") is None else said("cv")
    return (StratifiedKFold(cv) if classes else KFold(cv)) if isinstance(cv, int) else cv


def kernel(said: Said, X: Any) -> Any:
    """The kernel that scikit-learn's `kernel`, `gamma`, `degree` and `coef0` are."""
    name, gamma, degree, offset = said("kernel"), said("gamma"), said("degree"), said("coef0")
    if callable(name):
        return name
    if name in ("linear", "precomputed"):
        return name
    width = _gamma(gamma, X)
    if name == "rbf":
        return assay.Gaussian(sigma=1 / np.sqrt(2 * width)) if width > 0 else assay.Gaussian()
    if name == "poly":
        return assay.Polynomial(degree=int(degree), coef0=offset, gamma=width)
    raise Missing(f"{said.peer}(kernel={name!r})")


def _gamma(gamma: Any, X: Any) -> float:
    if X is None:
        return 1.0
    columns = np.shape(X)[1] if np.ndim(X) == 2 or sparse.issparse(X) else 1
    if gamma in (None, "auto"):
        return 1 / max(columns, 1)
    if gamma == "scale":
        values = X if sparse.issparse(X) else np.asarray(X, dtype=float)
        variance = float(values.multiply(values).mean() - values.mean() ** 2) if sparse.issparse(X) else values.var()
        return 1 / (columns * variance) if variance > 0 else 1.0
    return float(gamma)
