// Input editor for one sound: dropped, pasted, or opened as a file of any kind that the browser knows. What is
// no small WAV or FLAC file becomes one here, with one channel, so that it goes through the server's limit.

import {element} from "fovea/parts/dom.js";
import {count} from "fovea/parts/format.js";

const rate = 16_000; // samples of a second of what is made here
const mostBytes = 600_000; // of a file; as base64 in JSON it stays well below one MiB
const sentAsTheyAre = ["audio/wav", "audio/x-wav", "audio/wave", "audio/flac", "audio/x-flac"];

/** The property of the schema that is a sound, or undefined where there is not exactly one property. */
function soundOf(schema) {
  const entries = Object.entries(schema.properties ?? {});
  const [name, property] = entries[0] ?? [];
  const isSound = entries.length === 1 && /^audio\//.test(property.contentMediaType ?? "");
  return isSound ? name : undefined;
}

function readAsUrl(blob) {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(reader.result);
    reader.onerror = () => reject(new Error("The sound cannot be read."));
    reader.readAsDataURL(blob);
  });
}

/** Samples in -1 … 1 as a WAV file of 16 bits. */
function wavOf(samples) {
  const view = new DataView(new ArrayBuffer(44 + 2 * samples.length));
  const word = (at, text) => [...text].forEach((letter, i) => view.setUint8(at + i, letter.charCodeAt(0)));
  word(0, "RIFF");
  view.setUint32(4, 36 + 2 * samples.length, true);
  word(8, "WAVEfmt ");
  view.setUint32(16, 16, true);
  view.setUint16(20, 1, true); // plain numbers
  view.setUint16(22, 1, true); // one channel
  view.setUint32(24, rate, true);
  view.setUint32(28, 2 * rate, true);
  view.setUint16(32, 2, true);
  view.setUint16(34, 16, true);
  word(36, "data");
  view.setUint32(40, 2 * samples.length, true);
  samples.forEach((value, i) => {
    view.setInt16(44 + 2 * i, Math.max(-32768, Math.min(32767, Math.round(value * 32768))), true);
  });
  return new Blob([view], {type: "audio/wav"});
}

/** The sound at `rate`, its channels mixed. */
async function decoded(file) {
  const sound = await new OfflineAudioContext(1, 1, rate).decodeAudioData(await file.arrayBuffer());
  const context = new OfflineAudioContext(1, Math.max(1, sound.length), rate);
  const source = new AudioBufferSourceNode(context, {buffer: sound});
  source.connect(context.destination);
  source.start();
  return wavOf((await context.startRendering()).getChannelData(0));
}

async function urlOf(file) {
  let blob = file;
  if (file.size > mostBytes || !sentAsTheyAre.includes(file.type)) {
    try {
      blob = await decoded(file);
    } catch (cause) {
      throw new Error(`${file.name || "This"} is no sound that can be read.`, {cause});
    }
  }
  if (blob.size > mostBytes) {
    const seconds = Math.floor(mostBytes / (2 * rate));
    throw new Error(`${file.name || "This"} is too long; the page sends up to ${seconds} seconds.`);
  }
  const url = await readAsUrl(blob);
  return url.replace(";base64,", `;name=${encodeURIComponent(file.name || "sound")};base64,`);
}

function nameIn(url) {
  const name = /^data:[^,]*;name=([^;,]*)/.exec(url)?.[1];
  return name ? decodeURIComponent(name) : "";
}

/** See inputs/index.js. */
export const sound = {
  accept: "audio/*",

  fits(schema) {
    return schema.type === "object" && soundOf(schema) !== undefined;
  },

  parse(line, schema) {
    const trimmed = line.trim();
    const input = trimmed.startsWith("{") ? JSON.parse(trimmed) : {[soundOf(schema)]: trimmed};
    if (!/^data:audio\//.test(input[soundOf(schema)] ?? "")) {
      throw new Error("Drop or open a sound: a text cannot stand for one.");
    }
    return input;
  },

  fromCells(header, cells, schema) {
    const place = header?.indexOf(soundOf(schema)) ?? 0;
    return sound.parse(cells[Math.max(0, place)] ?? "", schema);
  },

  async fromFile(file, schema) {
    return {[soundOf(schema)]: await urlOf(file)};
  },

  text(input) {
    return JSON.stringify(input);
  },

  caption(input) {
    const [url] = Object.values(input);
    return nameIn(url) || `sound, ${count((url.length * 3) / 4)} bytes`;
  },

  mount(host, {schema, changed, label}) {
    const name = soundOf(schema);
    let input = null;
    const player = element("audio", {controls: true, hidden: true});
    const hint = element("p", {class: "hint", text: "Drop a sound here, paste one, or open a file."});
    const problem = element("p", {class: "problem", role: "status"});
    const show = () => {
      player.hidden = input === null;
      if (input === null) return;
      player.src = input[name];
      player.setAttribute("aria-label", sound.caption(input));
    };
    const paste = async (event) => {
      const [file] = event.clipboardData?.files ?? [];
      if (!file) return;
      event.preventDefault();
      try {
        input = await sound.fromFile(file, schema);
        problem.textContent = "";
        show();
        changed();
      } catch (failure) {
        problem.textContent = failure.message;
      }
    };
    const box = element(
      "div",
      {class: "input-drop", tabindex: 0, role: "group", "aria-label": label, on: {paste}},
      player,
      hint,
      problem,
    );
    host.append(box);
    return {
      read: () => (input === null ? {problem: "Drop a sound to see an answer."} : {input}),
      write(given) {
        input = given;
        show();
      },
      focus: () => box.focus(),
    };
  },
};
