// What drawn charts share: text that is measured and cut, round ticks, whiskers, rings of truth, a legend
// that wraps. Everything is SVG nodes with colours that svgDocument() can make concrete, so that the
// screen and the export agree.
import {svg} from "fovea/parts/dom.js";
import {svgDocument} from "fovea/parts/export.js";
import {number, shorten} from "fovea/parts/format.js";

const fontFamily = "system-ui, sans-serif";
const legendLine = 22;
const legendMark = 14;
const mostCharacters = 400;
const exportMargin = 16;
let measuring = null;
let measuredSize = 0;

/** Width of a text in pixels. */
export function textWidth(text, size = 13) {
  measuring ??= document.createElement("canvas").getContext("2d");
  if (size !== measuredSize) {
    // setting a font is slow
    measuring.font = `${size}px ${fontFamily}`;
    measuredSize = size;
  }
  return measuring.measureText(text).width;
}

/** The text, cut with an ellipsis where it is wider than `width`. */
export function fitText(text, width, size = 13) {
  let fitted = shorten(text, mostCharacters);
  for (
    let full = textWidth(fitted, size);
    full > width && fitted.length > 1;
    full = textWidth(fitted, size)
  ) {
    const characters = Array.from(fitted).length;
    fitted = shorten(fitted, Math.max(1, Math.min(characters - 1, Math.floor((characters * width) / full))));
  }
  return fitted;
}

/** A line of text whose middle is at `y`. */
export function label(x, y, text, attributes = {}) {
  const {fill = "var(--ink)", size = 13, anchor = "start", ...others} = attributes;
  return svg(
    "text",
    {
      x,
      y,
      fill,
      "font-size": size,
      "text-anchor": anchor,
      "dominant-baseline": "central",
      style: "unicode-bidi: plaintext; font-variant-numeric: tabular-nums",
      ...others,
    },
    text,
  );
}

/** A straight thin line. */
export function line(x1, y1, x2, y2, stroke = "var(--rule)", width = 1) {
  return svg("line", {x1, y1, x2, y2, stroke, "stroke-width": width});
}

/** Round numbers within low … high, about `count` of them. */
export function ticks(low, high, count) {
  if (!(high > low)) return [low];
  const rough = (high - low) / Math.max(1, count);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 5, 10].find((multiple) => multiple * power >= rough * 0.999);
  const first = Math.ceil(low / step - 1e-9);
  const last = Math.floor(high / step + 1e-9);
  return Array.from({length: last - first + 1}, (_, index) =>
    Number(((first + index) * step).toPrecision(12)),
  );
}

/** A function from a domain to pixels. */
export function scale(low, high, from, to) {
  const factor = high > low ? (to - from) / (high - low) : 0;
  return (value) => from + (value - low) * factor;
}

/** Lines across a plot at some values, each named on the left. */
export function valueAxis(values, y, left, right) {
  return values.flatMap((value) => [
    line(left, y(value), right, y(value), value === 0 ? "var(--quiet)" : "var(--rule)"),
    label(left - 8, y(value), number(value), {anchor: "end", size: 11, fill: "var(--quiet)"}),
  ]);
}

/** The path of an interval, level or upright, with a cap at each end. */
export function whiskerPath(x1, y1, x2, y2, cap = 3) {
  const end = (x, y) => (y1 === y2 ? `M${x} ${y - cap}v${2 * cap}` : `M${x - cap} ${y}h${2 * cap}`);
  return `M${x1} ${y1}L${x2} ${y2}${end(x1, y1)}${end(x2, y2)}`;
}

/** Intervals along a path, readable on any bar. */
export function whiskers(path) {
  const stroked = (stroke, width) => svg("path", {d: path, fill: "none", stroke, "stroke-width": width});
  const halo = stroked("var(--paper)", 3.4);
  halo.setAttribute("stroke-opacity", 0.6);
  return svg("g", {}, halo, stroked("var(--ink)", 1.3));
}

/** The mark of a pair that really matters. */
export function truthRing(x, y, radius = 4.5) {
  return svg("circle", {cx: x, cy: y, r: radius, fill: "none", stroke: "var(--ink)", "stroke-width": 1.8});
}

/** Legend entries in lines from `top` on: [{mark(x, y) -> node, text}]. Gives {nodes, height}. */
export function legend(entries, left, top, width) {
  const nodes = [];
  let x = left;
  let y = top + legendLine / 2;
  for (const {mark, text} of entries) {
    const fitted = fitText(text, width - legendMark - 8, 12);
    const needed = legendMark + 6 + textWidth(fitted, 12);
    if (x > left && x + needed > left + width) {
      x = left;
      y += legendLine;
    }
    nodes.push(
      mark(x + legendMark / 2, y),
      label(x + legendMark + 6, y, fitted, {size: 12, fill: "var(--quiet)"}),
    );
    x += needed + 18;
  }
  return {nodes, height: entries.length ? y - top + legendLine / 2 : 0};
}

/** The ground of what is chosen. */
export function highlight(x, y, width, height) {
  return svg("rect", {x, y, width, height, rx: 4, fill: "var(--accent-soft)"});
}

/** The text of a stand-alone SVG of drawn nodes, with a margin. */
export function exportChart(nodes, {width, height, title, description}) {
  const copies = nodes.map((node) => node.cloneNode(true));
  const size = {width: width + 2 * exportMargin, height: height + 2 * exportMargin};
  const moved = svg("g", {transform: `translate(${exportMargin} ${exportMargin})`}, copies);
  return svgDocument({...size, title, description}, [moved]);
}

/** A legend mark: a small square of a colour. */
export function swatch(fill) {
  return (x, y) => svg("rect", {x: x - 5, y: y - 5, width: 10, height: 10, rx: 2, fill});
}

/** What the whiskers of a map are, or "" where it has none. */
export function intervalText(map) {
  if (map.low && map.high) return map.intervalOf ? `${map.intervalIs} over ${map.intervalOf}` : map.intervalIs;
  return map.spread ? "± one standard deviation over the data" : "";
}

/** The legend entries that a map's bars need besides their colours. */
export function markEntries(map) {
  const interval = intervalText(map);
  return [
    ...(interval ? [{mark: (x, y) => whiskers(whiskerPath(x - 7, y, x + 7, y)), text: interval}] : []),
    ...(map.hasTruth ? [{mark: (x, y) => truthRing(x, y), text: "known to matter"}] : []),
  ];
}
