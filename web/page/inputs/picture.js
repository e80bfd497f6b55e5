// Input editor for one picture: dropped, pasted, or opened as a file of any kind that the browser knows. Large
// pictures are made smaller here, so that a photo goes through the server's limit.

import {element} from "fovea/parts/dom.js";
import {count} from "fovea/parts/format.js";

const longestSide = 640;
const mostBytes = 600_000; // of a file; as base64 in JSON it stays well below one MiB
const sentAsTheyAre = ["image/png", "image/jpeg"]; // what the server reads

/** The property of the schema that is a picture, or undefined where there is not exactly one property. */
function pictureOf(schema) {
  const entries = Object.entries(schema.properties ?? {});
  const [name, property] = entries[0] ?? [];
  const isPicture = entries.length === 1 && /^image\//.test(property.contentMediaType ?? "");
  return isPicture ? name : undefined;
}

function readAsUrl(blob) {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(reader.result);
    reader.onerror = () => reject(new Error("The picture cannot be read."));
    reader.readAsDataURL(blob);
  });
}

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

async function urlOf(file) {
  let bitmap;
  try {
    bitmap = await createImageBitmap(file);
  } catch (cause) {
    throw new Error(`${file.name || "This"} is no picture that can be read.`, {cause});
  }
  const small = file.size <= mostBytes && Math.max(bitmap.width, bitmap.height) <= 4 * longestSide;
  let blob = file;
  if (!small || !sentAsTheyAre.includes(file.type)) {
    blob = await drawn(bitmap, "image/png");
    if (blob.size > mostBytes) blob = await drawn(bitmap, "image/jpeg");
  }
  const url = await readAsUrl(blob);
  return url.replace(";base64,", `;name=${encodeURIComponent(file.name || "picture")};base64,`);
}

function nameIn(url) {
  const name = /^data:[^,]*;name=([^;,]*)/.exec(url)?.[1];
  return name ? decodeURIComponent(name) : "";
}

/** See inputs/index.js. */
export const picture = {
  accept: "image/*",

  fits(schema) {
    return schema.type === "object" && pictureOf(schema) !== undefined;
  },

  parse(line, schema) {
    const trimmed = line.trim();
    const input = trimmed.startsWith("{") ? JSON.parse(trimmed) : {[pictureOf(schema)]: trimmed};
    if (!/^data:image\//.test(input[pictureOf(schema)] ?? "")) {
      throw new Error("Drop or open a picture: a text cannot stand for one.");
    }
    return input;
  },

  fromCells(header, cells, schema) {
    const place = header?.indexOf(pictureOf(schema)) ?? 0;
    return picture.parse(cells[Math.max(0, place)] ?? "", schema);
  },

  async fromFile(file, schema) {
    return {[pictureOf(schema)]: await urlOf(file)};
  },

  text(input) {
    return JSON.stringify(input);
  },

  caption(input) {
    const [url] = Object.values(input);
    return nameIn(url) || `picture, ${count((url.length * 3) / 4)} bytes`;
  },

  thumbnail(input) {
    return element("img", {class: "input-thumbnail", src: Object.values(input)[0], alt: picture.caption(input)});
  },

  mount(host, {schema, changed, label}) {
    const name = pictureOf(schema);
    let input = null;
    const image = element("img", {class: "input-picture", alt: "", hidden: true});
    const hint = element("p", {class: "hint", text: "Drop a picture here, paste one, or open a file."});
    const problem = element("p", {class: "problem", role: "status"});
    const show = () => {
      image.hidden = input === null;
      if (input === null) return;
      image.src = input[name];
      image.alt = picture.caption(input);
    };
    const paste = async (event) => {
      const [file] = event.clipboardData?.files ?? [];
      if (!file) return;
      event.preventDefault();
      try {
        input = await picture.fromFile(file, schema);
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
      image,
      hint,
      problem,
    );
    host.append(box);
    return {
      read: () => (input === null ? {problem: "Drop a picture to see an answer."} : {input}),
      write(given) {
        input = given;
        show();
      },
      focus: () => box.focus(),
    };
  },
};
