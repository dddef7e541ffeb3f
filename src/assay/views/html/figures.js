"use strict";
// What every page with figures needs: colours that follow the page, room for names, touch, and the rows selected.
globalThis.assayPlots = (function () {
  // Canvases keep the colours they were painted with, so they are painted again when the page changes colours.
  const root = document.documentElement;
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const colour = (isDark) => { root.dataset.figures = isDark ? "dark" : "light"; };
  colour(dark.matches);

  const sayRows = (source, output) => {
    const most = 30;
    const { one = "row", several = "rows" } = output.dataset;
    source.selected.properties.indices.change.connect(() => {
      const picked = source.selected.indices;
      const rows = Array.from(picked, (i) => source.data.row[i])
        .sort((a, b) => typeof a === "number" ? a - b : String(a).localeCompare(String(b)));
      const more = rows.length > most ? ` and ${rows.length - most} more` : "";
      output.textContent = rows.length === 0
        ? `No ${several} are selected.`
        : `${rows.length} selected: ${rows.length === 1 ? one : several} ${rows.slice(0, most).join(", ")}${more}.`;
    });
  };

  // Figures with a table of rows of their own select the same rows by their numbers.
  const linkRows = (sources) => {
    const places = sources.map((source) => new Map(Array.from(source.data.row, (row, i) => [row, i])));
    let linking = false;
    for (const source of sources) {
      source.selected.properties.indices.change.connect(() => {
        if (linking) return;
        linking = true;
        const rows = Array.from(source.selected.indices, (i) => source.data.row[i]);
        sources.forEach((other, k) => {
          if (other !== source) {
            other.selected.indices = rows.map((row) => places[k].get(row)).filter((i) => i !== undefined);
          }
        });
        linking = false;
      });
    }
  };

  // Bokeh measures a legend while it paints, after it made room for it; one that wraps otherwise is given room at once.
  const fitLegends = (plot) => {
    const { above, below } = plot.model;
    const legends = [...above, ...below].filter((part) => part.type === "Legend").map((part) => plot.views.get_one(part));
    let passes = 0; // room for a legend can change the width of an axis, and that the legend
    const fit = () => {
      if (passes === 3 || !legends.some((legend) => legend.layout.has_size_changed())) return;
      passes += 1;
      plot.repaint();
      passes -= 1;
    };
    plot.repainted.connect(fit);
    fit();
  };

  // The cells of a large table of pairs are one image: names come once for each column, and cells are named here.
  const nameCells = (plot) => {
    const [, names, [above, below]] = plot.model.tags;
    const { data } = plot.model.renderers[0].data_source;
    const [hundredths] = data.hundredths, [known] = data.known, [sure] = data.sure;
    const cells = (words) => [names.map((_, i) => names.map((_, j) => words(i, j, i * names.length + j)))];
    const number = (k) => (known[k] ? (hundredths[k] / 100).toFixed(2).replace("-", "−") : "not known");
    data.one = cells((i) => names[i]);
    data.other = cells((_, j) => names[j]);
    data.kind = cells((i, j) => (i > j ? below : above));
    data.said = cells((i, j, k) => (i === j ? "" : number(k)));
    data.sure = cells((i, j, k) => (sure[k] ? "yes" : "no"));
  };

  // Keys do nothing in a drawing itself, so it is no stop for them; its tools are, and show when they are reached.
  const reached = "adoptedStyleSheets" in document ? [new CSSStyleSheet()] : [];
  for (const style of reached) {
    style.replaceSync(":focus-visible { outline: 3px solid #2787cf !important; outline-offset: -1px; border-radius: 3px; }");
  }
  const leadKeys = (element) => {
    if (element.classList.contains("bk-events")) element.tabIndex = -1;
    if (element.shadowRoot !== null) {
      element.shadowRoot.adoptedStyleSheets?.push(...reached);
      for (const inside of element.shadowRoot.children) leadKeys(inside);
    }
    for (const inside of element.children) leadKeys(inside);
  };

  return assayViews.then((managers) => {
    const plots = managers.flatMap((manager) => Array.from(manager)).filter((view) => view.model.type === "Figure");
    for (const plot of plots) {
      fitLegends(plot);
      leadKeys(plot.el);
      if (plot.model.tags[0] === "pairs") nameCells(plot);
    }
    const repaint = (isDark) => {
      colour(isDark);
      for (const plot of plots) {
        // at once, not with the next frame: the printer does not wait for one
        plot.invalidate_painters();
        plot.repaint();
      }
    };
    if (dark.matches) repaint(true); // a slow page may have painted them before this script chose the colours
    dark.addEventListener("change", () => repaint(dark.matches));
    addEventListener("beforeprint", () => repaint(false));
    addEventListener("afterprint", () => repaint(dark.matches));

    // Names that have no room on a narrow page appear on a wider one, in place of shorter ones if there are any.
    for (const plot of plots) {
      const names = [...plot.model.center, ...plot.model.renderers].filter((part) => part.tags[0] === "name");
      const fit = () => {
        const { width } = plot.frame.bbox;
        for (const name of names) {
          const [, from, below = Infinity] = name.tags;
          name.visible = width >= from && width < below;
        }
      };
      if (names.length > 0) { fit(); plot.repainted.connect(fit); }
    }

    // On a touch screen a finger scrolls the page; selecting is a tap, or a tool chosen on purpose.
    if (matchMedia("(pointer: coarse)").matches) {
      for (const tool of plots.flatMap((plot) => plot.model.toolbar.tools)) {
        if (tool.type === "BoxSelectTool" || tool.type === "BoxZoomTool") tool.active = false;
      }
    }

    const output = document.getElementById("selected-rows");
    const drawn = plots.flatMap((plot) => plot.model.renderers.map((marks) => marks.data_source));
    const sources = [...new Set(drawn)].filter((source) => source?.name === "rows"); // contours have no source
    if (sources.length > 1) linkRows(sources);
    for (const source of sources) {
      if (output !== null) sayRows(source, output);
    }
    root.dataset.drawn = String(plots.length);
    return plots;
  });
})();
