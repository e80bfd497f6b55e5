// Maps that belong together: the layers and heads of one attention, or the series of one group.
import {MeanMatrix} from "fovea/model/matrix.js";

const mostNamed = 4;

/** key (in the address), name, title, maps, layers and heads (rising; empty where maps have none),
    grouped. */
export class Family {
  constructor(key, maps, grouped) {
    this.key = key;
    this.maps = maps;
    this.grouped = grouped;
    this.name = maps[0].name;
    this.title = grouped && maps.length > 1 ? maps[0].group : maps[0].title;
    this.layers = rising(maps.map((map) => map.layer));
    this.heads = rising(maps.map((map) => map.head));
    /** Places have no mean: it would be a path that nobody took. */
    this.averages = !grouped && maps[0].layout !== "points";
    this.means = new Map();
  }

  /** The map of a layer and head; head 0 is the mean of its heads, of places the first; layer 0 the first, of
      edges and of a class token over a picture the last: from there the answer is read. A group's is told by
      `name`. */
  find(layer, head, name = this.name) {
    const [{layout, queryAxis}] = this.maps;
    const answers = layout === "edges" || (queryAxis.grid && queryAxis.special?.length === 1);
    const usual = answers ? this.layers.at(-1) : this.layers[0];
    const chosenLayer = this.layers.includes(layer) ? layer : (usual ?? null);
    const candidates = this.maps.filter((map) => map.name === name && map.layer === chosenLayer);
    if (candidates.length === 0) return this.maps[0];
    const exact = candidates.find((map) => map.head === head);
    return exact ?? (candidates.length > 1 && this.averages ? this.mean(chosenLayer) : candidates[0]);
  }

  /** The heads that a layer has, rising. */
  headsOf(layer) {
    return rising(this.maps.filter((map) => map.layer === layer).map((map) => map.head));
  }

  /** The mean of all heads of a layer, as a map of its own with head 0. */
  mean(layer) {
    if (!this.means.has(layer)) {
      const maps = this.maps.filter((map) => map.layer === layer);
      const mean = Object.assign(Object.create(Object.getPrototypeOf(maps[0])), maps[0], {
        head: 0, weights: new MeanMatrix(maps.map((map) => map.weights)), spread: null, low: null, high: null,
        products: false,
      });
      this.means.set(layer, mean);
    }
    return this.means.get(layer);
  }

  /** Whether `map` is one of this family's, or one of its means. */
  holds(map) {
    return this.maps.includes(map) || [...this.means.values()].includes(map);
  }
}

/** Which layers and heads maps of one family are, in words: "layer 2, head 3", "mean of heads"; "" where it has neither. */
export function placeName(maps) {
  const layers = rising(maps.map(({layer}) => layer)).filter(Boolean);
  const heads = rising(maps.map(({head}) => head));
  const means = heads[0] === 0 ? ["mean of heads"] : [];
  return [named("layer", layers), ...means, named("head", heads.filter(Boolean))].filter(Boolean).join(", ");
}

function named(word, numbers) {
  if (numbers.length > mostNamed) return `${numbers.length} ${word}s`;
  return numbers.length > 0 ? `${word}${numbers.length > 1 ? "s" : ""} ${numbers.join(" and ")}` : "";
}

/** Families in the order of their first maps. */
export function familiesOf(maps) {
  const gathered = new Map();
  for (const map of maps) {
    const base = [map.group ? "group" : "name", map.group || map.name, map.queryAxis.name, map.keyAxis.name];
    const slot = `${map.group ? map.name : ""} ${map.layer} ${map.head}`;
    let copy = 0;
    let entry;
    // Two maps of the same place cannot both be reached in one family.
    do {
      const key = JSON.stringify([...base, copy++]);
      if (!gathered.has(key)) gathered.set(key, {maps: [], slots: new Set(), grouped: Boolean(map.group)});
      entry = gathered.get(key);
    } while (entry.slots.has(slot));
    entry.slots.add(slot);
    entry.maps.push(map);
  }
  const used = new Set();
  return Array.from(gathered.values(), (entry) =>
    new Family(unused(entry.maps[0].name, used), entry.maps, entry.grouped));
}

function unused(name, used) {
  let key = name;
  for (let copy = 2; used.has(key); ++copy) key = `${name} (${copy})`;
  used.add(key);
  return key;
}

function rising(values) {
  return [...new Set(values.filter((value) => value !== null))].sort((a, b) => a - b);
}
