// What the chosen weight is made of, where scores are dot products: query x key by dimension, what is added, the
// score, the weight; and what each dimension does over all keys of the query. Told by `ask`, or by the explanation
// itself, which may hold some (query_keys).
import {legend} from "fovea/parts/chart.js";
import {onThemeChange} from "fovea/parts/colour.js";
import {clear, element, svg} from "fovea/parts/dom.js";
import {count, number, visible} from "fovea/parts/format.js";
import {addLooks} from "fovea/parts/looks.js";
import {numberTable} from "fovea/parts/number_table.js";
import {drawBarRows, signEntries} from "fovea/views/common/bar_rows.js";
import {Choice} from "fovea/views/common/choice.js";

const folded = 12;
const headLine = 20;
const patience = 250;  // milliseconds that a cell stays chosen before it is asked for
const orders = [{value: "size", text: "By size"}, {value: "natural", text: "In order"}];
const subjects = [{value: "weight", text: "This weight"}, {value: "row", text: "All keys of this query"}];
const elsewhere = "Choose the cell on the page of “fovea serve”, or name it to “fovea explain --query-key”, to see the " +
  "query and the key that made this weight, dimension by dimension.";

/** The panel below the picture. `ask(place, signal)` promises what docs/formats/http.md says of a weight; null: nobody
    can be asked. */
export class QueryKeyPanel {
  #explanation;
  #ask;
  #flight = null;
  #timer = 0;
  #asked = "";
  #made = null;
  #options = {order: "size", subject: "weight", all: false};
  #endTheme;
  #observer;

