// Small multiples on one scale: a panel per query, in it the series of a group side by side for each key.
import {series as seriesColour} from "fovea/parts/colour.js";
import {clear, element, svg} from "fovea/parts/dom.js";
import {count, number, visible} from "fovea/parts/format.js";
import {matches} from "fovea/parts/search.js";
import {readBars} from "fovea/views/common/bar_rows.js";
import {legend, markEntries, swatch} from "fovea/parts/chart.js";
import {NumbersView} from "fovea/views/common/numbers_view.js";
import {drawPanel, keyAt, panelHeight} from "fovea/views/common/panel.js";

const folded = 24;
const mostPanels = 200;
const mostKeys = 80;
const narrowest = 270;
const space = 28;
const lineHeight = panelHeight + 18;

/** See web/README.md. */
export const view = {
  id: "panels",
  title: "Panels",
  fits(map, explanation) {
    const {queryAxis, keyAxis} = map;
    if (map.layout !== "dense" || queryAxis.size === 0 || keyAxis.size === 0 || keyAxis.size > mostKeys)
      return 0;
    if (explanation.familyOf(map).grouped) return 5;
    return queryAxis.size > 1 && map.layer === null && map.head === null ? 1 : 0;
  },
  mount(host, context) {
    return new Panels(host, context);
  },
};

