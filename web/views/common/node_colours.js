// Colours of nodes by their values: classes, which are names or few different numbers, get a colour each, many
// different numbers a ramp.
import {sequential, series} from "fovea/parts/colour.js";
import {number, visible} from "fovea/parts/format.js";

const mostClasses = 8;

const isName = (value) => typeof value === "string" && value !== "";

/** The colours of an axis's values, and what they are called. */
export class NodeColours {
  constructor(values) {
    this.values = values ?? [];
    const names = this.values.filter(isName);
    if (names.length > 0) this.#colourNames(names);
    else this.#colourNumbers(this.values.filter(Number.isFinite));
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
    const ramp = this.high === undefined ? [] : [this.low, (this.low + this.high) / 2, this.high];
    const shown = this.classes ? [...this.classes.keys()] : ramp;
    if (shown.length === 0) return [];
    const gap = this.values.some((value) => !isName(value) && !Number.isFinite(value)) ? [null] : [];
    return [...shown, ...gap].map((value) => ({colour: this.#colourOf(value), text: this.#textOf(value)}));
  }

  // Of more names than there are colours the most frequent ones get one.
  #colourNames(names) {
    const counts = new Map();
    for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
    const kinds = [...counts].sort((a, b) => b[1] - a[1]).slice(0, mostClasses).map(([name]) => name).sort();
    this.classes = new Map(kinds.map((kind, place) => [kind, place]));
  }

  #colourNumbers(finite) {
    const kinds = [...new Set(finite)].sort((a, b) => a - b);
    this.classes = kinds.length <= mostClasses ? new Map(kinds.map((kind, place) => [kind, place])) : null;
    [this.low, this.high] = [kinds[0], kinds.at(-1)];
  }

  #colourOf(value) {
    if (this.classes) return this.classes.has(value) ? series(this.classes.get(value)) : "var(--quiet)";
    if (!Number.isFinite(value)) return "var(--quiet)";
    return sequential(0.25 + (0.75 * (value - this.low)) / (this.high - this.low));
  }

  #textOf(value) {
    if (isName(value)) return visible(value);
    if (!Number.isFinite(value)) return "no class";
    return this.classes ? `class ${number(value)}` : number(value);
  }
}
