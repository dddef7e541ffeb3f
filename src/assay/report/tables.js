"use strict";
// Tables whose rows are kept as text in a template: searched, narrowed, sorted, and drawn fifty at a time.
for (const kept of document.querySelectorAll("template[data-rows]")) {
  const table = document.getElementById(kept.dataset.rows);
  const finder = table.closest(".finder");
  const { numeric, columns } = JSON.parse(kept.content.textContent);
  const cells = columns.map(([texts, places]) => (places ? places.map((i) => texts[i]) : texts));
  const search = finder.querySelector("input[type=search]");
  const choices = Array.from(finder.querySelectorAll("select"));
  const only = Array.from(finder.querySelectorAll("input[type=checkbox]"));
  const [back, on] = finder.querySelectorAll(".pages button");
  const told = finder.querySelector("output");
  const every = Array.from({ length: cells.length ? cells[0].length : 0 }, (_, i) => i);
  const names = every.map((i) => cells[0][i].toLowerCase());
  const collator = new Intl.Collator("en", { numeric: true, sensitivity: "base" });
  let found = every, first = 0, sorted = null;

  const value = (text) => {
    const match = text.replace("−", "-").replaceAll(",", "").match(/^[^\d.-]*(-?[\d.]+(e-?\d+)?)/);
    return match ? Number(match[1]) : NaN;
  };
  const draw = (size = 50) => {
    const rows = found.slice(first, first + size).map((i) => {
      const row = document.createElement("tr");
      cells.forEach((column, j) => {
        const cell = document.createElement(j === 0 ? "th" : "td");
        if (j === 0) cell.scope = "row";
        if (numeric.includes(j)) cell.className = "num";
        const words = cell.appendChild(document.createElement(j === 0 ? "bdi" : "span"));
        words.textContent = column[i];
        row.append(cell);
      });
      return row;
    });
    table.tBodies[0].replaceChildren(...rows);
    const last = first + rows.length, all = found.length.toLocaleString("en");
    told.textContent = rows.length === 0
      ? "None is like this."
      : `${(first + 1).toLocaleString("en")} to ${last.toLocaleString("en")} of ${all}`
        + (found.length < every.length ? `, from ${every.length.toLocaleString("en")}` : "");
    back.disabled = first === 0;
    on.disabled = last >= found.length;
  };
  const arrange = () => {
    const sought = search.value.trim().toLowerCase();
    found = every.filter((i) => names[i].includes(sought)
      && choices.every((choice) => !choice.value || cells[choice.dataset.choice][i].split(", ")[0] === choice.value)
      && only.every((box) => !box.checked || cells[box.dataset.only][i] !== ""));
    if (sorted !== null) {
      const { column, sign } = sorted;
      const keys = numeric.includes(column) ? cells[column].map(value) : cells[column];
      // what has no value comes last, whichever way the others go
      const empty = (key) => key === "" || Number.isNaN(key);
      const compare = numeric.includes(column) ? (a, b) => a - b : collator.compare;
      found.sort((a, b) => empty(keys[a]) - empty(keys[b]) || (empty(keys[a]) ? 0 : sign * compare(keys[a], keys[b])));
    }
    first = 0;
    draw();
    table.closest(".scroll").scrollTop = 0;
  };
  const heads = Array.from(table.tHead.rows[0].cells);
  heads.forEach((head, column) => head.querySelector("button").addEventListener("click", () => {
    // numbers are looked through from the largest, names from the first; a third click is the order of the page
    const start = numeric.includes(column) ? -1 : 1;
    const again = sorted !== null && sorted.column === column;
    sorted = !again ? { column, sign: start } : sorted.sign === start ? { column, sign: -start } : null;
    heads.forEach((other) => other.removeAttribute("aria-sort"));
    if (sorted !== null) head.setAttribute("aria-sort", sorted.sign > 0 ? "ascending" : "descending");
    arrange();
  }));
  for (const tool of [search, ...choices, ...only]) tool.addEventListener("input", arrange);
  for (const button of [back, on]) {
    button.addEventListener("click", () => {
      first += 50 * Number(button.dataset.step);
      draw();
      table.closest(".scroll").scrollTop = 0;
    });
  }
  addEventListener("beforeprint", () => { draw(100); });
  addEventListener("afterprint", () => { draw(); });
  draw();
}
