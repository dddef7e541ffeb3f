"""The same table under ten seeds and ten orders of its rows: which verdicts change, which numbers move too far."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn import datasets

from calibrate.families import FAMILIES
from calibrate.family import Drawn, framed
from calibrate.measure import studied

SEEDS = ORDERS = 10
_EXAMPLES = Path(__file__).parent.parent / "examples" / "data"
_FIXED = 1  # the number of the table drawn from a family


def _file(name: str) -> Callable[[], Drawn]:
    return lambda: Drawn(pd.read_csv(_EXAMPLES / name))


def _bundled(name: str, target: str = "") -> Callable[[], Drawn]:
    def draw() -> Drawn:
        bunch = getattr(datasets, f"load_{name}")(as_frame=True)
        return Drawn(bunch.frame if target else bunch.data, {"target": "target"} if target else {})

    return draw


def _family(name: str) -> Callable[[], Drawn]:
    return lambda: FAMILIES[name].table(_FIXED)


def _mixtures() -> Drawn:
    """1,030 x 8 as of recipes: many zeros, a few ages, amounts that add up."""
    rng = np.random.default_rng(1030)
    base = rng.choice(6, 1030, p=[0.3, 0.2, 0.2, 0.1, 0.1, 0.1])
    amounts = np.abs(rng.normal([280, 70, 50, 180, 6], [100, 85, 64, 20, 6], (1030, 5)))
    amounts[:, 1] *= base % 2
    amounts[:, 2] *= base % 3 == 0
    amounts[:, 4] *= base > 2
    rest = 2300.0 - amounts.sum(axis=1)
    share = rng.normal(0.55, 0.04, 1030)
    age = rng.choice([3, 7, 28, 56, 90, 180], 1030, p=[0.13, 0.12, 0.41, 0.1, 0.14, 0.1])
    made = np.column_stack([np.round(amounts, 1), np.round(rest * share, 0), np.round(rest * (1 - share), 0), age])
    return Drawn(framed(made))


_DRAWN = (
    "normal, four shapes", "t3, four shapes", "lognormal, four shapes", "several laws, a number as target",
    "2% binaries, 500 x 20", "six skewed levels, 100 x 6", "line, r = .3, 200 x 4", "parabola, 200 x 4",
    "three groups, 300 x 5", "two elongated groups", "3 rows of 300 x 5 at 6 sd", "one factor, loading .4, 100 x 20",
    "two sides, r = .5, 150 rows",
)  # fmt: skip
TABLES: dict[str, Callable[[], Drawn]] = {
    "wholesale customers": _file("wholesale_customers.csv"),
    "US arrests": _file("us_arrests.csv"),
    "iris": _bundled("iris"),
    "wine": _bundled("wine"),
    "wine, class as target": _bundled("wine", "target"),
    "diabetes": _bundled("diabetes"),
    "diabetes, progression as target": _bundled("diabetes", "target"),
    "mixtures, 1,030 x 8": _mixtures,
    **{name: _family(name) for name in _DRAWN},
}


def spread_of(table: str, turn: int) -> dict[str, Any]:
    """Verdicts, sizes and intervals of one turn: the first ten change the seed, the others the order of rows."""
    drawn = TABLES[table]()
    if turn >= SEEDS:
        order = np.random.default_rng([turn, 14]).permutation(len(drawn.data))
        drawn = Drawn(drawn.data.iloc[order].reset_index(drop=True), drawn.options)
    try:
        study = studied(drawn, (), turn if turn < SEEDS else 0)
    except Exception as error:  # a turn without an answer differs from all that have one
        return {"verdicts": {}, "sizes": {}, "intervals": {}, "error": f"{type(error).__name__}: {error}"}
    return {
        "verdicts": {f.id: f.evidence.verdict for f in study.findings},
        "sizes": {f.id: f.evidence.held_out for f in study.findings if f.evidence.held_out is not None},
        "intervals": {f.id: list(f.evidence.interval) for f in study.findings if f.evidence.interval is not None},
    }


def changed(turns: list[dict[str, Any]]) -> tuple[int, int]:
    """Verdicts that differ from the commonest one of their finding, of how many; a finding not made counts as one."""
    ids = sorted({name for turn in turns for name in turn["verdicts"]})
    differ = 0
    for name in ids:
        counts = Counter(_verdict(turn, name) for turn in turns)
        differ += len(turns) - counts.most_common(1)[0][1]
    return differ, len(ids) * len(turns)


def _verdict(turn: dict[str, Any], name: str) -> str:
    return str(turn["verdicts"].get(name, turn.get("error", "not distinguishable from chance")))


def moved(turns: list[dict[str, Any]]) -> tuple[int, int]:
    """Sizes of one turn outside the interval of the turn before, of how many that have one."""
    outside = total = 0
    for before, after in zip(turns, turns[1:] + turns[:1], strict=True):
        for name, (low, high) in before["intervals"].items():
            if None in (low, high, after["sizes"].get(name)):
                continue
            total += 1
            outside += not low <= after["sizes"][name] <= high
    return outside, total
