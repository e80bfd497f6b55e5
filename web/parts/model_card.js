// The model's card: which network, learned from what, how well it did on rows that it was not trained on.
import {element} from "fovea/parts/dom.js";
import {count, number} from "fovea/parts/format.js";
import {addLooks} from "fovea/parts/looks.js";

const splitNames = {validation: "validation rows", test: "test rows", train: "training rows"};

/** What nobody must miss about a model, or "". */
export function modelWarning(model) {
  return typeof model?.warning === "string" ? model.warning.replace(/^WARNING: /, "") : "";
}

/** The card of the field `model`; nothing where there is none. */
export function modelCard(model) {
  if (!model) return false;
  addLooks(rules);
  const entries = [
    ["Model", listOf([model.name, model.task && `task ${model.task}`, model.network && `network ${model.network}`,
      counted(model.parameters, "weights")])],
    ["How good", goodness(model.measured)],
    ["Learned from", listOf([model.data === "built-in" ? "built-in data" : model.data,
      counted(model.rows?.train, "training rows")])],
    ["Trained", training(model)],
  ].filter(([, text]) => text);
  return element("div", {class: "model-card", role: "group", "aria-label": "The model"},
    element("h2", {class: "head-name", text: "The model"}),
    element("dl", {}, entries.flatMap(([name, text]) =>
      [element("dt", {text: name}), element("dd", {dir: "auto"}, text)])));
}

function listOf(parts) {
  return parts.filter((part) => typeof part === "string" && part !== "").join(" · ");
}

function counted(value, unit) {
  return Number.isFinite(value) ? `${count(value)} ${unit}` : "";
}

// "accuracy 0.868 (95 %: 0.86 to 0.88) on 1,000 validation rows; majority 0.759".
function goodness(measured) {
  if (typeof measured?.metric !== "string") return element("span", {text: "not measured on held-out rows"});
  const {metric, value, interval, rows, split, baselines} = measured;
  const range = Array.isArray(interval) && interval.every(Number.isFinite)
    ? ` (95 % interval ${number(interval[0])} to ${number(interval[1])})` : "";
  const name = splitNames[split] ?? `${split} rows`;
  const others = (Array.isArray(baselines) ? baselines : []).filter((one) => Number.isFinite(one?.value));
  return [
    element("b", {text: `${metric.replaceAll("_", " ")} ${number(value)}`}),
    `${range} on ${Number.isFinite(rows) ? `${count(rows)} ` : ""}${name}, which it was not trained on`,
    others.length > 0 && element("span", {class: "quiet card-line",
      text: `For comparison: ${others.map((one) => `${one.name} ${number(one.value)}`).join(", ")}`}),
    measured.higher_is_better === false && element("span", {class: "quiet card-line", text: "Lower is better."}),
  ];
}

function training({epoch, epochs, best_epoch: best, fitted, trained, warning}) {
  const planned = Number.isFinite(epochs) && epochs > epoch ? ` of ${count(epochs)} planned` : "";
  const length = fitted === true ? "fitted without epochs"
    : !Number.isFinite(epoch) ? ""
      : epoch === 0 ? "no epoch finished" : `${count(epoch)} ${epoch === 1 ? "epoch" : "epochs"}${planned}`;
  const kept = Number.isFinite(best) && best > 0 && best < epoch ? `weights of epoch ${count(best)}` : "";
  const text = listOf([length, kept, dayOf(trained)]);
  return text || (warning ? "did not finish" : "");
}

function dayOf(time) {
  const date = new Date(typeof time === "string" ? time : NaN);
  if (Number.isNaN(date.getTime())) return "";
  return date.toLocaleDateString("en-GB", {day: "numeric", month: "short", year: "numeric", timeZone: "UTC"});
}

const rules = `
.model-card { display: grid; gap: 0.4rem; align-content: start; min-width: 0; }
.model-card dl {
  display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: 0.25rem 0.9rem; margin: 0;
  font-size: 0.9rem;
}
.model-card dt { color: var(--quiet); }
.model-card dd { margin: 0; overflow-wrap: anywhere; }
.card-line { display: block; font-size: 0.8667rem; }
`;
