// The numbers behind a picture as a table of the document: for people who read rather than look, and for
// copying. It holds what a view's numbers() yields, up to a number of rows.
import {element} from "fovea/parts/dom.js";
import {count, number, visible} from "fovea/parts/format.js";
import {addLooks} from "fovea/parts/looks.js";

const mostRows = 200;

/** The table of `rows`, an iterable or async iterable of lists whose first is the head, and a note where rows are
    left out: `whole` says where all of them are. */
export async function numberTable(rows, caption, whole = "all of them: Export, Numbers shown") {
  addLooks(rules);
  let head = null;
  const body = [];
  let isCut = false;
  for await (const row of rows) {
    if (!head) head = row;
    else if (body.length < mostRows) body.push(row);
    else {
      isCut = true;
      break;
    }
  }
  const note = isCut ? `The first ${count(mostRows)} rows; ${whole}.` : "";
  return element("table", {class: "number-table"},
    element("caption", {}, element("bdi", {text: caption}), note && element("span", {class: "quiet", text: note})),
    element("thead", {}, element("tr", {}, (head ?? []).map((name, column) => element("th", {
      scope: "col", class: column > 0 && typeof body[0]?.[column] === "number" && "numeric", dir: "auto",
      text: visible(name),
    })))),
    element("tbody", {}, body.map(bodyRow)));
}

function bodyRow(cells) {
  return element("tr", {}, cells.map((cell, column) => element(column === 0 ? "th" : "td", {
    scope: column === 0 && "row", class: typeof cell === "number" && "numeric", dir: "auto", text: cellText(cell),
  })));
}

// Nothing where there is no value, "gap" where one is not a finite number.
function cellText(cell) {
  if (cell === null || cell === undefined || cell === false) return "";
  if (cell === true) return "yes";
  return typeof cell === "number" ? number(cell) : visible(cell);
}

const rules = `
.number-table { border-collapse: collapse; min-width: min(100%, 32rem); font-size: 0.8667rem; }
.number-table caption { padding: 0.5rem 0.75rem; text-align: start; font-weight: 600; }
.number-table caption .quiet { margin-inline-start: 1rem; font-weight: 400; }
.number-table th, .number-table td {
  padding: 0.3rem 0.75rem; border-top: 1px solid var(--rule); text-align: start; vertical-align: top;
  white-space: nowrap;
}
.number-table th { max-width: 18rem; overflow-wrap: break-word; font-weight: 400; }
.number-table tbody th {
  position: sticky; left: 0; min-width: 7rem; background: var(--paper); white-space: normal;
}
.number-table thead th { position: sticky; top: 0; background: var(--paper); color: var(--quiet); }
.number-table .numeric { text-align: end; }
`;
