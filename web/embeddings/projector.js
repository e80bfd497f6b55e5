// Embeddings as points on a plane, their two principal components: search, zoom, neighbours, a table, saved pictures.
import {drawPoints, pointsSvg} from "fovea/embeddings/drawing.js";
import {onThemeChange, series} from "fovea/parts/colour.js";
import {clear, element} from "fovea/parts/dom.js";
import {csvText, download, svgToPng} from "fovea/parts/export.js";
import {count, number, percent, shorten, visible} from "fovea/parts/format.js";
import {addLooks} from "fovea/parts/looks.js";
import {menu} from "fovea/parts/menu.js";
import {numberTable} from "fovea/parts/number_table.js";
import {PanZoom} from "fovea/parts/panzoom.js";
import {Tooltip} from "fovea/parts/tooltip.js";

const mostGroups = 8;  // colours that can be told apart
const mostListed = 20;
const near = 12;  // pixels from a point that still mean it
const longest = 80;

/** Fills `host`; `value` as docs/formats/embeddings.md has it. */
export class Projector {
  #panzoom;
  #observer;
  #endTheme;
  #frame = 0;
  #tooltip = new Tooltip();

  constructor(host, value) {
    addLooks(rules);
    this.host = host;
    this.value = value;
    this.labels = value.labels.map((label) => shorten(visible(label), longest));
    this.lower = value.labels.map((label) => label.toLocaleLowerCase());
    this.chosen = -1;
    this.found = new Set();
    this.groups = commonGroups(value.groups);
    this.#build();
    this.#panzoom = new PanZoom(this.canvas, {panKeys: "shift", maximum: 200, onChange: () => this.#schedule()});
    this.#endTheme = onThemeChange(() => this.#redraw());
    this.#observer = new ResizeObserver(() => this.#resize());
    this.#observer.observe(this.frame);
    this.#showNeighbours();
  }

