// Where a spectrogram and the alignment under it lie on one canvas and one time axis, and how they are drawn.
// A plot is {left, width, sound: {top, height}, map: {top, height, rowHeight}, height, frameWidth, offset (of
// frame 0 from `left`), first, last (visible frames)}.
import {drawLabel, placedLabels} from "fovea/parts/axis_labels.js";
import {colour, sequentialTable} from "fovea/parts/colour.js";
import {label, ticks} from "fovea/parts/chart.js";

const narrow = 560;
const axisHeight = 42;
const veilOpacity = 0.78;
const axisFont = "11px system-ui, sans-serif";

/** The parts of a plot that only its size decides. `labelWidth(most)` is the width that the labels need. */
export function plotBox(width, queries, labelWidth) {
  const left = Math.max(36, labelWidth(width < narrow ? 64 : 150) + 16);
  const sound = {top: 0, height: width < narrow ? 130 : 190};
  const rowHeight = Math.max(2, Math.min(24, 520 / queries));
  const map = {top: sound.height + 10, height: rowHeight * queries, rowHeight};
  return {left, width: width - left - 12, sound, map, height: map.top + map.height + axisHeight};
}

/** The plot of a box as it is zoomed and dragged, over `frames` frames. */
export function zoomedPlot(box, {zoom, offsetX}, frames) {
  const frameWidth = (box.width * zoom) / frames;
  const first = Math.max(0, Math.floor(-offsetX / frameWidth));
  const last = Math.min(frames - 1, Math.floor((box.width - offsetX) / frameWidth));
  return {...box, frameWidth, offset: offsetX, first, last};
}

// Where a place in frames is on the canvas.
function frameX(plot, frame) {
  return plot.left + plot.offset + frame * plot.frameWidth;
}

/** The area of the alignment as the exports of a matrix want it. */
export function mapArea({left, width, map, frameWidth, offset}) {
  return {
    left, top: map.top, width, height: map.height, cellWidth: frameWidth, cellHeight: map.rowHeight,
    offsetX: offset, offsetY: 0,
  };
}

/** Draws FrameTiles into plot.sound or plot.map. */
export function drawFrames(context, plot, area, tiles) {
  context.save();
  clip(context, plot, area);
  const rowHeight = area.rowHeight ?? area.height / tiles.rows;
  tiles.draw(context, {left: frameX(plot, 0), top: area.top, frameWidth: plot.frameWidth, rowHeight});
  context.restore();
}

/** Veils the frames of the spectrogram that the chosen row does not look at, one stripe per pixel. */
export function drawVeil(context, plot, shares) {
  const [red, green, blue] = sequentialTable();
  for (let x = 0; x < plot.width; ++x) {
    const first = Math.max(0, Math.floor((x - plot.offset) / plot.frameWidth));
    const end = Math.max(first + 1, Math.floor((x + 1 - plot.offset) / plot.frameWidth));
    const share = shares.subarray(first, end).reduce((most, value) => Math.max(most, value), 0);
    context.fillStyle = `rgb(${red} ${green} ${blue} / ${veilOpacity * (1 - share)})`;
    context.fillRect(plot.left + x, plot.sound.top, 1, plot.sound.height);
  }
}

/** Outlines of the frames that really belong to each query; `truth` maps queries to sets of frames. */
export function drawTruth(context, plot, truth) {
  context.save();
  clip(context, plot, plot.map);
  context.strokeStyle = colour("truth");
  context.lineWidth = 1.5;
  for (const [query, frames] of truth) {
    for (const [first, last] of runs(frames)) {
      const width = (last - first + 1) * plot.frameWidth;
      context.strokeRect(frameX(plot, first), rowY(plot, query), width, plot.map.rowHeight - 1.5);
    }
  }
  context.restore();
}

/** A frame around a row and a line through a frame; either may be -1. */
export function drawCross(context, plot, {query, key}, stroke) {
  context.strokeStyle = stroke;
  context.lineWidth = 1.5;
  const height = plot.map.rowHeight - 1.5;
  if (query >= 0) context.strokeRect(plot.left + 1, rowY(plot, query), plot.width - 2, height);
  if (key >= 0) drawLine(context, plot, key + 0.5, stroke);
}

/** A line through both pictures at a place in frames. */
export function drawLine(context, plot, frame, stroke) {
  const x = frameX(plot, frame);
  if (x < plot.left || x > plot.left + plot.width) return;
  context.fillStyle = stroke;
  context.fillRect(x - 0.75, plot.sound.top, 1.5, plot.map.top + plot.map.height - plot.sound.top);
}

