// A matrix picture as stand-alone SVG, and the numbers it shows.
import {placedLabels} from "fovea/parts/axis_labels.js";
import {svg} from "fovea/parts/dom.js";
import {svgDocument} from "fovea/parts/export.js";
import {axisNames, cellNumber, hasNumber, visibleRange} from "fovea/parts/matrix_drawing.js";

const mostCells = 2_000_000;
const mostRectangles = 10_000;
const mostReadColumns = 40;
const readKeys = 3;  // of each query, where there are more columns

/** Text of an SVG of what is shown; many cells become one picture inside it. */
export function matrixSvg(picture, tiles, description) {
  const {map, layout, view} = picture;
  const [firstRow, lastRow] = visibleRange(view.offsetY, view.cellHeight, view.height, map.queryAxis.size);
  const [firstColumn, lastColumn] = visibleRange(view.offsetX, view.cellWidth, view.width, map.keyAxis.size);
  const range = {firstRow, lastRow, firstColumn, lastColumn};
  const few = (lastRow - firstRow) * (lastColumn - firstColumn) <= mostRectangles;
  const plot = {x: view.left, y: view.top, width: view.width, height: view.height};
  const cells = few ? rectangles(picture, range) : [cellImage(tiles, view)];
  const {width, height} = layout;
  return svgDocument({width, height, title: map.title, description}, [
    svg("clipPath", {id: "plot"}, svg("rect", plot)),
    svg("g", {"clip-path": "url(#plot)"}, cells, truthOutlines(picture, range)),
    ...labelTexts(picture, range),
  ]);
}

/** The visible part of the map as rows of cells, the first their names; its largest weights where that would
    be too much: as a list, or in a table for reading (not `whole`) a row for each query. */
export async function* matrixNumbers({map, view}, whole) {
  const [firstRow, lastRow] = visibleRange(view.offsetY, view.cellHeight, view.height, map.queryAxis.size);
  const [firstColumn, lastColumn] = visibleRange(view.offsetX, view.cellWidth, view.width, map.keyAxis.size);
  const columns = lastColumn - firstColumn;
  if (!whole && columns > mostReadColumns) return yield* topRows(map, firstRow, lastRow);
  if ((lastRow - firstRow) * columns > mostCells) return yield* topList(map, firstRow, lastRow);
  yield [axisNames(map).join(" / "), ...map.keyAxis.labels.slice(firstColumn, lastColumn)];
  for (let row = firstRow; row < lastRow; ++row) {
    const weights = await map.weights.row(row);
    yield [map.queryAxis.labels[row], ...weights.subarray(firstColumn, lastColumn)].map(shortNumber);
  }
}

async function* topList(map, firstRow, lastRow) {
  yield ["query", "query label", "key", "key label", "weight"];
  for (let row = firstRow; row < lastRow; ++row) {
    for (const {key, value} of await map.weights.top(row)) {
      yield [row, map.queryAxis.labels[row], key, map.keyAxis.labels[key], shortNumber(value)];
    }
  }
}

async function* topRows(map, firstRow, lastRow) {
  const [queries] = axisNames(map);
  yield [queries, "place", ...["most at", "weight", "then at", "weight", "then at", "weight"]];
  for (let row = firstRow; row < lastRow; ++row) {
    const best = (await map.weights.top(row)).filter(({value}) => value !== 0).slice(0, readKeys);
    const cells = best.flatMap(({key, value}) => [map.keyAxis.labels[key], shortNumber(value)]);
    yield [map.queryAxis.labels[row], row, ...cells, ...Array(2 * readKeys - cells.length).fill(null)];
  }
}

// Weights are float32: more digits would be made up.
function shortNumber(value) {
  return typeof value === "number" && Number.isFinite(value) ? Number(value.toPrecision(7)) : value;
}

