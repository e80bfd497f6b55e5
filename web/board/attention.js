// How attention comes to be: the maps of one validation row, and a slider over the epochs in which they were
// kept.
import {Explanation} from "fovea/model/explanation.js";
import {State} from "fovea/model/state.js";
import {clear, element} from "fovea/parts/dom.js";
import {visible} from "fovea/parts/format.js";
import {Shell} from "fovea/shell.js";

const stepMilliseconds = 450;

/** `board`: {settings, announce(text), look(run, line, key) -> Promise of an explanation}. */
export class AttentionOverTime {
  #board;
  #runs = [];
  #shell = null;
  #shown = "";
  #playing = 0;
  #state;

  constructor(board) {
    this.#board = board;
    const {settings} = board;
    this.#state = State.fromText(settings.get("view"));
    this.#state.set({theme: settings.get("theme")});
    this.#state.subscribe(() => settings.set({view: this.#state.toText(), theme: this.#state.get("theme")}));
    this.run = element("select", {"aria-label": "Run", on: {change: () => settings.set({run: Number(this.run.value), row: -1, epoch: -1})}});
    this.row = element("select", {"aria-label": "Validation row", on: {change: () => settings.set({row: Number(this.row.value), epoch: -1})}});
    this.slider = element("input", {type: "range", min: 0, step: 1, class: "board-slider", "aria-label": "Epoch", on: {input: () => this.#slide(Number(this.slider.value))}});
    this.epoch = element("output", {class: "board-epoch"});
    this.play = element("button", {type: "button", text: "Play", on: {click: () => (this.#playing ? this.#stop() : this.#start())}});
    this.host = element("div", {class: "board-picture"});
    this.problem = element("p", {class: "message", role: "status", hidden: true});
    this.node = element("section", {class: "board-section", hidden: true},
      element("h2", {text: "How attention comes to be"}),
      element("p", {class: "quiet", text: "One validation row, always the same, as the network looked at it before the first epoch and after later ones."}),
      element("div", {class: "board-time"}, this.run, this.row, this.play, this.slider, this.epoch),
      this.problem, this.host);
  }

  /** Another theme was chosen. */
  setTheme(theme) {
    this.#state.set({theme});
  }

  /** The runs have news, or the settings have changed. */
  show(runs) {
    this.#runs = runs.filter(({attention}) => attention.length > 0);
    this.node.hidden = this.#runs.length === 0;
    if (this.node.hidden) return;
    const {settings} = this.#board;
    const run = this.#current();
    options(this.run, this.#runs.map((one) => [one.index, visible(one.name)]), run.index);
    this.run.hidden = this.#runs.length < 2;
    const rows = [...new Set(run.attention.map(({row}) => row))];
    const row = rows.includes(settings.get("row")) ? settings.get("row") : rows[0];
    options(this.row, rows.map((number) => [number, `Row ${number + 1}`]), row);
    this.row.hidden = rows.length < 2;
    this.looks = run.attention.map((look, line) => ({...look, line})).filter((look) => look.row === row);
    const wanted = settings.get("epoch");
    const found = this.looks.findLastIndex(({epoch}) => epoch <= wanted);
    const place = wanted < 0 || found < 0 ? this.looks.length - 1 : found;
    this.slider.max = String(this.looks.length - 1);
    this.slider.value = String(place);
    this.slider.disabled = this.play.disabled = this.looks.length < 2;
    this.#draw(run, place);
  }

  #current() {
    return this.#runs.find(({index}) => index === this.#board.settings.get("run")) ?? this.#runs[0];
  }

  // The newest is followed when more epochs come.
  #slide(place) {
    const isLast = place === this.looks.length - 1;
    this.#board.settings.set({epoch: isLast ? -1 : this.looks[place].epoch});
  }

  #start() {
    const next = (place) => {
      if (place >= this.looks.length) return this.#stop();
      this.#slide(place);
      this.#playing = setTimeout(() => next(Number(this.slider.value) + 1), stepMilliseconds);
    };
    this.play.textContent = "Stop";
    const at = Number(this.slider.value);
    next(at === this.looks.length - 1 ? 0 : at + 1);
  }

  #stop() {
    clearTimeout(this.#playing);
    this.#playing = 0;
    this.play.textContent = "Play";
  }

  async #draw(run, place) {
    const look = this.looks[place];
    const last = this.looks.at(-1).epoch;
    this.epoch.textContent = look.epoch === 0 ? "before the first epoch" : `after epoch ${look.epoch}`;
    this.slider.setAttribute("aria-valuetext", `${this.epoch.textContent}, of ${last}`);
    const key = `${run.index} ${look.row} ${look.epoch} ${look.step}`;
    if (key === this.#shown) return;
    this.#shown = key;
    try {
      const json = await this.#board.look(run.index, look.line, key);
      if (this.#shown !== key) return;
      this.#replace(json);
      this.problem.hidden = true;
    } catch (failure) {
      if (this.#shown !== key) return;
      this.#shown = "";
      this.problem.hidden = false;
      this.problem.textContent = `The picture of this epoch cannot be shown: ${failure.message}`;
    }
  }

  #replace(json) {
    const explanation = Explanation.fromJson(json);
    // The page must not jump while one picture takes the place of the other.
    this.host.style.minHeight = `${this.host.offsetHeight}px`;
    this.#shell?.destroy();
    this.#shell = new Shell(clear(this.host), explanation, {state: this.#state, compact: true});
    const {theme} = this.#shell.actions;
    if (theme) theme.hidden = true;  // the page has one
    setTimeout(() => (this.host.style.minHeight = ""), 200);
  }
}

function options(select, entries, chosen) {
  const wanted = JSON.stringify(entries);
  if (select.dataset.entries !== wanted) {
    select.dataset.entries = wanted;
    clear(select).append(...entries.map(([value, text]) => element("option", {value, text})));
  }
  select.value = String(chosen);
}
