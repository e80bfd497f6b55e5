// Running text shaded by weight. Words with sentences show both levels, each sentence with a bar of its
// weight; it opens to its words' weights within it. Any other text shows what the chosen query looks at.
import {topOf} from "fovea/model/matrix.js";
import {element} from "fovea/parts/dom.js";
import {count, number, visible} from "fovea/parts/format.js";
import {Legend} from "fovea/parts/legend.js";
import {WeightScale} from "fovea/parts/scale.js";
import {chosenQuery, queryChoice} from "fovea/views/common/choice.js";
import {NestedWords, largestOf} from "fovea/views/common/nested_words.js";
import {NumbersView} from "fovea/views/common/numbers_view.js";
import {RunningText} from "fovea/views/common/running_text.js";
import {snapshot} from "fovea/views/common/snapshot.js";

const textKinds = new Set(["word", "token"]);
const mostWords = 50000;
const wordsPerStep = 10; // of the up and down keys, where there are no sentences

/** See web/README.md. */
export const view = {
  id: "document",
  title: "Text",
  fits(map, explanation) {
    if (map.layout !== "dense" || map.queryAxis.size === 0 || map.keyAxis.size === 0) return 0;
    const {words, parents} = NestedWords.of(map, explanation);
    const isText = textKinds.has(words.kind);
    if (words.size > mostWords || !(isText || words.text)) return 0;
    if (parents) return isText && parents.kind !== "review" ? 4 : 1;
    return isText && words.text && map.queryAxis.size === 1 ? 4 : 1;
  },
  mount(host, context) {
    return new DocumentText(host, context);
  },
};

