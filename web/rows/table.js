// The table of rows. Only the rows in sight are in the document, so that a hundred thousand are as quick as a
// hundred; the table says how many there are.
import {printing} from "fovea/parts/colour.js";
import {clear, element} from "fovea/parts/dom.js";
import {count, visible} from "fovea/parts/format.js";
import {onPrint} from "fovea/parts/printing.js";

const rowHeight = 34;
const mostOnPaper = 200;     // rows
const spare = 8;             // rows above and below those in sight
const mostHeight = 8e6;      // of all rows together: browsers draw no higher elements
const longestCell = 300;     // characters; the rest is cut, and the row shows it whole
const phone = 600;           // pixels: narrower windows have narrower columns,
const mostOnPhone = 11;      // of so many rem at most
const rightMarks = {right: "✓ right", wrong: "✗ wrong"};
const widths = {
  input: 22, answer: 12, truth: 12, probability: 8, surprisal: 8, distance: 9, right: 7, length: 6,
  supported: 8.5, cell: 8, residual: 8, error: 8, beside_answer: 12, beside_right: 8, beside_probability: 8, agreement: 10,
};

/** `open(row)` is called when a row is chosen. */
export class RowTable {
  #rows;
  #selection;
  #open;
  #current = -1;  // place among the rows that are shown
  #drawn = "";
  #head = element("tr");
  #body = element("tbody");
  #table;
  node;

