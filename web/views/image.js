// A picture through the eyes of a query: the attention of a caption's word over the cells of a grid, smoothly
// between them as in "Show, Attend and Tell" or cell by cell, with a thumbnail for each word and a button
// that plays them. Where cells look at each other behind a class token (a vision transformer), the
// thumbnails are the layers and heads instead, and a click on a cell asks what that one looks at.
import {topOf} from "fovea/model/matrix.js";
import {cellLines, cellSentence} from "fovea/parts/cell_facts.js";
import {element} from "fovea/parts/dom.js";
import {svgDocument} from "fovea/parts/export.js";
import {number, percent, visible} from "fovea/parts/format.js";
import {WeightScale} from "fovea/parts/scale.js";
import {matches} from "fovea/parts/search.js";
import {Choice, chosenQuery, queryChoice} from "fovea/views/common/choice.js";
import {NumbersView} from "fovea/views/common/numbers_view.js";
import {clearFrom, overlayCanvas, veilFor} from "fovea/views/common/overlay.js";
import {
  drawPicture, loadPicture, outlinePath, outlines, pictureFigure, strokePath,
} from "fovea/views/common/picture.js";
import {StepPlayer} from "fovea/views/common/player.js";
import {Thumbnails} from "fovea/views/common/thumbnails.js";

const mostThumbnails = 300;
const thumbnailWidth = 104;
const defaultOpacity = 0.8;
const mostNumbers = 1_000_000;

/** The view of the table in views/index.js. */
export const view = {
  id: "image",
  title: "Picture",
  fits(map, explanation) {
    const {grid} = map.keyAxis;
    return map.layout === "dense" && grid && map.queryAxis.size > 0 && explanation.medium(grid.media) ? 5 : 0;
  },
  mount(host, context) {
    return new PictureView(host, context);
  },
};

class PictureView extends NumbersView {
  constructor(host, context) {
    super(host, context, rules);
    this.map = context.map;
    this.grid = this.map.keyAxis.grid;
    this.first = this.map.keyAxis.special?.length ?? 0;  // key of the first cell
    this.medium = context.explanation.medium(this.grid.media);
    this.rows = new Map();  // query -> weights
    this.#build(host);
    this.#load();
  }

  update(changed) {
    if (changed.has("threshold") || changed.has("zoom")) this.draw();
    else this.#drawChosen();
  }

  resize() {
    this.#drawChosen();
  }

