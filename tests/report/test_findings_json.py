"""JSON of a study: one schema, the same bytes, nothing lost."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import pytest
import sample_study

from assay.asking.card import Column, DataCard
from assay.report.findings_json import _laid_out, dumps
from assay.report.verdicts import verdicts
from assay.study.findings import Ledger


@pytest.mark.parametrize("name", ["wholesale", "noise", "hostile"])
def test_reading_back_gives_the_study(name):
    study = getattr(sample_study, name)()
    found = json.loads(dumps(study))
    assert found.pop("headline").keys() == {"verdict", "line", "why"}
    assert found == study.as_dict()


def test_the_schema_is_as_published():
    found = json.loads(dumps(sample_study.wholesale()))
    assert set(found) == {"format", "headline", "assay", "data", "rows", "ledger", "findings", "answers"}
    assert found["format"] == "assay.study/1"
    assert set(found["data"]) == {
        "name", "form", "facts", "rows", "rows_used", "columns", "columns_in_data", "notes", "problems", "duplicates",
            "gaps",
    }  # fmt: skip
    assert set(found["ledger"]) == {"looks", "level", "seed", "effort", "questions", "not_asked", "together"}
    assert set(found["ledger"]["questions"][0]) == {"question", "looks", "tests", "correction"}
    for finding in found["findings"]:
        assert set(finding) == {
            "id",
            "kind",
            "question",
            "subject",
            "line",
            "sentence",
            "evidence",
            "beyond_chance",
            "shown",
        }
        assert set(finding["evidence"]) == {
            "statistic", "p", "q", "held_out", "interval", "stability", "n", "looks", "method", "verdict", "limit",
        }  # fmt: skip


def test_an_answer_gives_its_findings_its_looks_and_its_numbers():
    answer = json.loads(dumps(sample_study.wholesale()))["answers"]["components"]
    assert set(answer) == {"findings", "evidence", "looks", "tests", "correction", "numbers", "tables"}
    assert answer["findings"] == ["components"] and answer["looks"] == 6
    result = sample_study.wholesale().answers["components"]
    assert [one["component"] for one in answer["numbers"]["components"]] == [1, 2, 3]
    assert [one["evidence"] for one in answer["numbers"]["components"]] == [e.as_dict() for e in result.tested]
    assert answer["numbers"]["loadings"]["Milk"] == result.loadings[result.columns.index("Milk"), :2].tolist()


def test_what_is_shown_is_what_the_row_unfolds_to():
    study = sample_study.wholesale()
    row = verdicts(study.findings, "findings")
    for finding in json.loads(dumps(study))["findings"]:
        assert all(f"<dt>{term}</dt><dd>{said}</dd>" in row for term, said in finding["shown"].items())


def test_the_text_is_sorted_indented_and_ends_with_one_newline():
    text = dumps(sample_study.wholesale())
    assert text == json.dumps(json.loads(text), indent=2, sort_keys=True, ensure_ascii=False) + "\n"


def test_no_nan_gets_into_the_file():
    study = sample_study.noise()
    with pytest.raises(ValueError, match="not JSON compliant"):
        dumps(replace(study, ledger=Ledger(level=math.nan)))
    broken = replace(study.findings[0], evidence=replace(study.findings[0].evidence, statistic=math.inf))
    assert json.loads(dumps(replace(study, findings=(broken,))))["findings"][0]["evidence"]["statistic"] is None


def test_names_that_are_not_unicode_survive_and_others_stay_readable():
    study = sample_study.noise()
    study = replace(study, data=replace(study.data, name="caf\udce9-käse.csv"))
    text = dumps(study)
    assert "käse" in text
    text.encode("utf-8")
    assert json.loads(text)["data"]["name"] == study.data.name


def test_what_is_nested_is_indented_and_long_lists_have_a_line_for_each_entry():
    value = {"b": [1, {"c": []}], "a": {"é": None, "d": [[0.5, "x"]] * 3}, "e": {}, 7: True}
    value = {str(key): one for key, one in value.items()}
    assert "".join(_laid_out(value, "\n")) == json.dumps(value, ensure_ascii=False, indent=2, sort_keys=True)
    long = {"list": [{"b": j, "a": [j, None]} for j in range(1000)]}
    text = "".join(_laid_out(long, "\n"))
    assert json.loads(text) == long and text.splitlines()[2] == '    {"a": [0, null], "b": 0},'
    assert len(text.splitlines()) == 1000 + 4


def test_what_is_no_number_is_refused_wherever_it_stands():
    for value in ({"a": math.nan}, [math.inf] * 60, [[math.nan]]):
        with pytest.raises(ValueError, match="not JSON compliant"):
            "".join(_laid_out(value, "\n"))


def test_of_very_many_columns_those_with_a_remark_and_the_first_are_listed_and_all_are_counted(monkeypatch):
    monkeypatch.setattr("assay.asking.card.LISTED", 10)
    columns = tuple(Column(f"x{j}", "number", used=j != 27, note="left out" if j == 27 else "") for j in range(30))
    study = replace(sample_study.noise(), data=DataCard("wide.csv", 9, 9, columns))
    found = json.loads(dumps(study))["data"]
    assert [column["name"] for column in found["columns"]] == [*(f"x{j}" for j in range(9)), "x27"]
    assert found["columns_in_data"] == 30
    assert study.tables()["columns"].num_rows == 30
