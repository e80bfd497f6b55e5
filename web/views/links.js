// Tokens that look on the left, tokens that are looked at on the right, and lines as strong as the weights
// between them. Only what is in view is drawn, and of each row only its largest weights, so that long texts
// scroll smoothly.
import {labelWidth} from "fovea/parts/axis_labels.js";
import {onThemeChange} from "fovea/parts/colour.js";
import {element} from "fovea/parts/dom.js";
import {number, visible} from "fovea/parts/format.js";
import {showHeadChips} from "fovea/parts/head_chips.js";
import {drawLinks, drawTokens, rowHeight, strongest} from "fovea/parts/links_drawing.js";
import {linksNumbers, linksSvg} from "fovea/parts/links_export.js";
import {axisNames} from "fovea/parts/matrix_drawing.js";
import {WeightScale} from "fovea/parts/scale.js";
import {matches} from "fovea/parts/search.js";
import {CanvasView} from "fovea/views/common/canvas_view.js";

const textKinds = new Set(["token", "word", "sentence", "step", "slot"]);
const widestSpan = 520;
const namedKeys = 5;
const leastShare = 0.02;  // weaker lines would not be seen
const mostPreread = 200;  // rows

/** See web/README.md. */
export const view = {
  id: "links",
  title: "Links",
  picks: ["head"],
  fits({layout, queryAxis, keyAxis, weights}) {
    if (layout !== "dense" || weights.rows < 2 || weights.columns < 2) return 0;
    return textKinds.has(queryAxis.kind) && textKinds.has(keyAxis.kind) ? 1.5 : 0;
  },
  mount(host, context) {
    return new LinksView(host, context);
  },
};

class LinksView extends CanvasView {
  constructor(host, context) {
    super(host, context);
    Object.assign(this, {tops: new Map(), maps: [], scales: []});
    this.chips = element("div", {class: "head-chips", role: "group", "aria-label": "Heads shown"});
    this.inner = element("div", {}, this.canvas);
    this.scroller = element("div", {class: "links-scroll", on: {scroll: () => this.schedule()}}, this.inner);
    this.message = element("p", {class: "message", role: "status"});
    host.append(this.chips, this.scroller, this.message);
    this.listen({
      hover: (event) => this.#hover(event), click: (event) => this.#click(event), key: (event) => this.#key(event),
    });
    this.endTheme = onThemeChange(() => this.#restart());
    this.resize();
    this.#restart();
    this.canvas.setAttribute("aria-label", this.describe());
  }

  update(changed) {
    if (changed.has("zoom") || changed.has("threshold")) this.#restart();
    if (changed.has("query") || changed.has("key")) this.#reveal();
    this.schedule();
  }

  resize() {
    const width = this.host.clientWidth;
    if (width === 0) return;
    const {queryAxis, keyAxis} = this.map;
    const most = Math.min(220, width * 0.34);
    const roomFor = (axis) => labelWidth(this.drawing, axis, most) + 8;
    const [queryWidth, keyWidth] = [roomFor(queryAxis), roomFor(keyAxis)];
    const left = queryWidth + 12;
    const right = Math.min(left + widestSpan, width - keyWidth - 12);
    const total = Math.max(queryAxis.size, keyAxis.size) * rowHeight;
    this.inner.style.height = `${total}px`;
    const height = Math.min(total, parseFloat(getComputedStyle(this.scroller).maxHeight) || total);
    this.size = {width, height, left, right, queryWidth, keyWidth, total};
    this.sizeCanvas(width, height);
    this.schedule();
  }

  svg() {
    const window = this.size.total <= mostPreread * rowHeight ? {scroll: 0, height: this.size.total} : this.#window();
    return linksSvg(this.#links(window), this.#sides(), {
      ...this.size, ...window, title: this.map.title, description: this.describe(),
    });
  }

  howToRead() {
    const heads = this.maps.length > 1 ? this.maps.map(({head}) => (head ? `head ${head}` : "mean of heads")) : [];
    const several = heads.length > 0 ? ` Drawn together: ${heads.join(", ")}.` : "";
    const signed = this.scales.some((scale) => scale.signed) ? " Orange is above 0, blue below." : "";
    return {remark: `The stronger a line, the larger its weight.${signed}${several}`};
  }