/** Labels of the queries; `marks` maps an index to "chosen" or "found". */
export function drawQueries(context, plot, axis, marks) {
  for (const placed of placedLabels(axis, {first: 0, last: axis.size, cell: plot.map.rowHeight, marks})) {
    context.save();
    context.translate(plot.left - 8, plot.map.top + (placed.index + 0.5) * plot.map.rowHeight);
    drawLabel(context, placed, "right", plot.left - 14);
    context.restore();
  }
}

// Where the ticks of the time axis go: [{frame, text}].
function timeTicks(plot, axis) {
  const wanted = Math.max(2, Math.floor(plot.width / 90));
  const times = axis.times ?? axis.labels.map((_, frame) => frame);
  const unit = axis.times ? shortUnit(axis.timeUnit) : "";
  return ticks(times[plot.first], times[plot.last], wanted).map((time) =>
    ({frame: frameAt(times, time), text: `${time}${unit}`}));
}

/** What the axis of frames counts: "time in seconds", "frame". */
export function frameTitle({times, timeUnit, name}) {
  if (!times) return name || "frame";
  return timeUnit ? `time in ${timeUnit}` : "time";
}

/** Draws them under the alignment, and which way the frequencies run. */
export function drawAxes(context, plot, axis) {
  context.font = axisFont;
  context.fillStyle = colour("quiet");
  context.textBaseline = "middle";
  context.textAlign = "right";
  context.fillText("high", plot.left - 8, plot.sound.top + 7);
  context.fillText("low", plot.left - 8, plot.sound.top + plot.sound.height - 7);
  context.textAlign = "center";
  const bottom = plot.map.top + plot.map.height;
  for (const {frame, text} of timeTicks(plot, axis)) {
    const [x, half] = [frameX(plot, frame), context.measureText(text).width / 2];
    context.fillRect(Math.round(x), bottom, 1, 4);
    const middle = Math.min(Math.max(x, plot.left + half - 4), plot.left + plot.width + 8 - half);
    context.fillText(text, middle, bottom + 13);
  }
  context.fillText(frameTitle(axis), plot.left + plot.width / 2, bottom + 31);
  context.save();
  context.translate(plot.left - 14, plot.sound.top + plot.sound.height / 2);
  context.rotate(-Math.PI / 2);
  context.fillText("frequency", 0, 0);
  context.restore();
}

/** The same labels as SVG. */
export function labelNodes(plot, queryAxis, keyAxis) {
  const {top, rowHeight, height} = plot.map;
  const placed = placedLabels(queryAxis, {first: 0, last: queryAxis.size, cell: rowHeight, marks: []});
  const quiet = {size: 11, anchor: "middle", fill: "var(--quiet)"};
  return [
    ...placed.map(({index, text}) =>
      label(plot.left - 8, top + (index + 0.5) * rowHeight, text, {size: 12, anchor: "end"})),
    ...timeTicks(plot, keyAxis).map(({frame, text}) =>
      label(frameX(plot, frame), top + height + 13, text, quiet)),
    label(plot.left + plot.width / 2, top + height + 31, frameTitle(keyAxis), quiet),
    label(plot.left - 8, plot.sound.top + 7, "high", {...quiet, anchor: "end"}),
    label(plot.left - 8, plot.sound.top + plot.sound.height - 7, "low", {...quiet, anchor: "end"}),
    label(0, 0, "frequency", {
      ...quiet, transform: `translate(${plot.left - 14} ${plot.sound.top + plot.sound.height / 2}) rotate(-90)`,
    }),
  ];
}

/** The place in frames of a time; between two frames it is between two numbers. */
export function frameAt(times, time) {
  let [low, high] = [0, times.length - 1];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (times[middle] <= time) low = middle;
    else high = middle;
  }
  return high === low ? low : low + (time - times[low]) / (times[high] - times[low] || 1);
}

/** "seconds" as " s". */
export function shortUnit(unit) {
  const known = {seconds: " s", second: " s", milliseconds: " ms"};
  return known[unit] ?? (unit ? ` ${unit}` : "");
}

function rowY(plot, query) {
  return plot.map.top + query * plot.map.rowHeight + 0.75;
}

function clip(context, plot, {top, height}) {
  context.beginPath();
  context.rect(plot.left, top, plot.width, height);
  context.clip();
}

// First and last of each stretch of neighbouring frames.
function runs(frames) {
  const found = [];
  for (const frame of [...frames].sort((a, b) => a - b)) {
    if (found.at(-1)?.[1] === frame - 1) found.at(-1)[1] = frame;
    else found.push([frame, frame]);
  }
  return found;
}
