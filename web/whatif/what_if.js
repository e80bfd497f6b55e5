// What if this were not there? Takes units of the input away, one by one or the smallest set found that changes the
// answer, and brings them back. The server answers anew each time; what is away lives in the state's `away`.
import {clear, element} from "fovea/parts/dom.js";
import {count, shorten, visible} from "fovea/parts/format.js";
import {addLooks} from "fovea/parts/looks.js";
import {Combobox} from "fovea/page/fields/combobox.js";
import {reasonOf} from "fovea/page/status.js";
import {readAway, withUnit, withoutUnit} from "fovea/whatif/away.js";
import {changeBlock} from "fovea/whatif/change.js";
import {awayList, foundText, unitCount} from "fovea/whatif/note.js";

const hint = "Choose a unit in the picture; Delete takes it away, too.";
const slow = 1000;  // from here on the search tells how far it is
const mostSuggestions = 50;
const longestLabel = 30;
const mostNamed = 3;
const controls = "button:not(.ranked-row), select, input, label, summary, textarea, [role=radio]";

/** `calls`: take(away) asks without these units, flip(axis, told, signal) -> Promise of what POST /v1/flip found,
    announce(text). */
export class WhatIf {
  #state;
  #calls;
  #explanation = null;
  #map = null;
  #stage = null;
  #flight = null;
  #isTaking = false;   // a click takes away what it hits
  #found = null;       // {away, text}: what the search said of that set
  #cameFrom = null;    // where the last change was asked for
  #said = element("p", {class: "quiet whatif-said", role: "status", text: hint});
  #takeChosen = element("button", {type: "button", on: {click: () => this.#take(this.#chosen())}});
  #toggle = element("button", {type: "button", "aria-pressed": "false", text: "Take away by clicking", on: {click: () => this.#switch()}});
  #flip = element("button", {type: "button", text: "Smallest change that changes the answer", on: {click: () => this.#search()}});
  #field = new Combobox({
    label: "Take away a unit of the input", placeholder: "Find a unit…",
    suggest: (text) => this.#suggest(text), chosen: (value) => this.#chose(value),
  });
  #tools = element("div", {class: "whatif-tools"}, this.#takeChosen, this.#toggle, this.#field.node, this.#flip);
  #progress = element("div", {class: "whatif-tools", hidden: true});
  #away = element("div", {class: "whatif-away"});

  constructor(state, calls) {
    addLooks(rules);
    this.#state = state;
    this.#calls = calls;
    this.node = element("section", {class: "whatif whatif-strip", role: "group", "aria-label": "What if"},
      element("h2", {tabindex: -1, text: "What if a part of the input were not there?"}), this.#tools, this.#progress, this.#said);
    /** What came of it stands below the picture, which must not move under the pointer. */
    this.result = element("section", {class: "whatif whatif-result", role: "group", "aria-label": "Taken away", hidden: true}, this.#away);
    this.unsubscribe = state.subscribe((changed) => ["query", "key"].some((key) => changed.has(key)) && this.#showChosen());
  }

  /** Takes up a new answer. */
  use(explanation) {
    this.#stop();
    this.#explanation = explanation;
    this.#map = null;
    const {without} = explanation.value;
    const isFound = this.#found && without && this.#found.away === this.#state.get("away");
    this.result.hidden = !without;
    clear(this.#away);
    if (without) {
      this.#away.append(
        element("div", {class: "whatif-chips"}, awayList(without.units, (axis, unit) => this.#bringBack(axis, unit)),
          element("button", {type: "button", text: "Bring all back", on: {click: () => this.#ask([], "strip")}})),
        changeBlock(without.before, explanation.prediction));
      if (isFound) this.#away.append(element("p", {class: "quiet", text: this.#found.text}));
    }
    if (!isFound) this.#found = null;
    this.#say("");
    this.node.hidden = this.#axes().length === 0;
    this.#showChosen();
  }

  /** A map is on screen: its units are taken away by click and key. */
  opened(map, stage) {
    this.#map = map;
    if (stage !== this.#stage) this.#listen(stage);
    this.#showChosen();
  }

  /** Puts the focus, where the answer `held` it, back to where the last change came from; whether there was one. */
  focus(held) {
    const from = this.#cameFrom;
    this.#cameFrom = null;
    if (!from || !held) return false;
    const place = from === "picture" && this.#stage?.querySelector("[tabindex='0']");
    (place || this.node.querySelector("h2")).focus({preventScroll: true});
    return true;
  }

  /** What the server did not do. */
  refuse(text) {
    this.#say(text);
    this.#calls.announce(text);
  }

  destroy() {
    this.#stop();
    this.unsubscribe();
  }

  // Axes of the input: what the model put out, or is asked as a whole, is none.
  #axes() {
    return this.#explanation.axes.filter((axis) => isOfInput(axis) && axis.size > (axis.special?.length ?? 0));
  }

  // What is chosen in the picture, {axis, unit}, or null: a key, or else the query that looks.
  #chosen() {
    if (!this.#map) return null;
    const {keyAxis, queryAxis} = this.#map;
    const [key, query] = [this.#state.get("key"), this.#state.get("query")];
    if (key >= 0 && key < keyAxis.size) return {axis: keyAxis, unit: key};
    return query >= 0 && query < queryAxis.size ? {axis: queryAxis, unit: query} : null;
  }

  #showChosen() {
    const pointed = this.#chosen();
    const chosen = pointed && isOfInput(pointed.axis) ? pointed : null;
    this.#takeChosen.disabled = !chosen;
    const name = chosen && shorten(visible(chosen.axis.labels[chosen.unit]), longestLabel);
    this.#takeChosen.textContent = chosen ? `Take away “${name}”` : "Choose a unit in the picture";
  }

  #switch() {
    this.#isTaking = !this.#isTaking;
    this.#toggle.setAttribute("aria-pressed", String(this.#isTaking));
    this.#stage?.classList.toggle("taking", this.#isTaking);
    this.#say(this.#isTaking ? "A click on a unit takes it away; with the keyboard: arrows, then Enter or Delete." : "");
  }

  #listen(stage) {
    this.#stage = stage;
    stage.classList.toggle("taking", this.#isTaking);
    let before = null;
    stage.addEventListener("click", (event) => {
      before = this.#isTaking && !event.target.closest(controls) ? {query: this.#state.get("query")} : null;
      if (before) this.#state.set({key: -1});  // views let go of what is chosen twice
    }, true);
    stage.addEventListener("click", () => before && this.#take(this.#clicked(before), "picture"));
    stage.addEventListener("keydown", (event) => {
      const isOnControl = event.target.closest(controls);
      const takes = event.key === "Delete" || (event.key === "Enter" && this.#isTaking);
      if (!takes || isOnControl || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      event.stopPropagation();
      this.#take(this.#chosen(), "picture");
    }, true);
  }

  // A click chooses a key; in some pictures a query, which then stays what it was.
  #clicked({query: before}) {
    const [key, query] = [this.#state.get("key"), this.#state.get("query")];
    if (key >= 0) return this.#chosen();
    if (query === before) return null;
    this.#state.set({query: before});
    return {axis: this.#map.queryAxis, unit: query >= 0 ? query : before};
  }

  #take(chosen, from = "strip") {
    if (!chosen) return;
    const {axis, unit} = chosen;
    const label = visible(axis.labels[unit]);
    if (!isOfInput(axis)) return this.refuse(`“${label}” is of the answer, not of the input: it cannot be taken away.`);
    if (axis.special?.includes(unit)) return this.refuse(`“${label}” is no part of the input: the model adds it.`);
    const away = this.#list();
    const next = withUnit(away, axis.name, unit);
    if (next === away) return this.refuse(`“${label}” is away already.`);
    const left = axis.size - (axis.special?.length ?? 0) - next.find(({axis: name}) => name === axis.name).units.length;
    if (left === 0) return this.refuse(`“${label}” is the last of the axis ${axis.name}: leave at least one.`);
    this.#state.set({key: -1});
    this.#ask(next, from);
  }

  #bringBack(axis, unit) {
    this.#ask(withoutUnit(this.#list(), axis, unit), "strip");
  }

  #ask(away, from) {
    this.#stop();
    this.#cameFrom = from;
    this.#calls.take(away);
  }

  #list() {
    return readAway(this.#state.get("away"));
  }

  #suggest(text) {
    const wanted = text.toLocaleLowerCase();
    const units = this.#axes().flatMap((axis) => axis.labels.map((label, unit) => ({axis, label, unit})));
    return units
      .filter(({axis, label, unit}) => label.toLocaleLowerCase().includes(wanted) && !axis.special?.includes(unit))
      .slice(0, mostSuggestions)
      .map(({axis, label, unit}) => ({value: `${unit} ${axis.name}`, title: visible(label), aside: `${axis.name} ${unit + 1}`}));
  }

  #chose(value) {
    this.#field.value = "";
    const [, unit, name] = /^(\d+) (.*)$/s.exec(value) ?? [];
    const axis = this.#explanation.axis(name);
    if (axis) this.#take({axis, unit: Number(unit)});
  }

  async #search() {
    this.#stop();
    this.#say("");
    const flight = new AbortController();
    this.#flight = flight;
    const bar = element("progress", {"aria-label": "Predictions so far"});
    const text = element("span", {class: "quiet", text: "Looking for it…"});
    const cancel = element("button", {type: "button", text: "Cancel", on: {click: () => flight.abort()}});
    const timer = setTimeout(() => {
      clear(this.#progress).append(bar, text, cancel);
      this.#progress.hidden = false;
    }, slow);
    const told = ({predictions, most_predictions: most}) => {
      [bar.value, bar.max] = [predictions, most];
      text.textContent = `${count(predictions)} of at most ${count(most)} predictions`;
    };
    this.#flip.disabled = true;
    const own = this.#map?.keyAxis;
    const axis = own && isOfInput(own) ? own.name : "";
    try {
      const found = await this.#calls.flip(axis, told, flight.signal);
      if (this.#flight !== flight) return;
      this.#show(found);
    } catch (error) {
      if (this.#flight === flight) this.refuse(flight.signal.aborted ? "Cancelled." : reasonOf(error));
    } finally {
      clearTimeout(timer);
      if (this.#flight === flight) this.#stop();
    }
  }

  #show({axis, units, most, predictions}) {
    if (units.length === 0) {
      const set = most === 1 ? "single unit" : `set of up to ${most} units`;
      return this.refuse(`No ${set} of ${axis} changes the answer (${count(predictions)} predictions).`);
    }
    const away = [{axis, units}];
    const text = foundText(unitCount(away), predictions);
    this.#ask(away, "strip");
    this.#found = {away: this.#state.get("away"), text};
    this.#calls.announce(text);
  }

  #stop() {
    const flight = this.#flight;
    this.#flight = null;
    flight?.abort();
    this.#progress.hidden = true;
    this.#flip.disabled = false;
  }

  #say(text) {
    const {without} = this.#explanation?.value ?? {};
    this.#said.textContent = text || (without ? awayText(without.units) : hint);
  }
}

function awayText(units) {
  const labels = units.flatMap((some) => some.labels.map((label) => `“${shorten(visible(label), longestLabel)}”`));
  const names = labels.length <= mostNamed ? labels.join(", ") : `${labels.length} units`;
  return `Without ${names}: the answers before and after stand below the picture.`;
}

function isOfInput({output, kind}) {
  return !output && kind !== "prediction";
}

const rules = `
.whatif-tools { display: flex; flex-wrap: wrap; align-items: center; gap: 0.4rem 0.6rem; }
.whatif-said { font-size: 0.8667rem; }
.whatif-tools button, .whatif-tools input { font-size: 0.8667rem; }
.whatif-tools input { width: 12rem; max-width: 100%; }
.whatif-tools [aria-pressed="true"] { color: var(--accent-ink); background: var(--accent); border-color: var(--accent); }
.whatif-away { display: grid; grid-template-columns: minmax(0, 1fr); gap: 0.6rem; }
.whatif-chips { display: flex; flex-wrap: wrap; align-items: center; gap: 0.4rem 0.8rem; }
.whatif-chips button { font-size: 0.8667rem; }
.shell-stage.taking { outline: 2px dashed var(--accent); outline-offset: 4px; border-radius: 6px; }
.shell-stage.taking canvas, .shell-stage.taking svg, .shell-stage.taking .word { cursor: not-allowed; }
@media print { .whatif-strip, .whatif-result button { display: none !important; } }
`;
