// The overlay that lists the keys.
import {element} from "fovea/parts/dom.js";

/** Keys of the shell, and those that views share. */
const keys = [
  [["?"], "this list"],
  [["/"], "search labels; Enter jumps to the next, Shift Enter to the one before"],
  [["v"], "next view"],
  [["["], ["]"], "previous, next layer"],
  [[","], ["."], "previous, next head (the first is their mean)"],
  [["p"], ["n"], "previous, next input of a report that has several"],
  [["t"], "light, dark, or as the system"],
  [["←"], ["→"], ["↑"], ["↓"], "move through a picture that has the focus"],
  [["Enter"], "say what is chosen"],
  [["Esc"], "choose nothing"],
  [["+"], ["−"], ["0"], "zoom in, out, show all"],
  [["Shift"], ["←"], "move a zoomed picture"],
];

/** Opens it, with further keys on top; it closes with Escape. */
export function showHelp(more = []) {
  const dialog = element("dialog", {"aria-labelledby": "help-title", on: {close: () => dialog.remove()}},
    element("h2", {id: "help-title", text: "Keys"}),
    element("dl", {class: "keys"}, [...more, ...keys].flatMap((entry) => [
      element("dt", {}, entry.slice(0, -1).map(([name]) => element("kbd", {text: name}))),
      element("dd", {text: entry.at(-1)}),
    ])),
    element("form", {method: "dialog"}, element("button", {text: "Close"})));
  document.body.append(dialog);
  dialog.showModal();
}
