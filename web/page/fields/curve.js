// A line of numbers as a chart that can be drawn into: with a mouse, a pen or a finger the line follows; with
// the keyboard left and right choose a step, up and down change it.

import {clear, element, svg} from "fovea/parts/dom.js";
import {number, shorten} from "fovea/parts/format.js";

const height = 150;
const margin = {left: 8, right: 8, top: 10, bottom: 10};

/** `options`: {changed(), valueText(step, value)}. */
export class Curve {
  #options;
  #values = [];
  #times = [];
  #low = 0;
  #high = 1;
  #step = 0;
  #drawing = null; // where the line was last touched
  #svg = svg("svg", {class: "curve-lines", "aria-hidden": "true"});
  #highest = element("span", {class: "curve-high"});
  #lowest = element("span", {class: "curve-low"});
  #title = element("bdi", {class: "curve-title"});
  #across = element("span");
  #first = element("bdi");
  #last = element("bdi");

  constructor(options) {
    this.#options = options;
    this.field = element(
      "div",
      {
        class: "curve-field",
        role: "slider",
        tabindex: 0,
        "aria-orientation": "vertical",
        on: {
          pointerdown: (event) => this.#begin(event),
          pointermove: (event) => this.#drag(event),
          pointerup: (event) => this.#end(event),
          pointercancel: (event) => this.#end(event),
          keydown: (event) => this.#key(event),
        },
      },
      this.#svg,
    );
    this.node = element(
      "div",
      {class: "curve-box"},
      this.#title,
      element("div", {class: "curve-scale", "aria-hidden": "true"}, this.#highest, this.#lowest),
      this.field,
      element("div", {class: "curve-steps", "aria-hidden": "true"}, this.#first, this.#across, this.#last),
    );
    new ResizeObserver(() => this.#draw()).observe(this.field);
  }

  get values() {
    return [...this.#values];
  }

  /** Shows other numbers; `name` is theirs, `times` what the steps are called, where that is known, and `time` what
      those names are. */
  show(values, name, times = [], time = "") {
    this.#values = [...values];
    this.#times = times;
    this.#title.textContent = name;
    this.#across.textContent = times.length > 0 && time ? time : "steps, the oldest first";
    this.field.setAttribute("aria-label", `${name}, drawn: left and right choose a step, up and down change it`);
    this.#step = Math.min(this.#step, Math.max(0, values.length - 1));
    this.#scale();
    this.#draw();
  }

  #scale() {
    const numbers = this.#values.filter(Number.isFinite);
    const low = numbers.length > 0 ? Math.min(...numbers) : 0;
    const high = numbers.length > 0 ? Math.max(...numbers) : 1;
    const room = (high - low) * 0.15 || Math.abs(high) * 0.5 || 1;
    [this.#low, this.#high] = [low - room, high + room];
  }

  #draw() {
    const wide = this.field.clientWidth;
    const count = this.#values.length;
    this.#tell();
    if (wide === 0) return;
    this.#svg.setAttribute("viewBox", `0 0 ${wide} ${height}`);
    const points = this.#values.map((value, step) => (Number.isFinite(value) ? `${this.#x(step, wide)},${this.#y(value)}` : null));
    const runs = points.reduce((all, point) => (point === null ? all.push([]) : all.at(-1).push(point), all), [[]]);
    const dots = count <= 60 ? points.filter(Boolean).map((point) => point.split(",")) : [];
    clear(this.#svg).append(
      ...runs.filter((run) => run.length > 0).map((run) => svg("polyline", {class: "curve-line", points: run.join(" ")})),
      ...dots.map(([cx, cy]) => svg("circle", {class: "curve-dot", cx, cy, r: 2.5})),
    );
    if (Number.isFinite(this.#values[this.#step])) {
      const [cx, cy] = points[this.#step].split(",");
      this.#svg.append(svg("circle", {class: "curve-chosen", cx, cy, r: 5}));
    }
    this.#highest.textContent = number(this.#high);
    this.#lowest.textContent = number(this.#low);
    this.#first.textContent = count > 0 ? shorten(this.#nameOf(0), 24) : "";
    this.#last.textContent = count > 1 ? shorten(this.#nameOf(count - 1), 24) : "";
  }

  #tell() {
    const value = this.#values[this.#step];
    const said = this.#values.length === 0 ? "no steps" : `${this.#nameOf(this.#step)} of ${this.#values.length}: ${number(value)}`;
    this.field.setAttribute("aria-valuetext", said);
    this.field.setAttribute("aria-valuenow", Number.isFinite(value) ? value : 0);
    this.field.setAttribute("aria-valuemin", this.#low);
    this.field.setAttribute("aria-valuemax", this.#high);
  }

  #nameOf(step) {
    return this.#times[step] ?? `step ${step + 1}`;
  }

  #x(step, wide) {
    const room = wide - margin.left - margin.right;
    return margin.left + (this.#values.length > 1 ? (step / (this.#values.length - 1)) * room : room / 2);
  }

  #y(value) {
    const room = height - margin.top - margin.bottom;
    return margin.top + ((this.#high - value) / (this.#high - this.#low)) * room;
  }

  #at({clientX, clientY}) {
    const box = this.field.getBoundingClientRect();
    const along = (clientX - box.left - margin.left) / Math.max(1, box.width - margin.left - margin.right);
    const down = (clientY - box.top - margin.top) / (height - margin.top - margin.bottom);
    const step = Math.round(Math.min(1, Math.max(0, along)) * (this.#values.length - 1));
    return {step, value: this.#high - Math.min(1, Math.max(0, down)) * (this.#high - this.#low)};
  }

  #begin(event) {
    if (this.#values.length === 0 || event.button !== 0) return;
    this.field.setPointerCapture(event.pointerId);
    this.#drawing = null;
    this.#move(event);
    this.field.focus();
  }

  #drag(event) {
    if (this.field.hasPointerCapture(event.pointerId)) this.#move(event);
  }

  // A quick stroke skips steps: those in between lie on the way.
  #move(event) {
    const to = this.#at(event);
    const from = this.#drawing ?? to;
    const way = Math.abs(to.step - from.step);
    for (let passed = 0; passed <= way; ++passed) {
      const share = way === 0 ? 1 : passed / way;
      const step = from.step + Math.sign(to.step - from.step) * passed;
      this.#values[step] = short(from.value + share * (to.value - from.value), this.#high - this.#low);
    }
    this.#drawing = to;
    this.#step = to.step;
    this.#draw();
    this.#options.changed();
  }

  #end(event) {
    if (!this.field.hasPointerCapture(event.pointerId)) return;
    this.field.releasePointerCapture(event.pointerId);
    this.#scale();
    this.#draw();
  }

  #key(event) {
    const along = {ArrowLeft: -1, ArrowRight: 1, Home: -this.#values.length, End: this.#values.length}[event.key];
    const up = {ArrowUp: 1, ArrowDown: -1, PageUp: 10, PageDown: -10}[event.key];
    if ((along === undefined && up === undefined) || this.#values.length === 0) return;
    event.preventDefault();
    if (along) {
      this.#step = Math.min(this.#values.length - 1, Math.max(0, this.#step + along));
      return this.#draw();
    }
    const range = this.#high - this.#low;
    const value = Number.isFinite(this.#values[this.#step]) ? this.#values[this.#step] : (this.#low + this.#high) / 2;
    this.#values[this.#step] = short(value + (up * range) / 50, range);
    if (this.#values[this.#step] > this.#high || this.#values[this.#step] < this.#low) this.#scale();
    this.#draw();
    this.#options.changed();
  }
}

/** A drawn number with as many digits as can be seen. */
function short(value, range) {
  const digits = Math.max(0, 3 - Math.floor(Math.log10(range || 1)));
  return Number(value.toFixed(Math.min(20, digits)));
}
