"""The texts of a source, one by one, for questions that count their words; sensitive columns are not among them."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import compress

from assay.arrays import Mask
from assay.asking.table import Texts
from assay.data.columns.target import KnownTarget
from assay.data.media.folders import FolderSource
from assay.data.row_cache import KeptSource
from assay.data.source import Source
from assay.data.texts import source_texts


def texts_in(source: Source, kept: KeptSource, leave: Collection[str], used: Mask | None) -> dict[str, Texts]:
    """By column of text, or for a folder of texts under its name, what starts an iteration over texts.

    Args:
        source: the data.
        kept: the same, kept where it fits in memory.
        leave: columns that are not asked about.
        used: (N,) which rows are in use; None for all.
    """
    whole = source
    while isinstance(whole, KnownTarget) and whole.rows_read == whole.source.rows_read:  # no row was left out
        whole = whole.source
    if isinstance(whole, FolderSource):
        return {whole.name: _of_rows(whole.texts, used)} if whole.kind == "texts" else {}
    names = [known.name for known in kept.schema if known.kind == "text" and known.name not in leave]
    return {name: _of_rows(_column(kept, name), used) for name in names}


def _column(source: Source, name: str) -> Texts:
    return lambda: source_texts(source, name)


def _of_rows(texts: Texts, used: Mask | None) -> Texts:
    if used is None or used.all():
        return texts

    def start() -> Iterator[str]:
        return compress(texts(), used.tolist())

    return start
