// Sound and what was written for it: the spectrogram, under it the alignment of characters and frames on the
// same time axis. A chosen character leaves only its frames in the open; the sound plays with a moving line.
import {topOf} from "fovea/model/matrix.js";
import {labelWidth} from "fovea/parts/axis_labels.js";
import {cellLines, cellSentence} from "fovea/parts/cell_facts.js";
import {colour, onThemeChange} from "fovea/parts/colour.js";
import {element, svg} from "fovea/parts/dom.js";
import {svgDocument} from "fovea/parts/export.js";
import {count, number, shorten, visible} from "fovea/parts/format.js";
import {Legend} from "fovea/parts/legend.js";
import {drawGapGround} from "fovea/parts/matrix_drawing.js";
import {matrixNumbers} from "fovea/parts/matrix_export.js";
import {WeightScale} from "fovea/parts/scale.js";
import {matches} from "fovea/parts/search.js";
import {CanvasView} from "fovea/views/common/canvas_view.js";
import {FrameTiles, spectrogramTiles} from "fovea/views/common/frame_tiles.js";
import {addLooks} from "fovea/parts/looks.js";
import {Sound} from "fovea/views/common/sound.js";
import {
  drawAxes, drawCross, drawFrames, drawLine, drawQueries, drawTruth, drawVeil, frameAt, labelNodes, mapArea,
  plotBox, shortUnit, zoomedPlot,
} from "fovea/views/common/sound_plot.js";

const finestFrame = 40;
const mostWeights = 2 ** 24;

/** The view of the table in views/index.js. */
export const view = {
  id: "spectrogram",
  title: "Spectrogram",
  fits(map) {
    const {queryAxis, keyAxis, layout} = map;
    return layout === "dense" && keyAxis.spectrogram && queryAxis.size > 0 && keyAxis.size > 0 ? 5 : 0;
  },
  mount(host, context) {
    return new SpectrogramView(host, context);
  },
};

