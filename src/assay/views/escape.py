"""What came from the data, made safe to show: nothing in it acts, and nothing in it hides."""

from __future__ import annotations

import html
import re

from assay.views.placing import shortened

# C0 and C1 controls (terminal escapes), bidirectional overrides and isolates (text that reads backwards),
# line and paragraph separators, the byte order mark, and lone surrogates (file names that are not UTF-8)
_UNSEEN = re.compile("[\x00-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]")


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
    return shortened(_UNSEEN.sub(lambda found: found[0].encode("unicode_escape").decode("ascii"), text), limit)


def escaped(text: str, limit: int | None = None) -> str:
    """Make text safe inside an element or a quoted attribute of HTML.

    Args:
        text: from the data.
        limit: the longest it may be; a longer one loses its middle.

    >>> escaped("<b>&'")
    '&lt;b&gt;&amp;&#x27;'
    """
    return html.escape(visible(text, limit), quote=True)
