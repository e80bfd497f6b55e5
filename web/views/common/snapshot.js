// A picture of laid-out HTML as SVG: coloured boxes and lines of text where the browser put them. It lets
// running text be exported without laying it out a second time.
import {svg} from "fovea/parts/dom.js";
import {svgDocument} from "fovea/parts/export.js";

const margin = 16;
const clear = /^(transparent|rgba\(.*, 0\))$/;

/** The text of a stand-alone SVG of `root` as it is shown. */
export function snapshot(root, {title, description}) {
  const box = root.getBoundingClientRect();
  const shift = {x: margin - box.left, y: margin - box.top};
  const size = {width: Math.ceil(box.width) + 2 * margin, height: Math.ceil(box.height) + 2 * margin};
  return svgDocument({...size, title, description}, nodesOf(root, shift));
}

function nodesOf(root, shift) {
  const nodes = [];
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT);
  for (let node = walker.currentNode; node; node = walker.nextNode()) {
    nodes.push(...(node.nodeType === Node.TEXT_NODE ? textNodes(node, shift) : boxNodes(node, shift)));
  }
  return nodes;
}

function boxNodes(node, shift) {
  const {backgroundColor, borderTopLeftRadius} = getComputedStyle(node);
  const isTrue = node.classList.contains("true");
  const filled = !clear.test(backgroundColor);
  if (!filled && !isTrue) return [];
  return Array.from(node.getClientRects())
    .filter(({width}) => width > 0)
    .flatMap(({left, top, width, height}) => {
      const [x, y] = [left + shift.x, top + shift.y];
      const under = svg("rect", {x, y: y + height - 2, width, height: 2, fill: "var(--truth)"});
      const rx = parseFloat(borderTopLeftRadius) || 0;
      return [
        ...(filled ? [svg("rect", {x, y, width, height, rx, fill: backgroundColor})] : []),
        ...(isTrue ? [under] : []),
      ];
    });
}

function textNodes(node, shift) {
  if (!node.data.trim() || node.parentElement.closest("style, script")) return [];
  const {color, fontSize, fontWeight, visibility} = getComputedStyle(node.parentElement);
  if (visibility === "hidden") return [];
  return linesOf(node)
    .filter(({text, rect}) => text.trim() && rect.width > 0)
    .map(({text, rect}) =>
      svg(
        "text",
        {
          x: rect.left + shift.x,
          y: rect.top + rect.height / 2 + shift.y,
          fill: color,
          "font-size": fontSize,
          "font-weight": fontWeight,
          "dominant-baseline": "central",
          style: "white-space: pre; unicode-bidi: plaintext",
        },
        text,
      ),
    );
}

// The pieces of a text node that stand on one line each.
function linesOf(node) {
  const range = document.createRange();
  range.selectNodeContents(node);
  const rects = range.getClientRects();
  if (rects.length <= 1) return rects.length ? [{text: node.data, rect: rects[0]}] : [];
  const lines = [];
  let at = 0;
  for (const character of node.data) {
    range.setStart(node, at);
    range.setEnd(node, at + character.length);
    at += character.length;
    const rect = range.getBoundingClientRect();
    const line = lines.at(-1);
    if (line && Math.abs(line.rect.top - rect.top) < rect.height / 2) extend(line, character, rect);
    else if (rect.height > 0) lines.push({text: character, rect});
  }
  return lines;
}

function extend(line, character, rect) {
  const left = Math.min(line.rect.left, rect.left);
  const right = Math.max(line.rect.right, rect.right);
  line.text += character;
  line.rect = new DOMRect(left, line.rect.top, right - left, line.rect.height);
}
