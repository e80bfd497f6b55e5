// A picture to take away with what a reader needs who sees nothing else: above it what was explained and what
// the model said, below it whether the map shows what the model used.
import {placeName} from "fovea/model/family.js";
import {label, textWidth} from "fovea/parts/chart.js";
import {svgDocument} from "fovea/parts/export.js";
import {verdictSentence} from "fovea/parts/faithfulness.js";
import {shorten, visible} from "fovea/parts/format.js";
import {equalText, legendSvg} from "fovea/parts/legend.js";
import {truthSentence} from "fovea/parts/truth.js";

const margin = 16;
const gap = 10;
const scaleHeight = 30;
const narrowest = 420;
const mostCharacters = 500;
const mostLines = 6;
const looks = {
  title: {size: 16, line: 22, "font-weight": 650},
  text: {size: 13, line: 18},
  quiet: {size: 12, line: 17, fill: "var(--quiet)"},
};

/** Text of a stand-alone SVG of a view's `picture` (text of an SVG) with words of the explanation around it.
    `maps`: those that it draws; `legend`: what the view's howToRead() says. */
export function framedSvg(picture, {explanation, maps, legend, description}) {
  const inner = new DOMParser().parseFromString(picture, "image/svg+xml").documentElement;
  const [width, height] = ["width", "height"].map((name) => parseFloat(inner.getAttribute(name)));
  const full = Math.max(width, narrowest);
  const above = textBlock(headOf(explanation, maps), margin, full);
  inner.setAttribute("y", above.bottom + gap);
  const bottom = above.bottom + gap + height + gap;
  const scale = legend.scale ? legendSvg(legend.scale, margin, bottom) : null;
  const below = textBlock(footOf(explanation, maps, legend), bottom + (scale ? scaleHeight : 0), full);
  const size = {width: full, height: below.bottom + margin};
  const nodes = [...above.nodes, inner, ...(scale ? [scale] : []), ...below.nodes];
  return svgDocument({...size, title: titleOf(explanation), description}, nodes);
}

function titleOf({title, task}) {
  return title || task || "Attention";
}

function headOf(explanation, maps) {
  const {input, prediction} = explanation;
  return [
    [titleOf(explanation), "title"],
    ...(input ? [[`Input: ${input}`, "text"]] : []),
    ...(prediction.text ? [[`Prediction: ${prediction.text}`, "text"]] : []),
    ...(prediction.truth ? [[truthSentence(prediction.truth), "text"]] : []),
    [[maps[0].title, placeName(maps)].filter(Boolean).join(", "), "quiet"],
  ];
}

function footOf(explanation, maps, {scale, remark}) {
  const equal = scale && equalText(scale);
  return [...(equal ? [[`▲ ${equal}`, "quiet"]] : []), ...(remark ? [[remark, "quiet"]] : []), [verdictSentence(explanation, maps), "quiet"]];
}

// Lines of text from `top` on: {nodes, bottom}.
function textBlock(paragraphs, top, width) {
  const nodes = [];
  let y = top;
  for (const [text, look] of paragraphs) {
    const {line, ...attributes} = looks[look];
    for (const part of wrapped(visible(shorten(text, mostCharacters)), width - 2 * margin, attributes.size)) {
      nodes.push(label(margin, y + line / 2, part, attributes));
      y += line;
    }
  }
  return {nodes, bottom: y};
}

// Broken at blanks, or anywhere where there are none; the last of many lines ends with an ellipsis.
function wrapped(text, width, size) {
  const pieces = text.split(/(?<= )/).flatMap((word) => (textWidth(word, size) > width ? Array.from(word) : [word]));
  const lines = [""];
  for (const piece of pieces) {
    if (textWidth(lines.at(-1) + piece.trimEnd(), size) <= width) lines[lines.length - 1] += piece;
    else lines.push(piece);
  }
  if (lines.length > mostLines) lines.splice(mostLines, Infinity, "…");
  return lines;
}
