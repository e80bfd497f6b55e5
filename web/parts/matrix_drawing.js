// Draws a matrix picture on a canvas: cells, labels, outlines of planted truth, the chosen cell.
import {drawLabel, labelFont, placedLabels} from "fovea/parts/axis_labels.js";
import {colour} from "fovea/parts/colour.js";
import {shorten, visible} from "fovea/parts/format.js";

const gridCell = 9;  // from here on cells have thin rules between them
const numberCell = 38;
const leastNumber = 0.05;  // shares of the largest weight below this go without a number

let gaps = null;

/** First and last + 1 visible cell along one direction. */
export function visibleRange(offset, cell, size, cells) {
  return [Math.max(0, Math.floor(-offset / cell)), Math.min(cells, Math.ceil((size - offset) / cell))];
}

/** Everything but the cells. `picture`: {map, scale, view, layout, chosen, hovered, found: {queries,
    keys}}. */
export function drawSurroundings(canvas, picture) {
  const {view, map} = picture;
  const [firstRow, lastRow] = visibleRange(view.offsetY, view.cellHeight, view.height, map.queryAxis.size);
  const [firstColumn, lastColumn] = visibleRange(view.offsetX, view.cellWidth, view.width, map.keyAxis.size);
  const range = {firstRow, lastRow, firstColumn, lastColumn};
  canvas.save();
  canvas.beginPath();
  canvas.rect(view.left - 2, view.top - 2, view.width + 4, view.height + 4);
  canvas.clip();
  if (Math.min(view.cellWidth, view.cellHeight) >= gridCell) drawGrid(canvas, view, range);
  if (view.cellWidth >= numberCell) drawNumbers(canvas, picture, range);
  if (map.hasTruth) drawTruth(canvas, picture, range);
  if (picture.hovered) drawCross(canvas, view, picture.hovered, false);
  drawCross(canvas, view, picture.chosen, true);
  canvas.restore();
  drawFrame(canvas, view);
  drawRowLabels(canvas, picture, range);
  drawColumnLabels(canvas, picture, range);
  drawAxisNames(canvas, picture);
}

/** Thin slanted lines: what shows through gaps. */
export function drawGapGround(canvas, view) {
  canvas.fillStyle = gapPattern(canvas);
  canvas.fillRect(view.left, view.top, view.width, view.height);
}

// A pattern is much quicker than as many lines, and this is drawn in every frame.
function gapPattern(canvas) {
  const shade = colour("rule");
  if (gaps?.shade !== shade) {
    const size = 8;
    const tile = new OffscreenCanvas(size, size);
    const drawing = tile.getContext("2d");
    drawing.strokeStyle = shade;
    drawing.beginPath();
    for (const shift of [-size, 0, size]) {
      drawing.moveTo(shift - 1, size + 1);
      drawing.lineTo(shift + size + 1, -1);
    }
    drawing.stroke();
    gaps = {shade, pattern: canvas.createPattern(tile, "repeat")};
  }
  return gaps.pattern;
}

const cellX = (view, column) => view.left + view.offsetX + column * view.cellWidth;
const cellY = (view, row) => view.top + view.offsetY + row * view.cellHeight;

function drawGrid(canvas, view, {firstRow, lastRow, firstColumn, lastColumn}) {
  canvas.strokeStyle = colour("paper");
  canvas.lineWidth = Math.min(view.cellWidth, view.cellHeight) >= 20 ? 2 : 1;
  canvas.beginPath();
  for (let row = firstRow; row <= lastRow; ++row) {
    const y = Math.round(cellY(view, row));
    canvas.moveTo(view.left, y);
    canvas.lineTo(view.left + view.width, y);
  }
  for (let column = firstColumn; column <= lastColumn; ++column) {
    const x = Math.round(cellX(view, column));
    canvas.moveTo(x, view.top);
    canvas.lineTo(x, view.top + view.height);
  }
  canvas.stroke();
}

function drawNumbers(canvas, {map, scale, view}, {firstRow, lastRow, firstColumn, lastColumn}) {
  canvas.font = "11px system-ui, sans-serif";
  canvas.textAlign = "center";
  canvas.textBaseline = "middle";
  for (let row = firstRow; row < lastRow; ++row) {
    for (let column = firstColumn; column < lastColumn; ++column) {
      const value = map.weights.peek(row, column);
      if (!hasNumber(value, scale, view)) continue;
      canvas.fillStyle = scale.ink(value);
      canvas.fillText(cellNumber(value), cellX(view, column + 0.5), cellY(view, row + 0.5));
    }
  }
}

/** Whether a weight is written into its cell: where there is room, and where it is not tiny. */
export function hasNumber(value, scale, view) {
  const room = view.cellWidth >= numberCell && view.cellHeight >= 20;
  return room && Math.abs(value) >= leastNumber * scale.largest && !scale.hides(value);
}

/** A number short enough for a cell. */
export function cellNumber(value) {
  const magnitude = Math.abs(value);
  const text = magnitude >= 100 ? value.toPrecision(2) : value.toFixed(magnitude >= 10 ? 1 : 2);
  return text.replace(/^(-?)0\./, "$1.").replace("-", "−");
}

