// What is counted of many rows: shares that are right, errors, the confusion matrix, calibration, slices. Plain
// functions of arrays, beside those of `fovea evaluate` (docs/guides/evaluate.md).

const z = 1.959964; // 95 %

/** The interval of Wilson of a share of `count` rows: [low, high]. */
export function wilson(share, count) {
  const middle = share + (z * z) / (2 * count);
  const half = z * Math.sqrt((share * (1 - share)) / count + (z * z) / (4 * count * count));
  const whole = 1 + (z * z) / count;
  return [Math.max(0, (middle - half) / whole), Math.min(1, (middle + half) / whole)];
}

/** The p of McNemar's exact test, two-sided: rows that only the first, and only the second gets right. */
export function mcnemar(first, second) {
  const rows = first + second;
  let sum = 0;
  let logWays = -rows * Math.LN2;  // ln of the probability of k
  for (let k = 0; k <= Math.min(first, second); ++k) {
    sum += Math.exp(logWays);
    logWays += Math.log((rows - k) / (k + 1));
  }
  return Math.min(1, 2 * sum);
}

/** How often each class was answered where each was right: counts[truth * C + answer]. */
export function confusionOf(truth, answer) {
  const size = truth.names.length;
  const counts = new Int32Array(size * size);
  truth.values.forEach((right, row) => {
    if (right >= 0 && answer.values[row] >= 0) ++counts[right * size + answer.values[row]];
  });
  return {names: truth.names, size, counts};
}

/** precision, recall, f1 and support of each class; NaN where there is none to divide by. */
export function classReports({names, size, counts}) {
  return names.map((name, c) => {
    let support = 0;
    let found = 0;
    for (let other = 0; other < size; ++other) {
      support += counts[c * size + other];
      found += counts[other * size + c];
    }
    return report(name, counts[c * size + c], found, support);
  });
}

/** The same of several labels a row. */
export function labelReports(truth, answer) {
  const right = truth.names.map(() => 0);
  const found = truth.names.map(() => 0);
  const support = truth.names.map(() => 0);
  truth.values.forEach((wanted, row) => {
    const given = new Set(answer.values[row]);
    for (const label of given) ++found[label];
    for (const label of wanted) {
      ++support[label];
      if (given.has(label)) ++right[label];
    }
  });
  return truth.names.map((name, label) => report(name, right[label], found[label], support[label]));
}

function report(name, right, found, support) {
  return {
    name,
    precision: right / found,
    recall: right / support,
    f1: found + support > 0 ? (2 * right) / (found + support) : NaN,
    support,
  };
}

/** Equal bins of the probability of the answer: how sure the answers in each are, and how many are right. */
export function calibrationOf(probability, right, bins = 10) {
  const all = Array.from({length: bins}, (_, bin) => ({
    low: bin / bins, high: (bin + 1) / bins, count: 0, sure: 0, right: 0,
  }));
  probability.values.forEach((value, row) => {
    if (!(value >= 0) || right.values[row] < 0) return;
    const bin = all[Math.min(bins - 1, Math.floor(value * bins))];
    ++bin.count;
    bin.sure += value;
    bin.right += right.values[row];
  });
  return all.map(({sure, right: correct, ...bin}) => ({
    ...bin, probability: sure / bin.count, accuracy: correct / bin.count,
  }));
}

/** Groups of rows by the values of a column: [{name, test(row), first(row)}]; numbers in `most` ranges with as
    many rows each, of names the `most` frequent ones. */
export function slicesOf(column, most = 12, ranges = 5) {
  const numbers = column.numbers();
  const isFew = column.type === "place" && column.names.length <= most;
  if (numbers && !isFew) return numberSlices(numbers, ranges);
  const of = (row) => column.values[row];
  if (column.type === "set") {
    return frequent(column.names.length, column.values.flat(), most).map((place) => ({
      name: column.names[place], test: (row) => of(row).includes(place),
    }));
  }
  return frequent(column.names.length, column.values, most).map((place) => ({
    name: column.names[place], test: (row) => of(row) === place,
  }));
}

function frequent(size, places, most) {
  const counts = new Int32Array(size);
  places.forEach((place) => place >= 0 && ++counts[place]);
  const order = Array.from(counts.keys()).filter((place) => counts[place] > 0);
  return order.sort((a, b) => counts[b] - counts[a]).slice(0, most);
}

function numberSlices(numbers, ranges) {
  const of = (row) => numbers[row];
  const sorted = Float64Array.from(numbers).filter((value) => !Number.isNaN(value)).sort();
  const isWhole = sorted.every(Number.isInteger);
  const steps = sorted.reduce((count, value, i) => count + (i === 0 || value !== sorted[i - 1] ? 1 : 0), 0);
  if (steps <= ranges) {
    return [...new Set(sorted)].map((value) => ({name: rounded(value), test: (row) => of(row) === value}));
  }
  const edges = [...new Set(Array.from({length: ranges + 1}, (_, i) =>
    sorted[Math.min(sorted.length - 1, Math.floor((i * sorted.length) / ranges))]))];
  return edges.slice(1).map((high, i) => {
    const low = edges[i];
    const isLast = i === edges.length - 2;
    const end = isLast ? rounded(high) : isWhole ? rounded(high - 1) : `below ${rounded(high)}`;
    const name = isWhole && !isLast && high - 1 === low ? rounded(low) : `${rounded(low)} to ${end}`;
    return {name, test: (row) => of(row) >= low && (isLast ? of(row) <= high : of(row) < high)};
  });
}

function rounded(value) {
  return String(Number(value.toPrecision(4))).replace("-", "−");
}

/** Of rows for which `test` holds: how many have a number in the column, and the mean of these. In a column of
    places (wrong, right) it is the share of the second. */
export function meanOf(column, test) {
  const {values} = column;
  const unknown = column.type === "place" ? (value) => value < 0 : Number.isNaN;
  let count = 0;
  let sum = 0;
  for (let row = 0; row < values.length; ++row) {
    const value = values[row];
    if (unknown(value) || !test(row)) continue;
    ++count;
    sum += value;
  }
  return {count, mean: sum / count};
}
