// Input editor for series of numbers: one of them as a chart to draw into, its numbers below, where they can be
// typed or pasted; a pasted table fills all series by the names of its columns.

import {element, svg} from "fovea/parts/dom.js";
import {count, number} from "fovea/parts/format.js";
import {cellsOf} from "fovea/page/csv.js";
import {Curve} from "fovea/page/fields/curve.js";
import {grow, growingArea} from "fovea/page/fields/growing.js";
import {freshId} from "fovea/page/fields/identity.js";
import {objectIn} from "fovea/page/inputs/object.js";

const isSeries = (property) => property.type === "array" && property.items?.type === "number";
const isTimes = (property) => property.type === "array" && property.items?.type === "string";

function namesOf(schema, fits) {
  return Object.entries(schema.properties)
    .filter(([, property]) => fits(property))
    .map(([name]) => name);
}

/** A cell as a number; a missing one is null. Throws an Error for a word. */
function numberOf(cell, name) {
  const text = String(cell).trim();
  if (["", "na", "nan", "null", "?"].includes(text.toLowerCase())) return null;
  const value = Number(text);
  if (!Number.isFinite(value)) throw new Error(`${name}: “${text}” is not a number.`);
  return value;
}

/** A line as small as a word. */
function sketchOf(values) {
  const known = values.filter(Number.isFinite);
  const [low, high] = [Math.min(...known), Math.max(...known)];
  const point = (value, step) => `${(step / Math.max(1, values.length - 1)) * 58 + 1},${17 - ((value - low) / (high - low || 1)) * 14}`;
  const points = values.map((value, step) => (Number.isFinite(value) ? point(value, step) : "")).filter(Boolean).join(" ");
  return svg("svg", {class: "example-sketch", viewBox: "0 0 60 18", "aria-hidden": "true"}, svg("polyline", {class: "curve-line", points}));
}

const partsOf = (text) => text.trim().split(/[\s,;]+/).filter(Boolean);

/** A value of a column that is known in advance: one for all steps, or one for each. */
function knownValue(text, property) {
  const [item] = property.anyOf;
  const parts = text.split(/[\n,;]/).map((part) => part.trim());
  const values = parts.map((part) => (item.type === "number" ? numberOf(part, "a value") : part));
  return values.length === 1 ? values[0] : values;
}

