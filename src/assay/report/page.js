"use strict";
(function () {
  // Which cell of an array plot is under the pointer, or, by the arrow keys, under the mark.
  const tip = document.body.appendChild(document.createElement("p"));
  tip.className = "cell";
  tip.setAttribute("role", "status");
  tip.hidden = true;
  const nameCells = (plot) => {
    const [, columns, measured, rows, told] = plot.model.tags;
    const shades = plot.model.renderers[0].data_source.data.image[0];
    const place = plot.el.parentElement;
    let at = [0, 0];
    const words = ([i, j]) => {
      const shade = shades[i * columns.length + j];
      const z = (shade - 31) / 10;
      const size = `${Math.abs(z).toFixed(1)}${Math.abs(z) === 3 ? " or more" : ""} ${told}`;
      const value = shade === 0 ? "missing" : !told || !measured[j] ? "" : z === 0 ? "at the mean"
        : `${size} ${z > 0 ? "above" : "below"} the mean`;
      return [`Row ${rows[i].toLocaleString("en")}`, columns[j], value].filter(Boolean).join(" · ");
    };
    const say = (cell, x, y) => {
      at = cell;
      tip.textContent = words(cell);
      tip.hidden = false;
      const room = document.documentElement.clientWidth - tip.offsetWidth - 8;
      tip.style.left = `${scrollX + Math.max(8, Math.min(x + 14, room))}px`;
      tip.style.top = `${scrollY + y + 18}px`;
    };
    const inside = (i, j) => i >= 0 && j >= 0 && i < rows.length && j < columns.length;
    const canvas = () => plot.canvas_view.el.getBoundingClientRect();
    const hide = () => { tip.hidden = true; };
    const point = (event) => {
      const { left, top } = canvas();
      const x = event.clientX - left, y = event.clientY - top;
      const cell = [Math.round(plot.frame.y_scale.invert(y)), Math.round(plot.frame.x_scale.invert(x))];
      if (plot.frame.bbox.contains(x, y) && inside(...cell)) say(cell, event.clientX, event.clientY);
      else hide();
    };
    place.addEventListener("pointermove", point);
    place.addEventListener("pointerdown", point);
    place.addEventListener("pointerleave", hide);
    place.addEventListener("blur", hide);
    place.tabIndex = 0;
    place.setAttribute("role", "group");
    place.setAttribute("aria-label", "Cells of the table; the arrow keys go from one to the next");
    place.addEventListener("keydown", (event) => {
      const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
      if (!step) return;
      event.preventDefault();
      const cell = tip.hidden ? at : [at[0] + step[0], at[1] + step[1]];
      if (!inside(...cell)) return;
      const { left, top } = canvas();
      say(cell, left + plot.frame.x_scale.compute(cell[1]), top + plot.frame.y_scale.compute(cell[0]));
    });
  };

  // On paper nobody can unfold anything: findings and explanations are opened, tables of numbers stay folded.
  const folded = document.querySelectorAll(".verdict > details:not([open]), #reading details:not([open])");
  addEventListener("beforeprint", () => { for (const one of folded) one.open = true; });
  addEventListener("afterprint", () => { for (const one of folded) one.open = false; });

  if (typeof assayPlots === "undefined") return;
  assayPlots.then((plots) => {
    // A sheet of paper is narrower than most screens: drawings are not laid out anew, they are made smaller as they are,
    // after figures.js painted them and, the other way, before it paints them again.
    const paper = { across: 680, abreast: 320 };
    const places = Array.from(document.querySelectorAll("figure .bokeh"));
    const bars = plots.map((plot) => plot.toolbar_panel?.el).filter(Boolean); // there are no buttons on paper
    addEventListener("beforeprint", () => {
      for (const bar of bars) bar.style.visibility = "hidden";
      const widths = places.map((place) => place.offsetWidth); // all before the first is changed
      places.forEach((place, i) => {
        if (widths[i] === 0) return;
        const row = place.closest(".figures"), card = place.closest("figure");
        const alone = !row || row.classList.contains("alone") || (card === row.lastElementChild && row.children.length % 2 === 1);
        place.style.width = `${widths[i]}px`;
        place.style.zoom = String(Math.min(1, (alone ? paper.across : paper.abreast) / widths[i]));
      });
    });
    addEventListener("afterprint", () => {
      for (const bar of bars) bar.style.visibility = "";
      for (const { style } of places) style.width = style.zoom = "";
    }, { capture: true });
    for (const plot of plots) {
      if (plot.model.tags[0] === "array") nameCells(plot);
    }
  });
})();
