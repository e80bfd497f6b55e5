// The nodes that a node looks at as a ranked list of buttons, above it the nodes that a search found.
import {element} from "fovea/parts/dom.js";
import {count, number} from "fovea/parts/format.js";
import {addLooks} from "fovea/parts/looks.js";

const mostRows = 100;
const mostFound = 8;

/** Elements for {neighbours: [{unit, weight}], scale, found, colours, isTrue(), name(), walk()}. */
export function rankedList(options) {
  addLooks(rules);
  const {neighbours, found} = options;
  const rows = neighbours.slice(0, mostRows).map((entry, place) => row(entry, place, options));
  const more = neighbours.length - rows.length;
  return [
    ...(found.size > 0 ? foundList(options) : []),
    heading(neighbours.length > 0 ? "Looks at" : "Looks at no node"), element("ol", {class: "ranked"}, rows),
    ...(more > 0 ? [element("p", {class: "message", text: `… and ${count(more)} more in the CSV.`})] : []),
  ];
}

function heading(text) {
  return element("h2", {class: "ranked-heading", text});
}

function foundList({found, name, walk}) {
  const buttons = [...found].slice(0, mostFound).map((unit) =>
    element("button", {type: "button", class: "ranked-found", on: {click: () => walk(unit)}},
      element("bdi", {text: name(unit)})));
  return [heading(`Found ${count(found.size)}`),
    element("ul", {class: "ranked"}, buttons.map((button) => element("li", {}, button)))];
}

function row({unit, weight}, place, {scale, colours, isTrue, name, walk}) {
  const facts = [colours.text(unit), isTrue(unit) ? "known to matter" : ""].filter(Boolean).join(" · ");
  const width = `${(100 * Math.abs(weight)) / scale.ceiling}%`;
  const background = scale.colour(weight);
  return element("li", {}, element("button", {
    type: "button", class: "ranked-row", on: {click: () => walk(unit)},
  },
  element("span", {class: "ranked-number", style: {borderColor: colours.colour(unit)}, text: place + 1}),
  element("span", {class: "ranked-name"}, element("bdi", {text: name(unit)}),
    facts && element("span", {class: "quiet", text: facts})),
  element("span", {text: number(weight)}),
  element("span", {class: "ranked-bar", style: {width, background}})));
}

const rules = `
.ranked-heading { font-size: 0.8667rem; color: var(--quiet); font-weight: 600; margin-bottom: 0.35rem; }
.ranked { list-style: none; margin: 0 0 1.25rem; padding: 2px; }
.ranked-row {
  position: relative; display: grid; grid-template-columns: 1.9rem minmax(0, 1fr) auto; gap: 0.6rem;
  align-items: center; width: 100%; padding: 0.45rem 0.3rem; text-align: start; background: none;
  border: 0; border-radius: 0; border-bottom: 1px solid var(--rule);
}
.ranked-row:hover, .ranked-found:hover { background: var(--surface); }
.ranked-number {
  display: grid; place-items: center; width: 1.6rem; height: 1.6rem; border-radius: 50%; border: 3px solid;
  font-size: 0.75rem;
}
.ranked-name { display: grid; line-height: 1.35; overflow-wrap: anywhere; }
.ranked-name .quiet { font-size: 0.75rem; }
.ranked-bar { position: absolute; inset-inline-start: 0; bottom: -1px; height: 4px; border: 1px solid var(--quiet); }
.ranked-found { width: 100%; text-align: start; background: none; border: 0; color: var(--accent); }
@container (min-width: 52rem) {
  .ranked { max-height: max(26rem, 74vh); overflow-y: auto; }
}
`;
