"""Every family there is."""

from __future__ import annotations

from calibrate.dependent import DEPENDENT
from calibrate.family import Family
from calibrate.forms import FORMS
from calibrate.independent import GAPS, INDEPENDENT, RARE
from calibrate.intervals import INTERVALS
from calibrate.planted import PLANTED

FAMILIES: dict[str, Family] = {
    one.name: one for one in (*INDEPENDENT, *DEPENDENT, *RARE, *PLANTED, *GAPS, *INTERVALS, *FORMS)
}
