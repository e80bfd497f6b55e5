// A picture with what is drawn over it: an overlay that is stretched to its size, and outlines of cells.
import {svg} from "fovea/parts/dom.js";
import {fitText, label} from "fovea/parts/chart.js";

const figureWidth = 660;
const figureColumns = 6;
const figureGap = 8;
const figureMargin = 12;
const captionHeight = 24;

/** A medium as an image that is ready to be drawn. */
export async function loadPicture(medium) {
  const image = new Image();
  image.src = medium.url;
  await image.decode();
  return image;
}

/** Draws both on a canvas of a size in CSS pixels; returns its context, scaled to CSS pixels. */
export function drawPicture(target, {width, height}, picture, overlay, smooth) {
  const ratio = window.devicePixelRatio || 1;
  [target.width, target.height] = [Math.round(width * ratio), Math.round(height * ratio)];
  const context = target.getContext("2d");
  context.imageSmoothingQuality = "high";
  context.drawImage(picture, 0, 0, target.width, target.height);
  context.imageSmoothingEnabled = smooth;
  context.drawImage(overlay, 0, 0, target.width, target.height);
  context.scale(ratio, ratio);
  return context;
}

/** Strokes of an outline: dark on light, so that they show on any picture. */
export const outlines = {
  truth: [{stroke: "#ffffff", width: 3.5, dash: []}, {stroke: "#14171c", width: 1.5, dash: [5, 4]}],
  chosen: [{stroke: "#14171c", width: 4.5, dash: []}, {stroke: "#ffffff", width: 2, dash: []}],
};

/** SVG path text around the cells of a grid for which `inside(cell)` holds, for a picture of a size. */
export function outlinePath({rows, columns}, {width, height}, inside) {
  const [wide, high] = [width / columns, height / rows];
  const within = (row, column) => row >= 0 && column >= 0 && row < rows && column < columns;
  const has = (row, column) => within(row, column) && inside(row * columns + column);
  let path = "";
  for (let row = 0; row <= rows; ++row) {
    for (let column = 0; column <= columns; ++column) {
      if (has(row, column) !== has(row - 1, column)) path += `M${column * wide} ${row * high}h${wide}`;
      if (has(row, column) !== has(row, column - 1)) path += `M${column * wide} ${row * high}v${high}`;
    }
  }
  return path;
}

/** Draws an outline on a canvas. */
export function strokePath(context, path, strokes) {
  const outline = new Path2D(path);
  context.lineCap = "square";
  for (const {stroke, width, dash} of strokes) {
    context.setLineDash(dash);
    [context.strokeStyle, context.lineWidth] = [stroke, width];
    context.stroke(outline);
  }
}

/**
 * The same as SVG nodes that stand alone: the first panel large, the others in rows under it.
 * A panel is {overlay: canvas, text, marks(size) -> [{path, strokes}]}. Gives {nodes, width, height}.
 */
export function pictureFigure(medium, panels, smooth) {
  const sized = (width) => ({width, height: (width * medium.height) / medium.width});
  const large = sized(figureWidth);
  const small = sized((figureWidth - (figureColumns - 1) * figureGap) / figureColumns);
  const top = large.height + captionHeight + figureGap;
  const line = small.height + captionHeight + figureGap;
  const picture = {id: "picture", width: 1, height: 1, href: medium.url, preserveAspectRatio: "none"};
  const nodes = [svg("defs", {}, svg("image", picture))];
  panels.forEach((panel, index) => {
    const place = index - 1;
    const x = index === 0 ? 0 : (place % figureColumns) * (small.width + figureGap);
    const y = index === 0 ? 0 : top + Math.floor(place / figureColumns) * line;
    const box = {x: x + figureMargin, y: y + figureMargin, ...(index === 0 ? large : small)};
    nodes.push(panelNode(panel, box, smooth));
  });
  const lines = Math.ceil((panels.length - 1) / figureColumns);
  return {nodes, width: figureWidth + 2 * figureMargin, height: top + lines * line + 2 * figureMargin};
}

function panelNode({overlay, text, marks}, {x, y, width, height}, smooth) {
  const strokes = marks({width, height}).flatMap(({path, strokes: list}) => list.map((look) => svg("path", {
    d: path, fill: "none", stroke: look.stroke, "stroke-width": look.width,
    "stroke-dasharray": look.dash.join(" ") || null,
  })));
  return svg("g", {transform: `translate(${x} ${y})`},
    svg("use", {href: "#picture", transform: `scale(${width} ${height})`}),
    svg("image", {width, height, href: overlay.toDataURL(), preserveAspectRatio: "none",
      style: smooth ? null : "image-rendering: pixelated"}), strokes,
    label(0, height + captionHeight / 2, fitText(text, width)));
}
