"""JSON of a study: one schema, the same bytes, nothing lost."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import pytest
import sample_study

from assay.report.findings_json import dumps
from assay.study.findings import Ledger


@pytest.mark.parametrize("name", ["wholesale", "noise", "hostile"])
def test_reading_back_gives_the_study(name):
    study = getattr(sample_study, name)()
    assert json.loads(dumps(study)) == study.as_dict()


def test_the_schema_is_as_published():
    found = json.loads(dumps(sample_study.wholesale()))
    assert set(found) == {"assay", "data", "ledger", "findings"}
    assert set(found["data"]) == {"name", "rows", "rows_used", "columns", "notes", "problems"}
    assert set(found["ledger"]) == {"looks", "alpha", "seed", "questions"}
    assert set(found["ledger"]["questions"][0]) == {"question", "looks", "tests", "correction"}
    for finding in found["findings"]:
        assert set(finding) == {"id", "kind", "subject", "sentence", "evidence"}
        assert set(finding["evidence"]) == {
            "statistic", "p", "q", "held_out", "interval", "stability", "n", "looks", "method", "verdict",
        }  # fmt: skip


def test_the_text_is_sorted_indented_and_ends_with_one_newline():
    text = dumps(sample_study.wholesale())
    assert text == json.dumps(json.loads(text), indent=2, sort_keys=True, ensure_ascii=False) + "\n"


def test_no_nan_gets_into_the_file():
    study = sample_study.noise()
    with pytest.raises(ValueError, match="not JSON compliant"):
        dumps(replace(study, ledger=Ledger(alpha=math.nan)))
    broken = replace(study.findings[0], evidence=replace(study.findings[0].evidence, statistic=math.inf))
    assert json.loads(dumps(replace(study, findings=(broken,))))["findings"][0]["evidence"]["statistic"] is None


def test_names_that_are_not_unicode_survive_and_others_stay_readable():
    study = sample_study.noise()
    study = replace(study, data=replace(study.data, name="caf\udce9-käse.csv"))
    text = dumps(study)
    assert "käse" in text
    text.encode("utf-8")
    assert json.loads(text)["data"]["name"] == study.data.name
