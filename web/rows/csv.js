// Rows as CSV that a spreadsheet runs nothing of, and back.

const risky = /^'*[=+\-@\t\r]/;

/** CSV (RFC 4180) of lists of cells. A text that a spreadsheet would run as a formula gets a quote mark in
    front, and so does one that begins with such marks already: plainCell() takes it away again. */
export function rowsCsv(lines) {
  return lines.map((cells) => cells.map(csvCell).join(",")).join("\r\n") + "\r\n";
}

/** What csvCell() was given, of a cell without its CSV quotes. */
export function plainCell(text) {
  return text.startsWith("'") && risky.test(text) ? text.slice(1) : text;
}

function csvCell(value) {
  if (value === null || value === undefined || Number.isNaN(value)) return "";
  if (typeof value === "number") return String(value);
  const text = risky.test(value) ? `'${value}` : String(value);
  return /[",\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
