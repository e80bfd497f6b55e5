// One panel of small multiples: for each key the bars of all series side by side, on a scale that all
// panels share.
import {series as seriesColour} from "fovea/parts/colour.js";
import {svg} from "fovea/parts/dom.js";
import {
  fitText,
  label,
  highlight,
  scale,
  textWidth,
  ticks,
  truthRing,
  valueAxis,
  whiskerPath,
  whiskers,
} from "fovea/parts/chart.js";

const margins = {left: 42, right: 6, top: 44, bottom: 42};
const plotHeight = 130;
const widestBar = 14;
const longestLabel = 64;

/** The height of every panel. */
export const panelHeight = margins.top + plotHeight + margins.bottom;

/** The key at a place within a panel, or -1. */
export function keyAt(x, width, keys) {
  const key = Math.floor((x - margins.left) / slotWidth(width, keys));
  return key >= 0 && key < keys ? key : -1;
}

/** `row`: the bars of each series; names: {up, across} of the axes; domain: {low, high, least}, below `least` bars are faint. */
export function drawPanel(row, {title, names, width, domain, isChosen, chosen, found}) {
  const keys = row[0].length;
  const slot = slotWidth(width, keys);
  const y = scale(domain.low, domain.high, margins.top + plotHeight, margins.top);
  const middleOf = (key) => margins.left + (key + 0.5) * slot;
  const barWidth = Math.max(1, Math.min(widestBar, (slot * 0.78) / row.length));
  const nodes = [
    label(0, 9, fitText(title, width), {"font-weight": 600, fill: isChosen ? "var(--accent)" : "var(--ink)"}),
  ];
  const quiet = {size: 11, fill: "var(--quiet)"};
  nodes.push(label(0, 27, names.up, quiet),
    label(margins.left + (keys * slot) / 2, panelHeight - 8, fitText(names.across, keys * slot, 11), {...quiet, anchor: "middle"}));
  if (isChosen && chosen >= 0)
    nodes.push(highlight(middleOf(chosen) - slot / 2, margins.top, slot, plotHeight));
  nodes.push(...valueAxis(ticks(domain.low, domain.high, 3), y, margins.left, width));
  row.forEach((bars, index) => {
    const leftOf = (key) => middleOf(key) + (index - row.length / 2) * barWidth;
    nodes.push(...drawSeries(bars, {leftOf, barWidth, y, fill: seriesColour(index), least: domain.least}));
  });
  for (const {key, isTrue} of row[0]) if (isTrue) nodes.push(truthRing(middleOf(key), margins.top - 8, 4));
  return [...nodes, ...keyLabels(row[0], middleOf, slot, found)];
}

function slotWidth(width, keys) {
  return (width - margins.left - margins.right) / keys;
}

// One path for all bars of a series: a page of panels has thousands of them.
function drawSeries(bars, {leftOf, barWidth, y, fill, least}) {
  const paths = {plain: "", faint: "", ranges: ""};
  const gaps = [];
  for (const {key, weight, low, high} of bars) {
    const left = leftOf(key);
    const middle = left + barWidth / 2;
    if (!Number.isFinite(weight)) {
      gaps.push(label(middle, y(0) - 8, "×", {size: 11, anchor: "middle", fill: "var(--quiet)"}));
      continue;
    }
    const isFaint = Math.abs(weight) < least;
    const [top, bottom] = [y(Math.max(0, weight)), y(Math.min(0, weight))];
    const [width, height] = [Math.max(1, barWidth - 0.8), Math.max(0.8, bottom - top)];
    paths[isFaint ? "faint" : "plain"] += `M${left} ${top}h${width}v${height}h${-width}z`;
    const hasRange = Number.isFinite(low) && Number.isFinite(high) && !isFaint;
    if (hasRange) paths.ranges += whiskerPath(middle, y(low), middle, y(high), Math.min(2, barWidth / 3));
  }
  return [
    svg("path", {d: paths.plain, fill}),
    svg("path", {d: paths.faint, fill, "fill-opacity": 0.2}),
    ...(paths.ranges ? [whiskers(paths.ranges)] : []),
    ...gaps,
  ];
}

// Every n-th label where not all fit; what the search found is always there.
function keyLabels(bars, middleOf, slot, found) {
  const texts = bars.map((bar) => fitText(bar.label, longestLabel, 11));
  const every = Math.max(1, Math.ceil((Math.max(...texts.map((text) => textWidth(text, 11))) + 6) / slot));
  const y = margins.top + plotHeight + 14;
  return texts.flatMap((text, key) => {
    const isFound = found.has(key);
    if (key % every && !isFound) return [];
    const looks = isFound ? {fill: "var(--accent)", "font-weight": 700} : {fill: "var(--quiet)"};
    return [label(middleOf(key), y, text, {size: 11, anchor: "middle", ...looks})];
  });
}
