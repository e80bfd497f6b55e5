// Several texts, each in a field of its own, that can be added to: choices, reviews.

import {clear, element} from "fovea/parts/dom.js";
import {grow, growingArea} from "fovea/page/fields/growing.js";

/** `options`: {legend, word ("choice"), least (fields that are always there), changed(), describedBy}. */
export class Texts {
  #options;
  #areas = [];
  #list = element("ol", {class: "texts"});

  constructor(options) {
    this.#options = options;
    const add = element("button", {
      type: "button",
      class: "button-plain",
      text: `Add a ${options.word}`,
      on: {click: () => this.#insert("").focus()},
    });
    this.node = element("fieldset", {class: "texts-box"}, element("legend", {text: options.legend}), this.#list, add);
    this.texts = [];
  }

  /** Those that hold something. */
  get texts() {
    return this.#areas.map((area) => area.value.trim()).filter((text) => text !== "");
  }

  set texts(texts) {
    clear(this.#list);
    this.#areas = [];
    const least = this.#options.least ?? 0;
    for (let place = 0; place < Math.max(texts.length, least); ++place) this.#insert(texts[place] ?? "");
  }

  #insert(text) {
    const {word, changed, describedBy} = this.#options;
    const area = growingArea({class: "text-line", rows: 1, "aria-describedby": describedBy}, changed);
    area.value = text;
    const remove = element("button", {type: "button", class: "button-plain", text: "×", on: {click: () => this.#remove(area)}});
    this.#areas.push(area);
    this.#list.append(element("li", {}, area, remove));
    this.#number();
    grow(area);
    return area;
  }

  #remove(area) {
    const place = this.#areas.indexOf(area);
    this.#areas.splice(place, 1);
    area.parentElement.remove();
    this.#number();
    (this.#areas[Math.min(place, this.#areas.length - 1)] ?? this.node.querySelector("button")).focus();
    this.#options.changed();
  }

  #number() {
    const {word, least = 0} = this.#options;
    this.#areas.forEach((area, place) => {
      area.setAttribute("aria-label", `${word} ${place + 1}`);
      const button = area.nextElementSibling;
      button?.setAttribute("aria-label", `Remove ${word} ${place + 1}`);
      if (button) button.disabled = this.#areas.length <= least;
    });
  }
}
