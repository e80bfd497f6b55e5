// Horizontal bars, one row per key: label, its own value, bar with whiskers, weight as text. On narrow
// screens the label stands above its bar.
import {diverging} from "fovea/parts/colour.js";
import {svg} from "fovea/parts/dom.js";
import {number, visible} from "fovea/parts/format.js";
import {
  fitText,
  highlight,
  intervalText,
  label,
  line,
  scale,
  swatch,
  textWidth,
  truthRing,
  whiskerPath,
  whiskers,
} from "fovea/parts/chart.js";

const wideRow = 27;
const narrowRow = 44;
const narrowWidth = 520;
const thickness = 13;
const ringColumn = 18;

/** The colour of a positive or a negative bar. */
export function barColour(weight, signed) {
  return signed ? diverging(weight < 0 ? -0.72 : 0.72) : "var(--accent)";
}

/** Legend entries for the colours of signed bars. */
export function signEntries({kind, total}) {
  const [up, down] = kind === "contribution" ? ["raises", "lowers"] : ["above 0", "below 0"];
  return [
    {mark: swatch(barColour(1, true)), text: total ? `${up} the ${total.split(",")[0]}` : up},
    {mark: swatch(barColour(-1, true)), text: total ? `${down} it` : down},
  ];
}

/** The bars of one row of a map: [{key, label, value, weight, low, high, isTrue}]. */
export async function readBars(map, query) {
  const matrices = [map.weights, map.spread, map.low, map.high];
  const [weights, spread, low, high] = await Promise.all(matrices.map((matrix) => matrix?.row(query)));
  const {labels, values} = map.keyAxis;
  const away = new Set(map.keyAxis.away);
  const ends = (weight, key) => {
    if (low && high) return {low: low[key], high: high[key]};
    const reach = spread ? spread[key] : NaN;
    return {low: tidy(weight - reach), high: tidy(weight + reach)};
  };
  return Array.from(weights, (weight, key) => ({
    key,
    weight,
    label: `${visible(labels[key])}${away.has(key) ? " (away)" : ""}`,
    value: values?.[key] ?? null,
    isTrue: map.isTrue(query, key),
    ...ends(weight, key),
  }));
}

/** The lines of a tooltip about a bar. */
export function barLines(bar, map) {
  const interval = intervalText(map);
  return [
    bar.label,
    [map.valueName, number(bar.weight)],
    ...(hasRange(bar) ? [[interval, `${number(bar.low)} … ${number(bar.high)}`]] : []),
    ...(bar.value === null ? [] : [["its value", valueText(bar)]]),
    ...(bar.isTrue ? ["known to matter"] : []),
  ];
}

/** What is announced about a bar. */
export function barSentence(bar) {
  return `${bar.label}: ${number(bar.weight)}${bar.isTrue ? ", known to matter" : ""}`;
}

/** Draws bars from `top` on: {nodes, height, barAt(y), highlightOf(key)}. `found`: keys of a search; `heads`:
    {label, weight}, what the columns are, in the 20 pixels above; `equal`: a weight to be marked by a line. */
export function drawBarRows(bars, {width, top = 0, signed = false, found = new Set(), heads = null, equal = 0}) {
  const columns = layOut(bars, width, equal);
  const place = {...columns, width, signed};
  const rows = bars.flatMap((bar, index) =>
    drawRow(bar, {...place, y: top + index * columns.row, isFound: found.has(bar.key)}),
  );
  const height = bars.length * columns.row;
  const nodes = [
    ...(heads ? drawHeads(heads, place, top - 10) : []),
    ...rows,
    ...(equal > 0 ? [equalLine(columns.x(equal), top, top + height)] : []),
  ];
  const barAt = (y) => bars[Math.floor((y - top) / columns.row)];
  const placeOf = new Map(bars.map(({key}, index) => [key, index]));
  const highlightOf = (key) =>
    placeOf.has(key) ? highlight(0, top + placeOf.get(key) * columns.row, width, columns.row) : null;
  return {nodes, height, barAt, highlightOf};
}

/** The legend's mark for the line of equal weights. */
export function equalMark(x, y) {
  return equalLine(x, y - 7, y + 7);
}

function equalLine(x, from, to) {
  const path = line(x, from, x, to, "var(--ink)");
  path.setAttribute("stroke-dasharray", "2 3");
  return path;
}

