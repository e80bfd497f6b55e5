// Input editor for one text; also for whatever no other editor fits, because the server reads rows written as
// text too.

import {element} from "fovea/parts/dom.js";

const textColumns = ["source", "text", "input", "sentence"];
const longestHeight = 320;

function grow(area) {
  area.style.height = "auto";
  area.style.height = `${Math.min(longestHeight, area.scrollHeight + 2)}px`;
}

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

  caption(input) {
    return text.text(input);
  },

  mount(host, {changed, label}) {
    const area = element("textarea", {
      class: "input-text",
      rows: 2,
      dir: "auto",
      spellcheck: "false",
      autocomplete: "off",
      "aria-label": label,
      placeholder: "Type here, or drop a file",
      on: {input: () => (grow(area), changed())},
    });
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