  /** Takes everything away. */
  destroy() {
    cancelAnimationFrame(this.#frame);
    this.#panzoom.destroy();
    this.#observer.disconnect();
    this.#endTheme();
    this.#tooltip.hide();
    clear(this.host);
  }

  get title() {
    const {run, task, name} = this.value;
    return `Embeddings of ${run || task}: ${name}`;
  }

  get caption() {
    const {of, numbers, labels} = this.value;
    const points = labels.length < of ? `the first ${count(labels.length)} of ${count(of)}` : count(of);
    return `${points} points of ${count(numbers)} numbers each, seen from where they differ most`;
  }

  /** The colour of a point: its group's. */
  colourOf(index) {
    if (!this.value.groups) return series(0);
    const place = this.groups.indexOf(this.value.groups[index]);
    return place < 0 ? "var(--quiet)" : series(place);
  }

  #build() {
    const button = (text, says, click) => element("button", {type: "button", text, "aria-label": says, on: {click}});
    this.search = element("input", {
      type: "search", "aria-label": "Find a point", placeholder: "Find a point",
      on: {input: () => this.#find(), keydown: (event) => event.key === "Enter" && this.#next(event.shiftKey ? -1 : 1)},
    });
    this.hits = element("span", {class: "quiet", role: "status"});
    this.canvas = element("canvas", {
      class: "projector-plot", tabindex: 0, role: "img",
      on: {
        click: (event) => this.#click(event), pointermove: (event) => this.#hover(event),
        pointerleave: () => this.#tooltip.hide(), keydown: (event) => this.#key(event),
      },
    });
    this.frame = element("div", {class: "projector-frame"}, this.canvas);
    this.side = element("section", {class: "projector-side", "aria-label": "Neighbours", "aria-live": "polite"});
    this.legend = element("ul", {class: "projector-legend", "aria-label": "Colours"});
    this.table = element("details", {class: "projector-table", on: {toggle: () => this.#fillTable()}},
      element("summary", {text: "Show as table"}));
    const save = menu("Save", [
      {title: "SVG", hint: "picture that scales", action: () => this.#saveSvg()},
      {title: "PNG", hint: "picture", action: () => this.#savePng()},
      {title: "CSV", hint: "points and groups", action: () => download(`${this.fileName}.csv`, csvText(this.#rows()), "text/csv")},
    ]);
    clear(this.host).append(element("article", {class: "projector"},
      element("header", {},
        element("h1", {dir: "auto", text: this.title}), element("p", {class: "quiet", text: this.caption})),
      element("div", {class: "projector-tools"}, this.search, this.hits,
        element("span", {class: "projector-zoom", role: "group", "aria-label": "Zoom"},
          button("−", "Zoom out", () => this.#panzoom.zoomBy(1 / 1.6)), button("+", "Zoom in", () => this.#panzoom.zoomBy(1.6)),
          button("Whole", "Whole: show all points", () => this.#panzoom.reset())), save),
      element("div", {class: "projector-body"}, element("div", {class: "projector-main"}, this.frame, this.legend), this.side),
      element("p", {class: "quiet projector-note"}, "Two directions hold only a part of what tells the points apart: what lies close here may be ",
        "far in the others. Neighbours are of all numbers, by the cosine of the angle between two points."),
      this.table));
    this.#fillLegend();
    this.canvas.setAttribute("aria-label", this.#sentence());
  }

  get fileName() {
    return `${this.value.run || this.value.task || "fovea"}-embeddings-${this.value.name}`;
  }

  /** What is drawn, on screen and saved. */
  picture() {
    const [first, second] = this.value.explained;
    return {
      points: this.value.points, labels: this.labels, colourOf: (index) => this.colourOf(index),
      chosen: this.chosen, found: this.found, near: new Set(this.#neighbours().map(([index]) => index)),
      axes: [`component 1: ${percent(first)} of the variance`, `component 2: ${percent(second)} of the variance`],
      width: this.width, height: this.height, panzoom: this.#panzoom,
    };
  }

  #resize() {
    this.width = Math.floor(this.frame.clientWidth);
    if (this.width === 0) return;
    this.height = Math.max(280, Math.min(Math.round(this.width * 0.72), window.innerHeight - 220));
    const ratio = window.devicePixelRatio || 1;
    [this.canvas.width, this.canvas.height] = [this.width * ratio, this.height * ratio];
    this.canvas.style.height = `${this.height}px`;
    this.#panzoom.setSize(this.width, this.height, this.width, this.height);
    this.#draw();
  }

  #redraw() {
    this.#fillLegend();
    this.#draw();
  }

  #schedule() {
    this.#frame ||= requestAnimationFrame(() => this.#draw());
  }

  #draw() {
    cancelAnimationFrame(this.#frame);
    this.#frame = 0;
    if (!this.width) return;
    this.places = drawPoints(this.canvas, this.picture());
  }

  #neighbours() {
    return this.chosen < 0 ? [] : this.value.neighbours[this.chosen];
  }

  #choose(index) {
    this.chosen = index;
    if (index >= 0) this.#reveal(index);
    this.#showNeighbours();
    this.#draw();
  }

  #reveal(index) {
    const [x, y] = this.places[index];
    const margin = 30;
    const inside = x > margin && y > margin && x < this.width - margin && y < this.height - margin;
    if (!inside) this.#panzoom.panBy(this.width / 2 - x, this.height / 2 - y);
  }

  #showNeighbours() {
    if (this.chosen < 0) {
      clear(this.side).append(element("p", {class: "quiet", text: "Choose a point, or find one by its name, to see its nearest neighbours."}));
      return;
    }
    const entry = ([index, cosine]) => element("li", {},
      element("button", {type: "button", class: "projector-neighbour", on: {click: () => this.#choose(index)}}, element("bdi", {text: this.labels[index]})),
      element("span", {class: "projector-cosine", text: number(cosine)}));
    const group = this.value.groups?.[this.chosen];
    clear(this.side).append(
      element("h2", {}, "Nearest to ", element("bdi", {text: this.labels[this.chosen]})),
      group ? element("p", {class: "quiet", dir: "auto", text: visible(group)}) : "",
      element("p", {class: "quiet projector-head"}, element("span", {text: "label"}), element("span", {text: "cosine"})),
      element("ol", {}, this.#neighbours().map(entry)));
  }

  #find() {
    const wanted = this.search.value.trim().toLocaleLowerCase();
    this.found = new Set();
    if (wanted) this.lower.forEach((label, index) => label.includes(wanted) && this.found.add(index));
    this.hits.textContent = wanted ? `${count(this.found.size)} found${this.found.size > 0 ? "; Enter chooses the next" : ""}` : "";
    this.#draw();
  }

  // Those that are the text itself come first.
  #next(direction) {
    const wanted = this.search.value.trim().toLocaleLowerCase();
    const order = [...this.found].sort((a, b) => (this.lower[b] === wanted) - (this.lower[a] === wanted) || a - b);
    if (order.length === 0) return;
    const at = order.indexOf(this.chosen);
    this.#choose(order[at < 0 ? 0 : (at + direction + order.length) % order.length]);
  }

  #pointAt(event) {
    const box = this.canvas.getBoundingClientRect();
    return nearest(this.places, [event.clientX - box.left, event.clientY - box.top], near);
  }

  #click(event) {
    if (!this.#panzoom.moved) this.#choose(this.#pointAt(event));
  }

  #hover(event) {
    const index = this.#panzoom.pointers.size > 0 ? -1 : this.#pointAt(event);
    if (index < 0) return this.#tooltip.hide();
    const group = this.value.groups?.[index];
    this.#tooltip.show(event.clientX, event.clientY, [this.labels[index], ...(group ? [["group", visible(group)]] : [])]);
  }

  // Arrows go from the chosen point to the next one on that side; with Shift they move the picture.
  #key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
    const way = {ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1]}[event.key];
    if (event.key === "Escape") this.#choose(-1);
    else if (way) this.#choose(this.chosen < 0 ? nearest(this.places, [this.width / 2, this.height / 2], Infinity) : beside(this.places, this.chosen, way));
    else return;
    event.preventDefault();
  }

  #fillLegend() {
    this.legend.hidden = this.groups.length === 0;
    const entry = (colour, text) => element("li", {}, element("span", {class: "projector-swatch", style: {background: colour}}), element("bdi", {text}));
    const others = new Set(this.value.groups ?? []).size > this.groups.length;
    clear(this.legend).append(...this.groups.map((group, place) => entry(series(place), visible(group))),
      ...(others ? [entry("var(--quiet)", "others")] : []));
  }

  *#rows() {
    const {labels, groups, points} = this.value;
    yield ["label", ...(groups ? ["group"] : []), "component 1", "component 2"];
    for (let i = 0; i < labels.length; ++i) yield [labels[i], ...(groups ? [groups[i]] : []), ...points[i]];
  }

  async #fillTable() {
    if (!this.table.open || this.table.querySelector("table")) return;
    const table = await numberTable(this.#rows(), "Points", "all of them: Save, CSV");
    this.table.append(element("div", {class: "number-table-place", tabindex: 0, role: "region", "aria-label": "Points"}, table));
  }

  #sentence() {
    const [first, second] = this.value.explained;
    const groups = this.groups.length > 0 ? ` Coloured by group: ${this.groups.slice(0, mostListed).map(visible).join(", ")}.` : "";
    return `${this.title}. ${this.caption}: component 1 holds ${percent(first)} of the variance, component 2 ${percent(second)}.${groups}`;
  }

  #svg() {
    return pointsSvg(this.picture(), {title: this.title, description: this.#sentence(), groups: this.groups});
  }

  #saveSvg() {
    download(`${this.fileName}.svg`, this.#svg(), "image/svg+xml");
  }

  async #savePng() {
    download(`${this.fileName}.png`, await svgToPng(this.#svg()));
  }
}

// The most frequent groups, in the order of their names.
function commonGroups(groups = []) {
  const counts = new Map();
  for (const group of groups) counts.set(group, (counts.get(group) ?? 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1]).slice(0, mostGroups).map(([group]) => group).sort();
}

// The place nearest to (x, y) within `reach`, or -1.
function nearest(places, [x, y], reach) {
  let best = -1;
  let least = reach;
  places.forEach(([px, py], index) => {
    const distance = Math.hypot(px - x, py - y);
    if (distance <= least) [best, least] = [index, distance];
  });
  return best;
}

// The nearest place that lies more that way than aside; the same one where there is none.
function beside(places, from, [dx, dy]) {
  const [x, y] = places[from];
  let best = from;
  let least = Infinity;
  places.forEach(([px, py], index) => {
    const along = (px - x) * dx + (py - y) * dy;
    const aside = Math.abs((px - x) * dy) + Math.abs((py - y) * dx);
    const distance = along + aside;
    if (index !== from && along > 0 && along >= aside && distance < least) [best, least] = [index, distance];
  });
  return best;
}

const rules = `
.projector { display: grid; grid-template-columns: minmax(0, 1fr); gap: 1rem; }
.projector h1 { font-size: 1.5rem; overflow-wrap: anywhere; }
.projector h2 { font-size: 1rem; overflow-wrap: anywhere; }
.projector-models, .projector-tools { display: flex; flex-wrap: wrap; align-items: center; gap: 0.5rem 1rem; }
.projector-models { margin-bottom: 1rem; }
.projector-models .field { flex-wrap: wrap; min-width: 0; }
.projector-models select { max-width: 100%; }
.projector-tools input { flex: 0 1 16rem; min-width: 8rem; }
.projector-zoom { display: inline-flex; gap: 0.25rem; }
.projector-body { display: grid; grid-template-columns: minmax(0, 1fr) 17rem; gap: 1.5rem; }
@media (max-width: 52rem) { .projector-body { grid-template-columns: minmax(0, 1fr); } }
.projector-main { display: grid; grid-template-columns: minmax(0, 1fr); gap: 0.5rem; align-content: start; }
.projector-frame { min-width: 0; border: 1px solid var(--rule); border-radius: 6px; overflow: hidden; }
.projector-plot { display: block; width: 100%; cursor: crosshair; }
.projector-plot:focus-visible { outline-offset: -2px; }
.projector-legend { display: flex; flex-wrap: wrap; gap: 0.25rem 1rem; margin: 0; padding: 0; list-style: none; font-size: 0.8667rem; overflow-wrap: anywhere; }
.projector-swatch { display: inline-block; width: 0.7rem; height: 0.7rem; margin-inline-end: 0.4rem; border-radius: 50%; }
.projector-side ol { display: grid; gap: 0.15rem; margin: 0.25rem 0 0; padding-inline-start: 1.6rem; }
.projector-side li::marker { color: var(--quiet); font-size: 0.8rem; }
.projector-side li { overflow-wrap: anywhere; }
.projector-head { display: flex; justify-content: space-between; margin-top: 0.5rem; padding-inline-start: 1.6rem; font-size: 0.8rem; }
.projector-neighbour { max-width: calc(100% - 4rem); min-height: 1.75rem; padding: 0.1rem 0.4rem; border-color: transparent; background: none; color: var(--accent); text-align: start; }
.projector-cosine { float: inline-end; padding-top: 0.2rem; color: var(--label); }
.projector-note { max-width: 46rem; font-size: 0.8667rem; }
.projector-table summary { cursor: pointer; color: var(--accent); }
.projector-table .number-table-place { overflow: auto; max-height: 24rem; margin-top: 0.5rem; border: 1px solid var(--rule); }
`;
