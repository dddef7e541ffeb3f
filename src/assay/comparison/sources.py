"""Two files opened so that a sensitive column leaves neither of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from assay.data.fusion.match import folded_name
from assay.data.read import read
from assay.data.source import Source
from assay.errors import ParameterError


def opened(a: Any, b: Any, sensitive: Sequence[str], how: Mapping[str, Any]) -> tuple[Source, Source]:
    """Open both; a sensitive column may be in one alone.

    Args:
        a: anything `assay.read` takes.
        b: the other.
        sensitive: columns whose values must not be read.
        how: options of the reader, for both.
    """
    sources = read(a, **how), read(b, **how)
    if not sensitive:
        return sources
    secret = {folded_name(name) for name in sensitive}
    hidden = [[name for name in source.arrow_schema.names if folded_name(name) in secret] for source in sources]
    seen = {folded_name(name) for names in hidden for name in names}
    unknown = [name for name in sensitive if folded_name(name) not in seen]
    if unknown:
        raise ParameterError(
            f"column {unknown[0]!r} was declared sensitive, but neither table has it; check its spelling"
        )
    first, second = (read(data, sensitive=names, **how) for data, names in zip((a, b), hidden, strict=True))
    return first, second
