// What was taken away from the input of an explanation, and what that changed: for a report, where nothing can be
// brought back.
import {element} from "fovea/parts/dom.js";
import {count, visible} from "fovea/parts/format.js";
import {addLooks} from "fovea/parts/looks.js";
import {changeBlock} from "fovea/whatif/change.js";

/** The block for an explanation's `without`; null where it has none. */
export function awayNote({value: {without}, prediction}) {
  if (!without) return null;
  return element("section", {class: "whatif", "aria-label": "What if"}, element("h2", {text: "Without a part of the input"}),
    awayList(without.units), changeBlock(without.before, prediction),
    without.predictions && element("p", {class: "quiet", text: foundText(unitCount(without.units), without.predictions)}));
}

/** How a set was found that changes the answer. */
export function foundText(units, predictions) {
  const found = `Found in ${count(predictions)} predictions`;
  if (units === 1) return `This unit alone changes the answer. ${found}.`;
  return `Without these ${units} units the answer is another one; bring back any one of them and it is as before. ` +
    `${found}; a smaller set may exist.`;
}

/** How many units there are in the lists. */
export function unitCount(units) {
  return units.reduce((sum, {units: places}) => sum + places.length, 0);
}

/** The units as a list of chips; `back(axis, unit)` brings one back, where that can be. */
export function awayList(units, back = null) {
  addLooks(rules);
  const chip = (axis, unit, label) => element("li", {class: "away-chip"},
    element("s", {}, element("bdi", {text: visible(label)})), element("span", {class: "quiet", text: ` ${visible(axis)} ${unit + 1}`}),
    back && element("button", {
      type: "button", text: "↺", title: "Bring it back", "aria-label": `Bring back ${visible(label)}, ${visible(axis)} ${unit + 1}`,
      on: {click: () => back(axis, unit)},
    }));
  return element("ul", {class: "away-chips", "aria-label": "Taken away"},
    units.flatMap(({axis, units: places, labels}) => places.map((unit, place) => chip(axis, unit, labels[place]))));
}

const rules = `
.whatif {
  max-width: 62rem; display: grid; grid-template-columns: minmax(0, 1fr); gap: 0.6rem; padding: 0.7rem 0.9rem;
  border: 1px solid var(--rule); border-radius: 8px; background: var(--surface);
}
.whatif h2 { font-size: 0.9333rem; }
.away-chips { display: flex; flex-wrap: wrap; gap: 0.4rem; list-style: none; margin: 0; padding: 0; }
.away-chip {
  display: flex; align-items: center; gap: 0.4rem; max-width: 100%; padding: 0.15rem 0.3rem 0.15rem 0.7rem;
  border: 1px solid var(--rule); border-radius: 1rem; background: var(--paper); font-size: 0.8667rem; overflow-wrap: anywhere;
}
.away-chip button { min-height: 1.7rem; min-width: 1.7rem; padding: 0; border-radius: 50%; }
`;
