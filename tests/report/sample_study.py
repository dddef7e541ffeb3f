"""Studies with true numbers for the tests of views and reports, computed with numpy alone."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path
from types import SimpleNamespace

import numpy as np
from threadpoolctl import threadpool_limits

from assay.asking.card import Column, DataCard
from assay.asking.finding import Look
from assay.asking.table import FirstLook
from assay.evidence.evidence import Evidence, Null, verdict_of
from assay.questions.components.directions import Directions
from assay.questions.components.test import Components
from assay.study.findings import Ledger, Study

DATA = Path(__file__).parents[2] / "examples" / "data" / "wholesale_customers.csv"
HOSTILE = (
    "<script>document.title='broken'</script>",
    "</script><script>document.title='broken'</script>",
    "<img src=x onerror=\"document.title='broken'\">",
    "\"&'><b onmouseover=\"document.title='broken'\">",
    "$$\\href{javascript:alert(1)}{x}$$",
    "]]><!-- ${name} @{name} \x1b[31mred \u202egnp.exe",
)


def _standard(X: np.ndarray) -> np.ndarray:
    return (X - X.mean(0)) / X.std(0, ddof=1)


def _eigenvalues(Z: np.ndarray) -> np.ndarray:
    gram = Z @ Z.T if len(Z) < Z.shape[1] else Z.T @ Z
    return np.linalg.eigvalsh(gram)[::-1] / (len(Z) - 1)


def _null(Z: np.ndarray, draws: int, rng: np.random.Generator) -> np.ndarray:
    """Eigenvalues when every column is shuffled on its own (Horn's parallel analysis), (draws, r)."""
    return np.array([_eigenvalues(rng.permuted(Z, axis=0)) for _ in range(draws)])


def _held_out(X: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    folds = np.arange(len(X)) % 5
    shares = []
    for fold in range(5):
        train, test = X[folds != fold], X[folds == fold]
        mean, scale = train.mean(0), train.std(0, ddof=1)
        _, _, Vt = np.linalg.svd((train - mean) / scale, full_matrices=False)
        Z = (test - mean) / scale
        shares.append(((Z @ Vt[:k].T) ** 2).sum(0) / (Z**2).sum())
    centre, half = np.mean(shares, axis=0), 2.776 * np.std(shares, axis=0, ddof=1) / np.sqrt(5)
    return centre, np.stack([np.maximum(centre - half, 0), centre + half], axis=1), np.array(shares)


@threadpool_limits.wrap(limits=1)  # matrices this small only wait for each other's threads
def components(X: np.ndarray, names: tuple[str, ...], *, draws: int = 199, seed: int = 0) -> Components:
    """The answer on components, its numbers made here."""
    rng = np.random.default_rng(seed)
    n, d = X.shape
    Z = _standard(X)
    U, s, Vt = np.linalg.svd(Z, full_matrices=False)
    r = min(n - 1, d)
    values = s[:r] ** 2 / (n - 1)
    k = min(10, r)
    held_out, interval, by_fold = _held_out(X, k)
    halves = [np.linalg.svd(_standard(X[part::2]), full_matrices=False)[2][:k] for part in (0, 1)]
    alignment = np.abs((halves[0] * halves[1]).sum(1))
    evidence: list[Evidence] = []
    nulls = _null(Z, draws, rng)
    for j in range(r):
        null = nulls[:, j]
        p = (1 + int((null >= values[j]).sum())) / (1 + draws)
        chance = Null("columns shuffled", float(np.median(null)), float(np.quantile(null, 0.95)), draws)
        holds = j < k and held_out[j] > 1 / d
        evidence.append(
            Evidence(
                statistic=float(values[j]), p=p, q=p, null=chance, n=n, looks=r,
                held_out=float(held_out[j]) if j < k else None,
                interval=(float(interval[j, 0]), float(interval[j, 1])) if j < k else None,
                stability=float(alignment[j]) if j < k else None, method="every column shuffled on its own",
                verdict=verdict_of(p, effect_holds=bool(holds)),
            )
        )  # fmt: skip
        if p > 0.05:
            break
    gamma, own = d / n, np.arange(len(evidence))
    rows = np.sort(rng.choice(n, min(n, 2000), replace=False))
    scores = (U * np.sqrt(n - 1))[:, :k]
    return Components(
        columns=names, n=n, d=d,
        knee=int(np.argmax(np.linspace(values[0], values[-1], len(values)) - values)) or 1,
        n_real=sum(e.p is not None and e.p <= 0.05 for e in evidence),
        values=values, share=values / d,
        chance_median=np.array([e.null.median for e in evidence if e.null]),
        chance_upper=np.array([e.null.upper for e in evidence if e.null]),
        law=SimpleNamespace(
            noise=1.0, lower=max(0.0, 1 - gamma**0.5) ** 2, upper=(1 + gamma**0.5) ** 2,
            debiased=values[:1], alignment=values[:1] * 0,
        ),
        held_out=held_out, held_out_interval=interval, by_fold=by_fold,
        directions=Directions(
            alignment[: len(own)], alignment[: len(own)] ** 2, np.stack([own, own + 1], axis=1), halvings=1
        ),
        loadings=Vt[:k].T * np.sqrt(values[:k]),
        scores=scores[rows], score_rows=rows, tested=tuple(evidence),
        holds=tuple(e.verdict == "supported" for e in evidence),
    )  # fmt: skip


def study_of(result: Components, name: str, *, aside: tuple[Column, ...] = (), notes: tuple[str, ...] = ()) -> Study:
    """Wrap the numbers as a study with one finding."""
    used = tuple(Column(column, "number", used=True) for column in result.columns)
    looks = Look("components", len(result.values), len(result.tested), "sequential, then Benjamini-Hochberg")
    return Study(
        data=DataCard(name, result.n, result.n, used + aside, notes),
        findings=tuple(replace(f, question="components") for f in result.findings()),
        ledger=Ledger((looks,)), version="0.1.0",
        answers={"components": result},
    )  # fmt: skip


@cache
def wholesale() -> Study:
    """440 customers, six spendings: two real components."""
    table = np.genfromtxt(DATA, delimiter=",", names=True)
    names = tuple(table.dtype.names or ())[2:]
    X = np.stack([table[name] for name in names], axis=1)
    aside = (
        Column("Channel", "category", used=False, note="2 distinct values: read as a category"),
        Column("Region", "category", used=False, missing=3, note="3 distinct values: read as a category"),
    )
    return study_of(components(X, names), DATA.name, aside=aside)


@cache
def wide() -> Study:
    """90 rows of 300 columns around three planted directions."""
    rng = np.random.default_rng(4)
    X = rng.standard_normal((90, 300))
    for strength in (6.0, 4.5, 3.5):
        axis = rng.standard_normal(300)
        X += np.outer(rng.standard_normal(90), strength * axis / np.linalg.norm(axis))
    result = components(X, tuple(f"gene_{j:03d}" for j in range(300)), draws=39)
    return study_of(result, "expression.parquet", notes=("There are fewer rows (90) than columns (300).",))


@cache
def noise() -> Study:
    """200 rows of 12 columns that have nothing to do with each other."""
    X = np.random.default_rng(11).standard_normal((200, 12))
    return study_of(components(X, tuple(f"sensor {c}" for c in "ABCDEFGHIJKL")), "noise.csv")


@cache
def one() -> Study:
    """150 rows of 7 columns that share one cause."""
    rng = np.random.default_rng(3)
    X = rng.standard_normal((150, 7)) + 0.9 * rng.standard_normal((150, 1))
    return study_of(components(X, tuple(f"item {j + 1}" for j in range(7))), "questionnaire.csv")


@cache
def hostile() -> Study:
    """Two real components of columns whose names try to break out of the page."""
    table = np.genfromtxt(DATA, delimiter=",", skip_header=1)[:, 2:]
    aside = (Column("<script>document.title='broken'</script>", "text", used=False, note="</td><script>1</script>"),)
    return study_of(
        components(table, HOSTILE),
        "<script>alert(1)</script>.csv",
        aside=aside,
        notes=("a <b>bold</b> note & more",),
    )


@cache
def huge() -> Study:
    """What a million rows of 5000 columns leave behind: 2000 rows of scores, ten axes, every column."""
    rng = np.random.default_rng(8)
    d, k = 5000, 10
    small = wide()
    values = np.sort(rng.gamma(2.0, 0.5, d))[::-1]
    values[:3] = 400.0, 90.0, 30.0
    result = replace(
        small.answers["components"],
        columns=tuple(f"{'a rather long column name ' * 3}{j}" for j in range(d)),
        n=1_000_000, d=d, values=values, share=values / values.sum(), loadings=rng.uniform(-1, 1, (d, k)),
        scores=rng.standard_normal((2000, k)), score_rows=np.sort(rng.choice(1_000_000, 2000, False)),
    )  # fmt: skip
    return study_of(result, "large.parquet")


def first_look(table: dict[str, tuple[str, np.ndarray]], *, total: int = 0, **known) -> FirstLook:
    """A sample of kinds and values by name; mean and standard deviation are those of the values at hand."""
    values = np.stack([np.asarray(x, dtype=np.float64) for _, x in table.values()], axis=1)
    there = np.isfinite(values)
    n = np.maximum(there.sum(0), 1)
    centre = np.where(there, values, 0).sum(0) / n
    scale = np.sqrt((np.where(there, values - centre, 0) ** 2).sum(0) / n)
    total = total or len(values)
    rows = np.sort(np.random.default_rng(0).choice(total, len(values), replace=False)) + 1
    return FirstLook(
        columns=tuple(table), kinds=tuple(kind for kind, _ in table.values()),
        units=known.pop("units", (None,) * len(table)),
        rows=rows, values=values, centre=centre, scale=scale, total=total, **known,
    )  # fmt: skip


def looked_at(look: FirstLook, name: str, **card) -> Study:
    """A study in which nothing was asked: the data alone."""
    missing = np.isnan(look.values).mean(0)
    columns = card.pop("columns", ()) or tuple(
        Column(name, kind, used=kind in ("number", "count"), missing=int(share * look.total))
        for name, kind, share in zip(look.columns, look.kinds, missing, strict=True)
    )
    data = DataCard(name, look.total, look.total, columns, **card)
    return Study(data, (), Ledger(), "0.1.0", look=look)


@cache
def mixed() -> Study:
    """12,345 visits to a clinic, every kind of column, values missing here and there and in one block."""
    rng = np.random.default_rng(5)
    m = 400
    time = np.sort(rng.uniform(19000, 20200, m))
    weight = rng.normal(74, 14, m)
    table = {
        "visit": ("identifier", np.full(m, 8.0)),
        "arrival": ("time", time),
        "age": ("count", rng.integers(18, 95, m)),
        "weight": ("number", weight),
        "height": ("number", 100 + 0.3 * weight + rng.normal(0, 6, m)),
        "charges": ("number", np.exp(rng.normal(8, 1.4, m))),
        "white cells": ("number", np.exp(rng.normal(2, 0.5, m))),
        "temperature": ("number", rng.normal(37, 0.6, m) + 0.002 * np.arange(m)),
        "balance": ("number", rng.normal(0, 300, m)),
        "visits before": ("count", rng.geometric(0.4, m) - 1),
        "pain": ("ordered", rng.integers(0, 4, m)),
        "smoker": ("boolean", rng.random(m) < 0.3),
        "ward": ("category", np.minimum(rng.geometric(0.35, m) - 1.0, 9)),
        "remarks": ("text", rng.integers(0, 200, m)),
        "country": ("constant", np.zeros(m)),
        "old code": ("empty", np.full(m, np.nan)),
    }
    for name, share in (("weight", 0.04), ("white cells", 0.3), ("ward", 0.08)):
        table[name][1][rng.random(m) < share] = np.nan
    for name in ("height", "weight", "temperature"):
        table[name][1][150:190] = np.nan
    table["charges"][1][7] = 999999.0
    look = first_look(
        table, total=12_345, log=frozenset({"charges"}),
        units=tuple({"weight": "kg", "height": "cm", "temperature": "°C"}.get(name) for name in table),
        levels={
            "pain": ("none", "mild", "strong", "unbearable"),
            "ward": ("surgery", "medicine", "children", "eye", "skin", "ear", "nose", "throat", "heart", "day clinic"),
        },
    )  # fmt: skip
    said = {
        "visit": {"note": "an identifier: every value is different", "why": "text, all values different"},
        "arrival": {"typical": "2022-01-07 to 2025-04-21", "encoded": "year, month, weekday, hour", "why": "dates"},
        "age": {"typical": "18 to 94, mean 56", "why": "whole numbers, none negative"},
        "weight": {"typical": "32 to 118, mean 74", "role": "target"},
        "charges": {
            "typical": "40 to 1,000,000, mean 9,700", "encoded": "log(1 + x)",
            "suspicious": "999,999 occurs 31 times: a code for missing?",
        },
        "ward": {"typical": "surgery (35%), medicine (23%), children (15%)", "encoded": "8 levels, 2 rare ones pooled"},
        "country": {"note": "constant", "why": "one value"},
        "old code": {"note": "no values"},
        "remarks": {"note": "text is not analysed", "why": "long texts, most of them different"},
    }  # fmt: skip
    missing = np.isnan(look.values).mean(0)
    columns = tuple(
        Column(
            name, kind, used=kind not in ("identifier", "text", "constant", "empty"), missing=int(share * 12_345),
            unit=unit, **said.get(name, {}),
        )
        for name, kind, unit, share in zip(look.columns, look.kinds, look.units, missing, strict=True)
    )  # fmt: skip
    problems = (
        "white cells: 3 values are not numbers and count as missing (line 7: 'n/d'; line 90: 'lost'; line 4011: '?').",
        "2 rows have too few values and were left out (line 812; line 9,004).",
    )
    return looked_at(look, "clinic.csv", columns=columns, problems=problems)


@cache
def broad() -> Study:
    """400 of 2,000,000 rows of 5,000 columns, of which some hundred say something remarkable."""
    rng = np.random.default_rng(6)
    m, d = 400, 5000
    values = rng.standard_normal((m, d)) * np.exp(rng.normal(0, 2, d))
    values[:, ::50] = np.exp(values[:, ::50] / np.abs(values[:, ::50]).max())
    values[rng.random((m, d)) < np.where(np.arange(d) % 37 == 0, 0.4, 0.0)] = np.nan
    values[:, -5:] = rng.integers(0, 3, (m, 5))
    kinds = ["number"] * (d - 5) + ["category"] * 5
    look = first_look({f"probe {j:04d} of the long array": (kinds[j], values[:, j]) for j in range(d)}, total=2_000_000)
    lacking, low, high = np.isnan(values).mean(0), np.nanmin(values, 0), np.nanmax(values, 0)
    columns = tuple(
        Column(
            name, kinds[j], used=j % 100 != 0, missing=int(lacking[j] * look.total),
            note="more than a third of the values missing" if j % 100 == 0 else "",
            suspicious=f"{j} lies far from all others" if j % 61 == 0 else "",
            typical=f"{low[j]:.3g} to {high[j]:.3g}", why="numbers with a fraction",
        )
        for j, name in enumerate(look.columns)
    )  # fmt: skip
    return looked_at(look, "array.parquet", columns=columns)


@cache
def single_column() -> Study:
    """60 rows of one column."""
    return looked_at(first_look({"x": ("number", np.random.default_rng(1).normal(5, 2, 60))}), "x.csv")


@cache
def single_row() -> Study:
    """One row of three columns, one of them without a value."""
    return looked_at(first_look({"a": ("number", [1.5]), "b": ("count", [np.nan]), "c": ("category", [0])}), "one.csv")


@cache
def hostile_look() -> Study:
    """Names, levels, units and remarks that try to break out of the page, on paper and in the searchable table."""
    names = (*HOSTILE, "نام ستون", "🦆" * 40, "n" * 300, "", " ")
    rng = np.random.default_rng(2)
    bad = HOSTILE[0]
    table = {name: ("number", rng.standard_normal(50)) for name in names}
    table |= {f"{bad}{j}": ("category", rng.integers(0, 3, 50)) for j in range(40)}
    look = first_look(
        table, units=(bad,) * len(table), levels={f"{bad}{j}": (bad, HOSTILE[2], HOSTILE[3]) for j in range(40)}
    )
    columns = tuple(
        Column(
            name, kind, used=True, unit=bad, role=bad, encoded=HOSTILE[1], typical=HOSTILE[2], suspicious=HOSTILE[3],
            note=HOSTILE[4], why=HOSTILE[5],
        )
        for name, kind in zip(look.columns, look.kinds, strict=True)
    )  # fmt: skip
    return looked_at(look, f"{bad}.csv", columns=columns, problems=HOSTILE, notes=HOSTILE)
