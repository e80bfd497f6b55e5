// Input editor for a row of a table: a field per column of the schema, each with what training saw there.

import {element} from "fovea/parts/dom.js";
import {count, number, shorten} from "fovea/parts/format.js";
import {cellsOf} from "fovea/page/csv.js";
import {freshId} from "fovea/page/fields/identity.js";

const manyColumns = 16; // from here on the columns can be searched

function isNumber(property) {
  return !property.enum && ["number", "integer"].some((type) => [property.type].flat().includes(type));
}

function isCell(property) {
  return Boolean(property.enum) || isNumber(property) || [property.type].flat().includes("string");
}

function mayBeMissing(property) {
  return [property.type].flat().includes("null");
}

function categoriesOf(property) {
  return property.enum.filter((value) => value !== null);
}

function isSameWord(a, b) {
  return String(a).toLowerCase() === String(b).toLowerCase();
}

/** The one that is the same, or else the only one that differs in its case alone; undefined where there is none. */
function matching(values, wanted) {
  const alike = values.filter((value) => isSameWord(value, wanted));
  return alike.find((value) => String(value) === wanted) ?? (alike.length === 1 ? alike[0] : undefined);
}

function rangeText({low, high}) {
  const whole = (value) => (Number.isInteger(value) && value >= 0 ? count(value) : number(value));
  return `${whole(low)} to ${whole(high)}`;
}

/** What training saw in a column, in a few words. */
function trainingText(property) {
  const range = property.training ? rangeText(property.training) : "";
  const kinds = property.enum ? `${count(categoriesOf(property).length)} categories` : "";
  const gaps = mayBeMissing(property) ? "empty" : "";
  return [range || kinds, gaps].filter(Boolean).join(" or ");
}

/** A sentence where a number is far from what training saw; else empty. */
function remark(property, value) {
  const {low, high} = property.training ?? {};
  const isOutside = typeof value === "number" && (value < low || value > high);
  return isOutside ? `outside of training: ${rangeText({low, high})}` : "";
}

/** The value of one column from its text; where there is none, null if the column may be empty, else undefined. */
function valueOf(name, property, written) {
  const trimmed = written.trim();
  if (trimmed === "") return mayBeMissing(property) ? null : undefined;
  if (property.enum) {
    const known = categoriesOf(property);
    const found = matching(known, trimmed);
    if (found === undefined) throw new Error(`${name}: “${trimmed}” is not one of ${shorten(known.join(", "), 300)}.`);
    return found;
  }
  if (!isNumber(property)) return written;
  const value = Number(trimmed);
  if (Number.isFinite(value)) return value;
  // As people write them, $1,200 or 12 %: the server reads them as those of the training file.
  if (!/\p{Nd}/u.test(trimmed)) throw new Error(`${name}: “${trimmed}” is not a number.`);
  return trimmed;
}

function rowOf(pairs, schema) {
  const input = {};
  for (const [name, written] of pairs) {
    const own = matching(Object.keys(schema.properties), name);
    const value = own && valueOf(own, schema.properties[own], String(written ?? ""));
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
    throw new Error(`The row has ${cells.length} cells; expected ${names.length}: ${shorten(names.join(", "), 300)}.`);
  }
  return rowOf(
    (header ?? names).map((name, place) => [name.trim(), cells[place]]),
    schema,
  );
}

/** One column: its name, its field, what training saw or what is wrong. */
class Cell {
  constructor(name, property, changed, describedBy) {
    Object.assign(this, {name, property});
    const hint = freshId("hint");
    const id = freshId("cell");
    const attributes = {id, name, "aria-describedby": `${hint} ${describedBy}`, on: {input: changed}};
    this.field = property.enum ? this.#select(attributes) : this.#text(attributes);
    this.hint = element("span", {class: "cell-hint", id: hint, text: trainingText(property)});
    const label = element("label", {class: "field-name", for: id}, element("bdi", {text: name}));
    this.node = element("div", {class: "cell"}, label, this.field, this.hint);
  }

