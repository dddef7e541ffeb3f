"""The line that says how fast a step goes."""

from assay.cli.terminal import Pace


def test_rate_and_time_left_are_told_from_the_start_of_a_step():
    now = [0.0]
    pace = Pace(lambda: now[0])
    assert pace.line("Reading", 0, 0.0) == "Reading: 0 rows"
    now[0] = 4.0
    assert pace.line("Reading", 2_000_000, 0.25) == "Reading: 2,000,000 rows, 500,000 a second, 12 s left"
    now[0] = 100.0
    assert pace.line("Summarising", 10, 0.01) == "Summarising: 10 rows"
    now[0] = 102.0
    assert pace.line("Summarising", 20, 0.01) == "Summarising: 20 rows, 10 a second, 3 min left"
    assert pace.line("Summarising", 20, None) == "Summarising: 20 rows, 10 a second"
    assert pace.line("Writing the page", None, None) == "Writing the page"


def test_a_share_of_what_is_no_rows_tells_the_time_left_too():
    now = [0.0]
    pace = Pace(lambda: now[0])
    assert pace.line("Drawing", None, 0.25) == "Drawing: 25%"
    now[0] = 10.0
    assert pace.line("Drawing", None, 0.5) == "Drawing: 50%, 10 s left"
    assert pace.line("Drawing", None, 1.0) == "Drawing"