  constructor(rows, selection, {open, caption}) {
    this.#rows = rows;
    this.#selection = selection;
    this.#open = open;
    const most = window.innerWidth < phone ? mostOnPhone : Infinity;
    const first = window.innerWidth < phone ? 4.5 : 5;
    this.columns = rows.columns.map((column) => ({column, width: Math.min(most, widthOf(column, rows.kind))}));
    const whole = this.columns.reduce((sum, {width}) => sum + width, first);
    this.#table = element("table", {class: "rows-table", style: {minWidth: `${whole}rem`}},
      element("caption", {text: caption}),
      element("colgroup", {}, element("col", {style: {width: `${first}rem`}}),
        this.columns.map(({width}) => element("col", {style: {width: `${width}rem`}}))),
      element("thead", {}, this.#head), this.#body);
    this.node = element("div", {
      class: "rows-scroll", tabindex: 0, role: "region", "aria-label": `${caption}, scrolls`,
      on: {scroll: () => this.#draw()},
    }, this.#table);
    this.#table.addEventListener("keydown", (event) => this.#key(event));
    this.#body.addEventListener("click", (event) => this.#click(event));
    this.observer = new ResizeObserver(() => this.#draw());
    this.observer.observe(this.node);
    this.endPrint = onPrint(() => {
      this.#drawn = "";
      this.#draw();
    });
    this.#buildHead();
    selection.subscribe(() => this.show());
  }

  destroy() {
    this.observer.disconnect();
    this.endPrint();
  }

  /** Shows the selection as it is now, from its first row. */
  show() {
    this.#current = -1;
    this.node.scrollTop = 0;
    this.#drawn = "";
    this.#showSort();
    this.#draw();
  }

  /** Puts the focus on a row of the record, where it is shown. */
  focusRow(row) {
    const place = this.#selection.order.indexOf(row);
    if (place >= 0) this.#moveTo(place);
    else this.node.focus();
  }

  #buildHead() {
    const sortable = (column) => element("th", {scope: "col", class: column?.type === "number" ? "numeric" : ""},
      element("button", {
        type: "button", class: "rows-sort", title: column?.about || null, on: {click: () => this.#sort(column)},
      }, element("bdi", {text: column ? visible(column.name) : "row"})));
    clear(this.#head).append(sortable(null), ...this.columns.map(({column}) => sortable(column)));
    this.#head.setAttribute("aria-rowindex", 1);
  }

  #sort(column) {
    const {sort} = this.#selection;
    const again = sort.column === column;
    // Of numbers the largest are what one looks for first.
    const descending = again ? !sort.descending : column?.type === "number";
    this.#selection.change({sort: column ? {column, descending} : {column: null, descending: false}});
  }

  #showSort() {
    const {column, descending} = this.#selection.sort;
    [...this.#head.cells].forEach((cell, i) => {
      const own = i === 0 ? null : this.columns[i - 1].column;
      if (own === column) cell.setAttribute("aria-sort", descending ? "descending" : "ascending");
      else cell.removeAttribute("aria-sort");
    });
  }

  // Of more rows than an element can be high, scrolling goes through them in larger steps.
  #layout() {
    const {order} = this.#selection;
    if (printing()) return {order, first: 0, last: Math.min(order.length, mostOnPaper), above: 0, below: 0};
    const height = Math.min(order.length * rowHeight, mostHeight);
    const inSight = Math.ceil(this.node.clientHeight / rowHeight);
    const furthest = Math.max(1, height - this.node.clientHeight);
    const share = Math.min(1, this.node.scrollTop / furthest);
    const isWhole = height === order.length * rowHeight;
    const top = isWhole ? Math.floor(this.node.scrollTop / rowHeight) : Math.floor(share * (order.length - inSight));
    const first = Math.max(0, top - spare);
    const last = Math.min(order.length, top + inSight + spare);
    const above = isWhole ? first * rowHeight : Math.max(0, this.node.scrollTop - (top - first) * rowHeight);
    return {order, first, last, above, below: Math.max(0, height - above - (last - first) * rowHeight)};
  }

  #draw() {
    if (this.node.clientHeight === 0) return;
    const {order, first, last, above, below} = this.#layout();
    const drawn = `${first} ${last} ${above} ${this.#current}`;
    if (drawn === this.#drawn) return;
    this.#drawn = drawn;
    const hadFocus = this.#body.contains(document.activeElement);
    this.#table.setAttribute("aria-rowcount", order.length + 1);
    const lines = Array.from(order.subarray(first, last), (row, i) => this.#line(row, first + i));
    clear(this.#body).append(...[spacer(above), ...lines, spacer(below)].filter(Boolean));
    if (order.length === 0) this.#remark("No row fits. Take a filter away, or search for something else.");
    if (printing() && last < order.length) this.#remark(`… and ${count(order.length - last)} more rows; the page and its CSV have them.`);
    if (!hadFocus) return;
    const button = this.#body.querySelector(`[data-place="${this.#current}"] button`);
    (button ?? this.node).focus({preventScroll: true});
  }

  #remark(text) {
    this.#body.append(element("tr", {}, element("td", {colspan: this.columns.length + 1, class: "rows-none", text})));
  }

  #line(row, place) {
    const isStop = place === Math.max(0, this.#current);
    const pictured = this.#rows.pictured.has(row);
    const button = element("button", {
      type: "button", class: "rows-open", tabindex: isStop ? 0 : -1,
      "aria-label": `Open row ${count(row + 1)}${pictured ? ", with where the network looked" : ""}`,
      text: `${pictured ? "◉ " : ""}${count(row + 1)}`,
    });
    const wrong = this.#rows.column("right")?.values[row] === 0;
    return element("tr", {
      "aria-rowindex": place + 2, dataset: {place, row}, class: wrong ? "is-wrong" : "",
    }, element("th", {scope: "row"}, button), this.columns.map(({column}) => cell(column, row)));
  }

  #click(event) {
    const line = event.target.closest("tr[data-row]");
    if (!line || String(window.getSelection()) !== "") return;
    this.#current = Number(line.dataset.place);
    this.#open(Number(line.dataset.row));
  }

  #key(event) {
    if (!this.#body.contains(event.target)) return;
    const page = Math.max(1, Math.floor(this.node.clientHeight / rowHeight) - 2);
    const last = this.#selection.order.length - 1;
    const from = Number(event.target.closest("tr")?.dataset.place ?? 0);
    const places = {
      ArrowDown: from + 1, ArrowUp: from - 1, PageDown: from + page, PageUp: from - page, Home: 0, End: last,
    };
    if (!(event.key in places) || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    this.#moveTo(Math.min(last, Math.max(0, places[event.key])));
  }

  #moveTo(place) {
    this.#current = place;
    const {order} = this.#selection;
    const inside = this.node.clientHeight - rowHeight * 2;
    const isWhole = order.length * rowHeight <= mostHeight;
    const top = isWhole ? place * rowHeight : (place / order.length) * (mostHeight - this.node.clientHeight);
    if (!isWhole || top < this.node.scrollTop) this.node.scrollTop = top;
    else if (top > this.node.scrollTop + inside) this.node.scrollTop = top - inside;
    this.#drawn = "";
    this.#draw();
    this.#body.querySelector(`[data-place="${place}"] button`)?.focus({preventScroll: true});
  }
}

function cell(column, row) {
  const text = column.text(row);
  if (["right", "beside_right"].includes(column.role)) {
    return element("td", {class: `rows-${column.value(row) ?? "unknown"}`, text: rightMarks[text] ?? ""});
  }
  const shown = text.length > longestCell ? `${text.slice(0, longestCell)}…` : text;
  if (column.type === "number") return element("td", {class: "numeric", text: shown});
  return element("td", {}, text !== "" && element("bdi", {text: visible(shown)}));
}

function spacer(height) {
  return height > 0 && element("tr", {class: "rows-spacer", "aria-hidden": "true"},
    element("td", {style: {height: `${height}px`}}));
}

// Answers and truths are as wide as their names, within bounds.
function widthOf(column, kind) {
  const usual = widths[column.role] ?? 9;
  const named = column.name.length * 0.55 + 2.2;
  if (column.type === "place" && column.role !== "right") {
    const longest = column.names.reduce((most, name) => Math.max(most, name.length), 0);
    return Math.min(16, Math.max(named, 5, longest * 0.55 + 1.5));
  }
  if (column.type === "number") return Math.min(14, Math.max(usual, named));
  if (column.type === "text" && ["answer", "truth"].includes(column.role)) return kind === "choice" ? 14 : 18;
  return Math.min(22, Math.max(usual, named));
}
