// The whole page: which models there are, one pane or two, how the answers differ, and the address that
// brings all of it back.

import {clear, element} from "fovea/parts/dom.js";
import {readAddress, writeAddress} from "fovea/page/address.js";
import {Asker} from "fovea/page/asker.js";
import {differenceLine} from "fovea/page/difference.js";
import {Head} from "fovea/page/head.js";
import {listenForKeys} from "fovea/page/keys.js";
import {KeyForm} from "fovea/page/key.js";
import {Pane} from "fovea/page/pane.js";
import {Server} from "fovea/page/server.js";

const names = ["A", "B"];
const lookAgain = 2000; // while a model is loading
const lookWhether = 10_000; // the server is still there
const writeDelay = 200; // browsers refuse hundreds of changes of the address in a row

/** Fills `host` and keeps it alive. */
export class Page {
  server = new Server();
  panes = [];
  #models = [];
  #head;
  #keyForm;
  #host = element("main", {class: "panes", hidden: true});
  #difference = element("div", {class: "difference", hidden: true});
  #live = element("div", {class: "visually-hidden", role: "status", "aria-live": "polite"});
  #watch = new Asker(
    (request, signal) => this.server.models(signal),
    (happening) => this.#told(happening),
  );
  #same = false;
  #writing = 0;
  #pushing = false;
  #looking = 0;
  #isGone = false;
  #isLooking = false;

  constructor(host) {
    this.#head = new Head(host, {
      compare: () => this.compare(),
      same: () => this.shareInput(!this.#same),
      copyLink: () => this.copyLink(),
      skip: () => this.panes[0]?.focusAnswer(),
      again: () => this.#watch.again(),
    });
    this.#keyForm = new KeyForm(host, (key) => this.#useKey(key));
    host.append(this.#difference, this.#host, this.#live);
    listenForKeys(this);
    window.addEventListener("popstate", () => this.#restore());
    window.addEventListener("online", () => this.#watch.again());
    document.addEventListener("visibilitychange", () => document.hidden || this.#lookWhether());
    setInterval(() => this.#lookWhether(), lookWhether);
    this.#restore();
    this.#watch.ask(null, {now: true});
  }

  /** The pane that has the focus, else the first. */
  get active() {
    return this.panes.find((pane) => pane.node.contains(document.activeElement)) ?? this.panes[0];
  }

  /** Whether both panes have one input. */
  get sharing() {
    return this.#same;
  }

  /** Speaks through the live region. */
  announce(text) {
    this.#live.textContent = text;
  }

  /** "model", "input", "truth" or "answer" of a pane changed, or "panes", "same", or "view" (`keys` of its state). */
  changed(pane, what, keys) {
    if (what === "view" && keys.has("theme")) this.#shareTheme(pane);
    if (what === "model") this.#pushing = true;
    if (what === "model" && this.#same && !this.#canShare()) this.shareInput(false);
    if (what === "input" && this.#same && pane === this.panes[0]) this.#copyInput(pane, this.panes[1]);
    if (what === "truth" && this.#same) this.panes.filter((other) => other !== pane).forEach((other) => this.#copyInput(pane, other));
    if (what !== "view") this.#show();
    this.#writing ||= setTimeout(() => this.#write(), writeDelay);
  }

  /** The server wants another key. */
  refused() {
    this.#keyForm.ask(this.server.key !== "");
  }

  /** A request found no server: it is looked for until it is back, and the head says so. */
  gone() {
    if (this.#isGone) return;
    this.#isGone = true;
    this.#watch.again();
  }

  /** Opens a second pane with what the first holds, or closes it. */
  compare() {
    if (this.panes.length > 1) {
      this.panes.pop().destroy();
      this.#same = false;
    } else {
      this.#add(this.panes[0].wanted);
    }
    this.#pushing = true;
    this.changed(this.panes[0], "panes");
    this.panes[1]?.focus();
    this.announce(this.panes.length > 1 ? "Two panes. Change the model or the input of one." : "One pane.");
  }

  /** Gives both panes one input, or each its own. */
  shareInput(same) {
    this.#same = same && this.#canShare();
    this.panes[1]?.follow(this.#same);
    if (this.#same) this.#copyInput(this.panes[0], this.panes[1]);
    this.changed(this.panes[0], "same");
  }

  /** Puts the address of what is on screen into the clipboard. */
  async copyLink() {
    const whole = this.#write();
    const remark = whole ? "" : " An input is too long for a link and was left out.";
    try {
      await navigator.clipboard.writeText(location.href);
      this.#head.say(`Link copied.${remark}`);
    } catch {
      this.#head.say(`Copy the address of this page: it is the link.${remark}`);
    }
  }

  #add(wanted) {
    const pane = new Pane(this, names[this.panes.length], wanted);
    if (this.panes.length > 0) pane.state.set({theme: this.panes[0].state.get("theme")});
    this.panes.push(pane);
    this.#host.append(pane.node);
    if (this.#models.length > 0) pane.setModels(this.#models);
  }

  #restore() {
    const {panes, same} = readAddress(location.hash);
    while (this.panes.length > panes.length) this.panes.pop().destroy();
    panes.forEach((wanted, place) => {
      const asked = same ? {...wanted, input: panes[0].input} : wanted;
      if (this.panes[place]) this.panes[place].restore(asked);
      else this.#add(asked);
    });
    this.#same = same && panes.length > 1;
    this.panes[1]?.follow(this.#same);
    this.#show();
  }

  #write() {
    clearTimeout(this.#writing);
    this.#writing = 0;
    const {hash, whole} = writeAddress({panes: this.panes.map((pane) => pane.wanted), same: this.#same});
    if (hash !== location.hash) history[this.#pushing ? "pushState" : "replaceState"](null, "", hash);
    this.#pushing = false;
    return whole;
  }

  #show() {
    const [first, second] = this.panes;
    this.#host.classList.toggle("comparing", Boolean(second));
    this.#head.show({comparing: Boolean(second), same: this.#same, canShare: this.#canShare()});
    // Answers to different questions have no difference.
    const comparable = second && first.model?.task === second.model?.task;
    const line = comparable && differenceLine(first.prediction, second.prediction);
    this.#difference.hidden = !line;
    clear(this.#difference).append(line || "");
    document.title = first.model ? `${first.model.name} · Fovea` : "Fovea";
  }

  // What is right for one task is not for another.
  #copyInput(from, to) {
    to?.write(from.text, from.model?.task === to.model?.task ? from.truth : "");
  }

  #canShare() {
    return this.panes.length > 1 && this.panes[1].takesInputsOf(this.panes[0]);
  }

  #shareTheme(pane) {
    const theme = pane.state.get("theme");
    for (const other of this.panes) other.state.set({theme});
  }

  #told(happening) {
    clearTimeout(this.#looking);
    this.#head.tell(happening);
    if (happening.name === "failed" && happening.error.status === 401) this.refused();
    if (happening.error?.status === 0) this.#isGone = true;
    if (happening.name !== "answered") return;
    const wasGone = this.#isGone;
    this.#isGone = false;
    this.#keyForm.hide();
    this.#host.hidden = false;
    this.#models = happening.answer;
    this.panes.forEach((pane) => pane.setModels(this.#models));
    if (wasGone) this.panes.forEach((pane) => pane.askIfWaiting());
    if (this.#same) this.shareInput(true);
    this.#show();
    if (this.#models.some((model) => model.status === "loading")) this.#lookLater();
  }

  // A tab that nobody looks at asks nothing.
  #lookLater() {
    this.#looking = setTimeout(() => (document.hidden ? this.#lookLater() : this.#watch.again()), lookAgain);
  }

  // A tab that nobody looks at asks nothing.
  async #lookWhether() {
    if (document.hidden || this.#isGone || this.#isLooking) return;
    this.#isLooking = true;
    const isThere = await this.server.isThere();
    this.#isLooking = false;
    if (!isThere) this.gone();
  }

  #useKey(key) {
    this.server.key = key;
    this.#watch.ask(null, {now: true});
    this.panes.forEach((pane) => pane.ask({now: true}));
  }
}
