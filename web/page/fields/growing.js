// A text field of several lines that grows with its text.

import {element} from "fovea/parts/dom.js";

const longestHeight = 320; // then it scrolls

/** Fits the height to the text. */
export function grow(area) {
  area.style.height = "auto";
  area.style.height = `${Math.min(longestHeight, area.scrollHeight + 2)}px`;
}

/** A textarea; `attributes` as those of element(), `changed()` hears each edit. */
export function growingArea(attributes, changed) {
  const area = element("textarea", {
    dir: "auto",
    spellcheck: "false",
    autocomplete: "off",
    on: {input: () => (grow(area), changed())},
    ...attributes,
  });
  return area;
}
