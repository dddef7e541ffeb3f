"use strict";
(function () {
  // Canvases keep the colours they were painted with, so they are painted again when the page changes colours.
  const root = document.documentElement;
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const colour = (isDark) => { root.dataset.figures = isDark ? "dark" : "light"; };
  colour(dark.matches);
  assayViews.then((managers) => {
    const plots = managers.flatMap((manager) => Array.from(manager)).filter((view) => view.model.type === "Figure");
    const repaint = (isDark) => {
      colour(isDark);
      for (const plot of plots) {
        plot.invalidate_painters();
        plot.repaint();
      }
    };
    if (dark.matches) repaint(true);
    dark.addEventListener("change", () => repaint(dark.matches));
    addEventListener("beforeprint", () => repaint(false));
    addEventListener("afterprint", () => repaint(dark.matches));
    // Names of points that have no room on a narrow page appear on a wider one.
    for (const plot of plots) {
      const names = plot.model.center.filter((part) => part.tags[0] === "name");
      const fit = () => { for (const name of names) name.visible = plot.frame.bbox.width >= name.tags[1]; };
      if (names.length > 0) { fit(); plot.repainted.connect(fit); }
    }
    // On a touch screen a finger scrolls the page; selecting is a tap, or a tool chosen on purpose.
    if (matchMedia("(pointer: coarse)").matches) {
      for (const tool of plots.flatMap((plot) => plot.model.toolbar.tools)) {
        if (tool.type === "BoxSelectTool" || tool.type === "BoxZoomTool") tool.active = false;
      }
    }
    const drawn = plots.flatMap((plot) => plot.model.renderers.map((marks) => marks.data_source));
    const said = document.getElementById("selected-rows");
    for (const source of new Set(drawn.filter((source) => source.name === "rows"))) {
      source.selected.properties.indices.change.connect(() => {
        const rows = Array.from(source.selected.indices, (i) => source.data.row[i]).sort((a, b) => a - b);
        const more = rows.length > 30 ? ` and ${rows.length - 30} more` : "";
        said.textContent = rows.length > 0 ? `${rows.length} selected: ${rows.slice(0, 30).join(", ")}${more}.` : "";
      });
    }
    root.dataset.drawn = String(plots.length);
  });
})();
