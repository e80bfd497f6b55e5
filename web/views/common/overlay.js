// One row of weights over a picture. Weights that are never negative lift a veil: the picture shows where the
// query looks and is dimmed elsewhere. Signed weights are laid over it as diverging colours.
import {divergingTable} from "fovea/parts/colour.js";

const smoothSize = 192;  // pixels to which a grid is raised before the browser stretches it further

const darkVeil = [13, 16, 21];
const lightVeil = [250, 250, 248];

/** The veil that hides most of a picture: dark over a bright one, bright over a dark one. */
export function veilFor(picture) {
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [8, 8];
  const context = canvas.getContext("2d");
  context.drawImage(picture, 0, 0, 8, 8);
  const bytes = context.getImageData(0, 0, 8, 8).data;
  let sum = 0;
  for (let i = 0; i < bytes.length; i += 4) sum += 0.3 * bytes[i] + 0.6 * bytes[i + 1] + 0.1 * bytes[i + 2];
  return sum / 64 > 90 ? darkVeil : lightVeil;
}

/** A canvas to stretch over the picture. `grid`: {rows, columns}; `smooth`: between cells too. */
export function overlayCanvas(row, grid, {scale, veil, smooth, opacity, size = smoothSize}) {
  const factor = smooth ? Math.max(1, Math.ceil(size / Math.max(grid.rows, grid.columns))) : 1;
  const shares = rowShares(row, scale);
  const raised = smooth ? raise(shares, grid, factor) : shares;
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [grid.columns * factor, grid.rows * factor];
  const context = canvas.getContext("2d");
  const image = context.createImageData(canvas.width, canvas.height);
  if (scale.signed) paintColours(raised, image.data, opacity);
  else paintVeil(raised, image.data, opacity, veil);
  context.putImageData(image, 0, 0);
  return canvas;
}

/** The weight from which on a cell of the row is wholly clear: the row's own largest, so that each row is seen as well
    as another, but no less than the scale has for weights that are all alike. */
export function clearFrom(row, scale) {
  let largest = 0;
  for (const weight of row) if (Math.abs(weight) > largest) largest = Math.abs(weight);
  return Math.max(largest, scale.leastCeiling);
}

function rowShares(row, scale) {
  const largest = clearFrom(row, scale);
  return Float32Array.from(row, (weight) =>
    largest === 0 || Number.isNaN(weight) || scale.hides(weight) ? 0 : weight / largest);
}

function paintVeil(shares, bytes, opacity, veil) {
  shares.forEach((share, i) => {
    bytes.set(veil, 4 * i);
    bytes[4 * i + 3] = 255 * opacity * (1 - share);
  });
}

// Pale colours would hide the picture where little is said, so only the strength of two full ones changes.
function paintColours(shares, bytes, opacity) {
  const table = divergingTable();
  const [negative, positive] = [table.subarray(3 * 40, 3 * 41), table.subarray(3 * 215, 3 * 216)];
  shares.forEach((share, i) => {
    bytes.set(share < 0 ? negative : positive, 4 * i);
    bytes[4 * i + 3] = 255 * opacity * Math.abs(share);
  });
}

// A cubic B-spline through the cells, raised so that the largest magnitude stays what it was.
function raise(shares, {rows, columns}, factor) {
  const [width, height] = [columns * factor, rows * factor];
  const wide = raiseLines(shares, {lines: rows, length: columns, lineStep: columns, step: 1, factor});
  const turned = raiseLines(wide, {lines: width, length: rows, lineStep: 1, step: width, factor});
  const raised = turned.map((_, place) => turned[(place % width) * height + Math.floor(place / width)]);
  const magnitude = (values) => values.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  const gain = magnitude(shares) / (magnitude(raised) || 1);
  return raised.map((value) => value * gain);
}

function raiseLines(values, {lines, length, lineStep, step, factor}) {
  const raised = new Float32Array(lines * length * factor);
  for (let at = 0; at < length * factor; ++at) {
    const place = (at + 0.5) / factor - 0.5;
    const first = Math.floor(place);
    const taps = splineTaps(place - first);
    for (let line = 0; line < lines; ++line) {
      let sum = 0;
      for (let tap = 0; tap < 4; ++tap) {
        const source = Math.min(length - 1, Math.max(0, first + tap - 1));
        sum += taps[tap] * values[line * lineStep + source * step];
      }
      raised[line * length * factor + at] = sum;
    }
  }
  return raised;
}

function splineTaps(t) {
  const taps = [(1 - t) ** 3, 3 * t ** 3 - 6 * t ** 2 + 4, -3 * t ** 3 + 3 * t ** 2 + 3 * t + 1, t ** 3];
  return taps.map((tap) => tap / 6);
}
