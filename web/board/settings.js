// What the reader has chosen on the board. It lives in the address's hash, so that a link shows the same.

const defaults = {x: "step", smooth: 0, log: 0, hidden: "", run: 0, row: -1, epoch: -1, theme: "auto", view: ""};

/** Keys: x (step, epoch, time), smooth (0..0.99), log (0, 1), hidden (indices of runs), run, row and epoch of
    the attention (-1: the newest), theme, view (of the picture). */
export class Settings {
  #listeners = new Set();
  #timer = 0;

  constructor() {
    this.values = {...defaults};
    this.#read();
    window.addEventListener("hashchange", () => {
      this.values = {...defaults};
      this.#read();
      this.#listeners.forEach((listener) => listener());
    });
  }

  get(key) {
    return this.values[key];
  }

  set(partial) {
    Object.assign(this.values, partial);
    this.#listeners.forEach((listener) => listener());
    clearTimeout(this.#timer);
    // Browsers refuse more than some hundred changes in a row; a slider makes more.
    this.#timer = setTimeout(() => this.#write(), 200);
  }

  subscribe(listener) {
    this.#listeners.add(listener);
  }

  /** Whether the curves of a run are hidden. */
  isHidden(index) {
    return this.#hidden().includes(index);
  }

  hide(index, isHidden) {
    const others = this.#hidden().filter((other) => other !== index);
    this.set({hidden: [...others, ...(isHidden ? [index] : [])].sort((a, b) => a - b).join(".")});
  }

  #hidden() {
    return this.values.hidden === "" ? [] : this.values.hidden.split(".").map(Number);
  }

  #read() {
    for (const [key, text] of new URLSearchParams(location.hash.slice(1))) {
      if (!Object.hasOwn(defaults, key)) continue;
      const typed = typeof defaults[key] === "number" ? Number(text) : text;
      if (!Number.isNaN(typed)) this.values[key] = typed;
    }
    if (!["step", "epoch", "time"].includes(this.values.x)) this.values.x = defaults.x;
    this.values.smooth = Math.min(0.99, Math.max(0, this.values.smooth));
  }

  #write() {
    const chosen = Object.entries(this.values).filter(([key, value]) => value !== defaults[key]);
    const hash = new URLSearchParams(chosen).toString();
    history.replaceState(null, "", `${location.pathname}${location.search}${hash ? `#${hash}` : ""}`);
  }
}
