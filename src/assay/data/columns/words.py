"""Words that tell what a column is: in its name (id, region, year) and in its cells (yes, low, Monday)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import pairwise


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


# cells that hold nothing, blanks around them aside, as they are written in files of every format
MISSING_CELLS = (
    *("", "NA", "N/A", "n/a", "na", "n.a.", "N.A.", "NaN", "nan", "NAN", "-NaN", "-nan", "null", "NULL", "Null"),
    *("None", "-", "--", "?", ".", "#N/A", "#NULL!", "#DIV/0!", "#VALUE!", "#REF!", "#NAME?", "#NUM!"),
)
# the same for cells without case
MISSING = frozenset(cell.lower() for cell in MISSING_CELLS if cell)

_NAME_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^\W\d_]+")

# the last word of a name that says: this value names a thing
IDENTIFIER_NAMES = _set(
    "id ids key uid uuid guid pk identifier rowid sku isbn ean ssn iban hash sha md checksum serial barcode token"
)
# the same, but only where the values count up: "heat index" and "room number" are not identifiers
NUMBERING_NAMES = _set("index idx no nr num number row line record n t step obs observation case unnamed column")
# as the whole name of whole numbers: who it is about
PERSON_NAMES = _set("user customer client patient subject person member participant")
RATING_NAMES = _set("rating ratings stars")
CATEGORY_NAMES = _set(
    "region type class group label code category kind species gender sex state country status zip zipcode postcode "
    "postal plz cluster channel segment department dept sector industry race ethnicity nationality religion language "
    "brand model colour color mode method treatment arm cohort site store shop branch city county province district "
    "flag digit split fold origin occupation job marital diagnosis team genre format media"
)
# codes of places are categories however many there are
POSTAL_NAMES = _set("zip zipcode postcode postal plz")
TIME_NAMES = _set("time date timestamp datetime epoch ts created updated modified when at datum birthday dob zeit")
YEAR_NAMES = _set("year yr jahr annee vintage yyyy")

# names that the two ends of a link have in a table of links
LINK_ENDS = (("source", "target"), ("from", "to"), ("src", "dst"), ("fromnode", "tonode"), ("from_node", "to_node"),
             ("fromnodeid", "tonodeid"))  # fmt: skip

_BOOLEAN_PAIRS = (("no", "yes"), ("n", "y"), ("false", "true"), ("f", "t"), ("off", "on"), ("nein", "ja"),
                  ("non", "oui"), ("0", "1"), ("0.0", "1.0"), ("nej", "ja"), ("absent", "present"), ("falsch", "wahr"),
                  ("faux", "vrai"), ("disabled", "enabled"), ("inactive", "active"), ("fail", "pass"))  # fmt: skip
BOOLEAN = {word: float(value) for pair in _BOOLEAN_PAIRS for value, word in enumerate(pair)}

# each from low to high; words that mean the same step stand together, divided by |
_SCALES = tuple(
    tuple(tuple(step.split("|")) for step in scale.split(" < "))
    for scale in (
        "none < very low < low < medium|moderate|mid|middle|med|average|normal < high < very high|extreme",
        "tiny < small < medium|mid|med < large|big < huge|very large",
        "xxs < xs < s < m < l < xl < xxl|2xl < xxxl|3xl < 4xl",
        "never < rarely|seldom < sometimes|occasionally < often|frequently|usually < always",
        "strongly disagree|completely disagree < disagree < somewhat disagree|slightly disagree < "
        "neutral|neither agree nor disagree|undecided < somewhat agree|slightly agree < agree < "
        "strongly agree|completely agree",
        "very poor|terrible < poor|bad < fair|average|ok|okay < good < very good < excellent|outstanding",
        "very bad < bad < fair|average < good < very good < excellent",
        "very dissatisfied < dissatisfied < neutral < satisfied < very satisfied",
        "very unlikely < unlikely < neutral < likely < very likely",
        "not at all < slightly|a little < moderately|somewhat < very|quite a bit|very much < extremely",
        "cold < cool < mild < warm < hot",
        "mild < moderate < severe < critical",
        "minor < major < critical|blocker",
        "debug < info < warning|warn < error < critical|fatal",
        "first < second < third < fourth < fifth",
        "1st < 2nd < 3rd < 4th < 5th",
        "i < ii < iii < iv < v < vi",
        "q1 < q2 < q3 < q4",
        "freshman < sophomore < junior < senior",
        "elementary|primary school < high school|secondary < some college < bachelor|bachelors|bachelor's < "
        "master|masters|master's < doctorate|phd",
        "bronze < silver < gold < platinum < diamond",
        "monday|mon|mo < tuesday|tue|tues|di < wednesday|wed|mi < thursday|thu|thur|thurs|do < friday|fri|fr < "
        "saturday|sat|sa < sunday|sun|so",
        "january|jan|januar < february|feb|februar < march|mar|märz < april|apr < may|mai < june|jun|juni < "
        "july|jul|juli < august|aug < september|sep|sept < october|oct|oktober|okt < november|nov < "
        "december|dec|dezember|dez",
    )
)
_RANGE = re.compile(
    r"^(?P<below><=?|under |below |up to |less than )?\s*[$€£]?(?P<low>\d+(?:\.\d+)?)\s*[k%]?\s*"
    r"(?:(?:-|–|to|\.\.)\s*[$€£]?(?P<high>\d+(?:\.\d+)?)\s*[k%]?|(?P<above>\+| ?and over| ?or more| ?and above))?"
    r"(?: ?(?:years?|yrs?|y|days?|months?|kg|km))?$"
)
_OVER = re.compile(r"^(?:>=?|over |above |more than )\s*[$€£]?(?P<low>\d+(?:\.\d+)?)\s*[k%]?$")


def name_words(name: str) -> tuple[str, ...]:
    """The words of a column name, in small letters.

    >>> name_words("customerID"), name_words("zip_code 2"), name_words("SHA256")
    (('customer', 'id'), ('zip', 'code'), ('sha',))
    """
    return tuple(part.lower() for part in _NAME_PARTS.findall(name))


def folded(cell: str) -> str:
    """A cell as it is compared with words: small letters, single blanks."""
    return " ".join(cell.split()).casefold()


def boolean_words(cells: Iterable[str]) -> bool:
    """Whether the cells are the two words of one yes/no pair, however they are written.

    >>> boolean_words(["Yes", "no", "NO"]), boolean_words(["yes", "false"]), boolean_words(["yes"])
    (True, False, False)
    """
    found = {folded(cell) for cell in cells}
    return len(found) == 2 and any(found == set(pair) for pair in _BOOLEAN_PAIRS)


def ordered_levels(cells: Sequence[str]) -> tuple[str, ...] | None:
    """The cells from low to high, if they are steps of one known scale or ranges of numbers.

    Args:
        cells: different values.

    >>> ordered_levels(["high", "low", "medium"]), ordered_levels(["18-24", "65+", "25-64", "<18"])
    (('low', 'medium', 'high'), ('<18', '18-24', '25-64', '65+'))
    >>> ordered_levels(["red", "green"])
    """
    words = [folded(cell) for cell in cells]
    for scale in _SCALES:
        step = {word: i for i, synonyms in enumerate(scale) for word in synonyms}
        ranks = [step.get(word) for word in words]
        known = [rank for rank in ranks if rank is not None]
        # two words of one or two letters, such as S and M, are more often initials than steps
        if len(known) == len(words) and len(set(known)) >= (3 if all(len(word) < 3 for word in words) else 2):
            return tuple(cell for _, cell in sorted(zip(known, cells, strict=True)))
    bounds = [_bounds(word) for word in words]
    inner = [bound for bound in bounds if bound is not None]
    if len(inner) == len(words) >= 2 and _follow(sorted(inner)):
        return tuple(cell for _, cell in sorted(zip(inner, cells, strict=True)))
    return None


def _bounds(word: str) -> tuple[float, float] | None:
    over = _OVER.match(word)
    if over:
        return float(over["low"]), float("inf")
    found = _RANGE.match(word)
    if found is None:
        return None
    low = float(found["low"])
    if found["below"]:
        return float("-inf"), low
    if found["above"]:
        return low, float("inf")
    return (low, float(found["high"])) if found["high"] else (low, low)


def _follow(bounds: list[tuple[float, float]]) -> bool:
    # at least one true range, none backwards, none overlapping the next: phone numbers and codes fail here
    ranges = sum(low < high for low, high in bounds)
    apart = all(a[1] <= b[0] for a, b in pairwise(bounds))
    return ranges * 2 >= len(bounds) and apart and all(low <= high for low, high in bounds)
