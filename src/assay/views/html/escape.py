"""What came from the data, made safe to show: nothing in it acts, and nothing in it hides."""

from __future__ import annotations

import html

from assay.shown import visible as visible


def escaped(text: str, limit: int | None = None) -> str:
    """Make text safe inside an element or a quoted attribute of HTML.

    Args:
        text: from the data.
        limit: the longest it may be; a longer one loses its middle.

    >>> escaped("<b>&'")
    '&lt;b&gt;&amp;&#x27;'
    """
    return html.escape(visible(text, limit), quote=True)
