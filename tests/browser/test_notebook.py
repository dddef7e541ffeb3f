"""A study in a notebook: put there as markup, which runs no scripts by itself, it still shows its page."""

from __future__ import annotations

import json

import pytest
import sample_study


class Framed:
    """The page inside the frame, which its sandbox keeps from the page around it; the debugger may look in."""

    def __init__(self, browser, folder, markup):
        notebook = folder / "notebook.html"
        # as JupyterLab does: no script of the markup itself runs
        text = json.dumps(markup).replace("</", "<\\/")
        notebook.write_text(
            '<!doctype html><meta charset="utf-8"><div id="out"></div>'
            f"<script>document.getElementById('out').innerHTML = {text}</script>"
        )
        self.browser = browser
        before = self._frames()  # of tabs that are still open
        browser.open(notebook)
        self.outer = browser._session
        browser.wait("document.querySelector('iframe') !== null")
        (target,) = self._frames() - before
        self.inner = browser.do("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]

    def _frames(self):
        session, self.browser._session = self.browser._session, None
        found = self.browser.do("Target.getTargets")["targetInfos"]
        self.browser._session = session
        return {one["targetId"] for one in found if one["type"] == "iframe"}

    def __enter__(self):
        self.browser._session = self.inner
        return self.browser

    def __exit__(self, *_):
        self.browser._session = self.outer


@pytest.mark.parametrize("name", ["wholesale", "hostile"])
def test_the_page_is_drawn_and_its_links_lead_within_it(browser, tmp_path, name):
    framed = Framed(browser, tmp_path, getattr(sample_study, name)()._repr_html_())
    with framed as page:
        page.wait("document.documentElement.dataset.drawn !== undefined")
        assert page.ask("document.querySelectorAll('.figures figure').length") > 0
        page.ask("document.querySelector('nav a[href=\"#data\"]').click()")
        page.wait("scrollY > 0")
        assert page.ask("location.href") == "about:srcdoc"
    assert browser.ask("document.title") != "broken"
    assert browser.ask("document.querySelector('#out table') !== null")
    assert browser.complaints == []
