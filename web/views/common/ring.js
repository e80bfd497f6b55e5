// Nodes around a node as SVG: the neighbours on a ring, the heaviest first and clockwise, each with its rank;
// beyond them their own neighbours where these are asked for. Where labels stand beside the nodes, heights
// are spread evenly, so that labels never meet.
import {svg} from "fovea/parts/dom.js";
import {visible} from "fovea/parts/format.js";
import {fitText, label} from "fovea/parts/chart.js";

const nodeRadius = 11;
const centreRadius = 17;
const labelledWidth = 560;  // narrower pictures go without labels
const labelRoom = 190;
const leastRadius = 120;
const mostRadius = 230;
const loopAngle = 0.45;  // half of the sector above the middle, where the loop of the node itself stands

/**
 * The picture as {nodes, height}. `centre`: {fill, own: {share, stroke, rank} or null}; `around`: [{unit,
 * rank, share, stroke, text, fill, isTrue, found, chosen, behind: [{unit, fill, share}]}]. Shares are of the
 * scale of weights, -1..1, and strokes its colours; `far` says whether what lies behind the neighbours is shown. Nodes carry data-unit.
 */
export function drawRing(width, centre, around, far) {
  const layout = ringLayout(width, around.length, far);
  const places = around.map((_, index) => ringPlace(layout, index, around.length));
  const nodes = [
    ...around.flatMap((node, index) => farNodes(layout, places[index], node.behind, around.length)),
    ...around.map((node, index) => seamed(layout, places[index], edgeStroke(node))),
    ...(centre.own ? [selfLoop(layout, centre.own)] : []), centreNode(layout, centre.fill),
    ...around.map((node, index) => neighbour(layout, places[index], node)),
  ];
  return {nodes, height: layout.height};
}

function ringLayout(width, neighbours, far) {
  const labels = !far && width >= labelledWidth;
  const room = labels ? Math.min(labelRoom, width / 2 - leastRadius - 60) : 0;
  const wanted = far ? mostRadius : Math.min(mostRadius, Math.max(leastRadius, neighbours * 11 + 40));
  const outer = Math.min(width / 2 - room - nodeRadius - 8, wanted);
  const height = 2 * outer + 4 * nodeRadius;
  return {x: width / 2, y: height / 2, radius: far ? outer * 0.62 : outer, outer, height, room, labels};
}

// Down the right side, then up the left one.
function ringPlace({x, y, radius, labels}, index, count) {
  if (!labels) {
    const angle = loopAngle + ((index + 0.5) / count) * 2 * (Math.PI - loopAngle);
    return {x: x + radius * Math.sin(angle), y: y - radius * Math.cos(angle), onRight: angle < Math.PI};
  }
  const right = Math.ceil(count / 2);
  const onRight = index < right;
  const [place, places] = onRight ? [index, right] : [count - 1 - index, count - right];
  const height = places === 1 ? 0 : Math.cos(loopAngle) * ((2 * place) / (places - 1) - 1);
  const width = Math.sqrt(1 - height * height);
  return {x: x + (onRight ? radius : -radius) * width, y: y + radius * height, onRight};
}

function edgeStroke({share, stroke}) {
  const width = 1 + 7 * Math.min(1, Math.abs(share));
  return {stroke, "stroke-width": width, "stroke-linecap": "round"};
}

function edge(from, to, stroke) {
  return svg("line", {x1: from.x, y1: from.y, x2: to.x, y2: to.y, ...stroke});
}

// With a seam, without which the pale colours of small weights would not stand off the paper.
function seamed(from, to, stroke) {
  const seam = {...stroke, stroke: "var(--quiet)", "stroke-width": stroke["stroke-width"] + 1.4};
  return svg("g", {}, edge(from, to, seam), edge(from, to, stroke));
}

// On a wider stroke of paper, so that edges behind it do not confuse.
function selfLoop({x, y}, own) {
  const d = `M${x - 8} ${y - 14}C${x - 42} ${y - 74} ${x + 42} ${y - 74} ${x + 8} ${y - 14}`;
  const stroke = edgeStroke(own);
  const under = (colour, more) => svg("path", {d, fill: "none", stroke: colour, "stroke-width": stroke["stroke-width"] + more});
  return svg("g", {}, under("var(--paper)", 4), under("var(--quiet)", 1.4), svg("path", {d, fill: "none", ...stroke}),
    label(x, y - 38, String(own.rank), {size: 11, anchor: "middle"}));
}

function centreNode({x, y}, fill) {
  return svg("g", {}, circle({x, y}, centreRadius, "var(--paper)", fill, 7),
    circle({x, y}, centreRadius + 6, "none", "var(--ink)", 1.5));
}

function neighbour(layout, place, {unit, rank, text, fill, isTrue, found, chosen}) {
  const truth = circle(place, nodeRadius + 4.5, "none", "var(--truth)", 2);
  truth.setAttribute("stroke-dasharray", "3 3");
  return svg("g", {class: "ring-node", dataset: {unit}},
    chosen && circle(place, nodeRadius + 6, "var(--accent-soft)", "var(--accent)", 1), isTrue && truth,
    circle(place, nodeRadius, found ? "var(--mark)" : "var(--paper)", fill, 3.5),
    label(place.x, place.y, String(rank), {size: 11, anchor: "middle"}),
    layout.labels && nodeLabel(layout, place, text));
}

// Nodes nearer to the middle line leave more room for their labels.
function nodeLabel({x, radius, room}, place, text) {
  const shown = fitText(visible(text), room + radius - Math.abs(place.x - x) - 6);
  const shift = place.onRight ? nodeRadius + 8 : -nodeRadius - 8;
  return label(place.x + shift, place.y, shown, {anchor: place.onRight ? "start" : "end"});
}

// Fanned out over the neighbour's sector, one of `sectors`.
function farNodes(layout, place, behind, sectors) {
  const angle = Math.atan2(place.y - layout.y, place.x - layout.x);
  const step = Math.min(0.25, 5 / (sectors * behind.length));
  const places = behind.map((_, index) => {
    const turned = angle + (index - (behind.length - 1) / 2) * step;
    return {x: layout.x + layout.outer * Math.cos(turned), y: layout.y + layout.outer * Math.sin(turned)};
  });
  const thin = (share) => ({stroke: "var(--rule)", "stroke-width": 1 + 2.5 * Math.min(1, Math.abs(share))});
  return [...behind.map(({share}, index) => edge(place, places[index], thin(share))),
    ...behind.map(({unit, fill}, index) => svg("g", {class: "ring-node", dataset: {unit}},
      circle(places[index], nodeRadius, "transparent", "none", 0),
      circle(places[index], 5, fill, "var(--paper)", 1.5)))];
}

function circle({x, y}, radius, fill, stroke, width) {
  return svg("circle", {cx: x, cy: y, r: radius, fill, stroke, "stroke-width": width});
}
