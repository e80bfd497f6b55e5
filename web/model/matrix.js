// Matrices of weights whichever way they are stored. A view asks for rows, or for bands of an overview level;
// only what it asks for is decoded. A gap is NaN.

const levelFactor = 4;
const smallestLevel = 64;

// The matrix itself, then a fourth of its rows and columns, until at most 64 x 64 is left.
function levelsOf(rows, columns) {
  const levels = [{factor: 1, rows, columns}];
  while (Math.max(levels.at(-1).rows, levels.at(-1).columns) > smallestLevel) {
    const factor = levels.at(-1).factor * levelFactor;
    levels.push({factor, rows: Math.ceil(rows / factor), columns: Math.ceil(columns / factor)});
  }
  return levels;
}

/** What all kinds share. A kind gives band(), and lookup() where it can answer at once. */
export class Matrix {
  constructor(rows, columns, levels) {
    Object.assign(this, {rows, columns, levels, exact: true});
    this.rangePromise = null;
  }

  /** Rows begin … end-1 of a level as one Float32Array, row by row. */
  async band(level, begin, end) {
    throw new Error(`no band ${level} ${begin} ${end}`);
  }

  /** {value, exact} when it is at hand, else undefined. */
  lookup() {
    return undefined;
  }

  /** The weight when it is at hand, else undefined. */
  peek(query, key) {
    return this.lookup(query, key)?.value;
  }

  /** {value, exact}, decoded when need be. */
  async cell(query, key) {
    return this.lookup(query, key) ?? {value: (await this.row(query))[key], exact: this.exact};
  }

  /** One row. */
  row(index) {
    return this.band(0, index, index + 1);
  }

  /** All rows: Float32Array of rows x columns. */
  all() {
    return this.band(0, 0, this.rows);
  }

  /** The keys of largest magnitude of a row in falling order, [{key, value}]: at most 16. */
  async top(index) {
    return topOf(await this.row(index));
  }

  /** {low, high} of all weights; both 0 where there are none. Overview levels hold what is largest in
      magnitude. */
  range() {
    this.rangePromise ??= this.#range();
    return this.rangePromise;
  }

  /** The largest magnitude. */
  async largest() {
    const {low, high} = await this.range();
    return Math.max(-low, high);
  }

  async #range() {
    const level = this.levels.length - 1;
    const weights = await this.band(level, 0, this.levels[level].rows);
    let low = 0;
    let high = 0;
    for (const weight of weights) {
      if (weight < low) low = weight;
      if (weight > high) high = weight;
    }
    return {low, high};
  }
}

/** Rows as they stand in JSON: lists of numbers and nulls. */
export class ListMatrix extends Matrix {
  constructor(lists, columns) {
    super(lists.length, columns, levelsOf(lists.length, columns));
    this.values = new Float64Array(lists.length * columns);
    lists.forEach((list, row) => {
      for (let key = 0; key < columns; ++key) this.values[row * columns + key] = list[key] ?? NaN;
    });
    this.pooled = [this.values];
  }

  lookup(query, key) {
    return {value: this.values[query * this.columns + key], exact: true};
  }

  async row(index) {
    return this.values.subarray(index * this.columns, (index + 1) * this.columns);
  }

  async band(level, begin, end) {
    for (let next = this.pooled.length; next <= level; ++next) {
      this.pooled.push(pool(this.pooled[next - 1], this.levels[next - 1], this.levels[next]));
    }
    const {columns} = this.levels[level];
    return Float32Array.from(this.pooled[level].subarray(begin * columns, end * columns));
  }
}

/** Few weights that differ from 0, as rows of rising keys. */
export class SparseMatrix extends Matrix {
  constructor(packed, store) {
    super(packed.rows, packed.columns, levelsOf(packed.rows, packed.columns));
    Object.assign(this, {packed, store, parts: null});
  }

  lookup(query, key) {
    if (!this.parts) return undefined;
    const {starts, keys, values} = this.parts;
    const at = keys.subarray(starts[query], starts[query + 1]).indexOf(key);
    return {value: at < 0 ? 0 : values[starts[query] + at], exact: true};
  }

  async cell(query, key) {
    await this.#load();
    return this.lookup(query, key);
  }

  /** The weights that a row has, in rising order of keys: [{key, value}]. */
  async entries(index) {
    const {starts, keys, values} = await this.#load();
    return Array.from({length: starts[index + 1] - starts[index]},
      (_, i) => ({key: keys[starts[index] + i], value: values[starts[index] + i]}));
  }

