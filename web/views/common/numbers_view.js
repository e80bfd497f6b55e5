// What views share that read numbers and then draw them: only what was asked for last is drawn, errors are
// told in place, another theme draws anew, and leaving takes everything away.
import {exportChart} from "fovea/parts/chart.js";
import {onThemeChange} from "fovea/parts/colour.js";
import {element} from "fovea/parts/dom.js";
import {addLooks} from "fovea/parts/looks.js";

/** Views extend it with draw(), update(), csv() and describe(); what they draw is `drawn`. */
export class NumbersView {
  /** `rules`: the view's own CSS. */
  constructor(host, context, rules) {
    addLooks(rules);
    this.host = host;
    this.context = context;
    this.turn = 0;
    this.message = element("p", {class: "message", role: "alert", hidden: true});
    this.endTheme = onThemeChange(() => this.draw());
  }

  resize() {
    this.draw();
  }

  /** The drawn chart as a document of its own; null where nothing is drawn yet. */
  svg() {
    if (!this.drawn) return null;
    const {picture, width, height} = this.drawn;
    const {title} = this.context.map;
    return exportChart([...picture.childNodes], {width, height, title, description: this.describe()});
  }

  get destroyed() {
    return this.turn < 0;
  }

  /** The place of a chart, which takes keys, clicks and the pointer. */
  chartPlace(name, {keydown, click, pointermove}) {
    const pointerleave = () => this.context.tooltip.hide();
    const on = {keydown, click, pointermove, pointerleave};
    return element("div", {class: name, tabindex: 0, role: "img", on});
  }

  destroy() {
    this.turn = -1;
    this.endTheme();
    this.context.tooltip.hide();
    this.host.replaceChildren();
  }

  /** Calls `take` with what `read` promises, then draws, unless something else was asked for meanwhile. */
  async read(read, take) {
    const turn = ++this.turn;
    try {
      const numbers = await read();
      if (turn !== this.turn) return;
      this.message.hidden = true;
      take(numbers);
      this.draw();
    } catch (error) {
      if (turn === this.turn) this.#tell(`These weights cannot be shown: ${error.message}`);
    }
  }

  /** Shows a tooltip of lines beside the pointer, or none. */
  point(event, lines) {
    if (lines) this.context.tooltip.show(event.clientX, event.clientY, lines);
    else this.context.tooltip.hide();
  }

  /** Announces the lines of a tooltip. */
  say(lines) {
    this.context.announce(lines.map((line) => [line].flat().join(" ")).join(", "));
  }

  #tell(text) {
    this.message.textContent = text;
    this.message.hidden = false;
    this.host.append(this.message);
  }
}
