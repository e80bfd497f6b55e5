// What a reader takes away: CSV, stand-alone SVG, PNG drawn from it, and the download itself.
import {colour} from "fovea/parts/colour.js";

const forbiddenInXml = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g;

/** Rows of cells as CSV (RFC 4180). Texts that a spreadsheet would run as a formula get a quote mark in
    front. */
export function csvText(rows) {
  return rows.map((row) => row.map(csvCell).join(",")).join("\r\n") + "\r\n";
}

/** Text of a stand-alone SVG: concrete colours, a title and a description. `children`: SVG nodes, or their
    text. */
export function svgDocument({width, height, title = "", description = ""}, children) {
  const body = typeof children === "string" ? children : [children].flat().map(serialised).join("");
  const text = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" ` +
    `viewBox="0 0 ${width} ${height}" role="img" font-family="system-ui, sans-serif" font-size="12">` +
    `<title>${escapeXml(title)}</title><desc>${escapeXml(description)}</desc>` +
    `<rect width="100%" height="100%" fill="var(--paper)"/>${body}</svg>\n`;
  const coloured = text.replace(/var\(--([\w-]+)\)/g, (_, name) => colour(name));
  return coloured.toWellFormed().replace(forbiddenInXml, "\ufffd");
}

/** The SVG drawn at `scale` pixels per unit. */
export async function svgToPng(svgText, scale = 2) {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svgText)}`;
  await image.decode();
  const canvas = document.createElement("canvas");
  canvas.width = Math.round(image.naturalWidth * scale);
  canvas.height = Math.round(image.naturalHeight * scale);
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve, reject) => {
    const tooLarge = new Error("the picture is too large for this browser");
    const done = (blob) => (blob ? resolve(blob) : reject(tooLarge));
    canvas.toBlob(done, "image/png");
  });
}

/** Saves a blob or a text under a name. */
export function download(fileName, blobOrText, type = "text/plain") {
  const blob = blobOrText instanceof Blob ? blobOrText : new Blob([blobOrText], {type});
  const address = URL.createObjectURL(blob);
  const link = document.createElement("a");
  link.href = address;
  link.download = fileName.replace(/[^\p{L}\p{N}._-]+/gu, "-");
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
}

// Text that is safe inside XML elements and attributes.
function escapeXml(text) {
  const marks = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;"};
  return String(text).replace(/[&<>"']/g, (character) => marks[character]);
}

function csvCell(value) {
  if (value === null || value === undefined || Number.isNaN(value)) return "";
  if (typeof value === "boolean") return String(Number(value));
  if (typeof value === "number") return String(value);
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function serialised(child) {
  return typeof child === "string" ? child : new XMLSerializer().serializeToString(child);
}