  drawnMaps() {
    return this.wanted;
  }

  numbers() {
    return linksNumbers(this.wanted);
  }

  describe() {
    const [queries, keys] = axisNames(this.map);
    const {queryAxis, keyAxis} = this.map;
    return `${queryAxis.size} units (${queries}) on the left, ${keyAxis.size} (${keys}) on the right, ` +
      "joined by lines as strong as the weights. Up and down choose a unit, left and right the column, " +
      "Enter says where it looks.";
  }

  // The maps whose lines are shown: the chosen one, or the heads that were switched on.
  async #restart() {
    const family = this.context.explanation.familyOf(this.map);
    const heads = family.maps.filter((map) => map.layer === this.map.layer && map.name === this.map.name);
    const choices = heads.length > 1 ? [family.mean(this.map.layer), ...heads] : [];
    const wanted = this.context.state.get("zoom").split(".");
    const chosen = choices.filter((map) => wanted.includes(String(map.head)));
    const maps = chosen.length > 0 ? chosen : [this.map];
    this.wanted = maps;
    const show = (shown) => this.context.set({zoom: shown.map(({head}) => head).join(".")});
    showHeadChips(this.chips, choices, maps, show);
    const threshold = this.context.state.get("threshold");
    try {
      const scales = await Promise.all(maps.map((map) => WeightScale.of(map, threshold, 1)));
      if (maps === this.wanted) Object.assign(this, {maps, scales});
      this.#preread();
      this.schedule();
    } catch (error) {
      this.#complain(error);
    }
  }

  #complain(error) {
    this.message.textContent = `The weights cannot be read: ${error.message}`;
  }

  #chosen() {
    return {query: this.context.state.get("query"), key: this.context.state.get("key")};
  }

  // The token whose lines alone are shown: under the pointer, else the chosen one.
  #focused() {
    return this.hovered ?? this.#chosen();
  }

  #sides() {
    const {left, right, queryWidth, keyWidth} = this.size;
    return [{axis: this.map.queryAxis, x: left - 8, align: "right", most: queryWidth},
      {axis: this.map.keyAxis, x: right + 8, align: "left", most: keyWidth}];
  }

  draw() {
    if (this.destroyed || !this.size) return;
    const {width, height, left, right} = this.size;
    const scroll = this.scroller.scrollTop;
    const links = this.#links();
    const focused = this.#focused();
    const search = this.context.state.get("search");
    const canvas = this.drawing;
    this.startDrawing(width, height);
    drawLinks(canvas, links, {left, right, scroll, height});
    const tints = {query: strongest(links, "query"), key: strongest(links, "key")};
    this.#sides().forEach((side, i) => {
      const [mine, other] = i === 0 ? ["query", "key"] : ["key", "query"];
      const tint = (index) => (focused[other] >= 0 ? (tints[mine].get(index) ?? 0) : 0);
      const found = matches(side.axis, search);
      drawTokens(canvas, side, {scroll, height, found, chosen: focused[mine], tint});
    });
  }

  // Lines of the rows in view, or of the focused token.
  #links(window = this.#window()) {
    const focused = this.#focused();
    const links = [];
    const [first, last] = focused.query >= 0 ? [focused.query, focused.query + 1] : this.#rowsIn(window);
    this.maps.forEach((map, i) => {
      const {heads} = this.context.explanation.familyOf(map);
      const place = heads.length > 1 ? heads.indexOf(map.head) : -1;
      for (let query = first; query < last; ++query) {
        for (const {key, value} of this.#topOf(map, query)) {
          const share = this.scales[i].share(value);
          const elsewhere = focused.query < 0 && focused.key >= 0 && key !== focused.key;
          if (elsewhere || Math.abs(share) < leastShare) continue;
          const sign = this.scales[i].signed ? Math.sign(value) : 0;
          links.push({query, key, value, share: Math.abs(share), sign, series: place});
        }
      }
    });
    return links;
  }

  // What of the two columns is in sight.
  #window() {
    return {scroll: this.scroller.scrollTop, height: this.size.height};
  }

  #rowsIn({scroll, height}) {
    const last = Math.ceil((scroll + height) / rowHeight);
    return [Math.floor(scroll / rowHeight), Math.min(this.map.queryAxis.size, last)];
  }

  // Short texts are printed and saved whole, and neither can wait for rows that were never in sight.
  #preread() {
    const {size} = this.map.queryAxis;
    if (size > mostPreread) return;
    for (const map of this.maps) {
      for (let query = 0; query < size; ++query) this.#topOf(map, query);
    }
  }

  // The largest weights of a row; nothing yet while they are being read.
  #topOf(map, query) {
    const name = `${map.head} ${query}`;
    if (!this.tops.has(name)) {
      this.tops.set(name, []);
      map.weights.top(query).then((top) => {
        this.tops.set(name, top);
        this.schedule();
      }, (error) => this.#complain(error));
    }
    return this.tops.get(name);
  }

  #tokenAt(event) {
    const box = this.canvas.getBoundingClientRect();
    const x = event.clientX - box.left;
    const index = Math.floor((event.clientY - box.top + this.scroller.scrollTop) / rowHeight);
    if (x < this.size.left && index < this.map.queryAxis.size) return {query: index, key: -1};
    if (x > this.size.right && index < this.map.keyAxis.size) return {query: -1, key: index};
    return null;
  }

  #hover(event) {
    const token = event && this.#tokenAt(event);
    const same = token?.query === this.hovered?.query && token?.key === this.hovered?.key;
    this.hovered = token;
    if (!same) this.schedule();
    if (token) this.context.tooltip.show(event.clientX, event.clientY, this.#lines(token));
    else this.context.tooltip.hide();
  }

  #click(event) {
    const token = this.#tokenAt(event);
    const {query, key} = this.#chosen();
    if (token) this.context.set(token.query === query && token.key === key ? {query: -1, key: -1} : token);
  }

  #lines({query, key}) {
    const {queryAxis, keyAxis} = this.map;
    const looks = query >= 0;
    const label = visible(looks ? queryAxis.labels[query] : keyAxis.labels[key]);
    const links = this.#links().toSorted((a, b) => b.share - a.share).slice(0, namedKeys);
    const other = (link) => visible(looks ? keyAxis.labels[link.key] : queryAxis.labels[link.query]);
    const pairs = links.map((link) => [other(link), number(link.value)]);
    return [`${label} ${looks ? "looks at" : "is looked at by"}`, ...pairs];
  }

  #key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const {query, key} = this.#chosen();
    const onRight = key >= 0;
    const at = onRight ? key : query;
    const steps = {ArrowUp: -1, ArrowDown: 1, PageUp: -10, PageDown: 10, Home: -Infinity, End: Infinity};
    if (steps[event.key]) this.#choose(onRight, at + steps[event.key]);
    else if (event.key === "ArrowRight") this.#choose(true, at);
    else if (event.key === "ArrowLeft") this.#choose(false, at);
    else if (event.key === "Escape") this.context.set({query: -1, key: -1});
    else if (event.key !== "Enter") return;
    event.preventDefault();
    if (event.key !== "Escape") this.#announce();
  }

  #choose(onRight, wanted) {
    const {size} = onRight ? this.map.keyAxis : this.map.queryAxis;
    const index = Math.max(0, Math.min(size - 1, wanted));
    this.context.set(onRight ? {query: -1, key: index} : {query: index, key: -1});
  }

  async #announce() {
    const chosen = this.#chosen();
    this.hovered = null;
    if (chosen.query < 0 && chosen.key < 0) return;
    if (chosen.query >= 0) await Promise.allSettled(this.maps.map((map) => map.weights.top(chosen.query)));
    this.context.announce(this.#lines(chosen).map((line) => [line].flat().join(" ")).join(", "));
  }

  #reveal() {
    const {query, key} = this.#chosen();
    const index = Math.max(query, key);
    if (index < 0) return;
    const top = index * rowHeight;
    const lowest = top + rowHeight - this.size.height;
    this.scroller.scrollTop = Math.max(lowest, Math.min(top, this.scroller.scrollTop));
  }
}
