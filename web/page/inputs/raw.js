// Any input as JSON, in place of its form.

import {element} from "fovea/parts/dom.js";
import {grow, growingArea} from "fovea/page/fields/growing.js";

/** JSON of several lines where that is short, else of one for each property. */
function written(input) {
  const plain = JSON.stringify(input);
  if (plain.length <= 60) return plain;
  const lines = Object.entries(input).map(([name, value]) => `  ${JSON.stringify(name)}: ${JSON.stringify(value)}`);
  return `{\n${lines.join(",\n")}\n}`;
}

/** An editor (see inputs/index.js) of the same inputs as `editor`, as text. */
export function rawEditor(editor) {
  return {
    mount(host, {schema, changed, describedBy}) {
      const area = growingArea({class: "input-raw", rows: 6, "aria-label": "The input as JSON", "aria-describedby": describedBy}, changed);
      host.append(area, element("p", {class: "hint", text: "JSON, or one line as a file has it"}));
      return {
        read() {
          if (area.value.trim() === "") return {problem: "There is no input yet."};
          try {
            return {input: editor.parse(area.value.trim(), schema)};
          } catch (failure) {
            return {problem: failure.message};
          }
        },
        write(input) {
          area.value = written(input);
          grow(area);
        },
        focus: () => area.focus(),
      };
    },
  };
}
