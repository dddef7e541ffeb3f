"""Levels and tastes tested, and the factors that views show.

The statistic, its chance and its value on held-out ratings are `evidence.ratings`; the factors drawn are fitted on all
ratings with the penalty that held-out ones chose most often.
"""

from __future__ import annotations

from collections.abc import Callable
from warnings import catch_warnings, simplefilter

from assay.errors import NotConverged
from assay.evidence.ratings import ratings_evidence
from assay.models.prediction.recommender.matrix_factorization import MatrixFactorization
from assay.questions.tastes.answer import Tastes
from assay.summary.ratings.ratings import Ratings

_RANK = 10
_SWEEPS = 60


def tastes(ratings: Ratings, *, level: float, seed: int, progress: Callable[[str], object]) -> Tastes:
    """Ask of ratings.

    Args:
        ratings: the data.
        level: level of the study.
        seed: of folds and draws.
        progress: told what is being done.
    """
    found = ratings_evidence(ratings, level=level, random_state=seed, progress=progress)
    progress("factors of all ratings")
    model = MatrixFactorization(_RANK, alpha=found.alpha or 1.7, max_iter=_SWEEPS)
    with catch_warnings():
        simplefilter("ignore", NotConverged)  # a picture does not need the last digit
        model.fit(found.ratings)
    return Tastes(found, model.item_factors_, model.item_bias_ + model.mean_)
