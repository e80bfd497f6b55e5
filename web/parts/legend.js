// The legend of a colour scale: a thin bar with numbers.
import {clear, element, svg} from "fovea/parts/dom.js";
import {number} from "fovea/parts/format.js";

const stops = 16;

/** An element that shows a WeightScale; call show(scale, remark) when it changes. */
export class Legend {
  constructor() {
    this.node = element("div", {class: "legend", role: "img"});
  }

  /** `remark`: what else a reader must know of the colours, e.g. what an outline means. */
  show(scale, remark = "") {
    const ticks = legendTicks(scale);
    const gradient = Array.from({length: stops + 1}, (_, i) => barColour(scale, i / stops)).join(", ");
    this.node.setAttribute("aria-label", `Colours from ${ticks[0].text} to ${ticks.at(-1).text}. ${remark}`);
    clear(this.node).append(
      element("div", {class: "legend-scale"},
        element("div", {class: "legend-bar", style: {background: `linear-gradient(to right, ${gradient})`}}),
        element("div", {class: "legend-ticks"}, ticks.map(({at, text}) =>
          element("span", {style: {left: `${100 * at}%`}, text})))),
      element("span", {class: "legend-remark", text: remark}));
  }
}

/** The same as SVG nodes, `width` wide with its corner at (x, y). */
export function legendSvg(scale, x, y, width = 160) {
  const step = width / stops;
  const cells = Array.from({length: stops}, (_, i) => svg("rect", {
    x: x + i * step, y, width: step + 0.5, height: 6, fill: barColour(scale, (i + 0.5) / stops),
  }));
  const texts = legendTicks(scale).map(({at, text}) => svg("text", {
    x: x + at * width, y: y + 20, "font-size": 10, fill: "var(--quiet)", text,
    "text-anchor": at === 0 ? "start" : at === 1 ? "end" : "middle",
  }));
  return svg("g", {}, cells, texts);
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
