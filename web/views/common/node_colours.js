// Colours of nodes by their values: classes get a colour each, many different values a ramp.
import {sequential, series} from "fovea/parts/colour.js";
import {number} from "fovea/parts/format.js";

const mostClasses = 8;

/** The colours of an axis's values, and what they are called. */
export class NodeColours {
  constructor(values) {
    this.values = values ?? [];
    const finite = this.values.filter(Number.isFinite);
    const kinds = [...new Set(finite)].sort((a, b) => a - b);
    this.classes = kinds.length <= mostClasses ? new Map(kinds.map((kind, place) => [kind, place])) : null;
    [this.low, this.high] = [kinds[0], kinds.at(-1)];
  }

  /** Grey where the value is a gap. */
  colour(unit) {
    return this.#colourOf(this.values[unit]);
  }

  /** What its value is called, "" without values. */
  text(unit) {
    if (this.values.length === 0) return "";
    return this.#textOf(this.values[unit]);
  }

  /** What the colours mean, as [{colour, text}]; empty without values. */
  get entries() {
    if (this.high === undefined) return [];
    const shown = this.classes ? [...this.classes.keys()] : [this.low, (this.low + this.high) / 2, this.high];
    const gap = this.values.some((value) => !Number.isFinite(value)) ? [null] : [];
    return [...shown, ...gap].map((value) => ({colour: this.#colourOf(value), text: this.#textOf(value)}));
  }

  #colourOf(value) {
    if (!Number.isFinite(value)) return "var(--quiet)";
    if (this.classes) return series(this.classes.get(value));
    return sequential(0.25 + (0.75 * (value - this.low)) / (this.high - this.low));
  }

  #textOf(value) {
    if (!Number.isFinite(value)) return "no class";
    return this.classes ? `class ${number(value)}` : number(value);
  }
}
