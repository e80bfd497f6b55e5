// By what the picture is coloured: the attention, gradient x input, or what happens without each unit; and the three
// side by side, as bars in a table.
import {attention, importancesOf, opinionsOn} from "fovea/model/importances.js";
import {clear, element} from "fovea/parts/dom.js";
import {count, number, visible} from "fovea/parts/format.js";
import {addLooks} from "fovea/parts/looks.js";
import {Choice} from "fovea/views/common/choice.js";

const mostRows = 30;
const names = {attention: "Attention", "gradient x input": "Gradient × input", "leave one out": "Leave one out"};
const meanings = {
  attention: () => "The weights: where the model looked.",
  "gradient x input": () => "How strongly the output reacts to each unit, |gradient × input|, while the attention is held still.",
  "leave one out": ({output}) => `How far the output moves when one unit is taken away${output ? ` (the ${output})` : ""}.`,
};

/** Stands above the picture where there is a choice. `choose(opinion)` colours by another. */
export class Colouring {
  #choose;
  #shown = {};
  #order = null;  // the opinion whose largest stand first; null: the units' own order
  #all = false;
  #isOpen = false;

  constructor(choose) {
    addLooks(rules);
    this.#choose = choose;
    this.node = element("div", {class: "colouring", hidden: true});
  }

  /** `map` with its weights, `entry` of its faithfulness, the `opinion` that it is coloured by, the chosen `query`. */
  show(map, entry, opinion, query) {
    const others = map ? opinionsOn(entry, map) : [];
    this.node.hidden = others.length === 0;
    const same = this.#shown.map === map && this.#shown.entry === entry;
    this.#shown = {map, entry, opinion, query};
    if (this.node.hidden) return this.node.replaceChildren();
    if (!same) this.#build(others);
    this.choice.select(opinion);
    this.meaning.textContent = meanings[opinion]?.(entry) ?? "";
    this.#fill();
  }

