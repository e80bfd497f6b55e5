// One line per pane that says what the server is doing: asking, busy, gone, refused, answered. Counts down to
// the next attempt.

import {clear, element} from "fovea/parts/dom.js";

const reasons = {0: "The server does not answer.", 429: "The server is busy."};

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

  constructor(host, again) {
    this.#again = again;
    host.append(this.#node);
  }

  /** Shows a happening of the Asker. */
  show(happening) {
    clearInterval(this.#timer);
    const {name} = happening;
    if (name === "waiting") return;
    this.#node.dataset.state = name;
    if (name === "asking") this.say("Asking…");
    if (name === "answered") this.say(`Answered in ${duration(happening.milliseconds)}.`);
    if (name === "failed") this.#fail(happening.error);
    if (name === "retrying") this.#countDown(happening);
  }

  /** Shows a plain remark. */
  say(text, state = this.#node.dataset.state) {
    clearInterval(this.#timer);
    this.#node.dataset.state = state;
    clear(this.#node).append(element("bdi", {text}));
  }

  /** Says what the answer was before. */
  before(text) {
    this.say("Changed from ");
    this.#node.append(element("bdi", {class: "answer", text}));
  }

  #fail(error) {
    this.say(reasonOf(error));
    if (error.status >= 500) this.#offer("Try again");
  }

  #countDown({error, seconds}) {
    let left = Math.ceil(seconds);
    const tell = () => (rest.textContent = left > 0 ? `Trying again in ${left} s.` : "Trying again…");
    const rest = element("span");
    clear(this.#node).append(element("bdi", {text: reasonOf(error)}), " ", rest);
    this.#offer("Try now");
    tell();
    this.#timer = setInterval(() => (--left, tell()), 1000);
  }

  #offer(text) {
    this.#node.append(
      " ",
      element("button", {type: "button", class: "link", text, on: {click: () => this.#again()}}),
    );
  }
}
