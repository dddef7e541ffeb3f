"""Rows that depend on each other in columns that do not: told how, and not told."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter
from scipy.signal import lfilter

from assay.arrays import Array
from calibrate.family import Drawn, Family, Generator, framed

SUBJECTS, EACH, ICC = 30, 10, 0.7
_SUBJECT = frozenset({"subject"})
_TABLES = 16  # of each of the 23, whose studies take longer


def autoregression(rng: Generator, n: int, d: int, phi: float) -> Array:
    """(n, d) independent stationary series of variance 1; phi = 1 is a random walk, which starts at 0."""
    noise = rng.standard_normal((n, d))
    if phi == 1.0:
        return noise.cumsum(axis=0)
    noise[0] /= np.sqrt(1.0 - phi**2)
    return np.asarray(lfilter([np.sqrt(1.0 - phi**2)], [1.0, -phi], noise, axis=0))


def in_time(data: pd.DataFrame) -> pd.DataFrame:
    """The same with a column of days."""
    return data.assign(day=pd.date_range("2020-01-01", periods=len(data)))


def _series(phi: float, told: bool, **options: Any) -> Callable[[Generator], Drawn]:
    def draw(rng: Generator) -> Drawn:
        data = framed(autoregression(rng, 300, 8, phi), "series")
        return Drawn(in_time(data), {"time": "day", **options}) if told else Drawn(data, dict(options))

    return draw


def of_subjects(rng: Generator, d: int = 5) -> tuple[pd.DataFrame, NDArray[np.intp]]:
    """Rows of 30 subjects, ten each, and the number of each row's subject."""
    who = np.repeat(np.arange(SUBJECTS), EACH)
    own, noise = rng.standard_normal((SUBJECTS, d)), rng.standard_normal((len(who), d))
    data = framed(np.sqrt(ICC) * own[who] + np.sqrt(1.0 - ICC) * noise)
    return data.assign(subject=[f"s{i:02d}" for i in who]), who


def _subjects(shuffled: bool, told: bool, arm: str = "") -> Callable[[Generator], Drawn]:
    def draw(rng: Generator) -> Drawn:
        data, who = of_subjects(rng)
        options: dict[str, Any] = {"by": "subject"} if told else {}
        if arm:
            between, within = rng.permutation(SUBJECTS) % 2, rng.permutation(len(who)) % 2
            data["arm"] = np.where(between[who] if arm == "between" else within, "treated", "control")
            options["target"] = "arm"
        return Drawn(_shuffled(rng, data) if shuffled else data, options)

    return draw


def _shuffled(rng: Generator, data: pd.DataFrame) -> pd.DataFrame:
    return data.iloc[rng.permutation(len(data))].reset_index(drop=True)


def _copies(rng: Generator) -> Drawn:
    return Drawn(_shuffled(rng, framed(np.repeat(rng.standard_normal((60, 6)), 8, axis=0))))


def _jittered(size: float) -> Callable[[Generator], Drawn]:
    def draw(rng: Generator) -> Drawn:
        rows = np.repeat(rng.standard_normal((100, 6)), 3, axis=0)
        return Drawn(_shuffled(rng, framed(rows + size * rng.standard_normal(rows.shape))))

    return draw


def _unnamed(rng: Generator) -> Drawn:
    return Drawn(of_subjects(rng)[0].drop(columns="subject"))


def _dated(rng: Generator) -> Drawn:
    """Series in any order of the file, with a column of days that nobody points at."""
    return Drawn(_shuffled(rng, in_time(framed(autoregression(rng, 300, 8, 0.9), "series"))))


def _fields(told: bool) -> Callable[[Generator], Drawn]:
    def draw(rng: Generator) -> Drawn:
        smooth = [gaussian_filter(rng.standard_normal((14, 14)), 2.0, mode="reflect").ravel() for _ in range(4)]
        data = framed(np.column_stack(smooth) * 10.0, "field")
        if not told:
            return Drawn(data)
        x, y = np.divmod(np.arange(196), 14)
        return Drawn(_shuffled(rng, data.assign(x=x * 1.0, y=y * 1.0)), {"place": ("x", "y")})

    return draw


def _scattered(told: bool) -> Callable[[Generator], Drawn]:
    """Smooth fields at 250 places anywhere in a square."""

    def draw(rng: Generator) -> Drawn:
        at = rng.uniform(0, 10, (250, 2))
        near = np.exp(-((at[:, None] - at) ** 2).sum(axis=2) / (2 * 0.8**2))
        root = np.linalg.cholesky(near + 1e-6 * np.eye(250))
        names = ("a", "b") if told else ("lat", "lon")
        data = framed(root @ rng.standard_normal((250, 5)), "field").assign(**dict(zip(names, at.T, strict=True)))
        return Drawn(data, {"place": names} if told else {})

    return draw


_SERIES = {"random walks": 1.0, "AR(.9)": 0.9, "AR(.3)": 0.3}
_DRAWN: dict[str, Callable[[Generator], Drawn]] = {
    **{f"{name}, 300 x 8": _series(phi, False) for name, phi in _SERIES.items()},
    **{f"{name}, 300 x 8, told the time": _series(phi, True) for name, phi in _SERIES.items()},
    "random walks, one as target": _series(1.0, False, target="series1"),
    "random walks, one as target, told the time": _series(1.0, True, target="series1"),
    "30 subjects x 10, sorted": _subjects(False, False),
    "30 subjects x 10, shuffled": _subjects(True, False),
    "30 subjects x 10, shuffled, told": _subjects(True, True),
    "arm drawn within subjects, target": _subjects(True, False, "within"),
    "arm drawn between subjects, target": _subjects(False, False, "between"),
    "arm drawn between subjects, target, told": _subjects(True, True, "between"),
    "60 rows x 8 copies": _copies,
    "100 rows x 3, 1% jitter": _jittered(0.01),
    "100 rows x 3, 5% jitter": _jittered(0.05),
    "30 subjects x 10, sorted, not named": _unnamed,
    "AR(.9), 300 x 8, shuffled beside a column of days": _dated,
    "smooth fields, 14 x 14": _fields(False),
    "smooth fields, 14 x 14, told the place": _fields(True),
    "smooth fields, 250 places": _scattered(False),
    "smooth fields, 250 places, told": _scattered(True),
}

DEPENDENT = tuple(
    Family(name, "dependent", draw, known=_SUBJECT if "subjects" in name else frozenset(), tables=_TABLES)
    for name, draw in _DRAWN.items()
)
