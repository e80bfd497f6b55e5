// Any dense map as a picture: queries are rows, keys are columns, weights are colours. Drawn on a canvas from
// the overview level that suits the zoom, so that a map of 4,096 x 4,096 is as quick as one of ten words.
import {labelWidth} from "fovea/parts/axis_labels.js";
import {blockLines, cellLines, cellSentence, mapSentence} from "fovea/parts/cell_facts.js";
import {onThemeChange} from "fovea/parts/colour.js";
import {element} from "fovea/parts/dom.js";
import {count, number} from "fovea/parts/format.js";
import {Legend} from "fovea/parts/legend.js";
import {axisNames, drawGapGround, drawSurroundings} from "fovea/parts/matrix_drawing.js";
import {matrixNumbers, matrixSvg} from "fovea/parts/matrix_export.js";
import {labelWidths, matrixLayout} from "fovea/parts/matrix_layout.js";
import {WeightScale} from "fovea/parts/scale.js";
import {matches} from "fovea/parts/search.js";
import {Tiles} from "fovea/parts/tiles.js";
import {CanvasView} from "fovea/views/common/canvas_view.js";

const finestCell = 56;  // cells grow no larger than this

/** See web/README.md. */
export const view = {
  id: "matrix",
  title: "Matrix",
  fits(map) {
    if (map.layout === "points" || map.weights.rows === 0 || map.weights.columns === 0) return 0;
    if (map.layout === "edges" || map.weights.rows === 1) return 0.5;
    return 2;
  },
  mount(host, context) {
    return new MatrixView(host, context);
  },
};

