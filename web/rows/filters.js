// What stands above the table: search, filters, the rows worth a look first, what is shown now, the download.
import {clear, element} from "fovea/parts/dom.js";
import {download} from "fovea/parts/export.js";
import {count, number, percent, shorten, visible} from "fovea/parts/format.js";
import {disagreement} from "fovea/rows/beside.js";
import {rowsCsv} from "fovea/rows/csv.js";
import {kinds} from "fovea/rows/kinds.js";
import {meanOf} from "fovea/rows/measures.js";

const mostOptions = 300;  // of a filter; of more names the search finds them
const searchPause = 30;
const titles = {right: "result", truth: "truth", answer: "answer", supported: "picture", agreement: "who"};

/** Chooses among rows; `fileName` is that of the download, without its ending. */
export class Filters {
  #rows;
  #selection;
  #selects = new Map();
  #chips = element("ul", {class: "rows-chips", "aria-label": "Filters"});
  #status = element("p", {class: "rows-status", role: "status"});
  #timer = 0;
  node;

  constructor(rows, selection, fileName) {
    this.#rows = rows;
    this.#selection = selection;
    this.search = element("input", {
      type: "search", placeholder: "Search the rows", "aria-label": "Search the rows",
      on: {input: () => this.#searchSoon()},
    });
    const save = () => download(`${fileName}.csv`, this.csv(), "text/csv");
    this.node = element("div", {class: "rows-filters"},
      element("div", {class: "rows-line"}, this.search, Object.keys(titles).map((role) => this.#select(role)),
        element("button", {type: "button", text: "Download CSV", on: {click: save}})),
      element("div", {class: "rows-line", role: "group", "aria-label": "Look at first"},
        kinds[rows.kind].presets.map((preset) => this.#preset(preset)), this.#disagreement(), this.#pictured()),
      this.#chips, this.#status);
    selection.subscribe(() => this.show());
    this.show();
  }

  /** The rows that are shown, in their order, with all columns. */
  csv() {
    const {columns} = this.#rows;
    const cells = new Set(columns.filter(({role}) => role === "cell").map(({name}) => name));
    const head = columns.map(({role, name}) =>
      role === "cell" ? name : cells.has(role) ? `${role} of the network` : role);
    const lines = Array.from(this.#selection.order, (row) =>
      [row + 1, ...columns.map((column) => column.value(row))]);
    return rowsCsv([[cells.has("row") ? "row of the data" : "row", ...head], ...lines]);
  }

  /** Follows the selection. */
  show() {
    const {filters, order} = this.#selection;
    for (const [role, select] of this.#selects) {
      select.value = this.#selection.filter(role)?.value ?? "";
    }
    const chips = filters.filter(([key]) => !this.#selects.has(key)).map(([key, filter]) => this.#chip(key, filter));
    const narrowed = filters.length > 0 || this.#selection.search !== "";
    const all = element("button", {
      type: "button", class: "button-plain", text: "Show all rows", on: {click: () => this.#clear()},
    });
    clear(this.#chips).append(...chips, narrowed ? element("li", {}, all) : "");
    const scores = kinds[this.#rows.kind].scores.map((score) => this.#score(score)).filter(Boolean);
    const {column, descending} = this.#selection.sort;
    const sorted = column ? `sorted by ${visible(column.name)}, ${descending ? "largest" : "smallest"} first` : "";
    const shown = `${count(order.length)} of ${count(this.#rows.count)} rows`;
    this.#status.textContent = [shown, ...scores, sorted].filter(Boolean).join(" · ");
  }

  #clear() {
    this.search.value = "";
    const filters = Object.fromEntries(this.#selection.filters.map(([key]) => [key, null]));
    this.#selection.change({filters, search: "", sort: {column: null, descending: false}});
    this.search.focus();
  }

  #searchSoon() {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#selection.change({search: this.search.value}), searchPause);
  }

  // The values of a column as a list to choose from; nothing where there is no choice.
  #select(role) {
    const column = this.#rows.column(role);
    if (!column || column.type !== "place" || column.names.length > mostOptions) return null;
    const used = new Set(column.values);
    const places = column.names.map((_, place) => place).filter((place) => used.has(place));
    if (places.length < (role === "supported" ? 1 : 2)) return null;
    const option = (place) =>
      element("option", {value: place, text: shorten(visible(column.names[place]), 40)});
    const change = () => {
      const place = Number(select.value);
      const test = (row) => column.values[row] === place;
      const filter = {label: `${column.name}: ${column.names[place]}`, test, value: select.value};
      this.#selection.change({filters: {[role]: select.value === "" ? null : filter}});
    };
    const select = element("select", {"aria-label": `Filter by ${column.name}`, on: {change}},
      element("option", {value: "", text: `${titles[role]}: all`}), places.map(option));
    this.#selects.set(role, select);
    return select;
  }

  #preset({title, about, sort, descending, wrong}) {
    const column = this.#rows.column(sort);
    const right = this.#rows.column("right");
    if (!column || (wrong && !right)) return null;
    const onlyWrong = {label: "wrong", test: (row) => right?.values[row] === 0, value: "0"};
    const click = () =>
      this.#selection.change({only: true, filters: wrong ? {right: onlyWrong} : {}, sort: {column, descending}});
    return element("button", {type: "button", title: about, text: title, on: {click}});
  }

  #disagreement() {
    const differ = disagreement(this.#rows);
    if (!differ) return null;
    const click = () => this.#selection.change({only: true, filters: {differ}});
    return element("button", {type: "button", title: "rows with two different answers", text: "Disagree", on: {click}});
  }

  #pictured() {
    const {pictured} = this.#rows;
    if (pictured.size === 0) return null;
    const filter = {label: "with where the network looked", test: (row) => pictured.has(row)};
    const click = () => this.#selection.change({only: true, filters: {pictured: filter}});
    return element("button", {
      type: "button", title: "rows of which this page shows where the network looked", text: `◉ With a picture (${count(pictured.size)})`,
      on: {click},
    });
  }

  #chip(key, {label}) {
    const remove = () => this.#selection.change({filters: {[key]: null}});
    return element("li", {}, element("button", {
      type: "button", class: "rows-chip", "aria-label": `Take the filter ${label} away`, on: {click: remove},
    }, element("bdi", {text: shorten(visible(label), 60)}), " ×"));
  }

  #score({role, name, share}) {
    const column = this.#rows.column(role);
    if (!column) return "";
    const inside = new Uint8Array(this.#rows.count);
    for (const row of this.#selection.order) inside[row] = 1;
    const {count: known, mean} = meanOf(column, (row) => inside[row] === 1);
    return known === 0 ? "" : `${name} ${share ? percent(mean) : number(mean)}`;
  }
}

