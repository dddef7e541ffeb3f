"use strict";
// Exploring inside the file: two columns of choice, colours, filters, and how rows that are selected differ.
(function () {
  const kept = document.getElementById("explore-data");
  if (kept === null || typeof assayPlots === "undefined") return;
  const held = JSON.parse(kept.content.textContent);
  const at = (name) => document.getElementById(`explore-${name}`);
  const make = (tag, words = "", kind = "") => {
    const made = document.createElement(tag);
    made.textContent = words;
    if (kind) made.className = kind;
    return made;
  };
  const n = held.rows.length, every = Array.from({ length: n }, (_, i) => i);
  const grey = "#8b919a", real = "#2787cf", dim = "#8b919a14";
  const several = at("selected").dataset.several ?? "rows", one = at("selected").dataset.one ?? "row";

  // -- numbers in words: three digits that matter, years and codes as they are
  const minus = (text) => text.replace("-", "−");
  const short = (value) => {
    const size = Math.abs(value);
    if (Number.isNaN(value)) return "–";
    if (size !== 0 && (size < 1e-3 || size >= 1e15)) return minus(value.toExponential(1));
    if (size >= 1e9) return minus(`${Number((value / 1e9).toPrecision(3))}G`);
    if (size >= 1e6) return minus(`${Number((value / 1e6).toPrecision(3))}M`);
    if (size >= 1e4) return minus(`${Number((value / 1e3).toPrecision(4))}k`);
    return minus(String(Number(value.toPrecision(4))));
  };
  const full = (value) => {
    const size = Math.abs(value);
    if (!(size >= 1e4 && size < 1e9)) return short(value);
    return minus(Number(value.toPrecision(4)).toLocaleString("en"));
  };
  const day = (value, digits = 10) => {
    const date = new Date(value * 864e5);
    return Number.isNaN(date.getTime()) ? short(value) : date.toISOString().slice(0, digits);
  };
  const percent = (share) => `${(100 * share).toFixed(share > 0 && share < 0.1 ? 1 : 0)}%`;
  const cut = (text, most) => (text.length <= most ? text : `${text.slice(0, most >> 1)}…${text.slice((most >> 1) + 1 - most)}`);

  // -- the columns as they are held
  const bytes = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const columns = held.columns.map((column, k) => {
    const codes = column.codes ? bytes(column.codes) : null;
    const title = column.unit ? `${column.name} (${column.unit})` : column.name;
    const found = { ...column, k, title, codes, time: column.kind === "time" };
    if (column.levels) {
      const other = column.levels.findIndex((name) => /^other \(/.test(name));
      return {
        ...found, other, numeric: false,
        value: (i) => (codes[i] === 255 ? NaN : codes[i]),
        said: (i) => (codes[i] === 255 ? "missing" : column.levels[codes[i]]),
      };
    }
    const exact = column.exact ? new Float64Array(bytes(column.exact).buffer) : null;
    const place = column.log ? Math.log1p : (x) => x, back = column.log ? Math.expm1 : (x) => x;
    const between = (i, part) => {
      if (exact) return exact[i];
      if (codes[i] === 255) return NaN;
      const low = place(column.low[codes[i]]), high = place(column.high[codes[i]]);
      return back(low + part * (high - low));
    };
    const whole = (exact ? Array.from(exact).filter((x) => !Number.isNaN(x)) : [...column.low, ...column.high]).every(Number.isInteger);
    const words = (x) => (Number.isNaN(x) ? "missing" : column.kind === "time" ? day(x) : full(x));
    return {
      ...found, numeric: true, place, back, words, whole,
      value: (i) => between(i, 0.5),
      // rows of one step lie side by side, those of the other axis in another order
      drawn: (i, turn) => place(between(i, 0.5 + 0.8 * (((i + 1) * turn) % 1 - 0.5))),
      said: (i) => (exact ? (Number.isNaN(exact[i]) || column.kind === "time" ? words(exact[i]) : minus(String(exact[i]))) : codes[i] === 255 ? "missing" : `about ${words(between(i, 0.5))}`),
    };
  });
  const alone = { name: "", title: " ", levels: [""], codes: new Uint8Array(n), numeric: false, value: () => 0, said: () => "" };
  const chosen = () => [columns[at("x").value], columns[at("y").value]];

  // -- filters: rows that pass all of them
  let filters = [], passing = new Array(n).fill(true);
  const test = ({ column, level, from, to }) => (i) => {
    const value = column.value(i);
    return column.numeric ? value >= from && value <= to : value === level;
  };
  const filterWords = ({ column, level, from, to }) => {
    if (!column.numeric) return `${column.name} is ${column.levels[level]}`;
    const ends = [from > -Infinity ? `from ${column.words(from)}` : "", to < Infinity ? `to ${column.words(to)}` : ""];
    return `${column.name} ${ends.filter(Boolean).join(" ") || "is known"}`;
  };

  // -- colours
  const mixed = (share) => {
    const parts = held.ramp.map((colour) => [1, 3, 5].map((k) => parseInt(colour.slice(k, k + 2), 16)));
    const where = Math.max(0, Math.min(1, share)) * (parts.length - 1), k = Math.min(Math.floor(where), parts.length - 2);
    const mix = parts[k].map((from, j) => Math.round(from + (where - k) * (parts[k + 1][j] - from)));
    return `#${mix.map((level) => level.toString(16).padStart(2, "0")).join("")}`;
  };
  const signs = { circle: "●", square: "■", triangle: "▲", diamond: "◆", inverted_triangle: "▼", hex: "⬢", star: "★",
    plus: "✚", square_pin: "▪", triangle_pin: "△" };
  const looks = (column) => {
    if (column.numeric) {
      const places = every.map((i) => column.place(column.value(i)));
      const known = places.filter((x) => !Number.isNaN(x));
      const low = Math.min(...known), high = Math.max(...known);
      const tints = places.map((x) => (Number.isNaN(x) ? grey : mixed(high > low ? (x - low) / (high - low) : 0.5)));
      return { tints, shapes: null, ends: [column.words(column.back(low)), column.words(column.back(high))] };
    }
    const own = column.levels.map((_, k) => k).filter((k) => k !== column.other).slice(0, held.colours.length);
    const tint = column.levels.map((_, k) => (own.includes(k) ? held.colours[own.indexOf(k)] : grey));
    const shape = column.levels.map((_, k) => (own.includes(k) ? held.shapes[own.indexOf(k)] : "circle"));
    return {
      tints: every.map((i) => (column.codes[i] === 255 ? grey : tint[column.codes[i]])),
      shapes: every.map((i) => (column.codes[i] === 255 ? "circle" : shape[column.codes[i]])), own, tint, shape,
    };
  };
  const key = (column, look) => {
    if (!column) return [];
    const items = [make("li", `${column.title}:`)];
    const missing = every.some((i) => Number.isNaN(column.value(i)));
    const entry = (colour, sign, words) => {
      const item = make("li"), mark = item.appendChild(make("i", sign, "mark"));
      mark.style.color = colour;
      mark.setAttribute("aria-hidden", "true");
      item.append(make("span", words));
      items.push(item);
    };
    if (column.numeric) {
      const item = make("li", look.ends[0]), ramp = item.appendChild(make("i", "", "blend"));
      ramp.style.background = `linear-gradient(90deg, ${held.ramp.join(", ")})`;
      item.append(make("span", look.ends[1]));
      items.push(item);
    } else {
      for (const k of look.own) entry(look.tint[k], signs[look.shape[k]], cut(column.levels[k], 30));
      if (look.own.length < column.levels.length) entry(grey, "●", "all others");
    }
    if (missing) entry(grey, "●", column.kind === "groups" ? "in no group" : "missing");
    return items;
  };

  // -- ticks
  const numberTicks = (low, high, most, whole = false) => {
    const reach = whole ? Math.max((high - low) / most, 1) : (high - low) / most;
    if (!(reach > 0) || !Number.isFinite(reach)) return [low];
    const power = 10 ** Math.floor(Math.log10(reach));
    const step = [1, 2, 5, 10].map((k) => k * power).find((size) => size >= reach * 0.999);
    const first = Math.ceil(low / step - 1e-9), last = Math.floor(high / step + 1e-9);
    return Array.from({ length: Math.max(0, last - first + 1) }, (_, k) => (first + k) * step);
  };
  const timeTicks = (low, high, most) => {
    const span = high - low, dates = [];
    const months = [1, 2, 3, 6, 12, 24, 60, 120, 240, 600, 1200].find((size) => span / (30.44 * size) <= most);
    if (span / 30.44 < 2 || months === undefined) return numberTicks(low, high, most);
    const start = new Date(low * 864e5), from = start.getUTCFullYear() * 12;
    for (let m = Math.ceil((from + start.getUTCMonth()) / months) * months; ; m += months) {
      const value = Date.UTC(0, m) / 864e5 + (Date.UTC(Math.floor(m / 12), m % 12) - Date.UTC(0, m)) / 864e5;
      if (value > high) break;
      if (value >= low) dates.push(value);
    }
    return dates;
  };
  const logTicks = (column, low, high, most) => {
    const powers = [0, ...Array.from({ length: 16 }, (_, k) => 10 ** k)].filter((x) => x >= column.back(low) && x <= column.back(high));
    if (powers.length < 2) return numberTicks(column.back(low), column.back(high), most).map(column.place);
    const every_ = Math.ceil(powers.length / most);
    return powers.reverse().filter((_, k) => k % every_ === 0).reverse().map(column.place);
  };
  const dress = (axis, column, range, most, letters = 16) => {
    const [low, high] = [Math.min(range.start, range.end), Math.max(range.start, range.end)];
    const ticks = !column.numeric ? (column === alone ? [] : column.levels.map((_, k) => k)).filter((k) => k >= low && k <= high)
      : column.time ? timeTicks(low, high, most) : column.log ? logTicks(column, low, high, most)
      : numberTicks(low, high, most, column.whole);
    // as few letters as tell neighbours apart, and all ticks alike: no 10.05k beside 9950
    const apart = (words) => new Set(ticks.map(words)).size === ticks.length;
    const digits = [4, 7, 10].find((size) => apart((tick) => day(tick, size))) ?? 10;
    const plain = ticks.length > 1 && !column.log && ticks[1] - ticks[0] < 1000 && ticks[1] - ticks[0] >= 1 && Math.abs(high) < 1e7;
    const write = (tick) => {
      if (!column.numeric) return cut(column.levels[tick] ?? "", letters);
      if (column.time) return day(tick, digits);
      const value = column.back(Math.abs(tick) < 1e-12 * (high - low) ? 0 : tick);
      return plain ? minus(String(Math.round(value))) : short(value);
    };
    axis.formatter.doFormat = (shown) => Array.from(shown, write);
    axis.ticker.ticks = ticks;
    axis.axis_label = new axis.axis_label.constructor({ text: cut(column.log ? `${column.title}, log scale` : column.title, 60) });
  };

  // -- what the study found of the pair
  const pairs = new Map(held.pairs.map((pair) => [`${pair[0]} ${pair[1]}`, pair]));
  const finding = (a, b) => pairs.get(`${a.k} ${b.k}`) ?? pairs.get(`${b.k} ${a.k}`);
  const told = (a, b) => {
    if (a === b) {
      return ["", `One column by itself.${columns.length > 1 ? " Choose another for one of the axes to see how the two go together." : ""}`];
    }
    if (a.kind === "groups" || b.kind === "groups") {
      return ["", "The groups were made from the columns: that they differ there is no finding of its own."];
    }
    const found = finding(a, b);
    if (found) {
      const [, , verdict, measure, size, p, q, unseen] = found, [sign, words] = held.verdicts[verdict];
      const two = (value) => minus(value.toFixed(2)).replace("0.", ".");
      const strength = `${measure} ${two(size)}${unseen === null ? "" : ` on these ${several}, ${two(unseen)} on unseen ones`}`;
      const judged = held.slugs[verdict] === "here" ? "" : `, p ${p}; q ${q}, corrected for everything the study looked at`;
      return [verdict, `${sign} ${words}: ${strength}${judged}.`];
    }
    if (held.tested[a.k] && held.tested[b.k]) {
      const [sign, words] = held.verdicts[held.unlisted];
      return [held.unlisted, `${sign} ${words}: the study tested this pair, and others came before it.`];
    }
    return ["", "The study did not test this pair."];
  };

  assayPlots.then((plots) => {
    const plot = plots.find((view) => view.model.tags[0] === "explore");
    const part = (name) => plot.model.renderers.find((drawn) => drawn.name === name);
    const source = part("points").data_source;
    const { x_range, y_range } = plot.model, xaxis = plot.model.below.find((axis) => axis.ticker);
    const yaxis = plot.model.left.find((axis) => axis.ticker);
    const index = new Map(held.rows.map((row, i) => [row, i]));

    // every view of rows: its marks, as they are without colours of choice
    const views = plots.flatMap((view) => view.model.renderers)
      .filter((drawn) => drawn.data_source?.name === "rows" && drawn.glyph?.type === "Scatter" && drawn.data_source.data.row)
      .map((drawn, k) => {
        const glyphs = [drawn.glyph, drawn.selection_glyph, drawn.nonselection_glyph].filter((glyph) => glyph?.type === "Scatter");
        const { fill_color, line_color, marker } = drawn.glyph;
        return { drawn, glyphs, plain: { fill_color, line_color, marker }, tint: `explore_tint_${k}`, shape: `explore_shape_${k}` };
      });

    // what the colours mean is also said where the other views of rows begin
    const said = document.getElementById("selected-rows")?.closest("p");
    const above = said ? make("ul", "", "key") : null;
    if (above) said.after(above);

    let axes = null;
    const room = () => [Math.max(3, Math.floor(plot.frame.bbox.width / 70)), 6];
    const redress = () => {
      if (axes === null) return;
      const [across, up] = room();
      dress(xaxis, axes[0], x_range, across);
      dress(yaxis, axes[1], y_range, up, plot.bbox.width > 600 ? 30 : 16);
      const letters = axes[0].numeric ? 0 : axes[0].levels.reduce((sum, name) => sum + Math.min(name.length, 16) + 2, 0);
      const full = letters * 7 / plot.frame.bbox.width; // slanted names take the room of a line as long as they are
      xaxis.major_label_orientation = full > 1.6 ? "vertical" : full > 1 ? 0.7 : "horizontal";
    };
    const setRange = (range, start, end) => {
      range.setv({ start, end, reset_start: start, reset_end: end });
    };
    const fit = (range, column, places, upward) => {
      if (!column.numeric) {
        const k = Math.max(column.levels.length, 1);
        setRange(range, ...(upward ? [k - 0.4, -0.6] : [-0.6, k - 0.4]));
        return;
      }
      const known = places.filter((x) => Number.isFinite(x));
      let low = Math.min(...known), high = Math.max(...known);
      if (!known.length) [low, high] = [0, 1];
      if (low === high) [low, high] = [low - 0.5, high + 0.5];
      setRange(range, low - 0.04 * (high - low), high + 0.04 * (high - low));
    };
    const quantile = (sorted, share) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))];
    const turned = (i, turn) => ((i + 1) * turn) % 1 - 0.5;

    const draw = () => {
      let [a, b] = chosen();
      const [verdict, words] = told(a, b);
      at("told").textContent = words;
      at("told").className = `told ${verdict === "" ? "" : held.slugs[verdict]}`;
      if (a === b) b = alone;
      const sideways = a.numeric && !b.numeric && b !== alone; // levels stand side by side
      if (sideways) [a, b] = [b, a];
      at("swap").hidden = b === alone || a.numeric !== b.numeric;
      const golden = 0.6180339887498949, silver = 0.41421356237309515;
      const x = every.map((i) => (a.numeric ? a.drawn(i, golden) : a.value(i) + 0.55 * turned(i, golden)));
      const y = every.map((i) => (b.numeric ? b.drawn(i, silver) : b.value(i) + 0.5 * turned(i, silver) + 0.12));
      const shown = every.filter((i) => passing[i] && Number.isFinite(x[i]) && Number.isFinite(y[i]));
      source.data = {
        ...source.data, x: Float64Array.from(x), y: Float64Array.from(y),
        said_x: every.map((i) => `${a.name}: ${a.said(i)}`), said_y: every.map((i) => (b === alone ? "" : `${b.name}: ${b.said(i)}`)),
      };
      const cells = { x: [], y: [], top: [], alpha: [], count: [] };
      const boxes = { x: [], left: [], right: [], low: [], high: [], median: [], least: [], most: [] };
      const line = { x: [], y: [] };
      if (!a.numeric && !b.numeric) {
        const counts = a.levels.map(() => new Array(b.levels.length).fill(0));
        for (const i of shown) counts[a.codes[i]][b.codes[i]] += 1;
        const most = Math.max(...counts.flat(), 1);
        counts.forEach((row, k) => row.forEach((count, j) => {
          cells.x.push(k); cells.y.push(j); cells.top.push(j - 0.46);
          cells.alpha.push(0.4 * count / most); cells.count.push(count ? count.toLocaleString("en") : "");
        }));
      } else if (!a.numeric) {
        a.levels.forEach((_, k) => {
          const values = shown.filter((i) => a.codes[i] === k).map((i) => y[i]).sort((p, q) => p - q);
          if (values.length < 5) return;
          boxes.x.push(k); boxes.left.push(k - 0.36); boxes.right.push(k + 0.36);
          ["least", "low", "median", "high", "most"].forEach((name, j) => {
            boxes[name].push(quantile(values, [0.05, 0.25, 0.5, 0.75, 0.95][j]));
          });
        });
      } else if (b.numeric && shown.length >= 40 && new Set(shown.map(a.value)).size >= 8) {
        const order = [...shown].sort((i, j) => x[i] - x[j]), bands = Math.min(20, Math.floor(order.length / 20));
        for (let k = 0; k < bands; k += 1) {
          const here = order.slice(Math.floor(k * order.length / bands), Math.floor((k + 1) * order.length / bands));
          const middle = (values) => quantile(values.sort((p, q) => p - q), 0.5);
          line.x.push(middle(here.map((i) => x[i])));
          line.y.push(middle(here.map((i) => y[i])));
        }
      }
      part("cells").data_source.data = cells;
      part("boxes").data_source.data = boxes;
      part("line").data_source.data = line;
      axes = [a, b];
      fit(x_range, a, shown.map((i) => x[i]), false);
      fit(y_range, b, shown.map((i) => y[i]), true);
      redress();
      const lacking = passing.filter(Boolean).length - shown.length;
      const drawn = `${shown.length.toLocaleString("en")} ${shown.length === 1 ? one : several}`;
      const note = [
        !a.numeric && !b.numeric ? `The numbers count ${several}.`
          : !a.numeric ? `Boxes hold the middle half of the ${several} of a level, lines nine of ten, orange is the median.`
          : line.x.length ? "The line joins medians of neighbouring rows." : "",
        sideways ? `Levels are drawn across: ${a.name}.` : "",
        `${drawn} drawn${lacking ? `; ${lacking.toLocaleString("en")} ${lacking === 1 ? "lacks" : "lack"} a value` : ""}.`,
        held.exact || !(a.numeric || b.numeric) ? "" : "Values are coarse: a point lies somewhere within its step.",
      ];
      at("caption").textContent = note.filter(Boolean).join(" ");
      at("known").value = [...at("known").options].find((option) => {
        const [p, q] = option.value.split(" ").map(Number);
        return option.value && ((columns[p] === a && columns[q] === b) || (columns[p] === b && columns[q] === a));
      })?.value ?? "";
    };

    const paint = () => {
      const column = columns[at("colour").value], look = column ? looks(column) : null;
      at("key").replaceChildren(...key(column, look ?? {}));
      above?.replaceChildren(...key(column, look ?? {}));
      const plain = look === null && filters.length === 0;
      const changed = new Map();
      for (const { drawn, glyphs, plain: own, tint, shape } of views) {
        const data = drawn.data_source.data, rows = Array.from(data.row, (row) => index.get(row));
        if (plain) {
          for (const glyph of glyphs) glyph.setv(own);
          continue;
        }
        const was = own.fill_color;
        const usual = (j) => (was?.field && !was.transform ? data[was.field][j] : was?.value ?? real);
        const added = changed.get(drawn.data_source) ?? {};
        added[tint] = rows.map((i, j) => (i === undefined ? dim : !passing[i] ? dim : look ? look.tints[i] : usual(j)));
        if (look?.shapes) added[shape] = rows.map((i) => (i === undefined ? "circle" : look.shapes[i]));
        changed.set(drawn.data_source, added);
      }
      for (const [owner, added] of changed) owner.data = { ...owner.data, ...added };
      if (plain) return;
      for (const { glyphs, plain: own, tint, shape } of views) {
        const marker = look?.shapes ? { field: shape } : look ? { value: "circle" } : own.marker;
        for (const glyph of glyphs) glyph.setv({ fill_color: { field: tint }, line_color: { field: tint }, marker });
      }
    };

    // -- rows that are selected, and how they differ
    const means = (values) => values.reduce((sum, x) => sum + x, 0) / values.length;
    const differences = (inside, outside) => columns.flatMap((column) => {
      const values = [inside, outside].map((rows) => rows.map(column.value).filter((x) => !Number.isNaN(x)));
      const lines = [], [s, r] = values;
      const share = (name, p, q) => {
        const all = (p * inside.length + q * outside.length) / (inside.length + outside.length);
        const spread = Math.sqrt(all * (1 - all));
        if (spread > 0) lines.push({ name, selected: percent(p), rest: percent(q), size: (p - q) / spread });
      };
      if (column.numeric && s.length && r.length) {
        const places = [...s, ...r], centre = means(places);
        const spread = Math.sqrt(means(places.map((x) => (x - centre) ** 2)));
        if (spread > 0) {
          const [p, q] = [means(s), means(r)];
          lines.push({ name: column.title, selected: `mean ${column.words(p)}`, rest: `mean ${column.words(q)}`, size: (p - q) / spread });
        }
      } else if (!column.numeric && s.length && r.length) {
        column.levels.forEach((level, k) => share(`${column.name} = ${level}`,
          s.filter((x) => x === k).length / s.length, r.filter((x) => x === k).length / r.length));
        lines.sort((p, q) => Math.abs(q.size) - Math.abs(p.size)).splice(1);
      }
      if (s.length < inside.length || r.length < outside.length) {
        share(`${column.name} is missing`, 1 - s.length / inside.length, 1 - r.length / outside.length);
      }
      return lines;
    }).sort((p, q) => Math.abs(q.size) - Math.abs(p.size));

    const tableOf = (caption, heads, rows, numeric) => {
      const box = make("div", "", "scroll"), table = box.appendChild(make("table"));
      box.tabIndex = 0;
      box.setAttribute("role", "region");
      box.setAttribute("aria-label", caption);
      table.createCaption().append(make("span", caption));
      const head = table.createTHead().insertRow();
      heads.forEach((name, j) => {
        const cell = head.appendChild(make("th", name, numeric.includes(j) ? "num" : ""));
        cell.scope = "col";
      });
      const body = table.createTBody();
      for (const cells of rows) {
        const row = body.insertRow();
        cells.forEach((words, j) => {
          const cell = row.appendChild(make(j ? "td" : "th", "", numeric.includes(j) ? "num" : ""));
          if (!j) cell.scope = "row";
          cell.append(words instanceof Node ? words : make(j ? "span" : "bdi", words));
        });
      }
      return box;
    };
    const bar = (size, most) => {
      const cell = make("span", "", "leaning"), fill = cell.appendChild(make("i", "", size > 0 ? "more" : "less"));
      fill.style.width = `${(4.5 * Math.abs(size) / most).toFixed(2)}rem`;
      fill.setAttribute("aria-hidden", "true");
      cell.append(make("span", `${size > 0 ? "+" : "−"}${Math.abs(size).toFixed(2)}`));
      return cell;
    };
    const compare = () => {
      const inside = Array.from(source.selected.indices);
      const picked = new Set(inside), outside = every.filter((i) => passing[i] && !picked.has(i));
      const place = at("difference");
      at("clear").hidden = inside.length === 0;
      if (!inside.length) {
        at("selected").textContent = `No ${several} are selected. Drag over some ${at("selected").dataset.where}, or name them with “Select them”.`;
        place.replaceChildren();
        return;
      }
      at("selected").textContent = `${inside.length.toLocaleString("en")} ${inside.length === 1 ? `${one} is` : `${several} are`} selected; the rest are ${outside.length.toLocaleString("en")}.`;
      if (!outside.length) {
        place.replaceChildren(make("p", "There is no rest to compare with."));
        return;
      }
      const lines = differences(inside, outside).slice(0, 25), most = Math.max(...lines.map(({ size }) => Math.abs(size)), 1e-9);
      const parts = [
        make("p", "A selection made by eye is no evidence: rows picked because they look alike differ from the rest by the picking alone. So there is no p-value here; the study’s findings are above.", "warning"),
        tableOf("The largest differences first, in standard deviations of the column", ["Column", "Selected", "The rest", "Difference"],
          lines.map(({ name, selected, rest, size }) => [name, selected, rest, bar(size, most)]), [1, 2, 3]),
      ];
      if (held.exact) {
        const shown = inside.slice(0, 200), heads = ["Row", ...held.texts.map(({ name }) => name), ...columns.map(({ name }) => name)];
        parts.push(tableOf(`The selected ${several}${shown.length < inside.length ? `, the first ${shown.length}` : ""}`, heads,
          shown.map((i) => [String(held.rows[i]), ...held.texts.map(({ cells }) => cells[i]), ...columns.map((column) => column.said(i))]), [0]));
      }
      place.replaceChildren(...parts);
    };
    source.selected.properties.indices.change.connect(() => {
      const inside = Array.from(source.selected.indices), fine = inside.filter((i) => passing[i]);
      if (fine.length < inside.length) source.selected.indices = fine; // comes back here
      else compare();
    });

    // -- the tools
    const fill = (select, entries) => select.replaceChildren(...entries.map(([value, words]) => {
      const option = make("option", words);
      option.value = value;
      return option;
    }));
    const listed = columns.map((column) => [column.k, column.title]);
    for (const name of ["x", "y", "filter"]) fill(at(name), listed);
    fill(at("colour"), [["", "nothing"], ...listed]);
    const stood = held.pairs.filter((pair) => held.slugs[pair[2]] === "supported" || held.slugs[pair[2]] === "suggestive").slice(0, 100);
    fill(at("known"), [["", stood.length ? "choose …" : "none"], ...stood.map(([a, b, , , size]) => (
      [`${a} ${b}`, `${columns[a].name} and ${columns[b].name} (${minus(size.toFixed(2)).replace("0.", ".")})`]
    ))]);
    at("known-label").hidden = stood.length === 0;
    const [first, second] = stood.length ? stood[0] : [0, Math.min(1, columns.length - 1)];
    at("x").value = first;
    at("y").value = second;
    for (const name of ["x", "y"]) at(name).addEventListener("input", draw);
    at("swap").addEventListener("click", () => {
      [at("x").value, at("y").value] = [at("y").value, at("x").value];
      draw();
    });
    at("known").addEventListener("input", () => {
      if (!at("known").value) return;
      [at("x").value, at("y").value] = at("known").value.split(" ");
      draw();
    });
    at("colour").addEventListener("input", paint);
    const offer = () => {
      const column = columns[at("filter").value];
      at("levels").hidden = column.numeric;
      at("range").hidden = !column.numeric;
      if (!column.numeric) fill(at("level"), column.levels.map((name, k) => [k, name]));
      for (const name of ["from", "to"]) {
        at(name).type = column.time ? "date" : "number";
        at(name).value = "";
      }
    };
    const end = (name, column, none) => {
      const text = at(name).value;
      return text === "" ? none : column.time ? Date.parse(`${text}T00:00:00Z`) / 864e5 : Number(text);
    };
    const wanted = () => {
      const column = columns[at("filter").value];
      return column.numeric ? { column, from: end("from", column, -Infinity), to: end("to", column, Infinity) }
        : { column, level: Number(at("level").value) };
    };
    const narrow = () => {
      const tests = filters.map(test);
      passing = every.map((i) => tests.every((pass) => pass(i)));
      at("filters").replaceChildren(...filters.map((filter) => {
        const item = make("li"), button = item.appendChild(make("button", `${filterWords(filter)} ×`));
        button.type = "button";
        button.setAttribute("aria-label", `Remove the filter ${filterWords(filter)}`);
        button.addEventListener("click", () => { filters = filters.filter((other) => other !== filter); narrow(); });
        return item;
      }));
      const left = passing.filter(Boolean).length;
      at("left").textContent = filters.length ? `${left.toLocaleString("en")} of ${n.toLocaleString("en")} ${several} are left; the others are faint in every view.` : "";
      source.selected.indices = Array.from(source.selected.indices).filter((i) => passing[i]);
      draw();
      paint();
      compare();
    };
    at("filter").addEventListener("input", offer);
    at("add").addEventListener("click", () => { filters = [...filters, wanted()]; narrow(); });
    at("pick").addEventListener("click", () => {
      const pass = test(wanted());
      source.selected.indices = every.filter((i) => passing[i] && pass(i));
    });
    at("clear").addEventListener("click", () => { source.selected.indices = []; });
    offer();
    draw();
    paint();
    compare();
    let width = 0;
    const onRange = () => redress();
    for (const range of [x_range, y_range]) {
      range.properties.start.change.connect(onRange);
      range.properties.end.change.connect(onRange);
    }
    plot.repainted.connect(() => {
      const now = plot.frame.bbox.width;
      if (now < 100 || Math.abs(now - width) <= 20) return;
      width = now;
      queueMicrotask(redress); // after this painting, not within it
    });
    document.documentElement.dataset.explored = "yes";
  });
})();
