// Tables of measures: of each class or label, and of slices of the rows.
import {clear, element} from "fovea/parts/dom.js";
import {count, number, percent, shorten, visible} from "fovea/parts/format.js";
import {kinds} from "fovea/rows/kinds.js";
import {classReports, confusionOf, labelReports, meanOf, slicesOf, wilson} from "fovea/rows/measures.js";

const fewNames = 12;    // slices of a column with more names are its most frequent ones
const mostNames = 300;  // a column with more is no way to cut the rows
const share = (value) => (Number.isFinite(value) ? value.toFixed(3) : "–");

/** Precision, recall, F1 and support of each class or label. */
export function classTable(rows, choose) {
  const [truth, answer] = [rows.column("truth"), rows.column("answer")];
  const several = truth.type === "set";
  const reports = several ? labelReports(truth, answer) : classReports(confusionOf(truth, answer));
  const lines = reports.map(({name, support, ...own}, place) => {
    const test = several ? (row) => truth.values[row].includes(place) : (row) => truth.values[row] === place;
    const filter = several ? {label: `truth has ${name}`, test} : {label: `truth: ${name}`, test, value: String(place)};
    const show = () => choose({[several ? `label ${place}` : "truth"]: filter});
    return {cells: [own.precision, own.recall, own.f1].map(share), name, support, show};
  });
  const all = lines.filter(({support}) => support > 0);
  const unseen = lines.length - all.length;
  const caption = `Of each ${several ? "label" : "class"}${unseen ? `; ${count(unseen)} that no row has are left out` : ""}. A support shows its rows.`;
  return {node: numbersTable(caption, [several ? "label" : "class", "precision", "recall", "F1", "support"], all), redraw() {}};
}

/** One measure by the values of a column that the reader picks. */
export function slices(rows, choose) {
  const [score, other] = kinds[rows.kind].scores;
  const columns = rows.columns.filter(canSlice);
  if (!rows.column(score.role) || columns.length === 0) return null;
  const host = element("div");
  const select = element("select", {"aria-label": "Slices by", on: {change: show}},
    columns.map((column, value) => element("option", {value, text: shorten(visible(column.name), 40)})));
  const preferred = columns.findIndex(({role, type, names}) =>
    role === "length" || (role === "cell" && (type === "number" || names.length <= fewNames)));
  select.value = Math.max(0, preferred);
  function show() {
    const column = columns[select.value];
    const judged = slicesOf(column, fewNames).map((slice) => lineOf(rows, column, slice, score, other, choose));
    const heads = [column.name, score.name, score.share ? "95 % interval" : "", other?.name, "rows"].filter(Boolean);
    const measured = judged.filter(({support}) => support > 0);
    const more = column.names.length > fewNames && !column.numbers() ? `, the ${fewNames} most frequent` : "";
    clear(host).append(numbersTable(`${score.name} by ${visible(column.name)}${more}. A count shows its rows.`, heads, measured));
  }
  show();
  const label = element("label", {class: "field"}, "Slices by", select);
  return {node: element("div", {}, label, host), redraw() {}};
}

function canSlice(column) {
  const {role, type, names} = column;
  const judges = ["right", "error", "residual", "distance", "surprisal", "beside_right", "agreement"];
  if (judges.includes(role)) return false;
  return Boolean(column.numbers()) || (type !== "text" && names.length > 1 && names.length <= mostNames);
}

function lineOf(rows, column, {name, test}, score, other, choose) {
  const main = meanOf(rows.column(score.role), test);
  const beside = other && rows.column(other.role) && meanOf(rows.column(other.role), test);
  const interval = score.share && main.count > 0 && wilson(main.mean, main.count).map(share).join(" to ");
  const cells = [
    score.share ? share(main.mean) : number(main.mean), ...(score.share ? [interval || ""] : []),
    ...(other ? [beside?.count ? number(beside.mean) : ""] : []),
  ];
  const key = ["truth", "answer", "supported"].includes(column.role) && column.type === "place" ? column.role : `slice ${column.name}`;
  const value = key === column.role ? String(column.names.indexOf(name)) : undefined;
  const show = () => choose({[key]: {label: `${column.name}: ${name}`, test, value}});
  const bar = score.share ? main.mean : null;
  return {name, cells, support: main.count, bar, show};
}

// `lines`: {name, cells, support, show(), bar (a share drawn behind the first cell)}.
function numbersTable(caption, heads, lines) {
  const body = lines.map(({name, cells, support, show, bar = null}) => element("tr", {},
    element("th", {scope: "row"}, element("bdi", {title: name, text: shorten(visible(name), 32)})),
    cells.map((text, i) => element("td", {
      class: i === 0 && bar !== null ? "numeric rows-bar" : "numeric", text,
      style: i === 0 && bar !== null ? {"--share": percentOf(bar)} : null,
    })),
    element("td", {class: "numeric"}, element("button", {
      type: "button", class: "rows-open", text: count(support), on: {click: show},
      "aria-label": `Show the ${count(support)} rows of ${name}`,
    }))));
  return element("div", {class: "rows-wide rows-tall"}, element("table", {class: "rows-numbers"},
    element("caption", {text: caption}),
    element("thead", {}, element("tr", {}, heads.map((text, i) =>
      element("th", {scope: "col", class: i > 0 ? "numeric" : "", text: visible(text)})))),
    element("tbody", {}, body)));
}

function percentOf(value) {
  return `${(100 * value).toFixed(1)}%`;
}

/** A mean for people, as a share or a number. */
export function scoreText(score, mean) {
  return score.share ? percent(mean) : number(mean);
}
