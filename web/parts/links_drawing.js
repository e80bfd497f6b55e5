// Draws tokens in two columns and lines of their weights between them.
import {drawLabel, labelFont, labelText} from "fovea/parts/axis_labels.js";
import {colour, diverging, ink, sequential, series} from "fovea/parts/colour.js";

/** Height of one token. */
export const rowHeight = 24;

/** Tokens of both columns from the top of the window on. `side`: {axis, x, align, most}; `tint(index)`:
    share 0..1 or 0. */
export function drawTokens(canvas, side, {scroll, height, found, chosen, tint}) {
  const first = Math.max(0, Math.floor(scroll / rowHeight));
  const last = Math.min(side.axis.size, Math.ceil((scroll + height) / rowHeight));
  for (let index = first; index < last; ++index) {
    const share = tint(index);
    const mark = index === chosen ? "chosen" : found.has(index) ? "found" : "";
    canvas.save();
    canvas.translate(side.x, tokenY(index) - scroll);
    if (share > 0 && !mark) drawTinted(canvas, side, index, share);
    else drawLabel(canvas, {text: labelText(side.axis, index), mark}, side.align, side.most);
    canvas.restore();
  }
}

/** Lines [{query, key, share, sign, series}] from weak to strong, so that the strong lie on top. */
export function drawLinks(canvas, links, window) {
  canvas.lineCap = "round";
  for (const line of linkLines(links, window)) {
    canvas.globalAlpha = line.opacity;
    canvas.lineWidth = line.width;
    canvas.strokeStyle = line.stroke;
    canvas.beginPath();
    canvas.moveTo(line.left, line.from);
    canvas.bezierCurveTo(line.middle, line.from, line.middle, line.to, line.right, line.to);
    canvas.stroke();
  }
  canvas.globalAlpha = 1;
}

/** Where and how the lines run. Those that end out of sight leave the window at its edge, faintly, one for
    each token and edge. */
export function linkLines(links, {left, right, scroll, height}) {
  const lines = new Map();
  for (const link of links.toSorted((a, b) => a.share - b.share)) {
    const [from, wanted] = [tokenY(link.query) - scroll, tokenY(link.key) - scroll];
    const to = Math.max(-2 * rowHeight, Math.min(height + 2 * rowHeight, wanted));
    lines.set(`${link.query} ${link.series} ${to}`, {
      left, right, middle: (left + right) / 2, from, to, width: 0.75 + 2.75 * link.share,
      stroke: linkColour(link), opacity: (0.06 + 0.89 * link.share) * (to === wanted ? 1 : 0.3),
    });
  }
  return [...lines.values()];
}

/** The strongest line of each query or key: Map of index to share. */
export function strongest(links, side) {
  const shares = new Map();
  for (const link of links) shares.set(link[side], Math.max(link.share, shares.get(link[side]) ?? 0));
  return shares;
}

// The colour of a line: its sign's where there are signs, its head's where there are several, else the
// accent.
function linkColour({sign, series: place}) {
  if (sign !== 0) return diverging(0.75 * sign);
  return place < 0 ? colour("accent") : series(place);
}

/** The middle of a token, from the top of the first. */
export function tokenY(index) {
  return (index + 0.5) * rowHeight;
}

function drawTinted(canvas, side, index, share) {
  canvas.font = labelFont;
  const width = Math.min(side.most, canvas.measureText(labelText(side.axis, index)).width) + 8;
  canvas.fillStyle = sequential(share);
  canvas.beginPath();
  canvas.roundRect(side.align === "right" ? 4 - width : -4, -9, width, 18, 4);
  canvas.fill();
  canvas.textAlign = side.align;
  canvas.textBaseline = "middle";
  canvas.fillStyle = ink(share);
  canvas.fillText(labelText(side.axis, index), 0, 0, side.most);
}
