// Reads tables as people drop them: commas, semicolons or tabs, quotes as in RFC 4180.

function separatorOf(text) {
  const first = text.slice(0, Math.max(0, text.indexOf("\n")) || text.length);
  return ["\t", ";", ","].find((separator) => first.includes(separator)) ?? ",";
}

/** The rows of a table, each a list of cells; empty lines are left out. */
export function cellsOf(text, separator = separatorOf(text)) {
  const rows = [[""]];
  let quoted = false;
  const append = (character) => {
    const cells = rows.at(-1);
    cells[cells.length - 1] += character;
  };
  for (let at = 0; at < text.length; ++at) {
    const character = text[at];
    if (character === '"' && quoted && text[at + 1] === '"') append(text[++at]);
    else if (character === '"' && (quoted || rows.at(-1).at(-1) === "")) quoted = !quoted;
    else if (!quoted && character === separator) rows.at(-1).push("");
    else if (!quoted && character === "\n") rows.push([""]);
    else if (quoted || character !== "\r") append(character);
  }
  return rows.filter((cells) => cells.length > 1 || cells[0].trim() !== "");
}
