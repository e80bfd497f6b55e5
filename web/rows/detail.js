// One row of the table, whole: all that is known of it and, where it was kept, where the network looked.
import {clear, element} from "fovea/parts/dom.js";
import {folded} from "fovea/parts/folded.js";
import {count, visible} from "fovea/parts/format.js";
import {Shell} from "fovea/shell.js";

/** Fills `host`; `explanationOf(row)` gives an explanation or undefined, `go(row)` shows another row (-1: the
    table). */
export class Detail {
  #shell = null;

  constructor(host, rows, {state, explanationOf, go}) {
    Object.assign(this, {host, rows, state, explanationOf, go});
  }

  /** Shows a row; `order` are the rows that the table shows. */
  show(row, order) {
    this.hide();
    const place = order.indexOf(row);
    const step = (by, name, text) => element("button", {
      type: "button", text, "aria-label": name, disabled: place < 0 || place + by < 0 || place + by >= order.length,
      on: {click: () => this.go(order[place + by])},
    });
    const title = element("h1", {tabindex: -1, text: `Row ${count(row + 1)} of ${count(this.rows.count)}`});
    const known = this.rows.columns.filter((column) => column.value(row) !== null && column.text(row) !== "");
    const explanation = this.explanationOf(row);
    const host = element("div");
    clear(this.host).append(
      element("nav", {class: "rows-line", "aria-label": "Rows"},
        element("button", {type: "button", text: "‹ All rows", on: {click: () => this.go(-1)}}),
        step(-1, "Previous row of the table", "Previous"), step(1, "Next row of the table", "Next")),
      title, element("dl", {class: "rows-facts"}, known.flatMap((column) => [
        element("dt", {title: column.about || null}, element("bdi", {text: visible(column.name)})),
        element("dd", {class: ["right", "beside_right"].includes(column.role) ? `rows-${column.value(row)}` : ""},
          folded(element("div", {class: "rows-fact", dir: "auto", text: column.text(row)}))),
      ])), host);
    if (explanation) this.#shell = new Shell(host, explanation, {state: this.state, compact: true});
    else host.append(element("p", {class: "message", text: notKept(this.rows)}));
    title.focus({preventScroll: true});
    window.scrollTo(0, 0);
  }

  hide() {
    this.#shell?.destroy();
    this.#shell = null;
    clear(this.host);
  }
}

function notKept({explained}) {
  if (explained.length === 0) return "This page holds no pictures of where the network looked: it has no attention, or they were left out.";
  return `This page shows where the network looked for ${count(explained.length)} rows, the worst and the most ` +
    "surprising; more with fovea evaluate --explain N, or this one with fovea explain.";
}
