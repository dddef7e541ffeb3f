"""How a text of any script is cut into terms: the one tokeniser of the package.

    fold    NFKC, case folded: full-width letters, ligatures and capitals are written one way
    cut     runs of letters, digits and the marks on them, two letters or more
    bigram  scripts without blanks (Chinese, Japanese, Thai, Lao, Burmese, Khmer): every two characters that follow each
            other, with the marks on them; a character that stands alone is a term

In texts of English words this is what scikit-learn's vectorizers do.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable
from functools import cache
from itertools import pairwise

from assay.data.stop_words import LISTS
from assay.errors import ParameterError

_ASCII = re.compile(r"[a-z0-9_]{2,}")
# letters with nothing to see between them: joiners, soft hyphens, marks of byte order
_UNSEEN = str.maketrans("", "", "\u00ad\u200b\u200c\u200d\u2060\ufeff")
# Thai, Lao; Burmese; Khmer; kana; Han, also beyond the first plane and for compatibility
_NO_BLANKS = (
    "\u0e01-\u0e4f\u0e81-\u0edf\u1000-\u109f\u1780-\u17d3\u3005-\u3007\u3041-\u30ff\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
)
_FOUND_NO_BLANKS = re.compile(f"[{_NO_BLANKS}]")


def terms_of(stop_words: str | Iterable[str] | None = "english") -> Callable[[str], list[str]]:
    """What cuts a text into terms and leaves stop words out.

    Args:
        stop_words: the name of a list ("english" is scikit-learn's), words of your own, or None for none.

    >>> terms_of()("The naïve CAFÉ, and 2 ﬁne cafés!"), terms_of(["ok"])("OK 東京都 हिन्दी")
    (['naïve', 'café', 'fine', 'cafés'], ['東京', '京都', 'हिन्दी'])
    """
    left_out = stop_list(stop_words)
    if not left_out:
        return cut
    return lambda text: [term for term in cut(text) if term not in left_out]


def cut(text: str) -> list[str]:
    """Every term of a text, in order.

    >>> cut("Don't panic: 42 STRASSEN, Straße")
    ['don', 'panic', '42', 'strassen', 'strasse']
    """
    folded = fold(text)
    if folded.isascii():
        return _ASCII.findall(folded)
    words: list[str] = _with_marks().findall(folded)
    if _FOUND_NO_BLANKS.search(folded) is None:
        return [word for word in words if _long(word)]
    return [term for word in words for term in _parted(word)]


def fold(text: str) -> str:
    """A text as terms are compared: one way of writing each letter, no capitals.

    >>> fold("Ｆｕｌｌ ΣΟΦΟΣ ﬁ")
    'full σοφοσ fi'
    """
    if text.isascii():
        return text.lower()
    folded = unicodedata.normalize("NFKC", text.translate(_UNSEEN)).casefold()
    return unicodedata.normalize("NFKC", folded)  # folding may take a letter apart


def stop_list(stop_words: str | Iterable[str] | None) -> frozenset[str]:
    """The terms that are left out, folded.

    Args:
        stop_words: the name of a list, words, or None.

    >>> "the" in stop_list("english"), len(stop_list(None))
    (True, 0)
    """
    if stop_words is None:
        return frozenset()
    if isinstance(stop_words, str):
        return _named(stop_words)
    words = list(stop_words)
    if not all(isinstance(word, str) for word in words):
        raise ParameterError("stop_words is a list of words, but not all of them are text")
    # a word of a script without blanks is left out by its pairs of characters, as it is cut
    return frozenset(term for word in words for term in (fold(word), *cut(word)))


@cache
def _named(name: str) -> frozenset[str]:
    if name == "english":
        from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

        return frozenset(ENGLISH_STOP_WORDS)
    if name not in LISTS:
        known = ", ".join(f'"{known}"' for known in ("english", *sorted(LISTS)))
        raise ParameterError(f"stop_words is one of {known}, a list of words, or None; got {name!r}")
    return frozenset(fold(word) for word in LISTS[name].split())


@cache
def _with_marks() -> re.Pattern[str]:
    # `re` counts neither accents that stand apart nor the vowels of Indic scripts as parts of words
    marks = [point for point in (*range(0x300, 0x1F000), *range(0xE0100, 0xE01F0)) if _is_mark(chr(point))]
    spans: list[list[int]] = []
    for point in marks:
        if spans and spans[-1][1] == point - 1:
            spans[-1][1] = point
        else:
            spans.append([point, point])
    inside = "".join(f"\\U{low:08x}-\\U{high:08x}" for low, high in spans)
    return re.compile(f"\\w[\\w{inside}]*")


def _is_mark(character: str) -> bool:
    return unicodedata.category(character) in ("Mn", "Mc", "Me")


def _long(word: str) -> bool:
    return len(word) > 2 or (len(word) == 2 and not _is_mark(word[1]))


def _parted(word: str) -> list[str]:
    """The terms of a run in which scripts with and without blanks may follow each other."""
    if _FOUND_NO_BLANKS.search(word) is None:
        return [word] if _long(word) else []
    terms: list[str] = []
    for run in re.findall(f"[{_NO_BLANKS}]+|[^{_NO_BLANKS}]+", word):
        if _FOUND_NO_BLANKS.match(run) is None:
            terms += [run] if _long(run) else []
            continue
        characters: list[str] = []
        for character in run:
            if characters and _is_mark(character):
                characters[-1] += character
            else:
                characters.append(character)
        pairs = ["".join(pair) for pair in pairwise(characters)]
        terms += pairs or characters
    return terms
