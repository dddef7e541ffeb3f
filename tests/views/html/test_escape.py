"""Nothing from the data acts, hides or grows without end."""

from __future__ import annotations

import html
import unicodedata
from html.parser import HTMLParser

from hypothesis import given
from hypothesis import strategies as st

from assay.shown import shortened
from assay.views.html.escape import escaped, visible

anything = st.text(st.characters(), max_size=40) | st.text(
    "<>&\"'\\/!-]\x00\x1b\u202e\u2066\ud800\ufeffab", max_size=40
)


@given(anything)
def test_no_control_override_or_surrogate_is_left(text):
    kinds = {unicodedata.category(character) for character in visible(text)}
    assert not kinds & {"Cc", "Cs", "Zl", "Zp"}
    assert not any(unicodedata.bidirectional(c) in ("RLO", "LRO", "RLE", "LRE", "RLI", "LRI") for c in visible(text))
    visible(text).encode("utf-8")


@given(st.text(st.characters(categories=["L", "N", "P", "S", "Zs"]), max_size=40))
def test_ordinary_text_is_left_alone(text):
    assert visible(text) == text


@given(anything)
def test_a_parser_of_html_sees_text_alone_and_reads_it_back(text):
    class Seen(HTMLParser):
        tags, data = 0, ""

        def handle_starttag(self, tag, attrs):
            self.tags += 1
            assert attrs == [("title", visible(text))]

        def handle_data(self, data):
            self.data += data

    seen = Seen()
    seen.feed(f'<p title="{escaped(text)}">{escaped(text)}')
    seen.close()
    assert (seen.tags, seen.data) == (1, visible(text))
    assert html.unescape(escaped(text)) == visible(text)


@given(st.text(max_size=60), st.integers(3, 50))
def test_a_shortened_text_keeps_its_ends_and_its_limit(text, limit):
    short = shortened(text, limit)
    assert len(short) <= limit
    if len(text) <= limit:
        assert short == text
    else:
        head, _, tail = short.partition("…") if "…" not in text else (short[: limit // 2], "", "")
        assert text.startswith(head)
        assert text.endswith(tail)
