// Input editor for one sound: recorded, dropped, pasted, or opened as a file of any kind that the browser knows. What
// is no small WAV or FLAC file becomes one here, with one channel, so that it goes through the server's limit.

import {element} from "fovea/parts/dom.js";
import {Recorder} from "fovea/page/fields/recorder.js";
import {mediaEditor, mostBytes} from "fovea/page/inputs/media.js";

const rate = 16_000; // samples of a second of what is made here
const longest = Math.floor(mostBytes / (2 * rate)); // in seconds
const sentAsTheyAre = ["audio/wav", "audio/x-wav", "audio/wave", "audio/flac", "audio/x-flac"];

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

async function small(file) {
  if (file.size <= mostBytes && sentAsTheyAre.includes(file.type)) return file;
  let wav;
  try {
    wav = await decoded(file);
  } catch (cause) {
    throw new Error(`${file.name || "This"} is no sound that can be read.`, {cause});
  }
  if (wav.size <= mostBytes) return wav;
  throw new Error(`${file.name || "This"} is too long; the page sends up to ${longest} seconds.`);
}

/** See inputs/index.js. */
export const sound = mediaEditor({
  what: "sound",
  type: "audio",
  small,
  frame: () => element("audio", {class: "input-sound", controls: true}),
  show(player, url, caption) {
    player.src = url;
    player.setAttribute("aria-label", caption);
  },
  more({take, fail}) {
    const recorder = new Recorder({seconds: longest, recorded: (file) => take(file), failed: fail});
    return {node: recorder.node, show: () => {}, hidesFrame: false, focus: () => recorder.button.focus()};
  },
});
