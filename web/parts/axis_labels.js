// Labels along the rows and columns of a matrix on a canvas: all of them where they fit, every n-th where
// not, only numbers in an overview. Marked labels are always shown.
import {colour} from "fovea/parts/colour.js";
import {count, shorten, visible} from "fovea/parts/format.js";

const lineHeight = 13;
const smallestCell = 3;  // below it labels say nothing about single cells
const longestLabel = 26;
const plates = {chosen: "accent-soft", found: "mark"};  // colours behind marked labels

/** The font of labels. */
export const labelFont = "12px system-ui, sans-serif";

/** Shown text of a label. */
export function labelText(axis, index) {
  return shorten(visible(axis.labels[index]), longestLabel);
}

/** The width that labels of an axis need, within `most`. Long axes are sampled. */
export function labelWidth(canvas, axis, most) {
  canvas.font = labelFont;
  const step = Math.max(1, Math.floor(axis.size / 400));
  let widest = canvas.measureText(count(axis.size)).width;
  for (let index = 0; index < axis.size; index += step) {
    widest = Math.max(widest, canvas.measureText(labelText(axis, index)).width);
    if (widest >= most) return most;
  }
  return Math.ceil(widest);
}

/** Which indices get a label: [{index, text, mark, isNumber}], mark "" | "found" | "hovered" | "chosen".
    `marks` maps index to mark. */
export function placedLabels(axis, {first, last, cell, marks}) {
  const numbersOnly = cell < smallestCell;
  const step = numbersOnly ? roundStep((4 * lineHeight) / cell) : Math.max(1, Math.ceil(lineHeight / cell));
  const reach = Math.max(1, Math.ceil(lineHeight / cell));
  const taken = new Map();  // place / reach -> place, so that neighbours are found at once
  const isFree = (index) => [-1, 0, 1].every((side) =>
    !(Math.abs(taken.get(Math.floor(index / reach) + side) - index) < reach));
  const labels = [];
  const add = (index, mark, isNumber) => {
    if (index < first || index >= last || !isFree(index)) return;
    taken.set(Math.floor(index / reach), index);
    labels.push({index, mark, isNumber, text: isNumber ? count(index) : labelText(axis, index)});
  };
  for (const [index, mark] of marks) add(index, mark, false);
  for (let index = Math.ceil(first / step) * step; index < last; index += step) add(index, "", numbersOnly);
  return labels;
}

/** Draws a label at the origin, on a plate where it is marked. */
export function drawLabel(canvas, {text, mark}, align, most) {
  canvas.font = mark === "chosen" ? `600 ${labelFont}` : labelFont;
  canvas.textAlign = align;
  canvas.textBaseline = "middle";
  const shown = fitted(canvas, text, most);
  if (plates[mark]) {
    const width = canvas.measureText(shown).width + 8;
    canvas.fillStyle = colour(plates[mark]);
    canvas.beginPath();
    canvas.roundRect({left: -4, center: -width / 2, right: 4 - width}[align], -9, width, 18, 4);
    canvas.fill();
  }
  canvas.fillStyle = colour(mark ? "ink" : "label");
  canvas.fillText(shown, 0, 0);
}

function fitted(canvas, text, most) {
  if (canvas.measureText(text).width <= most) return text;
  for (let length = text.length - 1; length > 1; --length) {
    const shown = shorten(text, length);
    if (canvas.measureText(shown).width <= most) return shown;
  }
  return "…";
}

// 1, 2 or 5 times a power of ten.
function roundStep(least) {
  const power = 10 ** Math.floor(Math.log10(Math.max(1, least)));
  return [1, 2, 5, 10].map((factor) => factor * power).find((step) => step >= least);
}
