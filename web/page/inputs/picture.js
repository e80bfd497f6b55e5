// Input editor for one picture: dropped, pasted, or opened as a file of any kind that the browser knows; of one
// channel also drawn on a pad. Large pictures are made smaller here, so that a photo goes through the server's limit.

import {element} from "fovea/parts/dom.js";
import {Pad} from "fovea/page/fields/pad.js";
import {mediaEditor, mostBytes} from "fovea/page/inputs/media.js";

const longestSide = 640;
const sentAsTheyAre = ["image/png", "image/jpeg"]; // what the server reads

/** The picture drawn anew, not larger than `longestSide`; what is see-through lies on white in a JPEG. */
async function drawn(bitmap, type) {
  const scale = Math.min(1, longestSide / Math.max(bitmap.width, bitmap.height));
  const size = (side) => Math.max(1, Math.round(side * scale));
  const canvas = element("canvas", {width: size(bitmap.width), height: size(bitmap.height)});
  const context = canvas.getContext("2d");
  if (type === "image/jpeg") {
    context.fillStyle = "#ffffff";
    context.fillRect(0, 0, canvas.width, canvas.height);
  }
  context.imageSmoothingQuality = "high";
  context.drawImage(bitmap, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve) => canvas.toBlob(resolve, type, 0.92));
}

async function small(file) {
  let bitmap;
  try {
    bitmap = await createImageBitmap(file);
  } catch (cause) {
    throw new Error(`${file.name || "This"} is no picture that can be read.`, {cause});
  }
  const fits = file.size <= mostBytes && Math.max(bitmap.width, bitmap.height) <= 4 * longestSide;
  if (fits && sentAsTheyAre.includes(file.type)) return file;
  const exact = await drawn(bitmap, "image/png");
  return exact.size <= mostBytes ? exact : drawn(bitmap, "image/jpeg");
}

/** A pad where the network sees one channel: on photos nobody draws. */
function padFor({property, take, describedBy}) {
  const {channels, width, height} = property.picture ?? {};
  if (channels !== 1) return null;
  let last = Promise.resolve(); // strokes follow each other more quickly than files are made
  const pad = new Pad({
    width,
    height,
    describedBy,
    changed: () => (last = last.then(async () => take(new File([await pad.blob()], "drawing", {type: "image/png"}), {isShown: true}))),
  });
  return {node: pad.node, show: (url) => pad.show(url), hidesFrame: true, focus: () => pad.canvas.focus()};
}

/** See inputs/index.js. */
export const picture = {
  ...mediaEditor({
    what: "picture",
    type: "image",
    small,
    frame: () => element("img", {class: "input-picture", alt: ""}),
    show: (image, src, alt) => Object.assign(image, {src, alt}),
    more: padFor,
  }),

  thumbnail(input) {
    return element("img", {class: "input-thumbnail", src: Object.values(input)[0], alt: picture.caption(input)});
  },
};
