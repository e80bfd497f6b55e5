// One row of a map as horizontal bars, by size or in their own order; many are folded to the largest 30.
import {clear, element, svg} from "fovea/parts/dom.js";
import {count, number, visible} from "fovea/parts/format.js";
import {equalShare} from "fovea/parts/scale.js";
import {matches} from "fovea/parts/search.js";
import {
  barLines,
  barSentence,
  drawBarRows,
  equalMark,
  readBars,
  signEntries,
} from "fovea/views/common/bar_rows.js";
import {legend, markEntries} from "fovea/parts/chart.js";
import {Choice, chosenQuery, queryChoice} from "fovea/views/common/choice.js";
import {NumbersView} from "fovea/views/common/numbers_view.js";

const folded = 30;
const headLine = 20;
const mostRows = 500;
const fewQueries = 12;
const orders = [
  {value: "size", text: "By size"},
  {value: "natural", text: "In order"},
];
const kindsInOrder = new Set(["position", "step", "frame", "visit"]);

/** See web/README.md. */
export const view = {
  id: "bars",
  title: "Bars",
  fits(map) {
    if (map.layout !== "dense" || map.keyAxis.size === 0 || map.queryAxis.size === 0) return 0;
    if (map.queryAxis.size === 1) return 3;
    return map.queryAxis.size <= fewQueries ? 1.5 : 1;
  },
  mount(host, context) {
    return new Bars(host, context);
  },
};

