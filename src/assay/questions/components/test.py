"""Which principal components are real: the spectrum against chance, the axes on unseen rows and in halves of the rows.

Components of the correlation matrix are tested one after the other, the largest first, each against what chance does
once those before it are taken out; the first that fails ends the chain. Because each test is made only if all before
it rejected, the chance of any false claim is that of one test: q is the running maximum of p.

That there are more directions than chance gives is not yet a direction. One is supported where, besides, its variance
on unseen rows clears that of a direction without meaning by more than its error, and it comes back in halves of the
rows.
"""

from __future__ import annotations

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from assay.arrays import Array
from assay.asking.table import held_blocks
from assay.asking.telling import Telling, untold
from assay.data.folds import fold_count
from assay.errors import ParameterError
from assay.evidence.design import Design, Independent
from assay.evidence.evidence import Evidence, Null, verdict_of
from assay.linalg.eigen.grouped_columns import GroupedColumns, grouped_columns
from assay.linalg.noise.permutation_test import permutation_plan, permuted_spectrum
from assay.linalg.noise.random_matrix import SpectrumLaw, spectrum_law
from assay.linalg.noise.spike_direction import direction_alignment
from assay.models.components.pca import PCA
from assay.questions.components.answer import Components
from assay.questions.components.chance import Chance, noisy_spectrum
from assay.questions.components.directions import Directions, by_formula, by_halves, crossed_halves
from assay.questions.components.held_out import HeldOutComponents, held_out_from_folds, held_out_from_rows, together
from assay.summary.moments.grouped import GroupedMoments
from assay.summary.sharing.release import Noise

T = TypeVar("T")
FEWEST_ROWS = 10
# Nobody decides by the 21st component; testing goes no further.
MOST_TESTED = 20
_MOVED = {
    "independent": "columns permuted",
    "time": "columns shifted in time",
    "groups": "columns exchanged between whole groups of rows",
    "place": "columns shifted over the map",
}


def components(
    columns: tuple[str, ...],
    *,
    rows: Array | None = None,
    folds: GroupedMoments | None = None,
    groups: NDArray[np.intp] | None = None,
    shown: NDArray[np.intp] | None = None,
    design: Design | None = None,
    noise: Noise | None = None,
    level: float = 0.05,
    seed: int = 0,
    draws: int | None = None,
    progress: Telling | None = None,
) -> Components:
    """Find the components of a table and say which are real.

    Args:
        columns: names of the D columns, none of them constant.
        rows: (n, D) all rows, where they are at hand: chance is then known by permuting columns.
        folds: moments per fold; needed unless there are more columns than rows. Without rows chance is the law.
        groups: (D,) labels of columns that belong together by making, such as the indicators of one category; what
            they share among themselves is no finding.
        shown: (m,) numbers of the rows to draw; all where it is not said.
        design: how rows depend on each other; independent if not given.
        noise: that was added to the moments for privacy; chance is then drawn with the same noise.
        level: chance of calling anything real in a table without structure.
        seed: of permutations and folds.
        draws: permutations, at most; None for as many as take about twenty seconds.
        progress: told what is being done.
    """
    tell = progress or untold
    parts = None if groups is None else _parts(groups, rows, folds)
    before = None if folds is None else folds.total
    if parts is not None:
        rows = None if rows is None else parts.apply(rows)
        folds = None if folds is None else folds.map(lambda m: m @ parts.forward.toarray())
    pca = PCA(scale=True)
    pca = pca.fit(rows) if folds is None else pca.fit_moments(folds.total)
    n, d = pca.n_samples_, len(pca.mean_)
    r = min(n - 1, d)
    values = pca.eigenvalues_[:r]
    tell("what chance does")
    law = spectrum_law(values, n, d, level=level, vectors=pca.components_[:r].T, max_components=MOST_TESTED)
    chance = _chance(n, d, law, rows, None if parts is None else parts.groups, design, level, seed, draws, tell)
    if noise is not None and before is not None:
        A = np.eye(d) if parts is None else parts.forward.toarray()
        chance = noisy_spectrum(values, pca.components_[:r], before, A, noise, most=MOST_TESTED, level=level, seed=seed)
    k = min(max(len(chance.p), 2), r)
    tell("unseen rows")
    unseen = _unseen(rows, folds, k, design or Independent(n), seed)
    tell("halves of the rows")
    t = len(chance.p)
    crossed = (
        crossed_halves(t, rows=rows, folds=folds, design=design or Independent(n), seed=seed)
        if chance.p[0] <= 2.0 * level and n >= FEWEST_ROWS
        else None
    )
    directions = (
        by_formula(direction_alignment(values, n - 1, d, chance.n_real), t)
        if crossed is None
        else by_halves(crossed, d, chance.n_real)
    )
    shown = np.empty(0, dtype=np.intp) if rows is None else np.arange(n) if shown is None else shown
    scores = np.empty((0, k)) if rows is None else pca.transform(rows[shown])[:, :k]
    spread = np.sqrt(pca.explained_variance_[:k])
    loadings = pca.loadings_[:, :k]
    holds = _holds(unseen, directions, d)
    return Components(
        columns=columns,
        n=n,
        d=d,
        n_real=chance.n_real,
        knee=pca.knee_,
        values=values,
        share=values / values.sum(),
        chance_median=chance.median,
        chance_upper=chance.upper,
        law=law,
        held_out=np.empty(0) if unseen is None else unseen.share,
        held_out_interval=np.empty((0, 2)) if unseen is None else unseen.interval,
        by_fold=np.empty((0, k)) if unseen is None else unseen.by_fold,
        directions=directions,
        loadings=loadings if parts is None else parts.loadings(loadings),
        scores=np.divide(scores, spread, out=np.zeros_like(scores), where=spread > 0.0),
        score_rows=shown,
        tested=_judged(values, chance, unseen, directions, holds, n, d, level, _limit(design, chance, unseen)),
        holds=holds,
        every_score=_every_score(pca, rows, min(chance.n_real, k), len(shown)),
    )


