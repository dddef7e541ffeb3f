"use strict";
// The sheet as one SVG, for those who print: figures as Bokeh draws them, words as text, both where the page has them.
assayPlots.then((plots) => {
  const ns = "http://www.w3.org/2000/svg";
  const sheet = document.querySelector("main").getBoundingClientRect();
  const size = { width: Math.ceil(sheet.width), height: Math.ceil(sheet.height) };
  const make = (parent, name, attributes) => {
    const made = parent.appendChild(document.createElementNS(ns, name));
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, String(value));
    return made;
  };
  const svg = document.createElementNS(ns, "svg");
  for (const [key, value] of Object.entries({ ...size, viewBox: `0 0 ${size.width} ${size.height}` })) svg.setAttribute(key, value);
  make(svg, "rect", { ...size, fill: "#ffffff" });

  // Words as the page breaks them into lines: those that share a height are one line.
  const lines = (element) => {
    const found = [];
    const node = element.firstChild, range = document.createRange();
    for (const word of node.data.matchAll(/\S+/g)) {
      range.setStart(node, word.index);
      range.setEnd(node, word.index + word[0].length);
      const box = range.getBoundingClientRect(), last = found.at(-1);
      if (last !== undefined && Math.abs(last.top - box.top) < 3) last.words.push(word[0]);
      else found.push({ top: box.top, left: box.left, height: box.height, words: [word[0]] });
    }
    return found;
  };
  for (const element of document.querySelectorAll("h1, h2, figcaption")) {
    const style = getComputedStyle(element);
    for (const line of lines(element)) {
      make(svg, "text", {
        x: (line.left - sheet.left).toFixed(2), y: (line.top - sheet.top + 0.78 * line.height).toFixed(2), fill: style.color,
        "font-family": style.fontFamily, "font-size": style.fontSize, "font-weight": style.fontWeight,
      }).textContent = line.words.join(" ");
    }
  }
  for (const plot of plots) {
    const box = plot.el.getBoundingClientRect();
    const { ctx } = plot.export("svg");
    const drawn = new DOMParser().parseFromString(ctx.get_serialized_svg(true), "image/svg+xml").documentElement;
    drawn.setAttribute("x", (box.left - sheet.left).toFixed(2));
    drawn.setAttribute("y", (box.top - sheet.top).toFixed(2));
    // marks of a legend are small images in pixels of the screen; what shows data is clipped to the axes and has its size
    for (const mark of drawn.querySelectorAll('image[transform^="matrix(1, 0, 0, 1,"]')) {
      if (mark.closest("g[clip-path]") !== null) continue;
      for (const side of ["width", "height"]) mark.setAttribute(side, String(mark.getAttribute(side) / devicePixelRatio));
    }
    // Bokeh writes an outline of every word, unseen, and long words of a legend on one line where the page has several
    for (const unseen of drawn.querySelectorAll('text[fill="none"][stroke-opacity="0"]')) unseen.remove();
    for (const part of [...plot.model.above, ...plot.model.below].filter((each) => each.type === "Legend")) {
      for (const label of plot.views.get_one(part).shadow_el.querySelectorAll(".bk-label, .bk-title")) {
        const whole = [...drawn.querySelectorAll("text")].find((text) => text.textContent === label.textContent);
        const broken = whole === undefined || label.textContent === "" ? [] : lines(label);
        if (broken.length < 2) continue;
        for (const line of broken) {
          const text = whole.cloneNode();
          text.removeAttribute("transform");
          text.setAttribute("x", (line.left - box.left).toFixed(2));
          text.setAttribute("y", (line.top - box.top + 0.78 * line.height).toFixed(2));
          text.textContent = line.words.join(" ");
          whole.before(text);
        }
        whole.remove();
      }
    }
    svg.append(document.importNode(drawn, true));
  }
  const bytes = new TextEncoder().encode(new XMLSerializer().serializeToString(svg));
  const out = document.createElement("pre");
  out.id = "drawn-svg";
  out.textContent = btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
  document.body.append(out);
});
