"""Do texts share themes? Words that are used together more often than independent words.

statistic  singular values of the presence of words beyond chance, one after another: see `assay.summary.texts.themes`
chance     words exchanged between texts; each text keeps how many different words it has, each word its number of texts
unseen     themes found in four fifths of the texts: by how much more the others vary along them than exchanged words do
copies     texts that repeat others count once
looks      one for each column of texts: every p counts as many times
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from assay.arrays import Array, Indices
from assay.asking.table import FirstLook, Table, Texts
from assay.evidence.design import Design
from assay.evidence.evidence import Evidence, Null, verdict_of
from assay.questions.themes.answer import ColumnThemes, TextThemes, Theme
from assay.summary.texts.term_documents import TermDocuments
from assay.summary.texts.themes import Themes, themes

MOST_TEXTS = 20_000
METHOD = "words exchanged between texts, each text and each word keeping its number of them"
LIMIT = "texts depend on each other, and which words they would then share by chance is not known"
_WORDS, _ON_MAP = 8, 16
_MOST_LEVELS = 8


def text_themes(
    table: Table, *, level: float = 0.05, seed: int = 0, progress: Callable[[str], object] | None = None
) -> TextThemes:
    """Ask every column of texts.

    Args:
        table: the data.
        level: level of the study.
        seed: of everything random.
        progress: told what is being done.
    """
    looks = len(table.texts)
    return TextThemes(
        tuple(_column(table, name, texts, looks, level, seed, progress) for name, texts in table.texts.items())
    )


def _column(
    table: Table,
    name: str,
    texts: Texts,
    looks: int,
    level: float,
    seed: int,
    progress: Callable[[str], object] | None,
) -> ColumnThemes:
    rows = table.in_use if table.in_use is not None else np.arange(table.card.rows)
    picked = _picked(rows, table.look, seed)
    read = TermDocuments.of(_some(texts(), picked))
    numbers = rows[picked]
    design = table.design_of(numbers)
    found = themes(
        read.counts,
        level=level / looks,
        folds=None if design.kind == "independent" else lambda some: design.among(some).folds(5, seed),
        seed=seed,
        progress=progress,
    )
    tested = _tested(found, read.terms, looks, level, _limit(design, found))
    shown, label, labels = _coloured(table.look, numbers, found)
    words, at = _pulling(found, read.terms)
    return ColumnThemes(
        name, len(rows), len(picked), int(found.used.sum()), found.repeated, int(np.count_nonzero(found.weights)),
        tested, found.coordinates(read.counts[shown])[:, :2], numbers[shown] + 1, label, labels, words, at,
    )  # fmt: skip


def _picked(rows: Indices, look: FirstLook, seed: int) -> Indices:
    """Places among the rows in use of the texts read: all, or a fair sample that holds the rows of the first look."""
    if len(rows) <= MOST_TEXTS:
        return np.arange(len(rows))
    drawn = np.isin(rows, look.rows - 1)
    others = np.random.default_rng((seed, 3)).permutation(np.flatnonzero(~drawn))
    return np.sort(np.concatenate([np.flatnonzero(drawn), others[: MOST_TEXTS - int(drawn.sum())]]))


def _some(texts: Iterator[str], picked: Indices) -> Iterator[str]:
    wanted = iter(picked.tolist())
    at = next(wanted, None)
    for number, text in enumerate(texts):
        if number == at:
            yield text
            at = next(wanted, None)
        if at is None:
            return


def _limit(design: Design, found: Themes) -> str:
    """Why no theme can be called supported: rows that depend, unless it is only copies that do, which are out."""
    if design.kind == "independent" or design.limit:
        return design.limit
    label = getattr(design.among(np.flatnonzero(found.used)), "label", None)
    return "" if label is not None and len(label) and np.bincount(label).max() == 1 else LIMIT


def _tested(found: Themes, terms: tuple[str, ...], looks: int, level: float, limit: str) -> tuple[Theme, ...]:
    n = int(found.used.sum())
    if not found.testable:
        return (Theme((), (), Evidence(statistic=0.0, n=n, looks=looks, limit=limit), False),)
    null = Null(METHOD, float(np.median(found.chance)), float(np.quantile(found.chance, 1 - level)), len(found.chance))
    tested, standing = [], True
    for j, (value, p) in enumerate(zip(found.values.tolist(), found.p.tolist(), strict=True)):
        beyond = j < len(found.held_out)
        holds = bool(beyond and found.holds[j])
        q = min(looks * p, 1.0)
        standing = standing and holds
        evidence = Evidence(
            statistic=value / null.median,
            null=Null(METHOD, 1.0, null.upper / null.median, null.draws),
            p=p,
            q=q,
            held_out=float(found.held_out[j]) if beyond else None,
            n=n,
            looks=looks,
            method=f"{METHOD}, {len(found.chance)} draws",
            verdict=verdict_of(q, effect_holds=standing, level=level),
            limit=limit,
        )
        towards, away = _ends(found.axes[:, j] * found.weights, terms) if beyond else ((), ())
        tested.append(Theme(towards, away, evidence, holds))
    return tuple(tested)


def _ends(pull: Array, terms: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Words at either end of a theme; words that pull a tenth as much as the strongest say nothing of it."""
    order = np.argsort(-pull, kind="stable")
    least = 0.1 * float(np.abs(pull).max(initial=0.0))
    up = tuple(terms[j] for j in order[:_WORDS] if pull[j] > least)
    down = tuple(terms[j] for j in order[::-1][:_WORDS] if pull[j] < -least)
    return up, down


def _coloured(look: FirstLook, numbers: Indices, found: Themes) -> tuple[Indices, str, tuple[str, ...]]:
    """Places of the texts that are drawn, a column that colours them, and its value for each of them."""
    drawn = np.flatnonzero(found.used & np.isin(numbers, look.rows - 1))
    for j, kind in enumerate(look.kinds):
        levels = look.levels.get(look.columns[j], ())
        if kind in ("category", "ordered") and 2 <= len(levels) <= _MOST_LEVELS:
            place = np.searchsorted(look.rows - 1, numbers[drawn])
            codes = look.values[place, j]
            told = tuple("missing" if np.isnan(code) else levels[int(code)] for code in codes)
            return drawn, look.columns[j], told
    return drawn, "", ()


def _pulling(found: Themes, terms: tuple[str, ...]) -> tuple[tuple[str, ...], Array]:
    """Words that pull most along the first two themes, and where to."""
    pull = (found.axes * found.weights[:, None])[:, :2]
    if pull.shape[1] < 2:
        return (), np.empty((0, 2))
    strongest = np.argsort(-np.hypot(pull[:, 0], pull[:, 1]), kind="stable")[:_ON_MAP]
    return tuple(terms[j] for j in strongest), pull[strongest]
