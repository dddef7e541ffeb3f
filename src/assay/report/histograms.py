"""How the values of each column spread: small histograms with one switch for all of them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from assay.asking.card import Column, DataCard
from assay.asking.coarse import FEWEST, OTHER
from assay.asking.table import FirstLook
from assay.report.first_look import QUANTITIES, farther
from assay.report.profile import along, spoken
from assay.views.axes.numbers import count, counted, percent, rounded
from assay.views.columns.histogram import (
    LEVELS,
    REACH,
    as_read,
    by_level,
    by_logarithm,
    in_standard_units,
    skewness,
    skewness_by_column,
)
from assay.views.html.elements import NAME, name_cell
from assay.views.html.escape import escaped, visible

HISTOGRAMS = 24
_NAME = 40
_OF_LEVELS = 6
_LACKING = 0.05
_LEVELLED = ("ordered", "boolean", "category")
_SWITCH = (
    ("read", "as read", " checked"),
    ("log", "log(1 + x)", ""),
    ("standard", "standardised (dashed: a normal law)", ""),
)


def histograms(look: FirstLook, data: DataCard) -> str:
    """How the values of each column spread: small drawings, with one switch for all of them.

    Args:
        look: a fair sample of the rows.
        data: what is known of all rows, such as how many values are missing and which look wrong.
    """
    drawable = [j for j, kind in enumerate(look.kinds) if kind in (*QUANTITIES, "time", *_LEVELLED)]
    if not drawable or not len(look.rows):
        return ""
    known = {c.name: c for c in data.columns}
    lacking = {
        j: known[name].missing / max(data.rows, 1) if name in known else float(np.isnan(look.values[:, j]).mean())
        for j, name in enumerate(look.columns)
    }
    suspicious = {name for name, c in known.items() if c.suspicious}
    picked = _picked(look, drawable, lacking, suspicious)
    switch = _switch() if any(look.kinds[j] in QUANTITIES for j in picked) else ""
    items = "".join(
        _item(look, j, lacking[j], look.columns[j] in suspicious, known.get(look.columns[j])) for j in picked
    )
    return (
        f'<div class="spreads"><h3>How the values of each column spread</h3>'
        f"<p>{escaped(_picked_words(look, len(picked), len(drawable)))}</p>{switch}"
        f'<ul class="histograms">{items}</ul></div>'
    )


def _picked(look: FirstLook, drawable: list[int], lacking: dict[int, float], suspicious: set[str]) -> list[int]:
    if len(drawable) <= HISTOGRAMS:
        return drawable

    skew = np.abs(skewness_by_column(look.values)).tolist()

    def urgency(j: int) -> tuple[bool, bool, float]:
        steep = 0.0 if look.kinds[j] in _LEVELLED else skew[j]
        return look.columns[j] not in suspicious, lacking[j] <= _LACKING, -steep

    ranked = sorted(drawable, key=urgency)
    levelled = [j for j in ranked if look.kinds[j] in _LEVELLED]
    others = [j for j in ranked if look.kinds[j] not in _LEVELLED]
    places = max(HISTOGRAMS - len(levelled), HISTOGRAMS - _OF_LEVELS)
    return others[:places] + levelled[: HISTOGRAMS - len(others[:places])]


def _picked_words(look: FirstLook, picked: int, drawable: int) -> str:
    whole = len(look.rows) == look.total
    rows = (
        "All rows are counted." if whole else f"{count(len(look.rows))} of {counted(look.total, 'row')}, drawn fairly."
    )
    if picked == drawable:
        return rows
    return (
        f"{rows} {picked} of {count(drawable)} columns are drawn: first those with suspicious values, then those "
        f"missing more than {_LACKING:.0%}, then the most skewed; up to {_OF_LEVELS} places are for columns of levels. "
        "The others are in the table of columns."
    )


def _switch() -> str:
    choices = "".join(
        f'<label><input type="radio" name="spread" value="{value}"{checked}> {words}</label>'
        for value, words, checked in _SWITCH
    )
    return f'<fieldset class="switch"><legend>Numbers and counts</legend>{choices}</fieldset>'


def _item(look: FirstLook, j: int, lacking: float, suspicious: bool, column: Column | None) -> str:
    kind, unit = look.kinds[j], look.units[j]
    said = [kind if unit is None else f"{kind}, {unit}", f"{percent(lacking)} missing" if lacking else "none missing"]
    if look.columns[j] in look.log:
        said.append("the analysis uses the logarithm")
    if suspicious:
        said.append("suspicious values, see the table")
    head = f"<h4>{name_cell(look.columns[j])}</h4><p>{escaped(' · '.join(said), 160)}</p>"
    profile = None if column is None else column.profile
    numbers = "".join(f"<span>{escaped(words)}</span>" for words in spoken(profile))
    drift = ""
    if profile is not None and (change := along(profile)):
        drift = f'<p class="drift">{escaped(profile.drift_of, 40)} along the file {escaped(change)}</p>'
    return f'<li>{head}{_drawings(look, j)}<p class="stats">{numbers}</p>{drift}</li>'


def _drawings(look: FirstLook, j: int) -> str:
    name, kind, x = _name(look, j), look.kinds[j], look.values[:, j]
    x = x[np.isfinite(x)]
    if kind in _LEVELLED and (levels := _level_counts(look, j)) is not None:
        names, counts = levels
        named = zip(names[:LEVELS], counts[:LEVELS], strict=True)
        shares = ", ".join(f"{level} {percent(n / max(len(x), 1))}" for level, n in named)
        return by_level(counts, names, label=f"{name}: {shares}")
    words = f"{name}: {_in_words(x, kind)}"
    plain = as_read(x, kind="count" if kind == "ordered" else kind, label=words)
    if kind not in QUANTITIES:
        return plain
    log = by_logarithm(x, label=f"{words}, on the scale of log(1 + x)")
    standard = in_standard_units(x, float(look.centre[j]), float(look.scale[j]), label=_standard_words(look, j, x))
    return (
        f'<div class="read">{plain}</div>'
        f'<div class="log">{log or _none("negative values have no log(1 + x)")}</div>'
        f'<div class="standard">{standard or _none("a constant cannot be standardised")}</div>'
    )


def _name(look: FirstLook, j: int) -> str:
    return visible(look.columns[j], NAME)


def _none(why: str) -> str:
    return f'<p class="none">{why}</p>'


def _level_counts(look: FirstLook, j: int) -> tuple[list[str], list[int]] | None:
    """Names and counts of levels; None for an order too long to name each."""
    x = look.values[:, j]
    numbers = x[np.isfinite(x)].round().astype(np.intp)
    default = ("no", "yes") if look.kinds[j] == "boolean" else ()
    names = look.levels.get(look.columns[j], default)
    k = max(len(names), int(numbers.max(initial=0)) + 1)
    steps = look.kinds[j] == "ordered" and not names  # called by their numbers, from the least on
    first = int(numbers.min(initial=k - 1)) if steps else 0
    if numbers.min(initial=0) < 0 or (look.kinds[j] == "ordered" and k - first > LEVELS):
        return None
    unnamed = (str(i) if steps else f"level {i + 1}" for i in range(max(first, len(names)), k))
    named = [*(visible(name, _NAME) for name in names), *unnamed]
    counts = np.bincount(numbers - first, minlength=k - first)
    if look.kinds[j] == "boolean":
        return named, counts.tolist()
    # a level that few rows have might name one of them
    rare = (counts < FEWEST) & (counts > 0)
    kept = [(name, int(n)) for name, n, few in zip(named, counts, rare, strict=True) if not few]
    if rare.any():
        kept.append((f"{OTHER} ({count(int(rare.sum()))})", int(counts[rare].sum())))
    return [name for name, _ in kept], [n for _, n in kept]


def _in_words(x: NDArray[np.float64], kind: str) -> str:
    if not len(x):
        return "no values"
    # without interpolation, which overflows between 1e308 and its opposite
    parts = np.quantile(x, [0, 0.25, 0.5, 0.75, 1], method="inverted_cdf")
    low, quarter, middle, three_quarters, high = (_rounded(float(part), kind) for part in parts)
    skew = skewness(x)
    lean = "" if abs(skew) < 1 or kind == "time" else f", a long tail {'above' if skew > 0 else 'below'}"
    return (
        f"{counted(len(x), 'value')} from {low} to {high}, half of them between {quarter} and {three_quarters}, "
        f"median {middle}{lean}"
    )


def _rounded(value: float, kind: str) -> str:
    """A number of the summary with two digits, so that no cell is told; a time by its month."""
    if kind == "time" and abs(value) < 3e6:
        return str(np.datetime64(int(value), "D").astype("datetime64[M]"))
    return rounded(float(f"{value:.1e}"))


def _standard_words(look: FirstLook, j: int, x: NDArray[np.float64]) -> str:
    outside, far = farther(look, j, x, 1.0), farther(look, j, x, REACH)
    if outside is None or far is None or not len(x):
        return ""
    return (
        f"{_name(look, j)}, standardised: {percent(1 - outside / len(x))} of the values within one standard deviation "
        f"of the mean (68% in a normal law), {count(far)} farther than {REACH:g}"
    )