class Bars extends NumbersView {
  constructor(host, context) {
    super(host, context, rules);
    this.bars = [];
    this.order = new Choice("Order of the bars", orders, (order) => this.#choose({order}));
    this.queries = queryChoice(context);
    this.chart = this.chartPlace("bars-chart", {
      keydown: (event) => this.#key(event),
      click: (event) => this.#pick(this.#barAt(event)),
      pointermove: (event) => this.#hover(event),
    });
    this.more = element("button", {
      type: "button",
      class: "bars-more",
      on: {click: () => this.#choose({all: !this.options.all})},
    });
    const tools = element("div", {class: "bars-tools"}, this.queries?.element, this.order.element);
    host.append(element("div", {class: "bars"}, tools, this.chart, this.more));
    this.#read();
  }

  update(changed) {
    const onlyKey = changed.size === 1 && changed.has("key");
    if (changed.has("query")) this.#read();
    else if (!onlyKey || !this.#highlight()) this.draw();
  }

  // The columns that say nothing are left out of the table.
  async *numbers(whole) {
    const {labels} = this.context.map.keyAxis;
    const bars = await readBars(this.context.map, chosenQuery(this.context));
    const columns = [
      ["key", ({key}) => key],
      ["label", ({key}) => labels[key]],
      ["value", ({value}) => value],
      ["weight", ({weight}) => weight],
      ["low", ({low}) => low],
      ["high", ({high}) => high],
      ["truth", ({isTrue}) => isTrue],
    ];
    const says = ([name, of]) => ["label", "weight"].includes(name) || bars.some((bar) => of(bar) || of(bar) === 0);
    const shown = whole ? columns : columns.slice(1).filter(says);
    yield shown.map(([name]) => name);
    const inOrder = whole || this.options.order === "natural";
    for (const bar of inOrder ? bars : this.#bySize(bars)) yield shown.map(([, of]) => of(bar));
  }

  describe() {
    const {title, queryAxis, keyAxis} = this.context.map;
    const largest = this.#bySize().slice(0, 3).map(barSentence).join("; ") || "none";
    const who = visible(queryAxis.labels[chosenQuery(this.context)]);
    return `Bars: ${title}. ${who} over ${count(keyAxis.size)} keys (${keyAxis.name}). Largest: ${largest}.`;
  }

  draw() {
    const {map} = this.context;
    const width = Math.floor(this.chart.clientWidth);
    if (width === 0 || this.bars.length === 0) return;
    const shown = this.#shown();
    const signed = map.kind === "contribution" || this.bars.some(({weight}) => weight < 0);
    const equal = signed ? 0 : equalShare(map, map.keyAxis.size);
    const heads = {label: visible(map.keyAxis.name), weight: map.valueName};
    const drawn = drawBarRows(shown.rows, {width, top: headLine, signed, found: this.#found(), heads, equal});
    const equalText = `${number(equal)}: all ${count(map.keyAxis.size)} looked at alike`;
    const entries = [
      ...(signed ? signEntries(map) : []),
      ...(equal > 0 ? [{mark: equalMark, text: equalText}] : []),
      ...markEntries(map),
    ];
    const bottom = headLine + drawn.height + 10;
    const marks = legend(entries, 8, bottom, width - 16);
    const height = bottom + marks.height;
    const picture = svg("svg", {width, height, "aria-hidden": "true"}, drawn.nodes, marks.nodes);
    this.drawn = {...drawn, rows: shown.rows, width, height, picture, highlighted: null};
    clear(this.chart).append(picture);
    this.chart.setAttribute("aria-label", this.describe());
    this.order.select(this.options.order);
    this.queries?.select(chosenQuery(this.context));
    this.#highlight();
    this.#tellMore(shown);
  }

  // Order and unfolding are this view's own and live in the state's `zoom`.
  get options() {
    const words = this.context.state.get("zoom").split(" ");
    const isNatural = kindsInOrder.has(this.context.map.keyAxis.kind) && !words.includes("size");
    return {order: isNatural || words.includes("natural") ? "natural" : "size", all: words.includes("all")};
  }

  #choose(partial) {
    const {order, all} = {...this.options, ...partial};
    this.context.set({zoom: all ? `${order} all` : order});
  }

  #read() {
    this.read(
      () => readBars(this.context.map, chosenQuery(this.context)),
      (bars) => (this.bars = bars),
    );
  }

  #bySize(bars = this.bars) {
    const size = ({weight}) => (Number.isFinite(weight) ? Math.abs(weight) : -1);
    return [...bars].sort((a, b) => size(b) - size(a) || a.key - b.key);
  }


  #found() {
    return matches(this.context.map.keyAxis, this.context.state.get("search"));
  }

  // The largest ones, whatever was searched for or chosen, and how many others there are.
  #shown() {
    const {state} = this.context;
    const {order, all} = this.options;
    const sorted = this.#bySize();
    const least = state.get("threshold") * Math.abs(sorted[0].weight);
    const above = least > 0 ? sorted.filter(({weight}) => Math.abs(weight) >= least) : sorted;
    const wanted = new Set([state.get("key"), ...this.#found()]);
    const keepsZeros = all || sorted.length <= folded;
    const isShown = ({key, weight}, place) =>
      (place < (all ? mostRows : folded) && (weight !== 0 || keepsZeros)) || wanted.has(key);
    const rows = above.filter(isShown).slice(0, mostRows);
    if (order === "natural") rows.sort((a, b) => a.key - b.key);
    return {rows, more: above.length - rows.length, below: sorted.length - above.length};
  }

  #tellMore({rows, more, below}) {
    const isFull = this.options.all && rows.length > folded;
    const texts = [
      isFull ? `Only the ${folded} largest` : "",
      more > 0 ? `… and ${count(more)} more${isFull ? " in the CSV" : ""}` : "",
      below > 0 ? `${count(below)} below the threshold` : "",
    ];
    this.more.textContent = texts.filter(Boolean).join(" · ");
    this.more.hidden = this.more.textContent === "";
    this.more.disabled = more === 0 && !isFull;
  }

  // Whether the chosen bar is among those drawn, or none is chosen.
  #highlight() {
    if (!this.drawn) return false;
    const key = this.context.state.get("key");
    const next = this.drawn.highlightOf(key);
    this.drawn.highlighted?.remove();
    if (next) this.drawn.picture.prepend(next);
    this.drawn.highlighted = next;
    return next !== null || key < 0;
  }

  #barAt(event) {
    return this.drawn?.barAt(event.clientY - this.chart.getBoundingClientRect().top);
  }

  #hover(event) {
    const bar = this.#barAt(event);
    this.point(event, bar && barLines(bar, this.context.map));
  }

  #pick(bar) {
    if (!bar) return;
    this.context.set({key: bar.key});
    this.context.announce(barSentence(bar));
  }

  #key(event) {
    const rows = this.drawn?.rows ?? [];
    const at = rows.findIndex(({key}) => key === this.context.state.get("key"));
    const targets = {ArrowDown: at + 1, ArrowUp: Math.max(0, at - 1), Home: 0, End: rows.length - 1};
    if (!Object.hasOwn(targets, event.key)) return;
    event.preventDefault();
    this.#pick(rows[Math.min(targets[event.key], rows.length - 1)]);
  }
}

const rules = `
.bars { display: grid; grid-template-columns: minmax(0, 1fr); gap: 0.9rem; max-width: 60rem; }
.bars-tools { display: grid; grid-template-columns: minmax(0, 1fr); gap: 0.8rem; justify-items: start; }
.bars-chart { cursor: default; border-radius: 6px; min-height: 4rem; }
.bars-chart svg { display: block; }
.bars-chart:focus-visible { outline-offset: 4px; }
.bars-more { justify-self: start; }
`;
