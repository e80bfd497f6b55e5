// Glimpses on a picture: numbered squares at each scale, arrows from one to the next, beside them what each
// step saw. The row of a step is x and y of its centre as shares of the picture, then a width per scale as a
// share of its width.
import {clear, element, svg} from "fovea/parts/dom.js";
import {svgDocument} from "fovea/parts/export.js";
import {number, percent, visible} from "fovea/parts/format.js";
import {matches} from "fovea/parts/search.js";
import {chosenQuery} from "fovea/views/common/choice.js";
import {glimpseMarks, isPlaced} from "fovea/views/common/glimpse_marks.js";
import {NumbersView} from "fovea/views/common/numbers_view.js";
import {loadPicture} from "fovea/views/common/picture.js";
import {StepPlayer} from "fovea/views/common/player.js";

const drawnWidth = 600;  // of the picture in units of the SVG
const cropSize = 128;
const mostListed = 200;

/** The view of the table in views/index.js. */
export const view = {
  id: "glimpse",
  title: "Glimpses",
  fits(map, explanation) {
    return map.layout === "points" && map.queryAxis.size > 0 && explanation.medium(map.keyAxis.media) ? 5 : 0;
  },
  mount(host, context) {
    return new GlimpseView(host, context);
  },
};

class GlimpseView extends NumbersView {
  constructor(host, context) {
    super(host, context, rules);
    this.axis = context.map.queryAxis;
    this.medium = context.explanation.medium(context.map.keyAxis.media);
    this.size = {width: drawnWidth, height: (drawnWidth * this.medium.height) / this.medium.width};
    this.steps = [];
    this.#build(host);
    this.#load();
  }

  update(changed) {
    if (changed.has("query") || changed.has("search")) this.draw();
  }

  svg() {
    const nodes = Array.from(this.stage.childNodes, (node) => node.cloneNode(true));
    return svgDocument({...this.size, title: this.context.map.title, description: this.describe()}, nodes);
  }

  howToRead() {
    return {remark: "Numbers are steps, arrows the way so far, squares what the chosen step saw at each scale."};
  }

  async *numbers() {
    const {labels, values} = this.axis;
    const steps = await this.#readSteps();
    const scales = steps[0]?.widths.map((_, scale) => `width ${scale + 1}`) ?? [];
    yield ["step", "label", "x", "y", ...scales, "value"];
    for (const [step, {x, y, widths}] of steps.entries())
      yield [step + 1, labels[step], x, y, ...widths, values?.[step] ?? null];
  }

  describe() {
    return `${this.medium.alt || "A picture."} ${this.#sentence(this.#chosen)}`;
  }

  destroy() {
    this.player.stop();
    super.destroy();
  }

