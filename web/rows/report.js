// Starts the page of a data set: all rows, and one of them whole when it is chosen.
import {Explanation} from "fovea/model/explanation.js";
import {State} from "fovea/model/state.js";
import {element} from "fovea/parts/dom.js";
import {count, number} from "fovea/parts/format.js";
import {Detail} from "fovea/rows/detail.js";
import {Rows} from "fovea/rows/record.js";
import {RowsView} from "fovea/rows/view.js";

// In the address `example` is the row that is open, from 1; 0: the table.
async function start(main) {
  const rows = await Rows.fromDocument(document);
  const explanations = Explanation.listFromDocument(document);
  const state = State.fromHash();
  const overview = element("div", {class: "rows-page"}, heading(rows));
  const one = element("div", {class: "rows-one", hidden: true});
  main.append(overview, one);
  const go = (row) => state.set({example: row + 1, map: "", layer: 0, head: 0, view: "", query: -1, key: -1, zoom: ""});
  const view = new RowsView(overview, rows, {
    open: go, caption: captionOf(rows), fileName: `${rows.run || rows.task || "fovea"}-rows`,
  });
  const explanationOf = (row) => explanations[rows.explained.indexOf(row)];
  const detail = new Detail(one, rows, {state, explanationOf, go});
  let shown = -1;
  const show = () => {
    const row = state.get("example") - 1;
    const next = Number.isInteger(row) && row >= 0 && row < rows.count ? row : -1;
    if (next === shown) return;
    const before = shown;
    shown = next;
    overview.hidden = next >= 0;
    one.hidden = next < 0;
    if (next >= 0) return detail.show(next, view.selection.order);
    detail.hide();
    view.table.focusRow(before);
  };
  state.subscribe((changed) => changed.has("example") && show());
  show();
}

function captionOf({run, task, split, count: rows}) {
  return `${count(rows)} rows${split ? ` of the ${split} split` : ""}, answered by ${run || task}`;
}

// What the rows measure, as fovea evaluate says it.
function heading({title, task, run, data, split, evaluation, count: rows, notes}) {
  const parts = [task, run && `run ${run}`, data || "the run's own data", split && `${split} split`, `${count(rows)} rows`];
  return element("header", {class: "rows-heading"},
    element("h1", {dir: "auto", text: `How good are the answers of ${run || task}?`}),
    element("p", {class: "quiet", dir: "auto", text: parts.filter(Boolean).join(" · ")}),
    title && element("p", {class: "quiet", dir: "auto", text: title}),
    evaluation && measures(evaluation),
    (notes ?? []).map((text) => element("p", {class: "rows-note", dir: "auto", text})));
}

function measures({metrics = {}, main, baselines = {}, remarks = []}) {
  const name = main?.metric;
  const interval = main?.low === undefined ? "" : ` (95 % interval ${number(main.low)} to ${number(main.high)})`;
  const ordered = [name, ...Object.keys(metrics).filter((other) => other !== name)].filter((own) => own in metrics);
  const simple = Object.entries(baselines).filter(([, own]) => Number.isFinite(own[name]))
    .map(([rule, own]) => `${rule} ${number(own[name])}`);
  const entry = (own) => element("div", {class: own === name ? "is-main" : ""},
    element("dt", {text: own.replaceAll("_", " ")}),
    element("dd", {text: number(metrics[own]) + (own === name ? interval : "")}));
  return element("div", {},
    element("dl", {class: "rows-measures"}, ordered.map(entry)),
    simple.length > 0 && element("p", {
      class: "quiet", dir: "auto", text: `${name.replaceAll("_", " ")} of simple rules on the same rows: ${simple.join(", ")}`,
    }),
    remarks.map((text) => element("p", {class: "rows-note", dir: "auto", text})));
}

start(document.getElementById("rows-report")).catch((error) => {
  const text = `This report cannot be shown: ${error.message}`;
  document.getElementById("rows-report").append(element("p", {class: "message", role: "alert", text}));
});
