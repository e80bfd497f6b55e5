// What an explanation is about: title, input, prediction.
import {element} from "fovea/parts/dom.js";

/** `compact` leaves out the input, which the page shows beside it. */
export function heading({title, task, input, prediction}, compact) {
  const name = element(compact ? "h2" : "h1", {dir: "auto", text: title || task || "Attention"});
  const entries = [];
  if (input && !compact) entries.push(entry("Input", input, "input"));
  if (prediction.text) entries.push(entry("Prediction", prediction.text, "prediction"));
  const answer = entries.length > 0 && element("dl", {class: "shell-answer"}, entries.flat());
  return element("header", {class: "shell-heading"}, name, answer);
}

function entry(name, text, className) {
  return [element("dt", {text: name}), element("dd", {class: className, dir: "auto", text})];
}