class DocumentText extends NumbersView {
  constructor(host, context) {
    super(host, context, rules);
    this.nested = NestedWords.of(context.map, context.explanation);
    this.text = new RunningText(this.nested);
    this.keysAreWords = context.map.keyAxis === this.nested.words;
    this.queries = this.nested.perParent && this.keysAreWords ? null : queryChoice(context);
    this.legend = new Legend();
    this.cursor = -1;
    this.readings = null;
    this.rows = this.text.groups.map((nodes, parent) => this.#row(nodes, parent));
    this.body = element(
      "div",
      {
        class: "document-body",
        tabindex: 0,
        role: "group",
        on: {
          keydown: (event) => this.#key(event),
          click: (event) => this.#click(event),
          pointermove: (event) => this.#hover(event),
          pointerleave: () => context.tooltip.hide(),
        },
      },
      this.rows,
    );
    host.append(element("div", {class: "document"}, this.queries?.element, this.body, this.legend.node));
    this.#read();
  }

  update(changed) {
    if (changed.has("query")) this.#read();
    else if (changed.has("threshold") || changed.has("zoom")) this.draw();
    else this.#mark();
    if (changed.has("key")) this.text.elements[this.#word()]?.scrollIntoView({block: "nearest"});
  }

  resize() {}

  svg() {
    return snapshot(this.body, {title: this.context.map.title, description: this.describe()});
  }

  howToRead() {
    return {scale: this.scale, remark: this.#remark()};
  }

  // Without sentences or truth their columns say nothing in the table.
  async *numbers(whole) {
    const {nested} = this;
    const {weights, within, shades, parents} = await nested.read((map) => this.#queryOf(map));
    const truth = nested.trueWords(chosenQuery(this.context));
    const ofParent = (values) => (word) => (nested.parents ? values[nested.parentOf(word)] : null);
    const columns = [
      ["parent", ofParent(nested.parents?.labels), nested.parents],
      ["parent weight", ofParent(parents), nested.parents],
      ["word", (word) => word, true],
      ["label", (word) => nested.words.labels[word], true],
      ["weight", (word) => weights[word], true],
      ["within parent", (word) => within[word], nested.parents],
      ["shade", (word) => shades[word], nested.parents],
      ["truth", (word) => truth.has(word), truth.size > 0],
    ].filter(([, , says]) => whole || says);
    yield columns.map(([name]) => name);
    for (const word of nested.words.labels.keys()) yield columns.map(([, of]) => of(word));
  }

  describe() {
    const {words, parents} = this.nested;
    if (!this.readings) return `Text of ${count(words.size)} units (${words.name}).`;
    const top = (numbers, labels, most) =>
      topOf(numbers, most)
        .map(({key, value}) => `${visible(labels[key])} (${number(value)})`)
        .join(", ");
    const heaviest = parents ? `, heaviest ${top(this.readings.parents, parents.labels, 2)}` : "";
    const owners = parents ? ` in ${count(parents.size)} groups (${parents.name})${heaviest}` : "";
    const darkest = top(this.readings.shades, words.labels, 5);
    return `Text of ${count(words.size)} units (${words.name})${owners}. Darkest: ${darkest}.`;
  }

  draw() {
    if (!this.readings) return;
    const {within, shades} = this.readings;
    const threshold = this.context.state.get("threshold");
    const signed = shades.some((shade) => shade < 0);
    const scaleOf = (numbers, equal) => new WeightScale({largest: largestOf(numbers), signed, threshold, equal});
    const all = scaleOf(shades, this.nested.equalShade());
    const open = this.#open();
    this.rows.forEach((row, parent) => {
      const [begin, end] = [this.nested.offsets[parent], this.nested.offsets[parent + 1]];
      const isOpen = open.has(parent);
      const [numbers, scale] = isOpen ? [within, scaleOf(within.subarray(begin, end), this.nested.equalWithin(end - begin))] : [shades, all];
      this.text.annotate(parent, isOpen ? (word) => within[word] : null);
      this.text.shade(begin, end, (word) => numbers[word], scale);
      if (this.nested.parents) this.#drawWeight(row, parent, isOpen);
    });
    this.scale = all;
    this.legend.show(all, this.#remark());
    this.queries?.select(chosenQuery(this.context));
    this.#mark();
  }

  #row(nodes, parent) {
    const running = element("p", {class: "running", dir: "auto"}, nodes);
    if (!this.nested.parents) return running;
    const bar = element("span", {class: "document-bar"}, element("span"));
    const button = element(
      "button",
      {type: "button", class: "document-weight", tabindex: -1, on: {click: () => this.#toggle(parent)}},
      bar,
      element("span", {class: "document-number"}),
    );
    return element("div", {class: "document-row"}, button, running);
  }

  // The open sentences live in the state's `zoom`.
  #open() {
    const parts = this.nested.parents ? this.context.state.get("zoom").split(" ") : [];
    return new Set(parts.filter((part) => /^\d+$/.test(part)).map(Number));
  }

  #toggle(parent) {
    const open = this.#open();
    if (!open.delete(parent)) open.add(parent);
    this.context.set({zoom: [...open].join(" ")});
    const name = visible(this.nested.parents.labels[parent]);
    this.say([
      [name, number(this.readings?.parents[parent])],
      open.has(parent) ? "open, weights within it" : "closed",
    ]);
  }

  #queryOf(map) {
    return map.queryAxis === this.context.map.queryAxis ? chosenQuery(this.context) : 0;
  }

  // The chosen word: the state's key where the map's keys are words.
  #word() {
    return this.keysAreWords ? this.context.state.get("key") : this.cursor;
  }

  #read() {
    this.read(
      () => this.nested.read((map) => this.#queryOf(map)),
      (numbers) => {
        this.readings = numbers;
        this.body.setAttribute("aria-label", this.describe());
      },
    );
  }

  #mark() {
    const truth = this.nested.trueWords(chosenQuery(this.context));
    this.text.mark({search: this.context.state.get("search"), chosen: this.#word(), truth});
  }

  #drawWeight(row, parent, isOpen) {
    const weight = this.readings.parents[parent];
    const share = Math.abs(weight) / (largestOf(this.readings.parents) || 1);
    const button = row.firstElementChild;
    button.setAttribute("aria-expanded", String(isOpen));
    button.setAttribute(
      "aria-label",
      `${visible(this.nested.parents.labels[parent])}, weight ${number(weight)}`,
    );
    button.querySelector(".document-bar span").style.width = `${100 * share || 0}%`;
    button.querySelector(".document-number").textContent = number(weight);
    row.classList.toggle("open", isOpen);
  }

  #remark() {
    const {parentMap, parents, wordMap} = this.nested;
    const hasBoth = parents && parentMap && wordMap;
    const both = "word weight × root of its sentence’s weight; open a sentence for its own scale";
    return [hasBoth ? both : "", wordMap?.hasTruth ? "underlined: known to matter" : ""]
      .filter(Boolean)
      .join("; ");
  }

  #hover(event) {
    const word = this.text.unitOf(event);
    this.point(event, word >= 0 && this.readings ? this.#lines(word) : null);
  }

  #lines(word) {
    const {words, parents} = this.nested;
    const {weights, within, parents: ofParents} = this.readings;
    const parent = this.nested.parentOf(word);
    const owner = () => [
      ["within its group", number(within[word])],
      [visible(parents.labels[parent]), number(ofParents[parent])],
    ];
    const isTrue = this.nested.trueWords(chosenQuery(this.context)).has(word);
    const facts = parents ? owner() : [["weight", number(weights[word])]];
    return [visible(words.labels[word]), ...facts, ...(isTrue ? ["known to matter"] : [])];
  }

