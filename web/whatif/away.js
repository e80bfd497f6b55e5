// What is taken away from an input, [{axis, units}] as requests have it, and as the text that an address holds:
// "tokens:2.5;columns:1".

/** The list of a text; what cannot be read is left out. */
export function readAway(text) {
  return text.split(";").map(readAxis).filter(({units}) => units.length > 0);
}

function readAxis(part) {
  const [axis, places = ""] = part.split(":");
  const units = places.split(".").filter((place) => /^\d+$/.test(place)).map(Number);
  return {axis: decoded(axis), units: [...new Set(units)]};
}

function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The text of a list. */
export function writeAway(away) {
  // These marks are left alone by encodeURIComponent or mean something here.
  const name = (axis) => encodeURIComponent(axis).replaceAll(".", "%2E");
  return away.map(({axis, units}) => `${name(axis)}:${units.join(".")}`).join(";");
}

/** The list with one unit more. */
export function withUnit(away, axis, unit) {
  const others = away.filter((some) => some.axis !== axis);
  const own = away.find((some) => some.axis === axis)?.units ?? [];
  return own.includes(unit) ? away : [...others, {axis, units: [...own, unit].sort((a, b) => a - b)}];
}

/** The list without that unit. */
export function withoutUnit(away, axis, unit) {
  return away
    .map((some) => (some.axis === axis ? {axis, units: some.units.filter((other) => other !== unit)} : some))
    .filter(({units}) => units.length > 0);
}
