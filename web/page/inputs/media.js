// What the editors of one picture and of one sound share. An input is an object with one property, a file as a
// data URL, which holds the file's name too: data:audio/wav;name=seven.wav;base64,…

import {element} from "fovea/parts/dom.js";
import {count} from "fovea/parts/format.js";

/** Most bytes of a file; as base64 in JSON it stays well below the server's limit of one MiB. */
export const mostBytes = 600_000;

function readAsUrl(blob, what) {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(reader.result);
    reader.onerror = () => reject(new Error(`The ${what} cannot be read.`));
    reader.readAsDataURL(blob);
  });
}

function nameIn(url) {
  const name = /^data:[^,]*;name=([^;,]*)/.exec(url)?.[1];
  return name ? decodeURIComponent(name) : "";
}

/**
 * An editor of files of one kind; see inputs/index.js.
 *   what          "picture"
 *   type          "image", the first half of its media types
 *   small(file)   a Promise of what is sent for the file, at most `mostBytes` of a kind that the server reads;
 *                 throws an Error that says what is wrong
 *   frame         makes the element that shows one
 *   show(element, url, caption)
 *   more(parts)   a way to make one on the page; parts: {property (the schema's), take(file) -> Promise, fail(text),
 *                 describedBy}; returns null, or {node, show(url), hidesFrame, focus()}
 */
export function mediaEditor({what, type, small, frame, show, more = () => null}) {
  const property = (schema) => {
    const [[name, only] = [], ...others] = Object.entries(schema.properties ?? {});
    return others.length === 0 && only?.contentMediaType?.startsWith(`${type}/`) ? name : undefined;
  };
  const editor = {
    accept: `${type}/*`,

    fits: (schema) => schema.type === "object" && property(schema) !== undefined,

    parse(line, schema) {
      const trimmed = line.trim();
      const input = trimmed.startsWith("{") ? JSON.parse(trimmed) : {[property(schema)]: trimmed};
      if (!String(input[property(schema)]).startsWith(`data:${type}/`)) {
        throw new Error(`Drop or open a ${what}: a text cannot stand for one.`);
      }
      return input;
    },

    fromCells(header, cells, schema) {
      const place = header?.indexOf(property(schema)) ?? 0;
      return editor.parse(cells[Math.max(0, place)] ?? "", schema);
    },

    async fromFile(file, schema) {
      const url = await readAsUrl(await small(file), what);
      const name = encodeURIComponent(file.name || what);
      return {[property(schema)]: url.replace(";base64,", `;name=${name};base64,`)};
    },

    text: (input) => JSON.stringify(input),

    caption(input) {
      const [url] = Object.values(input);
      return nameIn(url) || `${what}, ${count((url.length * 3) / 4)} bytes`;
    },

    mount(host, {schema, changed, label, describedBy, told}) {
      let input = null;
      const shown = frame();
      const write = (given) => {
        input = given;
        told("");
        const url = input[property(schema)];
        show(shown, url, editor.caption(input));
        shown.hidden = Boolean(maker?.hidesFrame);
        maker?.show(url);
      };
      const take = async (file) => {
        told(`Reading ${file.name || `the ${what}`}…`);
        try {
          const made = await editor.fromFile(file, schema);
          input = made;
          told("");
          return made;
        } catch (failure) {
          told("", failure.message);
          return null;
        }
      };
      const paste = async (event) => {
        const [file] = event.clipboardData?.files ?? [];
        if (!file) return;
        event.preventDefault();
        const made = await take(file);
        if (!made) return;
        write(made);
        changed({now: true});
      };
      const maker = more({
        property: schema.properties[property(schema)],
        describedBy,
        fail: (text) => told("", text),
        // What was drawn is on screen already; what was recorded is not.
        take: async (file, {isShown = false} = {}) => {
          const made = await take(file);
          if (!made) return;
          if (!isShown) write(made);
          changed({now: true});
        },
      });
      shown.hidden = true;
      const hint = element("p", {class: "hint", text: `Drop a ${what} here, paste one, or open a file.`});
      const attributes = {class: "input-drop", tabindex: 0, role: "group", "aria-label": label, "aria-describedby": describedBy, on: {paste}};
      const box = element("div", attributes, shown, maker?.node, hint);
      host.append(box);
      return {
        read: () => (input === null ? {problem: `No ${what} yet.`} : {input}),
        write,
        focus: () => (maker?.focus ?? (() => box.focus()))(),
      };
    },
  };
  return editor;
}
