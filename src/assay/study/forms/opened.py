"""What the user gave, opened as what it is: a form of its own, or a table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pkgutil import iter_modules
from typing import Any

from assay.asking.subject import Subject
from assay.data.read import read
from assay.data.source import Source
from assay.data.streams import OnePassSource
from assay.errors import DataError, ParameterError
from assay.study.forms.form import Form

TABLE = "table"
_ROOM = "assay.study.forms"


@cache
def forms() -> dict[str, Form[Any]]:
    """The forms there are, by name."""
    spec = find_spec(_ROOM)
    files = sorted(module.name for module in iter_modules(spec.submodule_search_locations if spec else ()))
    found = (getattr(import_module(f"{_ROOM}.{name}"), "FORM", None) for name in files)
    return {form.name: form for form in found if form is not None}


def opened(data: Any, form: str | None = None, how: Mapping[str, Any] | None = None) -> Subject[Any] | Source:
    """Data as a form of their own, or as a table.

    Args:
        data: what the user gave.
        form: "table", or the name of a form; None to find out.
        how: options of the reader: of the form where it is named, of the table where not.
    """
    how = dict(how or {})
    if isinstance(data, Subject):
        return data
    if form is not None and form != TABLE:
        if form not in forms():
            raise ParameterError(f"there is no form {form!r} of data; there are {', '.join([TABLE, *forms()])}")
        return forms()[form].read(data, how)
    if form is None:
        for known in forms().values():
            if why := known.is_one(data):
                return _noted(known.read(data, how), why)
    source = read(data, **how)
    if form is None and not isinstance(source, OnePassSource):
        for known in forms().values():
            if why := known.looks_like_one(source):
                return _noted(_found_out(known, source if how else data), why)
    return source


def _found_out(form: Form[Any], data: Any) -> Subject[Any]:
    """Data in a form that nobody named; where they do not fit it the user can have a table."""
    try:
        return form.read(data, {})
    except DataError as error:
        raise DataError(f"{error}; these data look like {form.called}: say form=table to study their rows") from error


def _noted(subject: Subject[Any], why: str) -> Subject[Any]:
    """The same, with a note on what told its form and how to have a table instead."""
    called = forms()[subject.form].called
    instead = "Say form=table (--form table) to study the rows."
    note = f"These data are studied as {called}, not as a table of rows: {why}. {instead}"
    return replace(subject, card=replace(subject.card, notes=(note, *subject.card.notes)))
