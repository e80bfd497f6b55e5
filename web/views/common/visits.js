// Visits and the codes that they own, whichever of the two a map is over.
import {number, visible} from "fovea/parts/format.js";
import {readBars} from "fovea/views/common/bar_rows.js";

/**
 * visits, codes: axes, codes may be null; byCode: the map is over codes; codeMap: another map is;
 * absentMap: the map "absent", what would change without a code, or null.
 */
export class Visits {
  constructor(map, explanation) {
    const {keyAxis} = map;
    const parent = keyAxis.parent && keyAxis.offsets ? explanation.axis(keyAxis.parent) : null;
    const children = explanation.axes.find((axis) => axis.parent === keyAxis.name && axis.offsets) ?? null;
    this.map = map;
    this.byCode = Boolean(parent);
    this.visits = parent ?? keyAxis;
    this.codes = parent ? keyAxis : children;
    this.codeMap = this.byCode ? null : denseMapOver(children, explanation);
    this.absentMap = absentMapOver(this.codes, explanation);
    this.logOdds = explanation.prediction?.answer?.log_odds; // of several labels one each
  }

  /** The map that the listed codes' weights are from, or null. */
  get listedMap() {
    return this.byCode ? this.map : this.codeMap;
  }

  /** The row of another map that belongs to a row of this one: of several labels the likeliest, where this has one row. */
  rowOf(map, query) {
    const {size, labels} = map.queryAxis;
    if (size <= this.map.queryAxis.size || typeof this.logOdds !== "object") return Math.min(query, size - 1);
    const odds = labels.map((label) => this.logOdds[label] ?? -Infinity);
    return odds.indexOf(Math.max(...odds));
  }

  /** What the listed codes are about, for a heading. */
  listedTitle(query) {
    const {title, queryAxis} = this.listedMap;
    const row = this.rowOf(this.listedMap, query);
    return queryAxis.size > 1 ? `${title}: ${visible(queryAxis.labels[row])}` : title;
  }

  /**
   * One per visit: {index, name, time (or null), parts: bars of the map, sum, listed: bars of its codes}.
   * Bars of codes have `absent`: how the output would change without the code; NaN where nobody knows.
   */
  async read(query) {
    const {visits, codeMap, absentMap} = this;
    const [bars, codes, absent] = await Promise.all([
      readBars(this.map, query),
      codeMap && readBars(codeMap, this.rowOf(codeMap, query)),
      absentMap && readBars(absentMap, this.rowOf(absentMap, query)),
    ]);
    for (const bar of (this.byCode ? bars : codes) ?? []) bar.absent = absent?.[bar.key].weight ?? NaN;
    return visits.labels.map((_, index) => {
      const parts = this.byCode ? this.#owned(bars, index) : [bars[index]];
      const listed = this.byCode ? parts : this.#owned(codes ?? this.#bareCodes(), index);
      const sum = parts.reduce((total, {weight}) => total + (weight || 0), 0);
      return {index, name: this.#name(index), time: visits.times?.[index] ?? null, parts, sum, listed};
    });
  }

  #owned(bars, visit) {
    return this.codes ? bars.slice(this.codes.offsets[visit], this.codes.offsets[visit + 1]) : [];
  }

  // Codes of which only the names are known.
  #bareCodes() {
    const bare = {weight: NaN, low: NaN, high: NaN, value: null, isTrue: false};
    return this.codes?.labels.map((label, key) => ({...bare, key, label: visible(label)})) ?? [];
  }

  #name(index) {
    const {labels, times, timeUnit} = this.visits;
    return times ? `${visible(labels[index])}, ${number(times[index])} ${timeUnit}` : visible(labels[index]);
  }
}

/** Bars in falling order of magnitude. */
export function bySize(bars) {
  return [...bars].sort((a, b) => (Math.abs(b.weight) || 0) - (Math.abs(a.weight) || 0) || a.key - b.key);
}

function absentMapOver(axis, explanation) {
  const fits = ({name, keyAxis, layout}) => name === "absent" && keyAxis === axis && layout === "dense";
  return (axis && explanation.maps.find(fits)) ?? null;
}

function denseMapOver(axis, explanation) {
  return explanation.maps.find(({keyAxis, layout}) => keyAxis === axis && layout === "dense") ?? null;
}
