// The calibration curve and the residual plot, each with a table of its numbers.
import {element, svg} from "fovea/parts/dom.js";
import {label, line, scale, ticks} from "fovea/parts/chart.js";
import {colour} from "fovea/parts/colour.js";
import {count, number, percent} from "fovea/parts/format.js";
import {calibrationOf, slicesOf, meanOf} from "fovea/rows/measures.js";

const size = {width: 420, height: 300};
const curve = {left: 62, right: 410, top: 12, bottom: 200};
const counts = {top: 218, bottom: 262};
const residualHeight = 280;

/** A reliability diagram: how many answers are right among those that are so sure, with the counts below. */
export function calibration(rows, choose) {
  const [probability, right] = [rows.column("probability"), rows.column("right")];
  if (!probability || !right) return null;
  const bins = calibrationOf(probability, right);
  const most = Math.max(1, ...bins.map((bin) => bin.count));
  const x = scale(0, 1, curve.left, curve.right);
  const y = scale(0, 1, curve.bottom, curve.top);
  const height = scale(0, most, 0, counts.bottom - counts.top);
  const known = bins.filter((bin) => bin.count > 0);
  const points = known.map((bin) => `${x(bin.probability)},${y(bin.accuracy)}`).join(" ");
  const axes = [0, 0.25, 0.5, 0.75, 1].flatMap((value) => [
    line(curve.left, y(value), curve.right, y(value)),
    label(curve.left - 6, y(value), String(value), {anchor: "end", size: 11, fill: "var(--quiet)"}),
    label(x(value), counts.bottom + 12, String(value), {anchor: "middle", size: 11, fill: "var(--quiet)"}),
  ]);
  const bars = known.map((bin) => svg("rect", {
    x: x(bin.low) + 1, width: x(bin.high) - x(bin.low) - 2, y: counts.bottom - height(bin.count),
    height: height(bin.count), fill: "var(--quiet)", "fill-opacity": 0.55,
  }));
  const dots = known.map((bin) => svg("circle", {cx: x(bin.probability), cy: y(bin.accuracy), r: 4, fill: "var(--accent)"},
    svg("title", {}, `${count(bin.count)} rows: probability ${number(bin.probability)}, right ${percent(bin.accuracy)}`)));
  const picture = svg("svg", {
    viewBox: `0 0 ${size.width} ${size.height}`, class: "rows-plot", role: "img",
    "aria-label": `Calibration curve of ${count(known.reduce((sum, bin) => sum + bin.count, 0))} rows; its numbers are in the table below.`,
  }, axes, svg("line", {
    x1: x(0), y1: y(0), x2: x(1), y2: y(1), stroke: "var(--quiet)", "stroke-dasharray": "4 4",
  }), svg("polyline", {points, fill: "none", stroke: "var(--accent)", "stroke-width": 2}), dots, bars,
  label(curve.left, counts.top - 6, `rows, at most ${count(most)}`, {size: 11, fill: "var(--quiet)"}),
  label((curve.left + curve.right) / 2, size.height - 8, "probability of the answer", {anchor: "middle", size: 12, fill: "var(--label)"}),
  svg("g", {transform: `rotate(-90 12 ${(curve.top + curve.bottom) / 2})`},
    label(12, (curve.top + curve.bottom) / 2, "share that is right", {anchor: "middle", size: 12, fill: "var(--label)"})));
  const show = (bin) => choose({calibration: {
    label: `probability ${bin.low} to ${bin.high}`,
    test: (row) => probability.values[row] >= bin.low && (bin.high === 1 || probability.values[row] < bin.high),
  }});
  const lines = known.map((bin) => [
    [`${bin.low} to ${bin.high}`, number(bin.probability), number(bin.accuracy)], bin.count, () => show(bin),
  ]);
  const about = "Points on the dashed line are as sure as they are right; below it answers are too sure.";
  return {
    node: element("div", {}, picture, element("p", {class: "quiet", text: about}),
      numbers(["probability", "mean probability", "share right", "rows"], lines)),
    redraw() {},
  };
}

