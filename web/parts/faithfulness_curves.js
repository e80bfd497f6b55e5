// One deletion or insertion curve: a small chart of a few series, the values at a point that the pointer or
// the arrow keys choose, and the same numbers as a table for who cannot see it.
import {clear, element, svg} from "fovea/parts/dom.js";
import {number, percent} from "fovea/parts/format.js";
import {label, line, scale, ticks} from "fovea/parts/chart.js";
import {addLooks} from "fovea/parts/looks.js";

const width = 380;
const height = 240;
const plot = {left: 38, right: width - 8, top: 26, bottom: height - 44};
// Each series has its own dash besides its own colour.
const looks = {
  attention: {stroke: "var(--accent)", "stroke-width": 2.6},
  "gradient x input": {stroke: "var(--curve-second)", "stroke-width": 1.6, "stroke-dasharray": "7 3"},
  "leave one out": {stroke: "var(--curve-third)", "stroke-width": 1.6, "stroke-dasharray": "2 3"},
  random: {stroke: "var(--quiet)", "stroke-width": 1.6, "stroke-dasharray": "9 3 2 3"},
};
const otherLook = {stroke: "var(--curve-fourth)", "stroke-width": 1.6, "stroke-dasharray": "4 4"};

/** A figure for one entry of `curves`. */
export function curveFigure(curve) {
  addLooks(rules);
  return new CurveFigure(curve).element;
}

class CurveFigure {
  constructor(curve) {
    this.curve = curve;
    this.at = -1;  // the point that is read, -1 for none
    this.#measure();
    this.picture = svg("svg", {
      viewBox: `0 0 ${width} ${height}`, tabindex: 0, role: "img", "aria-label": this.#sentence(),
      on: {
        pointermove: (event) => this.#point(event), pointerleave: () => this.#read(-1),
        keydown: (event) => this.#key(event), blur: () => this.#read(-1),
      },
    });
    this.readout = element("output", {class: "curve-readout"});
    const legend = curve.series.map(({name}) =>
      element("span", {}, svg("svg", {width: 26, height: 8}, svg("path", {d: "M1 4h24", ...lookOf(name)})),
        element("bdi", {text: name})));
    this.element = element("figure", {class: "curve"},
      element("figcaption", {}, element("strong", {text: capital(curve.name)}),
        element("span", {class: "quiet", dir: "auto", text: curve.about})),
      element("div", {class: "curve-legend", "aria-hidden": "true"}, legend),
      this.picture, this.readout, this.#table());
    this.#draw();
  }

  #measure() {
    const {x, series} = this.curve;
    const values = series.flatMap((entry) => entry.values).filter(Number.isFinite);
    const [low, high] = values.length > 0 ? [Math.min(...values), Math.max(...values)] : [0, 1];
    const margin = (high - low || 1) * 0.05;
    this.yTicks = ticks(low - margin, high + margin, 4);
    this.x = scale(x[0], x.at(-1), plot.left, plot.right);
    this.y = scale(low - margin, high + margin, plot.bottom, plot.top);
  }

  #draw() {
    const lines = this.curve.series.map((entry) => this.#line(entry));
    clear(this.picture).append(...this.#axes(), ...lines, ...(this.at < 0 ? [] : this.#marks()));
  }

  #axes() {
    const {x} = this.curve;
    const quiet = {size: 11, fill: "var(--quiet)"};
    const across = this.yTicks.flatMap((value) => [line(plot.left, this.y(value), plot.right, this.y(value)),
      label(plot.left - 7, this.y(value), number(value), {...quiet, anchor: "end"})]);
    const anchor = (share) => (share === x.at(-1) ? "end" : "middle");
    const along = ticks(x[0], x.at(-1), 4).map((share) =>
      label(this.x(share), plot.bottom + 15, percent(share), {...quiet, anchor: anchor(share)}));
    const done = {deletion: "taken away", insertion: "put back"}[this.curve.name] ?? "changed";
    const titles = [
      label(0, 9, "the output", quiet),
      label(plot.right, height - 8, `share of the units that were ${done}`, {...quiet, anchor: "end"}),
    ];
    return [...across, ...along, ...titles];
  }

