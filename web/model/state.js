// What the reader has chosen. It lives in the address's hash, so that a link shows the same and the back
// button goes back.

const defaults = {
  example: 0, map: "", layer: 0, head: 0, view: "", query: -1, key: -1, threshold: 0, search: "", zoom: "",
  theme: "auto", table: 0, away: "",
  colour: "attention",
};
const steps = new Set(["example", "map", "layer", "head", "view", "colour"]);  // each change is a step of the history
const writeDelay = 200;

/** Keys and their defaults: see web/README.md; `example` is the place in a report's list. */
export class State {
  constructor(values = {}) {
    this.values = {...defaults};
    this.listeners = new Set();
    this.set(values);
  }

  /** A state that reads and writes the address's hash. */
  static fromHash() {
    const state = State.fromText(location.hash);
    state.#bind();
    return state;
  }

  /** A state of its own from what toText() wrote. */
  static fromText(text) {
    return new State(parsed(text));
  }

  /** The value of a key. */
  get(key) {
    return this.values[key];
  }

  /** Changes some keys and tells the listeners which really changed. */
  set(partial) {
    const changed = new Set();
    for (const [key, value] of Object.entries(partial)) {
      const typed = typedValue(key, value);
      if (typed === undefined || Object.is(typed, this.values[key])) continue;
      this.values[key] = typed;
      changed.add(key);
    }
    if (changed.size > 0) this.listeners.forEach((listener) => listener(changed));
  }

  /** Calls `listener(changed)` after each change; returns a function that ends that. */
  subscribe(listener) {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** As in the hash, without "#", defaults left out. */
  toText() {
    const chosen = Object.entries(this.values).filter(([key, value]) => value !== defaults[key]);
    return new URLSearchParams(chosen).toString();
  }

  /** Ends the tie with the address. */
  destroy() {
    this.unbind?.();
    this.listeners.clear();
  }

  #bind() {
    let timer = 0;
    let isStep = false;
    const write = () => {
      timer = 0;
      const hash = this.toText();
      if (hash === location.hash.slice(1)) return;
      const address = `${location.pathname}${location.search}${hash ? `#${hash}` : ""}`;
      history[isStep ? "pushState" : "replaceState"](null, "", address);
      isStep = false;
    };
    // Browsers refuse more than some hundred changes in a row; a drag makes more.
    this.subscribe((changed) => {
      isStep ||= [...changed].some((key) => steps.has(key));
      timer ||= setTimeout(write, writeDelay);
    });
    const read = () => {
      clearTimeout(timer);
      timer = 0;
      this.set({...defaults, ...parsed(location.hash)});
      clearTimeout(timer);
      timer = 0;
      isStep = false;
    };
    window.addEventListener("popstate", read);
    window.addEventListener("hashchange", read);
    this.unbind = () => {
      clearTimeout(timer);
      window.removeEventListener("popstate", read);
      window.removeEventListener("hashchange", read);
    };
  }
}

function parsed(hash) {
  return Object.fromEntries(new URLSearchParams(hash.replace(/^#/, "")));
}

// Undefined for keys that are none and numbers that cannot be read.
function typedValue(key, value) {
  if (!Object.hasOwn(defaults, key)) return undefined;
  if (typeof defaults[key] === "string") return String(value);
  const typed = Number(value);
  return Number.isFinite(typed) ? typed : undefined;
}
