"""How much memory a product may take, and the stripes that follow from it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from assay.errors import ParameterError
from assay.optimize.team import available_cores

TEAM: Final = 2  # stripes worked on at a time; a fixed number, since bits depend on how memory is shared out
LEAST: Final = 1_000_000
_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12, "ki": 2**10, "mi": 2**20, "gi": 2**30, "ti": 2**40}
_TRIPLE = 96  # bytes of a triple while it is read, checked, sorted and written


def as_bytes(memory: int | str) -> int:
    """Bytes from a number of them or a text such as "200 MB".

    >>> as_bytes("200 MB"), as_bytes("1.5 GiB"), as_bytes(5_000_000)
    (200000000, 1610612736, 5000000)
    """
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([kmgt]?i?)b?\s*", str(memory).lower())
    if isinstance(memory, bool) or found is None or found[2] not in _UNITS:
        raise ParameterError(f'memory is a number of bytes or a text such as "200 MB"; got {memory!r}')
    size = int(float(found[1]) * _UNITS[found[2]])
    if size < LEAST:
        raise ParameterError(f"memory is at least 1 MB, since triples come in blocks; got {memory!r}")
    return size


def threads() -> int:
    """Workers beside each other, no more than the stripes are cut for."""
    return min(TEAM, available_cores())


@dataclass(frozen=True, slots=True)
class Plan:
    """Stripes of rows and columns.

    Attributes:
        rows: in a stripe.
        columns: in a stripe.
        run: triples taken at a time.
    """

    rows: int
    columns: int
    run: int

    def cells(self, shape: tuple[int, int]) -> int:
        """How many cells a matrix is cut into."""
        return stripes(shape[0], self.rows) * stripes(shape[1], self.columns)


def stripes(n: int, size: int) -> int:
    """How many stripes of a size cover n; one where there is nothing."""
    return max(1, -(-n // size))


def run_of(size: int) -> int:
    """Triples taken at a time, so that those on their way fill three quarters of the memory."""
    return max(256, size * 3 // 4 // (TEAM + 2) // _TRIPLE)


def plan(shape: tuple[int, int], size: int, *, of_row: int = 8, of_column: int = 8) -> Plan:
    """Stripes of which `TEAM` pairs fit into half of the memory.

    Args:
        shape: of the matrix.
        size: bytes allowed.
        of_row: bytes that a row of a stripe needs.
        of_column: bytes that a column needs.
    """
    made = _planned(shape, size, of_row, of_column)
    least = size
    while _planned(shape, least, of_row, of_column).cells(shape) > least // 64:
        least *= 2
    if least > size:
        raise ParameterError(
            f"a matrix of {shape[0]:,} x {shape[1]:,} in stripes that fit into {size:,} bytes has more cells than can "
            f"be kept apart; allow memory={least:,}"
        )
    return made


def _planned(shape: tuple[int, int], size: int, of_row: int, of_column: int) -> Plan:
    each = size // 2 // TEAM
    rows = min(shape[0], each // 2 // of_row)
    columns = min(shape[1], (each - rows * of_row) // of_column)
    rows = min(shape[0], (each - columns * of_column) // of_row)
    return Plan(_even(shape[0], rows), _even(shape[1], columns), run_of(size))


def _even(n: int, size: int) -> int:
    """A size not above, with which the stripes are alike."""
    return max(1, -(-n // stripes(n, max(size, 1))))
