// The list of keys, opened by "?": those of the page before those of the pictures.

import {showHelp} from "fovea/parts/help.js";

const keys = [
  [["m"], "choose a model"],
  [["i"], "edit the input"],
  [["a"], "go to the answer"],
  [["Ctrl Enter"], "ask at once, without waiting for a pause"],
  [["c"], "compare two panes, or close the second"],
  [["s"], "the same input in both panes"],
  [["l"], "copy a link"],
];

/** Opens the list; it closes with Escape. */
export function showPageHelp() {
  showHelp(keys);
}
