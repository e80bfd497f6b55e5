// The keys of the page (page/help.js lists them). Views handle theirs before; a key with a modifier, or typed
// into a field, is left alone.

import {showPageHelp} from "fovea/page/help.js";

const typing =
  "input:not([type=radio]):not([type=checkbox]):not([type=range]), textarea, select, [contenteditable]";

/** Listens on the document for the page's keys. */
export function listenForKeys(page) {
  const actions = {
    m: () => page.active.focusModel(),
    i: () => page.active.focusInput(),
    a: () => page.active.focusAnswer(),
    n: () => page.active.step(1),
    p: () => page.active.step(-1),
    c: () => page.compare(),
    s: () => page.panes.length > 1 && page.shareInput(!page.sharing),
    l: () => page.copyLink(),
    "?": showPageHelp,
  };
  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.matches?.(typing)) {
      if (event.key === "Escape") event.target.blur();
      return;
    }
    const action = document.querySelector("dialog[open]") ? null : actions[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  });
}