def _every_score(pca: PCA, rows: Array | None, k: int, shown: int) -> Array | None:
    """(n, k) standardised scores of all rows, for tables; None where all are shown, or none is along a component."""
    if rows is None or not k or len(rows) <= shown:
        return None
    scores = np.concatenate([pca.transform(block)[:, :k] for _, block in held_blocks(rows)])
    spread = np.sqrt(pca.explained_variance_[:k])
    return np.asarray(np.divide(scores, spread, out=np.zeros_like(scores), where=spread > 0.0))


def _unseen(
    rows: Array | None, folds: GroupedMoments | None, k: int, design: Design, seed: int
) -> HeldOutComponents | None:
    """Shares on unseen rows; None where moments of all rows are all there is."""
    if folds is None:
        return held_out_from_rows(_present(rows), k, design.folds(fold_count(design.n), seed))
    return held_out_from_folds(folds, k) if len(folds.parts) > 1 else None


def _limit(design: Design | None, chance: Chance, unseen: HeldOutComponents | None) -> str:
    """Why no component can be called real: too few rows count, or the law knows only independent ones."""
    if unseen is None and (design is None or not design.limit):
        return "there are no unseen rows to look at"
    if design is None or design.limit:
        return "" if design is None else design.limit
    return (
        ""
        if chance.draws
        else "rows depend on each other, and the law of chance for so many knows only independent ones"
    )


def _parts(groups: NDArray[np.intp], rows: Array | None, folds: GroupedMoments | None) -> GroupedColumns | None:
    if rows is not None:
        return grouped_columns(groups, lambda picked: np.cov(rows[:, picked], rowvar=False))
    total = _present(folds).total
    return grouped_columns(groups, lambda picked: total[picked].covariance)


def _chance(
    n: int,
    d: int,
    law: SpectrumLaw,
    rows: Array | None,
    groups: NDArray[np.intp] | None,
    design: Design | None,
    level: float,
    seed: int,
    draws: int | None,
    tell: Telling,
) -> Chance:
    # so few that p cannot reach the level would tell nothing
    plan = permutation_plan(n, d, None if draws is None else max(draws, int(np.ceil(1.0 / level)) - 1))
    if rows is not None and law.testable and plan.draws > 0:
        Z = (rows - rows.mean(axis=0)) / rows.std(axis=0, ddof=1)
        rng = np.random.default_rng(seed)
        found = permuted_spectrum(
            Z,
            rng=rng,
            level=level,
            n_max=plan.draws,
            max_components=plan.components,
            groups=groups,
            drawn=None if design is None else design.drawn_each,
            progress=lambda j, done: tell(f"what chance does to component {j + 1}", done / plan.draws),
        )
        median = np.array([np.median(draws) for draws in found.null])
        upper = np.array([np.quantile(draws, 1.0 - level, method="higher") for draws in found.null])
        moved = "columns permuted" if design is None else _MOVED[design.kind]
        how = f"{moved}; components found before are taken out first"
        p = found.p_tail[: len(median)]
        return Chance(p, median, upper, found.n_real, max(found.draws), how)
    t = len(law.chance_upper)
    return Chance(law.p_values[:t], law.chance_median, law.chance_upper, law.n_real, 0, "Tracy-Widom law")


def _holds(unseen: HeldOutComponents | None, directions: Directions, d: int) -> tuple[bool, ...]:
    """Whether each tested component comes back and carries more on unseen rows than directions that mean nothing.

    Those are any that remain; what comes back only together is measured together. Without unseen rows, whether the
    formula expects it back.
    """
    if unseen is None:
        return tuple(directions.comes_back(j) for j in range(len(directions.alignment)))

    def holds(j: int) -> bool:
        first, last = map(int, directions.together[j])
        idle = (last - first) * (1.0 - unseen.share[:first].sum()) / (d - first)
        return directions.comes_back(j) and bool(together(unseen.by_fold, list(range(first, last)))[1][0] > idle)

    return tuple(holds(j) for j in range(len(directions.alignment)))


def _judged(
    values: Array,
    chance: Chance,
    unseen: HeldOutComponents | None,
    directions: Directions,
    holds: tuple[bool, ...],
    n: int,
    d: int,
    level: float,
    limit: str,
) -> tuple[Evidence, ...]:
    q = np.maximum.accumulate(chance.p)
    found = []
    for j in range(len(chance.p)):
        testable = n >= FEWEST_ROWS and d > 1
        found.append(
            Evidence(
                statistic=float(values[j]),
                p=float(chance.p[j]) if testable else None,
                q=float(q[j]) if testable else None,
                held_out=None if unseen is None else float(unseen.share[j]),
                interval=None if unseen is None else (float(unseen.interval[j, 0]), float(unseen.interval[j, 1])),
                stability=float(directions.alignment[j]) if j < chance.n_real else None,
                n=n,
                looks=len(values),
                method=chance.method,
                verdict=verdict_of(float(q[j]) if testable else None, effect_holds=holds[j], level=level),
                null=Null(chance.method, float(chance.median[j]), float(chance.upper[j]), chance.draws),
                limit=limit,
            )
        )
    return tuple(found)


def _present(given: T | None) -> T:
    if given is None:
        raise ParameterError("components need the rows or their fold moments; got neither")
    return given
