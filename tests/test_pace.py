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
