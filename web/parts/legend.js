// The legend of a colour scale: a thin bar with numbers.
import {clear, element, svg} from "fovea/parts/dom.js";
import {number} from "fovea/parts/format.js";
import {addLooks} from "fovea/parts/looks.js";

const stops = 16;
const rules = `
.legend-scale { position: relative; }
.legend-equal {
  position: absolute; top: 5px; font-size: 0.55rem; line-height: 1; color: var(--ink); transform: translateX(-50%);
}
.legend-scale:has(.legend-equal) .legend-ticks { margin-top: 5px; }
`;

/** An element that shows a WeightScale; call show(scale, remark) when it changes. */
export class Legend {
  constructor() {
    addLooks(rules);
    this.node = element("div", {class: "legend", role: "img"});
  }

  /** `remark`: what else a reader must know of the colours, e.g. what an outline means. */
  show(scale, remark = "") {
    const ticks = legendTicks(scale);
    const gradient = Array.from({length: stops + 1}, (_, i) => barColour(scale, i / stops)).join(", ");
    const equal = equalText(scale);
    const texts = [equal && `▲ ${equal}`, remark].filter(Boolean).join("; ");
    this.node.setAttribute("aria-label",
      `Colours from ${ticks[0].text} to ${ticks.at(-1).text}. ${[equal, remark].filter(Boolean).join("; ")}`);
    clear(this.node).append(
      element("div", {class: "legend-scale"},
        element("div", {class: "legend-bar", style: {background: `linear-gradient(to right, ${gradient})`}}),
        equal && element("span", {class: "legend-equal", style: {left: `${100 * scale.share(scale.equal)}%`}, text: "▲"}),
        element("div", {class: "legend-ticks"}, ticks.map(({at, text}) =>
          element("span", {style: {left: `${100 * at}%`}, text})))),
      element("span", {class: "legend-remark", text: texts}));
  }
}

/** The same as SVG nodes, `width` wide with its corner at (x, y). */
export function legendSvg(scale, x, y, width = 160) {
  const step = width / stops;
  const cells = Array.from({length: stops}, (_, i) => svg("rect", {
    x: x + i * step, y, width: step + 0.5, height: 6, fill: barColour(scale, (i + 0.5) / stops),
  }));
  const mark = equalText(scale) && svg("text", {
    x: x + scale.share(scale.equal) * width, y: y + 13, "font-size": 7, "text-anchor": "middle", fill: "var(--ink)",
    text: "▲",
  });
  const texts = legendTicks(scale).map(({at, text}) => svg("text", {
    x: x + at * width, y: y + 20, "font-size": 10, fill: "var(--quiet)", text,
    "text-anchor": at === 0 ? "start" : at === 1 ? "end" : "middle",
  }));
  return svg("g", {}, cells, mark, texts);
}

/** What the mark ▲ below the bar stands for; "" where there is none. */
export function equalText(scale) {
  return scale.equal > 0 && scale.equal < scale.ceiling ? `${number(scale.equal)}: the equal share, all looked at alike` : "";
}

// Texts at the ends and in the middle; `at` is the place along the bar.
function legendTicks({largest, ceiling, signed, power}) {
  // The last colour may stand for all that is larger.
  const isLast = (value) => ceiling < largest && Math.abs(value) === ceiling;
  const prefix = (value) => (!isLast(value) ? "" : value > 0 ? "≥ " : "≤ ");
  const tick = (at, value) => ({at, text: `${prefix(value)}${number(value)}`});
  if (signed) return [tick(0, -ceiling), tick(0.5, 0), tick(1, ceiling)];
  return [tick(0, 0), tick(0.5, 0.5 ** (1 / power) * ceiling), tick(1, ceiling)];
}

function barColour(scale, at) {
  const place = scale.signed ? 2 * at - 1 : at;
  return scale.colour(Math.sign(place) * Math.abs(place) ** (1 / scale.power) * scale.ceiling);
}
