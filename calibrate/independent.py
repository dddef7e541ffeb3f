"""Columns that know nothing of each other: every supported finding is false."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from assay.arrays import Array
from calibrate.family import USUAL, Drawn, Family, Generator, framed, supports

SHAPES = ((60, 5), (200, 8), (500, 4), (100, 20))
LAWS: dict[str, Callable[[Generator, tuple[int, int]], Array]] = {
    "normal": lambda rng, shape: rng.standard_normal(shape),
    "uniform": lambda rng, shape: rng.random(shape),
    "Poisson": lambda rng, shape: rng.poisson(3.0, shape).astype(float),
    "Laplace": lambda rng, shape: rng.laplace(size=shape),
    "gamma": lambda rng, shape: rng.gamma(2.0, size=shape),
    "lognormal": lambda rng, shape: rng.lognormal(size=shape),
    "t5": lambda rng, shape: rng.standard_t(5, shape),
    "t3": lambda rng, shape: rng.standard_t(3, shape),
    "Cauchy": lambda rng, shape: rng.standard_cauchy(shape),
}


def _of_law(law: Callable[[Generator, tuple[int, int]], Array]) -> Callable[[Generator], Drawn]:
    return lambda rng: Drawn(framed(law(rng, SHAPES[rng.integers(len(SHAPES))])))


def _mixed(rng: Generator, n: int, d: int) -> Array:
    laws = list(LAWS.values())[:7]
    return np.column_stack([laws[rng.integers(len(laws))](rng, (n, 1)) for _ in range(d)])


def _number(rng: Generator) -> Drawn:
    return Drawn(framed(_mixed(rng, 120, 6)), {"target": "c1"})


def _class(rng: Generator) -> Drawn:
    data = framed(_mixed(rng, 120, 6))
    data["kind"] = rng.choice(["red", "green", "blue"], 120, p=[0.5, 0.3, 0.2])
    return Drawn(data, {"target": "kind"})


def _sides(rng: Generator) -> Drawn:
    return Drawn(framed(_mixed(rng, 120, 7)), {"side": ("c1", "c2", "c3")})


def _tall(rng: Generator) -> Drawn:
    return Drawn(framed(rng.standard_normal((100_000, 20))))


def _smooth(rng: Generator) -> Drawn:
    """One lump of related columns, some of them skew."""
    X = rng.standard_normal((5000, 3)) @ rng.standard_normal((3, 9)) + rng.standard_normal((5000, 9))
    X[:, ::3] = np.exp(0.4 * X[:, ::3])
    return Drawn(framed(X))


def _wide(rng: Generator) -> Drawn:
    return Drawn(framed(rng.standard_normal((38, 3052))))


def _lacking(share: float) -> Callable[[Generator], Drawn]:
    def draw(rng: Generator) -> Drawn:
        X = rng.standard_normal((400, 6))
        X[rng.random(X.shape) < share] = np.nan
        return Drawn(framed(X))

    return draw


def _lacking_together(rng: Generator) -> Drawn:
    """Columns that are missing in pairs."""
    X = rng.standard_normal((400, 6))
    X[np.repeat(rng.random((400, 3)) < 0.45, 2, axis=1)] = np.nan
    return Drawn(framed(X))


def _lacking_where_high(rng: Generator) -> Drawn:
    """Three columns are missing where a fourth is high."""
    X = rng.standard_normal((400, 6))
    gone = rng.random((400, 3)) < 1.0 / (1.0 + np.exp(-4.0 * X[:, 5:]))
    X[:, :3][gone] = np.nan
    return Drawn(framed(X))


def _gaps_found(study: Any, drawn: Drawn) -> bool:
    return supports(study, "missing")


def _binary(n: int, d: int, share: float) -> Callable[[Generator], Drawn]:
    return lambda rng: Drawn(framed((rng.random((n, d)) < share).astype(float)))


def _booleans(rng: Generator) -> Drawn:
    return Drawn(framed((rng.random((300, 10)) < 0.01).astype(float)).astype(bool))


def _levels(n: int, d: int, shares: tuple[float, ...]) -> Callable[[Generator], Drawn]:
    names = np.array(list("ABCDEFGH"))[: len(shares)]
    return lambda rng: Drawn(pd.DataFrame({f"c{j + 1}": rng.choice(names, n, p=shares) for j in range(d)}))


INDEPENDENT = (
    *(Family(f"{name}, four shapes", "independent", _of_law(law)) for name, law in LAWS.items()),
    Family("several laws, a number as target", "independent", _number),
    Family("several laws, a category as target", "independent", _class),
    Family("several laws, two sides", "independent", _sides),
    Family("normal, 100,000 x 20", "independent", _tall, tables=3),
    Family("normal, 38 x 3,052", "independent", _wide, tables=3),
    *(
        Family(f"normal, 400 x 6, {share:.0%} missing", "independent", _lacking(share), tables=12)
        for share in (0.3, 0.8, 0.92)
    ),
)

_NOT_GAPS = ("component", "correlations", "groups", "anomalies", "map", "order")
GAPS = (
    Family("missing in pairs", "planted", _lacking_together, _gaps_found, false=_NOT_GAPS, tables=12),
    Family("missing where another is high", "planted", _lacking_where_high, _gaps_found, false=_NOT_GAPS, tables=12),
)

LUMP = Family("one lump, 5,000 x 9", "planted", _smooth, false=("groups",), tables=3)

_MANY = 2 * USUAL  # six families, which are quick
RARE = (
    Family("2% binaries, 200 x 6", "rare", _binary(200, 6, 0.02), tables=_MANY),
    Family("2% binaries, 500 x 20", "rare", _binary(500, 20, 0.02), tables=_MANY),
    Family("1% booleans, 300 x 10", "rare", _booleans, tables=_MANY),
    Family("levels .94/.02/.02/.02, 200 x 8", "rare", _levels(200, 8, (0.94, 0.02, 0.02, 0.02)), tables=_MANY),
    Family("six skewed levels, 100 x 6", "rare", _levels(100, 6, (0.5, 0.25, 0.12, 0.07, 0.04, 0.02)), tables=_MANY),
    Family("5% binaries, 200 x 10", "rare", _binary(200, 10, 0.05), tables=_MANY),
)
