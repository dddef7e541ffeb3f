"""Any table has an answer: findings whose evidence is whole, or a refusal in words; never another exception or warning.

Each seed draws a table of columns of every kind, as small, rare, huge, constant or alike as users have them, and asks
the whole study. A failure names its seed, which draws the same table again: `pytest tests/study/test_any_table.py -k
'[17]'` asks it, `table(17)` shows it. A campaign of thousands is told its seeds:

    ASSAY_TABLES=1000:4000 pytest -q -n 2 tests/study/test_any_table.py

Tables of seeds below 1000 are mostly small, so that the suite asks many of them in a minute.
"""

import json
import math
import os
import re
from dataclasses import dataclass, field
from typing import Any, get_args

import numpy as np
import pandas as pd
import pytest

import assay
import assay.report.findings_json
import assay.report.page
import assay.report.text
from assay.errors import AssayError
from assay.evidence.evidence import Verdict

FIRST, LAST = (int(seed) for seed in os.environ.get("ASSAY_TABLES", "0:240").split(":"))
PAGES = 15  # of so many tables, one is drawn as a page: that takes as long as its study
WORDS = ("lime", "salt", "iron", "moss", "clay", "reed", "bark", "silt", "dune", "fern", "loam", "peat")

# What a table may be told. An error meant for a caller inside the house, reaching a user, is as bad as a traceback.
REFUSALS = (
    r"has \d+ rows?, \d+ of them complete; at least 3 are needed",
    r"has a header but no rows",
    r"has no column that can be used: ",
    r"there is nothing to predict it from",
    r"cannot be predicted: ",
    r"no column '.*' in use to be on one side",
    r"all columns in use are on one side",
    r"the file is empty",
)


@dataclass
class Drawn:
    """A table and how it is asked."""

    frame: pd.DataFrame
    as_csv: bool
    asked: dict[str, Any] = field(default_factory=dict)


def numbers(rng, n):
    """Columns of numbers of many laws, by no means all of them good-natured."""
    days = [1.0, 3.0, 7.0, 14.0, 28.0, 56.0, 90.0, 180.0, 365.0]
    return {
        "normal": lambda: rng.standard_normal(n),
        "rounded": lambda: np.round(rng.normal(20, 5, n)),
        "skewed": lambda: rng.lognormal(0, 2, n),
        "heavy": lambda: rng.standard_cauchy(n),
        "heavier": lambda: rng.standard_cauchy(n) ** 5,
        "uniform": lambda: rng.random(n),
        "counts": lambda: rng.poisson(2.0, n),
        "rare counts": lambda: rng.poisson(0.05, n),
        "few values": lambda: rng.choice(days, n),
        "two values": lambda: rng.choice([2.5, 7.25], n),
        "a rare value": lambda: np.where(rng.random(n) < 0.03, 1e6, 2.5),
        "many zeros": lambda: np.where(rng.random(n) < 0.6, 0.0, np.round(rng.gamma(2, 50, n), 1)),
        "rare amounts": lambda: np.where(rng.random(n) < 5.0 / n, np.arange(n) + 0.5, 0.0),
        "mostly one": lambda: np.where(rng.random(n) < 0.9, 4.0, rng.normal(4, 1, n)),
        "two groups": lambda: rng.normal(0, 1, n) + 12 * rng.integers(0, 2, n),
        "constant": lambda: np.full(n, rng.choice([0.0, 0.1, 1e17, -3.0])),
        "nearly constant": lambda: np.where(np.arange(n) == rng.integers(n), 0.3, 0.1),
        "last digit": lambda: 1.0 + rng.integers(0, 3, n) * 2.0**-52,
        "far": lambda: 1e12 + rng.standard_normal(n),
        "huge": lambda: rng.standard_normal(n) * 10.0 ** rng.choice([30, 100, 139, 160, 300]),
        "tiny": lambda: rng.standard_normal(n) * 10.0 ** rng.choice([-30, -100, -139, -160, -300]),
        "all magnitudes": lambda: 10.0 ** rng.uniform(-100, 100, n),
        "two scales": lambda: rng.standard_normal(n) * 10.0 ** (rng.choice([9, 60, 138]) * rng.choice([-1.0, 1.0], n)),
        "p-values": lambda: rng.random(n) ** rng.choice([1, 50, 300]),
        "rare ups and downs": lambda: np.where(rng.random(n) < 0.05, rng.choice([-1.0, 1.0], n), 0.0),
        "an outlier": lambda: np.where(np.arange(n) == rng.integers(n), 1e15, rng.standard_normal(n)),
        "not finite": lambda: np.where(rng.random(n) < 0.1, rng.choice([np.inf, -np.inf]), rng.standard_normal(n)),
        "ascending": lambda: np.arange(n) * rng.choice([1.0, 0.5]) + rng.choice([0.0, 1.0, 1e9]),
        "big whole numbers": lambda: rng.integers(2**53, 2**62, n),
        "alternating": lambda: np.arange(n) % 2 * 1.0,
    }  # fmt: skip