class MatrixView extends CanvasView {
  constructor(host, context) {
    super(host, context);
    Object.assign(this, {scale: null, facts: ""});
    this.legend = new Legend();
    this.message = element("p", {class: "message", hidden: true});
    host.append(this.canvas, this.message, this.legend.node);
    this.tiles = new Tiles(this.map.weights, () => this.schedule());
    this.addPanZoom(() => [this.layout.gutter, this.layout.header]);
    this.listen({
      hover: (event) => this.#hover(event), click: (event) => this.#click(event), key: (event) => this.#key(event),
    });
    this.canvas.addEventListener("blur", () => context.tooltip.hide());
    this.endTheme = onThemeChange(() => this.#rescale());
    this.resize();
    this.panzoom.fromText(context.state.get("zoom"));
    this.#rescale();
    this.#gatherFacts().catch(() => {});  // the picture itself says what cannot be read
  }

  update(changed) {
    if (changed.has("threshold")) this.#rescale();
    if (changed.has("zoom")) this.followZoom();
    if (changed.has("query") || changed.has("key")) this.#reveal();
    this.schedule();
  }

  resize() {
    const width = this.host.clientWidth;
    if (width === 0) return;
    const {queryAxis, keyAxis} = this.map;
    const most = labelWidths(width);
    this.layout = matrixLayout({
      width, height: Math.max(300, window.innerHeight - 330), rows: queryAxis.size, columns: keyAxis.size,
      queryWidth: this.#queryWidth(most.query), keyWidth: labelWidth(this.drawing, keyAxis, most.key),
    });
    const {cellWidth, cellHeight, plotWidth, plotHeight} = this.layout;
    this.panzoom.maximum = Math.max(1, finestCell / Math.min(cellWidth, cellHeight));
    this.panzoom.setSize(keyAxis.size * cellWidth, queryAxis.size * cellHeight, plotWidth, plotHeight);
    this.sizeCanvas(this.layout.width, this.layout.height);
    this.canvas.style.width = `${this.layout.width}px`;
    this.draw();
  }

  svg() {
    return this.scale ? matrixSvg(this.#picture(), this.tiles, this.describe()) : null;
  }

  numbers(whole) {
    return matrixNumbers(this.#picture(), whole);
  }

  howToRead() {
    return {scale: this.scale, remark: this.#remark()};
  }

  describe() {
    const [queries, keys] = axisNames(this.map);
    const {rows, columns} = this.map.weights;
    return `Matrix of ${count(rows)} rows (${queries}) by ${count(columns)} columns (${keys}). ${this.facts}`;
  }

  // Room for the labels of rows and for the name of their axis.
  #queryWidth(most) {
    const [queries] = axisNames(this.map);
    const labels = labelWidth(this.drawing, this.map.queryAxis, most);
    const name = Math.ceil(this.drawing.measureText(`${queries} ↓`).width);
    return Math.max(labels, Math.min(most, name));
  }

  async #rescale() {
    try {
      this.scale = await WeightScale.of(this.map, this.context.state.get("threshold"));
    } catch (error) {
      this.tiles.error = error;
    }
    if (this.destroyed) return;
    if (this.scale) {
      this.tiles.setScale(this.scale);
      this.legend.show(this.scale, this.#remark());
    }
    this.draw();
  }

  #remark() {
    const {power, threshold, largest} = this.scale;
    const remarks = [];
    if (this.map.hasTruth) remarks.push("outlined: what really matters");
    if (power !== 1) remarks.push("root scale");
    if (threshold > 0) remarks.push(`below ${number(threshold * largest)} hidden`);
    return remarks.join(" · ");
  }

  draw() {
    if (!this.layout || this.destroyed) return;
    const picture = this.#picture();
    this.startDrawing(this.layout.width, this.layout.height);
    if (this.scale) {
      drawGapGround(this.drawing, picture.view);
      this.tiles.draw(this.drawing, picture.view);
      drawSurroundings(this.drawing, picture);
    }
    const {error} = this.tiles;
    this.message.hidden = !error;
    if (error) this.message.textContent = `The weights cannot be read: ${error.message}`;
  }

  #picture() {
    const {state} = this.context;
    const {gutter, header, plotWidth, plotHeight, cellWidth, cellHeight} = this.layout;
    const {zoom, offsetX, offsetY} = this.panzoom;
    const search = state.get("search");
    return {
      map: this.map, scale: this.scale, layout: this.layout, hovered: this.hovered,
      chosen: {query: state.get("query"), key: state.get("key")},
      found: {queries: matches(this.map.queryAxis, search), keys: matches(this.map.keyAxis, search)},
      view: {
        left: gutter, top: header, width: plotWidth, height: plotHeight, offsetX, offsetY,
        cellWidth: cellWidth * zoom, cellHeight: cellHeight * zoom,
      },
    };
  }

  // The cell under the pointer, or null.
  #cellAt(event) {
    const {gutter, header, plotWidth, plotHeight, cellWidth, cellHeight} = this.layout;
    const box = this.canvas.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left - gutter, event.clientY - box.top - header];
    if (x < 0 || y < 0 || x >= plotWidth || y >= plotHeight) return null;
    const [contentX, contentY] = this.panzoom.toContent(x, y);
    return {query: Math.floor(contentY / cellHeight), key: Math.floor(contentX / cellWidth)};
  }

  #hover(event) {
    const dragging = this.panzoom.pointers.size > 0 && this.panzoom.moved;
    const cell = event && !dragging ? this.#cellAt(event) : null;
    this.told = cell;
    const moved = cell?.query !== this.hovered?.query || cell?.key !== this.hovered?.key;
    this.hovered = cell;
    if (moved) this.schedule();
    if (cell) this.#tell(cell, event.clientX, event.clientY);
    else this.context.tooltip.hide();
  }

  // The tooltip of a cell: what is known at once, then what had to be read first.
  #tell(cell, x, y) {
    this.told = cell;
    const {cellWidth, cellHeight} = this.#picture().view;
    const grid = this.tiles.gridFor(cellWidth, cellHeight);
    const single = grid.factorX === 1 && grid.factorY === 1;
    const lines = () => (single ? cellLines(this.map, cell)
      : blockLines(this.map, cell, grid, this.tiles.shown(grid, cell.query, cell.key)));
    const show = () => this.context.tooltip.show(x, y, lines());
    show();
    const again = () => this.told === cell && !this.destroyed && show();
    if (single) this.map.load(cell.query, cell.key).then(again, () => {});
  }

  #click(event) {
    const cell = this.panzoom.moved ? null : this.#cellAt(event);
    if (!cell) return;
    const {state} = this.context;
    const again = cell.query === state.get("query") && cell.key === state.get("key");
    this.context.set(again ? {query: -1, key: -1} : cell);
    if (again) return;
    this.#announce();
    this.#tell(cell, event.clientX, event.clientY);  // a finger cannot hover
  }

  #key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
    const move = {
      ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0],
      PageUp: [-10, 0], PageDown: [10, 0], Home: [0, -Infinity], End: [0, Infinity],
    }[event.key];
    if (move) this.#move(...move);
    else if (event.key === "Escape") this.context.set({query: -1, key: -1});
    else if (event.key !== "Enter") return;
    event.preventDefault();
    this.hovered = null;
    if (event.key === "Escape") return;
    this.#announce();
    this.#tellChosen();
  }

  #tellChosen() {
    const {view, chosen} = this.#picture();
    if (chosen.query < 0 || chosen.key < 0) return;
    const box = this.canvas.getBoundingClientRect();
    const x = box.left + view.left + view.offsetX + (chosen.key + 0.5) * view.cellWidth;
    const y = box.top + view.top + view.offsetY + (chosen.query + 0.5) * view.cellHeight;
    this.#tell(chosen, x, y);
  }

  #move(rows, columns) {
    const {state} = this.context;
    const limited = (index, size) => Math.max(0, Math.min(size - 1, index));
    const fresh = state.get("query") < 0 && state.get("key") < 0;
    this.context.set({
      query: limited(Math.max(0, state.get("query")) + (fresh ? 0 : rows), this.map.queryAxis.size),
      key: limited(Math.max(0, state.get("key")) + (fresh ? 0 : columns), this.map.keyAxis.size),
    });
  }

  #reveal() {
    if (!this.layout) return;
    const {cellWidth, cellHeight, plotWidth, plotHeight} = this.layout;
    const {state} = this.context;
    const [x, y] = this.panzoom.toContent(plotWidth / 2, plotHeight / 2);
    const left = state.get("key") < 0 ? x : state.get("key") * cellWidth;
    const top = state.get("query") < 0 ? y : state.get("query") * cellHeight;
    this.panzoom.reveal(left, top, cellWidth, cellHeight);
  }

  async #announce() {
    const cell = {query: this.context.state.get("query"), key: this.context.state.get("key")};
    if (cell.query < 0 || cell.key < 0) return;
    await this.map.load(cell.query, cell.key).catch(() => {});
    this.context.announce(cellSentence(this.map, cell));
  }

  async #gatherFacts() {
    this.facts = await mapSentence(this.map);
    this.canvas.setAttribute("aria-label", this.describe());
  }
}
