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


def test_a_question_tells_its_share_at_once_and_the_time_left_after_some_seconds():
    now = [0.0]
    pace = Pace(lambda: now[0])
    asked = "3 of 8: Do the rows fall into groups?"
    assert pace.line(f"{asked} Grouping", None, None) == f"{asked} Grouping"
    now[0] = 5.0
    assert pace.line(asked, None, 0.0) == asked
    now[0] = 6.0
    assert pace.line(asked, None, 0.1) == f"{asked} 10%"
    now[0] = 10.0
    assert pace.line(asked, None, 0.5) == f"{asked} 50%, 5 s left"


def test_draws_that_begin_anew_have_a_time_of_their_own():
    now = [0.0]
    pace = Pace(lambda: now[0])
    assert pace.line("Components", None, 0.0) == "Components"
    now[0] = 90.0
    assert pace.line("Components", None, 0.9) == "Components: 90%, 10 s left"
    assert pace.line("Components", None, 0.1) == "Components: 10%"
    now[0] = 100.0
    assert pace.line("Components", None, 0.2) == "Components: 20%, 40 s left"
