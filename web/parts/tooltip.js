// The one tooltip of the document. It repeats what is announced or written elsewhere, so screen readers skip
// it.
import {clear, element} from "fovea/parts/dom.js";

const margin = 8;
const distance = 14;
let shared = null;

/** Shows lines beside the pointer; every instance shares one element. */
export class Tooltip {
  /** `lines`: texts or [name, value] pairs; the place is in coordinates of the window. */
  show(clientX, clientY, lines) {
    const box = sharedElement();
    clear(box).append(...lines.map(lineElement));
    box.hidden = false;
    place(box, clientX, clientY);
  }

  /** Takes it away. */
  hide() {
    if (shared) shared.hidden = true;
  }
}

function sharedElement() {
  if (!shared) {
    shared = element("div", {class: "tooltip", "aria-hidden": "true", hidden: true});
    document.body.append(shared);
  }
  return shared;
}

function lineElement(line) {
  if (typeof line === "string") return element("div", {class: "tooltip-line"}, element("bdi", {text: line}));
  const [name, value] = line;
  return element("div", {class: "tooltip-pair"}, element("span", {class: "tooltip-name", text: name}),
    element("bdi", {class: "tooltip-value", text: String(value)}));
}

function place(box, clientX, clientY) {
  const {offsetWidth: width, offsetHeight: height} = box;
  const right = clientX + distance;
  const below = clientY + distance;
  const left = right + width + margin <= window.innerWidth ? right : clientX - distance - width;
  const top = below + height + margin <= window.innerHeight ? below : clientY - distance - height;
  box.style.left = `${Math.max(margin, Math.min(left, window.innerWidth - width - margin))}px`;
  box.style.top = `${Math.max(margin, Math.min(top, window.innerHeight - height - margin))}px`;
}
