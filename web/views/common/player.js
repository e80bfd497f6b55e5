// The button that plays a view, and the player that steps through the queries of a map, one after the other.
import {element} from "fovea/parts/dom.js";
import {addLooks} from "fovea/parts/looks.js";

/** A button that says "Play" or "Pause"; `toggle` is called when it is pressed. */
export class PlayButton {
  constructor(toggle) {
    addLooks(rules);
    this.icon = element("span", {class: "play-icon", "aria-hidden": "true"});
    this.word = element("span");
    this.element = element("button", {type: "button", class: "play", on: {click: toggle}},
      this.icon, this.word);
    this.show(false);
  }

  /** Shows whether it is playing. */
  show(playing) {
    this.icon.textContent = playing ? "❚❚" : "▶";
    this.word.textContent = playing ? "Pause" : "Play";
  }
}

/** Steps through 0 … size-1: `current()` gives the step shown, `go(step)` shows another. */
export class StepPlayer {
  constructor({size, current, go, pause = 900}) {
    Object.assign(this, {size, current, go, pause, timer: 0});
    this.button = new PlayButton(() => (this.timer ? this.stop() : this.#start()));
    this.element = this.button.element;
  }

  /** Ends playing. */
  stop() {
    clearInterval(this.timer);
    this.timer = 0;
    this.button.show(false);
  }

  #start() {
    this.button.show(true);
    this.timer = setInterval(() => this.#step(), this.pause);
    this.go(this.current() + 1 < this.size ? this.current() + 1 : 0);
  }

  #step() {
    if (this.current() + 1 < this.size) this.go(this.current() + 1);
    else this.stop();
  }
}

const rules = `
.play { min-width: 5.5rem; text-align: start; }
.play-icon { display: inline-block; width: 2em; font-size: 0.7em; color: var(--accent); }
`;
