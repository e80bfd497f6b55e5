// A button that opens a short list of actions.
import {element} from "fovea/parts/dom.js";

/** `items`: [{title, hint, action}]. */
export function menu(title, items) {
  const entry = ({title: name, hint, action}) =>
    element("button", {type: "button", role: "menuitem", tabindex: -1, on: {click: () => choose(action)}},
      name, element("span", {text: hint}));
  const list = element("div", {class: "menu-list", role: "menu", hidden: true}, items.map(entry));
  const button = element("button", {
    type: "button", class: "button-plain", "aria-haspopup": "menu", "aria-expanded": "false", text: title,
    on: {click: () => toggle(list.hidden)},
  });
  const node = element("div", {class: "menu", on: {keydown: key, focusout: leave}}, button, list);
  return node;

  function toggle(open) {
    list.hidden = !open;
    button.setAttribute("aria-expanded", String(open));
    if (open) list.firstElementChild.focus();
  }

  function choose(action) {
    toggle(false);
    button.focus();
    action();
  }

  function leave(event) {
    if (!node.contains(event.relatedTarget)) toggle(false);
  }

  function key(event) {
    const step = {ArrowDown: 1, ArrowUp: -1}[event.key];
    if (list.hidden || (!step && event.key !== "Escape")) return;
    event.preventDefault();
    event.stopPropagation();
    if (event.key === "Escape") {
      toggle(false);
      button.focus();
      return;
    }
    const entries = [...list.children];
    entries[(entries.indexOf(document.activeElement) + step + entries.length) % entries.length].focus();
  }
}
