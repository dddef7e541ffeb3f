"""Which model predicts a column best, judged on rows that had no part in the choice.

candidates  the simplest first: a line (Ridge, Logistic), vector machines with a Gaussian kernel (SVR, SVM), whose width
            is 1, a half or a quarter of the typical distance of two rows, sqrt(2 D)
choice      among the rows that teach: the simplest whose error on folds of these is no more than one standard error
            above the least (Breiman et al., Classification and regression trees, 1984)
score       of the whole procedure, the choice done anew in every fold, on the rows of that fold
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from assay.arrays import Array, Indices
    from assay.evidence.design import Design

_FOLDS, _INNER = 10, 5
_MANY, _FOLDS_OF_MANY, _INNER_OF_MANY = 1000, 5, 3  # rows, from which on fewer folds tell as much
_TAUGHT = 4000  # rows that a kernel learns from at most, drawn fairly
_JUDGED = 10_000  # rows by which models are chosen and judged at most, drawn fairly
_KERNELS = ((1.0, 1.0), (1.0, 10.0), (0.5, 10.0), (0.25, 10.0))  # width and C, the smoothest first
_KERNELS_OF_QUICK = ((1.0, 10.0),)
_COVERED = 0.9


@dataclass(frozen=True, slots=True)
class Candidate:
    """One way to predict.

    Attributes:
        kind: of the registered model.
        words: as sentences call it.
        options: of the model.
        width: of its kernel, in typical distances of two rows; None where it has none.
    """

    kind: str
    words: str
    options: dict[str, Any]
    width: float | None = None

    def fitted(self, Z: Array, y: Array, seed: int) -> Any:
        """The model, learned from standardised rows.

        Args:
            Z: (n, D).
            y: (n,) places of classes, or numbers of unit spread.
            seed: of the rows, where only some are learned from.
        """
        import numpy as np

        from assay.models.registry import model_class
        from assay.summary.gram.kernels import Gaussian

        if self.width is None:
            return model_class(self.kind)(**self.options).fit(Z, y)
        some = _some(len(Z), _TAUGHT, seed)
        if self.kind == "SVM":  # a class that the draw missed would be forgotten
            some = np.union1d(some, np.unique(y, return_index=True)[1])
        varying = max(int((Z.min(axis=0) < Z.max(axis=0)).sum()), 1)
        kernel = Gaussian(sigma=self.width * float(np.sqrt(2.0 * varying)))
        return model_class(self.kind)(kernel=kernel, **self.options).fit(Z[some], y[some])


def candidates(classes: bool, seed: int, *, quick: bool) -> tuple[Candidate, ...]:
    """What there is to choose from, the simplest first.

    Args:
        classes: whether classes are predicted.
        seed: of what is random in them.
        quick: whether to leave the slower ones out.
    """
    line = Candidate("Logistic", "a line", {"penalty": "held-out", "random_state": seed})
    if not classes:
        line = Candidate("Ridge", "a line", {"alpha": "held-out", "random_state": seed})
    kind, own = ("SVM", {"random_state": seed}) if classes else ("SVR", {})
    tried = _KERNELS_OF_QUICK if quick else _KERNELS
    words = "a Gaussian kernel of width {:g} and C {:g}"
    return (line, *(Candidate(kind, words.format(w, C), {"C": C, **own}, w) for w, C in tried))


@dataclass(frozen=True, slots=True, eq=False)
class LearnedModel:
    """What was learned, and how well what was learned in this way does on unseen rows.

    Attributes:
        chosen: the candidate.
        model: learned from all rows.
        rows: (m,) numbers of the rows that were judged: all or a fair part, but for the first in time.
        unseen: (m,) what is predicted of them by others, as `y` is given.
        score: share explained on unseen rows, or of the rows called right.
        interval: 95%, of the score; None where rows are in one part.
        each: by candidate, its score alone on the same rows.
    """

    chosen: Candidate
    model: Any
    rows: Indices
    unseen: Array
    score: float
    interval: tuple[float, float] | None
    each: dict[str, float]


def learned(
    Z: Array,
    y: Array,
    design: Design,
    *,
    classes: bool,
    seed: int,
    quick: bool = False,
    tell: Callable[[float], object] = lambda share: None,
) -> LearnedModel:
    """Choose a model, learn it from all rows, and judge the procedure on unseen ones.

    Args:
        Z: (n, D) standardised rows.
        y: (n,) places of classes, or numbers of mean 0 and unit spread.
        design: how rows depend on each other.
        classes: whether classes are predicted.
        seed: of everything random.
        quick: whether to leave slower candidates out.
        tell: told which share is done.
    """
    import numpy as np

    from assay.evidence.shares import unseen_share_interval
    from assay.linalg.noise.fold_error import fold_error, fold_interval

    every, whole = candidates(classes, seed, quick=quick), (Z, y)
    among = _some(len(Z), _JUDGED, seed)
    Z, y, design = Z[among], y[among], design if len(among) == len(Z) else design.among(among)
    few = len(Z) <= _MANY
    folds, inner = (_FOLDS, _INNER) if few else (_FOLDS_OF_MANY, _INNER_OF_MANY)
    pairs = _pairs(design, folds, seed)
    unseen, errors, base = np.full(len(y), np.nan), np.full(len(y), np.nan), np.full(len(y), np.nan)
    for done, (train, test) in enumerate(pairs):
        tell(done / (len(pairs) + 1))
        within = _pairs(design.among(train), inner, seed)
        chosen = every[_best(_errors(every, Z[train], y[train], within, classes, seed))]
        unseen[test] = _said(chosen, Z[train], y[train], Z[test], classes, seed)
        errors[test] = _off(y[test], unseen[test], classes)
        base[test] = (y[test] - y[train].mean()) ** 2
    tell(len(pairs) / (len(pairs) + 1))
    of_each = _errors(every, Z, y, pairs, classes, seed)
    chosen = every[_best(of_each)]
    rows = np.flatnonzero(np.isfinite(errors))
    parts = [test for _, test in pairs]
    if classes:
        score, scores = 1.0 - float(errors[rows].mean()), [1.0 - float(errors[part].mean()) for part in parts]
        each = {one.words: 1.0 - float(off.mean()) for one, off in zip(every, of_each, strict=True)}
    else:
        usual = max(float(base[rows].mean()), 1e-300)
        score, scores = 1.0 - float(errors[rows].mean()) / usual, [1.0 - float(errors[p].mean()) / usual for p in parts]
        each = {one.words: 1.0 - float(off.mean()) / usual for one, off in zip(every, of_each, strict=True)}
    interval = None
    if classes and type(design).__name__ == "Independent":
        interval = unseen_share_interval(score, len(rows))
    elif len(parts) > 1:
        low, high = fold_interval(
            score, fold_error(np.array(scores)), len(parts), within=(0.0 if classes else -np.inf, 1.0)
        )
        interval = float(low), float(high)
    model = _final(chosen, *whole, seed) if classes else chosen.fitted(*whole, seed)
    return LearnedModel(chosen, model, among[rows], unseen[rows], score, interval, each)


def _some(n: int, most: int, seed: int) -> Indices:
    """Numbers of all rows, or of as many as there may be, drawn fairly."""
    import numpy as np

    return np.arange(n) if n <= most else np.sort(np.random.default_rng(seed).choice(n, most, replace=False))


def half_width(residuals: Array) -> float:
    """Of the interval that holds nine of ten new rows, from those of unseen rows; infinite where these are too few."""
    import numpy as np

    misses, n = np.sort(np.abs(residuals)), len(residuals)
    rank = int(np.ceil(_COVERED * (n + 1)))
    return float(misses[rank - 1]) if rank <= n else float("inf")


def _final(chosen: Candidate, Z: Array, y: Array, seed: int) -> Any:
    """The model of classes with probabilities; without them where there are too few rows to learn them from."""
    from dataclasses import replace

    from assay.errors import AssayError

    if chosen.kind == "SVM":
        try:
            return replace(chosen, options={**chosen.options, "probability": True}).fitted(Z, y, seed)
        except AssayError:  # probabilities take rows of each class to hold out
            pass
    return chosen.fitted(Z, y, seed)


def _pairs(design: Design, k: int, seed: int) -> list[tuple[Indices, Indices]]:
    """Rows that teach and rows that are judged by them; of rows in time only those before teach."""
    import numpy as np

    fold = design.folds(min(k, design.n), seed)
    parts = np.unique(fold)
    if design.forward:
        found = [(np.flatnonzero(fold < f), np.flatnonzero(fold == f)) for f in parts[1:]]
    else:
        found = [(np.flatnonzero(fold != f), np.flatnonzero(fold == f)) for f in parts]
    return [(train, test) for train, test in found if len(train) and len(test)]


def _errors(
    every: Sequence[Candidate],
    Z: Array,
    y: Array,
    pairs: list[tuple[Indices, Indices]],
    classes: bool,
    seed: int,
) -> list[Array]:
    """For each candidate its mean error in each part, by the rows that teach it."""
    import numpy as np

    whole = []
    for one in every:
        off = []
        for train, test in pairs:
            said = _said(one, Z[train], y[train], Z[test], classes, seed)
            off.append(float(_off(y[test], said, classes).mean()))
        whole.append(np.array(off))
    return whole


def _best(errors: list[Array]) -> int:
    """The simplest whose error is at most one standard error of its difference above the least."""
    import numpy as np

    if not len(errors[0]):  # nothing to judge by
        return 0
    means = [float(off.mean()) for off in errors]
    least = int(np.argmin(means))
    for place, off in enumerate(errors):
        apart = off - errors[least]
        if len(apart) < 2 or apart.mean() <= apart.std(ddof=1) / np.sqrt(len(apart)):
            return place
    return least


def _said(one: Candidate, Z: Array, y: Array, new: Array, classes: bool, seed: int) -> Array:
    """What is predicted of new rows; the mean or the commonest class where rows are too few to learn from."""
    import numpy as np

    from assay.errors import AssayError

    found, counts = np.unique(y, return_counts=True)
    usual = float(found[counts.argmax()] if classes else y.mean())
    if len(found) < 2:
        return np.full(len(new), usual)
    try:
        return np.asarray(one.fitted(Z, y, seed).predict(new), dtype=np.float64).ravel()
    except AssayError:  # such as fewer rows than folds
        return np.full(len(new), usual)


def _off(y: Array, said: Array, classes: bool) -> Array:
    import numpy as np

    return np.asarray((y != said).astype(np.float64) if classes else (y - said) ** 2)
