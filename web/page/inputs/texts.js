// Input editor for several running texts: a question and its text, a question with choices, two sentences.
// Each has a field of its own; a list of texts a field for each.

import {element} from "fovea/parts/dom.js";
import {Texts} from "fovea/page/fields/texts.js";
import {grow, growingArea} from "fovea/page/fields/growing.js";
import {isTexts, objectIn, objectOfCells} from "fovea/page/inputs/object.js";

const running = (property) => property.contentMediaType === "text/plain";
const isList = (property) => property.type === "array" && running(property.items ?? {});

function expected(schema) {
  return `an object with ${Object.keys(schema.properties).join(", ")}`;
}

/** See inputs/index.js. */
export const texts = {
  fits(schema) {
    const properties = Object.values(schema.properties ?? {});
    return properties.length > 0 && properties.every((property) => running(property) || isList(property));
  },

  parse: (line, schema) => objectIn(line, expected(schema)),

  fromCells(header, cells, schema) {
    const input = objectOfCells(header, cells, schema);
    for (const [name, property] of Object.entries(schema.properties)) {
      if (isList(property) && name in input) input[name] = input[name].split("|").map((one) => one.trim());
    }
    return input;
  },

  takes: (input, schema) =>
    Object.entries(input).every(([name, value]) => {
      const property = schema.properties[name];
      return property && (isList(property) ? isTexts(value) : typeof value === "string");
    }),

  text: (input) => JSON.stringify(input),

  caption: (input) =>
    [input.question, ...Object.entries(input).filter(([name]) => name !== "question").map(([, value]) => value)]
      .filter((value) => value !== undefined && value !== "")
      .map((value) => (Array.isArray(value) ? value.join(" / ") : value))
      .join(" · "),

  mount(host, {schema, changed, label, describedBy}) {
    const fields = new Map();
    const box = element("div", {class: "input-texts", role: "group", "aria-label": label});
    for (const [name, property] of Object.entries(schema.properties)) {
      const isOptional = !(schema.required ?? []).includes(name);
      const title = isOptional ? `${name} (may be left out)` : name;
      if (isList(property)) {
        const word = name.replace(/s$/, "");
        const field = new Texts({legend: title, word, least: property.minItems ?? 0, changed, describedBy});
        fields.set(name, field);
        box.append(field.node);
        continue;
      }
      const area = growingArea({name, rows: name === "text" || name === "context" ? 4 : 1, "aria-describedby": describedBy}, changed);
      fields.set(name, area);
      box.append(element("label", {class: "text-field"}, element("bdi", {class: "field-name", text: title}), area));
    }
    host.append(box);
    return {
      read() {
        const input = {};
        const absent = [];
        for (const [name, property] of Object.entries(schema.properties)) {
          const field = fields.get(name);
          const value = isList(property) ? field.texts : field.value;
          const least = property.minItems ?? 0;
          if (isList(property) && value.length < least) absent.push(`${name}: ${value.length} of at least ${least}`);
          else if (!isList(property) && value.trim() === "" && (schema.required ?? []).includes(name)) absent.push(name);
          else if (value.length > 0) input[name] = value;
        }
        return absent.length > 0 ? {problem: `Still empty: ${absent.join(", ")}.`} : {input};
      },
      write(input) {
        for (const [name, property] of Object.entries(schema.properties)) {
          const field = fields.get(name);
          if (isList(property)) field.texts = input[name] ?? [];
          else {
            field.value = input[name] ?? "";
            grow(field);
          }
        }
      },
      focus: () => box.querySelector("textarea")?.focus(),
    };
  },
};
