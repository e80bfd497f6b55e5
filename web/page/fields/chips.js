// A list of short names that can be taken away one by one and added to: the codes of a visit, the neighbours
// of a node.

import {clear, element} from "fovea/parts/dom.js";
import {visible} from "fovea/parts/format.js";
import {Combobox} from "fovea/page/fields/combobox.js";

/** `options`: {label, adds (what the field for another is called), suggest(text), changed(), describedBy}. */
export class Chips {
  #options;
  #names = [];
  #list;
  #field;

  constructor(options) {
    this.#options = options;
    this.#list = element("ul", {class: "chips", "aria-label": options.label});
    this.#field = new Combobox({
      label: options.adds,
      placeholder: options.adds,
      suggest: options.suggest,
      describedBy: options.describedBy,
      free: true,
      chosen: (name) => this.#add(name),
    });
    this.node = element("div", {class: "chips-box"}, this.#list, this.#field.node);
  }

  get names() {
    return [...this.#names];
  }

  set names(names) {
    this.#names = names.map(String);
    this.#draw();
  }

  focus() {
    this.#field.field.focus();
  }

  #add(name) {
    this.#field.value = "";
    if (name === "" || this.#names.includes(name)) return;
    this.#names.push(name);
    this.#draw();
    this.#options.changed();
  }

  #remove(place) {
    this.#names.splice(place, 1);
    this.#draw();
    const next = this.#list.querySelectorAll("button")[Math.min(place, this.#names.length - 1)];
    (next ?? this.#field.field).focus();
    this.#options.changed();
  }

  #draw() {
    const chip = (name, place) =>
      element(
        "li",
        {class: "chip"},
        element("bdi", {text: visible(name)}),
        element("button", {type: "button", text: "×", "aria-label": `Remove ${visible(name)}`, on: {click: () => this.#remove(place)}}),
      );
    clear(this.#list).append(...this.#names.map(chip));
    this.#list.hidden = this.#names.length === 0;
  }
}