/** See inputs/index.js. */
export const series = {
  fits(schema) {
    const properties = Object.values(schema.properties ?? {});
    const known = (property) => isSeries(property) || isTimes(property) || property.anyOf?.length === 2 || property.type === "string";
    return properties.some((property) => isSeries(property) && property.minItems > 0) && properties.every(known);
  },

  parse(line, schema) {
    const [first, ...others] = namesOf(schema, isSeries);
    if (line.trim().startsWith("{")) return objectIn(line, `an object with ${Object.keys(schema.properties).join(", ")}`);
    if (others.length > 0) throw new Error("A plain line holds one series; this model looks at several.");
    return {[first]: partsOf(line).map((part) => numberOf(part, first))};
  },

  fromCells(header, cells, schema) {
    const [first] = namesOf(schema, isSeries);
    return {[first]: cells.map((cell) => numberOf(cell, first))};
  },

  // A dropped table is one input: a step a row.
  fromTable(text, schema) {
    const [header, ...rows] = cellsOf(text);
    const input = {};
    for (const [name, property] of Object.entries(schema.properties)) {
      const place = header.findIndex((cell) => cell.trim().toLowerCase() === name.toLowerCase());
      if (place < 0) continue;
      const column = rows.map((cells) => cells[place] ?? "");
      input[name] = isSeries(property) ? column.map((cell) => numberOf(cell, name)) : property.type === "string" ? column.at(-1) : column;
    }
    const absent = namesOf(schema, isSeries).filter((name) => !(name in input));
    if (absent.length > 0) throw new Error(`The table has no column ${absent.join(", ")}.`);
    return input;
  },

  takes: (input, schema) => namesOf(schema, isSeries).every((name) => Array.isArray(input[name]) && input[name].every((value) => value === null || Number.isFinite(value))),

  text: (input) => JSON.stringify(input),

  caption(input) {
    const all = Object.entries(input).filter(([, values]) => Array.isArray(values) && values.every((value) => value === null || Number.isFinite(value)));
    if (all.length === 0) return JSON.stringify(input);
    const [name, values] = all[0];
    const known = values.filter(Number.isFinite);
    const more = all.length > 1 ? ` and ${all.length - 1} more` : "";
    return `${name}${more}: ${count(values.length)} steps from ${number(Math.min(...known))} to ${number(Math.max(...known))}, the last ${number(known.at(-1))}`;
  },

  sketch(input) {
    const values = Object.values(input).find(Array.isArray) ?? [];
    return values.every((value) => value === null || Number.isFinite(value)) ? sketchOf(values) : null;
  },

  mount(host, {schema, changed, label, describedBy}) {
    const names = namesOf(schema, isSeries);
    const [timeName] = namesOf(schema, isTimes);
    const others = Object.keys(schema.properties).filter((name) => !names.includes(name));
    const values = Object.fromEntries(names.map((name) => [name, []]));
    const problems = {}; // of what is typed, by series
    let shown = names[0];
    const window = schema.properties[shown].minItems;

    const curve = new Curve({
      changed: () => {
        values[shown] = curve.values;
        delete problems[shown];
        writeNumbers();
        changed();
      },
    });
    const numbersId = freshId("numbers");
    const attributes = {id: numbersId, class: "series-numbers", rows: 3, "aria-describedby": describedBy, placeholder: "numbers with commas between them, or a table with a header"};
    const area = growingArea(attributes, () => typed());
    const picker = element("select", {"aria-label": "Series shown", on: {change: () => pick(picker.value)}}, ...names.map((name) => element("option", {value: name, text: name})));
    const title = element("bdi", {class: "field-name", text: shown});
    const facts = element("span", {class: "series-facts"});
    const rest = new Map(others.map((name) => [name, restField(name)]));
    const box = element(
      "div",
      {class: "input-series", role: "group", "aria-label": label},
      element("div", {class: "series-head"}, names.length > 1 ? picker : title, facts),
      curve.node,
      element("label", {class: "field-name", for: numbersId, text: "Its numbers, the oldest first"}),
      area,
      rest.size > 0 && element("div", {class: "input-row series-rest"}, ...Array.from(rest, ([name, field]) => element("label", {}, element("bdi", {text: name}), field))),
      element("p", {class: "hint", text: `Draw into the chart, or paste numbers or a table. The model looks at the last ${count(window)} steps.`}),
    );
    host.append(box);

    function restField(name) {
      const attributes = {name, autocomplete: "off", spellcheck: "false", "aria-describedby": describedBy, on: {input: () => (draw(), changed())}};
      if (schema.properties[name].type === "string") return element("input", {...attributes, type: "text", dir: "auto"});
      return element("textarea", {...attributes, rows: 2});
    }

    function times() {
      return timeName ? rest.get(timeName).value.split(/[\n,;]/).map((part) => part.trim()).filter(Boolean) : [];
    }

    function draw() {
      const steps = times();
      curve.show(values[shown].map((value) => value ?? NaN), shown, steps.length === values[shown].length ? steps : [], timeName);
      facts.textContent = `${count(values[shown].length)} steps`;
      title.textContent = shown;
      picker.value = shown;
    }

    function writeNumbers() {
      area.value = values[shown].map((value) => value ?? "NA").join(", ");
      grow(area);
    }

    function pick(name) {
      shown = name;
      draw();
      writeNumbers();
    }

    function typed() {
      const text = area.value;
      const isTable = names.some((name) => cellsOf(text.split("\n")[0]).flat().some((cell) => cell.trim().toLowerCase() === name.toLowerCase()));
      try {
        if (isTable) put(series.fromTable(text, schema));
        else values[shown] = partsOf(text).map((part) => numberOf(part, shown));
        delete problems[shown];
        draw();
      } catch (failure) {
        problems[shown] = failure.message;
      }
      changed();
    }

    function put(input) {
      for (const name of names) values[name] = input[name] ?? [];
      for (const [name, field] of rest) {
        const value = input[name] ?? "";
        field.value = Array.isArray(value) ? value.join(", ") : String(value);
      }
      for (const name of names) delete problems[name];
      draw();
      writeNumbers();
    }

    draw();
    return {
      read() {
        const [problem] = Object.values(problems);
        if (problem) return {problem};
        const input = {};
        const lengths = names.map((name) => values[name].length);
        const short = names.find((name) => values[name].length < window);
        if (short) return {problem: `${short}: ${values[short].length} of at least ${window} steps.`};
        const other = lengths.findIndex((length) => length !== lengths[0]);
        if (other > 0) return {problem: `${names[other]} has ${lengths[other]} steps, ${names[0]} has ${lengths[0]}.`};
        for (const name of names) input[name] = values[name];
        for (const [name, field] of rest) {
          const property = schema.properties[name];
          const written = field.value.trim();
          if (written === "" && (schema.required ?? []).includes(name)) return {problem: `Still empty: ${name}.`};
          if (written === "") continue;
          try {
            input[name] = isTimes(property) ? times() : property.anyOf ? knownValue(written, property) : written;
          } catch (failure) {
            return {problem: `${name}: ${failure.message}`};
          }
        }
        return {input};
      },
      write: (input) => pick((put(input), shown)),
      focus: () => curve.field.focus(),
    };
  },
};
