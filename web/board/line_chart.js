// One chart: a curve for each run over steps, epochs or time, with a cursor that the pointer or the arrow keys
// move.
import {element, svg} from "fovea/parts/dom.js";
import {csvText, download} from "fovea/parts/export.js";
import {exportChart, label, line, scale, textWidth, ticks} from "fovea/parts/chart.js";
import {series} from "fovea/parts/colour.js";
import {number} from "fovea/parts/format.js";
import {numberTable} from "fovea/parts/number_table.js";
import {isNoisy, isSpeed, pointAt, smoothed, thinned, titleOf} from "fovea/board/curves.js";
import {duration, measure, timeUnit} from "fovea/board/times.js";

const height = 230;
const margins = {top: 14, right: 14, bottom: 40, left: 54};
const mostPoints = 700;
const fewPoints = 40;
const dashes = ["", "7 3", "2 3", "9 3 2 3", "5 2 1 2 1 2", "12 4", "1 4", "6 2 2 2"];

/** The look of a run: no two of the first 64 are the same, and the first eight differ by their dashes too. */
export function lookOf(index) {
  return {colour: series(index), dash: dashes[(index + Math.floor(index / 8)) % 8]};
}

/** A short piece of a run's line, for legends. */
export function sample(index) {
  const {colour, dash} = lookOf(index);
  const attributes = {class: "board-sample", viewBox: "0 0 34 10", width: 34, height: 10, "aria-hidden": "true"};
  return svg("svg", attributes, svg("path", {
    d: "M1 5H33", stroke: colour, "stroke-width": 2.5, "stroke-dasharray": dash || null, fill: "none",
  }));
}

/** `board`: {settings, tooltip, announce(text)}. */
export class LineChart {
  #board;
  #runs = [];
  #curves = [];
  #at = null;
  #size = 0;
  #turn = 0;

