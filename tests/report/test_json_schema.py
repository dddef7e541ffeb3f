"""The JSON is what its schema says, for data of every form."""

from __future__ import annotations

import json
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import networkx as nx
import numpy as np
import pyarrow as pa
import pytest
import sample_study
from schema_check import violations

import assay
from assay.report.findings_json import dumps
from assay.report.json_schema import SCHEMAS, schema_of

EXAMPLES = Path(__file__).parents[2] / "examples" / "data"


def _groups() -> pa.Table:
    rng = np.random.default_rng(0)
    centres = np.repeat(rng.normal(0, 6, (3, 4)), 60, axis=0)
    X = centres + rng.standard_normal(centres.shape)
    X[7] += 40.0
    gaps = np.where(rng.random(X.shape) < 0.05, np.nan, X)
    return pa.table({f"x{j}": pa.array(gaps[:, j], from_pandas=True) for j in range(4)})


def _ratings() -> pa.Table:
    rng = np.random.default_rng(1)
    taste, kind = rng.standard_normal(60), rng.standard_normal(40)
    who, what = np.nonzero(rng.random((60, 40)) < 0.4)
    stars = np.clip(np.round(3 + taste[who] * kind[what] + 0.3 * rng.standard_normal(len(who))), 1, 5)
    return pa.table({"user": who + 1, "item": what + 1, "rating": stars})


def _trials() -> pa.Table:
    rng = np.random.default_rng(2)
    rows = []
    for trial in range(60):
        for step, action in enumerate(rng.choice(["left", "right"], 3)):
            reward = float(action == "right") + 0.1 * rng.standard_normal()
            rows.append((trial, step, f"s{step}", str(action), float(reward)))
    return pa.table(dict(zip(("trial", "step", "state", "action", "reward"), zip(*rows, strict=True), strict=True)))


STUDIES = {
    "wholesale": lambda: assay.study(str(EXAMPLES / "wholesale_customers.csv"), target="Channel", side=["Milk"]),
    "arrests": lambda: assay.study(str(EXAMPLES / "us_arrests.csv"), target="murder"),
    "messages": lambda: assay.study(str(EXAMPLES / "messages.csv")),
    "cities": lambda: assay.study(str(EXAMPLES / "cities.csv")),
    "groups": lambda: assay.study(_groups()),
    "network": lambda: assay.study(nx.karate_club_graph()),
    "ratings": lambda: assay.study(_ratings()),
    "trials": lambda: assay.study(_trials()),
    "moments": lambda: assay.study(assay.Moments.of(np.random.default_rng(3).standard_normal((90, 4)))),
    "hostile": sample_study.hostile,
    "nothing": sample_study.single_row,
}


@cache
def written(name: str) -> dict:
    return json.loads(dumps(STUDIES[name]()), parse_constant=pytest.fail)


@pytest.mark.parametrize("name", STUDIES)
def test_a_study_is_what_the_schema_says_and_nothing_in_it_is_undescribed(name):
    assert violations(written(name), schema_of("study"), closed=True) == []


def test_a_comparison_is_what_its_schema_says():
    rng = np.random.default_rng(0)
    a, b = (rng.standard_normal((80, 3)) + shift for shift in (0.0, [0.0, 2.0, 0.0]))
    found = json.loads(dumps(assay.compare(a, b)))
    assert violations(found, schema_of("comparison"), closed=True) == []
    assert found["differs"] and found["headline"]["verdict"] == "supported"


@pytest.mark.parametrize("name", STUDIES)
def test_columns_of_a_table_are_as_long_as_it_says(name):
    for answer in written(name)["answers"].values():
        for table in answer["tables"].values():
            assert {len(values) for values in table["columns"].values()} <= {table["rows"]}
            assert table["rows"] <= table["of"]


@pytest.mark.parametrize("name", ["wholesale", "groups", "network", "trials"])
def test_every_finding_names_an_answer_that_lists_it(name):
    found = written(name)
    for finding in found["findings"]:
        assert finding["id"] in found["answers"][finding["question"]]["findings"]


@pytest.mark.parametrize("what", SCHEMAS)
def test_the_schema_refuses_what_is_damaged(what):
    schema = schema_of(what)
    for broken in ({}, {"format": "assay.study/0"}, [], {"format": 1, "findings": [{}]}):
        assert violations(broken, schema)


def test_the_checker_refuses_each_kind_of_damage():
    good = written("arrests")
    for change in (
        {"format": "assay.study/2"}, {"findings": {}}, {"headline": None}, {"assay": 1},
        {"ledger": {**good["ledger"], "level": 2.0}}, {"ledger": {**good["ledger"], "looks": True}},
        {"answers": {"x": {}}},
    ):  # fmt: skip
        assert violations({**good, **change}, schema_of("study"))
    assert violations({**good, "more": 1}, schema_of("study")) == []
    assert violations({**good, "more": 1}, schema_of("study"), closed=True)


@pytest.mark.skipif(find_spec("jsonschema") is None, reason="a check of the checker by another validator")
def test_another_validator_agrees():
    from jsonschema import Draft202012Validator

    for what in SCHEMAS:
        Draft202012Validator.check_schema(schema_of(what))
    other = Draft202012Validator(schema_of("study"))
    assert [e.message for e in other.iter_errors(written("wholesale"))] == []
    assert list(other.iter_errors({**written("wholesale"), "findings": [{}]}))
