"""The frame of a page: one HTML file that needs nothing else, with a header, sections and links to them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from importlib import resources

from assay.asking.words import BADGES
from assay.report.headline import Headline
from assay.views.html.elements import section
from assay.views.html.escape import escaped
from assay.views.html.figure_file import policy

# an option is not broken at its hyphens
_OPTION, _UNBROKEN = re.compile(r"--[a-z][a-z-]*"), r'<span class="unbroken">\g<0></span>'


def document(
    name: str, version: str, header: str, parts: Sequence[tuple[str, str, str]], footer: str, scripts: Sequence[str]
) -> str:
    """A whole page.

    Args:
        name: of the data, plain text.
        version: of assay.
        header: as HTML.
        parts: id, title and HTML of the sections; empty ones are left out.
        footer: as HTML.
        scripts: that the page may run, and no others.
    """
    shown = [part for part in parts if part[2]]
    links = "".join(f'<li><a href="#{where}">{title}</a></li>' for where, title, _ in shown)
    body = "".join(section(*part) for part in shown)
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n{policy(scripts)}\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f'<meta name="generator" content="assay {escaped(version)}">\n'
        f"<title>{escaped(name, 120)} – assay</title>\n<style>\n{_style()}</style>\n</head>\n<body>\n"
        f'<a class="skip" href="#findings">Skip to the findings</a>\n{header}\n'
        f'<nav aria-label="On this page"><ul>{links}</ul></nav>\n<main>{body}</main>\n{footer}\n'
        f"{''.join(f'<script>{text}</script>' for text in scripts)}\n</body>\n</html>\n"
    )


def opening(brand: str, name: str, facts: Sequence[str], answer: Headline, notes: Sequence[str]) -> str:
    """The header: what was looked at, the answer in one line, and what to know before relying on it.

    Args:
        brand: which sort of page it is.
        name: of the data, plain text.
        facts: as HTML.
        answer: in one line.
        notes: plain sentences.
    """
    listed = "".join(f"<li>{_OPTION.sub(_UNBROKEN, escaped(note))}</li>" for note in notes)
    warning = (
        '<aside class="notes" aria-labelledby="notes"><h2 id="notes">Before you rely on this</h2>'
        f"<ul>{listed}</ul></aside>"
    )
    return (
        f'<header><p class="brand">{brand}</p><h1>{escaped(name, 120)}</h1>'
        f'<p class="facts">{" · ".join(facts)}</p>'
        f'<div class="answer {answer.verdict.split()[-1]}">'
        f'<p class="sign" aria-hidden="true">{BADGES[answer.verdict][0]}</p>'
        f'<div><p class="line">{escaped(answer.line)}</p><p class="why">{escaped(answer.why)}</p></div></div>'
        f"{warning if listed else ''}</header>"
    )


def _style() -> str:
    return text_of("page.css") + text_of("explore.css")


def text_of(name: str) -> str:
    """A file of the page: its style sheet or a script.

    Args:
        name: of the file.
    """
    return resources.files("assay.report").joinpath(name).read_text(encoding="utf-8")
