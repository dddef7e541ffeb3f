"""Dates in text and numbers: every stated form, wrong dates refused, never a silent guess within one column."""

import datetime as dt

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.data.columns.dates import DAY, SECOND, order_votes, read_clock, read_dates, read_epoch

EPOCH = dt.datetime(1970, 1, 1)


def micro(when):
    return (when - EPOCH) // dt.timedelta(microseconds=1)


def one(text, *, day_first=False):
    # the second cell keeps Arrow's own reader out, so that the forms are tested
    return read_dates(pa.array([text, "no date"]), day_first=day_first)[0]


moments = st.datetimes(dt.datetime(1, 1, 1), dt.datetime(2200, 12, 31), allow_imaginary=False)
FORMS = ["%Y-%m-%d %H:%M:%S.%f", "%Y/%m/%dT%H:%M:%S.%f", "%d.%m.%Y %H:%M:%S.%f", "%d %b %Y %H:%M:%S.%f",
         "%B %d, %Y %H:%M:%S.%f", "%a, %d %b %Y %H:%M:%S.%f", "%Y-%m-%d %I:%M:%S.%f %p"]  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
@given(moments.filter(lambda when: when.year >= 1000))
def test_what_python_writes_is_read_back(form, when):
    assert one(when.strftime(form)) == micro(when)


@given(moments.filter(lambda when: when.year >= 1000), st.booleans())
def test_day_and_month_are_read_in_the_order_that_is_given(when, day_first):
    text = when.strftime("%d/%m/%Y" if day_first else "%m/%d/%Y")
    assert one(text, day_first=day_first) == micro(dt.datetime(when.year, when.month, when.day))


@given(st.datetimes(dt.datetime(1, 1, 1), dt.datetime(9999, 12, 31)))
def test_iso_dates_read_fast_and_by_form_agree(when):
    text = when.isoformat(sep=" ")
    assert read_dates(pa.array([text]), day_first=False)[0] == pytest.approx(one(text), rel=1e-15, abs=0)


@pytest.mark.parametrize(
    ("text", "expected"),
    [("20110131", dt.datetime(2011, 1, 31)), ("20110131T120000", dt.datetime(2011, 1, 31, 12)),
     ("2011-01", dt.datetime(2011, 1, 1)), ("Jan 2011", dt.datetime(2011, 1, 1)), ("2011-Q3", dt.datetime(2011, 7, 1)),
     ("Q3 2011", dt.datetime(2011, 7, 1)), ("1/2/69", dt.datetime(1969, 1, 2)), ("1/2/68", dt.datetime(2068, 1, 2)),
     ("3rd März 2011", dt.datetime(2011, 3, 3)), ("2011-01-31T10:00:00Z", dt.datetime(2011, 1, 31, 10)),
     ("2011-01-31T10:00:00+02:00", dt.datetime(2011, 1, 31, 8)),
     ("2011-01-31 10:00-0530", dt.datetime(2011, 1, 31, 15, 30)),
     ("29.2.2012", dt.datetime(2012, 2, 29)), ("12/31/2011 12:05 am", dt.datetime(2011, 12, 31, 0, 5))],
)  # fmt: skip
def test_stated_forms(text, expected):
    assert one(text) == micro(expected)


@pytest.mark.parametrize(
    "text",
    ["2011-02-29", "2011-13-01", "31/31/2011", "0/1/2011", "32.1.2011", "12 Foo 2011", "2011-01-01 25:00",
     "2011-01-01 13:00 pm", "x2011-01-01", "2011-01-01x", "1.5", "0000-01-01", "-", "11", "٣/٤/٢٠١١"],
)  # fmt: skip
def test_what_is_no_date_is_not_read(text):
    assert np.isnan(one(text))
    assert np.isnan(one(text, day_first=True))


@given(st.text(max_size=30))
def test_any_text_is_read_or_refused_without_an_error(text):
    found, none = read_dates(pa.array([text, "no date"]), day_first=True)
    assert np.isnan(none)
    # years 1 to 9999, in microseconds since 1970
    assert np.isnan(found) or -6.3e16 < found < 2.6e17
    (clock,) = read_clock(pa.array([text]))
    assert np.isnan(clock) or 0 <= clock <= 86_400e6


def test_which_cells_show_the_order():
    cells = pa.array(["13/01/2011", "01/13/2011", "01/02/2011", "13.01.2011", "x"])
    fits, shown = order_votes(cells)
    assert fits.tolist() == [True, True, True, False, False]
    assert shown.tolist() == [True, True, False, False, False]


@given(st.times())
def test_times_of_day_are_read_back(when):
    expected = ((when.hour * 60 + when.minute) * 60 + when.second) * SECOND + when.microsecond
    assert read_clock(pa.array([when.strftime("%H:%M:%S.%f")]))[0] == expected


@pytest.mark.parametrize(("text", "hours"), [("9:05", 9 + 5 / 60), ("12:00 AM", 0), ("1:30 p.m.", 13.5)])
def test_short_times_of_day(text, hours):
    assert read_clock(pa.array([text]))[0] / SECOND / 3600 == pytest.approx(hours)


@pytest.mark.parametrize("text", ["24:00", "9:60", "9", "9:5", "13:00 pm", "0:30 am"])
def test_what_is_no_time_of_day_is_not_read(text):
    assert np.isnan(read_clock(pa.array([text]))[0])


@given(st.datetimes(dt.datetime(1973, 6, 1), dt.datetime(2100, 1, 1)).map(lambda d: d.replace(microsecond=0)))
def test_seconds_and_their_thousandths_are_told_apart_by_size(when):
    seconds = micro(when) / SECOND
    found = read_epoch(np.array([seconds, seconds * 1e3, seconds * 1e6, seconds * 1e9]))
    np.testing.assert_allclose(found, micro(when), rtol=0, atol=1)


def test_numbers_that_are_no_instants_are_not_read():
    values = np.array([0.0, -1.0, 12.5, 19991301.0, 20110132.0, 5e10, np.nan, np.inf, 1e300, 1999.5])
    assert np.isnan(read_epoch(values)).all()
    assert read_epoch(np.array([20110131.0]))[0] == micro(dt.datetime(2011, 1, 31))
    assert read_epoch(np.array([1995.0]))[0] / DAY == (dt.date(1995, 1, 1) - dt.date(1970, 1, 1)).days
