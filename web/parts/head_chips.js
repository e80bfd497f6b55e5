// Switches for the heads whose weights are drawn together, each with the colour of its lines.
import {series} from "fovea/parts/colour.js";
import {element} from "fovea/parts/dom.js";

/** Fills `node` with a switch for each of `choices` (maps); `onChange(maps)` gets those that are on then. */
export function showHeadChips(node, choices, shown, onChange) {
  node.hidden = choices.length === 0;
  const toggled = (map) => choices.filter((other) => shown.includes(other) !== (other === map));
  const chip = (map, place) => element("button", {
    type: "button", class: "head-chip", "aria-pressed": String(shown.includes(map)),
    style: {"--chip": map.head === 0 ? "var(--accent)" : series(place - 1)},
    text: map.head === 0 ? "mean" : `head ${map.head}`,
    on: {
      click: () => {
        onChange(toggled(map));
        node.children[place]?.focus();  // the new switch in the place of this one
      },
      keydown: (event) => step(node, place, event),
    },
  });
  node.replaceChildren(...choices.map(chip));
}

// The arrow keys go to the switch beside it.
function step(node, place, event) {
  const by = {ArrowRight: 1, ArrowLeft: -1}[event.key];
  if (!by) return;
  event.preventDefault();
  event.stopPropagation();
  node.children[(place + by + node.children.length) % node.children.length].focus();
}