  get written() {
    return this.field.value;
  }

  set written(value) {
    this.field.value = String(value ?? "");
    this.tell();
  }

  /** The value; marks the field and throws where it does not fit. */
  read() {
    try {
      const value = valueOf(this.name, this.property, this.written);
      this.tell(remark(this.property, value), value === undefined);
      return value;
    } catch (failure) {
      this.tell(failure.message.slice(this.name.length + 2), true);
      throw failure;
    }
  }

  tell(text = "", isWrong = false) {
    this.hint.textContent = text || trainingText(this.property);
    this.node.classList.toggle("remarked", text !== "" || isWrong);
    if (isWrong) this.field.setAttribute("aria-invalid", "true");
    else this.field.removeAttribute("aria-invalid");
  }

  #select(attributes) {
    const options = ["", ...categoriesOf(this.property)].map((value) => element("option", {value: String(value), text: String(value)}));
    return element("select", attributes, ...options);
  }

  #text(attributes) {
    const type = isNumber(this.property) ? {inputmode: "decimal"} : {dir: "auto"};
    return element("input", {...attributes, ...type, type: "text", autocomplete: "off", spellcheck: "false"});
  }
}

/** See inputs/index.js. */
export const row = {
  fits(schema) {
    return schema.type === "object" && Object.values(schema.properties ?? {}).every(isCell);
  },

  parse(line, schema) {
    const trimmed = line.trim();
    if (!trimmed.startsWith("{")) return fromCells(null, cellsOf(trimmed)[0] ?? [], schema);
    let given;
    try {
      given = JSON.parse(trimmed);
    } catch (cause) {
      throw new Error("This is no JSON.", {cause});
    }
    return rowOf(Object.entries(given), schema);
  },

  fromCells,

  text(input, schema) {
    const cells = Object.keys(schema.properties).map((name) => String(input[name] ?? ""));
    return cells.every((cell) => /^[^",;{\s]*$/.test(cell)) ? cells.join(",") : JSON.stringify(input);
  },

  caption(input) {
    return Object.entries(input)
      .filter(([, value]) => value !== null)
      .map(([name, value]) => `${name} ${typeof value === "number" ? number(value) : value}`)
      .join(" · ");
  },

  mount(host, {schema, changed, label, describedBy}) {
    const cells = Object.entries(schema.properties).map(([name, property]) => new Cell(name, property, changed, describedBy));
    const box = element("div", {class: "input-row", role: "group", "aria-label": label}, ...cells.map(({node}) => node));
    if (cells.length >= manyColumns) host.append(searchFor(cells));
    host.append(box);
    return {
      read() {
        if (cells.every(({written}) => written.trim() === "")) return {problem: "The row is empty."};
        const input = {};
        const problems = [];
        for (const cell of cells) {
          try {
            const value = cell.read();
            if (value !== undefined) input[cell.name] = value;
          } catch (failure) {
            problems.push(failure.message);
          }
        }
        if (problems.length > 0) return {problem: problems.join(" ")};
        const absent = missing(input, schema);
        return absent.length > 0 ? {problem: `Still empty: ${shorten(absent.join(", "), 300)}.`} : {input};
      },
      write(input) {
        for (const cell of cells) cell.written = input[cell.name];
      },
      focus: () => cells[0]?.field.focus(),
    };
  },
};

function searchFor(cells) {
  const found = element("span", {class: "hint", role: "status"});
  const field = element("input", {
    type: "search",
    class: "find-column",
    placeholder: `Find one of ${count(cells.length)} columns`,
    "aria-label": "Find a column",
    on: {
      input: () => {
        const wanted = field.value.trim().toLowerCase();
        for (const {node, name} of cells) node.hidden = !name.toLowerCase().includes(wanted);
        const shown = cells.filter(({node}) => !node.hidden).length;
        found.textContent = wanted === "" ? "" : `${count(shown)} of ${count(cells.length)} columns`;
      },
    },
  });
  return element("div", {class: "find-line"}, field, found);
}
