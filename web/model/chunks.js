// The packed numbers of an explanation: base64 texts that are decoded when they are asked for and kept within
// a bound.

const cacheBytes = 256 * 2 ** 20;

// Bytes of a base64 text.
function fromBase64(text) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
}

/** Decoded chunks; those not used for longest are forgotten first. `source(i)` gives the base64 text of
    chunk i. */
export class ChunkStore {
  constructor(source) {
    this.source = source;
    this.decoded = new Map();  // in order of last use
    this.pending = new Map();
    this.size = 0;
  }

  /** The bytes of chunk `index` if they are at hand. */
  peek(index) {
    const bytes = this.decoded.get(index);
    if (bytes) {
      this.decoded.delete(index);
      this.decoded.set(index, bytes);
    }
    return bytes;
  }

  /** The bytes of chunk `index`, which must be `size` of them. */
  async bytes(index, compression, size) {
    const known = this.peek(index);
    if (known) return known;
    if (!this.pending.has(index)) {
      const decoding = this.#decode(index, compression, size).finally(() => this.pending.delete(index));
      this.pending.set(index, decoding);
    }
    return this.pending.get(index);
  }

  async #decode(index, compression, size) {
    const text = await this.source(index);
    if (typeof text !== "string") throw new Error(`chunk ${index} is missing`);
    try {
      const packed = fromBase64(text);
      const bytes = compression === "deflate" ? await inflate(packed, size) : packed;
      if (bytes.length !== size) throw new Error(`${bytes.length} bytes where ${size} were expected`);
      this.#keep(index, bytes);
      return bytes;
    } catch (error) {
      throw new Error(`chunk ${index}: ${error.message}`, {cause: error});
    }
  }

  #keep(index, bytes) {
    this.decoded.set(index, bytes);
    this.size += bytes.length;
    for (const [oldest, old] of this.decoded) {
      if (this.size <= cacheBytes || oldest === index) break;
      this.decoded.delete(oldest);
      this.size -= old.length;
    }
  }
}

// Stops at `size`, so that a small chunk cannot fill the memory.
async function inflate(packed, size) {
  const stream = new DecompressionStream("deflate");
  const writer = stream.writable.getWriter();
  const written = writer.write(packed).then(() => writer.close());
  written.catch(() => {});  // the reader meets the same error
  const bytes = new Uint8Array(size);
  const reader = stream.readable.getReader();
  let filled = 0;
  for (;;) {
    const {done, value} = await reader.read();
    if (done) break;
    if (filled + value.length > size) throw new Error(`more than the expected ${size} bytes`);
    bytes.set(value, filled);
    filled += value.length;
  }
  return bytes.subarray(0, filled);
}
