// What an explanation is about, before any picture: the answer and how sure, whether it is right, what was read
// of the input, and which model answered.
import {answerBlock} from "fovea/parts/answer_block.js";
import {element} from "fovea/parts/dom.js";
import {folded} from "fovea/parts/folded.js";
import {count} from "fovea/parts/format.js";
import {addLooks} from "fovea/parts/looks.js";
import {modelCard, modelWarning} from "fovea/parts/model_card.js";

/** The title. */
export function heading({title, task}, compact) {
  const name = element(compact ? "h2" : "h1", {dir: "auto", text: title || task || "Attention"});
  return element("header", {class: "shell-heading"}, name);
}

/** Everything that is said before the picture. `compact` leaves the input to paper: the page shows it beside it;
    `truth` asks for the right answer, see answer_block.js. */
export function headBlocks(explanation, compact, truth = null) {
  addLooks(rules);
  const {input, value} = explanation;
  const warning = modelWarning(value.model);
  return element("div", {class: "head"},
    warning && element("p", {class: "head-warning"}, element("strong", {text: "Do not rely on this. "}),
      element("bdi", {text: asSentence(warning)})),
    input && inputBlock(input, compact),
    cutLines(value.cuts),
    element("div", {class: "head-blocks"}, answerBlock(explanation, truth), modelCard(value.model)));
}

function asSentence(text) {
  return `${text[0].toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? "" : "."}`;
}

function inputBlock(input, onlyOnPaper) {
  return element("div", {class: onlyOnPaper ? "head-input only-on-paper" : "head-input"}, element("h2", {class: "head-name", text: "Input"}),
    folded(element("p", {class: "input", dir: "auto", text: input})));
}

function cutLines(cuts) {
  if (!Array.isArray(cuts)) return false;
  return cuts.filter(({read, of}) => Number.isFinite(read) && Number.isFinite(of)).map(({unit, read, of}) =>
    element("p", {class: "head-cut"},
      element("strong", {text: `Read ${count(read)} of ${count(of)} ${unit}. `}),
      "The model did not see the rest."));
}

const rules = `
.head { display: grid; grid-template-columns: minmax(0, 1fr); gap: 0.8rem; }
.shell-heading h2 { font-size: 1.15rem; }
@media not print { .only-on-paper { display: none; } }
.head-name, .head-name h2 {
  margin: 0; color: var(--quiet); font-size: 0.8rem; font-weight: 600; letter-spacing: 0.02em;
}
.head-blocks { display: grid; gap: 1rem 2.5rem; grid-template-columns: minmax(0, 1fr); }
@container shell (min-width: 52rem) {
  .head-blocks:has(.model-card) { grid-template-columns: minmax(0, 1.15fr) minmax(0, 1fr); }
}
.head-warning {
  padding: 0.6rem 0.9rem; border: 2px solid var(--bad); border-radius: 6px; color: var(--ink);
  background: color-mix(in srgb, var(--bad) 12%, var(--paper));
}
.head-warning strong { color: var(--bad); }
.head-cut { padding-left: 0.7rem; border-left: 3px solid var(--caution); font-size: 0.9333rem; }
.head-input .input { overflow-wrap: anywhere; white-space: pre-wrap; }
`;
