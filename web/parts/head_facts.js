// Statistics that tell heads apart: how many keys a query looks at, and whether it looks at itself, its
// neighbours or the first key.

const sampledRows = 48;

/** {largest, keys, self, previous, next, first}: means over rows; the last four only where queries and
    keys are the same units. */
export async function headFacts(map) {
  const {weights, queryAxis, keyAxis} = map;
  const step = Math.max(1, Math.floor(weights.rows / sampledRows));
  const sums = {largest: 0, keys: 0, self: 0, previous: 0, next: 0, first: 0};
  let rows = 0;
  for (let query = 0; query < weights.rows; query += step, ++rows) {
    const row = (await weights.row(query)).map((weight) => Math.abs(weight) || 0);
    const total = row.reduce((sum, weight) => sum + weight, 0) || 1;
    sums.largest += row.reduce((most, weight) => Math.max(most, weight), 0);
    sums.keys += perplexity(row, total);
    const at = {self: query, previous: query - 1, next: query + 1, first: 0};
    for (const [name, key] of Object.entries(at)) sums[name] += (row[key] ?? 0) / total;
  }
  const means = {};
  for (const [name, sum] of Object.entries(sums)) means[name] = sum / Math.max(1, rows);
  if (queryAxis !== keyAxis) ["self", "previous", "next", "first"].forEach((name) => delete means[name]);
  return means;
}

// The number of keys that would give the same entropy if all had the same weight.
function perplexity(row, total) {
  let entropy = 0;
  for (const weight of row) {
    if (weight > 0) entropy -= (weight / total) * Math.log(weight / total);
  }
  return Math.exp(entropy);
}
