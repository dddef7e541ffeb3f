"""Units that columns come in: known by their symbol, converted where they measure the same thing.

Each unit is an affine map to the base of its dimension, kept as exact fractions: base = factor * value + offset.
Currencies are known but never converted: their rate is not a constant.
"""

from __future__ import annotations

import re
from fractions import Fraction
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from assay.errors import ParameterError

_Unit: TypeAlias = tuple[str, Fraction, Fraction]

# dimension: {symbol: "factor" or "factor offset"}, to the SI base or its usual stand-in
_TABLE: dict[str, dict[str, str]] = {
    "length": {
        "m": "1", "km": "1000", "dm": "1/10", "cm": "1/100", "mm": "1/1000", "um": "1/1000000", "nm": "1/1000000000",
        "in": "0.0254", "ft": "0.3048", "yd": "0.9144", "mi": "1609.344", "nmi": "1852",
    },
    "mass": {
        "kg": "1", "g": "1/1000", "mg": "1/1000000", "ug": "1/1000000000", "t": "1000",
        "lb": "0.45359237", "oz": "0.028349523125", "st": "6.35029318",
    },
    "time": {
        "s": "1", "ms": "1/1000", "us": "1/1000000", "ns": "1/1000000000",
        "min": "60", "h": "3600", "d": "86400", "wk": "604800",
    },
    "temperature": {"K": "1", "degC": "1 273.15", "degF": "5/9 45967/180"},
    "area": {
        "m2": "1", "km2": "1000000", "cm2": "1/10000", "mm2": "1/1000000", "ha": "10000", "acre": "4046.8564224",
        "sqft": "0.09290304", "sqmi": "2589988.110336",
    },
    "volume": {
        "m3": "1", "cm3": "1/1000000", "L": "1/1000", "dL": "1/10000", "cL": "1/100000", "mL": "1/1000000",
        "gal": "0.003785411784", "ft3": "0.028316846592",
    },
    "speed": {"m/s": "1", "km/h": "5/18", "mph": "0.44704", "kn": "463/900", "ft/s": "0.3048"},
    "pressure": {
        "Pa": "1", "hPa": "100", "kPa": "1000", "MPa": "1000000", "bar": "100000", "mbar": "100",
        "atm": "101325", "psi": "6894.757293168", "mmHg": "133.322387415",
    },
    "energy": {
        "J": "1", "kJ": "1000", "MJ": "1000000", "Wh": "3600", "kWh": "3600000", "MWh": "3600000000",
        "cal": "4.184", "kcal": "4184",
    },
    "power": {"W": "1", "kW": "1000", "MW": "1000000", "hp": "745.69987158227022"},
    "frequency": {"Hz": "1", "kHz": "1000", "MHz": "1000000", "GHz": "1000000000"},
    "voltage": {"V": "1", "mV": "1/1000", "uV": "1/1000000", "kV": "1000"},
    "current": {"A": "1", "mA": "1/1000"},
    "data": {"B": "1", "kB": "1000", "MB": "1000000", "GB": "1000000000"},
    "ratio": {"1": "1", "%": "1/100", "permille": "1/1000", "ppm": "1/1000000"},
    "angle": {"rad": "1", "deg": "0.017453292519943295"},
}  # fmt: skip

_CURRENCIES = ("EUR", "USD", "GBP", "JPY", "CHF", "CNY", "INR", "SEK", "NOK", "DKK", "PLN", "BRL", "CAD", "AUD", "MU")

# other spellings, in small letters
_SPELLINGS: dict[str, str] = {
    "meter": "m", "metre": "m", "meters": "m", "metres": "m", "kilometer": "km", "kilometers": "km",
    "kilometres": "km", "centimeter": "cm", "centimeters": "cm", "millimeter": "mm", "millimeters": "mm",
    "µm": "um", "μm": "um", "micron": "um", "inch": "in", "inches": "in", "feet": "ft", "foot": "ft", "yard": "yd",
    "yards": "yd", "mile": "mi", "miles": "mi", "kgs": "kg", "kilogram": "kg", "kilograms": "kg", "gram": "g",
    "grams": "g", "µg": "ug", "μg": "ug", "mcg": "ug", "tonne": "t", "tonnes": "t", "lbs": "lb", "pound": "lb",
    "pounds": "lb", "ounce": "oz", "ounces": "oz", "sec": "s", "secs": "s", "second": "s", "seconds": "s",
    "msec": "ms", "millisecond": "ms", "milliseconds": "ms", "µs": "us", "μs": "us", "mins": "min", "minute": "min",
    "minutes": "min", "hr": "h", "hrs": "h", "hour": "h", "hours": "h", "day": "d", "days": "d", "week": "wk",
    "weeks": "wk", "kelvin": "K", "°c": "degC", "℃": "degC", "celsius": "degC", "deg c": "degC", "°f": "degF",
    "℉": "degF", "fahrenheit": "degF", "deg f": "degF", "m²": "m2", "m^2": "m2", "sqm": "m2", "sq m": "m2",
    "km²": "km2", "km^2": "km2", "cm²": "cm2", "cm^2": "cm2", "mm²": "mm2", "hectare": "ha", "hectares": "ha",
    "acres": "acre", "ft²": "sqft", "ft^2": "sqft", "sq ft": "sqft", "m³": "m3", "m^3": "m3", "cm³": "cm3",
    "cm^3": "cm3", "cc": "cm3", "l": "L", "liter": "L", "litre": "L", "liters": "L", "litres": "L", "ml": "mL",
    "cl": "cL", "dl": "dL", "gallon": "gal", "gallons": "gal", "m s-1": "m/s", "mps": "m/s", "kmh": "km/h",
    "kph": "km/h", "kmph": "km/h", "mi/h": "mph", "knot": "kn", "knots": "kn", "pascal": "Pa", "hpa": "hPa",
    "kpa": "kPa", "joule": "J", "joules": "J", "kwh": "kWh", "wh": "Wh", "kj": "kJ", "watt": "W", "watts": "W",
    "kw": "kW", "hertz": "Hz", "hz": "Hz", "khz": "kHz", "volt": "V", "volts": "V", "µv": "uV", "μv": "uV",
    "microvolt": "uV", "microvolts": "uV", "percent": "%", "pct": "%", "per cent": "%", "‰": "permille",
    "°": "deg", "degree": "deg", "degrees": "deg", "radian": "rad", "radians": "rad", "€": "EUR", "euro": "EUR",
    "euros": "EUR", "$": "USD", "us$": "USD", "dollar": "USD", "dollars": "USD", "£": "GBP", "¥": "JPY",
    "monetary units": "MU", "m.u.": "MU", "bytes": "B", "ratio": "1", "fraction": "1", "share": "1",
}  # fmt: skip


