// Numbers and labels as texts for people. Labels come from strangers: blanks at their ends and characters
// that would move a cursor or turn the writing direction get visible marks.

const unsafe = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g;
const namedEscapes = {"\n": "\\n", "\t": "\\t", "\r": "\\r"};
const segmenter = globalThis.Intl?.Segmenter ? new Intl.Segmenter() : null;

/** Three significant digits; "gap" for what is no finite number. */
export function number(value) {
  if (value === null || value === undefined || !Number.isFinite(value)) return "gap";
  if (value === 0) return "0";
  const magnitude = Math.abs(value);
  const text = magnitude >= 1e6 || magnitude < 1e-4 ? scientific(value) : fixed(value, magnitude);
  return text.replace("-", "−");
}

/** A share of 1 as per cent: "12.3 %", "<0.1 %". */
export function percent(share) {
  if (share === null || share === undefined || !Number.isFinite(share)) return "gap";
  const value = share * 100;
  if (value !== 0 && Math.abs(value) < 0.1) return value > 0 ? "<0.1 %" : ">−0.1 %";
  return `${number(Number(value.toFixed(1)))} %`;
}

/** A whole number with separators: "16,777,216". */
export function count(n) {
  return String(Math.round(n)).replace(/\B(?=(\d{3})+(?!\d))/g, ",");
}

/** The label with marks for blanks at its ends, control characters and direction marks; "(empty)" when it
    is empty. */
export function visible(label) {
  const text = String(label ?? "");
  if (text === "") return "(empty)";
  return text
    .replace(unsafe, escaped)
    .replace(/^[ \u00a0\u3000]+|[ \u00a0\u3000]+$/g, (blanks) => "␣".repeat(blanks.length));
}

/** At most `characters` characters as people count them, the last an ellipsis when something was cut off. */
export function shorten(text, characters) {
  if (text.length <= characters) return text;
  const pieces = segmenter ? Array.from(segmenter.segment(text), (piece) => piece.segment) : Array.from(text);
  return pieces.length <= characters ? text : `${pieces.slice(0, Math.max(0, characters - 1)).join("")}…`;
}

function escaped(character) {
  if (namedEscapes[character]) return namedEscapes[character];
  const digits = character.codePointAt(0).toString(16);
  return digits.length > 2 ? `\\u${digits.padStart(4, "0")}` : `\\x${digits.padStart(2, "0")}`;
}

function scientific(value) {
  const [digits, exponent] = value.toExponential(2).split("e");
  return `${digits.replace(/\.?0+$/, "")}e${exponent.replace("+", "")}`;
}

function fixed(value, magnitude) {
  if (magnitude >= 1000) return count(Math.abs(value)).replace(/^/, value < 0 ? "-" : "");
  return String(Number(value.toPrecision(3)));
}
