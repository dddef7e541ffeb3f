"""What values a score can have: an interval of it ends there."""

from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator, is_classifier, is_regressor

from assay.evidence.labelled import Score

_SHARES = ("accuracy", "balanced_accuracy", "f1", "precision", "recall", "jaccard", "roc_auc", "average_precision")
_UP_TO_ONE = ("r2", "explained_variance", "d2_absolute_error_score", "d2_brier_score", "d2_log_loss_score")


def score_range(model: BaseEstimator, score: Score) -> tuple[float, float]:
    """The least and the largest value of a score; infinite where it is not known.

    Args:
        model: whose own score it is where none is named.
        score: a name of scikit-learn's, a function, or None.

    >>> from sklearn.linear_model import LogisticRegression, Ridge
    >>> score_range(LogisticRegression(), None), score_range(Ridge(), None), score_range(Ridge(), "neg_log_loss")
    ((0.0, 1.0), (-inf, 1.0), (-inf, 0.0))
    """
    name = _name(model, score)
    if name.startswith("neg_"):
        return (-np.inf, 0.0)
    if name == "matthews_corrcoef":
        return (-1.0, 1.0)
    if any(name == share or name.startswith(f"{share}_") for share in _SHARES):
        return (0.0, 1.0)
    return (-np.inf, 1.0) if name in _UP_TO_ONE else (-np.inf, np.inf)


def is_accuracy(model: BaseEstimator, score: Score) -> bool:
    """Whether a score is the share of the rows that are right."""
    return _name(model, score) == "accuracy"


def _name(model: BaseEstimator, score: Score) -> str:
    if isinstance(score, str):
        return score
    if score is not None or not (is_classifier(model) or is_regressor(model)):
        return ""
    return "accuracy" if is_classifier(model) else "r2"
