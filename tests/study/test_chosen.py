"""Some questions, some columns: what was not asked for is not asked, and contradictions are refused."""

import numpy as np
import pytest

import assay
from assay.errors import ParameterError
from assay.study.chosen import ON_REQUEST


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    return rng.standard_normal((80, 1)) + rng.standard_normal((80, 4))


def test_only_the_questions_asked_for_are_asked_and_the_ledger_says_what_was_left_out(rows):
    found = assay.study(rows, only=["correlations", "components"])
    assert set(found.answers) == {"correlations", "components"}
    why = {entry.question: entry.why for entry in found.ledger.not_asked}
    assert why["Do the rows fall into groups?"] == ON_REQUEST
    assert "Which columns go together?" not in why


def test_a_question_alone_pays_for_no_other(rows):
    alone = assay.study(rows, only="correlations").answers["correlations"].evidence
    among = assay.study(rows, skip=["map", "groups", "stringing", "anomalies"]).answers["correlations"].evidence
    assert alone.p == among.p
    assert alone.q <= among.q


def test_skipped_questions_are_not_asked(rows):
    kept = assay.study(rows, skip=["map", "groups", "stringing", "anomalies"])
    assert set(kept.answers) == {"correlations", "components"}


def test_columns_asked_for_are_used_and_those_named_for_something_stay(rows):
    found = assay.study(rows, only="prediction", columns=["column 2"], target="column 1")
    assert [column.name for column in found.data.columns if column.used] == ["column 1", "column 2"]
    dropped = assay.study(rows, only="prediction", drop=["column 3", "column 4"], target="column 1")
    assert found.answers["prediction"].evidence == dropped.answers["prediction"].evidence


def test_columns_of_a_summary_can_be_chosen(rows):
    moments = assay.Moments.of(rows)
    found = assay.study(moments, columns=["column 1", "column 2"])
    assert [column.name for column in found.data.columns if column.used] == ["column 1", "column 2"]


REFUSED = {
    "a question misspelt": ({"only": "grops"}, "no question 'grops' (did you mean 'groups'?); there are anomalies,"),
    "a question to skip misspelt": ({"skip": ["zzz"]}, "no question 'zzz'; there are anomalies,"),
    "asked and left out": ({"only": "map", "skip": "map"}, "cannot be both asked for (only) and left out (skip)"),
    "of another form": ({"only": "communities"}, "is not asked of table data"),
    "waiting": ({"only": "prediction"}, "the question 'prediction' has to be told its target"),
    "a column misspelt": ({"columns": ["colunm 1"]}, "(did you mean 'column 1'?)"),
    "used and left out": ({"columns": "column 1", "drop": ["column 1"]}, "asked for (columns) and left out (drop)"),
    "target left out": ({"target": "column 1", "drop": ["column 1"]}, "cannot be both the target and left out"),
    "target and time": ({"target": "column 1", "time": "column 1"}, "cannot be both the target and the time"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_contradictions_and_unknown_names_are_refused_in_a_sentence(rows, case):
    options, words = REFUSED[case]
    with pytest.raises(ParameterError) as refusal:
        assay.study(rows, **options)
    assert words in str(refusal.value)


def test_a_choice_that_leaves_nothing_is_refused(rows):
    from assay.asking.found import found

    with pytest.raises(ParameterError, match="nothing to ask"):
        assay.study(rows, skip=[question.name for question in found().questions])
