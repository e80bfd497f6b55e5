// The line that says how the answers of two panes differ.

import {element} from "fovea/parts/dom.js";
import {number, visible} from "fovea/parts/format.js";

/**
 * Where two texts part: their common beginning and end, counted in code points, and what stands between in
 * each.
 */
export function parting(first, second) {
  const a = Array.from(first),
    b = Array.from(second);
  const shorter = Math.min(a.length, b.length);
  let begin = 0;
  while (begin < shorter && a[begin] === b[begin]) ++begin;
  let end = 0;
  while (end < shorter - begin && a[a.length - 1 - end] === b[b.length - 1 - end]) ++end;
  const cut = (units) =>
    [units.slice(0, begin), units.slice(begin, units.length - end), units.slice(units.length - end)].map(
      (part) => part.join(""),
    );
  return [cut(a), cut(b)];
}

function marked([begin, middle, end]) {
  return element("bdi", {class: "answer"}, begin, middle && element("mark", {text: middle}), end);
}

function sentence(...parts) {
  return element("p", {class: "difference-text"}, ...parts);
}

function ofValues(a, b) {
  const change = b.value - a.value;
  if (change === 0)
    return sentence("Same answer: ", element("bdi", {class: "answer", text: number(a.value)}));
  return sentence(
    "Answers differ: ",
    element("bdi", {class: "answer", text: number(a.value)}),
    " and ",
    element("bdi", {class: "answer", text: number(b.value)}),
    `; B is ${number(Math.abs(change))} ${change > 0 ? "higher" : "lower"}.`,
  );
}

function ofClasses(a, b) {
  const probabilities = `(probability ${number(a.probability)} and ${number(b.probability)})`;
  const named = (answer) => element("bdi", {class: "answer", text: visible(String(answer.class))});
  if (a.class === b.class) return sentence("Same answer: ", named(a), ` ${probabilities}`);
  return sentence("Answers differ: ", named(a), " and ", named(b), ` ${probabilities}`);
}

/** A paragraph that compares two predictions of explanations; null where one is missing. */
export function differenceLine(first, second) {
  if (!first || !second) return null;
  const a = first.answer ?? {},
    b = second.answer ?? {};
  if (Number.isFinite(a.value) && Number.isFinite(b.value)) return ofValues(a, b);
  if ("class" in a && "class" in b) return ofClasses(a, b);
  if (first.text === second.text)
    return sentence("Same answer: ", element("bdi", {class: "answer", text: visible(first.text)}));
  const [one, other] = parting(first.text, second.text);
  return sentence("Answers differ: ", marked(one), " and ", marked(other));
}
