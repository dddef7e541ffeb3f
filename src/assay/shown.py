"""What came from users and data, made safe to show: nothing in it acts, nothing in it hides, no secret is in it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from urllib.parse import unquote

HIDDEN = "***"
_LONGEST_NAME = 60

# C0 and C1 controls (terminal escapes), line and paragraph separators, lone surrogates (names that are not UTF-8),
# marks of annotations, and all that Unicode calls default ignorable: zero-width characters, overrides of the direction
# of reading, soft hyphens, blank letters, variation selectors, tags
_UNSEEN = (
    "[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufff9-\ufffb"
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f"
    "\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
# where joiners show (RFC 5892, appendix A): between Arabic letters the first of which would join, after a virama, and
# in emoji
_ARABIC = "[\u0626\u0628\u062a-\u062e\u0633-\u063f\u0641-\u0647\u0649\u064a\u0678-\u0687\u069a-\u06bf\u06c1\u06cc]"
_INDIC = "[\u094d\u09cd\u0a4d\u0acd\u0b4d\u0bcd\u0c4d\u0ccd\u0d4d\u0dca][\u200c\u200d](?=[\u0900-\u0dff])"
_EMOJI = "(?:[\u00a9\u00ae\u203c\u2049\u2122\u2139\u2190-\u2bff\U0001f000-\U0001faff]\ufe0f?)+"
_SHOWN = f"{_EMOJI}(?:\u200d{_EMOJI})*|[#*0-9]\ufe0f?\u20e3|{_ARABIC}\u200c(?=[\u0620-\u06ff])|{_INDIC}"
_JUDGED = re.compile(f"(?P<shown>{_SHOWN})|{_UNSEEN}")
_ANY_UNSEEN = re.compile(_UNSEEN)


def visible(text: str, limit: int | None = None) -> str:
    r"""Replace characters that act or hide by their escapes.

    Args:
        text: from the data, such as a name of a column.
        limit: the longest it may be; a longer one loses its middle.

    Returns:
        The text with control characters written out.

    >>> print(visible("red\x1b[31m"))
    red\x1b[31m
    """
    return shortened(_JUDGED.sub(_written_out, text), limit)


def _written_out(found: re.Match[str]) -> str:
    return found[0] if found["shown"] else found[0].encode("unicode_escape").decode("ascii")


def visible_json(text: str, *, ascii: bool = False) -> str:
    r"""The same JSON; what acts or hides in its texts is written as JSON's own escapes.

    Args:
        text: JSON that keeps characters beyond ASCII.
        ascii: write all of those as escapes.

    >>> visible_json('"\u202e"')
    '"\\u202e"'
    """
    if ascii:
        text = re.sub("[^\x00-\x7f]", lambda found: json.dumps(found[0])[1:-1], text)
    return _ANY_UNSEEN.sub(lambda found: found[0] if found[0] == "\n" else json.dumps(found[0])[1:-1], text)


def shortened(text: str, limit: int | None) -> str:
    """Take out the middle of a text that is too long, where names differ least.

    Args:
        text: the text.
        limit: the longest it may be, None for any length.

    >>> shortened("temperature at the north gate", 15)
    'tempera…th gate'
    """
    if limit is None or len(text) <= limit:
        return text
    head = limit // 2
    return f"{text[:head]}…{text[len(text) - (limit - head - 1) :]}"


def a_few(names: Iterable[object], most: int = 20) -> str:
    """Names in a message: the first ones, none of them long, and how many more there are.

    Args:
        names: all of them.
        most: how many are named.

    >>> a_few(["a", "b"]), a_few((f"x{i}" for i in range(2000)), 3)
    ('a, b', 'x0, x1, x2 and 1,997 more')
    """
    every = [str(name) for name in names]
    more = f" and {len(every) - most:,} more" if len(every) > most else ""
    return ", ".join(shortened(name, _LONGEST_NAME) for name in every[:most]) + more


def meant(name: str, known: Iterable[str]) -> str:
    """The nearest of some names, as a question behind one that is not among them; empty where none is near.

    Args:
        name: as it was written.
        known: the names there are.

    >>> meant("grops", ["groups", "map"]), meant("x", ["groups", "map"])
    (" (did you mean 'groups'?)", '')
    """
    import difflib  # only where something is wrong

    every = {each.casefold(): each for each in known}
    near = difflib.get_close_matches(name.casefold(), every, 1, 0.6)
    return f" (did you mean {every[near[0]]!r}?)" if near else ""


# an address ends with its sentence: a space after one of these; a space alone may belong to a password
_END = re.compile(r"""[\n"'`<>:;,.)\]](?=\s)|\n""")
# user:password@host without a scheme, user/password@host of Oracle
_BARE = re.compile(r"(?<![\w.+:/-])[\w.+-]+:([^\s@/]+)@(?=[\w\[])|oracle:\w+:[^\s/@]*/([^\s@]+)@", re.IGNORECASE)
# the end of a name that tells a secret, and its value
_NAMED = re.compile(
    r"""(?:pass(?:word|wd|phrase|code)|(?<![a-z])(?:db|my|ssl)?pass|pwd|secret|token|credentials?|signature|bearer
    |(?:api|account|access|secret|private|shared)[_-]?key|[?&;](?:sig|key|auth|code|sas|pw|jwt))
    (?:['"]?\s*(?:=|%3d)\s*|['"]\s*:\s*)
    (\\(?P<quote>['"])(?:[^\\]|\\(?!(?P=quote)).)*\\(?P=quote)|'(?:[^'\\]|\\.|'(?=\w))*'|"(?:[^"\\]|\\.|"(?=\w))*"|[^\s&]+)
    |authorization\s*[:=]\s*(?:\w+\s+)?(?P<header>[^\s,;]+)""",
    re.IGNORECASE | re.VERBOSE,
)
_AFTER = "'\"`),;:.]}>\\"


def without_secrets(text: str, address: str | None = None) -> str:
    """Hide passwords, keys and tokens in addresses, wherever they stand in a text.

    Args:
        text: an address, or words that repeat one.
        address: what the user gave: its secrets are hidden wherever they stand, also apart from it and decoded.

    >>> without_secrets("cannot read mysql://me:my%20own@host/db?token=abc: it is gone")
    'cannot read mysql://me:***@host/db?token=***: it is gone'
    """
    if address is not None:
        for secret in secrets_in(address):
            text = re.sub(rf"(?<!\w){re.escape(secret)}(?!\w)", HIDDEN, text)
    kept, end = [], 0
    for start, stop in _spans(text):
        kept.append(text[end:start] + HIDDEN)
        end = stop
    return "".join(kept) + text[end:]


def secrets_in(address: str) -> tuple[str, ...]:
    """The secrets in an address, as they are written and decoded, the longest first.

    Args:
        address: what the user gave.

    >>> secrets_in("postgresql://me:my%20own@host/db")
    ('my%20own', 'my own')
    """
    written = [address[start:stop] for start, stop in _spans(address)]
    found = {form for text in written for form in (text, unquote(text), text.strip("'\""))} - {"", HIDDEN}
    return tuple(sorted(found, key=lambda text: (-len(text), text)))


def _spans(text: str) -> list[tuple[int, int]]:
    """Where secrets stand, in order and apart from each other."""
    found = list(_of_users(text)) if "@" in text else []
    for match in _BARE.finditer(text) if "@" in text else ():
        found.append(match.span(match.lastindex or 0))
    for match in _NAMED.finditer(text):
        start, stop = match.span("header" if match["header"] else 1)
        if text[start] not in "'\"\\" or text[start] != text[stop - 1]:
            stop = start + len(text[start:stop].rstrip(_AFTER))
        found.append((start, stop))
    joined: list[tuple[int, int]] = []
    for start, stop in sorted(span for span in found if span[0] < span[1]):
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(stop, joined[-1][1]))
        else:
            joined.append((start, stop))
    return joined


def _of_users(text: str) -> list[tuple[int, int]]:
    """Passwords before the host of an address; of web addresses the user as well, as that may be a token."""
    found = []
    start = text.find("://")
    while start >= 0:
        scheme_end, start = start, start + 3
        following = text.find("://", start)
        stop = following if following >= 0 else len(text)
        end = _END.search(text, start, stop)
        at = text.rfind("@", start, end.start() if end is not None else stop)
        colon = text.find(":", start, at)
        user = text[start : colon if colon >= 0 else max(at, start)]
        if at >= 0 and not any(mark in user for mark in "/?#"):
            if colon >= 0:
                found.append((colon + 1, at))
            elif text[max(0, scheme_end - 5) : scheme_end].lower().endswith(("http", "https")):
                found.append((start, at))
        start = following
    return found


def safe(text: str) -> str:
    """A message as it may be shown to anybody: no secret, nothing that acts or hides, of bounded length.

    Args:
        text: words that may repeat what users and data said.
    """
    return visible(without_secrets(text), _LONGEST)


# a longer one keeps what was wrong, in front, and the remedy, at the end
_LONGEST = 2_000
