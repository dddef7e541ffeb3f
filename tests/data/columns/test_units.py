"""Units: known by any usual spelling, converted exactly, never guessed."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import constants

from assay.data.columns.units import _UNITS, convert, factor_offset, known, same_dimension, unit_in_name
from assay.errors import ParameterError

SYMBOLS = sorted(_UNITS)


@pytest.mark.parametrize(
    ("unit", "base", "scipy_value"),
    [
        ("in", "m", constants.inch),
        ("mi", "m", constants.mile),
        ("nmi", "m", constants.nautical_mile),
        ("lb", "kg", constants.lb),
        ("oz", "kg", constants.oz),
        ("km/h", "m/s", constants.kmh),
        ("mph", "m/s", constants.mph),
        ("kn", "m/s", constants.knot),
        ("atm", "Pa", constants.atm),
        ("psi", "Pa", constants.psi),
        ("acre", "m2", constants.acre),
        ("gal", "m3", constants.gallon),
        ("cal", "J", constants.calorie),
        ("hp", "W", constants.hp),
        ("wk", "s", constants.week),
        ("deg", "rad", constants.degree),
    ],
)
def test_factors_agree_with_scipy_constants(unit, base, scipy_value):
    factor, offset = factor_offset(unit, base)
    assert factor == pytest.approx(scipy_value, rel=1e-9)
    assert offset == 0


@pytest.mark.parametrize(("frm", "to"), [("degC", "degF"), ("degF", "K"), ("K", "degC"), ("degF", "degC")])
def test_temperatures_agree_with_scipy(frm, to):
    names = {"degC": "Celsius", "degF": "Fahrenheit", "K": "Kelvin"}
    values = np.array([-40.0, 0.0, 36.6, 451.0])
    expected = constants.convert_temperature(values, names[frm], names[to])
    np.testing.assert_allclose(convert(values, frm, to), expected, rtol=1e-12, atol=1e-12)


@given(st.sampled_from(SYMBOLS), st.sampled_from(SYMBOLS), st.floats(-1e6, 1e6))
def test_there_and_back_is_the_same_and_impossible_both_ways_or_none(a, b, value):
    there, back = factor_offset(a, b), factor_offset(b, a)
    assert (there is None) == (back is None) == (not same_dimension(a, b))
    if there is not None:
        scale = max(1.0, abs(value), abs(back[1]))
        assert convert(convert(value, a, b), b, a) == pytest.approx(value, rel=1e-9, abs=1e-9 * scale)


@given(st.sampled_from(SYMBOLS))
def test_every_symbol_is_known_as_itself(symbol):
    assert known(symbol) == symbol
    assert factor_offset(symbol, symbol) == (1.0, 0.0)


@pytest.mark.parametrize(
    ("text", "symbol"),
    [("Kilograms", "kg"), ("KG", "kg"), ("°C", "degC"), ("km²", "km2"), ("mW", None), ("MW", "MW"), ("furlong", None),
     ("€", "EUR"), ("percent", "%"), ("µV", "uV"), (" km/h ", "km/h"), ("", None)],
)  # fmt: skip
def test_spellings(text, symbol):
    assert known(text) == symbol


@pytest.mark.parametrize(
    ("name", "plain", "unit"),
    [("Weight [kg]", "Weight", "kg"), ("speed (km/h)", "speed", "km/h"), ("T(°C)", "T", "degC"),
     ("Sales (north)", "Sales (north)", None), ("x (1)", "x (1)", None), ("[kg]", "[kg]", None),
     ("plain", "plain", None), ("a (b) [cm]", "a (b)", "cm")],
)  # fmt: skip
def test_a_unit_in_brackets_is_told_from_other_brackets(name, plain, unit):
    assert unit_in_name(name) == (plain, unit)


def test_currencies_are_known_but_never_converted():
    assert known("$") == "USD"
    assert factor_offset("EUR", "USD") is None
    assert factor_offset("EUR", "€") == (1.0, 0.0)


def test_an_unknown_unit_is_only_itself():
    assert factor_offset("parsnips", "parsnips") == (1.0, 0.0)
    assert factor_offset("parsnips", "kg") is None


def test_what_cannot_be_converted_is_refused_with_both_units():
    with pytest.raises(ParameterError, match="values in 'kg' cannot be told in 'm'; both must be known units"):
        convert([1.0], "kg", "m")
