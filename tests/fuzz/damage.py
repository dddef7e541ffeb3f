"""Ways to damage bytes and texts, whatever they mean; what a format knows of itself is in `structure.py`."""

import random
import re
from collections.abc import Callable

Damage = Callable[[bytes, random.Random], bytes]

NUMBERS = (
    0,
    1,
    -1,
    2,
    127,
    128,
    255,
    256,
    32767,
    65535,
    2**31 - 1,
    2**31,
    2**32 - 1,
    2**40,
    2**62,
    2**63 - 1,
    2**64 - 1,
)
WORDS = (
    "", "NaN", "nan", "inf", "-inf", "1e999", "-1e-999", "-0", "0x10", "1_0", "9" * 400, str(2**63), str(-(2**63) - 1),
    str(2**64), "null", "true", "1970-01-01", "9999-99-99", "99999-01-01T00:00:00Z", "'", '"', '"""', ",", ";", "\t",
    "\n", "\r", "\0", "\x1b[31m", "\x07", "\u202e", "\u2028", "\ufeff", "\ud800", "\N{PILE OF POO}", "e" * 5000,
    "=1+1", "{}", "[]", "[" * 3000, '{"a":' * 3000, "<!--", "]]>", "&lt;", "&#0;", "../../x", "1:1", "-1:1",
    "999999999:1", "%", "# ", "A1", "ZZZZ99999999",
)  # fmt: skip
_TOKEN = re.compile(rb"[^\s,;:|<>=\"'{}\[\]]+")


def bit(content: bytes, rng: random.Random) -> bytes:
    """One to four bits the other way."""
    changed = bytearray(content)
    for _ in range(rng.randint(1, 4)):
        changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def byte(content: bytes, rng: random.Random) -> bytes:
    """A few bytes anew."""
    changed = bytearray(content)
    for _ in range(rng.choice((1, 1, 2, 8, 64))):
        changed[rng.randrange(len(changed))] = rng.choice((0, 1, 0x7F, 0x80, 0xFF, rng.randrange(256)))
    return bytes(changed)


def number(content: bytes, rng: random.Random) -> bytes:
    """A whole number of one to eight bytes, either end first, set to an extreme or moved a little."""
    width = rng.choice((1, 2, 4, 4, 8, 8))
    if len(content) < width:
        return byte(content, rng)
    order = rng.choice(("little", "little", "big"))
    at = rng.randrange(len(content) - width + 1)
    at -= at % rng.choice((1, width))
    here = int.from_bytes(content[at : at + width], order)
    value = rng.choice(
        (*NUMBERS, here + 1, here - 1, 2 * here, -here, here ^ 1 << rng.randrange(8 * width), len(content))
    )
    return content[:at] + (value % (1 << 8 * width)).to_bytes(width, order) + content[at + width :]


def cut(content: bytes, rng: random.Random) -> bytes:
    """The end, the beginning or something in between is gone."""
    a, b = sorted((rng.randrange(len(content) + 1), rng.randrange(len(content) + 1)))
    return rng.choice((content[:b], content[a:], content[:a] + content[b:], content[: -rng.randint(1, 16)]))


def again(content: bytes, rng: random.Random) -> bytes:
    """A piece twice, often, or somewhere else."""
    at, size = rng.randrange(len(content)), rng.choice((1, 4, 16, 64, 512))
    piece = content[at : at + size]
    to = rng.randrange(len(content) + 1)
    kept = rng.choice((content, content[:to] + content[to + size :]))
    return kept[:to] + piece * rng.choice((1, 1, 2, 100)) + kept[to:]


def noise(content: bytes, rng: random.Random) -> bytes:
    """Zeros, ones or anything over a stretch."""
    at, size = rng.randrange(len(content)), rng.choice((4, 16, 128))
    fill = rng.choice((bytes(size), b"\xff" * size, rng.randbytes(size)))
    return content[:at] + fill + content[at + size :]


def word(content: bytes, rng: random.Random) -> bytes:
    """A word, number or name of a text replaced by one that is seldom good, once or everywhere."""
    places = list(_TOKEN.finditer(content))
    new = rng.choice(WORDS).encode("utf-8", "surrogatepass")
    if not places:
        return content + new
    place = rng.choice(places)
    if rng.random() < 0.2:
        return content.replace(place[0], new)
    return content[: place.start()] + new + content[place.end() :]


def line(content: bytes, rng: random.Random) -> bytes:
    """Lines gone, exchanged, doubled, joined, or one without end."""
    lines = content.split(b"\n")
    i, j = rng.randrange(len(lines)), rng.randrange(len(lines))
    how = rng.randrange(6)
    if how == 0:
        del lines[i]
    elif how == 1:
        lines[i], lines[j] = lines[j], lines[i]
    elif how == 2:
        lines[i:i] = [lines[j]] * rng.choice((1, 500))
    elif how == 3:
        lines[i] = lines[i] * rng.choice((2, 1000))
    elif how == 4:
        lines[i] = lines[i][: len(lines[i]) // 2]
    else:
        return rng.choice((b" ", b"\n", b",", b"\0", b"\xef\xbb\xbf", b"\xff\xfe")).join(lines)
    return b"\n".join(lines)


BYTES: tuple[Damage, ...] = (bit, byte, number, number, cut, again, noise)
TEXT: tuple[Damage, ...] = (word, word, word, line, byte, cut, again)


def several(ways: tuple[Damage, ...]) -> Damage:
    """One to three of the ways after each other."""

    def damaged(content: bytes, rng: random.Random) -> bytes:
        for _ in range(rng.choice((1, 1, 1, 2, 3))):
            content = rng.choice(ways)(content, rng) if content else content
        return content

    return damaged


any_bytes = several(BYTES)
any_text = several(TEXT)


def within(first: int, stop: int, way: Damage = any_bytes) -> Damage:
    """Damage between two places only, which may count from the end."""

    def damaged(content: bytes, rng: random.Random) -> bytes:
        a, b, _ = slice(first, stop or None).indices(len(content))
        return content[:a] + way(content[a:b], rng) + content[b:] if b > a else way(content, rng)

    return damaged
