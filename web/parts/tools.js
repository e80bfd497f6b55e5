// The search box and the threshold slider.
import {element} from "fovea/parts/dom.js";
import {percent, visible} from "fovea/parts/format.js";
import {matchPosition, nextMatch} from "fovea/parts/search.js";

/** `shell`: {state, map, announce(text)}. */
export class Tools {
  constructor(shell) {
    this.shell = shell;
    this.search = element("input", {
      type: "search", placeholder: "Search labels", "aria-label": "Search labels", dir: "auto",
      on: {
        input: () => shell.state.set({search: this.search.value}), keydown: (event) => this.#searchKey(event),
      },
    });
    this.found = element("span", {class: "quiet", role: "status"});
    this.threshold = element("input", {
      type: "range", min: 0, max: 1, step: 0.01,  // its square is the threshold: small weights differ most
      "aria-label": "Hide weights below this share of the largest",
      on: {input: () => shell.state.set({threshold: Number((this.threshold.value ** 2).toFixed(4))})},
    });
    this.thresholdText = element("output");
    this.node = element("div", {class: "shell-tools"},
      element("span", {class: "field"}, this.search, this.found),
      element("label", {class: "field"}, "Hide below", this.threshold, this.thresholdText));
  }

  /** Follows the state. */
  show() {
    const {state, map} = this.shell;
    const search = state.get("search");
    if (this.search.value !== search) this.search.value = search;
    this.threshold.value = Math.sqrt(state.get("threshold"));
    this.threshold.setAttribute("aria-valuetext", percent(state.get("threshold")));
    this.thresholdText.textContent = percent(state.get("threshold"));
    this.found.textContent = search && map ? this.#position(map, search) : "";
  }

  /** Puts the cursor into the search box. */
  focusSearch() {
    this.search.focus();
    this.search.select();
  }

  #selected() {
    return {query: this.shell.state.get("query"), key: this.shell.state.get("key")};
  }

  #position(map, search) {
    const {index, count} = matchPosition(map, search, this.#selected());
    if (count === 0) return "nothing found";
    return index < 0 ? `${count} found` : `${index + 1} of ${count}`;
  }

  #searchKey(event) {
    const {state, map} = this.shell;
    if (event.key === "Escape") state.set({search: ""});
    if (event.key !== "Enter") return;
    const place = map && nextMatch(map, state.get("search"), this.#selected(), event.shiftKey ? -1 : 1);
    if (!place) return;
    state.set(place);
    const label = place.key >= 0 ? map.keyAxis.labels[place.key] : map.queryAxis.labels[place.query];
    this.shell.announce(`${visible(label)}, ${this.found.textContent}`);
  }
}
