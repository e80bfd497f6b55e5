// One column of a record of rows, and how its cells are read, ordered and searched.
import {number} from "fovea/parts/format.js";

const digits = 6;       // of numbers that were written exactly
const singleDigits = 7; // of a float32: more are noise

/** `type`: "text", "number", "place" (in `names`; -1: not known) or "set" (of places). */
export class Column {
  #ranks = null;
  #numbers = undefined;

  constructor({role, name, about = "", type, values, names = [], exact = true}) {
    Object.assign(this, {role, name, about, type, values, names, exact});
  }

  /** What is known of the row: a text, a number, or null. */
  value(row) {
    const value = this.values[row];
    if (this.type === "place") return value < 0 ? null : this.names[value];
    if (this.type === "set") return value.map((place) => this.names[place]).join("|");
    if (this.type === "text") return value;
    if (Number.isNaN(value)) return null;
    return this.exact ? value : Number(value.toPrecision(singleDigits));
  }

  /** The same for people. */
  text(row) {
    const value = this.value(row);
    if (value === null) return "";
    if (this.type === "set") return value === "" ? "(none)" : value.replaceAll("|", ", ");
    if (typeof value !== "number") return value;
    return this.exact ? String(Number(value.toPrecision(digits))).replace("-", "−") : number(value);
  }

  /** The same, to be searched, without case. */
  words(row) {
    return this.type === "number" ? this.text(row) : String(this.value(row) ?? "").toLocaleLowerCase();
  }

  /** The numbers of the rows, where all that is known is one, $1,200 and 12 % too; else null. */
  numbers() {
    if (this.#numbers === undefined) this.#numbers = this.type === "number" ? this.values : this.#read();
    return this.#numbers;
  }

  /** Places of the rows in rising order, a Float64Array; NaN where nothing is known. */
  ranks() {
    this.#ranks ??= Float64Array.from(this.numbers() ?? this.#textRanks());
    return this.#ranks;
  }

  #read() {
    if (this.role !== "cell" || this.type === "set") return null;
    const source = this.type === "place" ? this.names : this.values;
    const numbers = new Float64Array(source.length);
    for (let i = 0; i < source.length; ++i) {
      numbers[i] = numberIn(source[i]);
      if (Number.isNaN(numbers[i]) && source[i].trim() !== "") return null;
    }
    if (numbers.every(Number.isNaN)) return null;
    return this.type === "text" ? numbers : Float64Array.from(this.values, (place) => numbers[place] ?? NaN);
  }

  #textRanks() {
    const source = this.type === "place" ? this.names : this.values.map((_, row) => this.value(row));
    const words = source.map((text) => String(text ?? "").toLocaleLowerCase());
    const order = words.map((_, place) => place).sort((a, b) => compare(words[a], words[b]));
    const ranks = new Float64Array(words.length);
    let rank = -1;
    order.forEach((place, i) => {
      if (i === 0 || words[place] !== words[order[i - 1]]) ++rank;
      ranks[place] = rank;
    });
    if (this.type !== "place") return ranks;
    return Float64Array.from(this.values, (place) => (place < 0 ? NaN : ranks[place]));
  }
}

// Without a currency, a per cent sign and commas between thousands; NaN where something else is left.
function numberIn(text) {
  const bare = text.trim().replace(/^([-+]?)\p{Sc}\s*/u, "$1").replace(/\s*[%\p{Sc}]$/u, "").replace(/,(?=\d{3}(\D|$))/g, "");
  return bare === "" ? NaN : Number(bare);
}

function compare(left, right) {
  return left < right ? -1 : left > right ? 1 : 0;
}
