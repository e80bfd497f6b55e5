// Colours for both themes. The ramps are straight paths in OKLab with even steps of lightness, so that equal
// steps of weight look equal, also to colour-blind eyes; the diverging one runs from blue through paper to
// orange-brown.

const tableSize = 256;

// Stops as OKLCH (lightness, chroma, hue in degrees), from no weight to the largest.
const ramps = {
  light: {
    sequential: [
      [0.985, 0.004, 250], [0.86, 0.062, 240], [0.66, 0.125, 250], [0.46, 0.135, 259], [0.27, 0.085, 264],
    ],
    negative: [[0.985, 0.002, 250], [0.8, 0.085, 245], [0.58, 0.135, 253], [0.36, 0.12, 262]],
    positive: [[0.985, 0.002, 80], [0.83, 0.105, 72], [0.64, 0.14, 55], [0.4, 0.1, 46]],
  },
  dark: {
    sequential: [
      [0.235, 0.012, 260], [0.37, 0.075, 262], [0.55, 0.125, 256], [0.75, 0.11, 238], [0.95, 0.045, 215],
    ],
    negative: [[0.235, 0.004, 260], [0.4, 0.1, 260], [0.6, 0.135, 250], [0.86, 0.085, 230]],
    positive: [[0.235, 0.004, 80], [0.4, 0.085, 50], [0.62, 0.135, 58], [0.88, 0.1, 82]],
  },
};

// Categories after Okabe and Ito's set, with lightness moved so that each stands off the paper of its theme.
const categories = {
  light: ["#0063a3", "#c75000", "#00795c", "#a6417f", "#8a6d00", "#2b8fc4", "#5b5b66", "#6b3fa0"],
  dark: ["#62b4f0", "#f2944a", "#2fc29b", "#e593c1", "#e6cf4a", "#8ad0f7", "#b9bcc6", "#b89af0"],
};

const darkScheme = window.matchMedia("(prefers-color-scheme: dark)");
const listeners = new Set();
const tables = new Map();
const properties = new Map();

let isPrinting = false;

/** "light" or "dark": the document's data-theme, or what the system prefers; paper is light. */
export function theme() {
  if (isPrinting) return "light";
  const chosen = document.documentElement.dataset.theme;
  if (chosen === "light" || chosen === "dark") return chosen;
  return darkScheme.matches ? "dark" : "light";
}

/** Whether the document is being printed: nothing may wait for the next frame then. */
export function printing() {
  return isPrinting;
}

/** Says that printing begins or ends. The document's own colours follow at once. */
export function setPrinting(is) {
  isPrinting = is;
  document.documentElement.toggleAttribute("data-printing", is);
  properties.clear();
  tellListeners();
}

/** Calls `listener` when the theme changes; returns a function that ends that. */
export function onThemeChange(listener) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** The colour of a share (0..1) of the largest weight. */
export function sequential(share) {
  return tableColour(sequentialTable(), share);
}

/** The colour of a signed share (-1..1). */
export function diverging(share) {
  return tableColour(divergingTable(), (share + 1) / 2);
}

/** 256 x 3 bytes of red, green, blue for shares 0..1 in the current theme. */
export function sequentialTable() {
  return table("sequential", (ramp) => (at) => along(ramp.sequential, at));
}

/** 256 x 3 bytes for shares -1..1; paper lies in the middle. */
export function divergingTable() {
  return table("diverging", (ramp) => (at) =>
    at < 0.5 ? along(ramp.negative, 1 - 2 * at) : along(ramp.positive, 2 * at - 1));
}

/** A text colour that is readable on sequential(share). */
export function ink(share) {
  return contrastInk(sequentialTable(), share);
}

/** A text colour that is readable on diverging(share). */
export function divergingInk(share) {
  return contrastInk(divergingTable(), (share + 1) / 2);
}

/** A colour of its own for category `index`; they repeat after eight. */
export function series(index) {
  const list = categories[theme()];
  return list[((index % list.length) + list.length) % list.length];
}

/** The colour that the custom property --name of the document stands for, as rgb(…). */
export function colour(name) {
  const key = `${theme()} ${name}`;
  // Asking the style is slow, and drawing asks often.
  if (!properties.has(key)) properties.set(key, resolved(`var(--${name})`));
  return properties.get(key);
}

// Only a property that is a colour by itself comes out of a style as numbers.
function resolved(value) {
  const probe = document.createElement("i");
  probe.style.color = value;
  document.documentElement.append(probe);
  const {color} = getComputedStyle(probe);
  probe.remove();
  return color;
}

function tableColour(bytes, share) {
  const at = 3 * tableIndex(share);
  return `rgb(${bytes[at]}, ${bytes[at + 1]}, ${bytes[at + 2]})`;
}

function tableIndex(share) {
  return Math.round(Math.min(1, Math.max(0, share || 0)) * (tableSize - 1));
}

function contrastInk(bytes, share) {
  const at = 3 * tableIndex(share);
  const [red, green, blue] = bytes.subarray(at, at + 3);
  const luminance = 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue);
  return luminance > 0.179 ? "#000000" : "#ffffff";  // either has at least 4.5 : 1 then
}

function table(name, pathOf) {
  const key = `${theme()} ${name}`;
  if (!tables.has(key)) {
    const path = pathOf(ramps[theme()]);
    const bytes = new Uint8ClampedArray(3 * tableSize);
    for (let i = 0; i < tableSize; ++i) bytes.set(toRgb(path(i / (tableSize - 1))), 3 * i);
    tables.set(key, bytes);
  }
  return tables.get(key);
}

// A point of the path through OKLab that the stops span, `at` in 0..1.
function along(stops, at) {
  const place = Math.min(1, Math.max(0, at)) * (stops.length - 1);
  const index = Math.min(stops.length - 2, Math.floor(place));
  const share = place - index;
  const from = toLab(stops[index]);
  const to = toLab(stops[index + 1]);
  return from.map((value, i) => value + share * (to[i] - value));
}

function toLab([lightness, chroma, hue]) {
  const angle = (hue * Math.PI) / 180;
  return [lightness, chroma * Math.cos(angle), chroma * Math.sin(angle)];
}

function toRgb([lightness, a, b]) {
  const long = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const medium = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const short = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
  return [
    gamma(4.0767416621 * long - 3.3077115913 * medium + 0.2309699292 * short),
    gamma(-1.2684380046 * long + 2.6097574011 * medium - 0.3413193965 * short),
    gamma(-0.0041960863 * long - 0.7034186147 * medium + 1.707614701 * short),
  ];
}

function gamma(value) {
  return 255 * (value <= 0.0031308 ? 12.92 * value : 1.055 * value ** (1 / 2.4) - 0.055);
}

function linear(byte) {
  const value = byte / 255;
  return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
}

function tellListeners() {
  listeners.forEach((listener) => listener(theme()));
}

darkScheme.addEventListener("change", tellListeners);
new MutationObserver(tellListeners).observe(document.documentElement, {attributeFilter: ["data-theme"]});