def words(rng, n):
    """Columns that are not of numbers."""
    levels = int(rng.choice([2, 3, 5, 12, 40]))
    weights = rng.dirichlet(np.full(levels, rng.choice([0.1, 1.0, 10.0])))
    names = np.array([f"L{i}" for i in range(levels)])
    return {
        "levels": lambda: names[rng.integers(levels, size=n)],
        "uneven levels": lambda: names[rng.choice(levels, n, p=weights)],
        "a rare level": lambda: np.where(rng.random(n) < 0.02, "odd", "even"),
        "one of each": lambda: np.array([f"id-{i:05d}" for i in rng.permutation(n)]),
        "one other": lambda: np.where(np.arange(n) == 1, "b", "a"),
        "yes or no": lambda: rng.choice(["yes", "no"], n),
        "rarely yes": lambda: np.where(rng.random(n) < 0.01, "yes", "no"),
        "booleans": lambda: rng.random(n) < rng.choice([0.01, 0.1, 0.5, 0.99]),
        "steps": lambda: rng.choice(["low", "medium", "high"], n),
        "texts": lambda: np.array([" ".join(rng.choice(WORDS, rng.integers(1, 12))) for _ in range(n)]),
        "dates": lambda: pd.Timestamp("2020-01-31") + pd.to_timedelta(rng.integers(0, 900, n), "D"),
        "one date": lambda: np.full(n, "2021-03-04"),
        "clock": lambda: np.array([f"{m // 60:02d}:{m % 60:02d}" for m in rng.integers(1440, size=n)]),
        "codes": lambda: np.array([f"0{i}" for i in rng.integers(10, 15, n)]),
        "kinds mixed": lambda: rng.choice(["3", "4.5", "x", "2020-01-01", "", "yes"], n),
        "numbers but one": lambda: np.where(np.arange(n) == 0, "n/a?", np.round(rng.random(n), 3).astype(str)),
        "shares": lambda: np.array([f"{x:.0f}%" for x in 100 * rng.random(n)]),
        "markup": lambda: rng.choice(["<b>", "=1+1", "Zürich", "a\nb"], n),
    }  # fmt: skip


def related(rng, n, earlier):
    """Columns made of others, where there are some of numbers."""
    known = [np.asarray(c, dtype=float) for c in earlier if np.asarray(c).dtype.kind in "fiub"]
    one, other = (known[i] for i in rng.integers(len(known), size=2)) if known else rng.standard_normal((2, n))
    return {
        "a copy": lambda: one,
        "its mirror image": lambda: -one,
        "in another unit": lambda: 2.54 * one + 32.0,
        "a sum": lambda: one + other,
        "a sum of all": lambda: np.sum(known, axis=0) if known else one,
        "a copy but for little": lambda: one + 1e-9 * rng.standard_normal(n),
        "a copy and noise": lambda: one + rng.standard_normal(n),
        "a product": lambda: one * other,
        "a sign": lambda: np.sign(one),
    }


MAKERS = [
    *numbers(np.random.default_rng(0), 1),
    *words(np.random.default_rng(0), 1),
    *related(np.random.default_rng(0), 1, []),
]


def with_gaps(rng, column):
    """The same column with some, most or all but one of its values missing."""
    n = len(column)
    share = rng.choice([0.0, 0.05, 0.4, 0.5, 0.95, 1.0], p=[0.7, 0.1, 0.1, 0.04, 0.03, 0.03])
    gone = rng.random(n) < share
    if share == 1.0 and rng.random() < 0.7:
        gone[rng.integers(n)] = False  # all missing but one
    return pd.Series(column).astype(object).where(~gone, None).infer_objects() if gone.any() else pd.Series(column)


