// Steps through the inputs of a dropped file, one at a time.

import {element} from "fovea/parts/dom.js";
import {count} from "fovea/parts/format.js";

/**
 * A bar with "back", the place in the list, and "next"; hidden while there is no list. `chosen(input)` hears
 * each step.
 */
export class Steps {
  #inputs = [];
  #place = 0;
  #chosen;
  #node;
  #number = element("input", {
    type: "number",
    min: 1,
    step: 1,
    "aria-label": "Input number",
    on: {change: () => this.#jump()},
  });
  #total = element("span");
  #name = element("bdi", {class: "steps-name"});

  constructor(host, chosen) {
    this.#chosen = chosen;
    const button = (text, label, click) =>
      element("button", {type: "button", class: "button-plain", text, "aria-label": label, on: {click}});
    this.#node = element(
      "div",
      {class: "steps", role: "group", "aria-label": "Inputs of the file", hidden: ""},
      button("‹", "Previous input", () => this.step(-1)),
      this.#number,
      this.#total,
      button("›", "Next input", () => this.step(1)),
      this.#name,
      button("×", "Close the file", () => this.show("", [])),
    );
    host.append(this.#node);
  }

  /** Shows the inputs of a file, from the first. */
  show(name, inputs) {
    this.#inputs = inputs;
    this.#node.hidden = inputs.length < 2;
    this.#number.max = inputs.length;
    this.#total.textContent = `of ${count(inputs.length)}`;
    this.#name.textContent = name;
    if (inputs.length > 0) this.#go(0);
  }

  /** Moves by so many places; true where there is such a place. */
  step(by) {
    const place = this.#place + by;
    if (place < 0 || place >= this.#inputs.length) return false;
    this.#go(place);
    return true;
  }

  #jump() {
    const place = Math.round(Number(this.#number.value)) - 1;
    this.#go(Math.min(this.#inputs.length - 1, Math.max(0, place || 0)));
  }

  #go(place) {
    this.#place = place;
    this.#number.value = place + 1;
    this.#chosen(this.#inputs[place]);
  }
}
