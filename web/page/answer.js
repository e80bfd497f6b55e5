// The answer of one pane: what the server is doing, the explanation on screen, whether its picture shows what the
// model used, what can be taken away. The earlier picture stays until the new one is there.

import {element} from "fovea/parts/dom.js";
import {download} from "fovea/parts/export.js";
import {number, visible} from "fovea/parts/format.js";
import {Explanation} from "fovea/model/explanation.js";
import {kindOf, kinds} from "fovea/rows/kinds.js";
import {Shell} from "fovea/shell.js";
import {WhatIf} from "fovea/whatif/what_if.js";
import {reasonOf, Status} from "fovea/page/status.js";

/** An answer without maps as an explanation, so that it is shown like the others; `truth`: what is right, or "". */
export function withoutMaps(model, input, answer, truth = "") {
  const text = String(answer.text ?? answer.class ?? answer.value ?? answer.labels?.join(", ") ?? JSON.stringify(answer));
  return {
    format: "fovea-explanation",
    version: 2,
    task: model.task,
    title: model.title,
    input,
    prediction: {text, answer, ...(truth && {truth: compared(answer, truth)})},
    axes: [],
    maps: [],
    notes: ["This model has no attention to show."],
  };
}

// As the server compares; undefined where it does not.
function compared(answer, truth) {
  const kind = kindOf(answer);
  if (!kind) return undefined;
  const {answer: said, right} = kinds[kind].judge(answer, truth);
  if (kind !== "number") return {text: truth, right};
  const off = said - Number(truth);
  if (!Number.isFinite(off)) return undefined;
  return {text: truth, remark: off === 0 ? "the same" : `the answer is ${number(Math.abs(off))} too ${off > 0 ? "high" : "low"}`};
}

const quick = 1000;  // milliseconds in which a picture is measured without being asked

/** `calls`: those of WhatIf, again(), queryKey(place, signal) -> Promise of what a weight is made of, truth(text) of who says what is right, measure(signal) -> Promise of the explanation with `faithfulness`, report(measured, signal) ->
    Promise of a Blob, measured(). */
export class Answer {
  #host = element("div", {class: "answer-picture"});
  #bar = element("div", {class: "answer-bar"});
  #actions;
  #status;
  #shell = null;
  #json = null;
  #state;
  #calls;
  #measuring = null;
  #whatIf;
  #truth = "";  // what was said to be right of the answer on screen
  #isSlow = false;  // the last one took longer than `quick`

