// Points of embeddings on a canvas, and the same as SVG: both from one layout, so that what is saved is what is seen.
import {label, legend, line, swatch, textWidth} from "fovea/parts/chart.js";
import {colour, series} from "fovea/parts/colour.js";
import {svg} from "fovea/parts/dom.js";
import {svgDocument} from "fovea/parts/export.js";
import {shorten, visible} from "fovea/parts/format.js";

const margin = {left: 28, right: 20, top: 16, bottom: 30};
const labelSize = 11;
const mostLabels = 90;
const labelCharacters = 24;
const cell = 8;  // pixels of the grid that keeps labels apart

/** Draws; gives the place of each point. */
export function drawPoints(canvas, picture) {
  const drawing = canvas.getContext("2d");
  const ratio = window.devicePixelRatio || 1;
  drawing.setTransform(ratio, 0, 0, ratio, 0, 0);
  drawing.clearRect(0, 0, picture.width, picture.height);
  const {places, marks, names} = layOut(picture);
  for (const {x, y, radius, fill, strong, faint} of marks) {
    drawing.globalAlpha = faint ? 0.25 : 0.8;
    drawing.fillStyle = concrete(fill);
    drawing.beginPath();
    drawing.arc(x, y, radius, 0, 2 * Math.PI);
    drawing.fill();
    if (!strong) continue;
    drawing.globalAlpha = 1;
    drawing.lineWidth = 1.6;
    drawing.strokeStyle = colour("ink");
    drawing.stroke();
  }
  drawing.globalAlpha = 1;
  drawing.textBaseline = "middle";
  for (const {x, y, text, bold} of names) {
    drawing.font = `${bold ? "600 " : ""}${labelSize}px system-ui, sans-serif`;
    drawing.lineJoin = "round";
    drawing.lineWidth = 3;
    drawing.strokeStyle = colour("paper");
    drawing.strokeText(text, x, y);
    drawing.fillStyle = colour("ink");
    drawing.fillText(text, x, y);
  }
  drawAxes(drawing, picture);
  return places;
}

/** What is in view as the text of a stand-alone SVG. */
export function pointsSvg(picture, {title, description, groups}) {
  const {marks, names} = layOut(picture);
  const circles = marks.map(({x, y, radius, fill, strong, faint}) => svg("circle", {
    cx: x.toFixed(1), cy: y.toFixed(1), r: radius, fill, "fill-opacity": faint ? 0.25 : 0.8, stroke: strong ? "var(--ink)" : "none",
  }));
  const texts = names.map(({x, y, text, bold}) => label(x, y, text, {size: labelSize, "font-weight": bold ? 600 : 400}));
  const [across, up] = picture.axes;
  const {width, height} = picture;
  const head = 34;
  const colours = legend(groups.map((group, place) => ({mark: swatch(series(place)), text: visible(group)})), margin.left, head + height + 4, width - 2 * margin.left);
  const plot = svg("g", {transform: `translate(0 ${head})`}, circles, texts,
    line(margin.left, height - margin.bottom, width - margin.right, height - margin.bottom), line(margin.left, margin.top, margin.left, height - margin.bottom),
    label(width - margin.right, height - 12, across, {anchor: "end", size: 11, fill: "var(--quiet)"}),
    label(0, 0, up, {anchor: "end", size: 11, fill: "var(--quiet)", transform: `translate(14 ${margin.top}) rotate(-90)`}));
  return svgDocument({width, height: head + height + colours.height + 12, title, description},
    [label(margin.left, 18, title, {size: 14, "font-weight": 600}), plot, ...colours.nodes]);
}

function drawAxes(drawing, {width, height, axes: [across, up]}) {
  drawing.strokeStyle = colour("rule");
  drawing.lineWidth = 1;
  drawing.beginPath();
  drawing.moveTo(margin.left, margin.top);
  drawing.lineTo(margin.left, height - margin.bottom);
  drawing.lineTo(width - margin.right, height - margin.bottom);
  drawing.stroke();
  drawing.font = `${labelSize}px system-ui, sans-serif`;
  drawing.fillStyle = colour("quiet");
  drawing.textAlign = "right";
  drawing.fillText(across, width - margin.right, height - 12);
  drawing.save();
  drawing.translate(14, margin.top);
  drawing.rotate(-Math.PI / 2);
  drawing.fillText(up, 0, 0);
  drawing.restore();
  drawing.textAlign = "left";
}

// Places of all points on screen, the marks in view, and as many names as find room, the important ones first.
function layOut({points, labels, colourOf, chosen, found, near, width, height, panzoom}) {
  const toContent = frameOf(points, width, height);
  const places = points.map((point) => panzoom.toScreen(...toContent(point)));
  const searching = found.size > 0;
  const inView = ([x, y]) => x > -10 && y > -10 && x < width + 10 && y < height + 10;
  const shown = places.map((_, index) => index).filter((index) => inView(places[index]));
  const weight = (index) => (index === chosen ? 3 : near.has(index) ? 2 : found.has(index) ? 1 : 0);
  const marks = shown.map((index) => ({
    x: places[index][0], y: places[index][1], fill: colourOf(index), radius: weight(index) > 0 ? 4.5 : points.length > 1000 ? 2.2 : 3.2,
    strong: index === chosen || found.has(index), faint: (searching || chosen >= 0) && weight(index) === 0, order: weight(index),
  })).sort((a, b) => a.order - b.order);
  return {places, marks, names: namesOf([...shown].sort((a, b) => weight(b) - weight(a) || a - b), {places, labels, chosen, width, height})};
}

// The whole of the points within the margins.
function frameOf(points, width, height) {
  const ends = [0, 1].map((axis) => {
    const values = points.map((point) => point[axis]);
    return [Math.min(...values), Math.max(...values)];
  });
  const along = (value, [low, high], from, to) => (high > low ? from + ((value - low) / (high - low)) * (to - from) : (from + to) / 2);
  return ([x, y]) => [along(x, ends[0], margin.left + 12, width - margin.right - 40), along(y, ends[1], height - margin.bottom - 12, margin.top + 12)];
}

function namesOf(order, {places, labels, chosen, width, height}) {
  const taken = new Set();
  const names = [];
  for (const index of order) {
    if (names.length >= mostLabels) break;
    const text = shorten(labels[index], labelCharacters);
    const [x, y] = [places[index][0] + 6, places[index][1]];
    const cells = cellsOf(x, y, textWidth(text, labelSize));
    if (x + textWidth(text, labelSize) > width || y < 6 || y > height - margin.bottom) continue;
    if (index !== chosen && cells.some((one) => taken.has(one))) continue;
    cells.forEach((one) => taken.add(one));
    names.push({x, y, text, bold: index === chosen});
  }
  return names;
}

function cellsOf(x, y, width) {
  const cells = [];
  for (let column = Math.floor(x / cell); column <= Math.floor((x + width) / cell); ++column) {
    for (const row of [Math.floor((y - labelSize / 2) / cell), Math.floor((y + labelSize / 2) / cell)]) cells.push(`${column} ${row}`);
  }
  return cells;
}

// A canvas knows no custom properties.
function concrete(fill) {
  return fill.startsWith("var(--") ? colour(fill.slice(6, -1)) : fill;
}