function rectangles({map, scale, view}, {firstRow, lastRow, firstColumn, lastColumn}) {
  const nodes = [];
  const gap = Math.min(view.cellWidth, view.cellHeight) >= 9 ? 1 : 0;
  for (let row = firstRow; row < lastRow; ++row) {
    for (let column = firstColumn; column < lastColumn; ++column) {
      const value = map.weights.peek(row, column);
      if (!Number.isFinite(value)) continue;
      nodes.push(cellRectangle(view, row, column, gap, {fill: scale.colour(value)}));
      if (hasNumber(value, scale, view)) nodes.push(cellText(view, row, column, value, scale));
    }
  }
  return nodes;
}

function cellText(view, row, column, value, scale) {
  return svg("text", {
    x: view.left + view.offsetX + (column + 0.5) * view.cellWidth, fill: scale.ink(value), "font-size": 11,
    y: view.top + view.offsetY + (row + 0.5) * view.cellHeight, "text-anchor": "middle",
    "dominant-baseline": "central", text: cellNumber(value),
  });
}

function truthOutlines({map, view}, {firstRow, lastRow}) {
  const nodes = [];
  const inset = Math.min(view.cellWidth, view.cellHeight) >= 16 ? 2 : 0;
  const transform = `translate(${inset} ${inset})`;
  const look = {fill: "none", stroke: "var(--truth)", "stroke-width": 2, transform};
  for (let row = firstRow; row < lastRow; ++row) {
    for (const column of map.truth.get(row) ?? []) {
      nodes.push(cellRectangle(view, row, column, 2 * inset, look));
    }
  }
  return nodes;
}

function cellRectangle(view, row, column, gap, attributes) {
  const round = (value) => Math.round(100 * value) / 100;
  return svg("rect", {
    x: round(view.left + view.offsetX + column * view.cellWidth),
    y: round(view.top + view.offsetY + row * view.cellHeight),
    width: round(view.cellWidth - gap), height: round(view.cellHeight - gap), ...attributes,
  });
}

function cellImage(tiles, view) {
  const ratio = window.devicePixelRatio || 1;
  const canvas = document.createElement("canvas");
  canvas.width = Math.ceil(view.width * ratio);
  canvas.height = Math.ceil(view.height * ratio);
  const context = canvas.getContext("2d");
  context.scale(ratio, ratio);
  tiles.draw(context, {...view, left: 0, top: 0});
  return svg("image", {
    x: view.left, y: view.top, width: view.width, height: view.height, preserveAspectRatio: "none",
    style: "image-rendering: pixelated", href: canvas.toDataURL("image/png"),
  });
}

function labelTexts({map, layout, view}, {firstRow, lastRow, firstColumn, lastColumn}) {
  const [queries, keys] = axisNames(map);
  const {cellWidth, cellHeight} = view;
  const placed = (axis, first, last, cell) => placedLabels(axis, {first, last, cell, marks: []});
  const rows = placed(map.queryAxis, firstRow, lastRow, cellHeight);
  const columns = placed(map.keyAxis, firstColumn, lastColumn, cellWidth);
  const rowText = ({index, text}) => {
    const y = view.top + view.offsetY + (index + 0.5) * cellHeight;
    return labelNode(text, {x: layout.gutter - 8, y, "text-anchor": "end"});
  };
  const columnText = ({index, text, isNumber}) => {
    const x = view.left + view.offsetX + (index + 0.5) * cellWidth;
    const degrees = isNumber ? 0 : (-layout.angle * 180) / Math.PI;
    const transform = `translate(${x} ${view.top - 10}) rotate(${degrees})`;
    return labelNode(text, {transform, "text-anchor": degrees === 0 ? "middle" : "start"});
  };
  return [
    ...rows.map(rowText), ...columns.map(columnText),
    labelNode(`${keys} →`, {x: view.left, y: 9, fill: "var(--quiet)"}),
    labelNode(`${queries} ↓`, {x: layout.gutter - 8, y: 9, "text-anchor": "end", fill: "var(--quiet)"}),
  ];
}

function labelNode(text, attributes) {
  return svg("text", {fill: "var(--label)", "dominant-baseline": "central", ...attributes, text});
}