  constructor(host, state, calls) {
    this.#state = state;
    this.#calls = calls;
    this.#status = new Status(this.#bar, calls.again);
    this.#whatIf = new WhatIf(state, calls);
    const button = (text, click) =>
      element("button", {type: "button", class: "button-plain", text, on: {click}});
    this.#actions = element(
      "div",
      {class: "answer-actions", role: "group", "aria-label": "This answer", hidden: true},
      button("Download report", () => this.#saveReport()),
    );
    this.#bar.append(this.#actions);
    host.append(this.#bar, this.#host);
  }

  /** The prediction on screen, or null. */
  get prediction() {
    return this.#json?.prediction ?? null;
  }

  /** Shows what becomes of a request, without touching the picture. */
  tell(happening) {
    this.#status.show(happening);
    const busy = happening.name === "asking" || happening.name === "retrying";
    this.#host.setAttribute("aria-busy", String(busy));
    this.#host.classList.toggle("stale", busy || happening.name === "failed");
    if (happening.name === "asking") this.#stopMeasuring();
  }

  /** A remark in place of the state of a request. */
  say(text) {
    this.#status.say(text, "idle");
    this.#host.classList.toggle("stale", this.#json !== null);
  }

  /** Puts the picture of an explanation in place of the earlier one, which was of the `sameModel` or not; `truth`: what
      somebody said here to be right. */
  show(json, {sameModel, truth = ""}) {
    const before = sameModel ? this.#json?.prediction.text : undefined;
    const held = this.#host.contains(document.activeElement);
    const field = held && document.activeElement.matches(".truth-field *");
    this.#truth = truth;
    // The page must not jump while one picture replaces the other.
    this.#host.style.minHeight = `${this.#host.offsetHeight}px`;
    requestAnimationFrame(() => (this.#host.style.minHeight = ""));
    if (!sameModel) this.#isSlow = false;
    try {
      this.#replace(json);
      if (this.#shell.map) this.#offerMeasure();
    } catch (failure) {
      this.#status.say(`This answer cannot be shown: ${failure.message}`, "failed");
    }
    if (this.#whatIf.focus(held)) return this.#tellBefore(before);
    if (held) ((field && this.#host.querySelector(".truth-field input")) || this.#host.parentElement).focus();
    this.#tellBefore(before);
  }

  /** What was taken away is brought back, since the server says why it cannot go: the picture is still that of the rest. */
  keep(why) {
    this.#host.setAttribute("aria-busy", "false");
    this.#host.classList.remove("stale");
    this.#status.say(why, "failed");
    this.#whatIf.refuse(why);
  }

  /** Takes the picture away. */
  destroy() {
    this.#clear();
    this.#whatIf.destroy();
  }

  #clear() {
    this.#stopMeasuring();
    this.#shell?.destroy();
    this.#shell = null;
  }

  #tellBefore(text) {
    if (text !== undefined && text !== this.#json.prediction?.text) this.#status.before(visible(text));
  }

  #replace(json) {
    const explanation = Explanation.fromJson(json);
    this.#clear();
    this.#json = json;
    this.#whatIf.use(explanation);
    this.#shell = new Shell(this.#host, explanation, {
      state: this.#state, compact: true, truth: {text: this.#truth, told: (text) => this.#calls.truth(text)}, whatIf: this.#whatIf,
      queryKey: (place, signal) => this.#calls.queryKey(place, signal),
    });
    this.#actions.hidden = false;
  }

  // What takes under a second is measured at once; what does not, or may not, waits for a press.
  #offerMeasure() {
    if (this.#json.faithfulness?.length) return;
    if (this.#isSlow) this.#offer("Takes more than a second here.");
    else this.#measure(quick);
  }

  #offer(remark) {
    this.#shell?.verdict.offer(() => this.#measure(Infinity), remark);
  }

  async #measure(limit) {
    this.#stopMeasuring();
    const flight = new AbortController();
    const shell = this.#shell;
    this.#measuring = flight;
    const begin = performance.now();
    const timer = Number.isFinite(limit) && setTimeout(() => flight.abort(), limit);
    shell.verdict.measuring(limit === Infinity ? () => flight.abort() : null);
    try {
      const {faithfulness = []} = await this.#calls.measure(flight.signal);
      if (this.#measuring !== flight) return;
      this.#isSlow = performance.now() - begin > quick;
      this.#json = {...this.#json, faithfulness};
      shell.verdict.offer(null);
      shell.judge(faithfulness);
      if (limit === Infinity) this.#calls.measured();  // who pressed waits for it
    } catch (error) {
      if (this.#measuring !== flight) return;
      this.#isSlow ||= Number.isFinite(limit) && flight.signal.aborted;
      const why = flight.signal.aborted ? (Number.isFinite(limit) ? "Takes more than a second here." : "Cancelled.")
        : reasonOf(error);
      this.#offer(why);
    } finally {
      clearTimeout(timer);
      if (this.#measuring === flight) this.#measuring = null;
    }
  }

  #stopMeasuring() {
    const flight = this.#measuring;
    this.#measuring = null;
    flight?.abort();
    if (flight) this.#offer("");
  }

  async #saveReport() {
    const flight = new AbortController();
    this.#status.ask("Making the report…", () => flight.abort());
    try {
      const report = await this.#calls.report(Boolean(this.#json.faithfulness?.length), flight.signal);
      download(`${this.#json.task || "explanation"}.html`, report);
      this.#status.say("The report was downloaded.", "answered");
    } catch (error) {
      this.#status.say(flight.signal.aborted ? "Cancelled." : reasonOf(error), "failed");
    }
  }
}
