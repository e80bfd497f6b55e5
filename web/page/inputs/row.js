// Input editor for a row of a table: a field per column of the schema, and a place to paste a whole row as
// JSON or cells.

import {element} from "fovea/parts/dom.js";
import {cellsOf} from "fovea/page/csv.js";

function isScalar(property) {
  return (
    Boolean(property.enum) ||
    ["number", "integer", "string"].some((type) => [property.type].flat().includes(type))
  );
}

function isNumber(property) {
  return !property.enum && ["number", "integer"].some((type) => [property.type].flat().includes(type));
}

/** Texts, of any number: a field with one a line. */
function isList(property) {
  return property.type === "array" && property.items?.type === "string";
}

function mayBeMissing(property) {
  return [property.type].flat().includes("null");
}

function isSameWord(a, b) {
  return String(a).toLowerCase() === String(b).toLowerCase();
}

/** The one that is the same, or else the only one that differs in its case alone; undefined where there is none. */
function matching(values, wanted) {
  const alike = values.filter((value) => isSameWord(value, wanted));
  return alike.find((value) => String(value) === wanted) ?? (alike.length === 1 ? alike[0] : undefined);
}

function fieldOf(name, property, changed) {
  const attributes = {name, on: {input: changed}};
  if (isList(property)) {
    return element("textarea", {...attributes, rows: 4, dir: "auto", spellcheck: "false", placeholder: "one a line"});
  }
  if (property.enum) {
    const options = ["", ...property.enum.filter((value) => value !== null)].map((value) =>
      element("option", {value: String(value), text: String(value)}),
    );
    return element("select", attributes, ...options);
  }
  // Numbers as people write them, $1,200 or 12 %: the server reads them as those of the training file.
  const type = isNumber(property) ? {inputmode: "decimal"} : {dir: "auto"};
  return element("input", {...attributes, ...type, type: "text", autocomplete: "off", spellcheck: "false"});
}

/** The texts of a field: one a line, or in one line with | between them. */
function listOf(name, property, written) {
  const parts = written.split(written.includes("\n") ? "\n" : "|").map((part) => part.trim());
  const texts = parts.filter((part) => part !== "");
  const least = property.minItems ?? 0;
  if (texts.length < least) throw new Error(`${name}: ${texts.length} of at least ${least} lines.`);
  return texts;
}

/** A value as a field shows it. */
function shown(value) {
  return Array.isArray(value) ? value.join("\n") : String(value ?? "");
}

/** The value of one column from its text; where there is none, null if the column may be empty, else undefined. */
function valueOf(name, property, written) {
  const trimmed = written.trim();
  if (trimmed === "") return mayBeMissing(property) ? null : undefined;
  if (isList(property)) return listOf(name, property, trimmed);
  if (property.enum) {
    const known = property.enum.filter((value) => value !== null);
    const found = matching(known, trimmed);
    if (found === undefined) throw new Error(`${name}: “${trimmed}” is not one of ${known}.`);
    return found;
  }
  if (!isNumber(property)) return written;
  const number = Number(trimmed);
  if (Number.isFinite(number)) return number;
  if (!/\p{Nd}/u.test(trimmed)) throw new Error(`${name}: “${trimmed}” is not a number.`);
  return trimmed;
}

function rowOf(pairs, schema) {
  const input = {};
  for (const [name, written] of pairs) {
    const own = matching(Object.keys(schema.properties), name);
    const value = own && valueOf(own, schema.properties[own], shown(written));
    if (value !== undefined) input[own] = value;
  }
  return input;
}

function missing(input, schema) {
  return (schema.required ?? []).filter((name) => !(name in input));
}

function fromCells(header, cells, schema) {
  const names = Object.keys(schema.properties);
  if (!header && cells.length < names.length) {
    throw new Error(`The row has ${cells.length} cells; expected ${names.length}: ${names.join(", ")}.`);
  }
  return rowOf(
    (header ?? names).map((name, place) => [name.trim(), cells[place]]),
    schema,
  );
}

/** See inputs/index.js. */
export const row = {
  fits(schema) {
    const properties = Object.entries(schema.properties ?? {});
    // Lists that may be left out belong to inputs of several kinds, which no one form fits.
    const isOwnList = ([name, property]) => isList(property) && (schema.required ?? []).includes(name);
    const isCell = ([, property]) => isScalar(property);
    const fits = properties.every((entry) => isCell(entry) || isOwnList(entry));
    return schema.type === "object" && fits && (properties.length === 0 || properties.some(isCell));
  },

  parse(line, schema) {
    const trimmed = line.trim();
    if (trimmed.startsWith("{")) return rowOf(Object.entries(JSON.parse(trimmed)), schema);
    return fromCells(null, cellsOf(trimmed)[0] ?? [], schema);
  },

  fromCells,

  text(input, schema) {
    const cells = Object.keys(schema.properties).map((name) => shown(input[name]));
    return !Object.values(input).some(Array.isArray) && cells.every((cell) => /^[^",;{\s]*$/.test(cell)) ? cells.join(",") : JSON.stringify(input);
  },

  caption(input) {
    return Object.entries(input)
      .filter(([, value]) => value !== null)
      .map(([name, value]) => `${name} ${Array.isArray(value) ? value.join(" / ") : value}`)
      .join(", ");
  },

  mount(host, {schema, changed, label}) {
    const fields = new Map();
    for (const [name, property] of Object.entries(schema.properties)) {
      fields.set(name, fieldOf(name, property, changed));
    }
    const write = (input) => {
      for (const [name, field] of fields) field.value = shown(input[name]);
    };
    host.append(
      element(
        "div",
        {class: "input-row", role: "group", "aria-label": label},
        ...Array.from(fields, ([name, field]) => element("label", {}, element("bdi", {text: name}), field)),
      ),
      pasteBox(schema, (input) => (write(input), changed())),
    );
    return {
      read() {
        const isEmpty = Array.from(fields.values()).every((field) => field.value.trim() === "");
        if (isEmpty) return {problem: "The row is empty."};
        try {
          const input = rowOf(
            Array.from(fields, ([name, field]) => [name, field.value]),
            schema,
          );
          const absent = missing(input, schema);
          return absent.length > 0 ? {problem: `Still empty: ${absent.join(", ")}.`} : {input};
        } catch (failure) {
          return {problem: failure.message};
        }
      },
      write,
      focus: () => fields.values().next().value?.focus(),
    };
  },
};

function pasteBox(schema, pasted) {
  const problem = element("p", {class: "problem", role: "status"});
  const area = element("textarea", {
    rows: 2,
    spellcheck: "false",
    "aria-label": "A row as cells or JSON",
    placeholder: '0.1, 0.7, … or {"x0": 0.1, …}',
    on: {
      input: () => {
        problem.textContent = "";
        if (area.value.trim() === "") return;
        try {
          pasted(row.parse(area.value, schema));
        } catch (failure) {
          problem.textContent = failure.message;
        }
      },
    },
  });
  return element("details", {class: "paste-row"}, element("summary", {text: "Paste a row"}), area, problem);
}
