"""What a plot is handed out as: a Bokeh figure, or several, that a notebook shows and that save themselves."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from bokeh.core.has_props import Local
from bokeh.models.layouts import GridBox
from bokeh.plotting import figure as bokeh_figure

from assay.errors import ParameterError

UNTITLED = "Figure"


class Shown(Protocol):
    """A figure with its words; what `views()` of any object gives."""

    @property
    def title(self) -> str:
        """What it shows."""

    @property
    def figure(self) -> Any:
        """A Bokeh figure."""

    @property
    def caption(self) -> str:
        """What to see in it."""


@dataclass(frozen=True, slots=True)
class Panel:
    """A figure with its words.

    Attributes:
        title: what it shows; the heading where there are several.
        figure: from `views.theme.figure`.
        caption: what to see in it, plain text.
    """

    title: str
    figure: Any
    caption: str = ""


class _Handed:
    """What a single figure and several have in common."""

    def _panels(self) -> list[Panel]:
        raise NotImplementedError

    @property
    def heading(self) -> str:
        """What is drawn, in a few words."""
        raise NotImplementedError

    def save(
        self, path: str | os.PathLike[str], *, title: str = "", width: int | None = None, scale: float = 2.0
    ) -> Path:
        """Write what is drawn to a file; one that is there is replaced only when the new one is whole.

        Args:
            path: ends in ".html" for a page that can be explored and needs no network, in ".png" or ".svg" for a
                picture, which a Chromium or Chrome on this machine draws.
            title: of the page; on a picture above the figure, by default none.
            width: of a picture in pixels; by default 720 for one figure and 1120 for several.
            scale: how many pixels of a PNG there are to one of these; 2 is sharp on paper and on fine screens.

        Returns:
            The path.
        """
        from assay.views.html.saving import save

        return save(self._panels(), path, heading=self.heading, title=title, width=width, scale=scale)

    def _repr_html_(self) -> str:
        """What a notebook shows: the page itself in a frame, so that nothing has to be set up or fetched."""
        from assay.views.html.sheet import framed

        return framed(self._panels(), self.heading)


class Figure(_Handed, bokeh_figure, Local):
    """A Bokeh figure that a notebook shows as it is, and that saves itself.

    >>> Figure(x_axis_label="dose").xaxis.axis_label
    'dose'
    """

    # the browser knows Bokeh's own figure only; `Local` keeps this class out of Bokeh's registry
    __view_model__ = "Figure"
    __view_module__ = "bokeh.plotting.figure"

    _heading: str = ""
    _caption: str = ""

    @property
    def heading(self) -> str:
        """What is drawn, in a few words."""
        return self._heading or UNTITLED

    def _panels(self) -> list[Panel]:
        return [Panel("", self, self._caption)]


class Figures(_Handed, GridBox, Local):
    """Several figures side by side; rows selected in one are selected in all.

    >>> from assay.views.axes.theme import figure
    >>> two = [Panel(name, figure(x_label="", y_label="")) for name in ("left", "right")]
    >>> list(side_by_side(two).figures)
    ['left', 'right']
    """

    __view_model__ = "GridBox"
    __view_module__ = "bokeh.models.layouts"

    _heading: str = ""
    _shown: tuple[Panel, ...] = ()

    @property
    def heading(self) -> str:
        """What is drawn, in a few words."""
        return self._heading or UNTITLED

    @property
    def figures(self) -> dict[str, Any]:
        """The figures by their headings."""
        return {panel.title: panel.figure for panel in self._shown}

    @property
    def captions(self) -> dict[str, str]:
        """What to see in them, by their headings."""
        return {panel.title: panel.caption for panel in self._shown}

    def _panels(self) -> list[Panel]:
        return list(self._shown)


def side_by_side(shown: Sequence[Shown], heading: str = "") -> Any:
    """Hand out one figure as it is, several as one object.

    Args:
        shown: figures with their words, one or more.
        heading: what is drawn, for the page they are saved to.

    Returns:
        A `Figure`, or `Figures`.
    """
    if not shown:
        raise ParameterError("there is nothing to draw: no view was given")
    panels = _told_apart(shown)
    if len(panels) == 1 and isinstance(panels[0].figure, Figure):
        only = panels[0].figure
        only._heading, only._caption = heading or panels[0].title, panels[0].caption
        return only
    wide = len(panels) % 2  # an odd one goes first, over the whole width
    places = [(0, 0, 1, 2)] * wide + [(wide + k // 2, k % 2, 1, 1) for k in range(len(panels) - wide)]
    grid = Figures(
        children=[(panel.figure, *place) for panel, place in zip(panels, places, strict=True)],
        sizing_mode="stretch_width",
    )
    grid._heading, grid._shown = heading or panels[0].title, tuple(panels)
    return grid


def _told_apart(shown: Sequence[Shown]) -> list[Panel]:
    """Panels whose headings differ: a second "Rows" becomes "Rows (2)"."""
    panels: list[Panel] = []
    seen: dict[str, int] = {}
    for view in shown:
        seen[view.title] = seen.get(view.title, 0) + 1
        again = f" ({seen[view.title]})" if seen[view.title] > 1 else ""
        panels.append(Panel(f"{view.title}{again}", view.figure, view.caption))
    return panels