  async top(index) {
    const present = (await this.entries(index)).filter(({value}) => !Number.isNaN(value));
    return present.sort((a, b) => Math.abs(b.value) - Math.abs(a.value)).slice(0, 16);
  }

  async band(level, begin, end) {
    const parts = await this.#load();
    const {factor, columns} = this.levels[level];
    const band = new Float32Array((end - begin) * columns);
    for (let row = begin * factor; row < Math.min(end * factor, this.rows); ++row) {
      const target = (Math.floor(row / factor) - begin) * columns;
      for (let at = parts.starts[row]; at < parts.starts[row + 1]; ++at) {
        keepLarger(band, target + Math.floor(parts.keys[at] / factor), parts.values[at], factor);
      }
    }
    return band;
  }

  async #load() {
    this.parts ??= await this.#decode();
    return this.parts;
  }

  async #decode() {
    const {starts: startsChunk, keys: keysChunk, values: valuesChunk, compression} = this.packed;
    const starts = words(await this.store.bytes(startsChunk, compression, 4 * (this.rows + 1)), Uint32Array);
    const stored = starts.at(-1);
    const places = this.rows * this.columns;
    if (stored > places) throw new Error(`${stored} weights for ${places} places`);
    const keys = words(await this.store.bytes(keysChunk, compression, 4 * stored), Uint32Array);
    const values = words(await this.store.bytes(valuesChunk, compression, 4 * stored), Float32Array);
    return {starts, keys, values};
  }
}

/** The mean of matrices of one size, computed from whatever band is asked for. Gaps do not count. */
export class MeanMatrix extends Matrix {
  constructor(matrices) {
    const depth = Math.min(...matrices.map((matrix) => matrix.levels.length));
    super(matrices[0].rows, matrices[0].columns, matrices[0].levels.slice(0, depth));
    this.matrices = matrices;
    this.exact = matrices.every((matrix) => matrix.exact);
  }

  lookup(query, key) {
    const found = this.matrices.map((matrix) => matrix.lookup(query, key));
    if (found.some((cell) => cell === undefined)) return undefined;
    const values = found.map(({value}) => value).filter((value) => !Number.isNaN(value));
    const sum = values.reduce((total, value) => total + value, 0);
    return {value: values.length ? sum / values.length : NaN, exact: found.every(({exact}) => exact)};
  }

  async band(level, begin, end) {
    const bands = await Promise.all(this.matrices.map((matrix) => matrix.band(level, begin, end)));
    const mean = new Float32Array(bands[0].length);
    for (let i = 0; i < mean.length; ++i) {
      let sum = 0;
      let present = 0;
      for (const band of bands) {
        if (band[i] === band[i]) {  // not NaN
          sum += band[i];
          ++present;
        }
      }
      mean[i] = sum / present;
    }
    return mean;
  }
}

/** Little-endian words of decoded bytes. */
export function words(bytes, Type) {
  const aligned = bytes.byteOffset % 4 === 0 ? bytes : bytes.slice();
  return new Type(aligned.buffer, aligned.byteOffset, aligned.length / 4);
}

/** The `count` entries of largest magnitude of a row in falling order; gaps are left out. */
export function topOf(row, count = 16) {
  const best = [];
  for (let key = 0; key < row.length; ++key) {
    const magnitude = Math.abs(row[key]);
    if (!(best.length < count ? magnitude >= 0 : magnitude > Math.abs(best.at(-1).value))) continue;
    let at = best.length;
    while (at > 0 && Math.abs(best[at - 1].value) < magnitude) --at;
    best.splice(at, 0, {key, value: row[key]});
    if (best.length > count) best.pop();
  }
  return best;
}

function pool(values, from, to) {
  const pooled = new Float64Array(to.rows * to.columns).fill(NaN);
  for (let row = 0; row < from.rows; ++row) {
    const target = Math.floor(row / levelFactor) * to.columns;
    for (let key = 0; key < from.columns; ++key) {
      const at = target + Math.floor(key / levelFactor);
      const value = values[row * from.columns + key];
      if (!(Math.abs(value) <= Math.abs(pooled[at])) && value === value) pooled[at] = value;
    }
  }
  return pooled;
}

// A gap shows only where a cell stands for itself: in an overview the weights beside it matter more.
function keepLarger(band, at, value, factor) {
  if (factor === 1 || Math.abs(value) > Math.abs(band[at])) band[at] = value;
}