  #click(event) {
    const word = this.text.unitOf(event);
    const row = event.target.closest(".document-row");
    if (word >= 0) this.#choose(word);
    else if (row && event.target.closest(".running")) this.#toggle(this.rows.indexOf(row));
  }

  #choose(word) {
    if (!this.readings) return;
    this.cursor = word;
    this.context.set({key: this.keysAreWords ? word : this.nested.parentOf(word)});
    this.#mark();
    this.say(this.#lines(word));
  }

  #key(event) {
    const {offsets, words, parents} = this.nested;
    const word = this.#word();
    const parent = word < 0 ? -1 : this.nested.parentOf(word);
    const lineAt = (step) =>
      parents
        ? offsets[Math.min(Math.max(0, parent + step), offsets.length - 2)]
        : word + wordsPerStep * step;
    const targets = {
      ArrowRight: word + 1,
      ArrowLeft: word - 1,
      ArrowDown: lineAt(1),
      ArrowUp: lineAt(-1),
      Home: 0,
      End: words.size - 1,
    };
    if (event.target !== this.body) return;
    if (Object.hasOwn(targets, event.key))
      this.#choose(Math.min(Math.max(0, targets[event.key]), words.size - 1));
    else if (["Enter", " "].includes(event.key) && parents) this.#toggle(Math.max(0, parent));
    else return;
    event.preventDefault();
  }
}

const rules = `
.document { display: grid; grid-template-columns: minmax(0, 1fr); gap: 1.2rem; max-width: 56rem; }
.document-body { display: grid; gap: 0.35rem; border-radius: 6px; }
.document-body:focus-visible { outline-offset: 6px; }
.document-row {
  display: grid; grid-template-columns: 6.5rem minmax(0, 1fr); gap: 1rem; align-items: start;
  content-visibility: auto; contain-intrinsic-size: auto 3.7rem;
}
.document-weight {
  display: grid; grid-template-columns: 1fr 2.6rem; gap: 0.4rem; align-items: center; min-height: 1.85rem;
  padding: 0; border: 0; background: none; color: var(--quiet); font-size: 0.75rem; text-align: end;
}
.document-bar { display: flex; justify-content: flex-end; }
.document-bar span { height: 0.75rem; min-width: 1px; background: var(--accent); border-radius: 2px; }
.document-row:hover .document-number, .document-row.open .document-number { color: var(--ink); }
@media (max-width: 40rem) { .document-row { grid-template-columns: 4.6rem minmax(0, 1fr); gap: 0.6rem; } }
`;
