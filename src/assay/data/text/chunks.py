"""Where records begin and end in delimited text, and on which lines."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from assay.data.text.encodings import Readable
from assay.errors import DataError

# Bytes that are parsed at a time.
CHUNK = 1 << 22
# The longest record, and the longest quoted cell, that are waited for.
LONGEST = 1 << 28
_LONGEST_QUOTED = 1 << 26
_LF, _CR, _QUOTE, _BLANK, _TAB = b'\n\r" \t'


def line_count(text: bytes) -> int:
    r"""How many line ends there are, as an editor counts: LF, CR LF, or CR alone.

    >>> line_count(b"a\nb\r\nc\rd")
    3
    """
    codes = np.frombuffer(text, np.uint8)
    ends = int(np.count_nonzero(codes == _LF))
    if b"\r" in text:
        ends += len(_line_ends(codes)) - ends
    return ends


def _line_ends(codes: NDArray[np.uint8]) -> NDArray[np.int64]:
    """The last byte of each line end."""
    returns = codes == _CR
    returns[:-1] &= codes[1:] != _LF
    return np.flatnonzero(returns | (codes == _LF))


def quote_edges(text: bytes, delimiters: bytes, *, padded: bool = False) -> NDArray[np.int64]:
    """The quotes between which delimiters and line ends are part of a cell, in pairs.

    A quote opens a quoted part only at the start of a cell; elsewhere, as in 5" pipe, it is a character like any other.

    Args:
        text: from the start of a record.
        delimiters: the bytes that separate cells.
        padded: whether blanks may stand between a delimiter and a quote.
    """
    codes = np.frombuffer(text, np.uint8)
    quotes = np.flatnonzero(codes == _QUOTE)
    if len(quotes) == 0:
        return quotes
    border = np.zeros(256, bool)
    border[list(delimiters + b'\n\r"')] = True
    before = border[codes[quotes[::2] - 1]]
    before[0] |= quotes[0] == 0
    if padded:
        before |= (codes[quotes[::2] - 1] == _BLANK) & border[codes[np.maximum(quotes[::2] - 2, 0)]]
    closing = quotes[1::2] + 1
    after = border[codes[closing[closing < len(codes)]]]
    if before.all() and after.all():
        # each quote is then where a pair begins or ends, a doubled one ending one pair and beginning the next
        return quotes
    return _scanned_edges(text, quotes.tolist(), delimiters + b"\n\r", padded=padded)


def _scanned_edges(text: bytes, quotes: list[int], borders: bytes, *, padded: bool) -> NDArray[np.int64]:
    edges: list[int] = []
    inside = False
    doubled = -1
    for at in quotes:
        if at == doubled:
            continue
        if inside:
            if text[at + 1 : at + 2] == b'"':
                doubled = at + 1
            else:
                edges.append(at)
                inside = False
        else:
            start = at
            while padded and start and text[start - 1] == _BLANK:
                start -= 1
            if start == 0 or text[start - 1] in borders:
                edges.append(at)
                inside = True
    return np.array(edges, np.int64)


def last_record_end(text: bytes, edges: NDArray[np.int64]) -> int:
    """Where the last whole record ends, line end included; 0 if there is none."""
    for newline, last in ((b"\n", len(text)), (b"\r", len(text) - 1)):  # a CR in last place may await its LF
        at = text.rfind(newline, 0, max(last, 0))
        while at >= 0:
            before = int(np.searchsorted(edges, at))
            if before % 2 == 0:
                return at + 1
            at = text.rfind(newline, 0, int(edges[before - 1]))
    return 0


def record_lines(text: bytes, edges: NDArray[np.int64], first_line: int) -> NDArray[np.int64]:
    """The line on which each record begins; empty lines are no records.

    Args:
        text: whole records.
        edges: from `quote_edges`.
        first_line: the line on which the text begins.
    """
    codes = np.frombuffer(text, np.uint8)
    ends = _line_ends(codes)
    closing = ends[np.searchsorted(edges, ends) % 2 == 0]
    starts = np.concatenate([[0], closing + 1])
    stops = np.concatenate([closing, [len(codes)]])
    stops[:-1] -= (closing > 0) & (codes[closing] == _LF) & (codes[closing - 1] == _CR)
    starts = starts[starts < stops]
    return first_line + np.searchsorted(ends, starts)


def tidied(text: bytes, edges: NDArray[np.int64], delimiter: bytes) -> bytes:
    """Cells without the blanks around them, line ends where they were.

    Args:
        text: whole records.
        edges: from `quote_edges`.
        delimiter: one byte, around which blanks are dropped; or a blank, and then each run of blanks or tabs outside
            quotes becomes one tab, or nothing at the ends of a line.
    """
    codes = np.frombuffer(text, np.uint8)
    aligned = delimiter == b" "
    blank = codes == _BLANK
    if aligned:
        blank |= codes == _TAB
    at = np.flatnonzero(blank)
    at = at[np.searchsorted(edges, at) % 2 == 0]
    if len(at) == 0:
        return text
    begins = at[np.diff(at, prepend=-2) != 1]
    ends = at[np.diff(at, append=len(codes) + 1) != 1]
    border = np.zeros(256, bool)
    border[[_LF, _CR, *(() if aligned else delimiter)]] = True
    outer = np.where(begins > 0, border[codes[begins - 1]], True)
    outer |= np.where(ends + 1 < len(codes), border[codes[np.minimum(ends + 1, len(codes) - 1)]], True)
    drop = np.zeros(len(codes) + 1, np.int8)
    drop[begins] += 1
    drop[ends + 1] -= 1
    kept = np.cumsum(drop[:-1], dtype=np.int8) == 0
    changed = codes.copy()
    if aligned:
        kept[begins[~outer]] = True
        changed[begins[~outer]] = _TAB
    else:
        inner = np.zeros(len(codes) + 1, np.int8)
        inner[begins[~outer]] += 1
        inner[ends[~outer] + 1] -= 1
        kept |= np.cumsum(inner[:-1], dtype=np.int8) == 1
    return bytes(changed[kept])


def records(
    handle: Readable, *, delimiters: bytes, padded: bool = False, start: int = 0, first_line: int = 1, size: int = CHUNK
) -> Iterator[tuple[bytes, int]]:
    r"""Cut a stream of UTF-8 text into chunks of whole records.

    Each read gives one chunk of what is whole by then, so a handle that returns what is there gives rows as they come.

    Args:
        handle: read from front to back only.
        delimiters: the bytes that separate cells.
        padded: whether blanks may stand between a delimiter and a quote.
        start: bytes to leave out at the front.
        first_line: the line on which the text begins behind those.
        size: bytes to ask for at a time.

    Yields:
        chunk: whole records.
        first_line: the line on which it begins, counted from 1.

    >>> import io
    >>> list(records(io.BytesIO(b'1,2\n"a\nb",3\n4,5'), delimiters=b",", size=8))
    [(b'1,2\n', 1), (b'"a\nb",3\n', 2), (b'4,5', 4)]
    """
    rest = b""
    wanted = size
    while True:
        read = handle.read(wanted)
        if start:
            skipped = min(start, len(read))
            start -= skipped
            if skipped == len(read) and read:
                continue
            read = read[skipped:]
        text = rest + read if rest else read
        edges = quote_edges(text, delimiters, padded=padded)
        end = last_record_end(text, edges) if read else len(text)
        if len(edges) % 2 and (not read or len(text) - edges[-1] > _LONGEST_QUOTED):
            line = first_line + line_count(text[: int(edges[-1])])
            if read:
                raise DataError(
                    f"the quoted cell that opens on line {line} is longer than {_LONGEST_QUOTED >> 20} MB, or its "
                    "quote is never closed; shorten the cell, close the quote, or double it if it belongs to the value"
                )
            raise DataError(
                f"the quote that opens on line {line} is not closed; close it, or double it if it belongs to the value"
            )
        if len(text) - end > LONGEST:
            raise DataError(
                f"line {first_line + line_count(text[:end])} is longer than {LONGEST >> 20} MB; "
                "is the file a text table?"
            )
        if end:
            yield text[:end], first_line
            first_line += line_count(text[:end])
        elif not read:
            return
        # a record longer than what is asked for is read in growing steps, to scan it a few times only
        wanted = size if end else max(size, len(text))
        rest = text[end:]
