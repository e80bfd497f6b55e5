// Two models on the same rows: how often each is right where the other is, whether that may be chance, and the rows
// on which they disagree.
import {element} from "fovea/parts/dom.js";
import {count, number, percent, visible} from "fovea/parts/format.js";
import {addLooks} from "fovea/parts/looks.js";
import {Column} from "fovea/rows/columns.js";
import {mcnemar} from "fovea/rows/measures.js";

/** The filter of rows with two different answers; null where there is one model. */
export function disagreement(rows) {
  const [answer, other] = [rows.column("answer"), rows.column("beside_answer")];
  if (!other) return null;
  const key = (column, row) => (column.type === "set" ? [...column.values[row]].sort().join() : column.value(row));
  return {label: "two different answers", test: (row) => key(answer, row) !== key(other, row)};
}

/** Columns for the answers of a second model beside `rows` of a first, `other` being those of the second alone. */
export function besideColumns(rows, other, names) {
  const [first, second] = names[0] === names[1] ? [names[0], `${names[1]} (second)`] : names;
  const role = (name) => other.column(name);
  const renamed = (column, as, name) => new Column({...column, role: as, name: `${name} of ${second}`});
  const isNumber = rows.kind === "number";
  const columns = [renamed(aligned(role("answer"), rows.column("answer")), "beside_answer", "answer")];
  if (role("right")) columns.push(renamed(role("right"), "beside_right", "result"));
  if (role("probability")) columns.push(renamed(role("probability"), "beside_probability", "probability"));
  const who = isNumber ? nearer(rows, other) : whoIsRight(rows.column("right"), role("right"));
  if (who) {
    const said = isNumber ? ["as near", `${first} is nearer`, `${second} is nearer`]
      : ["both right", `only ${first}`, `only ${second}`, "both wrong"];
    columns.push(new Column({
      role: "agreement", name: isNumber ? "who is nearer" : "who is right", type: "place", names: said, values: who,
    }));
  }
  return columns;
}

// Each model has its own list of names.
function aligned(column, own) {
  if (!["place", "set"].includes(column.type)) return column;
  const names = [...new Set([...own.names, ...column.names])];
  const moved = column.names.map((name) => names.indexOf(name));
  const values = column.type === "set" ? column.values.map((set) => set.map((place) => moved[place]))
    : Int32Array.from(column.values, (place) => (place < 0 ? -1 : moved[place]));
  return {...column, names, values};
}

function whoIsRight(right, other) {
  if (!right || !other) return null;
  return Int32Array.from(right.values, (own, row) => {
    const theirs = other.values[row];
    return own < 0 || theirs < 0 ? -1 : own === 1 ? (theirs === 1 ? 0 : 1) : theirs === 1 ? 2 : 3;
  });
}

function nearer(rows, other) {
  const [error, theirs] = [rows.column("error"), other.column("error")];
  if (!error || !theirs) return null;
  return Int32Array.from(error.values, (own, row) => {
    const off = theirs.values[row];
    return Number.isNaN(own) || Number.isNaN(off) ? -1 : own < off ? 1 : off < own ? 2 : 0;
  });
}

/** The table of counts; null where there is one model. */
export function beside(rows, choose) {
  const agreement = rows.column("agreement");
  if (!agreement) return null;
  addLooks(looks);
  const counts = agreement.names.map((_, place) => agreement.values.reduce((sum, value) => sum + (value === place), 0));
  const known = counts.reduce((sum, one) => sum + one, 0);
  if (known === 0) return null;
  const cell = (place) => element("td", {class: "numeric"}, element("button", {
    type: "button", class: "rows-open", text: `${count(counts[place])} (${percent(counts[place] / known)})`,
    "aria-label": `Show the ${count(counts[place])} rows: ${visible(agreement.names[place])}`,
    on: {click: () => choose({agreement: {
      label: `${agreement.name}: ${agreement.names[place]}`, test: (row) => agreement.values[row] === place, value: String(place),
    }})},
  }));
  const [first, second] = [agreement.names[1], agreement.names[2]].map((name) => visible(name.replace(/^only | is nearer$/g, "")));
  const table = counts.length === 4 ? fourCells(first, second, cell) : threeRows(agreement.names, cell);
  const differ = disagreement(rows);
  const differing = Array.from({length: rows.count}, (_, row) => row).filter(differ.test).length;
  const p = mcnemar(counts[1], counts[2]);
  const test = counts.length === 4 ? "McNemar's exact test" : "Sign test";
  return {
    node: element("div", {class: "beside"}, table,
      element("p", {}, `${test}: p = ${number(p)}. `, p < 0.05 ? "A difference as large as this is rarely chance."
        : "A difference as large as this may be chance."),
      element("button", {type: "button", text: `Show the ${count(differing)} rows with two different answers`, on: {click: () => choose({differ})}})),
    redraw() {},
  };
}

function fourCells(first, second, cell) {
  const head = (text, scope) => element("th", {scope}, element("bdi", {text}));
  return element("table", {class: "rows-numbers"}, element("caption", {text: "Rows by who is right. A count shows its rows."}),
    element("thead", {}, element("tr", {}, element("td"), head(`${second} right`, "col"), head(`${second} wrong`, "col"))),
    element("tbody", {}, element("tr", {}, head(`${first} right`, "row"), cell(0), cell(1)),
      element("tr", {}, head(`${first} wrong`, "row"), cell(2), cell(3))));
}

function threeRows(names, cell) {
  return element("table", {class: "rows-numbers"}, element("caption", {text: "Rows by who is nearer to the truth. A count shows its rows."}),
    element("tbody", {}, [1, 2, 0].map((place) => element("tr", {},
      element("th", {scope: "row"}, element("bdi", {text: visible(names[place])})), cell(place)))));
}

const looks = `
.beside { display: grid; gap: 0.7rem; justify-items: start; grid-template-columns: minmax(0, 1fr); }
.beside table { overflow-wrap: anywhere; }
`;