  // The chosen overlay large, then a small one for each query that is at hand.
  svg() {
    if (!this.picture || !this.rows.has(this.#chosen)) return null;
    const {labels} = this.map.queryAxis;
    const small = thumbnailWidth / 2;
    const several = labels.length > 1 && !this.#looksAtItself;
    const others = several ? [...this.rows.keys()].sort((a, b) => a - b) : [];
    const {nodes, ...size} = pictureFigure(this.medium, [
      {overlay: this.#overlay(this.#chosen), text: this.#sentence(this.#chosen),
        marks: (box) => this.#marks(this.#chosen, box)},
      ...others.map((query) =>
        ({overlay: this.#overlay(query, small), text: visible(labels[query]), marks: () => []})),
    ], this.options.smooth);
    return svgDocument({...size, title: this.map.title, description: this.describe()}, nodes);
  }

  howToRead() {
    const clear = "Clear where the weights are largest, veiled where they are 0.";
    const truth = this.map.hasTruth ? " Dashed: what really matters." : "";
    return {remark: `${this.scale?.signed ? "Orange is above 0, blue below." : clear}${truth}`};
  }

  // All queries, or the chosen one where that would be too long.
  async *numbers(whole) {
    const {labels} = this.map.queryAxis;
    const all = whole && labels.length * this.map.keyAxis.size <= mostNumbers;
    yield ["query", "label", "row", "column", "weight", "truth"];
    for (const query of all ? labels.keys() : [this.#chosen]) {
      for (const [cell, weight] of this.#cells(await this.map.weights.row(query)).entries()) {
        const place = [Math.floor(cell / this.grid.columns) + 1, (cell % this.grid.columns) + 1];
        yield [query, labels[query], ...place, weight, this.#isTrue(query, cell)];
      }
    }
  }

  describe() {
    return `${this.medium.alt || "A picture."} ${this.#sentence(this.#chosen)}`;
  }

  destroy() {
    this.player.stop();
    this.thumbnails?.destroy();
    super.destroy();
  }

  get #chosen() {
    return chosenQuery(this.context);
  }

  get #looksAtItself() {
    return this.map.queryAxis === this.map.keyAxis && this.first > 0;
  }

  // Of a row, what belongs to cells.
  #cells(row) {
    return row.slice(this.first);
  }

  #isTrue(query, cell) {
    return this.map.isTrue(query, cell + this.first);
  }

  // How the overlay looks is this view's own and lives in the state's `zoom`, as "cells 0.6".
  get options() {
    const [mode, opacity = defaultOpacity] = this.context.state.get("zoom").split(" ");
    return {smooth: mode !== "cells", opacity: Math.min(1, Math.max(0, Number(opacity) || 0))};
  }

  #setOptions(partial) {
    const {smooth, opacity} = {...this.options, ...partial};
    this.context.set({zoom: `${smooth ? "smooth" : "cells"} ${opacity}`});
  }

  #build(host) {
    const {size} = this.map.queryAxis;
    this.player = new StepPlayer({size, current: () => this.#chosen, go: (query) => this.#show(query)});
    this.mode = new Choice("Overlay", [{value: true, text: "Smooth"}, {value: false, text: "Cells"}],
      (smooth) => this.#setOptions({smooth}));
    this.slider = element("input", {
      type: "range", min: 0, max: 1, step: 0.05,
      on: {input: () => this.#setOptions({opacity: Number(this.slider.value)})},
    });
    this.canvas = element("canvas", {
      class: "picture-canvas", tabindex: 0, role: "img",
      style: {aspectRatio: `${this.medium.width} / ${this.medium.height}`},
      on: {
        pointermove: (event) => this.#hover(event), pointerleave: () => this.context.tooltip.hide(),
        click: (event) => this.#pick(this.#keyAt(event)), keydown: (event) => this.#key(event),
      },
    });
    this.caption = element("figcaption", {class: "picture-caption"});
    this.queries = this.#buildQueries(size);
    host.append(element("div", {class: "picture-frame"}, element("div", {class: "picture"},
      element("div", {class: "picture-tools"}, size > 1 && !this.#looksAtItself && this.player.element,
        this.who?.element, this.mode.element, element("label", {class: "field"}, "Opacity", this.slider)),
      element("figure", {class: "picture-figure"}, this.canvas, this.caption), this.queries?.element)));
  }

  #buildQueries(size) {
    if (this.#looksAtItself) return this.#buildHeads();
    if (size < 2 || size > mostThumbnails) return queryChoice(this.context);
    this.thumbnails = new Thumbnails(this.map.queryAxis, (query) => {
      this.player.stop();
      this.#show(query);
    }, (canvas, query) => this.#drawThumbnail(canvas, query));
    return this.thumbnails;
  }

  // The units that are no cells to choose from, and what all layers and heads make of the chosen one.
  #buildHeads() {
    const {labels, kind} = this.map.queryAxis;
    const units = labels.slice(0, this.first).map((text, value) => ({value, text: visible(text)}));
    const cell = {value: this.first, text: `a ${kind || "cell"}: click one`};
    this.who = new Choice("what looks", [...units, cell], (query) => this.#show(query));
    const {maps} = this.context.explanation.familyOf(this.map);
    if (maps.length < 2 || maps.length > mostThumbnails) return null;
    const names = maps.map(({layer, head}) =>
      [layer && `L${layer}`, head && `head ${head}`].filter(Boolean).join(", "));
    this.heads = maps;
    this.thumbnails = new Thumbnails({labels: names, kind: "head"},
      (index) => this.context.set({layer: maps[index].layer ?? 0, head: maps[index].head ?? 0}),
      (canvas, index) => this.#drawThumbnail(canvas, this.#chosen, maps[index]));
    return this.thumbnails;
  }

  async #show(query) {
    this.context.set({query});
    await this.#read(query);
    this.context.announce(this.#sentence(query));
  }

  async #load() {
    const {map, medium} = this;
    try {
      const [picture, scale] = await Promise.all([loadPicture(medium), WeightScale.of(map)]);
      Object.assign(this, {picture, scale, veil: veilFor(picture)});
      this.draw();
    } catch (error) {
      this.caption.textContent = `The picture cannot be shown: ${error.message}`;
    }
  }

  async #read(query) {
    if (!this.rows.has(query)) this.rows.set(query, await this.map.weights.row(query));
  }

  draw() {
    if (!this.picture || this.destroyed) return;
    this.#drawChosen();
    this.thumbnails?.redraw();
  }

  async #drawChosen() {
    const query = this.#chosen;
    this.#showControls(query);
    await this.#read(query);
    if (!this.picture || this.destroyed || query !== this.#chosen) return;
    const size = {width: this.canvas.clientWidth, height: this.canvas.clientHeight};
    const context = drawPicture(this.canvas, size, this.picture, this.#overlay(query), this.options.smooth);
    this.#marks(query, size).forEach(({path, strokes}) => strokePath(context, path, strokes));
    this.caption.textContent = this.#sentence(query);
    this.canvas.setAttribute("aria-label", this.describe());
  }

  #showControls(query) {
    const {smooth, opacity} = this.options;
    this.mode.select(smooth);
    this.slider.value = opacity;
    this.who?.select(Math.min(query, this.first));
    if (!this.heads) {
      this.queries?.select(query);
      this.thumbnails?.mark(matches(this.map.queryAxis, this.context.state.get("search")));
      return;
    }
    const index = this.heads.indexOf(this.map);  // -1: the mean of heads, which has no thumbnail
    const {choice} = this.thumbnails;
    choice.select(index);
    if (index < 0) choice.buttons[0].setAttribute("aria-checked", "false");
    if (this.shownQuery !== query) this.thumbnails.redraw();
    this.shownQuery = query;
  }

  async #drawThumbnail(canvas, query, map = this.map) {
    if (map === this.map) await this.#read(query);
    const row = map === this.map ? this.rows.get(query) : await map.weights.row(query);
    if (this.destroyed) return;
    const size = {width: thumbnailWidth, height: (thumbnailWidth * this.medium.height) / this.medium.width};
    drawPicture(canvas, size, this.picture, this.#overlayOf(row, thumbnailWidth / 2), this.options.smooth);
  }

  #overlay(query, size) {
    return this.#overlayOf(this.rows.get(query), size);
  }

  #overlayOf(row, size) {
    this.scale.threshold = this.context.state.get("threshold");
    const {scale, veil, grid, options} = this;
    return overlayCanvas(this.#cells(row), grid, {...options, scale, veil, size});
  }

  #marks(query, size) {
    const key = this.context.state.get("key");
    const outline = (inside, strokes) => ({path: outlinePath(this.grid, size, inside), strokes});
    return [outline((cell) => this.#isTrue(query, cell), outlines.truth),
      outline((cell) => cell + this.first === key, outlines.chosen)].filter(({path}) => path !== "");
  }

  #sentence(query) {
    const {queryAxis, keyAxis, truth} = this.map;
    const row = this.rows.get(query);
    if (!row) return "";
    const cells = this.#cells(row);
    const [most] = topOf(cells, 1);
    const who = `“${visible(queryAxis.labels[query])}”`;
    if (!most) return `${who} has only gaps.`;
    const label = visible(keyAxis.labels[most.key + this.first]);
    const where = `${who} looks most at ${label} (${number(most.value)}).${this.#restText(query, row)}`;
    if (this.scale?.signed) return `${where} Orange is above 0, blue below.`;
    const scale = this.#scaleText(cells);
    if (!truth.has(query)) return `${where}${scale}`;
    const inside = cells.reduce((sum, weight, cell) => sum + (this.#isTrue(query, cell) ? weight : 0), 0);
    return `${where} The outlined cells hold ${percent(inside)} of its weight.${scale}`;
  }

  // What clear and veiled mean.
  #scaleText(cells) {
    if (!this.scale?.equal) return "";
    const top = clearFrom(cells, this.scale);
    const times = number(Number((top / this.scale.equal).toPrecision(2)));
    return ` Clear: ${number(top)} or more, ${times} times the equal share; veiled: 0.`;
  }

  // What the picture does not show: the weight on units that are no cells.
  #restText(query, row) {
    if (this.first === 0) return "";
    const rest = percent(row.slice(0, this.first).reduce((sum, weight) => sum + weight, 0));
    const isItself = this.#looksAtItself && query === 0 && this.first === 1;
    if (isItself) return ` ${rest} of its weight stays on itself.`;
    const names = this.map.keyAxis.labels.slice(0, this.first).map((label) => `“${visible(label)}”`);
    return ` ${rest} of its weight is on ${names.join(", ")}, which is no part of the picture.`;
  }

  // The key of the cell under the pointer, or -1.
  #keyAt(event) {
    const {rows, columns} = this.grid;
    const box = this.canvas.getBoundingClientRect();
    const row = Math.floor(((event.clientY - box.top) / box.height) * rows);
    const column = Math.floor(((event.clientX - box.left) / box.width) * columns);
    const inside = row >= 0 && column >= 0 && row < rows && column < columns;
    return inside ? row * columns + column + this.first : -1;
  }

  #hover(event) {
    const cell = {query: this.#chosen, key: this.#keyAt(event)};
    if (cell.key < 0) this.context.tooltip.hide();
    else this.context.tooltip.show(event.clientX, event.clientY, cellLines(this.map, cell));
  }

  // Where the queries are the same cells, a click asks what that cell looks at.
  #pick(key) {
    if (key < 0) return;
    this.context.set(this.map.queryAxis === this.map.keyAxis ? {query: key, key} : {key});
    this.context.announce(cellSentence(this.map, {query: this.#chosen, key}));
  }

  #key(event) {
    const {columns} = this.grid;
    const step = {ArrowLeft: -1, ArrowRight: 1, ArrowUp: -columns, ArrowDown: columns}[event.key];
    if (!step || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    const from = this.context.state.get("key");
    const to = from < this.first ? this.first : from + step;
    if (to >= this.first && to < this.map.keyAxis.size) this.#pick(to);
  }
}

const rules = `
.picture-frame { container-type: inline-size; }
.picture { display: grid; gap: 0.9rem 1.75rem; grid-template-columns: minmax(0, 1fr); align-items: start; }
.picture-tools {
  display: flex; flex-wrap: wrap; gap: 0.6rem 1.2rem; align-items: center; grid-column: 1 / -1;
}
.picture-figure { margin: 0; max-width: calc(74vh * 4 / 3); }
.picture-canvas { display: block; width: 100%; border-radius: 6px; cursor: crosshair; }
.picture-caption {
  margin-top: 0.6rem; min-height: 2.6em; font-size: 0.8667rem; color: var(--quiet); unicode-bidi: plaintext;
}
@container (min-width: 46rem) {
  .picture { grid-template-columns: minmax(0, 1.7fr) minmax(0, 1fr); }
}
`;
