"use strict";
(function () {
  for (const input of document.querySelectorAll("input[data-filter]")) {
    const rows = Array.from(document.getElementById(input.dataset.filter).tBodies[0].rows);
    const names = rows.map((row) => row.cells[0].textContent.toLowerCase());
    const output = document.querySelector(`output[data-count="${input.dataset.filter}"]`);
    const filter = () => {
      const sought = input.value.trim().toLowerCase();
      let found = 0;
      rows.forEach((row, i) => {
        row.hidden = !names[i].includes(sought);
        found += row.hidden ? 0 : 1;
      });
      output.textContent = sought ? `${found} of ${rows.length}` : "";
    };
    input.addEventListener("input", filter);
  }

  // On paper nobody can unfold the explanations; tables of numbers stay folded.
  const reading = document.querySelector("#reading details");
  addEventListener("beforeprint", () => { reading.open = true; });

  if (typeof assayViews === "undefined") return;

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
        // at once, not with the next frame: the printer does not wait for one
        plot.invalidate_painters();
        plot.repaint();
      }
    };
    dark.addEventListener("change", () => repaint(dark.matches));
    addEventListener("beforeprint", () => repaint(false));
    addEventListener("afterprint", () => repaint(dark.matches));
    root.dataset.drawn = String(plots.length);

    // On a touch screen a finger scrolls the page; selecting is a tap, or a tool chosen on purpose.
    if (matchMedia("(pointer: coarse)").matches) {
      for (const plot of plots) {
        for (const tool of plot.model.toolbar.tools) {
          if (tool.type === "BoxSelectTool") tool.active = false;
        }
      }
    }

    const source = Bokeh.documents[0].get_model_by_name("rows");
    const output = document.getElementById("selected-rows");
    if (source === null || output === null) return;
    const most = 30;
    source.selected.properties.indices.change.connect(() => {
      const picked = source.selected.indices;
      const rows = Array.from(picked, (i) => source.data.row[i]).sort((a, b) => a - b);
      const more = rows.length > most ? ` and ${rows.length - most} more` : "";
      output.textContent = rows.length === 0
        ? "No rows are selected."
        : `${rows.length} selected: row${rows.length === 1 ? "" : "s"} ${rows.slice(0, most).join(", ")}${more}.`;
    });
  });
})();
