// A packed matrix: bands of rows in chunks, quantised or float32, with overview levels and the exact largest
// weights of each row.
import {Matrix, topOf, words} from "fovea/model/matrix.js";

const noKey = 2 ** 32 - 1;
// The share of the row's scale that a byte stands for, by encoding.
const shares = {
  u8: Float32Array.from({length: 256}, (_, byte) => (byte === 255 ? NaN : (byte / 254) ** 2)),
  i8: Float32Array.from({length: 256}, (_, byte) => {
    const signed = byte < 128 ? byte : byte - 256;
    return signed === -128 ? NaN : Math.sign(signed) * (signed / 127) ** 2;
  }),
};

/** See "Packed" in the format. */
export class PackedMatrix extends Matrix {
  constructor(packed, store) {
    const {rows, columns} = packed;
    const sizes = [{factor: 1, chunks: packed.chunks, band: packed.band}, ...(packed.levels ?? [])];
    super(rows, columns, sizes.map((level) => ({
      ...level, rows: Math.ceil(rows / level.factor), columns: Math.ceil(columns / level.factor),
    })));
    Object.assign(this, {packed, store, exact: packed.encoding === "f32"});
  }

  async band(level, begin, end) {
    const {band: height, columns} = this.levels[level];
    const weights = new Float32Array((end - begin) * columns);
    const first = Math.floor(begin / height);
    const pieces = [];
    for (let piece = first; piece * height < end; ++piece) pieces.push(this.#chunk(level, piece));
    (await Promise.all(pieces)).forEach((bytes, i) => {
      const start = (first + i) * height;
      const from = Math.max(begin, start);
      const to = Math.min(end, start + height);
      const target = weights.subarray((from - begin) * columns, (to - begin) * columns);
      this.#unpack(bytes, this.#rowsOf(level, first + i), columns, from - start, target);
    });
    return weights;
  }

  lookup(query, key) {
    const exact = this.#exactEntry(query, key);
    if (exact) return exact;
    const {band: height, chunks} = this.levels[0];
    const piece = Math.floor(query / height);
    const bytes = this.store.peek(chunks[piece]);
    if (!bytes) return undefined;
    const value = this.#weight(bytes, this.#rowsOf(0, piece), query - piece * height, key);
    return {value, exact: this.exact};
  }

  async cell(query, key) {
    if (!this.exact && this.packed.top) await this.#loadTop();
    return super.cell(query, key);
  }

  async top(index) {
    if (!this.packed.top) return topOf(await this.row(index));
    const {keys, values, count} = await this.#loadTop();
    const entries = [];
    for (let at = index * count; at < (index + 1) * count && keys[at] !== noKey; ++at) {
      entries.push({key: keys[at], value: values[at]});
    }
    return entries;
  }

  #rowsOf(level, piece) {
    const {rows, band} = this.levels[level];
    return Math.min(band, rows - piece * band);
  }

  #chunk(level, piece) {
    const {chunks, columns} = this.levels[level];
    const rows = this.#rowsOf(level, piece);
    const size = this.packed.encoding === "f32" ? 4 * rows * columns : rows * (4 + columns);
    return this.store.bytes(chunks[piece], this.packed.compression, size);
  }

  // Rows from `firstRow` of a chunk into `target`, as many as it holds.
  #unpack(bytes, rows, columns, firstRow, target) {
    if (this.exact) {
      target.set(words(bytes, Float32Array).subarray(firstRow * columns, firstRow * columns + target.length));
      return;
    }
    const scales = words(bytes.subarray(0, 4 * rows), Float32Array);
    const share = shares[this.packed.encoding];
    let source = 4 * rows + firstRow * columns;
    for (let at = 0, row = firstRow; at < target.length; ++row) {
      const scale = scales[row];
      for (const end = at + columns; at < end; ++at, ++source) target[at] = share[bytes[source]] * scale;
    }
  }

  #weight(bytes, rows, row, key) {
    const {columns} = this;
    if (this.exact) return words(bytes, Float32Array)[row * columns + key];
    const scale = words(bytes.subarray(4 * row, 4 * row + 4), Float32Array)[0];
    return shares[this.packed.encoding][bytes[4 * rows + row * columns + key]] * scale;
  }

  #exactEntry(query, key) {
    const {top} = this.packed;
    const keyBytes = top && this.store.peek(top.keys);
    const valueBytes = top && this.store.peek(top.values);
    if (!keyBytes || !valueBytes) return undefined;
    const at = words(keyBytes, Uint32Array).subarray(query * top.count, (query + 1) * top.count).indexOf(key);
    return at < 0 ? undefined : {value: words(valueBytes, Float32Array)[query * top.count + at], exact: true};
  }

  async #loadTop() {
    const {top, compression} = this.packed;
    const size = 4 * this.rows * top.count;
    const read = (chunk) => this.store.bytes(chunk, compression, size);
    const [keys, values] = await Promise.all([read(top.keys), read(top.values)]);
    return {keys: words(keys, Uint32Array), values: words(values, Float32Array), count: top.count};
  }
}
