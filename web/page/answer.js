// The answer of one pane: what the server is doing, the explanation on screen, what can be taken away. The
// earlier picture stays until the new one is there.

import {element} from "fovea/parts/dom.js";
import {download} from "fovea/parts/export.js";
import {visible} from "fovea/parts/format.js";
import {Explanation} from "fovea/model/explanation.js";
import {Shell} from "fovea/shell.js";
import {reasonOf, Status} from "fovea/page/status.js";

/** An answer without maps as an explanation, so that it is shown like the others. */
export function withoutMaps(model, input, answer) {
  const text = String(answer.text ?? answer.class ?? answer.value ?? answer.labels?.join(", ") ?? JSON.stringify(answer));
  return {
    format: "fovea-explanation",
    version: 2,
    task: model.task,
    title: model.title,
    input,
    prediction: {text, answer},
    axes: [],
    maps: [],
    notes: ["This model has no attention to show."],
  };
}

/** `calls`: again(), measure(), report() -> Promise of a Blob. */
export class Answer {
  #host = element("div", {class: "answer-picture"});
  #bar = element("div", {class: "answer-bar"});
  #actions;
  #status;
  #shell = null;
  #json = null;
  #state;
  #calls;

  constructor(host, state, calls) {
    this.#state = state;
    this.#calls = calls;
    this.#status = new Status(this.#bar, calls.again);
    const button = (text, click) =>
      element("button", {type: "button", class: "button-plain", text, on: {click}});
    this.#actions = element(
      "div",
      {class: "answer-actions", role: "group", "aria-label": "This answer", hidden: true},
      button("Measure faithfulness", () => calls.measure()),
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
    if (happening.name === "asking" && happening.request.faithfulness)
      this.#status.say("Measuring faithfulness: this takes longer…");
  }

  /** A remark in place of the state of a request. */
  say(text) {
    this.#status.say(text, "idle");
    this.#host.classList.toggle("stale", this.#json !== null);
  }

  /** Puts the picture of an explanation in place of the earlier one, which was of the `sameModel` or not. */
  show(json, {sameModel}) {
    const before = sameModel ? this.#json?.prediction.text : undefined;
    const held = this.#host.contains(document.activeElement);
    // The page must not jump while one picture replaces the other.
    this.#host.style.minHeight = `${this.#host.offsetHeight}px`;
    requestAnimationFrame(() => (this.#host.style.minHeight = ""));
    try {
      this.#replace(json);
    } catch (failure) {
      this.#status.say(`This answer cannot be shown: ${failure.message}`, "failed");
    }
    if (held) this.#host.parentElement.focus();
    if (before !== undefined && before !== json.prediction?.text) this.#status.before(visible(before));
  }

  /** Scrolls to what was measured. */
  showFaithfulness() {
    this.#host.querySelector(".faith")?.scrollIntoView({block: "nearest"});
  }

  /** Takes the picture away. */
  destroy() {
    this.#shell?.destroy();
    this.#shell = null;
  }

  #replace(json) {
    const explanation = Explanation.fromJson(json);
    this.destroy();
    this.#json = json;
    this.#shell = new Shell(this.#host, explanation, {state: this.#state, compact: true});
    this.#actions.hidden = false;
  }

  async #saveReport() {
    this.#status.say("Making the report…", "asking");
    try {
      download(`${this.#json.task || "explanation"}.html`, await this.#calls.report());
      this.#status.say("The report was downloaded.", "answered");
    } catch (error) {
      this.#status.say(reasonOf(error), "failed");
    }
  }
}
