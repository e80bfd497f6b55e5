// Input editor for a rating to be predicted: a user and an item, each found by search; in place of either,
// where the model reads, reviews of one's own.

import {element} from "fovea/parts/dom.js";
import {count} from "fovea/parts/format.js";
import {Combobox} from "fovea/page/fields/combobox.js";
import {freshId} from "fovea/page/fields/identity.js";
import {Texts} from "fovea/page/fields/texts.js";
import {isTexts, objectIn, objectOfCells} from "fovea/page/inputs/object.js";

const sides = ["user", "item"];
const reviewsOf = (side) => `${side}_reviews`;

/** See inputs/index.js. */
export const rating = {
  fits: (schema) => sides.every((side) => schema.properties?.[side]?.type === "string"),

  parse(line) {
    if (line.trim().startsWith("{")) return objectIn(line, "an object with user and item");
    const [user, item] = line.split(line.includes("\t") ? "\t" : ",").map((cell) => cell.trim());
    if (!user || !item) throw new Error("Expected a user and an item.");
    return {user, item};
  },

  fromCells: (header, cells, schema) => objectOfCells(header, cells, schema),

  takes: (input) => sides.every((side) => isTexts(input[reviewsOf(side)] ?? [])),

  text: (input) => JSON.stringify(input),

  caption: (input) =>
    sides
      .map((side) => (input[reviewsOf(side)] ? `${side} by ${input[reviewsOf(side)].length} reviews` : `${side} ${input[side]}`))
      .join(" · "),

  mount(host, {schema, changed, label, describedBy, names}) {
    const fields = {};
    const own = {};
    const box = element("div", {class: "input-rating", role: "group", "aria-label": label});
    for (const side of sides) {
      const known = schema.properties[side].known?.count ?? 0;
      const hint = freshId("hint");
      fields[side] = new Combobox({
        label: side,
        placeholder: known > 0 ? "type to search" : "",
        describedBy: `${hint} ${describedBy}`,
        suggest: async (text) => (await names(side, text)).map((value) => ({value})),
        free: true,
        chosen: () => changed({now: true}),
      });
      box.append(
        element("div", {class: "labelled"}, element("span", {class: "field-name", "aria-hidden": "true", text: side}), fields[side].node),
        element("p", {class: "hint", id: hint, text: known > 0 ? `${count(known)} known from training; any other is new to the model` : ""}),
      );
    }
    for (const side of sides.filter((one) => reviewsOf(one) in schema.properties)) {
      own[side] = new Texts({legend: `Reviews ${side === "user" ? "by the user" : "of the item"}, in place of known ones`, word: "review", changed, describedBy});
      box.append(element("details", {class: "own-reviews"}, element("summary", {text: `Other reviews ${side === "user" ? "by the user" : "of the item"}`}), own[side].node));
    }
    host.append(box);
    return {
      read() {
        const input = {};
        for (const side of sides) {
          const reviews = own[side]?.texts ?? [];
          if (fields[side].value !== "") input[side] = fields[side].value;
          if (reviews.length > 0) input[reviewsOf(side)] = reviews;
        }
        const absent = sides.filter((side) => !(side in input) && !(reviewsOf(side) in input));
        return absent.length > 0 ? {problem: `Still empty: ${absent.join(", ")}.`} : {input};
      },
      write(input) {
        for (const side of sides) {
          fields[side].value = String(input[side] ?? "");
          if (!own[side]) continue;
          own[side].texts = input[reviewsOf(side)] ?? [];
          own[side].node.parentElement.open = (input[reviewsOf(side)] ?? []).length > 0;
        }
      },
      focus: () => fields.user.focus(),
    };
  },
};
