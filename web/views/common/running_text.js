// Units of an axis as running text: one element per unit, grouped by what owns them, shaded by weight.
import {element} from "fovea/parts/dom.js";
import {number, visible} from "fovea/parts/format.js";
import {matches} from "fovea/parts/search.js";
import {addLooks} from "fovea/parts/looks.js";

/** The words of a NestedWords. `groups`: nodes of each parent's words; `elements`: one of each word. */
export class RunningText {
  constructor(nested) {
    addLooks(rules);
    this.nested = nested;
    this.axis = nested.words;
    this.groups = nested.offsets.slice(1).map(() => []);
    this.elements = new Array(this.axis.size);
    this.grounds = new Array(this.axis.size).fill("");
    this.marked = {};
    this.annotated = new Set();
    this.#build(this.axis.segments() ?? segmentsOfLabels(this.axis.labels));
    for (const unit of this.axis.away) this.elements[unit]?.classList.add("away");
  }

  /** Colours the units begin … end-1 by `valueOf(unit)` on a WeightScale. */
  shade(begin, end, valueOf, scale) {
    for (let unit = begin; unit < end; ++unit) {
      const value = valueOf(unit);
      const isBare = !Number.isFinite(value) || scale.share(value) === 0;
      const ground = isBare ? "" : scale.colour(value);
      if (ground === this.grounds[unit]) continue;
      this.grounds[unit] = ground;
      const {style} = this.elements[unit];
      style.backgroundColor = ground;
      style.color = isBare ? "" : scale.ink(value);
    }
  }

  /** Marks what the search finds, the chosen unit and units that are known to matter (a Set). */
  mark({search, chosen, truth}) {
    this.#markAll("found", matches(this.axis, search));
    this.#markAll("chosen", new Set([chosen]));
    this.#markAll("true", truth);
  }

  /** Writes the weight under each unit of a group, or takes it away (`valueOf` null). */
  annotate(group, valueOf) {
    if (!valueOf && !this.annotated.has(group)) return;
    const {offsets} = this.nested;
    for (let unit = offsets[group]; unit < offsets[group + 1]; ++unit) {
      const node = this.elements[unit];
      node.querySelector("small")?.remove();
      node.classList.toggle("annotated", valueOf !== null);
      if (valueOf) node.append(element("small", {text: number(valueOf(unit))}));
    }
    if (valueOf) this.annotated.add(group);
    else this.annotated.delete(group);
  }

  /** The unit that an event is about, or -1. */
  unitOf(event) {
    return Number(event.target.closest?.("[data-unit]")?.dataset.unit ?? -1);
  }

  // A text has thousands of words: only those whose mark changes are touched.
  #markAll(name, units) {
    const before = this.marked[name] ?? new Set();
    for (const unit of before) if (!units.has(unit)) this.elements[unit]?.classList.remove(name);
    for (const unit of units) if (!before.has(unit)) this.elements[unit]?.classList.add(name);
    this.marked[name] = units;
  }

  #build(segments) {
    let group = 0;
    for (const {text, unit} of segments) {
      if (unit >= 0) group = this.nested.parentOf(unit);
      this.groups[group]?.push(unit < 0 ? marked(text) : this.#element(unit, text));
    }
    for (let unit = 0; unit < this.axis.size; ++unit) this.elements[unit] ??= this.#leftOver(unit);
  }

  #element(unit, text) {
    this.elements[unit] = element(
      "span",
      {class: "word", dataset: {unit}},
      text.trim() ? marked(text) : visible(text),
    );
    return this.elements[unit];
  }

  // A unit of no place in the text stands at the end of its group as a tag.
  #leftOver(unit) {
    const node = element("bdi", {
      class: "word placeless",
      dataset: {unit},
      text: visible(this.axis.labels[unit]),
    });
    this.groups[this.nested.parentOf(unit)]?.push(" ", node);
    return node;
  }
}

function segmentsOfLabels(labels) {
  return labels.flatMap((label, unit) => [
    ...(unit ? [{text: " ", unit: -1}] : []),
    {text: label || visible(label), unit},
  ]);
}

// Marks for control characters; blanks and line ends are what running text is made of.
function marked(text) {
  return text
    .split("\n")
    .map((line) => visible(`|${line}|`).slice(1, -1))
    .join("\n");
}

const rules = `
.running { margin: 0; line-height: 1.85; white-space: pre-wrap; overflow-wrap: anywhere; font-size: 1rem; }
.word {
  padding: 0.16em 0.08em; border-radius: 3px;
  -webkit-box-decoration-break: clone; box-decoration-break: clone;
}
.word.placeless { margin: 0; padding: 0.14em 0.4em; border: 1px solid var(--rule); font-size: 0.85em; }
.word.true { box-shadow: inset 0 -2px 0 var(--truth); border-end-start-radius: 0; border-end-end-radius: 0; }
.word.away { text-decoration: line-through; }
.word.found { outline: 2px solid var(--caution); }
.word.chosen { outline: 2px solid var(--accent); outline-offset: 1px; }
.word.annotated {
  display: inline-flex; flex-direction: column; align-items: center; vertical-align: top;
  margin: 0.15em 0; line-height: 1.25;
}
.word small { font-size: 0.68rem; font-variant-numeric: tabular-nums; opacity: 0.85; }
`;
