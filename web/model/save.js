// An explanation as one JSON text again, with the chunks that it uses, numbered anew: a report shares chunks
// among explanations.

/** JSON text of the explanation. */
export async function explanationText(explanation) {
  const value = structuredClone(explanation.value);
  const chunks = [];
  const places = new Map();
  const take = (index) => {
    if (!places.has(index)) {
      places.set(index, chunks.length);
      chunks.push(explanation.chunkSource(index));
    }
    return places.get(index);
  };
  matricesOf(value).forEach((matrix) => renumber(matrix, take));
  if (chunks.length > 0) value.chunks = await Promise.all(chunks);
  return JSON.stringify(value);
}

function matricesOf(value) {
  const maps = value.maps.flatMap((map) => [map.weights, map.spread, map.interval?.low, map.interval?.high]);
  const spectrograms = value.axes.map((axis) => axis.spectrogram);
  return [...maps, ...spectrograms].filter((matrix) => matrix && !Array.isArray(matrix));
}

function renumber(matrix, take) {
  if (matrix.encoding === "sparse") {
    for (const part of ["starts", "keys", "values"]) matrix[part] = take(matrix[part]);
    return;
  }
  for (const level of [matrix, ...(matrix.levels ?? [])]) level.chunks = level.chunks.map(take);
  if (matrix.top) Object.assign(matrix.top, {keys: take(matrix.top.keys), values: take(matrix.top.values)});
}
