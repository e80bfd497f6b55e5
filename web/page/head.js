// The line at the top: the name, how the server is, and what can be done with the whole page.

import {element} from "fovea/parts/dom.js";
import {showPageHelp} from "fovea/page/help.js";
import {Status} from "fovea/page/status.js";

/** `calls`: compare(), same(), copyLink(), skip(), again(). */
export class Head {
  #status;
  #compare;
  #same;

  constructor(host, calls) {
    const button = (text, click, attributes = {}) =>
      element("button", {type: "button", class: "button-plain", text, on: {click}, ...attributes});
    this.#compare = button("Compare", calls.compare, {"aria-pressed": "false"});
    this.#same = button("Same input", calls.same, {"aria-pressed": "false", hidden: true});
    // A plain anchor to the answer would change the hash, which holds what is on screen.
    const skip = element("button", {
      type: "button",
      class: "skip-link",
      text: "Skip to the answer",
      on: {click: calls.skip},
    });
    const line = element("header", {class: "page-head"}, element("h1", {class: "wordmark", text: "Fovea"}));
    this.#status = new Status(line, calls.again);
    line.append(
      element(
        "div",
        {class: "page-actions", role: "group", "aria-label": "Page"},
        this.#compare,
        this.#same,
        button("Copy link", calls.copyLink),
        button("Keys", showPageHelp),
      ),
    );
    host.append(skip, line);
  }

  /** A remark beside the name. */
  say(text) {
    this.#status.say(text, "answered");
  }

  /** How the list of models is coming along. */
  tell(happening) {
    if (happening.name !== "answered") return this.#status.show(happening);
    const loading = happening.answer.filter((model) => model.status === "loading").length;
    const ready = happening.answer.filter((model) => model.status === "ready").length;
    this.#status.say(
      loading > 0
        ? `Loading ${loading} of ${happening.answer.length} models…`
        : `${ready} ${ready === 1 ? "model" : "models"} ready`,
      loading > 0 ? "asking" : "answered",
    );
  }

  /** Shows which of the switches are on. */
  show({comparing, same, canShare}) {
    this.#compare.setAttribute("aria-pressed", String(comparing));
    this.#same.hidden = !comparing;
    this.#same.setAttribute("aria-pressed", String(same));
    this.#same.disabled = !canShare;
    this.#same.title = canShare ? "" : "These two models take different inputs";
  }
}
