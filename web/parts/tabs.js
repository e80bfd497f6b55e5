// A row of tabs: one stop for the tab key, arrows move between them.
import {clear, element} from "fovea/parts/dom.js";

/** `onSelect(id)` is called when the reader picks another; show() says what there is. */
export class Tabs {
  constructor(label, onSelect) {
    this.onSelect = onSelect;
    const on = {keydown: (event) => this.#key(event)};
    this.node = element("div", {class: "tabs", role: "tablist", "aria-label": label, on});
  }

  /** `items`: [{id, title}]. A single one needs no picker. */
  show(items, selected) {
    const hadFocus = this.node.contains(document.activeElement);
    clear(this.node).append(...items.map(({id, title}) => element("button", {
      type: "button", role: "tab", dataset: {id}, "aria-selected": String(id === selected),
      tabindex: id === selected ? 0 : -1, on: {click: () => this.onSelect(id)},
    }, element("bdi", {text: title}))));
    this.node.hidden = items.length < 2;
    const chosen = this.node.querySelector('[aria-selected="true"]');
    if (hadFocus) chosen?.focus();
    if (chosen) this.#bringIntoView(chosen);
  }

  // scrollIntoView would move the page too.
  #bringIntoView({offsetLeft, offsetWidth}) {
    const {scrollLeft, clientWidth} = this.node;
    if (offsetLeft < scrollLeft) this.node.scrollLeft = offsetLeft;
    else if (offsetLeft + offsetWidth > scrollLeft + clientWidth) this.node.scrollLeft = offsetLeft;
  }

  #key(event) {
    const step = {ArrowLeft: -1, ArrowRight: 1}[event.key];
    if (!step) return;
    const buttons = [...this.node.children];
    const next = buttons[(buttons.indexOf(document.activeElement) + step + buttons.length) % buttons.length];
    next.focus();
    this.onSelect(next.dataset.id);
    event.preventDefault();
  }
}
