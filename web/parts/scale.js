// How weights become colours: as a share of the map's largest weight, signed or not, but where weights are shares of
// 1 never of less than four times the equal share: a map that looks at everything alike looks pale and even, as it
// is, and not as if each of its weights were the strongest. In large maps most
// weights are small beside the largest, so the share is drawn as its root, and a few rows that are far above
// all others (the first rows of causal attention see only themselves) do not set the scale, nor do keys that
// are no part of the text ([CLS] is often looked at more than all words): what is above its `ceiling` has the
// last colour.
import {
  diverging, divergingInk, divergingTable, ink, sequential, sequentialTable,
} from "fovea/parts/colour.js";

const manyKeys = 64;
const manyRows = 16;  // of the coarsest level
const usualRows = 0.9;
const overEqual = 4;  // times the equal share that have the last colour at least

/** The weight that each of so many keys has where all are looked at alike; 0 for weights that are no shares of 1. */
export function equalShare({kind}, keys) {
  return (kind === "distribution" || kind === "partial") && keys > 0 ? 1 / keys : 0;
}

/** largest (> 0), signed, power (1 or 0.5), threshold (share of the largest below which weights are
    hidden), ceiling, equal (see equalShare). */
export class WeightScale {
  constructor({largest, signed, power = 1, threshold = 0, ceiling = largest, equal = 0}) {
    const leastCeiling = Math.min(1, overEqual * equal);
    const last = Math.max(ceiling || largest || 1, leastCeiling);
    Object.assign(this, {largest: largest || 1, signed, power, threshold, ceiling: last, equal, leastCeiling});
  }

  /** The scale that suits a map. */
  static async of(map, threshold = 0, power = map.weights.columns > manyKeys ? 0.5 : 1) {
    const {weights} = map;
    const largest = await weights.largest();
    const usual = await usualPeak(map);
    const ceiling = usual < largest / 2 ? usual : largest;
    const equal = map.layout === "points" ? 0 : equalShare(map, weights.columns);
    return new WeightScale({largest, signed: await map.isSigned(), power, threshold, ceiling, equal});
  }

  /** 0..1, or -1..1 where signed; NaN for a gap, 0 for what is hidden. */
  share(value) {
    if (this.hides(value)) return 0;
    const magnitude = Math.abs(value) / this.ceiling;
    const share = Math.min(1, this.power === 1 ? magnitude : Math.sqrt(magnitude));
    return this.signed && value < 0 ? -share : share;
  }

  /** Whether the threshold hides a weight. */
  hides(value) {
    return Math.abs(value) < this.threshold * this.largest;
  }

  /** The colour of a weight. */
  colour(value) {
    return this.signed ? diverging(this.share(value)) : sequential(this.share(value));
  }

  /** A text colour that is readable on it. */
  ink(value) {
    return this.signed ? divergingInk(this.share(value)) : ink(this.share(value));
  }

  /** Pixels of weights into `target`, an Uint32Array of as many RGBA words; gaps stay clear. */
  paint(weights, target) {
    const palette = this.#palette();
    const [centre, reach] = this.signed ? [127.5, 127.5] : [0, 255];
    const factor = 1 / this.ceiling;
    const least = this.threshold * this.largest * factor;
    for (let i = 0; i < weights.length; ++i) {
      const weight = weights[i];
      if (weight !== weight) {  // NaN
        target[i] = 0;
        continue;
      }
      const magnitude = Math.abs(weight) * factor;
      let share = magnitude < least ? 0 : magnitude < 1 ? magnitude : 1;
      if (this.power !== 1) share = Math.sqrt(share);
      target[i] = palette[(centre + (weight < 0 ? -share : share) * reach + 0.5) & 255];
    }
  }

  #palette() {
    const bytes = this.signed ? divergingTable() : sequentialTable();
    if (this.paletteOf?.bytes !== bytes) this.paletteOf = {bytes, words: pixelWords(bytes)};
    return this.paletteOf.words;
  }
}

function pixelWords(bytes) {
  const words = new Uint32Array(256);
  const channels = new Uint8Array(words.buffer);
  for (let i = 0; i < 256; ++i) channels.set([bytes[3 * i], bytes[3 * i + 1], bytes[3 * i + 2], 255], 4 * i);
  return words;
}

// The largest magnitude on ordinary keys that nine in ten rows of the coarsest level stay below; of few rows
// all.
async function usualPeak({weights, keyAxis}) {
  const level = weights.levels.length - 1;
  const {factor, rows, columns} = weights.levels[level];
  const special = keyAxis.special ?? [];
  const few = rows < manyRows;
  if (few && special.length === 0) return Infinity;
  const skipped = new Set(special.map((key) => Math.floor(key / factor)));
  if (skipped.size >= columns) return Infinity;
  const band = await weights.band(level, 0, rows);
  const peaks = new Float32Array(rows);
  band.forEach((weight, i) => {
    const row = Math.floor(i / columns);
    if (Math.abs(weight) > peaks[row] && !skipped.has(i % columns)) peaks[row] = Math.abs(weight);
  });
  return peaks.sort()[few ? rows - 1 : Math.floor(usualRows * (rows - 1))];
}