  // A gap breaks the line.
  #line({name, values}) {
    let [d, pen] = ["", "M"];
    values.forEach((value, index) => {
      if (Number.isFinite(value)) d += `${pen}${this.x(this.curve.x[index])} ${this.y(value)}`;
      pen = Number.isFinite(value) ? "L" : "M";
    });
    return svg("path", {d, fill: "none", "stroke-linejoin": "round", ...lookOf(name)});
  }

  #marks() {
    const x = this.x(this.curve.x[this.at]);
    const present = this.curve.series.filter(({values}) => Number.isFinite(values[this.at]));
    const dots = present.map(({name, values}) => svg("circle", {
      cx: x, cy: this.y(values[this.at]), r: 3.5, fill: lookOf(name).stroke, stroke: "var(--paper)",
    }));
    return [line(x, plot.top, x, plot.bottom, "var(--cross)"), ...dots];
  }

  #read(at) {
    if (at === this.at) return;
    this.at = at;
    this.#draw();
    const {x, series} = this.curve;
    const values = series.map((entry) => `${entry.name} ${number(entry.values[at])}`);
    this.readout.textContent = at < 0 ? "" : `At ${percent(x[at])}: ${values.join(", ")}`;
  }

  #point(event) {
    const box = this.picture.getBoundingClientRect();
    const wanted = ((event.clientX - box.left) / box.width) * width;
    const distances = this.curve.x.map((share) => Math.abs(this.x(share) - wanted));
    this.#read(distances.indexOf(Math.min(...distances)));
  }

  #key(event) {
    const step = {ArrowLeft: -1, ArrowRight: 1}[event.key];
    if (!step) return;
    event.preventDefault();
    this.#read(Math.max(0, Math.min(this.curve.x.length - 1, this.at + step)));
  }

  #sentence() {
    const {name, about, series} = this.curve;
    const ends = series.map((entry) =>
      `${entry.name} from ${number(entry.values[0])} to ${number(entry.values.at(-1))}`);
    return `${capital(name)} curve. ${about} ${ends.join("; ")}. The arrow keys read single points.`;
  }

  #table() {
    const {x, series} = this.curve;
    const heads = ["share", ...series.map(({name}) => name)];
    const rows = x.map((share, index) => element("tr", {},
      element("th", {scope: "row", text: percent(share)}),
      series.map(({values}) => element("td", {text: number(values[index])}))));
    return element("details", {class: "curve-numbers"}, element("summary", {text: "Numbers"}),
      element("table", {},
        element("thead", {}, element("tr", {}, heads.map((text) => element("th", {scope: "col", text})))),
        element("tbody", {}, rows)));
  }
}

function lookOf(name) {
  return looks[name] ?? otherLook;
}

function capital(text) {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

const rules = `
.curve {
  --curve-second: light-dark(#c75000, #f2944a); --curve-third: light-dark(#00795c, #2fc29b);
  --curve-fourth: light-dark(#a6417f, #e593c1);
  margin: 0; display: grid; gap: 0.5rem; align-content: start;
}
.curve figcaption { display: grid; font-size: 0.8667rem; }
.curve figcaption .quiet { font-size: 0.8rem; }
.curve > svg { width: 100%; border-radius: 4px; cursor: crosshair; }
.curve-legend { display: flex; flex-wrap: wrap; gap: 0.1rem 1rem; font-size: 0.8rem; color: var(--quiet); }
.curve-legend span { display: inline-flex; align-items: center; gap: 0.4rem; }
.curve-readout { min-height: 2.5em; font-size: 0.8rem; color: var(--label); }
.curve-readout:empty::before {
  content: "Point at the chart, or use the arrow keys, to read values."; color: var(--quiet);
}
.curve-numbers { font-size: 0.8rem; }
.curve-numbers summary { color: var(--quiet); cursor: pointer; }
.curve-numbers table { border-collapse: collapse; margin-top: 0.4rem; }
.curve-numbers th, .curve-numbers td { text-align: end; padding: 0.15rem 0.8rem 0.15rem 0; font-weight: 400; }
.curve-numbers thead th { color: var(--quiet); }
`;