class Panels extends NumbersView {
  constructor(host, context) {
    super(host, context, rules);
    this.maps = context.map.group ? context.maps : [context.map];
    this.rows = [];
    this.chart = this.chartPlace("panels-chart", {
      keydown: (event) => this.#key(event),
      click: (event) => this.#pick(this.#placeOf(event)),
      pointermove: (event) => this.#hover(event),
    });
    this.more = element("button", {
      type: "button",
      class: "panels-more",
      on: {click: () => context.set({zoom: this.#showsAll() ? "" : "all"})},
    });
    host.append(element("div", {class: "panels"}, this.chart, this.more));
    this.#read();
  }

  update(changed) {
    const onlyPlace = [...changed].every((key) => key === "query" || key === "key");
    if (changed.has("zoom")) this.#read();
    else if (onlyPlace) this.#moveChoice();
    else this.draw();
  }

  async *numbers() {
    const {queryAxis, keyAxis} = this.context.map;
    yield ["query", "key", "series", "weight", "low", "high", "truth"];
    for (const [query, label] of queryAxis.labels.entries()) {
      for (const [index, bars] of (await this.#readRow(query)).entries()) {
        for (const {key, weight, low, high, isTrue} of bars)
          yield [label, keyAxis.labels[key], this.maps[index].title, weight, orNone(low), orNone(high), isTrue];
      }
    }
  }

  describe() {
    const {queryAxis, keyAxis} = this.context.map;
    const names = this.maps.map(({title}) => title);
    const largest = this.rows
      .slice(0, 6)
      .map((row, query) => `${visible(queryAxis.labels[query])}: ${largestOf(row[0])}`);
    return (
      `Panels of ${names.join(" and ")}: ${count(queryAxis.size)} queries (${queryAxis.name}) over ` +
      `${count(keyAxis.size)} keys (${keyAxis.name}). Largest of ${names[0]}: ${largest.join("; ")}.`
    );
  }

  draw() {
    const width = Math.floor(this.chart.clientWidth);
    if (width === 0 || this.rows.length === 0) return;
    const columns = Math.max(
      1,
      Math.min(this.rows.length, Math.floor((width + space) / (narrowest + space))),
    );
    const entries = this.maps.map((map, index) => ({mark: swatch(seriesColour(index)), text: map.title}));
    const marks = legend([...entries, ...markEntries(this.context.map)], 0, 0, width);
    const top = marks.height + 18;
    const height = top + Math.ceil(this.rows.length / columns) * lineHeight;
    this.drawn = {
      width,
      height,
      top,
      columns,
      domain: this.#domain(),
      chosen: this.context.state.get("query"),
    };
    this.drawn.panelWidth = (width - (columns - 1) * space) / columns;
    this.drawn.panels = this.rows.map((_, query) => this.#panel(query));
    this.drawn.picture = svg("svg", {width, height, "aria-hidden": "true"}, marks.nodes, this.drawn.panels);
    clear(this.chart).append(this.drawn.picture);
    this.chart.setAttribute("aria-label", this.describe());
    this.#tellMore();
  }

  #showsAll() {
    return this.context.state.get("zoom") === "all";
  }

  #readRow(query) {
    return Promise.all(this.maps.map((map) => readBars(map, query)));
  }

  #read() {
    const shown = Math.min(this.#showsAll() ? mostPanels : folded, this.context.map.queryAxis.size);
    const queries = Array.from({length: shown}, (_, query) => query);
    this.read(
      () => Promise.all(queries.map((query) => this.#readRow(query))),
      (rows) => (this.rows = rows),
    );
  }

  // One scale for all panels, so that they can be compared.
  #domain() {
    let [low, high] = [0, 0];
    for (const bar of this.rows.flat(2)) {
      for (const value of [bar.weight, bar.low, bar.high]) {
        if (value < low) low = value;
        if (value > high) high = value;
      }
    }
    const least = this.context.state.get("threshold") * Math.max(-low, high);
    return high > low ? {low, high, least} : {low: 0, high: 1, least};
  }

  #panel(query) {
    const {map, state} = this.context;
    const {columns, panelWidth, top, domain} = this.drawn;
    const panel = drawPanel(this.rows[query], {
      title: visible(map.queryAxis.labels[query]),
      names: {up: map.valueName, across: visible(map.keyAxis.name)},
      width: panelWidth,
      domain,
      found: matches(map.keyAxis, state.get("search")),
      isChosen: state.get("query") === query,
      chosen: state.get("key"),
    });
    const x = (query % columns) * (panelWidth + space);
    const y = top + Math.floor(query / columns) * lineHeight;
    return svg("g", {transform: `translate(${x} ${y})`}, panel);
  }

  // Only the panels of the last choice and of this one change.
  #moveChoice() {
    if (!this.drawn) return;
    const next = this.context.state.get("query");
    for (const query of new Set([this.drawn.chosen, next])) {
      if (!this.drawn.panels[query]) continue;
      const panel = this.#panel(query);
      this.drawn.panels[query].replaceWith(panel);
      this.drawn.panels[query] = panel;
    }
    this.drawn.chosen = next;
  }

  #tellMore() {
    const {size} = this.context.map.queryAxis;
    const rest = size > mostPanels ? ` · … and ${count(size - mostPanels)} more in the CSV` : "";
    const fold = `Only the first ${folded}${rest}`;
    this.more.hidden = size <= folded;
    this.more.textContent = this.#showsAll() ? fold : `… and ${count(size - folded)} more`;
  }

  #placeOf(event) {
    if (!this.drawn) return null;
    const {columns, panelWidth, top} = this.drawn;
    const box = this.chart.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top - top];
    const column = Math.floor(x / (panelWidth + space));
    const query = Math.floor(y / lineHeight) * columns + column;
    const key = keyAt(x - column * (panelWidth + space), panelWidth, this.context.map.keyAxis.size);
    return y >= 0 && column < columns && this.rows[query] && key >= 0 ? {query, key} : null;
  }

  #lines({query, key}) {
    const bars = this.rows[query].map((series) => series[key]);
    const values = bars.map((bar, index) => [this.maps[index].title, rangeText(bar)]);
    const place = `${visible(this.context.map.queryAxis.labels[query])}, ${bars[0].label}`;
    return [place, ...values, ...(bars[0].isTrue ? ["known to matter"] : [])];
  }

  #hover(event) {
    const place = this.#placeOf(event);
    this.point(event, place && this.#lines(place));
  }

  #pick(place) {
    if (!place) return;
    this.context.set(place);
    this.say(this.#lines(place));
  }

  #key(event) {
    const {state, map} = this.context;
    const line = this.drawn?.columns ?? 0;
    const moves = {
      ArrowRight: [0, 1],
      ArrowLeft: [0, -1],
      ArrowDown: [line, 0],
      ArrowUp: [-line, 0],
      PageDown: [1, 0],
      PageUp: [-1, 0],
    };
    if (!line || !Object.hasOwn(moves, event.key)) return;
    event.preventDefault();
    const isFirst = state.get("query") < 0 || state.get("key") < 0;
    const [queries, keys] = isFirst ? [0, 0] : moves[event.key];
    const place = {
      query: Math.max(0, state.get("query")) + queries,
      key: Math.max(0, state.get("key")) + keys,
    };
    if (this.rows[place.query] && place.key >= 0 && place.key < map.keyAxis.size) this.#pick(place);
  }
}

function largestOf(bars) {
  const top = bars.reduce((best, bar) => (Math.abs(bar.weight) > (Math.abs(best.weight) || -1) ? bar : best));
  return `${top.label} (${number(top.weight)})`;
}

// A map without intervals has no gap there.
function orNone(end) {
  return Number.isNaN(end) ? null : end;
}

function rangeText({weight, low, high}) {
  const hasRange = Number.isFinite(low) && Number.isFinite(high);
  return hasRange ? `${number(weight)}  (${number(low)} … ${number(high)})` : number(weight);
}

const rules = `
.panels { display: grid; grid-template-columns: minmax(0, 1fr); gap: 0.9rem; }
.panels-chart { cursor: default; border-radius: 6px; min-height: 4rem; }
.panels-chart svg { display: block; }
.panels-chart:focus-visible { outline-offset: 6px; }
.panels-more { justify-self: start; }
`;