  constructor(tag, board) {
    this.tag = tag;
    this.#board = board;
    const title = titleOf(tag);
    this.picture = svg("svg", {
      class: "board-plot", height, role: "img", tabindex: 0, "aria-label": title,
    });
    this.table = element("div", {class: "board-numbers", role: "region", "aria-label": `${title} as a table`, tabindex: 0, hidden: true});
    const save = (text, action, hint) =>
      element("button", {type: "button", class: "button-plain", text, "aria-label": `${title}: ${hint}`, on: {click: action}});
    this.node = element("figure", {class: "board-chart"},
      element("figcaption", {},
        element("h2", {text: title}),
        element("span", {class: "board-save"},
          this.button = save("Table", () => this.#toggleTable(), "show the numbers as a table"),
          save("CSV", () => this.#saveNumbers(), "save the numbers as CSV"),
          save("SVG", () => this.#savePicture(), "save the picture as SVG"))),
      this.picture, this.table);
    this.button.setAttribute("aria-expanded", "false");
    this.picture.addEventListener("pointermove", (event) => this.#point(event));
    this.picture.addEventListener("pointerleave", () => this.#leave());
    this.picture.addEventListener("keydown", (event) => this.#key(event));
    this.picture.addEventListener("blur", () => this.#leave());
  }

  /** Draws the runs that are not hidden. */
  show(runs) {
    this.#runs = runs;
    this.draw();
    if (!this.table.hidden) this.#fillTable();
  }

  /** The host has another size, or the settings have changed. */
  draw() {
    const width = Math.max(240, this.node.clientWidth);
    this.#size = width;
    const {settings} = this.#board;
    const axis = settings.get("x");
    const weight = isNoisy(this.tag) ? settings.get("smooth") : 0;
    const isLog = settings.get("log") === 1 && !isSpeed(this.tag);
    this.#curves = this.#runs.map((run) => {
      const all = run.curves.get(this.tag) ?? [];
      const raw = isLog ? all.filter(({value}) => value > 0) : all;
      return {run, raw, shown: smoothed(raw, weight), ...lookOf(run.index)};
    }).filter(({raw}) => raw.length > 0);
    this.picture.setAttribute("width", width);
    this.picture.setAttribute("viewBox", `0 0 ${width} ${height}`);
    this.picture.setAttribute("aria-label", this.#description());
    this.picture.replaceChildren(...(this.#curves.length ? this.#drawn(width, axis, weight, isLog) : [
      label(width / 2, height / 2, this.#runs.length ? "nothing to draw yet" : "all runs are hidden",
        {anchor: "middle", fill: "var(--quiet)"}),
    ]));
  }

  #drawn(width, axis, weight, isLog) {
    const points = this.#curves.flatMap(({raw}) => raw);
    const spread = (list) => list.reduce(([low, high], v) => [Math.min(low, v), Math.max(high, v)], [Infinity, -Infinity]);
    const [, lastX] = spread(points.map((point) => point[axis]));
    const [lowX, highX] = [0, lastX || 1];
    // A mean of many is drawn large: single values far off would press it flat.
    const forRange = weight > 0 ? this.#curves.flatMap(({shown}) => shown) : points;
    const values = spread(forRange.map(({value}) => value));
    if (isSpeed(this.tag)) values[0] = 0;
    const range = isLog ? logRange(values) : valueRange(values);
    const right = width - margins.right;
    const bottom = height - margins.bottom;
    const x = scale(lowX, highX, margins.left, right);
    const along = isLog ? Math.log10 : (value) => value;
    const up = scale(along(range.low), along(range.high), bottom, margins.top);
    const y = (value) => Math.min(bottom + 6, Math.max(margins.top - 6, up(along(value))));
    this.x = {from: (pixel) => lowX + ((pixel - margins.left) / (right - margins.left)) * (highX - lowX), to: x, axis};
    const nodes = range.ticks.flatMap((value) => [
      line(margins.left, y(value), right, y(value)),
      label(margins.left - 8, y(value), number(value), {anchor: "end", size: 11, fill: "var(--quiet)"}),
    ]);
    nodes.push(...this.#axis(lowX, highX, x, bottom, right, axis));
    for (const curve of this.#curves) nodes.push(...this.#curve(curve, x, y, axis, weight));
    this.cursor = svg("g", {});
    nodes.push(this.cursor);
    this.y = y;
    if (this.#at !== null) this.#showCursor();
    return nodes;
  }

  #axis(low, high, x, bottom, right, axis) {
    const [unit, name] = axis === "time" ? timeUnit(high) : [1, axis];
    const room = Math.max(2, Math.floor((right - margins.left) / 70));
    const wanted = axis === "step" || axis === "epoch"
      ? ticks(low, high, room).filter((value) => Number.isInteger(value) || high - low < 2)
      : ticks(low / unit, high / unit, room);
    const nodes = [line(margins.left, bottom, right, bottom, "var(--quiet)")];
    let free = -Infinity;
    for (const value of wanted) {
      const text = number(value);
      const at = x(value * unit);
      const half = textWidth(text, 11) / 2;
      if (at - half < free || at + half > right + margins.right) continue;
      free = at + half + 8;
      nodes.push(line(at, bottom, at, bottom + 4, "var(--quiet)"),
        label(at, bottom + 14, text, {anchor: "middle", size: 11, fill: "var(--quiet)"}));
    }
    nodes.push(label((margins.left + right) / 2, bottom + 30, name, {anchor: "middle", size: 11, fill: "var(--quiet)"}));
    return nodes;
  }

  #curve({run, raw, shown, colour, dash}, x, y, axis, weight) {
    const path = (points) => {
      const drawn = thinned(points, mostPoints);
      return drawn.map((point, i) => `${i ? "L" : "M"}${round(x(point[axis]))} ${round(y(point.value))}`).join("");
    };
    const stroke = {fill: "none", stroke: colour, "stroke-linejoin": "round"};
    const nodes = [];
    if (weight > 0) nodes.push(svg("path", {...stroke, d: path(raw), "stroke-width": 1, "stroke-opacity": 0.28}));
    nodes.push(svg("path", {...stroke, d: path(shown), "stroke-width": 2, "stroke-dasharray": dash || null}));
    if (raw.length <= fewPoints && weight === 0) {
      nodes.push(...raw.map((point) =>
        svg("circle", {cx: x(point[axis]), cy: y(point.value), r: raw.length > 1 ? 2.2 : 3.5, fill: colour})));
    }
    const best = run.best(this.tag);
    if (best && raw.includes(best)) {
      nodes.push(svg("circle", {
        class: "board-best", cx: x(best[axis]), cy: y(best.value), r: 5.5, fill: "var(--paper)", stroke: colour, "stroke-width": 2.4,
      }));
    }
    return nodes;
  }

  #point(event) {
    const box = this.picture.getBoundingClientRect();
    if (!this.#curves.length || !this.x) return;
    this.#at = this.x.from(((event.clientX - box.left) * this.#size) / box.width);
    this.#showCursor();
    this.#board.tooltip.show(event.clientX, event.clientY, this.#lines());
  }

  #leave() {
    this.#at = null;
    this.cursor?.replaceChildren();
    this.#board.tooltip.hide();
  }

  #key(event) {
    const step = {ArrowLeft: -1, ArrowRight: 1}[event.key];
    if (!this.#curves.length || (!step && event.key !== "Escape")) return;
    event.preventDefault();
    if (!step) return this.#leave();
    const longest = this.#curves.reduce((a, b) => (b.shown.length > a.shown.length ? b : a)).shown;
    const points = thinned(longest, 60);
    const {axis} = this.x;
    const now = this.#at === null ? -1 : points.indexOf(pointAt(points, axis, this.#at));
    const next = Math.min(points.length - 1, Math.max(0, this.#at === null && step < 0 ? points.length - 1 : now + step));
    this.#at = points[next][axis];
    this.#showCursor();
    const box = this.picture.getBoundingClientRect();
    this.#board.tooltip.show(box.left + (this.x.to(this.#at) * box.width) / this.#size, box.top + 40, this.#lines());
    this.#board.announce(this.#lines().map((one) => [one].flat().join(" ")).join(", "));
  }

  // What the curves are at the cursor.
  #here() {
    return this.#curves.map((curve) => ({...curve, point: pointAt(curve.shown, this.x.axis, this.#at)}));
  }

  #showCursor() {
    const here = this.#here();
    const at = this.x.to(here[0].point[this.x.axis]);
    this.cursor.replaceChildren(
      line(at, margins.top, at, height - margins.bottom, "var(--cross)"),
      ...here.map(({point, colour}) => svg("circle", {
        cx: this.x.to(point[this.x.axis]), cy: this.y(point.value), r: 4, fill: colour, stroke: "var(--paper)", "stroke-width": 1.5,
      })));
  }

  #lines() {
    const here = this.#here();
    const {step, epoch, time} = here[0].point;
    return [`step ${number(step)} · epoch ${number(epoch)} · ${duration(time)}`,
      ...here.map(({run, point}) => [run.name, measure(point.value)])];
  }

  #description() {
    const told = this.#curves.map(({run, raw}) => {
      const best = run.best(this.tag);
      return `${run.name}: last ${measure(raw.at(-1).value)}` + (best ? `, best ${measure(best.value)} at epoch ${number(best.epoch)}` : "");
    });
    return `${titleOf(this.tag)} by ${this.#board.settings.get("x")}. ${told.join("; ")}`;
  }

  // The values as they are, whatever is smoothed or hidden by a logarithm.
  #numbers() {
    const rows = this.#runs.flatMap((run) =>
      (run.curves.get(this.tag) ?? []).map(({step, epoch, time, value}) => [run.name, step, epoch, time, value]));
    return [["run", "step", "epoch", "seconds", titleOf(this.tag)], ...rows];
  }

