// An answer before and after something was taken away: both as text, and the probabilities side by side.
import {element} from "fovea/parts/dom.js";
import {number, percent, visible} from "fovea/parts/format.js";
import {addLooks} from "fovea/parts/looks.js";

const shownShares = 6;

/** The block for two `prediction`s of explanations. */
export function changeBlock(before, after) {
  addLooks(rules);
  const isSame = before.text === after.text;
  return element("div", {class: "change"},
    element("p", {class: "change-line"}, isSame ? "The answer stays " : "The answer changes from ", answer(before),
      !isSame && " to ", !isSame && answer(after), valueChange(before, after), "."),
    shareTable(before, after));
}

function answer({text}) {
  return element("b", {dir: "auto", text: visible(text)});
}

function valueChange({answer: before}, {answer: after}) {
  const [from, to] = [before, after].map((one) => one?.value ?? one?.rating);
  if (!Number.isFinite(from) || !Number.isFinite(to) || from === to) return false;
  return `, by ${signed(number(Number((to - from).toPrecision(6))))}`;
}

function signed(text) {
  return text.startsWith("−") || text === "0" ? text : `+${text}`;
}

// Those that were likeliest before or are so now.
function shareTable(before, after) {
  const [was, now] = [before, after].map(({shares = []}) =>
    new Map(shares.map(({label, probability}) => [label, probability])));
  const labels = [...new Set([...was.keys(), ...now.keys()])].filter((label) => was.has(label) && now.has(label));
  if (labels.length === 0) return false;
  const larger = (label) => Math.max(was.get(label), now.get(label));
  const shown = labels.sort((a, b) => larger(b) - larger(a)).slice(0, shownShares);
  const head = (text) => element("th", {scope: "col", text});
  return element("table", {class: "change-shares", "aria-label": "Probabilities before and after"},
    element("thead", {}, element("tr", {}, head("answer"), element("td", {"aria-hidden": "true"}), head("before"),
      head("after"), head("change"))),
    element("tbody", {}, shown.map((label) => shareRow(label, was.get(label), now.get(label)))));
}

function shareRow(label, was, now) {
  const points = Number((100 * (now - was)).toFixed(1));
  const bar = (name, share) => element("span", {class: name, style: {width: `${100 * Math.min(1, Math.max(0, share))}%`}});
  return element("tr", {},
    element("th", {scope: "row"}, element("bdi", {text: visible(label)})),
    element("td", {class: "change-bars", "aria-hidden": "true"}, bar("was", was), bar("now", now)),
    element("td", {text: percent(was)}), element("td", {text: percent(now)}),
    element("td", {text: `${signed(number(points))} points`}));
}

const rules = `
.change { display: grid; gap: 0.5rem; grid-template-columns: minmax(0, 1fr); }
.change-line { overflow-wrap: anywhere; }
.change-shares { border-collapse: collapse; width: 100%; max-width: 38rem; font-size: 0.8667rem; }
.change-shares th { font-weight: 400; text-align: start; overflow-wrap: anywhere; }
.change-shares thead th { color: var(--quiet); font-size: 0.8rem; }
.change-shares th:not(:first-child), .change-shares td:not(.change-bars) { text-align: end; }
.change-shares th, .change-shares td { padding: 0.15rem 0.6rem 0.15rem 0; }
.change-bars { width: 30%; min-width: 3rem; }
.change-bars span { display: block; min-width: 2px; height: 0.4rem; border-radius: 2px; }
.change-bars .was { border: 1px solid var(--quiet); box-sizing: border-box; }
.change-bars .now { background: var(--accent); }
@media (max-width: 600px) { .change-bars { display: none; } }
`;
