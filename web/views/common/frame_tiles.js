// Rows of frames (a spectrogram, an alignment) as canvases side by side. Where frames are narrower than a
// pixel several become one, which keeps the weight of largest magnitude; rows are never merged.
import {WeightScale} from "fovea/parts/scale.js";

const tileColumns = 4096;  // browsers limit how wide a canvas may be

/** The tiles of a spectrogram. Any scale will do: its lowest value gets the colour of nothing. */
export function spectrogramTiles(values, bands) {
  const low = values.reduce((least, value) => (value < least ? value : least), Infinity);
  const raised = values.map((value) => value - low);
  const largest = raised.reduce((most, value) => (value > most ? value : most), 0);
  const tiles = new FrameTiles(raised, bands, {upsideDown: true, pools: false});
  tiles.setScale(new WeightScale({largest, signed: false}));
  return tiles;
}

/**
 * `values`: rows x columns, row by row. Options: upsideDown (the first row is drawn at the bottom), pools
 * (else narrow frames are blended), factor (how many frames and rows each value already stands for).
 */
export class FrameTiles {
  constructor(values, rows, {upsideDown = false, pools = true, factor = 1} = {}) {
    Object.assign(this, {rows, upsideDown, pools, factor, scale: null});
    this.pooled = [values];  // by the power of two of frames in one
    this.made = new Map();
  }

  /** Colours change, also where only the theme did. */
  setScale(scale) {
    this.scale = scale;
    this.made.clear();
  }

  /** Draws all frames from `left` on, each `frameWidth` wide, in rows of `rowHeight`; the caller clips. */
  draw(context, {left, top, frameWidth, rowHeight}) {
    if (!this.scale || this.rows === 0) return;
    const pixels = frameWidth * this.factor * (window.devicePixelRatio || 1);
    const power = this.pools ? Math.max(0, Math.ceil(-Math.log2(pixels))) : 0;
    const width = frameWidth * this.factor * 2 ** power;
    const height = this.rows * rowHeight * this.factor;
    context.imageSmoothingEnabled = !this.pools && pixels < 3;
    for (const {canvas, first} of this.#tiles(power)) {
      context.drawImage(canvas, left + first * width, top, canvas.width * width, height);
    }
  }

  #tiles(power) {
    if (!this.made.has(power)) this.made.set(power, this.#make(this.#values(power)));
    return this.made.get(power);
  }

  #values(power) {
    for (let next = this.pooled.length; next <= power; ++next) {
      this.pooled.push(halved(this.pooled[next - 1], this.rows));
    }
    return this.pooled[power];
  }

  #make(values) {
    const columns = values.length / this.rows;
    const tiles = [];
    for (let first = 0; first < columns; first += tileColumns) {
      const canvas = new OffscreenCanvas(Math.min(tileColumns, columns - first), this.rows);
      const context = canvas.getContext("2d");
      const image = context.createImageData(canvas.width, this.rows);
      const pixels = new Uint32Array(image.data.buffer);
      for (let row = 0; row < this.rows; ++row) {
        const target = (this.upsideDown ? this.rows - 1 - row : row) * canvas.width;
        const source = values.subarray(row * columns + first, row * columns + first + canvas.width);
        this.scale.paint(source, pixels.subarray(target, target + canvas.width));
      }
      context.putImageData(image, 0, 0);
      tiles.push({canvas, first});
    }
    return tiles;
  }
}

function halved(values, rows) {
  const columns = values.length / rows;
  const half = Math.ceil(columns / 2);
  const result = new Float32Array(rows * half);
  for (let row = 0; row < rows; ++row) {
    for (let column = 0; column < half; ++column) {
      const at = row * columns + 2 * column;
      const [a, b] = [values[at], 2 * column + 1 < columns ? values[at + 1] : NaN];
      result[row * half + column] = Math.abs(b) > Math.abs(a) || Number.isNaN(a) ? b : a;
    }
  }
  return result;
}