  get #chosen() {
    return chosenQuery(this.context);
  }

  #build(host) {
    const {width, height} = this.size;
    this.player = new StepPlayer({
      size: this.axis.size, current: () => this.#chosen, go: (step) => this.#show(step),
    });
    this.slider = element("input", {
      type: "range", min: 1, max: this.axis.size, step: 1,
      on: {input: () => this.#choose(Number(this.slider.value) - 1)},
    });
    this.counter = element("span", {class: "glimpse-counter"});
    this.marks = svg("g");
    this.stage = svg("svg", {
      class: "glimpse-stage", viewBox: `0 0 ${width} ${height}`, role: "img", tabindex: 0,
      on: {
        keydown: (event) => this.#key(event), click: (event) => this.#choose(this.#stepAt(event)),
        pointermove: (event) => this.#hover(event), pointerleave: () => this.context.tooltip.hide(),
      },
    }, svg("image", {
      ...this.size, href: this.medium.url, preserveAspectRatio: "none",
      style: this.medium.width * 4 < width ? "image-rendering: pixelated" : null,
    }), this.marks);
    this.list = element("ol", {class: "glimpse-list"});
    host.append(element("div", {class: "glimpse-frame"}, element("div", {class: "glimpse"},
      element("div", {class: "glimpse-tools"}, this.player.element,
        element("label", {class: "field"}, "Step", this.slider, this.counter)), this.stage, this.list)));
  }

  async #readSteps() {
    const {weights} = this.context.map;
    const all = await weights.all();
    return Array.from({length: weights.rows}, (_, row) => {
      const [x, y, ...widths] = all.subarray(row * weights.columns, (row + 1) * weights.columns);
      return {x, y, widths};
    });
  }

  async #load() {
    try {
      const [picture, steps] = await Promise.all([loadPicture(this.medium), this.#readSteps()]);
      this.steps = steps;
      clear(this.list).append(...this.steps.slice(0, mostListed).map((_, step) => this.#item(step, picture)));
      this.draw();
    } catch (error) {
      this.counter.textContent = `The picture cannot be shown: ${error.message}`;
    }
  }

  draw() {
    if (this.steps.length === 0) return;
    const {width, height} = this.size;
    const drawn = this.steps.map(({x, y, widths}) =>
      ({x: x * width, y: y * height, widths: widths.map((share) => share * width)}));
    // Numbers stay readable where the picture is small.
    const unit = Math.max(1, width / (this.stage.clientWidth || width));
    clear(this.marks).append(...glimpseMarks(drawn, this.#chosen, unit));
    this.stage.setAttribute("aria-label", this.describe());
    this.slider.value = this.#chosen + 1;
    this.slider.setAttribute("aria-valuetext", this.#sentence(this.#chosen));
    this.counter.textContent = `${this.#chosen + 1} of ${this.steps.length}`;
    const found = matches(this.axis, this.context.state.get("search"));
    Array.from(this.list.children, (item, step) => {
      item.firstChild.setAttribute("aria-pressed", String(step === this.#chosen));
      item.classList.toggle("found", found.has(step));
    });
  }

  #item(step, picture) {
    const {labels, values} = this.axis;
    const {widths} = this.steps[step];
    const crops = isPlaced(this.steps[step]) && widths.filter((share) => share > 0)
      .map((share) => cropCanvas(picture, this.medium, this.steps[step], share));
    return element("li", {}, element("button", {
      type: "button", class: "glimpse-step", "aria-pressed": "false", on: {click: () => this.#choose(step)},
    },
    element("span", {class: "glimpse-number", text: step + 1}),
    element("span", {class: "glimpse-words"}, element("bdi", {text: visible(labels[step])}),
      values && element("span", {class: "quiet", text: number(values[step])})),
    element("span", {class: "glimpse-crops", "aria-hidden": "true"}, crops)));
  }

  #sentence(step) {
    if (this.steps.length === 0) return "";
    const {labels, values} = this.axis;
    const {x, y, widths} = this.steps[step];
    const name = `Step ${step + 1} of ${this.steps.length}, ${visible(labels[step])}`;
    if (!isPlaced(this.steps[step])) return `${name}: no place.`;
    const value = values ? ` Its value is ${number(values[step])}.` : "";
    const place = `${percent(x)} from the left, ${percent(y)} from the top`;
    return `${name}: ${place}, ${widths.map(percent).join(", ")} wide.${value}`;
  }

  #choose(step) {
    if (step < 0 || step >= this.steps.length) return;
    this.player.stop();
    this.#show(step);
  }

  #show(step) {
    this.context.set({query: step});
    this.context.announce(this.#sentence(step));
  }

  #stepAt(event) {
    const badge = event.target.closest?.("[data-step]");
    return badge ? Number(badge.dataset.step) : -1;
  }

  #hover(event) {
    const step = this.#stepAt(event);
    if (step < 0) return this.context.tooltip.hide();
    const {labels, values} = this.axis;
    const {x, y, widths} = this.steps[step];
    this.context.tooltip.show(event.clientX, event.clientY, [
      `${step + 1}. ${visible(labels[step])}`, ["centre", `${percent(x)}, ${percent(y)}`],
      ["widths", widths.map(percent).join(", ")], ...(values ? [["value", number(values[step])]] : []),
    ]);
  }

  #key(event) {
    const at = this.#chosen;
    const targets = {
      ArrowRight: at + 1, ArrowDown: at + 1, ArrowLeft: at - 1, ArrowUp: at - 1,
      Home: 0, End: this.steps.length - 1,
    };
    if (!(event.key in targets)) return;
    event.preventDefault();
    this.#choose(targets[event.key]);
  }
}

// What lies in a square around a glimpse's centre; outside of the picture there is nothing.
function cropCanvas(picture, {width, height}, {x, y}, share) {
  const canvas = element("canvas", {width: cropSize, height: cropSize});
  const context = canvas.getContext("2d");
  const zoom = cropSize / (share * width);
  context.imageSmoothingEnabled = zoom < 6;
  context.translate(cropSize / 2, cropSize / 2);
  context.scale(zoom, zoom);
  context.drawImage(picture, -x * width, -y * height, width, height);
  return canvas;
}

const rules = `
.glimpse-frame { container-type: inline-size; }
.glimpse { display: grid; gap: 0.9rem 2rem; grid-template-columns: minmax(0, 1fr); align-items: start; }
.glimpse-tools {
  display: flex; flex-wrap: wrap; gap: 0.6rem 1.2rem; align-items: center; grid-column: 1 / -1;
}
.glimpse-counter { min-width: 4.5em; }
.glimpse-stage {
  display: block; width: 100%; max-height: 74vh; border-radius: 6px; background: var(--surface);
}
.glimpse-stage [data-step] { cursor: pointer; }
.glimpse-list { display: grid; grid-template-columns: minmax(0, 1fr); list-style: none; margin: 0; padding: 3px; }
.glimpse-step {
  display: grid; grid-template-columns: 1.9rem minmax(5rem, 1fr) minmax(0, auto); gap: 0.75rem; align-items: center;
  width: 100%; padding: 0.5rem; text-align: start; background: none; border: 0; border-radius: 0;
  border-bottom: 1px solid var(--rule);
}
.glimpse-step:hover { background: var(--surface); }
.glimpse-step[aria-pressed="true"] { background: var(--accent-soft); }
.glimpse-number {
  display: grid; place-items: center; width: 1.7rem; height: 1.7rem; border-radius: 50%;
  border: 1.5px solid var(--rule); font-weight: 600;
}
[aria-pressed="true"] > .glimpse-number {
  background: var(--accent); color: var(--accent-ink); border-color: var(--accent);
}
.glimpse-words { display: grid; overflow-wrap: anywhere; }
.found > .glimpse-step bdi { background: var(--mark); color: var(--ink); border-radius: 3px; }
.glimpse-crops { display: flex; flex-wrap: wrap; justify-content: end; gap: 4px; }
.glimpse-crops canvas { width: 56px; height: 56px; border-radius: 4px; background: var(--rule); }
@container (min-width: 50rem) {
  .glimpse { grid-template-columns: minmax(0, 1.25fr) minmax(0, 1fr); }
  .glimpse-list { max-height: max(20rem, 74vh); overflow-y: auto; }
}
`;
