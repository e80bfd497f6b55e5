// A text field with a list of suggestions below it: type to search, arrows to move, Enter to choose. The list
// lies above everything else, so that it pushes nothing away and nothing cuts it off.

import {clear, element} from "fovea/parts/dom.js";
import {freshId} from "fovea/page/fields/identity.js";

const mostNames = 50; // that the server tells at once
const pause = 120; // before the suggestions are asked for, while somebody types
const wide = 416; // pixels of the list, where there is room

/**
 * `options`:
 *   label          of the field
 *   suggest(text)  the suggestions, or a Promise of them: [{value, title, aside, detail}]; all but value may be left out
 *   chosen(value)  hears what was chosen from the list or, where it is `free`, entered as it stands; half a name is
 *                  not told, only what stands there at Enter or when the field is left
 *   free           whether any text is a value
 *   placeholder, describedBy
 */
export class Combobox {
  #options;
  #suggestions = [];
  #active = -1;
  #value = "";
  #asked = 0;
  #timer = 0;
  #popup;
  #list;
  #count = element("p", {class: "combobox-count", "aria-hidden": "true"});
  #said = element("span", {class: "visually-hidden", role: "status"});

  constructor(options) {
    this.#options = options;
    const listId = freshId("suggestions");
    this.field = element("input", {
      type: "text",
      role: "combobox",
      class: "combobox-field",
      autocomplete: "off",
      spellcheck: "false",
      dir: "auto",
      "aria-label": options.label,
      "aria-autocomplete": "list",
      "aria-expanded": "false",
      "aria-controls": listId,
      "aria-describedby": options.describedBy,
      placeholder: options.placeholder,
      on: {
        focus: () => this.field.select(),
        click: () => this.open(),
        input: () => this.#edited(),
        keydown: (event) => this.#key(event),
        blur: () => this.#leave(),
      },
    });
    this.#list = element("div", {class: "combobox-list", id: listId, role: "listbox", "aria-label": options.label});
    // The field keeps the focus.
    const on = {mousedown: (event) => event.preventDefault()};
    this.#popup = element("div", {class: "combobox-popup", popover: "manual", on}, this.#list, this.#count);
    this.node = element("span", {class: "combobox"}, this.field, this.#popup, this.#said);
  }

  get value() {
    return this.#options.free ? this.field.value.trim() : this.#value;
  }

  set value(text) {
    this.#value = text;
    this.field.value = text;
  }

  get isOpen() {
    return this.#popup.matches(":popover-open");
  }

  focus() {
    this.field.focus();
    this.open();
  }

  /** Shows all suggestions, the one that is chosen marked. */
  open() {
    if (!this.isOpen) this.#suggest("");
  }

  close() {
    clearTimeout(this.#timer);
    this.#timer = 0;
    ++this.#asked;
    if (this.isOpen) this.#popup.hidePopover();
    this.field.setAttribute("aria-expanded", "false");
    this.field.removeAttribute("aria-activedescendant");
    window.removeEventListener("resize", this.#place);
    document.removeEventListener("scroll", this.#scrolled, true);
  }

  #edited() {
    clearTimeout(this.#timer);
    this.#active = -1;
    this.#timer = setTimeout(() => this.#suggest(this.field.value.trim()), pause);
  }

  async #suggest(text) {
    clearTimeout(this.#timer);
    this.#timer = 0;
    const asked = ++this.#asked;
    let suggestions = [];
    try {
      suggestions = await this.#options.suggest(text);
    } catch {
      // The field still takes what is typed; that the server does not answer is said at the top.
    }
    if (asked !== this.#asked || !this.field.isConnected || document.activeElement !== this.field) return;
    this.#suggestions = suggestions;
    // Where any text is a value, Enter must not take another than the one that stands there.
    const here = this.#options.free ? -1 : suggestions.findIndex(({value}) => value === this.#value);
    const isSearched = text !== "" && suggestions.length > 0 && !this.#options.free;
    this.#active = here < 0 && isSearched ? 0 : here;
    this.#show();
  }

  #show() {
    const found = this.#suggestions.length;
    const said = found === 0 ? "Nothing found." : found === mostNames ? `The first ${found}: type to find others` : `${found} in the list`;
    this.#said.textContent = this.#count.textContent = said;
    if (found === 0 && this.#options.free) return this.close();
    clear(this.#list).append(...this.#suggestions.map((one, place) => this.#entry(one, place)));
    this.#list.hidden = found === 0;
    if (!this.isOpen) {
      this.#popup.showPopover();
      this.field.setAttribute("aria-expanded", "true");
      window.addEventListener("resize", this.#place);
      document.addEventListener("scroll", this.#scrolled, true);
    }
    this.#place();
    this.#mark();
  }

  #entry({value, title = value, aside, detail}, place) {
    return element(
      "div",
      {
        class: "combobox-entry",
        role: "option",
        id: `${this.#list.id}-${place}`,
        "aria-selected": String(value === this.#value),
        on: {click: () => this.#choose(place)},
      },
      element("bdi", {class: "combobox-title", text: title}),
      aside && element("span", {class: "combobox-aside", text: aside}),
      detail && element("bdi", {class: "combobox-detail", title: detail, text: detail}),
    );
  }

  // Below the field, or above it where there is more room.
  #place = () => {
    const {left, top, bottom, width} = this.field.getBoundingClientRect();
    const below = innerHeight - bottom - 12;
    const above = top - 12;
    const isBelow = below > 220 || below > above;
    const across = Math.min(Math.max(width, wide), innerWidth - 16);
    Object.assign(this.#popup.style, {
      width: `${across}px`,
      left: `${Math.max(8, Math.min(left, innerWidth - across - 8))}px`,
      maxHeight: `${Math.min(isBelow ? below : above, 440)}px`,
      top: isBelow ? `${bottom + 4}px` : "auto",
      bottom: isBelow ? "auto" : `${innerHeight - top + 4}px`,
    });
  };

  #scrolled = (event) => {
    if (event.target !== this.#list) this.#place();
  };

  #mark() {
    const entries = this.#list.querySelectorAll("[role=option]");
    entries.forEach((entry, place) => entry.classList.toggle("active", place === this.#active));
    const active = entries[this.#active];
    if (!active) return this.field.removeAttribute("aria-activedescendant");
    this.field.setAttribute("aria-activedescendant", active.id);
    active.scrollIntoView({block: "nearest"});
  }

  #choose(place) {
    const {value} = this.#suggestions[place];
    this.close();
    this.value = value;
    this.#options.chosen(value);
  }

  #key(event) {
    const {key} = event;
    const step = {ArrowDown: 1, ArrowUp: -1, PageDown: 8, PageUp: -8}[key];
    if (step) {
      event.preventDefault();
      if (!this.isOpen) return this.open();
      const last = this.#suggestions.length - 1;
      const wraps = Math.abs(step) === 1;
      const next = this.#active + step;
      this.#active = next < 0 ? (wraps ? last : 0) : next > last ? (wraps ? 0 : last) : next;
      return this.#mark();
    }
    if (key === "Enter" && !event.ctrlKey && !event.metaKey) {
      event.preventDefault();
      this.#enter();
    }
    if (key === "Escape" && this.isOpen) {
      event.preventDefault();
      event.stopPropagation();
      this.close();
      if (!this.#options.free) this.field.value = this.#value;
    }
  }

  async #enter() {
    const {free} = this.#options;
    if (this.#timer && !free) await this.#suggest(this.field.value.trim());
    if (this.isOpen && this.#active >= 0) return this.#choose(this.#active);
    if (!free) return this.open();
    this.close();
    this.#enterAsItStands();
  }

  #leave() {
    this.close();
    if (!this.#options.free) this.field.value = this.#value;
    else if (this.value !== this.#value) this.#enterAsItStands();
  }

  #enterAsItStands() {
    this.#value = this.value;
    this.#options.chosen(this.#value);
  }
}
