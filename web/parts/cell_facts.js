// What there is to say about one weight: lines for the tooltip, a sentence for the live region.
import {intervalText} from "fovea/parts/chart.js";
import {number, visible} from "fovea/parts/format.js";
import {axisNames} from "fovea/parts/matrix_drawing.js";

const describedRows = 6;

/** Lines for Tooltip.show. A weight that is not decoded yet is "…"; a quantised one has "≈". */
export function cellLines(map, {query, key}) {
  const [queries, keys] = axisNames(map);
  const lines = [[queries, labelOf(map.queryAxis, query)], [keys, labelOf(map.keyAxis, key)]];
  lines.push([map.valueName, weightText(map, query, key) ?? "…"]);
  const spread = map.spread?.peek(query, key);
  if (Number.isFinite(spread)) lines.push(["standard deviation", `± ${number(spread)}`]);
  const [low, high] = [map.low?.peek(query, key), map.high?.peek(query, key)];
  if (Number.isFinite(low) && Number.isFinite(high)) {
    lines.push([intervalText(map), `${number(low)} … ${number(high)}`]);
  }
  if (map.isTrue(query, key)) lines.push(["truth", "really matters"]);
  return lines;
}

/** The same for a cell of an overview that stands for factorY x factorX weights. */
export function blockLines(map, {query, key}, {factorX, factorY}, value) {
  const [queries, keys] = axisNames(map);
  const range = (index, axis, factor) => {
    const first = Math.floor(index / factor) * factor;
    return factor === 1 ? labelOf(axis, index) : `${first} … ${Math.min(axis.size, first + factor) - 1}`;
  };
  return [[queries, range(query, map.queryAxis, factorY)], [keys, range(key, map.keyAxis, factorX)],
    ["largest of these", value === undefined ? "…" : `${map.weights.exact ? "" : "≈ "}${number(value)}`]];
}

/** One weight as a sentence. */
export function cellSentence(map, {query, key}) {
  const truth = map.isTrue(query, key) ? ", really matters" : "";
  const [from, to] = [labelOf(map.queryAxis, query), labelOf(map.keyAxis, key)];
  return `${from} to ${to}: ${weightText(map, query, key) ?? "not read yet"}${truth}`;
}

/** The largest weight of a map, and where its first queries look most. */
export async function mapSentence({weights, queryAxis, keyAxis}) {
  const strongest = [];
  for (let row = 0; row < Math.min(describedRows, weights.rows); ++row) {
    const [best] = await weights.top(row);
    if (!best) continue;
    const [from, to] = [labelOf(queryAxis, row), labelOf(keyAxis, best.key)];
    strongest.push(`${from} looks most at ${to} (${number(best.value)})`);
  }
  return `Largest weight ${number(await weights.largest())}. ${strongest.join("; ")}.`;
}

function weightText(map, query, key) {
  const found = map.weights.lookup(query, key);
  if (!found) return undefined;
  return `${found.exact || !Number.isFinite(found.value) ? "" : "≈ "}${number(found.value)}`;
}

// Units of long axes are also told by their place.
function labelOf(axis, index) {
  const label = visible(axis.labels[index]);
  return axis.size > 20 && label !== String(index) ? `${label} (${index})` : label;
}
