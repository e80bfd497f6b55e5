// Links between tokens as stand-alone SVG, and their weights.
import {svg} from "fovea/parts/dom.js";
import {svgDocument} from "fovea/parts/export.js";
import {visible} from "fovea/parts/format.js";
import {linkLines, rowHeight, tokenY} from "fovea/parts/links_drawing.js";

/** The visible part. `size`: {width, height, left, right, scroll, title, description}. */
export function linksSvg(links, sides, size) {
  const first = Math.floor(size.scroll / rowHeight);
  const last = Math.ceil((size.scroll + size.height) / rowHeight);
  const labels = sides.flatMap(({axis, x, align}) => {
    const shown = axis.labels.slice(first, last);
    return shown.map((label, i) => svg("text", {
      x, y: tokenY(first + i) - size.scroll, fill: "var(--label)", "dominant-baseline": "central",
      "text-anchor": align === "right" ? "end" : "start", text: visible(label),
    }));
  });
  return svgDocument(size, [...linkLines(links, size).map(path), ...labels]);
}

function path({left, middle, right, from, to, width, stroke, opacity}) {
  return svg("path", {
    d: `M${left} ${from}C${middle} ${from} ${middle} ${to} ${right} ${to}`,
    fill: "none", stroke, "stroke-width": width, "stroke-opacity": opacity,
  });
}

/** The largest weights of every row of the maps that are shown. */
export async function* linksNumbers(maps) {
  yield ["head", "query", "query label", "key", "key label", "weight"];
  for (const {weights, queryAxis, keyAxis, head} of maps) {
    for (let query = 0; query < weights.rows; ++query) {
      for (const {key, value} of await weights.top(query)) {
        yield [head || "mean", query, queryAxis.labels[query], key, keyAxis.labels[key], value];
      }
    }
  }
}