def table(seed):
    """The table of a seed."""
    rng = np.random.default_rng([seed, 2024])
    # groups and maps are asked from 40 rows on, and of a choice of rows beyond 600
    sizes = (3, 12), (13, 39), (40, 120), (121, 300), (601, 2500)
    shares = [0.42, 0.38, 0.17, 0.02, 0.01] if seed < 1000 else [0.1, 0.25, 0.48, 0.14, 0.03]
    n = int(rng.integers(*sizes[rng.choice(5, p=shares)], endpoint=True))
    d = int(rng.integers(1, rng.choice([4, 8, 31], p=[0.35, 0.5, 0.15]))) if n <= 300 else int(rng.integers(2, 5))
    # columns of one table are often of one sort: a few sorts are drawn for each
    sorts = rng.choice(MAKERS, rng.choice([1, 2, 3, 6, len(MAKERS)]), replace=False)
    columns: list[Any] = []
    for sort in rng.choice(sorts, d):
        with np.errstate(all="ignore"):  # what overflows here is an infinite cell there
            columns.append({**numbers(rng, n), **words(rng, n), **related(rng, n, columns)}[sort]())
    copies = rng.integers(0, n // 5 + 2, n) if rng.random() < 0.1 else np.arange(n)
    frame = pd.DataFrame({f"c{j}": with_gaps(rng, column) for j, column in enumerate(columns)}).iloc[copies]
    asked: dict[str, Any] = {"random_state": int(rng.integers(3))}
    if rng.random() < 0.2:
        asked["target"] = f"c{rng.integers(d)}"
    if rng.random() < 0.15:
        asked["side"] = tuple(f"c{j}" for j in rng.permutation(d)[: rng.integers(1, 4)])
    if rng.random() < 0.1:
        asked["missing"] = "drop"
    if rng.random() < 0.2:
        asked["log"] = "never"
    if seed % 3 == 1:
        asked["effort"] = "quick"
    return Drawn(frame.reset_index(drop=True), bool(rng.random() < 0.5), asked)


def answer(drawn, folder):
    """The study of a table, or None where it was refused in words."""
    data: Any = drawn.frame
    if drawn.as_csv:
        data = folder / "table.csv"
        drawn.frame.to_csv(data, index=False)
    try:
        return assay.study(data, **drawn.asked)
    except AssayError as error:
        if not any(re.search(refusal, str(error)) for refusal in REFUSALS):
            raise
        return None


def check(study, page):
    """Everything that is told of a study can be told, and is a number where a number is due."""
    for finding in study.findings:
        evidence = finding.evidence
        assert evidence.verdict in get_args(Verdict)
        assert all(x is None or 0.0 <= x <= 1.0 for x in (evidence.p, evidence.q))
        assert math.isfinite(evidence.statistic)
        for value in (evidence.held_out, evidence.stability, *(evidence.interval or ())):
            assert value is None or math.isfinite(value)
        assert not re.search(r"\b(nan|inf)\b", finding.sentence), finding.sentence
    found = json.loads(assay.report.findings_json.dumps(study))
    assert len(found["findings"]) == len(study.findings)
    assert assay.report.text.render(study).endswith("\n")
    if page:
        assert "</html>" in assay.report.page.render(study)


@pytest.mark.parametrize("seed", range(FIRST, LAST))
def test_any_table_is_studied_or_refused_in_words(seed, tmp_path):
    study = answer(table(seed), tmp_path)
    if study is not None:
        check(study, page=seed % PAGES == 0)


def test_tables_are_of_every_shape_and_sort():
    # a generator that draws but one sort of table would test nothing; these are drawn only, not studied
    frames = [table(seed).frame for seed in range(200)]
    assert sum(frame.dtypes.nunique() > 1 for frame in frames) > 60
    assert sum(frame.shape[1] > frame.shape[0] for frame in frames) > 10
    assert sum(len(frame) < 13 for frame in frames) > 50 and sum(len(frame) > 39 for frame in frames) > 20
    assert sum(bool(frame.isna().to_numpy().any()) for frame in frames) > 60


def test_texts_of_one_length_go_with_nothing_and_warn_of_nothing():
    # their length is a constant beside a number: none times infinitely many
    rng = np.random.default_rng(0)
    texts = [" ".join(f"w{chr(97 + w)}" for w in rng.integers(20, size=8)) for _ in range(60)]
    study = assay.study(pd.DataFrame({"text": texts, "size": rng.standard_normal(60)}))
    assert not [f for f in study.findings if f.kind == "correlations" and f.evidence.verdict == "supported"]