function drawHeads({label: name, weight}, {narrow, left, width, valueWidth, valueRight, x}, y) {
  const quiet = {size: 11, fill: "var(--quiet)"};
  const end = {...quiet, anchor: "end"};
  return [
    label(left, y, name, quiet),
    ...(!narrow && valueWidth > 0 ? [label(valueRight, y, "its value", end)] : []),
    ...(narrow ? [] : [label(x(0), y, "0", quiet)]),
    label(width - 8, y, weight, end),
  ];
}

// Label from `left`, value that ends at `valueRight`, bar by x(weight), weight that ends at `width`.
function layOut(bars, width, equal) {
  const narrow = width < narrowWidth;
  const widest = (texts, size) => Math.max(0, ...texts.map((text) => textWidth(text, size)));
  const weightColumn = widest(bars.map(({weight}) => number(weight))) + 14;
  const widestValue = Math.max(bars.some(({value}) => value !== null) ? textWidth("its value", 11) : 0, widest(bars.map((bar) => valueText(bar).slice(0, 80)), 12));
  const valueColumn = Math.min(width * (narrow ? 0.4 : 0.2), widestValue);
  const left = (bars.some(({isTrue}) => isTrue) ? ringColumn : 0) + 8;
  const labelColumn = Math.min(width * 0.32, widest(bars.map((bar) => bar.label.slice(0, 80))) + 2);
  const start = narrow ? left : left + labelColumn + (valueColumn ? valueColumn + 16 : 0) + 16;
  const numbers = bars.flatMap(({weight, low, high}) => [weight, low, high]).filter(Number.isFinite);
  const x = scale(Math.min(0, ...numbers), Math.max(equal, ...numbers), start, width - weightColumn - 10);
  return {
    narrow,
    left,
    x,
    row: narrow ? narrowRow : wideRow,
    labelWidth: narrow ? width - left - valueColumn - 24 : labelColumn,
    valueWidth: valueColumn,
    valueRight: start - 16,
  };
}

function drawRow(bar, place) {
  const {narrow, row, y} = place;
  return [
    ...drawName(bar, place, y + (narrow ? 13 : row / 2)),
    ...drawWeight(bar, place, y + (narrow ? 31 : row / 2)),
  ];
}

function drawName(bar, {narrow, left, isFound, labelWidth, valueWidth, valueRight}, y) {
  const text = fitText(bar.label, labelWidth);
  const [valueAt, anchor] = narrow ? [left + textWidth(text) + 10, "start"] : [valueRight, "end"];
  return [
    ...(isFound ? [foundMark(left, y, textWidth(text))] : []),
    ...(bar.isTrue ? [truthRing(left - 11, y)] : []),
    label(left, y, text),
    label(valueAt, y, fitText(valueText(bar), valueWidth, 12), {anchor, size: 12, fill: "var(--quiet)"}),
  ];
}

// The line of 0 runs through wide rows; where labels stand above, only beside the bars.
function drawWeight(bar, {narrow, row, x, width, signed}, y) {
  const isGap = !Number.isFinite(bar.weight);
  const zeroReach = narrow ? 10 : row / 2;
  return [
    label(width - 8, y, number(bar.weight), {anchor: "end", fill: isGap ? "var(--quiet)" : "var(--ink)"}),
    ...(isGap ? [] : [barRectangle(x, bar.weight, y, barColour(bar.weight, signed))]),
    ...(signed ? [line(x(0), y - zeroReach, x(0), y + zeroReach, "var(--quiet)")] : []),
    ...(hasRange(bar) ? [whiskers(whiskerPath(x(bar.low), y, x(bar.high), y))] : []),
  ];
}

function hasRange({weight, low, high}) {
  return Number.isFinite(weight) && Number.isFinite(low) && Number.isFinite(high);
}

function barRectangle(x, weight, middle, fill) {
  const [from, to] = [x(Math.min(0, weight)), x(Math.max(0, weight))];
  const size = {width: Math.max(1, to - from), height: thickness};
  return svg("rect", {x: from, y: middle - thickness / 2, ...size, rx: 2, fill});
}

function foundMark(x, middle, width) {
  return svg("rect", {x: x - 3, y: middle - 10, width: width + 6, height: 20, rx: 3, fill: "var(--mark)"});
}

// Without the last digits that adding leaves behind.
function tidy(value) {
  return Number(value.toPrecision(9));
}

// A number, or a category as it stands in the file.
function valueText({value}) {
  if (value === null) return "";
  return typeof value === "number" ? number(value) : visible(value);
}
