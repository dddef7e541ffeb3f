from calibrate.page import page
from calibrate.run import Job
from calibrate.spread import changed, moved
from calibrate.summary import summary

NOTHING = {"families": {}, "intervals": {}, "spread": {}}


def table(false=(), **more):
    return {"false": list(false), "supported": list(false), "seconds": 1.0, **more}


RECORDS = {
    **{Job("table", "normal, four shapes", i): table(["map"] if i == 0 else []) for i in range(20)},
    **{Job("table", "target |x|", i): table(found=i < 3, reference=True) for i in range(4)},
    Job("table", "random walks, 300 x 8", 0): table(error="ValueError: no"),
    **{
        Job("table", "line, R2 = .1, 100 rows", i): table(
            intervals=[{"what": "R2", "low": 0.0, "high": 0.2, "value": 0.1, "truth": truth, "supported": truth > 0.1}]
        )
        for i, truth in enumerate((0.05, 0.15, 0.25))
    },
}


def test_counts_reach_the_page_with_their_exact_intervals():
    text = page(summary(RECORDS), NOTHING)
    # 1 of 20 by Clopper and Pearson is .1% to 24.9%, 3 of 4 is 19% to 99%
    assert "| normal, four shapes | 20 | 1 of 20 (0% to 25%) | map 1 |" in text
    assert "| target \\|x\\| | 3 of 4 (19% to 99%) | 4 of 4 (random forest) |" in text
    assert "| R2 | line, R2 = .1, 100 rows | 2 of 3 (9% to 99%) | 1 of 2 (1% to 99%) | 0.20 |" in text
    assert "random walks, 300 x 8: 1 of 1, ValueError: no" in text


def test_what_was_measured_before_stands_beside():
    before = summary({job: record for job, record in RECORDS.items() if job.number < 2})
    text = page(summary(RECORDS), before | {"version": "0.0"})
    assert "version 0.0" in text
    assert "| 1 of 2 |" in next(line for line in text.splitlines() if line.startswith("| normal, four"))


def turn(verdict, size):
    return {"verdicts": {"map": verdict}, "sizes": {"map": size}, "intervals": {"map": [0.0, 0.5]}}


def test_verdicts_that_differ_from_the_commonest_are_counted_and_sizes_outside_the_interval_of_another_turn():
    turns = [turn("supported", 0.4), turn("supported", 0.4), turn("suggestive", 0.6)]
    assert changed(turns) == (1, 3)
    assert moved(turns) == (1, 3)


def test_a_finding_that_is_not_made_counts_as_not_distinguishable_and_an_error_as_a_verdict_of_its_own():
    gone = {"verdicts": {}, "sizes": {}, "intervals": {}}
    assert changed([turn("not distinguishable from chance", 0.0), gone]) == (0, 2)
    assert changed([turn("not distinguishable from chance", 0.0), gone | {"error": "ValueError"}]) == (1, 2)
