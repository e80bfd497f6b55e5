// The page of trainings: what they are doing, their curves, their attention, the options that differ. It draws
// what a source tells it (source.js) and keeps what the reader has chosen (settings.js).
import {onThemeChange, printing} from "fovea/parts/colour.js";
import {clear, element} from "fovea/parts/dom.js";
import {number} from "fovea/parts/format.js";
import {Tooltip} from "fovea/parts/tooltip.js";
import {AttentionOverTime} from "fovea/board/attention.js";
import {Run, tagsOf} from "fovea/board/curves.js";
import {LineChart} from "fovea/board/line_chart.js";
import {optionsTable} from "fovea/board/options_table.js";
import {runsTable} from "fovea/board/runs_table.js";
import {Settings} from "fovea/board/settings.js";
import {duration} from "fovea/board/times.js";

const themes = ["auto", "light", "dark"];

export class Board {
  settings = new Settings();
  tooltip = new Tooltip();
  #runs = [];
  #charts = new Map();
  #source = null;
  #live = false;
  #gone = false;
  #frame = 0;

  constructor(body) {
    this.announcer = element("div", {class: "visually-hidden", "aria-live": "polite"});
    this.status = element("p", {class: "board-status", role: "status", text: "Asking for the trainings…"});
    this.theme = element("button", {type: "button", class: "button-plain", on: {click: () => this.#nextTheme()}});
    this.table = element("div", {class: "board-scroll", tabindex: 0, role: "region", "aria-label": "Trainings"});
    this.charts = element("div", {class: "board-charts"});
    this.attention = new AttentionOverTime(this);
    this.options = element("div");
    body.append(
      element("header", {class: "board-head"},
        element("h1", {class: "board-name", text: "Training"}), this.status, this.theme),
      element("main", {class: "board-main"},
        this.table,
        element("section", {class: "board-section", "aria-label": "Curves"}, this.#tools(), this.charts),
        this.attention.node, this.options),
      this.announcer);
    this.settings.subscribe(() => this.#later());
    onThemeChange(() => (printing() ? this.#draw() : this.#later()));  // paper does not wait for a frame
    new ResizeObserver(() => this.#later()).observe(this.charts);
    this.#showTheme();
  }

  /** Called by a source: these are the trainings, `live` where the page ends with them. */
  open(source, names, live) {
    this.#source = source;
    this.#live = live;
    this.#runs = names.map((name, index) => new Run({name, state: "beginning"}, index));
    document.title = `${names.join(", ")} - training`;
    this.#later();
  }

  /** Called by a source: a training has news. */
  run(index, value) {
    this.#runs[index] = new Run(value, index);
    this.#later();
  }

  /** Called by a source: its server does not answer any more, or answers again. */
  gone(isGone) {
    this.#gone = isGone;
    this.#later();
  }

  look(run, line, key) {
    return this.#source.look(run, line, key);
  }

  announce(text) {
    this.announcer.textContent = text;
  }

  #tools() {
    const {settings} = this;
    this.axes = ["step", "epoch", "time"].map((x) =>
      element("button", {type: "button", text: x, dataset: {x}, on: {click: () => settings.set({x})}}));
    this.smooth = element("input", {type: "range", min: 0, max: 0.99, step: 0.01, on: {input: () => settings.set({smooth: Number(this.smooth.value)})}});
    this.smoothText = element("output");
    this.log = element("input", {type: "checkbox", on: {change: () => settings.set({log: this.log.checked ? 1 : 0})}});
    return element("div", {class: "board-tools"},
      element("div", {class: "board-axes", role: "group", "aria-label": "Curves over"}, this.axes),
      element("label", {class: "field"}, "Smoothing", this.smooth, this.smoothText),
      element("label", {class: "field"}, this.log, "Logarithmic scale"),
      element("span", {class: "quiet board-hint"},
        element("span", {class: "board-ring", "aria-hidden": "true"}), "best value of a run"));
  }

  // Many runs may tell something in one moment.
  #later() {
    this.#frame ||= requestAnimationFrame(() => {
      this.#frame = 0;
      this.#draw();
    });
  }

  #draw() {
    const {settings} = this;
    for (const button of this.axes) button.setAttribute("aria-pressed", String(button.dataset.x === settings.get("x")));
    this.smooth.value = String(settings.get("smooth"));
    this.smoothText.textContent = settings.get("smooth") ? settings.get("smooth").toFixed(2) : "off";
    this.smooth.setAttribute("aria-valuetext", this.smoothText.textContent);
    this.log.checked = settings.get("log") === 1;
    this.#showTheme();
    this.#say();
    this.#drawTable();
    this.#drawCharts();
    this.attention.show(this.#runs);
    const options = optionsTable(this.#runs);
    clear(this.options).append(...(options ? [options] : []));
  }

  #drawTable() {
    const focused = document.activeElement?.dataset?.run;
    clear(this.table).append(runsTable(this.#runs, this.settings));
    if (focused !== undefined) this.table.querySelector(`[data-run="${focused}"]`)?.focus();
  }

  #drawCharts() {
    const tags = tagsOf(this.#runs);
    const visible = this.#runs.filter(({index}) => !this.settings.isHidden(index));
    for (const [tag, chart] of this.#charts) {
      if (tags.includes(tag)) continue;
      chart.node.remove();
      this.#charts.delete(tag);
    }
    tags.forEach((tag, place) => {
      if (!this.#charts.has(tag)) this.#charts.set(tag, new LineChart(tag, this));
      const {node} = this.#charts.get(tag);
      if (this.charts.children[place] !== node) this.charts.insertBefore(node, this.charts.children[place] ?? null);
    });
    for (const tag of tags) this.#charts.get(tag).show(visible.filter((run) => run.curves.has(tag)));
  }

  // One sentence on how things stand; said aloud only when it changes in kind.
  #say() {
    const [kind, text] = this.#status();
    this.status.dataset.kind = kind;
    if (this.status.textContent === text) return;
    this.status.setAttribute("aria-live", this.kind === kind ? "off" : "polite");
    this.kind = kind;
    this.status.textContent = text;
  }

  #status() {
    const running = this.#runs.filter(({state}) => state === "running");
    const ended = this.#runs.length > 0 && this.#runs.every(({isOpen}) => !isOpen);
    if (this.#live && ended) {
      const [run] = this.#runs;
      const summary = run.value.summary ? `: ${run.value.summary}` : "";
      const verb = run.state === "finished" ? "The training has ended" : "The training was stopped";
      return ["ended", `${verb}${summary}. fovea board shows the run again.`];
    }
    if (this.#gone && this.#live) return ["gone", "The training's page has gone: it has ended or was broken off. These are the last numbers that came."];
    if (this.#gone) return ["gone", "The server does not answer; asking again…"];
    if (running.length === 1) {
      const [run] = running;
      const left = run.last("left");
      const epoch = run.last("epoch");
      const told = [
        epoch !== undefined && `epoch ${number(Number(epoch.toFixed(1)))} of ${number(run.value.epochs_planned)}`,
        left !== undefined && `at most ${duration(left)} left`,
      ].filter(Boolean);
      return ["running", `Training${told.length ? `: ${told.join(", ")}` : "…"}`];
    }
    if (running.length > 1) return ["running", `${running.length} trainings under way`];
    if (this.#runs.some(({state}) => state === "beginning")) return ["running", "The training is about to begin…"];
    return ["idle", this.#runs.length === 1 ? "1 training" : `${this.#runs.length} trainings`];
  }

  #nextTheme() {
    const theme = themes[(themes.indexOf(this.settings.get("theme")) + 1) % themes.length];
    this.settings.set({theme});
    this.attention.setTheme(theme);
  }

  #showTheme() {
    const theme = this.settings.get("theme");
    this.theme.textContent = `Theme: ${theme}`;
    if (theme === "auto") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
  }
}
