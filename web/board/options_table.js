// The options in which trainings differ, as a table; those that all share only as their number.
import {element} from "fovea/parts/dom.js";
import {visible} from "fovea/parts/format.js";
import {sample} from "fovea/board/line_chart.js";

const gap = "–";

function shown(value) {
  if (value === undefined) return gap;
  return Array.isArray(value) ? value.map(String).join(", ") || gap : visible(String(value));
}

/** A section, or null where there is nothing to compare. */
export function optionsTable(runs) {
  const known = runs.filter(({options}) => Object.keys(options).length > 0);
  if (known.length < 2) return null;
  const keys = [...new Set(known.flatMap(({options}) => Object.keys(options)))];
  const differing = keys.filter((key) => new Set(known.map(({options}) => JSON.stringify(options[key]))).size > 1);
  const heading = element("h2", {text: "Options that differ"});
  const same = keys.length - differing.length;
  const note = element("p", {class: "quiet", text: differing.length
    ? `${same} other options are the same in all of these trainings.`
    : `None: all ${keys.length} options are the same.`});
  if (!differing.length) return element("section", {class: "board-section"}, heading, note);
  const table = element("table", {class: "board-options"},
    element("thead", {}, element("tr", {},
      element("th", {scope: "col", text: "Option"}),
      known.map((run) => element("th", {scope: "col"}, sample(run.index), element("bdi", {text: visible(run.name)}))))),
    element("tbody", {}, differing.map((key) => element("tr", {},
      element("th", {scope: "row", text: key}),
      known.map(({options}) => element("td", {dir: "auto", text: shown(options[key])}))))));
  return element("section", {class: "board-section"}, heading,
    element("div", {class: "board-scroll", tabindex: 0, role: "region", "aria-label": "Options that differ"}, table), note);
}