  constructor(explanation, ask) {
    addLooks(rules);
    this.#explanation = explanation;
    this.#ask = ask;
    this.title = element("h3", {class: "making-title", text: "What this weight is made of"});
    this.sentence = element("p", {class: "making-sentence", "aria-live": "polite", dir: "auto"});
    this.subject = new Choice("What the bars show", subjects, (subject) => this.#choose({subject}));
    this.order = new Choice("Order of the dimensions", orders, (order) => this.#choose({order}));
    this.chart = element("div", {class: "making-chart", role: "img"});
    this.sum = element("span", {class: "quiet"});
    this.more = element("button", {type: "button", class: "making-more", on: {click: () => this.#choose({all: !this.#options.all})}});
    this.table = element("details", {class: "making-table", on: {toggle: () => this.#fillTable()}},
      element("summary", {text: "Show as table"}));
    this.body = element("div", {class: "making-body"},
      element("div", {class: "making-tools"}, this.subject.element, this.order.element), this.chart,
      element("div", {class: "making-tools"}, this.more, this.sum), this.table);
    this.node = element("section", {class: "making", role: "group", "aria-label": "What this weight is made of", hidden: true},
      this.title, this.sentence, this.body);
    this.#endTheme = onThemeChange(() => this.#draw());
    this.#observer = new ResizeObserver(() => this.#draw());
    this.#observer.observe(this.chart);
  }

  /** Shows what is known of that cell of the map; nothing where none is chosen or the map has no queries and keys. */
  show(map, {query, key}) {
    const isChosen = Boolean(map?.products) && query >= 0 && key >= 0;
    this.node.hidden = !isChosen;
    const place = isChosen && {
      map: map.name, ...(map.layer && {layer: map.layer}), ...(map.head && {head: map.head}), query, key,
    };
    const asked = JSON.stringify(place);
    if (asked === this.#asked) return;
    this.#stop();
    this.#asked = asked;
    if (!isChosen) return;
    const held = this.#explanation.value.query_keys?.find((made) => isOf(made, place));
    if (held) this.#take(held);
    else if (!this.#ask) this.#tell(elsewhere);
    else this.#timer = setTimeout(() => this.#fetch(place), patience);
  }

  /** Takes the panel away. */
  destroy() {
    this.#stop();
    this.#endTheme();
    this.#observer.disconnect();
  }

  #stop() {
    clearTimeout(this.#timer);
    this.#flight?.abort();
    this.#flight = null;
  }

  async #fetch(place) {
    const flight = new AbortController();
    this.#flight = flight;
    this.node.setAttribute("aria-busy", "true");
    try {
      const made = await this.#ask(place, flight.signal);
      if (this.#flight === flight) this.#take(made);
    } catch (error) {
      if (this.#flight === flight) this.#tell(`This cannot be told: ${error.message}`);
    } finally {
      this.node.removeAttribute("aria-busy");
    }
  }

  #tell(text) {
    this.#made = null;
    this.sentence.textContent = text;
    this.body.hidden = true;
  }

  #take(made) {
    this.#made = made;
    this.body.hidden = false;
    clear(this.sentence).append(...sentenceOf(made));
    this.#choose({});
  }

  #choose(partial) {
    Object.assign(this.#options, partial);
    this.subject.select(this.#options.subject);
    this.order.select(this.#options.order);
    this.#draw();
    this.#fillTable();
  }

  // All bars, in the chosen order.
  #bars() {
    const {products, scale, terms, row} = this.#made;
    const isRow = this.#options.subject === "row";
    const parts = isRow ? row.lift : products.map((product) => product * scale);
    const bars = parts.map((weight, key) => ({key, weight, label: `dimension ${key + 1}`, value: null}));
    if (!isRow) terms.forEach(({name, value}, index) => bars.push({key: parts.length + index, weight: value, label: name, value: null}));
    return this.#options.order === "size" ? bars.sort((a, b) => Math.abs(b.weight) - Math.abs(a.weight)) : bars;
  }

  #draw() {
    const width = Math.floor(this.chart.clientWidth);
    if (!this.#made || this.node.hidden || width === 0) return;
    const bars = this.#bars();
    const shown = this.#options.all ? bars : bars.slice(0, folded);
    const what = this.#options.subject === "row" ? "lift" : "part of the score";
    const drawn = drawBarRows(shown, {width, top: headLine, signed: true, heads: {label: "dimension", weight: what}});
    const bottom = headLine + drawn.height + 10;
    const marks = legend(signEntries({kind: "contribution", total: "score"}), 8, bottom, width - 16);
    const sum = `${this.#options.subject === "row" ? "All lifts" : "All parts"}: ${number(total(bars))}`;
    clear(this.chart).append(svg("svg", {width, height: bottom + marks.height, "aria-hidden": "true"}, drawn.nodes, marks.nodes));
    this.sum.textContent = sum;
    this.chart.setAttribute("aria-label", `${sum}. Largest: ${largest(bars).map(({label: name, weight}) => `${name}: ${number(weight)}`).join("; ")}.`);
    this.more.hidden = bars.length <= folded;
    this.more.textContent = this.#options.all ? `Show the first ${folded}` : `Show all ${count(bars.length)}`;
    this.more.setAttribute("aria-expanded", String(this.#options.all));
  }

  async #fillTable() {
    if (!this.table.open || !this.#made) return;
    const made = this.#made;
    const table = await numberTable(rowsOf(made), "Query and key by dimension");
    if (made !== this.#made) return;
    this.table.querySelector(".number-table-place")?.remove();
    this.table.append(element("div", {class: "number-table-place", tabindex: 0, role: "region", "aria-label": "Query and key by dimension"}, table));
  }
}

function* rowsOf({query, key, products, scale, row}) {
  yield ["dimension", "query", "key", "query × key", "part of the score", "lift over all keys"];
  for (let d = 0; d < products.length; ++d) yield [String(d + 1), query.vector[d], key.vector[d], products[d], products[d] * scale, row.lift[d]];
}

function isOf(made, place) {
  const same = (name) => (made[name] ?? null) === (place[name] ?? null);
  return same("map") && same("layer") && same("head") && made.query.index === place.query && made.key.index === place.key;
}

function sentenceOf({query, key, dot, scale, terms, score, normaliser, weight, visible: isVisible, factor, row}) {
  const bold = (text) => element("strong", {}, element("bdi", {text: visible(text)}));
  const added = terms.map(({name, value}) => ` ${value < 0 ? "−" : "+"} ${number(Math.abs(value))} (${name})`).join("");
  const made = `: query · key ${number(dot)} × ${number(scale)}${added} = score ${number(score)}`;
  const seen = row.scores.filter((one) => one !== null).length;
  const becomes = isVisible
    ? ` → ${normaliser} over the ${count(seen)} keys that it may look at${factor ? ` × ${number(factor)}` : ""} → weight ${number(weight)}.`
    : ". A mask hides this key, so its weight is 0.";
  return [bold(query.label), " to ", bold(key.label), made, becomes];
}

function total(bars) {
  return bars.reduce((sum, {weight}) => sum + weight, 0);
}

function largest(bars) {
  return [...bars].sort((a, b) => Math.abs(b.weight) - Math.abs(a.weight)).slice(0, 3);
}

const rules = `
.making { display: grid; grid-template-columns: minmax(0, 1fr); gap: 0.6rem; padding-top: 0.75rem; border-top: 1px solid var(--rule); }
.making-title { font-size: 1rem; }
.making-sentence { max-width: 60rem; overflow-wrap: anywhere; }
.making-body { display: grid; grid-template-columns: minmax(0, 1fr); gap: 0.6rem; }
.making-tools { display: flex; flex-wrap: wrap; align-items: center; gap: 0.5rem 1rem; }
.making-chart { min-width: 0; max-width: 52rem; }
.making-chart svg { display: block; }
.making-table summary { cursor: pointer; color: var(--accent); }
.making-table .number-table-place { overflow: auto; max-height: 24rem; margin-top: 0.5rem; border: 1px solid var(--rule); }
`;
