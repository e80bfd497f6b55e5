// How much each unit of a map's keys matters: by the weights, by gradient x input, by leaving it out. It is recorded
// with the faithfulness of a single example; here it becomes a map that every view can draw.
import {Axis} from "fovea/model/explanation.js";
import {ListMatrix} from "fovea/model/matrix.js";

const maps = new WeakMap();  // entry -> opinion -> map, so that the same one is found again

/** The opinion that a map is by itself. */
export const attention = "attention";

/** What an entry of the faithfulness recorded for the units of `map`: [{row, series: [{name, values}]}]; none where
    it does not fit the map. */
export function importancesOf(entry, map) {
  const list = entry?.importances ?? [];
  const fits = ({row = 0, series}) =>
    row < map.queryAxis.size && series.length > 0 && series.every(({values}) => values.length === map.keyAxis.size);
  return map.layout === "dense" && list.every(fits) ? list : [];
}

/** The opinions that there are besides the attention. */
export function opinionsOn(entry, map) {
  const names = importancesOf(entry, map).flatMap(({series}) => series.map(({name}) => name));
  return [...new Set(names)].filter((name) => name !== attention);
}

/** The map with its colours by another opinion, `original` the one with its weights; null where there is none. */
export function colouredMap(entry, map, opinion) {
  if (!opinionsOn(entry, map).includes(opinion)) return null;
  if (!maps.has(entry)) maps.set(entry, new Map());
  const known = maps.get(entry);
  if (!known.has(opinion)) known.set(opinion, coloured(importancesOf(entry, map), map, opinion));
  return known.get(opinion);
}

function coloured(importances, map, opinion) {
  const {queryAxis, keyAxis} = map;
  const lists = importances.map(({series}) => series.find(({name}) => name === opinion)?.values ?? []);
  const isWhole = importances.length === 1;
  const rows = Array.from({length: queryAxis.size}, (_, query) =>
    lists[importances.findIndex(({row}) => row === query)] ?? []);  // gaps where nothing was measured
  const same = isWhole && queryAxis.size > 1 ? {queryAxis: oneQuery(queryAxis, importances[0]), truth: new Map()} : {};
  return Object.assign(Object.create(Object.getPrototypeOf(map)), map, {
    original: map, title: `${map.title}, coloured by ${opinion}`, valueName: opinion, kind: "free", total: "",
    layer: null, head: null, group: "", spread: null, low: null, high: null, ...same,
    weights: new ListMatrix(isWhole ? lists : rows, keyAxis.size),
  });
}

function oneQuery({name, labels}, {row}) {
  return new Axis({name, labels: [row === undefined ? "all together" : labels[row]]}, null);
}
