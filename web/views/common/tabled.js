// Every view with the table of its numbers under it, which opens with a button. The table is built when it is
// opened, and anew when what is shown changes.
import {placeName} from "fovea/model/family.js";
import {element} from "fovea/parts/dom.js";
import {csvText} from "fovea/parts/export.js";
import {onPrint, pageWidth} from "fovea/parts/printing.js";
import {addLooks} from "fovea/parts/looks.js";
import {numberTable} from "fovea/parts/number_table.js";

const settling = 200;  // milliseconds after the last change
const unseen = new Set(["key", "search", "theme"]);  // what changes no numbers

/** The view with its table: a view as the shell mounts it, see web/README.md. */
export function withTable(view) {
  return {...view, mount: (host, context) => new Tabled(view, host, context)};
}

class Tabled {
  constructor(view, host, context) {
    addLooks(rules);
    Object.assign(this, {host, context, turn: 0, timer: 0});
    const picture = element("div", {class: "view-picture"});
    this.button = element("button", {
      type: "button", class: "button-plain table-button", "aria-expanded": "false",
      on: {click: () => context.set({table: context.state.get("table") ? 0 : 1})},
    });
    this.place = element("div", {
      class: "number-table-place", role: "region", "aria-label": "Numbers as a table", tabindex: 0,
    });
    host.append(picture, this.button, this.place);
    this.view = view.mount(picture, context);
    this.endPrint = onPrint((printing) => {
      picture.style.width = printing ? `${pageWidth}px` : "";
      this.view.resize();
    });
    this.#show();
  }

  update(changed) {
    this.view.update(changed);
    if (changed.has("table")) return this.#show();
    if (!this.#isOpen || [...changed].every((key) => unseen.has(key))) return;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.#fill(), settling);
  }

  resize() {
    this.view.resize();
  }

  svg() {
    return this.view.svg();
  }

  howToRead() {
    return this.view.howToRead?.() ?? {};
  }

  /** The maps that the picture is of. */
  drawnMaps() {
    return this.view.drawnMaps?.() ?? [this.context.map];
  }

  /** All numbers of the view. */
  async csv() {
    const rows = [];
    for await (const row of this.view.numbers(true)) rows.push(row);
    return csvText(rows);
  }

  describe() {
    return this.view.describe();
  }

  destroy() {
    ++this.turn;
    clearTimeout(this.timer);
    this.endPrint();
    this.view.destroy();
    this.host.replaceChildren();
  }

  get #isOpen() {
    return this.context.state.get("table") === 1;
  }

  #show() {
    this.button.textContent = this.#isOpen ? "Hide the table" : "Show as table";
    this.button.setAttribute("aria-expanded", String(this.#isOpen));
    this.place.hidden = !this.#isOpen;
    if (this.#isOpen) this.#fill();
    else this.place.replaceChildren();
  }

  async #fill() {
    const turn = ++this.turn;
    const caption = [this.context.map.title, placeName(this.drawnMaps())].filter(Boolean).join(", ");
    const shown = await numberTable(this.view.numbers(false), caption)
      .catch((error) => element("p", {class: "message", text: `The numbers cannot be read: ${error.message}`}));
    if (turn === this.turn && this.#isOpen) this.place.replaceChildren(shown);
  }
}

const rules = `
.table-button { margin: 0.5rem 0 0 -0.65rem; }
.number-table-place {
  max-height: min(32rem, 80vh); margin-top: 0.5rem; overflow: auto; border: 1px solid var(--rule);
  border-radius: 6px;
}
.number-table-place .message { padding: 0.75rem; }
`;
