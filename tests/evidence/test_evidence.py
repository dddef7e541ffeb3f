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


def test_json_has_no_infinities():
    found = Evidence(**{**GOOD, "statistic": math.inf}, stability=math.nan, method="m", verdict="suggestive").as_dict()
    assert found["statistic"] is None and found["stability"] is None
    assert found["interval"] == [0.2, 0.4]


def test_impossible_evidence_is_refused():
    with pytest.raises(ParameterError, match="p is a probability between 0 and 1; got 1.5"):
        Evidence(**{**GOOD, "p": 1.5}, method="m", verdict="supported")
    with pytest.raises(ParameterError, match="a verdict is one of supported"):
        Evidence(**GOOD, method="m", verdict="certain")
