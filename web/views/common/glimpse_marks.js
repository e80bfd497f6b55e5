// The path of glimpses as SVG over a picture: numbered badges, arrows between them, squares at each scale of
// the chosen one. Steps are {x, y, widths} in units of the drawing; `unit` is a pixel on screen in these.
import {svg} from "fovea/parts/dom.js";

const badgeRadius = 11;
// These lie on a picture, whose colours no theme changes.
const shade = "rgba(10, 12, 16, 0.75)";
const dark = "#14171c";
const light = "#ffffff";
const dim = "#aeb6c2";
const amber = "#ffc94d";

/** Whether a step has a place. */
export function isPlaced(step) {
  return Number.isFinite(step?.x) && Number.isFinite(step?.y);
}

/** All marks, the chosen step's on top. Badges carry their step in data-step. */
export function glimpseMarks(steps, chosen, unit) {
  const order = steps.map((_, index) => index).filter((index) => isPlaced(steps[index]));
  order.sort((a, b) => (a === chosen) - (b === chosen) || a - b);
  return [...arrows(steps, chosen, unit), ...squares(steps[chosen], unit),
    ...order.map((index) => badge(steps[index], index, chosen, unit))];
}

// The way so far has arrows, what is to come is dotted.
function arrows(steps, chosen, unit) {
  return steps.flatMap((step, index) => {
    if (!isPlaced(step) || !isPlaced(steps[index - 1])) return [];
    const past = index <= chosen;
    const d = arrowPath(steps[index - 1], step, badgeRadius * unit, past);
    const look = {d, fill: "none", "stroke-linecap": "round", "stroke-dasharray": past ? null : "1 7"};
    return d ? [svg("path", {...look, stroke: shade, "stroke-width": 5 * unit}),
      svg("path", {...look, stroke: past ? light : dim, "stroke-width": 2.2 * unit})] : [];
  });
}

function squares(step, unit) {
  if (!isPlaced(step)) return [];
  return step.widths.filter(Number.isFinite).flatMap((side, scale) => {
    const box = {x: step.x - side / 2, y: step.y - side / 2, width: side, height: side, fill: "none"};
    const width = (2.5 - 0.4 * Math.min(3, scale)) * unit;
    return [svg("rect", {...box, stroke: shade, "stroke-width": 5 * unit}),
      svg("rect", {...box, stroke: amber, "stroke-width": width})];
  });
}

function badge({x, y}, index, chosen, unit) {
  const [fill, ink] = index === chosen ? [amber, dark] : [dark, index < chosen ? light : dim];
  return svg("g", {dataset: {step: index}, opacity: index > chosen ? 0.75 : 1},
    svg("circle", {cx: x, cy: y, r: badgeRadius * unit, fill, stroke: ink, "stroke-width": 1.5 * unit}),
    svg("text", {
      x, y, fill: ink, "font-size": 12 * unit, "font-weight": 600, "text-anchor": "middle",
      "dominant-baseline": "central", text: index + 1,
    }));
}

// A line between two badges, if wanted with a head at its end; "" where they touch.
function arrowPath(from, to, radius, withHead) {
  const length = Math.hypot(to.x - from.x, to.y - from.y);
  if (length < 2 * radius + 8) return "";
  const [alongX, alongY] = [(to.x - from.x) / length, (to.y - from.y) / length];
  const [startX, startY] = [from.x + alongX * (radius + 2), from.y + alongY * (radius + 2)];
  const [endX, endY] = [to.x - alongX * (radius + 3), to.y - alongY * (radius + 3)];
  const wing = (side) => `${endX - 8 * alongX + side * 5 * alongY} ${endY - 8 * alongY - side * 5 * alongX}`;
  const head = withHead ? `M${wing(1)}L${endX} ${endY}L${wing(-1)}` : "";
  return `M${startX} ${startY}L${endX} ${endY}${head}`;
}
