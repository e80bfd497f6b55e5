// "Should I believe it?": for each judged map the verdict, the measures beside their random baseline, and the
// deletion and insertion curves. Trust is told by shape and word; colour only repeats it.
import {element, svg} from "fovea/parts/dom.js";
import {curveFigure} from "fovea/parts/faithfulness_curves.js";
import {count, number} from "fovea/parts/format.js";
import {addLooks} from "fovea/parts/looks.js";

const trusts = {
  supported: {word: "Supported", tone: "good", shape: "M5 10.5l3.5 3.5L15 7"},
  mixed: {word: "Mixed", tone: "caution", shape: "M5 12q2.5-5 5-2t5-2"},
  unsupported: {word: "Not supported", tone: "bad", shape: "M6 6l8 8M14 6l-8 8"},
  unknown: {word: "Unknown", tone: "quiet", shape: "M7.2 7.8a2.8 2.8 0 1 1 4 2.6q-1.2.7-1.2 2M10 15v.2"},
};
const directions = {
  higher: {arrow: "↑", words: "higher is better"},
  lower: {arrow: "↓", words: "lower is better"},
};

/** The panel for an explanation's `faithfulness` list. */
export function faithfulnessPanel(list, explanation) {
  addLooks(rules);
  return element("section", {class: "faith", "aria-label": "Should I believe it?"},
    element("h2", {text: "Should I believe it?"}),
    list.map((entry, place) => judgement(entry, explanation, place === 0)));
}

function judgement(entry, explanation, open) {
  const trust = trusts[entry.trust] ?? trusts.unknown;
  const title = explanation.maps.find(({name}) => name === entry.map)?.title ?? entry.map;
  const {measures = [], curves = [], notes = []} = entry;
  return element("details", {class: "faith-entry", open},
    element("summary", {}, trustMark(trust), element("span", {class: "faith-verdict"},
      element("span", {class: "faith-title"},
        element("strong", {style: {color: `var(--${trust.tone})`}, text: trust.word}), " · ",
        element("bdi", {text: title})),
      element("bdi", {text: entry.verdict}))),
    element("div", {class: "faith-body"}, element("p", {class: "quiet", text: basis(entry)}),
      measures.length > 0 && measureTable(measures),
      curves.length > 0 && element("div", {class: "faith-curves"}, curves.map(curveFigure)),
      notes.length > 0 && element("ul", {class: "faith-notes"},
        notes.map((note) => element("li", {dir: "auto", text: note})))));
}

function basis({examples = 0, output = ""}) {
  const over = examples === 1 ? "one example" : `${count(examples)} examples`;
  return output ? `Measured over ${over}; the output is the ${output}.` : `Measured over ${over}.`;
}

// A tick, a wave or a cross in a ring; a question mark in a broken one.
function trustMark({tone, shape}) {
  return svg("svg", {
    class: "faith-mark", viewBox: "0 0 20 20", "aria-hidden": "true", fill: "none", stroke: `var(--${tone})`,
    "stroke-width": 1.8, "stroke-linecap": "round", "stroke-linejoin": "round",
  }, svg("circle", {cx: 10, cy: 10, r: 8.6, "stroke-dasharray": tone === "quiet" ? "3 2.6" : null}),
  svg("path", {d: shape}));
}

function measureTable(measures) {
  const head = (text, ...more) => element("th", {scope: "col"}, text, ...more);
  return element("table", {class: "faith-table"}, element("thead", {}, element("tr", {},
    head("Measure"), head("Value"), element("td", {class: "faith-track", "aria-hidden": "true"}),
    head("Random", element("span", {class: "faith-track", "aria-hidden": "true", text: " ❘"})))),
  element("tbody", {}, measures.map(measureRow)));
}

