// The overview of heads as stand-alone SVG.
import {svg} from "fovea/parts/dom.js";
import {svgDocument} from "fovea/parts/export.js";

const [left, top] = [64, 24];

/** Pixels between two pictures. */
export const headGap = 4;

/** `pictures`: [{canvas, row, column}], each `width` x `height`; `rows` and `columns` are their numbers. */
export function headsSvg({rows, columns, pictures, width, height, title, description}) {
  const x = (column) => left + column * (width + headGap);
  const y = (row) => top + row * (height + headGap);
  const label = (attributes, text) => svg("text", {fill: "var(--quiet)", ...attributes, text: text ?? ""});
  return svgDocument({width: x(columns.length), height: y(rows.length), title, description}, [
    ...pictures.map(({canvas, row, column}) => svg("image", {
      x: x(column), y: y(row), width, height, preserveAspectRatio: "none",
      style: "image-rendering: pixelated", href: canvas.toDataURL(),
    })),
    ...columns.map((column, i) => label({x: x(i) + width / 2, y: 15, "text-anchor": "middle"}, column)),
    ...rows.map((row, i) => label({x: left - 8, y: y(i) + height / 2, "text-anchor": "end"}, row)),
  ]);
}
