// Words that sentences or reviews own, and the maps over both. A word's shade is its weight within the parent
// times the root of the parent's (Yang et al., 2016); with one map only, that map's weight.
import {equalShare} from "fovea/parts/scale.js";

/** words, parents (axes; parents may be null), wordMap, parentMap (either may be null). */
export class NestedWords {
  /** What belongs to a map over words, or over the parents of words; null where it is about neither. */
  static of(map, explanation) {
    const {keyAxis} = map;
    const children = explanation.axes.find((axis) => axis.parent === keyAxis.name && axis.offsets);
    const words = children ?? keyAxis;
    const parents = words.parent && words.offsets ? (explanation.axis(words.parent) ?? null) : null;
    const over = (axis) => (map.keyAxis === axis ? map : mapOver(axis, map, explanation));
    return new NestedWords(words, parents, over(words), parents && over(parents));
  }

  constructor(words, parents, wordMap, parentMap) {
    Object.assign(this, {words, parents, wordMap, parentMap});
    this.offsets = parents ? words.offsets : [0, words.size];
    this.perParent = parents !== null && wordMap?.queryAxis === parents;
  }

  /** The parent of a word; 0 where there are none. */
  parentOf(word) {
    let low = 0;
    let high = this.offsets.length - 2;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.offsets[middle] <= word) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  /** The weight of a word within its parent where all its words are looked at alike; 0 for no shares of 1. */
  equalWithin(words) {
    return this.wordMap ? equalShare(this.wordMap, words) : 0;
  }

  /** The shade of a word where all parents and all their words are looked at alike. */
  equalShade() {
    const {words, parents, parentMap, wordMap} = this;
    if (!parents || !parentMap || !wordMap) return wordMap ? equalShare(wordMap, words.size) : 0;
    return this.equalWithin(words.size / parents.size) * Math.sqrt(equalShare(parentMap, parents.size));
  }

  /** The words that are known to matter to a query, as a Set. */
  trueWords(query) {
    const truth = this.wordMap?.truth ?? new Map();
    return this.perParent
      ? new Set([...truth.values()].flatMap((words) => [...words]))
      : (truth.get(query) ?? new Set());
  }

  /** {weights, within, shades: of words; parents: of parents}. `queryOf(map)` names the row that is shown. */
  async read(queryOf) {
    const weights = await this.#wordWeights(queryOf);
    const sums = this.offsets
      .slice(1)
      .map((end, parent) => magnitude(weights.subarray(this.offsets[parent], end)));
    const shares = this.parentMap ? await this.parentMap.weights.row(queryOf(this.parentMap)) : null;
    const divides = ["distribution", "partial"].includes(this.wordMap?.kind);
    const within = weights.map((weight, word) =>
      divides ? weight / (sums[this.parentOf(word)] || 1) : weight,
    );
    const shade = (weight, word) => weight * Math.sqrt(Math.abs(shares[this.parentOf(word)]));
    const shades = this.parents && shares ? within.map(shade) : weights;
    return {weights, within, shades, parents: shares ?? Float64Array.from(sums)};
  }

  async #wordWeights(queryOf) {
    const {wordMap, offsets} = this;
    if (!wordMap) return new Float64Array(this.words.size).fill(NaN);
    if (!this.perParent) return Float64Array.from(await wordMap.weights.row(queryOf(wordMap)));
    const weights = new Float64Array(this.words.size);
    const rows = await Promise.all(
      Array.from({length: this.parents.size}, (_, parent) => wordMap.weights.row(parent)),
    );
    rows.forEach((row, parent) =>
      weights.set(row.subarray(offsets[parent], offsets[parent + 1]), offsets[parent]),
    );
    return weights;
  }
}

/** The largest magnitude of numbers, gaps left out. */
export function largestOf(numbers) {
  let largest = 0;
  for (const value of numbers) if (Math.abs(value) > largest) largest = Math.abs(value);
  return largest;
}

// The map over an axis that goes best with `map`: not one within the axis, rather of the same query; of its
// layers and heads the same ones.
function mapOver(axis, map, explanation) {
  const candidates = explanation.maps.filter(
    (other) => other.keyAxis === axis && other.queryAxis !== axis && other.layout === "dense",
  );
  const best = candidates.find((other) => other.queryAxis === map.queryAxis) ?? candidates[0];
  return best ? explanation.beside(map, best) : null;
}

function magnitude(weights) {
  return weights.reduce((sum, weight) => sum + (Math.abs(weight) || 0), 0);
}
