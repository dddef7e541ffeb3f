"""Lines of differences: no number is lost behind what opens them, and two shares are not written alike."""

from __future__ import annotations

import numpy as np

from assay.asking.words import LINE
from assay.comparison.differences import lines_of
from assay.comparison.run import compare


def test_names_give_way_before_numbers_do():
    a, b = "depth of the bill in millimetres", "mass of the body in grams"
    lines = lines_of(lambda short: f"{short(a)} and {short(b)} correlate at .46 in {short(a)}.csv, .65 in {short(b)}")
    assert all(line.startswith(opening) and len(line) <= LINE for opening, line in lines.items())
    assert all(".46 in" in line and ".65 in" in line for line in lines.values())
    assert len(lines[""]) > len(lines["May be chance: "]) - len("May be chance: ")


def test_shares_that_differ_little_are_written_with_the_digits_that_tell_them_apart():
    rng = np.random.default_rng(0)
    tables = []
    for rows, gaps in ((1000, 6), (1010, 6)):
        x = rng.normal(size=rows)
        x[rng.choice(rows, gaps, replace=False)] = np.nan
        tables.append({"x": x, "y": rng.normal(size=rows)})
    found = compare(*tables, only="columns")
    (line,) = (finding.line for finding in found.findings if finding.id == "missing-x")
    assert "in 0.60% of" in line and "and 0.59% of" in line


def test_what_may_be_chance_is_not_stated_as_a_fact():
    rng = np.random.default_rng(1)
    first, last = ({name: rng.normal(size=200) for name in "abcdef"} for _ in range(2))
    found = compare(first, last, only="columns")
    denied = [f for f in found.findings if f.evidence.verdict == "not distinguishable from chance"]
    assert denied
    for finding in denied:
        assert finding.line.startswith("May be chance: ") and finding.sentence.startswith("May be chance: ")


def test_whole_values_are_written_whole():
    rng = np.random.default_rng(2)
    found = compare({"n": rng.poisson(5, 300)}, {"n": rng.poisson(9, 300)}, only="columns")
    (told,) = found.findings
    assert "median 5 in" in told.sentence and "and 9 in" in told.sentence
    assert "median 9, in" in told.line