def _units() -> dict[str, _Unit]:
    units: dict[str, _Unit] = {}
    for dimension, members in _TABLE.items():
        for symbol, numbers in members.items():
            factor, _, offset = numbers.partition(" ")
            units[symbol] = (dimension, Fraction(factor), Fraction(offset or "0"))
    return units | {code: (f"currency {code}", Fraction(1), Fraction(0)) for code in _CURRENCIES}


_UNITS = _units()
_BRACKET = re.compile(r"^(?P<name>.*\S)\s*(?:\[(?P<square>[^\[\]]+)\]|\((?P<round>[^()]+)\))\s*$", re.DOTALL)


def known(text: str) -> str | None:
    """The usual symbol of a unit however it is spelt, or None. Case counts where it must: mW is not MW.

    >>> known("kg"), known("Kilograms"), known("°C"), known("parsnips")
    ('kg', 'kg', 'degC', None)
    """
    plain = " ".join(text.split())
    if plain in _UNITS:
        return plain
    small = plain.lower()
    return _SPELLINGS.get(small) or (small if small in _UNITS else None) or _SHOUTED.get(plain)


# KG, CM and the like; a symbol that differs from another by case only is not guessed
_SHOUTED = {
    symbol.upper(): symbol
    for symbol in _UNITS
    if len(symbol) > 1 and sum(other.upper() == symbol.upper() for other in _UNITS) == 1
}


def unit_in_name(name: str) -> tuple[str, str | None]:
    """A column name without the unit in brackets at its end, and that unit.

    Args:
        name: such as "Weight [kg]" or "speed (km/h)"; a bracket that is no known unit stays in the name.

    >>> unit_in_name("Weight [kg]"), unit_in_name("Sales (north)")
    (('Weight', 'kg'), ('Sales (north)', None))
    """
    # most names have none, and a search for one goes through all of the name
    found = _BRACKET.match(name) if name.rstrip()[-1:] in ("]", ")") else None
    if found is None:
        return name, None
    unit = known(found["square"] or found["round"])
    # a bare "(1)" numbers a repeated name, it does not measure it
    return (name, None) if unit is None or unit == "1" else (found["name"], unit)


def same_dimension(a: str, b: str) -> bool:
    """Whether values in one unit can be told in the other.

    >>> same_dimension("lb", "kg"), same_dimension("lb", "m")
    (True, False)
    """
    return factor_offset(a, b) is not None


def factor_offset(frm: str, to: str) -> tuple[float, float] | None:
    """How values in one unit become values in another: value_to = factor * value_from + offset.

    Args:
        frm: unit of the values, in any known spelling.
        to: unit wanted.

    Returns:
        Factor and offset, or None where the two measure different things or one is not known. A unit that is not
        known is still the same as itself.

    >>> factor_offset("km", "m"), factor_offset("degC", "degF"), factor_offset("EUR", "USD")
    ((1000.0, 0.0), (1.8, 32.0), None)
    """
    if frm.strip() == to.strip():
        return 1.0, 0.0
    a, b = known(frm), known(to)
    if a is None or b is None:
        return None
    (from_dimension, f, o), (to_dimension, g, p) = _UNITS[a], _UNITS[b]
    if from_dimension != to_dimension:
        return None
    return float(f / g), float((o - p) / g)


def convert(values: ArrayLike, frm: str, to: str) -> NDArray[np.float64]:
    """Values in another unit.

    Args:
        values: numbers of any shape.
        frm: their unit.
        to: the unit wanted.

    >>> convert([0, 100], "degC", "degF")
    array([ 32., 212.])
    """
    found = factor_offset(frm, to)
    if found is None:
        raise ParameterError(
            f"values in {frm!r} cannot be told in {to!r}; both must be known units of the same dimension"
        )
    factor, offset = found
    return np.asarray(values, dtype=np.float64) * factor + offset
