// A dropped file becomes a list of inputs: a line each of a text, a row each of a table, an item each of a
// JSON list or of JSON lines.

import {cellsOf} from "fovea/page/csv.js";

const largest = 32 * 1024 * 1024;
const lists = /\.(txt|jsonl?|[ct]sv)$/i; // files of several inputs, where an input may be a file itself

function fromJson(text, editor, schema) {
  let items;
  try {
    items = [JSON.parse(text)].flat();
  } catch {
    items = text
      .split("\n")
      .filter((line) => line.trim() !== "")
      .map((line) => JSON.parse(line));
  }
  return items.map((item) => {
    const input = schema.type === "string" ? (item?.source ?? item?.text ?? item?.input ?? item) : item;
    return editor.parse(typeof input === "string" ? input : JSON.stringify(input), schema);
  });
}

function isHeader(cells, schema) {
  const names = schema.properties ? Object.keys(schema.properties) : ["source", "text", "input", "sentence"];
  return cells.some((cell) => names.includes(cell.trim()));
}

function fromTable(text, editor, schema) {
  if (editor.fromTable) return [editor.fromTable(text, schema)];
  const rows = cellsOf(text);
  const header = rows.length > 0 && isHeader(rows[0], schema) ? rows.shift() : null;
  return rows.map((cells) => editor.fromCells(header, cells, schema));
}

function fromLines(text, editor, schema) {
  const lines = text.split(/\r?\n/).filter((line) => line.trim() !== "");
  return lines.map((line) => editor.parse(line, schema));
}

/** The inputs in a File, for a model with this editor and schema; throws an Error that people can read. */
export async function inputsFromFile(file, editor, schema) {
  if (editor.fromFile && !lists.test(file.name)) return [await editor.fromFile(file, schema)];
  if (file.size > largest)
    throw new Error(`${file.name} is larger than 32 MiB; the page reads smaller files.`);
  const text = (await file.text()).replace(/^\uFEFF/, "");
  const extension = file.name.split(".").pop().toLowerCase();
  const readers = {json: fromJson, jsonl: fromJson, csv: fromTable, tsv: fromTable};
  let inputs;
  try {
    inputs = (readers[extension] ?? fromLines)(text, editor, schema);
  } catch (failure) {
    throw new Error(`${file.name}: ${failure.message}`, {cause: failure});
  }
  if (inputs.length === 0) throw new Error(`${file.name} holds no input.`);
  return inputs;
}
