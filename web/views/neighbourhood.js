// A node of a graph and those it looks at: the node in the middle, its neighbours around it by weight, a
// ranked list beside them. A click or Enter walks to a neighbour. Only the rows of nodes on screen are read,
// so that the size of the graph does not matter.
import {clear, element, svg} from "fovea/parts/dom.js";
import {svgDocument} from "fovea/parts/export.js";
import {count, number, visible} from "fovea/parts/format.js";
import {Legend} from "fovea/parts/legend.js";
import {equalShare, WeightScale} from "fovea/parts/scale.js";
import {matches} from "fovea/parts/search.js";
import {fitText, label, legend, swatch} from "fovea/parts/chart.js";
import {NodeColours} from "fovea/views/common/node_colours.js";
import {NumbersView} from "fovea/views/common/numbers_view.js";
import {rankedList} from "fovea/views/common/ranked_list.js";
import {drawRing} from "fovea/views/common/ring.js";

const mostAround = 24;
const mostAroundNarrow = 16;
const mostBehind = 4;
const narrow = 480;

/** The view of the table in views/index.js. */
export const view = {
  id: "neighbourhood",
  title: "Neighbourhood",
  fits(map) {
    if (map.queryAxis.size === 0 || map.keyAxis.size === 0) return 0;
    return map.layout === "edges" ? 5 : 0;
  },
  mount(host, context) {
    return new NeighbourhoodView(host, context);
  },
};

class NeighbourhoodView extends NumbersView {
  constructor(host, context) {
    super(host, context, rules);
    Object.assign(this, {map: context.map, neighbours: [], behind: new Map(), trail: []});
    this.walks = this.map.queryAxis === this.map.keyAxis;
    this.colours = new NodeColours(this.map.keyAxis.values);
    this.#build(host);
    this.#load();
  }

  update(changed) {
    const moved = this.centre !== this.#chosenCentre();
    if (moved || changed.has("threshold") || changed.has("zoom")) this.#load();
    else this.draw();
  }

