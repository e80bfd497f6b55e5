// The columns of a dropped file beside its inputs: what is right, and what rows can be cut by.

import {cellsOf} from "fovea/page/csv.js";
import {plainCell} from "fovea/rows/csv.js";

const truthNames = [
  "truth", "label", "labels", "target", "class", "answer", "tags", "tag", "y", "rating", "translation", "output",
];

/** Names and cells of the file's columns, a text for each input: {names, cells: [[…], …]}; no names where the
    file has none. */
export async function columnsOfFile(file, rows) {
  const text = (await file.text()).replace(/^\uFEFF/, "");
  const extension = file.name.split(".").pop().toLowerCase();
  if (extension === "csv" || extension === "tsv") return fromTable(text, rows);
  if (extension === "json" || extension === "jsonl") return fromJson(text, rows);
  return {names: [], cells: []};
}

function fromTable(text, rows) {
  const lines = cellsOf(text);
  if (lines.length !== rows + 1) return {names: [], cells: []};
  const names = lines[0].map((name) => name.trim());
  return {names, cells: names.map((_, c) => lines.slice(1).map((line) => plainCell(line[c] ?? "")))};
}

function fromJson(text, rows) {
  let items;
  try {
    items = [JSON.parse(text)].flat();
  } catch {
    items = text.split("\n").filter((line) => line.trim() !== "").map((line) => JSON.parse(line));
  }
  const objects = items.every((item) => item && typeof item === "object" && !Array.isArray(item));
  if (items.length !== rows || !objects) return {names: [], cells: []};
  const names = [...new Set(items.flatMap(Object.keys))];
  return {names, cells: names.map((name) => items.map((item) => cellText(item[name])))};
}

function cellText(value) {
  if (value === null || value === undefined) return "";
  if (Array.isArray(value) && value.every((part) => typeof part !== "object")) return value.join("|");
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

/** The column that most likely says what is right, or -1. */
export function truthPlace(names, schema) {
  const inputs = new Set(Object.keys(schema.properties ?? {}));
  const others = names.map((name, place) => ({name: name.toLowerCase(), place})).filter(({place}) => !inputs.has(names[place]));
  const named = truthNames.map((wanted) => others.find(({name}) => name === wanted)).find(Boolean);
  if (named) return named.place;
  return inputs.size > 0 && others.length === 1 ? others[0].place : -1;
}