function measureRow(measure) {
  const {name, value, interval, baseline, better, about} = measure;
  const direction = directions[better];
  return element("tr", {},
    element("th", {scope: "row"}, element("bdi", {text: name}), "\u00a0",
      direction && element("span", {
        class: "faith-arrow", role: "img", title: direction.words, "aria-label": direction.words,
        text: direction.arrow,
      }),
      element("span", {class: "faith-about", dir: "auto", text: about})),
    element("td", {}, element("strong", {text: known(value)}),
      interval && element("span", {class: "faith-interval", title: "95 % interval"},
        interval.map(known).join(" … "))),
    element("td", {class: "faith-track", "aria-hidden": "true"}, Number.isFinite(value) && track(measure)),
    element("td", {text: known(baseline)}));
}

function known(value) {
  return Number.isFinite(value) ? number(value) : "–";
}

// The value with its interval on a line, the baseline as a short stroke across it.
function track({value, interval = [], baseline}) {
  const [from, to] = interval.filter(Number.isFinite);
  const marks = [0, value, from, to, baseline].filter(Number.isFinite);
  const [low, high] = [Math.min(...marks), Math.max(...marks)];
  const x = (place) => 6 + (128 * (place - low)) / (high - low || 1);
  const line = (x1, x2, attributes) => svg("line", {x1, y1: 10, x2, y2: 10, ...attributes});
  return svg("svg", {width: 140, height: 20}, line(6, 134, {stroke: "var(--rule)"}),
    to !== undefined && line(x(from), x(to), {
      stroke: "var(--accent)", "stroke-width": 5, "stroke-opacity": 0.35, "stroke-linecap": "round",
    }),
    Number.isFinite(baseline) &&
      line(x(baseline), x(baseline), {y1: 3, y2: 17, stroke: "var(--ink)", "stroke-width": 1.6}),
    svg("circle", {cx: x(value), cy: 10, r: 4.5, fill: "var(--accent)"}));
}

const rules = `
.faith { max-width: 62rem; display: grid; gap: 0.25rem; }
.faith h2 { font-size: 1.15rem; margin-bottom: 0.5rem; }
.faith-entry { border-top: 1px solid var(--rule); }
.faith-entry:last-child { border-bottom: 1px solid var(--rule); }
.faith-entry > summary {
  display: flex; gap: 0.8rem; align-items: flex-start; padding: 0.8rem 0.2rem; list-style: none;
  cursor: pointer;
}
.faith-entry > summary::-webkit-details-marker { display: none; }
.faith-entry > summary::after {
  content: ""; flex: none; width: 0.5rem; height: 0.5rem; margin: 0.55rem 0.4rem 0 auto;
  border: solid var(--quiet); border-width: 0 1.5px 1.5px 0; transform: rotate(45deg);
}
.faith-entry[open] > summary::after { transform: rotate(225deg) translate(-3px, -3px); }
.faith-mark { flex: none; width: 1.6rem; height: 1.6rem; margin-top: 0.1rem; }
.faith-verdict { display: grid; gap: 0.1rem; }
.faith-title { color: var(--quiet); font-size: 0.8667rem; }
.faith-body { display: grid; gap: 1.1rem; padding: 0 0.2rem 1.4rem 2.6rem; }
.faith-table { border-collapse: collapse; width: 100%; font-size: 0.8667rem; }
.faith-table th, .faith-table td {
  padding: 0.55rem 1.2rem 0.55rem 0; text-align: start; vertical-align: top; font-weight: 400;
}
.faith-table thead th { color: var(--quiet); padding-block: 0 0.3rem; }
.faith-table tbody tr { border-top: 1px solid var(--rule); }
.faith-table td { white-space: nowrap; }
.faith-arrow { color: var(--accent); font-weight: 700; }
.faith-about { display: block; color: var(--quiet); font-size: 0.8rem; max-width: 30rem; }
.faith-interval { display: block; color: var(--quiet); font-size: 0.8rem; }
.faith-curves {
  display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 19rem), 1fr)); gap: 1.5rem 2.5rem;
}
.faith-notes { margin: 0; padding-inline-start: 1.1rem; font-size: 0.8667rem; color: var(--label); }
@media (max-width: 600px) {
  .faith-track { display: none; }
  .faith-body { padding-left: 0.2rem; }
  .faith-table th, .faith-table td { padding-right: 0.7rem; }
}
`;
