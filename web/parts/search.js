// Which labels a search finds.

const known = new WeakMap();  // axis -> its last search

/** Indices of the axis's labels that contain the text, whatever the case; none for an empty text. */
export function matches(axis, text) {
  const last = known.get(axis);
  if (last?.text === text) return last.found;
  const wanted = (text.trim() || text).toLocaleLowerCase();
  const found = new Set();
  if (wanted) {
    axis.labels.forEach((label, index) => {
      if (label.toLocaleLowerCase().includes(wanted)) found.add(index);
    });
  }
  known.set(axis, {text, found});
  return found;
}

/** Where the selected place stands among those that a search finds: {index (-1: none of them), count}. */
export function matchPosition(map, text, selected) {
  const places = placesOf(map, text);
  return {index: indexOf(places, selected), count: places.length};
}

/** The place {query, key} that a search finds after the selected one, keys before queries, or null. */
export function nextMatch(map, text, selected, direction = 1) {
  const places = placesOf(map, text);
  const current = indexOf(places, selected);
  const first = direction > 0 ? 0 : places.length - 1;
  return places[current < 0 ? first : (current + direction + places.length) % places.length] ?? null;
}

function placesOf(map, text) {
  const places = Array.from(matches(map.keyAxis, text), (key) => ({query: -1, key}));
  if (map.queryAxis === map.keyAxis) return places;
  return [...places, ...Array.from(matches(map.queryAxis, text), (query) => ({query, key: -1}))];
}

function indexOf(places, selected) {
  return places.findIndex(({query, key}) => query === selected.query && key === selected.key);
}