/** Residuals over answers, every row a dot. */
export function residuals(rows, choose) {
  const [answer, residual] = [rows.column("answer"), rows.column("residual")];
  const canvas = element("canvas", {
    class: "rows-plot", role: "img",
    "aria-label": `Residual plot of ${count(rows.count)} rows; its numbers are in the table below.`,
  });
  const target = rows.target ? ` of ${rows.target}` : "";
  const known = Array.from({length: rows.count}, (_, row) => row)
    .filter((row) => Number.isFinite(answer.values[row]) && Number.isFinite(residual.values[row]));
  const redraw = () => drawResiduals(canvas, known, answer.values, residual.values);
  const observer = new ResizeObserver(redraw);
  observer.observe(canvas);
  const lines = slicesOf(answer).map(({name, test}) => {
    const bias = meanOf(residual, test);
    const off = meanOf(rows.column("error"), test);
    const show = () => choose({residuals: {label: `answer: ${name}`, test}});
    return [[name, number(bias.mean), number(off.mean)], bias.count, show];
  });
  const about = `Residual (answer − truth)${target} over the answer: above the line the network says too much.`;
  const node = element("div", {}, canvas, element("p", {class: "quiet", dir: "auto", text: about}),
    numbers(["answer", "mean residual (bias)", "mean absolute error", "rows"], lines));
  return {node, redraw, destroy: () => observer.disconnect()};
}

function drawResiduals(canvas, rows, answers, offs) {
  const width = canvas.clientWidth;
  if (width === 0) return;
  const ratio = window.devicePixelRatio || 1;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(residualHeight * ratio);
  const pen = canvas.getContext("2d");
  pen.scale(ratio, ratio);
  const [low, high] = rangeOf(rows, answers);
  const reach = Math.max(...rangeOf(rows, offs).map(Math.abs)) || 1;
  const area = {left: 56, right: width - 8, top: 10, bottom: residualHeight - 40};
  const x = scale(low, high > low ? high : low + 1, area.left, area.right);
  const y = scale(-reach, reach, area.bottom, area.top);
  pen.font = "11px system-ui, sans-serif";
  pen.textBaseline = "middle";
  for (const value of ticks(-reach, reach, 5)) {
    pen.strokeStyle = colour(value === 0 ? "quiet" : "rule");
    stroke(pen, area.left, y(value), area.right, y(value));
    pen.fillStyle = colour("quiet");
    pen.textAlign = "right";
    pen.fillText(number(value), area.left - 6, y(value));
  }
  pen.textAlign = "center";
  const steps = ticks(low, high, Math.max(2, width / 90));
  for (const value of steps) pen.fillText(number(value), x(value), area.bottom + 12);
  pen.fillStyle = colour("label");
  pen.font = "12px system-ui, sans-serif";
  pen.fillText("answer", (area.left + area.right) / 2, residualHeight - 10);
  pen.save();
  pen.translate(10, (area.top + area.bottom) / 2);
  pen.rotate(-Math.PI / 2);
  pen.fillText("residual", 0, 0);
  pen.restore();
  pen.fillStyle = colour("accent");
  pen.globalAlpha = Math.max(0.08, Math.min(0.7, 60 / Math.sqrt(rows.length) / 4));
  for (const row of rows) pen.fillRect(x(answers[row]) - 1.25, y(offs[row]) - 1.25, 2.5, 2.5);
  pen.globalAlpha = 1;
}

function stroke(pen, x1, y1, x2, y2) {
  pen.beginPath();
  pen.moveTo(x1, y1);
  pen.lineTo(x2, y2);
  pen.stroke();
}

function rangeOf(rows, values) {
  let [low, high] = [Infinity, -Infinity];
  for (const row of rows) {
    low = Math.min(low, values[row]);
    high = Math.max(high, values[row]);
  }
  return rows.length > 0 ? [low, high] : [0, 1];
}

// `lines`: [cells, count, show].
function numbers(heads, lines) {
  const body = lines.map(([cells, rows, show]) => element("tr", {},
    cells.map((text, i) => element(i === 0 ? "th" : "td", {scope: i === 0 ? "row" : null, class: i ? "numeric" : "", text})),
    element("td", {class: "numeric"}, element("button", {
      type: "button", class: "rows-open", text: count(rows), on: {click: show},
      "aria-label": `Show the ${count(rows)} rows of ${cells[0]}`,
    }))));
  const table = element("table", {class: "rows-numbers"},
    element("caption", {class: "visually-hidden", text: "The numbers of the picture"}),
    element("thead", {}, element("tr", {}, heads.map((text, i) =>
      element("th", {scope: "col", class: i ? "numeric" : "", text})))), element("tbody", {}, body));
  return element("details", {class: "rows-details"}, element("summary", {text: "Numbers"}),
    element("div", {class: "rows-wide"}, table));
}
