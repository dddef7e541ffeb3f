"""A family of tables: how one is drawn, what is planted in it, which findings are false."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

import numpy as np
import pandas as pd

from assay.arrays import Array

Sort: TypeAlias = Literal["independent", "dependent", "rare", "planted", "interval"]
Generator: TypeAlias = np.random.Generator

USUAL = 27  # tables of a family: twelve of them are enough to notice a rate of 10%, see rates.py


@dataclass(frozen=True, slots=True)
class Drawn:
    """One table.

    Attributes:
        data: what `assay.study` is given.
        options: and what it is told.
        reference: p of the reference test, which is given the planted structure alone; None without one.
        planted: numbers of the rows planted, where it is rows.
    """

    data: pd.DataFrame
    options: dict[str, Any] = field(default_factory=dict)
    reference: Callable[[], float] | None = None
    planted: tuple[int, ...] = ()


Found: TypeAlias = Callable[[Any, Drawn], bool]


@dataclass(frozen=True, slots=True)
class Family:
    """Tables of one kind.

    Attributes:
        name: as the table of results has it.
        sort: which part of the table it belongs to.
        draw: a table, from a generator of its own.
        found: whether a study found what is planted; None where nothing is.
        reference: name of the reference test; empty without one.
        false: kinds of finding that are false here; None for all of them, where nothing is planted.
        known: columns whose part in a pair is true by making, such as the subject of a row.
        tables: drawn in a full run.
        asked: names of the questions asked; empty for all of them.
    """

    name: str
    sort: Sort
    draw: Callable[[Generator], Drawn]
    found: Found | None = None
    reference: str = ""
    false: Collection[str] | None = None
    known: frozenset[str] = frozenset()
    tables: int = USUAL
    asked: tuple[str, ...] = ()

    def table(self, seed: int) -> Drawn:
        """Table number `seed`, the same on every machine."""
        return self.draw(np.random.default_rng([seed, *self.name.encode()]))


def framed(X: Array, prefix: str = "c") -> pd.DataFrame:
    """Columns with names."""
    return pd.DataFrame(X, columns=[f"{prefix}{j + 1}" for j in range(X.shape[1])])


def pairs_of(study: Any) -> list[frozenset[str]]:
    """Pairs of columns that a study says go together; empty where it supports none."""
    if not supports(study, "correlations"):
        return []
    return [frozenset(pair["columns"]) for pair in study.answers["correlations"].numbers()["pairs"]]


def supports(study: Any, kind: str) -> bool:
    """Whether a finding of this kind is supported."""
    return kind in supported(study)


def supported(study: Any) -> list[str]:
    """Kinds of the supported findings."""
    return sorted({f.kind for f in study.findings if f.evidence.verdict == "supported"})
