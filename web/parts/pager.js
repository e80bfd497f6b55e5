// Goes through numbered things one by one: layers, heads, inputs of a list.
import {clear, element} from "fovea/parts/dom.js";

/** `onSelect(value)`; show() says which there are. */
export class Pager {
  constructor(label, onSelect) {
    this.onSelect = onSelect;
    const change = () => onSelect(this.options[this.select.selectedIndex].value);
    this.select = element("select", {"aria-label": label, on: {change}});
    const button = (text, name, step) => element("button", {
      type: "button", class: "button-plain", "aria-label": `${name} ${label}`, text,
      on: {click: () => this.step(step)},
    });
    this.node = element("span", {class: "pager", role: "group", "aria-label": label},
      button("‹", "previous", -1), this.select, button("›", "next", 1));
    this.options = [];
  }

  /** `options`: [{value, text}]. Hidden where there is no choice. */
  show(options, selected) {
    this.node.hidden = options.length < 2;
    const same = options.length === this.options.length &&
      options.every(({value, text}, i) => value === this.options[i].value && text === this.options[i].text);
    if (!same) clear(this.select).append(...options.map(({text}) => element("option", {text})));
    this.options = options;
    this.select.selectedIndex = options.findIndex(({value}) => value === selected);
  }

  /** The next or previous one, round and round. */
  step(direction) {
    if (this.options.length < 2) return;
    const next = (this.select.selectedIndex + direction + this.options.length) % this.options.length;
    this.onSelect(this.options[next].value);
  }
}