  svg() {
    if (!this.drawn) return null;
    const {width, height} = this.drawn;
    const entries = this.colours.entries.map(({colour, text}) => ({mark: swatch(colour), text}));
    const colours = legend(entries, 12, height + 40, width - 24);
    const text = fitText(this.#name(this.centre), width - 24);
    const name = label(width / 2, height + 18, text, {anchor: "middle"});
    const nodes = Array.from(this.stage.childNodes, (node) => node.cloneNode(true));
    const size = {width, height: height + 52 + colours.height};
    return svgDocument({...size, title: this.map.title, description: this.describe()},
      [...nodes, name, ...colours.nodes]);
  }

  howToRead() {
    return {scale: this.scale, remark: "Numbers are ranks. The thicker and darker an edge, the larger its weight."};
  }

  async *numbers() {
    const {keyAxis, queryAxis} = this.map;
    const centre = this.#chosenCentre();
    yield ["rank", "source", "target", "weight", "self_loop", "value"];
    for (const [place, {unit, weight}] of (await this.#readNeighbours(centre)).entries())
      yield [place + 1, keyAxis.labels[unit], queryAxis.labels[centre], weight,
        this.walks && unit === centre ? "yes" : "no", keyAxis.values?.[unit] ?? null];
  }

  describe() {
    if (this.centre === undefined) return this.map.title;
    const entry = ({unit, weight}) => `${this.#name(unit, true)} ${number(weight)}`;
    const largest = this.neighbours.slice(0, 4).map(entry);
    const what = `${this.#name(this.centre)} ${this.#manyText()}`;
    return `${this.map.title}: ${what}. Largest: ${largest.join("; ") || "none"}.`;
  }

  #build(host) {
    this.back = element("button", {type: "button", text: "← Back", on: {click: () => this.#goBack()}});
    this.second = element("input", {type: "checkbox",
      on: {change: () => this.context.set({zoom: this.second.checked ? "second" : ""})}});
    this.stage = svg("svg", {class: "ring", role: "img", tabindex: 0, on: {
      click: (event) => this.#walk(this.#unitAt(event)), pointermove: (event) => this.#hover(event),
      pointerleave: () => this.context.tooltip.hide(), keydown: (event) => this.#key(event),
    }});
    this.heading = element("h2", {class: "ring-heading", dir: "auto"});
    this.facts = element("p", {class: "ring-facts"});
    this.weights = new Legend();
    this.legend = element("ul", {class: "ring-legend", "aria-label": "Colours of the nodes"});
    this.side = element("div", {class: "ring-side"});
    const tools = element("div", {class: "ring-tools"}, this.back,
      this.walks && element("label", {class: "field"}, this.second, "Second ring"));
    host.append(element("div", {class: "ring-frame"}, element("div", {class: "ring-columns"},
      element("div", {}, tools, this.heading, this.facts, this.stage, this.legend, this.weights.node), this.side)));
  }

  // A search that jumped to a node has named it as key.
  #chosenCentre() {
    const {state} = this.context;
    const [query, key] = [state.get("query"), state.get("key")];
    return query < 0 && this.walks ? Math.max(0, key) : Math.max(0, query);
  }

  get #wantsSecond() {
    return this.walks && this.context.state.get("zoom") === "second";
  }

  async #load() {
    const turn = ++this.turn;
    const centre = this.#chosenCentre();
    try {
      const neighbours = await this.#readNeighbours(centre);
      const behind = this.#wantsSecond ? await this.#readBehind(centre, neighbours) : new Map();
      if (turn !== this.turn) return;
      const largest = Math.abs(neighbours[0]?.weight ?? 1);
      const signed = await this.map.isSigned();
      const equal = signed ? 0 : equalShare(this.map, this.many);
      Object.assign(this, {centre, neighbours, behind, scale: new WeightScale({largest, signed, equal})});
      this.draw();
    } catch (error) {
      this.facts.textContent = `The weights cannot be read: ${error.message}`;
    }
  }

  async #readNeighbours(centre) {
    const scale = await WeightScale.of(this.map, this.context.state.get("threshold"));
    const edges = [];
    (await this.map.weights.row(centre)).forEach((weight, unit) => {
      if (Number.isFinite(weight) && weight !== 0) edges.push({unit, weight});
    });
    this.many = edges.length;
    const neighbours = edges.filter(({weight}) => !scale.hides(weight));
    return neighbours.sort((a, b) => Math.abs(b.weight) - Math.abs(a.weight) || a.unit - b.unit);
  }

  async #readBehind(centre, neighbours) {
    const around = neighbours.filter(({unit}) => unit !== centre).slice(0, mostAround);
    const near = new Set([centre, ...around.map(({unit}) => unit)]);
    const lists = await Promise.all(around.map(({unit}) => this.map.weights.top(unit)));
    return new Map(lists.map((list, place) =>
      [around[place].unit, list.filter(({key, value}) => value && !near.has(key)).slice(0, mostBehind)]));
  }

  draw() {
    const width = Math.floor(this.stage.parentElement.clientWidth);
    if (this.centre === undefined || width === 0) return;
    const found = matches(this.map.keyAxis, this.context.state.get("search"));
    const ranked = this.neighbours.map(({unit, weight}, place) =>
      ({unit, weight, rank: place + 1, share: this.scale.share(weight), stroke: this.scale.colour(weight)}));
    const own = ranked.find(({unit}) => this.walks && unit === this.centre) ?? null;
    const most = width < narrow ? mostAroundNarrow : mostAround;
    const around = ranked.filter((node) => node !== own).slice(0, most);
    const fill = this.walks ? this.colours.colour(this.centre) : "var(--accent)";
    const nodesAround = around.map((node) => this.#drawnNode(node, found));
    const {nodes, height} = drawRing(width, {fill, own}, nodesAround, this.#wantsSecond);
    this.drawn = {width, height, around};
    this.stage.setAttribute("viewBox", `0 0 ${width} ${height}`);
    this.stage.setAttribute("aria-label", this.describe());
    clear(this.stage).append(...nodes);
    this.#showSide(this.walks ? found : new Set());
  }

  #drawnNode(node, found) {
    const {unit} = node;
    const behind = (this.behind.get(unit) ?? []).map(({key, value}) =>
      ({unit: key, share: this.scale.share(value), fill: this.colours.colour(key)}));
    return {
      ...node, behind, text: this.map.keyAxis.labels[unit], fill: this.colours.colour(unit),
      found: found.has(unit), isTrue: this.map.isTrue(this.centre, unit),
      chosen: unit === this.context.state.get("key"),
    };
  }

  #showSide(found) {
    const {map, centre, neighbours, scale, colours} = this;
    const kind = this.walks ? colours.text(centre) : "";
    this.heading.textContent = this.#name(centre);
    this.facts.textContent = kind ? `${kind} · ${this.#manyText()}` : this.#manyText();
    this.back.disabled = this.trail.length === 0;
    this.second.checked = this.#wantsSecond;
    this.weights.show(scale, "edges: thicker and darker is more");
    clear(this.legend).append(...colours.entries.map(({colour, text}) =>
      element("li", {}, element("span", {class: "ring-swatch", style: {background: colour}}), text)));
    clear(this.side).append(...rankedList({
      neighbours, scale, found, colours, isTrue: (unit) => map.isTrue(centre, unit),
      name: (unit) => this.#name(unit, true), walk: (unit) => this.#walk(unit),
    }));
  }

