// Input editor for a list of texts that belong together, one a line: accesses to memory.

import {element} from "fovea/parts/dom.js";
import {count} from "fovea/parts/format.js";
import {grow, growingArea} from "fovea/page/fields/growing.js";
import {isTexts, objectIn} from "fovea/page/inputs/object.js";

const nameOf = (schema) => Object.keys(schema.properties)[0];

/** See inputs/index.js. */
export const lines = {
  fits(schema) {
    const properties = Object.values(schema.properties ?? {});
    return properties.length === 1 && properties[0].type === "array" && properties[0].items?.type === "string";
  },

  parse(line, schema) {
    const name = nameOf(schema);
    if (!line.trim().startsWith("{")) return {[name]: line.split(";").map((one) => one.trim()).filter(Boolean)};
    return objectIn(line, `an object with ${name}`);
  },

  fromCells: (header, cells, schema) => ({[nameOf(schema)]: cells.filter((cell) => cell.trim() !== "")}),

  takes: (input, schema) => isTexts(input[nameOf(schema)]),

  text: (input) => JSON.stringify(input),

  caption(input) {
    const [[name, all]] = Object.entries(input);
    return `${count(all.length)} ${name}, the last ${all.at(-1)}`;
  },

  mount(host, {schema, changed, label, describedBy}) {
    const name = nameOf(schema);
    const area = growingArea(
      {class: "input-lines", rows: 6, wrap: "off", "aria-label": `${label}: ${name}, one a line`, "aria-describedby": describedBy},
      changed,
    );
    host.append(area, element("p", {class: "hint", text: `${name}, one a line, the oldest first`}));
    return {
      read() {
        const all = area.value.split("\n").map((line) => line.trim()).filter(Boolean);
        const least = schema.properties[name].minItems ?? 0;
        return all.length < Math.max(1, least) ? {problem: `${name}: ${all.length} of at least ${Math.max(1, least)}.`} : {input: {[name]: all}};
      },
      write(input) {
        area.value = input[name].join("\n");
        grow(area);
      },
      focus: () => area.focus(),
    };
  },
};
