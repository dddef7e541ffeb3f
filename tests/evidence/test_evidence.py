"""Evidence and its verdicts."""

import math

import pytest

from assay import Evidence
from assay.errors import ParameterError
from assay.evidence import verdict_of

GOOD = {"statistic": 2.0, "p": 0.01, "q": 0.02, "held_out": 0.3, "interval": (0.2, 0.4), "n": 50, "looks": 3}


@pytest.mark.parametrize(
    ("q", "holds", "verdict"),
    [
        (0.05, True, "supported"),
        (0.05, False, "suggestive"),
        (0.0501, True, "suggestive"),
        (0.0501, False, "not distinguishable from chance"),
        (0.11, True, "not distinguishable from chance"),
        (None, True, "not testable here"),
    ],
)
def test_p_alone_never_supports(q, holds, verdict):
    assert verdict_of(q, effect_holds=holds) == verdict


def test_stricter_multiplies_q_and_takes_the_verdict_anew():
    found = Evidence(**GOOD, method="m", verdict="supported")
    judged = found.stricter(4.0, 0.05, effect_holds=True)
    assert (judged.p, judged.q, judged.verdict) == (0.01, 0.08, "suggestive")
    assert found.stricter(4.0, 0.05, effect_holds=False).verdict == "not distinguishable from chance"
    assert found.stricter(4.0, 0.1, effect_holds=True).verdict == "supported"
    assert (judged.held_out, judged.interval, judged.n) == (found.held_out, found.interval, found.n)


def test_stricter_stops_at_one_and_tests_nothing_that_was_not_tested():
    assert Evidence(**GOOD, method="m", verdict="supported").stricter(1e3, 0.05, effect_holds=True).q == 1.0
    untested = Evidence(statistic=1.0).stricter(2.0, 0.05, effect_holds=True)
    assert (untested.q, untested.verdict) == (None, "not testable here")


def test_stricter_twice_is_once_by_the_product():
    found = Evidence(**GOOD, method="m", verdict="supported")
    twice = found.stricter(2.0, 0.05, effect_holds=True).stricter(1.5, 0.05, effect_holds=True)
    assert twice == found.stricter(3.0, 0.05, effect_holds=True)


def test_json_has_no_infinities():
    found = Evidence(**{**GOOD, "statistic": math.inf}, stability=math.nan, method="m", verdict="suggestive").as_dict()
    assert found["statistic"] is None and found["stability"] is None
    assert found["interval"] == [0.2, 0.4]


def test_impossible_evidence_is_refused():
    with pytest.raises(ParameterError, match="p is a probability between 0 and 1; got 1.5"):
        Evidence(**{**GOOD, "p": 1.5}, method="m", verdict="supported")
    with pytest.raises(ParameterError, match="a verdict is one of supported"):
        Evidence(**GOOD, method="m", verdict="certain")


@pytest.mark.parametrize("held_out", [None, 0.19, 0.41])
def test_an_interval_of_something_else_than_the_value_on_unseen_rows_is_refused(held_out):
    with pytest.raises(ParameterError, match="interval is that of held_out and holds it; got 0.2 to 0.4"):
        Evidence(**{**GOOD, "held_out": held_out})
    assert Evidence(**{**GOOD, "held_out": 0.4 + 1e-16}).interval == (0.2, 0.4)