class SpectrogramView extends CanvasView {
  constructor(host, context) {
    super(host, context);
    this.listen({
      hover: (event) => this.#hover(event), click: (event) => this.#click(event), key: (event) => this.#key(event),
    });
    addLooks(rules);
    Object.assign(this, {shares: null, chosen: "", scale: null, legend: new Legend()});
    this.#build();
    this.addPanZoom(() => [this.box.left, 0]);
    this.endTheme = onThemeChange(() => this.#recolour());
    this.resize();
    this.panzoom.fromText(context.state.get("zoom"));
    this.#load();
  }

  update(changed) {
    if (changed.has("zoom")) this.followZoom();
    if (changed.has("threshold")) this.#recolour();
    if (changed.has("query")) this.#chooseRow();
    this.schedule();
  }

  resize() {
    const width = this.host.clientWidth;
    if (width === 0) return;
    const {queryAxis, keyAxis} = this.map;
    this.box = plotBox(width, queryAxis.size, (most) => labelWidth(this.drawing, queryAxis, most));
    this.height = this.box.height;
    this.panzoom.maximum = Math.max(1, (finestFrame * keyAxis.size) / this.box.width);
    this.panzoom.setSize(this.box.width, this.height, this.box.width, this.height);
    this.sizeCanvas(width, this.height);
    this.draw();
  }

  svg() {
    const {queryAxis, keyAxis, title} = this.map;
    const size = {width: this.host.clientWidth, height: this.height};
    const pictures = svg("image", {...size, href: this.#pictures(size)});
    return svgDocument({...size, title, description: this.describe()},
      [pictures, ...labelNodes(this.#plot(), queryAxis, keyAxis)]);
  }

  numbers(whole) {
    return matrixNumbers({map: this.map, view: mapArea(this.#plot())}, whole);
  }

  howToRead() {
    return {scale: this.scale, remark: this.#remark()};
  }

  describe() {
    const {queryAxis, keyAxis, title} = this.map;
    const written = shorten(queryAxis.labels.map(visible).join(" "), 200);
    const frames = `spectrogram of ${count(keyAxis.size)} frames`;
    return `${title}: ${frames}, under it the alignment of ${written}. ${this.chosen}`;
  }

  destroy() {
    this.sound?.destroy();
    super.destroy();
  }

  #build() {
    const {explanation} = this.context;
    const medium = this.map.keyAxis.media ? explanation.medium(this.map.keyAxis.media) : null;
    this.sound = medium?.type.startsWith("audio/") ? new Sound(medium, () => this.schedule()) : null;
    this.facts = element("p", {class: "sound-facts"});
    this.host.append(element("div", {class: "sound-tools"}, this.sound?.element, this.facts), this.canvas, this.legend.node);
  }

  async #load() {
    const {weights, keyAxis} = this.map;
    const level = weights.levels.findIndex(({rows, columns}) => rows * columns <= mostWeights);
    const {rows, factor} = weights.levels[level];
    try {
      const [sound, map] = await Promise.all([keyAxis.spectrogram.all(), weights.band(level, 0, rows)]);
      this.mapTiles = new FrameTiles(map, rows, {factor});
      this.soundTiles = spectrogramTiles(sound, keyAxis.spectrogram.rows);
      if (!this.destroyed) await Promise.all([this.#recolour(), this.#chooseRow()]);
    } catch (error) {
      this.facts.textContent = `The sound cannot be shown: ${error.message}`;
    }
  }

  async #recolour() {
    this.scale = await WeightScale.of(this.map, this.context.state.get("threshold"));
    if (this.destroyed) return;
    this.legend.show(this.scale, this.#remark());
    this.mapTiles?.setScale(this.scale);
    this.soundTiles?.setScale(this.soundTiles.scale);
    this.schedule();
  }

  #remark() {
    return this.map.hasTruth ? "outlined: where it really is" : "";
  }

  // What the chosen row looks at, as shares of its largest weight.
  async #chooseRow() {
    const query = this.context.state.get("query");
    const row = query < 0 ? null : await this.map.weights.row(query);
    if (this.destroyed || query !== this.context.state.get("query")) return;
    const [most] = row ? topOf(row, 1) : [];
    this.shares = most ? Float32Array.from(row, (weight) => Math.abs(weight / most.value)) : null;
    this.strongest = most?.key ?? 0;
    const who = visible(this.map.queryAxis.labels[query]);
    this.chosen = most ? `“${who}” listens most to ${this.#moment(most.key)} (${number(most.value)}).` : "";
    this.facts.textContent = this.chosen || "Choose a row to see which sound it listens to.";
    this.canvas.setAttribute("aria-label", this.describe());
    this.schedule();
  }

  #moment(frame) {
    const {times, timeUnit, labels} = this.map.keyAxis;
    return times ? `${number(times[frame])}${shortUnit(timeUnit)}` : visible(labels[frame]);
  }

  #plot() {
    return zoomedPlot(this.box, this.panzoom, this.map.keyAxis.size);
  }

  draw() {
    if (!this.box || this.destroyed) return;
    this.startDrawing(this.host.clientWidth, this.height);
    this.#drawPictures(this.drawing);
    this.#drawMarks(this.#plot());
  }

  #drawPictures(context) {
    const plot = this.#plot();
    if (!this.soundTiles) return;
    drawFrames(context, plot, plot.sound, this.soundTiles);
    if (this.shares) drawVeil(context, plot, this.shares);
    drawGapGround(context, mapArea(plot));
    drawFrames(context, plot, plot.map, this.mapTiles);
    if (this.map.hasTruth) drawTruth(context, plot, this.map.truth);
  }

  // The same pictures as a data address, for export.
  #pictures({width, height}) {
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [2 * width, 2 * height];
    const context = canvas.getContext("2d");
    context.scale(2, 2);
    this.#drawPictures(context);
    return canvas.toDataURL();
  }

  #drawMarks(plot) {
    const {state} = this.context;
    const chosen = {query: state.get("query"), key: state.get("key")};
    const marks = new Map(chosen.query < 0 ? [] : [[chosen.query, "chosen"]]);
    for (const query of matches(this.map.queryAxis, state.get("search"))) {
      if (!marks.has(query)) marks.set(query, "found");
    }
    if (this.hovered) drawCross(this.drawing, plot, this.hovered, colour("cross"));
    drawCross(this.drawing, plot, chosen, colour("accent"));
    if (this.sound?.time > 0) drawLine(this.drawing, plot, this.#heard(), colour("truth"));
    drawQueries(this.drawing, plot, this.map.queryAxis, marks);
    drawAxes(this.drawing, plot, this.map.keyAxis);
  }

  // Times may count milliseconds; a sound counts seconds.
  get #perSecond() {
    return this.map.keyAxis.timeUnit.startsWith("milli") ? 1000 : 1;
  }

  // The place in frames that is heard now; without times the frames are spread evenly over the sound.
  #heard() {
    const {times, size} = this.map.keyAxis;
    if (times) return frameAt(times, this.sound.time * this.#perSecond);
    return (this.sound.time / (this.sound.audio.duration || 1)) * size;
  }

  // Query -1 over the spectrogram; null outside of both pictures.
  #cellAt(event) {
    const plot = this.#plot();
    const box = this.canvas.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left - plot.left, event.clientY - box.top];
    const key = Math.floor((x - plot.offset) / plot.frameWidth);
    const query = Math.floor((y - plot.map.top) / plot.map.rowHeight);
    const inside = x >= 0 && x < plot.width && key < this.map.keyAxis.size && query < this.map.queryAxis.size;
    return inside ? {query: Math.max(-1, query), key} : null;
  }

  #hover(event) {
    const dragging = this.panzoom.pointers.size > 0 && this.panzoom.moved;
    this.hovered = event && !dragging ? this.#cellAt(event) : null;
    this.schedule();
    if (!this.hovered) return this.context.tooltip.hide();
    const lines = this.hovered.query < 0 ? [] : cellLines(this.map, this.hovered);
    lines.splice(1, 1, ["time", this.#moment(this.hovered.key)]);
    this.context.tooltip.show(event.clientX, event.clientY, lines);
  }

  #click(event) {
    const cell = this.panzoom.moved ? null : this.#cellAt(event);
    if (!cell) return;
    if (cell.query >= 0) this.#choose(cell);
    else this.context.set({key: cell.key});
    const {times} = this.map.keyAxis;
    if (times) this.sound?.seek(times[cell.key] / this.#perSecond);
  }

  async #choose(cell) {
    this.context.set(cell);
    await this.#chooseRow();
    this.context.announce(cell.key < 0 ? this.chosen : cellSentence(this.map, cell));
  }

  #key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
    const move = {ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1]}[event.key];
    if (move) this.#move(...move);
    else if (event.key === "Escape") this.context.set({query: -1, key: -1});
    else if (event.key === " ") this.sound?.toggle();
    else return;
    event.preventDefault();
  }

  // To another row or frame, which comes into sight where the picture is zoomed.
  async #move(down, right) {
    const {state} = this.context;
    const inside = (index, size) => Math.max(0, Math.min(size - 1, index));
    const query = inside(state.get("query") + down, this.map.queryAxis.size);
    const hasKey = right !== 0 || state.get("key") >= 0;
    const key = hasKey ? inside(state.get("key") + right, this.map.keyAxis.size) : -1;
    await this.#choose({query, key});
    const width = this.box.width / this.map.keyAxis.size;
    this.panzoom.reveal((hasKey ? key : this.strongest) * width, 0, width, 1);
  }
}

const rules = `
.sound-tools { display: flex; flex-wrap: wrap; gap: 0.5rem 1.2rem; align-items: center; margin-bottom: 1rem; }
.sound-facts { font-size: 0.8667rem; color: var(--quiet); unicode-bidi: plaintext; }
`;
