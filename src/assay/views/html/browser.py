"""The browser on this machine, used once and closed: no driver, no port, no network."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from assay.errors import AssayError
from assay.leftovers import TemporaryFolder

PATH = "ASSAY_BROWSER_PATH"

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "msedge", "microsoft-edge")
_PLACES = {
    "darwin": (
        "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
        "/Applications/Chromium.app/Contents/MacOS/Chromium",
        "/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge",
    ),
    "win32": (
        r"C:\Program Files\Google\Chrome\Application\chrome.exe",
        r"C:\Program Files (x86)\Microsoft\Edge\Application\msedge.exe",
    ),
}
_FLAGS = (
    "--headless", "--disable-gpu", "--disable-quic", "--no-first-run", "--no-default-browser-check",
    "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-extensions",
    "--disable-dev-shm-usage", "--hide-scrollbars", "--proxy-server=127.0.0.1:9", "--virtual-time-budget=20000",
)  # fmt: skip
_PATIENCE = 180.0


class BrowserError(AssayError):
    """No picture can be made: there is no browser, or it failed."""


def found_browser() -> str:
    """Find a browser that draws pictures: the one that ASSAY_BROWSER_PATH names, else one on the path.

    Returns:
        The program.
    """
    named = os.environ.get(PATH)
    if named:
        program = shutil.which(named)
        if program is None:
            raise BrowserError(f"{PATH} names {named!r}, which is no program that can be started; correct or unset it")
        return program
    for name in _NAMES:
        program = shutil.which(name)
        if program is not None:
            return program
    for place in _PLACES.get(sys.platform, ()):
        if Path(place).is_file():
            return place
    raise BrowserError(
        "a PNG or SVG is drawn by a browser, and none was found: install Chromium or Chrome, name one by the "
        f"environment variable {PATH}, or save as .html, which needs none"
    )


def page_text(page: str) -> str:
    """Open a page and give its document as text once its scripts have run.

    Args:
        page: HTML.
    """
    with TemporaryFolder() as folder:
        return _run(page, folder, "--force-device-scale-factor=4", "--dump-dom").decode("utf-8", "replace")


def page_picture(page: str, width: int, height: int, scale: float) -> bytes:
    """Open a page in a window of some size and give a PNG of it once its scripts have run.

    Args:
        page: HTML.
        width: of the window in pixels of the page.
        height: of the window.
        scale: pixels of the picture to one of the page.
    """
    with TemporaryFolder() as folder:
        target = folder / "page.png"
        _run(
            page,
            folder,
            f"--window-size={width},{height}",
            f"--force-device-scale-factor={scale:g}",
            f"--screenshot={target}",
        )
        if not target.is_file():
            raise BrowserError(f"the browser {found_browser()} drew nothing; save as .html, or try another: see {PATH}")
        return target.read_bytes()


def _run(page: str, folder: Path, *wanted: str) -> bytes:
    program = found_browser()
    source = folder / "page.html"
    source.write_text(page, encoding="utf-8", errors="backslashreplace")
    flags = [*_FLAGS, f"--user-data-dir={folder / 'profile'}", *wanted]
    if hasattr(os, "geteuid") and os.geteuid() == 0:  # Chromium has no sandbox for the administrator
        flags.append("--no-sandbox")
    try:
        done = subprocess.run(
            [program, *flags, source.as_uri()], capture_output=True, stdin=subprocess.DEVNULL, timeout=_PATIENCE
        )
    except subprocess.TimeoutExpired as error:
        raise BrowserError(f"the browser {program} drew nothing in {_PATIENCE:g} seconds; save as .html") from error
    except OSError as error:
        raise BrowserError(f"the browser {program} cannot be started: {error.strerror or error}") from error
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()
        why = f": {said[-1]}" if said else ""
        raise BrowserError(f"the browser {program} ended with {done.returncode}{why}; save as .html")
    return done.stdout