  #build(others) {
    const options = [attention, ...others].map((value) => ({value, text: names[value] ?? value}));
    this.choice = new Choice("Colour by", options, this.#choose);
    this.meaning = element("span", {class: "quiet"});
    this.place = element("div", {
      class: "colouring-place", role: "region", "aria-label": "Attention, gradient and leaving out side by side", tabindex: 0,
    });
    const details = element("details", {open: this.#isOpen, on: {toggle: () => {
      this.#isOpen = details.open;
      this.#fill();
    }}}, element("summary", {text: "Compare them side by side"}), this.place);
    this.#all = false;
    clear(this.node).append(element("div", {class: "colouring-line"},
      element("span", {class: "colouring-name", "aria-hidden": "true", text: "Colour by"}), this.choice.element, this.meaning),
    details);
  }

  // Of the chosen query, where each was measured for itself.
  #fill() {
    if (!this.#isOpen) return;
    const {map, entry, query} = this.#shown;
    const importances = importancesOf(entry, map);
    const {row, series} = importances.find((one) => one.row === query) ?? importances[0];
    const whose = row === undefined ? "" : visible(map.queryAxis.labels[row]);
    const held = this.place.contains(document.activeElement) && document.activeElement.dataset.sort;
    this.place.replaceChildren(this.#table(map, series, whose, importances.length > 1));
    if (held) this.place.querySelector(`[data-sort="${CSS.escape(held)}"]`)?.focus();
  }

  #table({title, keyAxis}, series, whose, isOneOfSeveral) {
    const largest = series.map(({values}) => Math.max(0, ...values.filter(Number.isFinite).map(Math.abs)));
    const shown = this.#keys(series, largest);
    const left = keyAxis.size - shown.length;
    const caption = element("caption", {}, element("bdi", {text: whose ? `${title}: ${whose}` : title}),
      element("span", {class: "quiet"}, "Each bar is a share of the largest in its column. ",
        isOneOfSeveral && "Choose another unit in the picture to compare its row."));
    const {judged_as: as} = this.#shown.entry;
    const nameOf = (name) => `${names[name] ?? name}${name === attention && as ? `, ${as}` : ""}`;
    const heads = series.map(({name}, place) =>
      this.#head(name, nameOf(name), element("span", {class: "quiet", text: `0 to ${number(largest[place])}`})));
    return element("div", {},
      element("table", {}, caption,
        element("thead", {}, element("tr", {}, this.#head("", keyAxis.kind || "unit"), heads)),
        element("tbody", {}, shown.map((key) => element("tr", {},
          element("th", {scope: "row", dir: "auto", text: visible(keyAxis.labels[key])}),
          series.map(({values}, place) => barCell(values[key], largest[place])))))),
      left > 0 && element("button", {type: "button", text: `Show all ${count(keyAxis.size)}`, on: {click: () => {
        this.#all = true;
        this.#fill();
        this.place.focus();
      }}}));
  }

  // Of many units those that are largest by any opinion, in the order that was asked for.
  #keys(series, largest) {
    const size = series[0].values.length;
    const magnitude = (place, key) => Math.abs(series[place].values[key]) / (largest[place] || 1) || 0;
    const most = (key) => Math.max(...series.map((_, place) => magnitude(place, key)));
    let keys = Array.from({length: size}, (_, key) => key);
    if (!this.#all && size > mostRows) keys = keys.toSorted((a, b) => most(b) - most(a)).slice(0, mostRows);
    const place = series.findIndex(({name}) => name === this.#order);
    return keys.toSorted((a, b) => (place < 0 ? 0 : magnitude(place, b) - magnitude(place, a)) || a - b);
  }

  // A head that orders the rows by its column, or puts them into their own order.
  #head(name, text, ...more) {
    const isChosen = (this.#order ?? "") === name;
    const sort = () => {
      this.#order = name || null;
      this.#fill();
    };
    return element("th", {scope: "col", "aria-sort": isChosen ? (name ? "descending" : "ascending") : null},
      element("button", {type: "button", "data-sort": name || "unit", text: isChosen ? `${text} ${name ? "↓" : "↑"}` : text, on: {click: sort}}),
      more);
  }
}

function barCell(value, largest) {
  const width = `${(100 * Math.abs(value || 0)) / (largest || 1)}%`;
  return element("td", {}, element("span", {class: "colouring-bar", "aria-hidden": "true"}, element("span", {style: {width}})),
    element("span", {class: "colouring-number", text: number(value)}));
}

const rules = `
.colouring { display: grid; grid-template-columns: minmax(0, 1fr); gap: 0.4rem; }
.colouring[hidden] { display: none; }
.colouring-line { display: flex; flex-wrap: wrap; align-items: center; gap: 0.35rem 0.8rem; font-size: 0.8667rem; }
.colouring-name { color: var(--quiet); }
.colouring summary { color: var(--accent); font-size: 0.8667rem; cursor: pointer; }
.colouring-place { max-width: 56rem; max-height: min(36rem, 80vh); margin: 0.4rem -0.4rem 0; padding: 0 0.4rem; overflow: auto; }
.colouring table { border-collapse: collapse; table-layout: fixed; width: 100%; font-size: 0.8667rem; }
.colouring caption { text-align: start; padding-bottom: 0.3rem; font-weight: 600; overflow-wrap: anywhere; }
.colouring caption .quiet, .colouring thead .quiet { display: block; font-size: 0.8rem; font-weight: 400; }
.colouring th, .colouring td { padding: 0.25rem 0.8rem 0.25rem 0; border-top: 1px solid var(--rule); text-align: start;
  vertical-align: top; font-weight: 400; }
.colouring th { overflow-wrap: anywhere; }
.colouring thead button { padding: 0.1rem 0.3rem; margin-inline-start: -0.3rem; border: 0; background: none; color: inherit;
  font-size: inherit; font-weight: 600; text-align: start; }
.colouring-bar { display: block; height: 0.6rem; }
.colouring-bar span { display: block; height: 100%; min-width: 1px; border-radius: 2px; background: var(--accent); }
.colouring-number { color: var(--label); font-size: 0.8rem; }
@media print { .colouring-place { max-height: none; overflow: visible; } }
`;
