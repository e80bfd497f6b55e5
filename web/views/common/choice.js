// A row of buttons of which one is chosen, as a radio group: the arrow keys choose, one tab stop for all.
// Also the one that chooses a map's query.
import {element} from "fovea/parts/dom.js";
import {count, shorten, visible} from "fovea/parts/format.js";
import {addLooks} from "fovea/parts/looks.js";

const mostButtons = 300;
const longestLabel = 60;
const steps = {ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1};

/** `options`: [{value, text}]; `choose(value)` is called when the reader picks another. */
export class Choice {
  constructor(name, options, choose, look = "joined") {
    addLooks(rules);
    this.options = options;
    this.choose = choose;
    this.buttons = options.map(({text}, index) =>
      element(
        "button",
        {
          type: "button",
          role: "radio",
          "aria-checked": "false",
          tabindex: -1,
          on: {click: () => this.#pick(index)},
        },
        element("bdi", {text}),
      ),
    );
    this.element = element(
      "div",
      {
        class: `choice ${look}`,
        role: "radiogroup",
        "aria-label": name,
        on: {keydown: (event) => this.#step(event)},
      },
      this.buttons,
    );
  }

  /** Shows what is chosen. */
  select(value) {
    const chosen = Math.max(
      0,
      this.options.findIndex((option) => option.value === value),
    );
    this.buttons.forEach((button, index) => {
      button.setAttribute("aria-checked", String(index === chosen));
      button.tabIndex = index === chosen ? 0 : -1;
    });
  }

  #pick(index) {
    this.choose(this.options[index].value);
  }

  #step(event) {
    const step = steps[event.key];
    if (!step) return;
    event.preventDefault();
    event.stopPropagation();
    const at = this.buttons.findIndex((button) => button.tabIndex === 0);
    const next = (at + step + this.buttons.length) % this.buttons.length;
    this.buttons[next].focus();
    this.#pick(next);
  }
}

/** {element, select(query)} that chooses the query of the context's map; null where there is only one. */
export function queryChoice({map, set}) {
  const {labels, kind, size} = map.queryAxis;
  if (size < 2) return null;
  const name = `${kind || "query"} that looks`;
  const options = labels.map((label, value) => ({value, text: shorten(visible(label), longestLabel)}));
  const choose = (query) => set({query});
  const choice =
    size <= mostButtons ? new Choice(name, options, choose, "loose") : new LongChoice(name, options, choose);
  const shown = element("span", {class: "choice-name", text: map.queryAxis.name});
  return {
    element: element("div", {class: "choice-named"}, shown, choice.element),
    select: (query) => choice.select(query),
  };
}

/** The query that the state names, within the map. */
export function chosenQuery({state, map}) {
  return Math.min(Math.max(0, state.get("query")), map.queryAxis.size - 1);
}

class LongChoice {
  constructor(name, options, choose) {
    this.list = element(
      "select",
      {"aria-label": name, on: {change: () => choose(Number(this.list.value))}},
      options.map(({value, text}) => element("option", {value, text})),
    );
    this.element = element(
      "label",
      {class: "choice-long"},
      `${count(options.length)} to choose from `,
      this.list,
    );
  }

  select(value) {
    this.list.value = String(value);
  }
}

const rules = `
.choice { display: inline-flex; flex-wrap: wrap; }
.choice button {
  padding: 0.3rem 0.7rem; min-height: 1.9rem; background: none; color: var(--quiet); font-size: 0.8125rem;
  line-height: 1.3;
}
.choice button:hover { color: var(--ink); }
.choice button[aria-checked="true"] {
  color: var(--accent-ink); background: var(--accent); border-color: var(--accent);
}
.choice.joined button { border-radius: 0; }
.choice.joined button:not(:first-child) { margin-inline-start: -1px; }
.choice.joined button:first-child { border-start-start-radius: 6px; border-end-start-radius: 6px; }
.choice.joined button:last-child { border-start-end-radius: 6px; border-end-end-radius: 6px; }
.choice.loose { gap: 0.25rem; max-height: 9rem; overflow-y: auto; padding: 3px; margin: -3px; }
.choice.loose button { border-radius: 6px; padding: 0.2rem 0.55rem; color: var(--ink); }
.choice.loose button[aria-checked="true"] { color: var(--accent-ink); }
.choice-named { display: grid; grid-template-columns: minmax(0, 1fr); gap: 0.3rem; }
.choice-name, .choice-long { font-size: 0.8125rem; color: var(--quiet); }
`;
