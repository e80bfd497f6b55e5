// One line that says what the server is doing: asking and for how long, busy, gone, refused, answered. Counts down to
// the next attempt; what takes longer than a second can be cancelled.

import {clear, element} from "fovea/parts/dom.js";
import {cancelled} from "fovea/page/asker.js";

const reasons = {0: "The server does not answer.", 429: "The server is busy."};
const slow = 1000; // from here on the time is shown

/** What to tell people about an error. */
export function reasonOf(error) {
  return reasons[error.status] ?? asSentence(error.message);
}

function asSentence(message) {
  const text = String(message ?? "").trim();
  return text === ""
    ? "Something went wrong."
    : text[0].toUpperCase() + text.slice(1) + (/[.!?]$/.test(text) ? "" : ".");
}

function duration(milliseconds) {
  return milliseconds < 1000
    ? `${Math.max(1, Math.round(milliseconds))} ms`
    : `${(milliseconds / 1000).toFixed(1)} s`;
}

/** The line; `again()` is called by its "Try now" button. */
export class Status {
  #node = element("p", {class: "server-state", dataset: {state: "idle"}});
  #again;
  #timer = 0;
  #asking = null; // {begin, cancel} while a request is under way

  constructor(host, again) {
    this.#again = again;
    host.append(this.#node);
  }

  /** Shows a happening of the Asker. */
  show(happening) {
    const {name} = happening;
    if (name === "waiting") return this.#end();
    if (name === "asking") return this.ask("Asking…", happening.cancel);
    this.#end();
    this.#node.dataset.state = name;
    if (name === "answered") this.say(`Answered in ${duration(happening.milliseconds)}.`);
    if (name === "failed") this.#fail(happening.error);
    if (name === "retrying") this.#countDown(happening);
  }

  /** Shows that something is under way and, when it takes long, for how long; `cancel` ends it. */
  ask(text, cancel = null) {
    this.#end();
    this.#asking = {begin: performance.now(), cancel};
    this.say(text, "asking");
    this.#timer = setInterval(() => this.#tick(), 100);
  }

  /** Shows a plain remark; while something is under way its time goes on. */
  say(text, state = this.#node.dataset.state) {
    if (state === "asking" && !this.#asking) return this.ask(text);
    if (state !== "asking") this.#end();
    this.#node.dataset.state = state;
    clear(this.#node).append(element("bdi", {text}));
    this.#node.title = text;
    if (this.#asking) this.#tick();
  }

  /** Says what the answer was before. */
  before(text) {
    this.say("Changed from ");
    this.#node.append(element("bdi", {class: "answer", text}));
    this.#node.title = `Changed from ${text}`;
  }

  #end() {
    clearInterval(this.#timer);
    this.#asking = null;
  }

  #tick() {
    const {begin, cancel} = this.#asking;
    const milliseconds = performance.now() - begin;
    if (milliseconds < slow) return;
    const shown = this.#node.querySelector(".elapsed");
    const text = ` ${Math.floor(milliseconds / 1000)} s`;
    if (shown) return void (shown.textContent = text);
    this.#node.append(element("span", {class: "elapsed", role: "timer", text}));
    if (cancel) this.#button("Cancel", cancel);
  }

  #fail(error) {
    this.say(reasonOf(error));
    if (error.status === cancelled) this.#offer("Ask again");
    if (error.status >= 500) this.#offer("Try again");
  }

  #countDown({error, seconds, cancel}) {
    let left = Math.ceil(seconds);
    const tell = () => (rest.textContent = left > 0 ? `Trying again in ${left} s.` : "Trying again…");
    const rest = element("span");
    clear(this.#node).append(element("bdi", {text: reasonOf(error)}), " ", rest);
    this.#offer("Try now");
    if (cancel && error.status === 429) this.#button("Cancel", cancel);
    tell();
    this.#timer = setInterval(() => (--left, tell()), 1000);
  }

  #offer(text) {
    this.#button(text, () => this.#again());
  }

  #button(text, click) {
    this.#node.append(" ", element("button", {type: "button", class: "link", text, on: {click}}));
  }
}
