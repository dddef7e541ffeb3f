"""Reports to files, whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from os.path import realpath
from pathlib import Path

from assay.comparison.comparison import Comparison
from assay.data.files import atomic_write
from assay.errors import ParameterError
from assay.report import findings_json
from assay.study.findings import Study

PathLike = str | os.PathLike[str]


def write_report(
    study: Study,
    html_path: PathLike | None = None,
    json_path: PathLike | None = None,
    *,
    order: Sequence[str] = (),
    include_rows: bool = False,
) -> None:
    """Write a study as a page, as JSON, or as both.

    Both are made and written beside their places before either is put in place: if one fails, what was there
    before stays.

    Args:
        study: the study.
        html_path: where the page shall be.
        json_path: where the JSON shall be.
        order: columns to draw first in the array plot; the rest by kind.
        include_rows: whether the page may hold rows as they came, with their identifiers; without it values are coarse.

    >>> import pathlib, tempfile
    >>> from assay.asking.card import DataCard
    >>> from assay.study.findings import Ledger
    >>> target = pathlib.Path(tempfile.mkdtemp()) / "a.json"
    >>> write_report(Study(DataCard("a.csv", 9, 9, ()), (), Ledger(), "0.1.0"), json_path=target)
    >>> target.stat().st_size > 0
    True
    """

    def page() -> str:
        from assay.report.page import render  # imports the plotting library, half a second; JSON needs none

        return render(study, order=order, include_rows=include_rows)

    _write(study, page, html_path, json_path)


def write_comparison(
    comparison: Comparison, html_path: PathLike | None = None, json_path: PathLike | None = None
) -> None:
    """Write a comparison as a page, as JSON, or as both; if one fails, what was there before stays.

    Args:
        comparison: the comparison.
        html_path: where the page shall be.
        json_path: where the JSON shall be.
    """

    def page() -> str:
        from assay.report.comparison_page import render

        return render(comparison)

    _write(comparison, page, html_path, json_path)


def _write(
    found: Study | Comparison, page: Callable[[], str], html_path: PathLike | None, json_path: PathLike | None
) -> None:
    if html_path is None and json_path is None:
        raise ParameterError("nothing to write: give html_path, json_path or both")
    if html_path is not None and json_path is not None and realpath(html_path) == realpath(json_path):
        raise ParameterError(f"the page and the JSON cannot both be {Path(html_path)}; give two names")
    contents: list[tuple[PathLike, str]] = []
    if json_path is not None:
        contents.append((json_path, findings_json.dumps(found)))
    if html_path is not None:
        contents.append((html_path, page()))
    with ExitStack() as stack:
        for path, content in contents:
            stack.enter_context(atomic_write(path)).write(content.encode("utf-8"))
