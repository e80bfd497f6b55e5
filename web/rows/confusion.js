// The confusion matrix: a table whose cells choose the rows that they count; of many classes the pairs that are
// confused most.
import {element} from "fovea/parts/dom.js";
import {count, percent, shorten, visible} from "fovea/parts/format.js";
import {ink, sequential} from "fovea/parts/colour.js";
import {confusionOf} from "fovea/rows/measures.js";

const mostClasses = 20;
const mostPairs = 30;
const longestName = 16;

/** {node, redraw()} of rows with a class each; `choose(filters)` narrows the table. */
export function confusion(rows, choose) {
  const [truth, answer] = [rows.column("truth"), rows.column("answer")];
  const matrix = confusionOf(truth, answer);
  const used = matrix.names.map((_, c) => c).filter((c) => matrix.counts.some((n, at) =>
    n > 0 && (at % matrix.size === c || Math.floor(at / matrix.size) === c)));
  const pick = (right, given) => choose({truth: only(truth, right), answer: only(answer, given)});
  return used.length <= mostClasses ? square(matrix, used, pick) : pairs(matrix, pick);
}

function only(column, place) {
  return {
    label: `${column.name}: ${column.names[place]}`, value: String(place), test: (row) => column.values[row] === place,
  };
}

function square({names, size, counts}, used, pick) {
  const totals = new Map(used.map((c) => [c, used.reduce((sum, other) => sum + counts[c * size + other], 0)]));
  const cells = [];
  const cell = (right, given) => {
    const n = counts[right * size + given];
    const share = n / Math.max(1, totals.get(right));
    const label = `${names[right]} answered as ${names[given]}: ${count(n)} rows, ${percent(share)} of the truth`;
    const button = element("button", {
      type: "button", "aria-label": label, title: label, text: count(n), disabled: n === 0,
      on: {click: () => pick(right, given)},
    });
    cells.push({button, share, n});
    return element("td", {class: right === given ? "is-right" : ""}, button);
  };
  const name = (c) => element("bdi", {title: names[c], text: shorten(visible(names[c]), longestName)});
  const head = element("tr", {}, element("th", {scope: "col", class: "rows-corner", text: "truth ↓ answer →"}),
    used.map((c) => element("th", {scope: "col"}, name(c))));
  const lines = used.map((right) => element("tr", {}, element("th", {scope: "row"}, name(right)),
    used.map((given) => cell(right, given))));
  const redraw = () => cells.forEach(({button, share, n}) => {
    button.style.background = n > 0 ? sequential(share) : "transparent";
    button.style.color = n > 0 ? ink(share) : "var(--quiet)";
  });
  redraw();
  const caption = "Rows by what is right and what was answered; shaded by the share of the truth. A cell shows its rows.";
  const node = element("div", {class: "rows-wide"}, element("table", {class: "rows-matrix"},
    element("caption", {text: caption}), element("thead", {}, head), element("tbody", {}, lines)));
  return {node, redraw};
}

function pairs({names, size, counts}, pick) {
  const found = Array.from(counts.keys()).filter((at) => counts[at] > 0 && at % size !== Math.floor(at / size));
  found.sort((a, b) => counts[b] - counts[a]);
  const lines = found.slice(0, mostPairs).map((at) => {
    const [right, given] = [Math.floor(at / size), at % size];
    const support = counts.subarray(right * size, (right + 1) * size).reduce((sum, n) => sum + n, 0);
    const open = element("button", {
      type: "button", class: "rows-open", text: count(counts[at]), on: {click: () => pick(right, given)},
      "aria-label": `Show the ${count(counts[at])} rows of ${names[right]} answered as ${names[given]}`,
    });
    return element("tr", {}, element("td", {}, element("bdi", {text: visible(names[right])})),
      element("td", {}, element("bdi", {text: visible(names[given])})),
      element("td", {class: "numeric"}, open), element("td", {class: "numeric", text: percent(counts[at] / support)}));
  });
  const heads = ["truth", "answer", "rows", "of the truth"];
  const caption = `The pairs confused most, of ${count(size)} classes. A count shows its rows.`;
  const node = element("div", {class: "rows-wide rows-tall"}, element("table", {class: "rows-numbers"},
    element("caption", {text: caption}),
    element("thead", {}, element("tr", {}, heads.map((text, i) =>
      element("th", {scope: "col", class: i > 1 ? "numeric" : "", text})))),
    element("tbody", {}, lines)));
  return {node, redraw() {}};
}
