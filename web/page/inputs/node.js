// Input editor for a node of a graph, found by search, or for one that is not in it: its features and its
// neighbours.

import {element} from "fovea/parts/dom.js";
import {count, shorten} from "fovea/parts/format.js";
import {Chips} from "fovea/page/fields/chips.js";
import {Combobox} from "fovea/page/fields/combobox.js";
import {freshId} from "fovea/page/fields/identity.js";
import {isTexts, objectIn} from "fovea/page/inputs/object.js";

const isNew = (input) => "features" in input;

function caption(input) {
  if (!isNew(input)) return `node ${input.node}`;
  const features = Array.isArray(input.features) ? input.features : Object.entries(input.features).map(([name, value]) => `${name} ${value}`);
  return `a new node with ${shorten(features.join(", "), 80) || "no features"}; ${count((input.neighbours ?? []).length)} neighbours`;
}

/** "a 1" and "b 0.5" as {a: 1, b: 0.5}; throws an Error for what has no number. */
function numbersOf(names) {
  return Object.fromEntries(
    names.map((name) => {
      const [, column, number] = /^(.*?)[\s=:]+(\S+)$/.exec(name) ?? [];
      if (!column || !Number.isFinite(Number(number))) throw new Error(`“${name}”: expected a feature and its number, such as “height 1.5”.`);
      return [column, Number(number)];
    }),
  );
}

/** See inputs/index.js. */
export const node = {
  fits: (schema) => ["node", "features", "neighbours"].every((name) => name in (schema.properties ?? {})),

  parse(line) {
    if (line.trim().startsWith("{")) return objectIn(line, "an object with node, or with features and neighbours");
    if (line.trim() === "") throw new Error("Expected the name of a node.");
    return {node: line.trim()};
  },

  fromCells: (header, cells) => node.parse(cells[Math.max(0, header?.findIndex((name) => name.trim() === "node") ?? 0)] ?? ""),

  takes: (input) => !isNew(input) || (isTexts(input.neighbours ?? []) && (isTexts(input.features) || Object.values(input.features).every(Number.isFinite))),

  text: (input) => (isNew(input) ? JSON.stringify(input) : String(input.node)),

  caption,

  mount(host, {schema, changed, label, describedBy, names}) {
    const {node: known, features} = schema.properties;
    const isDense = Boolean(features.additionalProperties);
    const hint = freshId("hint");
    const suggest = (property) => async (text) => (await names(property, text)).map((value) => ({value}));
    const search = new Combobox({
      label: "node",
      placeholder: "type to search",
      describedBy: `${hint} ${describedBy}`,
      suggest: suggest("node"),
      free: true,
      chosen: () => changed({now: true}),
    });
    const own = {
      features: new Chips({
        label: "Features",
        adds: isDense ? "Add a feature and its number" : "Add a feature",
        suggest: suggest("features"),
        changed,
        describedBy,
      }),
      neighbours: new Chips({label: "Neighbours", adds: "Add a neighbour", suggest: suggest("node"), changed, describedBy}),
    };
    const group = freshId("node");
    const parts = {
      known: element(
        "div",
        {},
        search.node,
        element("p", {class: "hint", id: hint, text: `${count(known.known?.count ?? 0)} nodes, by name`}),
      ),
      fresh: element("div", {class: "new-node", hidden: true}, ...Object.entries(own).map(([name, chips]) => element("div", {}, element("span", {class: "field-name", text: name}), chips.node))),
    };
    let chosen = "known";
    const choose = (part) => {
      chosen = part;
      for (const [name, element_] of Object.entries(parts)) element_.hidden = name !== part;
      box.querySelector(`[value=${part}]`).checked = true;
    };
    const radio = (part, text) =>
      element("label", {}, element("input", {type: "radio", name: group, value: part, on: {change: () => (choose(part), changed())}}), text);
    const box = element(
      "div",
      {class: "input-node", role: "group", "aria-label": label},
      element("div", {class: "choice-line"}, radio("known", "A node of the graph"), radio("fresh", "A new one")),
      parts.known,
      parts.fresh,
    );
    host.append(box);
    choose("known");
    return {
      read() {
        if (chosen === "known") return search.value === "" ? {problem: "Which node?"} : {input: {node: search.value}};
        try {
          const given = own.features.names;
          if (given.length + own.neighbours.names.length === 0) return {problem: "What are the features of the new node, or its neighbours?"};
          return {input: {features: isDense ? numbersOf(given) : given, neighbours: own.neighbours.names}};
        } catch (failure) {
          return {problem: failure.message};
        }
      },
      write(input) {
        choose(isNew(input) ? "fresh" : "known");
        if (!isNew(input)) return void (search.value = String(input.node ?? ""));
        own.features.names = isTexts(input.features) ? input.features : Object.entries(input.features).map(([name, value]) => `${name} ${value}`);
        own.neighbours.names = input.neighbours ?? [];
      },
      focus: () => (chosen === "known" ? search.focus() : own.features.focus()),
    };
  },
};