function drawTruth(canvas, {map, view}, {firstRow, lastRow, firstColumn, lastColumn}) {
  const large = Math.min(view.cellWidth, view.cellHeight) >= 6;
  const [width, height] = [Math.max(2, view.cellWidth), Math.max(2, view.cellHeight)];
  canvas.fillStyle = colour("truth");
  for (let row = firstRow; row < lastRow; ++row) {
    for (const column of map.truth.get(row) ?? []) {
      if (column < firstColumn || column >= lastColumn) continue;
      if (large) outline(canvas, view, row, column, colour("truth"));
      else canvas.fillRect(cellX(view, column) - 0.5, cellY(view, row) - 0.5, width, height);
    }
  }
}

// Lines around the row and the column, and a frame around the cell.
function drawCross(canvas, view, {query, key}, chosen) {
  const [width, height] = [Math.max(1, view.cellWidth), Math.max(1, view.cellHeight)];
  canvas.fillStyle = colour(chosen ? "cross-chosen" : "cross");
  if (query >= 0) fillBand(canvas, view.left, cellY(view, query), view.width, height);
  if (key >= 0) fillBand(canvas, cellX(view, key), view.top, width, view.height);
  if (query >= 0 && key >= 0) outline(canvas, view, query, key, colour(chosen ? "accent" : "ink"));
}

// The two edges of a band that is wide enough to see between them, else the band itself.
function fillBand(canvas, left, top, width, height) {
  if (Math.min(width, height) < 4) {
    canvas.fillRect(left, top, width, height);
  } else if (width > height) {
    for (const y of [top, top + height - 1]) canvas.fillRect(left, Math.round(y), width, 1);
  } else {
    for (const x of [left, left + width - 1]) canvas.fillRect(Math.round(x), top, 1, height);
  }
}

function outline(canvas, view, row, column, stroke) {
  const inset = Math.min(view.cellWidth, view.cellHeight) >= 16 ? 2 : 0;
  const [x, y] = [Math.round(cellX(view, column)) + inset, Math.round(cellY(view, row)) + inset];
  const width = Math.max(4, Math.round(cellX(view, column + 1)) - inset - x);
  const height = Math.max(4, Math.round(cellY(view, row + 1)) - inset - y);
  for (const [thickness, shade] of [[4, colour("paper")], [2, stroke]]) {
    canvas.lineWidth = thickness;
    canvas.strokeStyle = shade;
    canvas.strokeRect(x, y, width, height);
  }
}

function drawFrame(canvas, view) {
  canvas.strokeStyle = colour("rule");
  canvas.lineWidth = 1;
  canvas.strokeRect(view.left - 0.5, view.top - 0.5, view.width + 1, view.height + 1);
}

function drawRowLabels(canvas, picture, {firstRow: first, lastRow: last}) {
  const {map, view, layout, chosen, hovered, found} = picture;
  const marks = marksOf(chosen.query, hovered?.query, found.queries);
  for (const label of placedLabels(map.queryAxis, {first, last, cell: view.cellHeight, marks})) {
    const y = cellY(view, label.index + 0.5);
    if (y < view.top || y > view.top + view.height) continue;
    canvas.save();
    canvas.translate(layout.gutter - 8, y);
    drawLabel(canvas, label, "right", layout.gutter - 14);
    canvas.restore();
  }
}

function drawColumnLabels(canvas, picture, {firstColumn: first, lastColumn: last}) {
  const {map, view, layout, chosen, hovered, found} = picture;
  const marks = marksOf(chosen.key, hovered?.key, found.keys);
  const cell = layout.angle === 0 ? view.cellWidth : view.cellWidth * Math.sin(layout.angle);
  for (const label of placedLabels(map.keyAxis, {first, last, cell, marks})) {
    const x = cellX(view, label.index + 0.5);
    if (x < view.left || x > view.left + view.width) continue;
    const flat = layout.angle === 0 || label.isNumber;
    canvas.save();
    canvas.translate(label.isNumber ? Math.min(x, layout.width - 18) : x, view.top - 10);
    if (!flat) canvas.rotate(-layout.angle);
    drawLabel(canvas, label, flat ? "center" : "left", flat ? Math.max(view.cellWidth, 60) : layout.keyWidth);
    canvas.restore();
  }
}

// Marks of labels in the order of their importance.
function marksOf(chosen, hovered, found) {
  const marks = new Map();
  if (chosen >= 0) marks.set(chosen, "chosen");
  if (hovered >= 0 && !marks.has(hovered)) marks.set(hovered, "hovered");
  for (const index of found) {
    if (!marks.has(index)) marks.set(index, "found");
  }
  return marks;
}

function drawAxisNames(canvas, {map, view, layout}) {
  const [queries, keys] = axisNames(map);
  canvas.font = labelFont;
  canvas.fillStyle = colour("quiet");
  canvas.textBaseline = "middle";
  canvas.textAlign = "left";
  canvas.fillText(`${keys} →`, view.left, 9);
  canvas.textAlign = "right";
  canvas.fillText(`${queries} ↓`, layout.gutter - 8, 9, layout.gutter - 10);
}

/** Names of the query and the key axis that differ. */
export function axisNames(map) {
  const [queries, keys] = [map.queryAxis, map.keyAxis].map((axis) => shorten(visible(axis.name), 24));
  return queries === keys ? [`from ${queries}`, `to ${keys}`] : [queries, keys];
}
