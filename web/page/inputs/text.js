// Input editor for one text; also for whatever no other editor fits, because the server reads rows written as
// text too.

import {grow, growingArea} from "fovea/page/fields/growing.js";

const textColumns = ["source", "text", "input", "sentence"];

/** See inputs/index.js. */
export const text = {
  fits(schema) {
    return schema.type === "string";
  },

  parse(line) {
    return line;
  },

  fromCells(header, cells) {
    const place = header?.findIndex((name) => textColumns.includes(name.trim().toLowerCase())) ?? -1;
    return cells[Math.max(0, place)];
  },

  text(input) {
    return typeof input === "string" ? input : JSON.stringify(input);
  },

  // An example may be an object, as of two texts.
  caption(input) {
    const parts = typeof input === "string" ? [input] : Object.values(input);
    return parts.every((part) => typeof part === "string") ? parts.join(" · ") : text.text(input);
  },

  mount(host, {changed, label, describedBy}) {
    const attributes = {class: "input-text", rows: 2, "aria-label": label, "aria-describedby": describedBy, placeholder: "Type here, or drop a file"};
    const area = growingArea(attributes, changed);
    host.append(area);
    return {
      read: () => (area.value === "" ? {problem: "Type an input to see an answer."} : {input: area.value}),
      write(input) {
        area.value = text.text(input);
        grow(area);
      },
      focus: () => area.focus(),
    };
  },
};