  #toggleTable() {
    this.table.hidden = !this.table.hidden;
    this.button.setAttribute("aria-expanded", String(!this.table.hidden));
    if (this.table.hidden) this.table.replaceChildren();
    else this.#fillTable();
  }

  async #fillTable() {
    const turn = ++this.#turn;
    const table = await numberTable(this.#numbers(), titleOf(this.tag), "all of them: CSV");
    if (turn === this.#turn && !this.table.hidden) this.table.replaceChildren(table);
  }

  #saveNumbers() {
    download(`${this.tag}.csv`, csvText(this.#numbers()), "text/csv");
  }

  #savePicture() {
    const legend = this.#curves.map(({run, colour}, i) => [
      svg("rect", {x: 0, y: height + 16 * i, width: 10, height: 10, fill: colour}),
      label(16, height + 16 * i + 5, run.name, {size: 12}),
    ]).flat();
    const nodes = [...[...this.picture.children].filter((node) => node !== this.cursor), ...legend];
    const title = titleOf(this.tag);
    const size = {width: this.#size, height: height + 16 * this.#curves.length};
    download(`${this.tag}.svg`, exportChart(nodes, {...size, title, description: this.#description()}), "image/svg+xml");
  }
}

function round(pixel) {
  return Math.round(pixel * 10) / 10;
}

function valueRange([low, high]) {
  const margin = high > low ? 0.05 * (high - low) : Math.abs(high) * 0.1 || 1;
  // What is never below 0 is not drawn as if it could be.
  const from = low >= 0 && low - margin < 0 ? 0 : low - margin;
  return {low: from, high: high + margin, ticks: ticks(from, high + margin, 4)};
}

function logRange([low, high]) {
  const [from, to] = high > low ? [low / 1.1, high * 1.1] : [low / 2, high * 2];
  const marks = [];
  for (let power = Math.floor(Math.log10(from)); power <= Math.log10(to); ++power)
    for (const factor of to / from > 300 ? [1] : to / from > 20 ? [1, 3] : [1, 2, 3, 5, 7])
      if (factor * 10 ** power >= from && factor * 10 ** power <= to) marks.push(Number((factor * 10 ** power).toPrecision(3)));
  return {low: from, high: to, ticks: marks.length > 1 ? marks : ticks(from, to, 4).filter((value) => value > 0)};
}