  #name(unit, asNeighbour = false) {
    if (asNeighbour && this.walks && unit === this.centre) return "itself";
    return visible((asNeighbour ? this.map.keyAxis : this.map.queryAxis).labels[unit]);
  }

  #manyText() {
    const {length} = this.neighbours;
    if (length === 0) return "looks at no node in this layer";
    return length === 1 ? "looks at 1 node" : `looks at ${count(length)} nodes`;
  }

  #unitAt(event) {
    const node = event.target.closest?.("[data-unit]");
    return node ? Number(node.dataset.unit) : -1;
  }

  #walk(unit) {
    if (unit < 0) return;
    if (!this.walks || unit === this.centre) return this.context.set({query: this.centre, key: unit});
    this.trail.push(this.centre);
    this.#goTo(unit);
  }

  #goBack() {
    if (this.trail.length > 0) this.#goTo(this.trail.pop());
  }

  #goTo(unit) {
    this.context.set({query: unit, key: -1});
    this.context.announce(`Now at ${this.#name(unit)}.`);
  }

  #hover(event) {
    const unit = this.#unitAt(event);
    if (unit < 0) return this.context.tooltip.hide();
    const entry = this.neighbours.find((node) => node.unit === unit);
    const kind = this.colours.text(unit);
    this.context.tooltip.show(event.clientX, event.clientY, [this.#name(unit, true), ...(kind ? [kind] : []),
      ...(entry ? [["weight", `${this.map.weights.exact ? "" : "≈ "}${number(entry.weight)}`]] : []),
      ...(this.map.isTrue(this.centre, unit) ? ["known to matter"] : [])]);
  }

  #key(event) {
    const {state, set} = this.context;
    const around = this.drawn?.around ?? [];
    const at = around.findIndex(({unit}) => unit === state.get("key"));
    const step = {ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1}[event.key];
    if (step && around.length > 0) {
      const {unit, weight} = around[(Math.max(at, step > 0 ? -1 : 0) + step + around.length) % around.length];
      set({query: this.centre, key: unit});
      this.context.announce(`${this.#name(unit, true)}: ${number(weight)}`);
    } else if (event.key === "Enter" && at >= 0) this.#walk(around[at].unit);
    else if (event.key === "Backspace") this.#goBack();
    else return;
    event.preventDefault();
  }
}

const rules = `
.ring-frame { container-type: inline-size; }
.ring-columns { display: grid; gap: 1.5rem 2.5rem; grid-template-columns: minmax(0, 1fr); }
.ring-tools { display: flex; flex-wrap: wrap; gap: 0.5rem 1.2rem; align-items: center; }
.ring-heading { margin-top: 1.1rem; font-size: 1.05rem; text-align: center; overflow-wrap: anywhere; }
.ring-facts { margin-bottom: 0.9rem; font-size: 0.8667rem; color: var(--quiet); text-align: center; }
.ring { display: block; width: 100%; border-radius: 6px; }
.ring-node { cursor: pointer; }
.ring-legend {
  display: flex; flex-wrap: wrap; gap: 0.3rem 1.1rem; justify-content: center; list-style: none;
  margin: 0.8rem 0 0; padding: 0; font-size: 0.8rem; color: var(--quiet);
}
.ring-swatch {
  display: inline-block; width: 0.75em; height: 0.75em; border-radius: 50%; margin-inline-end: 0.4em;
}
@container (min-width: 52rem) {
  .ring-columns { grid-template-columns: minmax(0, 1.9fr) minmax(0, 1fr); }
}
`;
