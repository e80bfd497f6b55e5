// Visits along time: each a stack of its codes' weights, up where they raise and down where they lower;
// above it, for contributions, the sum so far. Visits that would cover each other are moved apart, with a
// line to where they belong.
import {diverging} from "fovea/parts/colour.js";
import {svg} from "fovea/parts/dom.js";
import {number} from "fovea/parts/format.js";
import {highlight, label, line, scale, textWidth, ticks, truthRing, valueAxis} from "fovea/parts/chart.js";
import {largestOf} from "fovea/views/common/nested_words.js";

const margins = {left: 46, right: 72};
const titleLine = 16;
const sumTop = 18;
const sumHeight = 62;
const barsHeight = 190;
const axisHeight = 60;
const narrowestVisit = 12;
const widestBar = 24;
const reach = 40;

/** Draws what Visits.read() gives, `value` being what stacks are made of: {nodes, width, height, visitAt(x), highlightOf(visit)}. */
export function drawTimeChart(visits, {width, even, signed, sums, value, unit, isFaint, isFound}) {
  const full = Math.max(width, margins.left + margins.right + visits.length * narrowestVisit);
  const barWidth = Math.max(
    5,
    Math.min(widestBar, ((full - margins.left - margins.right) / visits.length) * 0.55),
  );
  const places = placesOf(visits, {
    even,
    from: margins.left + barWidth,
    to: full - margins.right - barWidth,
    gap: barWidth + 4,
  });
  const top = (sums ? sumTop + sumHeight + 22 : 16) + titleLine;
  const domain = stackDomain(visits);
  const y = scale(domain.low, domain.high, top + barsHeight, top);
  const nodes = valueAxis(ticks(domain.low, domain.high, 4), y, margins.left, full - margins.right);
  nodes.push(label(margins.left, top - titleLine, value, {size: 11, fill: "var(--quiet)"}));
  if (sums) nodes.push(...drawSums(visits, places, full));
  const largest = largestOf(visits.flatMap(({parts}) => parts.map(({weight}) => weight)));
  const look = (part) => ({
    fill: partColour(part.weight, largest, signed),
    isFaint: isFaint(part),
    isFound: isFound(part),
  });
  visits.forEach((visit, index) => nodes.push(...drawStack(visit, places[index].x, barWidth, y, look)));
  nodes.push(...timeAxis(visits, places, {y: top + barsHeight, width: full, even, unit}));
  const visitAt = (x) => nearest(places, x);
  const highlightOf = (visit) =>
    highlight(places[visit].x - barWidth / 2 - 4, 0, barWidth + 8, top + barsHeight);
  return {nodes, width: full, height: top + barsHeight + axisHeight, visitAt, highlightOf};
}

// The screen place of every visit and where its time really is.
function placesOf(visits, {even, from, to, gap}) {
  const byTime = !even && visits.every(({time}) => Number.isFinite(time));
  const times = visits.map(({time}, index) => (byTime ? time : index));
  const at = scale(Math.min(...times), Math.max(...times), from, to);
  const places = times.map((time, index) => ({index, exact: times.length > 1 ? at(time) : (from + to) / 2}));
  const ordered = [...places].sort((a, b) => a.exact - b.exact);
  ordered.forEach((place, i) => (place.x = Math.max(place.exact, i ? ordered[i - 1].x + gap : from)));
  for (let i = ordered.length - 1, limit = to; i >= 0 && ordered[i].x > limit; --i, limit -= gap)
    ordered[i].x = limit;
  return places;
}

function stackDomain(visits) {
  const sumOf = (parts, sign) => parts.reduce((sum, {weight}) => sum + (sign * weight > 0 ? weight : 0), 0);
  const low = Math.min(0, ...visits.map(({parts}) => sumOf(parts, -1)));
  const high = Math.max(0, ...visits.map(({parts}) => sumOf(parts, 1)));
  return high > low ? {low, high} : {low: 0, high: 1};
}

function partColour(weight, largest, signed) {
  if (!signed) return "var(--accent)";
  return diverging(Math.sign(weight) * (0.4 + (0.6 * Math.abs(weight)) / (largest || 1)));
}

