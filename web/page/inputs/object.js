// What the editors of objects share: an input as one line of JSON, and back.

/** The object in a line of JSON; `what` says what was expected. */
export function objectIn(line, what) {
  let value;
  try {
    value = JSON.parse(line);
  } catch (cause) {
    throw new Error(`This is no JSON; expected ${what}.`, {cause});
  }
  if (value === null || typeof value !== "object" || Array.isArray(value)) throw new Error(`Expected ${what}.`);
  return value;
}

/** An object from the cells of a row of a table, by the names of the schema's properties. */
export function objectOfCells(header, cells, schema) {
  const names = Object.keys(schema.properties);
  const input = {};
  (header ?? names).forEach((name, place) => {
    const own = names.find((one) => one.toLowerCase() === name.trim().toLowerCase());
    if (own && (cells[place] ?? "") !== "") input[own] = cells[place];
  });
  return input;
}

/** Whether this is a list of texts. */
export function isTexts(value) {
  return Array.isArray(value) && value.every((one) => typeof one === "string");
}
