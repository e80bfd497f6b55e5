// All layers and heads at once as small pictures of their overview levels: which are diagonal, which look at
// one place, which at all.
import {onThemeChange} from "fovea/parts/colour.js";
import {element} from "fovea/parts/dom.js";
import {number, percent} from "fovea/parts/format.js";
import {headFacts} from "fovea/parts/head_facts.js";
import {headGap, headsSvg} from "fovea/parts/heads_export.js";
import {WeightScale} from "fovea/parts/scale.js";

const [smallest, largest] = [44, 132];
const shareNames = {
  self: "share on itself", previous: "share on the one before", next: "share on the one after",
  first: "share on the first",
};
const remark = "Each picture has its own scale, up to its usual largest weights.";

/** See web/README.md. */
export const view = {
  id: "heads",
  title: "All heads",
  picks: ["layer", "head"],
  fits(map, explanation) {
    const {layers, heads, maps, grouped} = explanation.familyOf(map);
    const empty = map.weights.rows * map.weights.columns === 0;
    if (grouped || empty || maps.length < 2 || map.layout === "points") return 0;
    return layers.length > 1 && heads.length > 1 ? 3 : 1;
  },
  mount(host, context) {
    return new HeadsView(host, context);
  },
};

class HeadsView {
  constructor(host, context) {
    Object.assign(this, {host, context, destroyed: false, facts: new Map()});
    this.family = context.explanation.familyOf(context.map);
    // A family of layers alone is laid out in one row, as one of heads alone.
    this.onlyLayers = this.family.heads.length === 0;
    this.cells = this.family.maps.map((map) => this.#cell(map));
    this.grid = element("div", {
      class: "heads-grid", role: "group", "aria-label": this.describe(),
      on: {keydown: (event) => this.#key(event)},
    });
    this.#fill();
    host.append(element("div", {class: "heads"}, this.grid), element("p", {class: "legend", text: `${remark} Choose one to look closer.`}));
    this.endThemes = onThemeChange(() => this.#paintAll());
    this.resize();
    this.#paintAll();
  }

  update(changed) {
    if (changed.has("threshold")) this.#paintAll();
  }

  resize() {
    const columns = this.#columns().length;
    const room = (this.host.clientWidth - 80) / columns - headGap;
    const width = Math.floor(Math.max(smallest, Math.min(largest, room)));
    const {rows, columns: keys} = this.context.map.weights;
    const height = Math.round(Math.min(width * 1.5, Math.max(width / 3, (width * rows) / keys)));
    this.grid.style.gridTemplateColumns = `max-content repeat(${columns}, ${width}px)`;
    this.grid.style.gridAutoRows = "auto";
    this.cells.forEach(({button}) => { button.style.height = `${height}px`; });
    Object.assign(this, {width, height});
  }

  svg() {
    const [rows, columns] = [this.#rows(), this.#columns()];
    const pictures = this.cells.map(({map, canvas}) => ({
      canvas, row: rows.indexOf(this.#rowOf(map)), column: columns.indexOf(this.#columnOf(map)),
    }));
    const {width, height} = this;
    const texts = {title: this.family.title, description: this.describe()};
    return headsSvg({rows, columns, pictures, width, height, ...texts});
  }

  drawnMaps() {
    return this.family.maps;
  }

  howToRead() {
    return {remark};
  }

  async *numbers() {
    yield ["layer", "head", "mean largest weight", "keys looked at", ...Object.values(shareNames)];
    for (const {map} of this.cells) {
      const facts = await this.#factsOf(map);
      const shares = Object.keys(shareNames).map((name) => facts[name]);
      yield [map.layer, map.head, facts.largest, facts.keys, ...shares];
    }
  }

  describe() {
    const {layers, heads, maps} = this.family;
    const [rows, columns] = [layers.length || 1, heads.length || 1];
    return `Overview of ${maps.length} maps as small matrices: ${rows} layers, ${columns} heads.`;
  }

  destroy() {
    this.destroyed = true;
    this.endThemes();
    this.context.tooltip.hide();
    this.host.replaceChildren();
  }

  #rowOf(map) {
    return this.onlyLayers ? null : map.layer;
  }

  #columnOf(map) {
    return this.onlyLayers ? map.layer : map.head;
  }

  #rows() {
    return this.onlyLayers || this.family.layers.length === 0 ? [null] : this.family.layers;
  }

  #columns() {
    return this.onlyLayers ? this.family.layers : this.family.heads;
  }

  #cell(map) {
    const {rows, columns} = map.weights.levels.at(-1);
    const canvas = element("canvas", {width: columns, height: rows});
    const chosen = map === this.context.map;
    const tell = () => this.#tell(map, button);
    const hide = () => this.context.tooltip.hide();
    const button = element("button", {
      type: "button", "aria-label": nameOf(map), "aria-pressed": String(chosen), tabindex: -1,
      on: {click: () => this.#pick(map), focus: tell, pointerenter: tell, blur: hide, pointerleave: hide},
    }, canvas);
    return {map, canvas, button};
  }

  #fill() {
    const name = this.onlyLayers ? "layer" : "head";
    this.grid.append(element("span", {class: "heads-name", text: `${name} →`}),
      ...this.#columns().map((column) => element("span", {class: "heads-column", text: String(column)})));
    for (const row of this.#rows()) {
      this.grid.append(element("span", {class: "heads-name", text: row === null ? "" : `layer ${row}`}));
      for (const column of this.#columns()) {
        const cell = this.cells.find(({map}) => this.#rowOf(map) === row && this.#columnOf(map) === column);
        this.grid.append(cell?.button ?? element("span"));
      }
    }
    const chosen = this.cells.find(({map}) => map === this.context.map) ?? this.cells[0];
    chosen.button.tabIndex = 0;
  }

  #paintAll() {
    this.cells.forEach((cell) => this.#paint(cell).catch((error) => {
      cell.button.disabled = true;
      cell.button.title = error.message;
    }));
  }

  async #paint({map, canvas}) {
    const scale = await WeightScale.of(map, this.context.state.get("threshold"));
    const level = map.weights.levels.length - 1;
    const weights = await map.weights.band(level, 0, canvas.height);
    if (this.destroyed) return;
    const drawing = canvas.getContext("2d");
    const image = drawing.createImageData(canvas.width, canvas.height);
    scale.paint(weights, new Uint32Array(image.data.buffer));
    drawing.putImageData(image, 0, 0);
  }

  #pick(map) {
    this.context.set({layer: map.layer ?? 0, head: map.head ?? 0, view: "matrix", zoom: ""});
  }

  #factsOf(map) {
    if (!this.facts.has(map)) this.facts.set(map, headFacts(map));
    return this.facts.get(map);
  }

  async #tell(map, button) {
    this.told = map;
    const facts = await this.#factsOf(map);
    if (this.destroyed || this.told !== map || !button.matches(":hover, :focus-visible")) return;
    const box = button.getBoundingClientRect();
    const lines = [nameOf(map), ["keys looked at", `≈ ${number(facts.keys)}`]];
    lines.push(["mean largest weight", number(facts.largest)]);
    for (const [name, text] of Object.entries(shareNames)) {
      if (facts[name] !== undefined) lines.push([text, percent(facts[name])]);
    }
    this.context.tooltip.show(box.right - 8, box.bottom - 8, lines);
    if (document.activeElement !== button) return;
    this.context.announce(lines.map((line) => [line].flat().join(" ")).join(", "));
  }

  #key(event) {
    const columns = this.#columns().length;
    const step = {ArrowLeft: -1, ArrowRight: 1, ArrowUp: -columns, ArrowDown: columns}[event.key];
    if (!step) return;
    const buttons = [...this.grid.querySelectorAll("button")];
    const next = buttons[buttons.indexOf(document.activeElement) + step];
    event.preventDefault();
    if (!next) return;
    document.activeElement.tabIndex = -1;
    next.tabIndex = 0;
    next.focus();
  }
}

function nameOf({layer, head}) {
  const parts = [layer === null ? "" : `layer ${layer}`, head === null ? "" : `head ${head}`];
  return parts.filter(Boolean).join(", ") || "map";
}
