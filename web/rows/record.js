// A record of rows (docs/formats/rows.md): what a network answered to every row beside what is right, column
// by column.
import {ChunkStore} from "fovea/model/chunks.js";
import {Column} from "fovea/rows/columns.js";

const version = 1;
const unknownPlaces = {u8: 2 ** 8 - 1, u32: 2 ** 32 - 1};
const rowsAtOnce = 2000;  // of the haystack
const whenIdle = window.requestIdleCallback ?? ((work) => setTimeout(work, 50));
const arrays = {u8: Uint8Array, u32: Uint32Array, f32: Float32Array, f64: Float64Array};

/** All columns of some rows. `kind` is one of kinds.js. */
export class Rows {
  /** The record that a report holds. */
  static fromDocument(document) {
    const source = (index) => document.getElementById(`chunk-${index}`)?.textContent.trim();
    return Rows.fromJson(JSON.parse(document.getElementById("rows").textContent), source);
  }

  /** Reads the JSON value; `chunkSource(i)` gives chunk i as base64, by default from the value's own list. */
  static async fromJson(value, chunkSource = (index) => value.chunks?.[index]) {
    if (value?.format !== "fovea-rows") throw new Error("this is no record of rows of Fovea");
    if (value.version !== version) {
      throw new Error(`a record of rows of version ${value.version}; this viewer reads ${version}`);
    }
    const store = new ChunkStore(chunkSource);
    const read = (column) => columnOf(column, value, store);
    return new Rows({...value, count: value.rows, columns: await Promise.all(value.columns.map(read))});
  }

  constructor({kind, count, columns, explained = [], ...others}) {
    Object.assign(this, {kind, count, columns, explained, notes: [], ...others});
    this.pictured = new Set(explained);  // rows with an explanation
    if (kind === "number") this.columns = withResiduals(columns);
  }

  #haystack = [];

  /** The column of a role, or undefined. */
  column(role) {
    return this.columns.find((column) => column.role === role);
  }

  /** What the search looks through: a text for each row, without case. */
  haystack() {
    this.#gather(this.count);
    return this.#haystack;
  }

  /** Makes the haystack while nobody waits for it. */
  prepare() {
    if (this.#haystack.length === this.count) return;
    this.#gather(Math.min(this.count, this.#haystack.length + rowsAtOnce));
    whenIdle(() => this.prepare());
  }

  #gather(end) {
    const searched = this.columns.filter(({role}) => !["right", "supported", "beside_right", "agreement"].includes(role));
    while (this.#haystack.length < end) {
      const row = this.#haystack.length;
      this.#haystack.push(searched.map((column) => column.words(row)).join("\n"));
    }
  }
}

async function columnOf(stored, {rows, compression}, store) {
  const {role, name, about, names, encoding, bytes: size, chunk} = stored;
  const bytes = await store.bytes(chunk, compression, size);
  const common = {role, name, about, names};
  if (encoding === "texts" || encoding === "sets") {
    const values = JSON.parse(new TextDecoder().decode(bytes));
    return checked(new Column({...common, type: encoding === "texts" ? "text" : "set", values}), rows);
  }
  const Numbers = arrays[encoding];
  if (!Numbers) throw new Error(`the column "${name}" has the unknown encoding "${encoding}"`);
  const values = new Numbers(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength));
  if (!(encoding in unknownPlaces)) {
    return checked(new Column({...common, type: "number", values, exact: encoding === "f64"}), rows);
  }
  const unknown = unknownPlaces[encoding];
  const places = Int32Array.from(values, (place) => (place === unknown ? -1 : place));
  if (places.some((place) => place >= names.length)) throw new Error(`the column "${name}" leaves its names`);
  return checked(new Column({...common, type: "place", values: places}), rows);
}

function checked(column, rows) {
  if (column.values.length === rows) return column;
  throw new Error(`the column "${column.name}" has ${column.values.length} of ${rows} rows`);
}

// Answer less truth, and its size.
function withResiduals(columns) {
  const find = (role) => columns.find((column) => column.role === role);
  const [answer, truth] = [find("answer"), find("truth")];
  if (!answer || !truth) return columns;
  const residuals = Float64Array.from(answer.values, (value, row) => value - truth.values[row]);
  const absolute = residuals.map(Math.abs);
  const place = columns.indexOf(truth) + 1;
  return [
    ...columns.slice(0, place),
    new Column({role: "residual", name: "residual", about: "answer − truth", type: "number", values: residuals}),
    new Column({role: "error", name: "absolute error", type: "number", values: absolute}),
    ...columns.slice(place),
  ];
}