// The largest part next to the line of 0.
function drawStack({parts}, x, width, y, look) {
  const sorted = parts.filter(({weight}) => weight).sort((a, b) => Math.abs(b.weight) - Math.abs(a.weight));
  const ends = {up: 0, down: 0};
  const nodes = sorted.map((part) => {
    const side = part.weight < 0 ? "down" : "up";
    const [from, to] = [ends[side], ends[side] + part.weight];
    ends[side] = to;
    const {fill, isFaint, isFound} = look(part);
    const [top, bottom] = [y(Math.max(from, to)), y(Math.min(from, to))];
    return svg("rect", {
      x: x - width / 2,
      y: top,
      width,
      height: Math.max(1, bottom - top),
      rx: 1.5,
      fill,
      "fill-opacity": isFaint ? 0.2 : 1,
      stroke: isFound ? "var(--ink)" : "var(--paper)",
      "stroke-width": isFound ? 2 : 1,
    });
  });
  if (parts.some(({isTrue}) => isTrue)) nodes.push(truthRing(x, y(ends.up) - 9));
  return nodes;
}

// The contributions added up from visit to visit, on a scale of their own.
function drawSums(visits, places, width) {
  const order = [...places].sort((a, b) => a.x - b.x);
  let sum = 0;
  const steps = order.map(({x, index}) => ({x, sum: (sum += visits[index].sum)}));
  const values = [0, ...steps.map((step) => step.sum)];
  const y = scale(Math.min(...values), Math.max(...values), sumTop + sumHeight, sumTop);
  const right = width - margins.right;
  const path = steps.map((step) => `H${step.x}V${y(step.sum)}`).join("");
  const outline = `M${margins.left} ${y(0)}${path}H${right}`;
  return [
    svg("path", {d: `${outline}V${y(0)}Z`, fill: "var(--ink)", "fill-opacity": 0.06}),
    line(margins.left, y(0), right, y(0), "var(--quiet)"),
    svg("path", {d: outline, fill: "none", stroke: "var(--ink)", "stroke-width": 1.5}),
    svg("circle", {cx: right, cy: y(sum), r: 3, fill: "var(--ink)"}),
    label(right + 8, y(sum), number(sum), {"font-weight": 600}),
    label(margins.left, 8, "sum so far", {size: 11, fill: "var(--quiet)"}),
  ];
}

function timeAxis(visits, places, {y, width, even, unit}) {
  const nodes = [line(margins.left, y + 10, width - margins.right, y + 10)];
  for (const {x, exact} of places)
    nodes.push(svg("path", {d: `M${x} ${y + 2}L${exact} ${y + 10}v5`, fill: "none", stroke: "var(--quiet)"}));
  const hasTimes = visits.every(({time}) => Number.isFinite(time));
  const marks = hasTimes && !even ? timeTicks(visits, places, width) : visitTicks(visits, places, hasTimes);
  let free = -Infinity;
  for (const {x, text} of marks) {
    const half = textWidth(text, 11) / 2;
    if (x - half < free) continue;
    free = x + half + 10;
    nodes.push(label(x, y + 26, text, {size: 11, anchor: "middle", fill: "var(--quiet)"}));
  }
  const title = hasTimes ? `time of the visit${unit ? `, ${unit}` : ""}` : "number of the visit";
  nodes.push(label((margins.left + width - margins.right) / 2, y + 46, title, {size: 11, anchor: "middle", fill: "var(--quiet)"}));
  return nodes;
}

function timeTicks(visits, places, width) {
  const times = visits.map(({time}) => time);
  const [low, high] = [Math.min(...times), Math.max(...times)];
  const at = scale(
    low,
    high,
    Math.min(...places.map(({exact}) => exact)),
    Math.max(...places.map(({exact}) => exact)),
  );
  return ticks(low, high, Math.min(12, width / 60)).map((time) => ({x: at(time), text: number(time)}));
}

function visitTicks(visits, places, hasTimes) {
  return places.map(({x, index}) => ({x, text: hasTimes ? number(visits[index].time) : String(index + 1)}));
}

function nearest(places, x) {
  const best = places.reduce((a, b) => (Math.abs(b.x - x) < Math.abs(a.x - x) ? b : a));
  return Math.abs(best.x - x) <= reach ? best.index : -1;
}
