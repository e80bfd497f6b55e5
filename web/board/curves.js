// The curves of a training: what docs/formats/board.md holds, as lists of {step, epoch, time, value}.

const titles = {
  "train/loss": "Training loss",
  learning_rate: "Learning rate",
  rows_per_second: "Rows per second",
  units_per_second: "Terms of the loss per second",
};
const fromSteps = {
  "train/loss": "loss",
  learning_rate: "learning_rate",
  rows_per_second: "rows_per_second",
  units_per_second: "units_per_second",
};

/** What a chart is called. */
export function titleOf(tag) {
  return titles[tag] ?? tag.replace("validation/", "Validation ").replaceAll("_", " ");
}

/** Whether a curve is worth smoothing: it has values of moments within epochs. */
export function isNoisy(tag) {
  return tag === "train/loss" || isSpeed(tag);
}

/** Whether a curve says how fast the training is. */
export function isSpeed(tag) {
  return tag.endsWith("_per_second");
}

/** One training with its curves by tag. */
export class Run {
  constructor(value, index) {
    this.value = value;
    this.index = index;
    this.name = value.name;
    this.state = value.state;
    this.error = value.error ?? "";
    this.epochs = value.epochs ?? [];
    this.attention = value.attention ?? [];
    this.options = value.options ?? {};
    this.lower = new Set(["loss", ...(value.lower_is_better ?? [])]);  // older runs do not say it
    this.curves = this.#curves();
  }

  /** Whether the training may still write. */
  get isOpen() {
    return this.state === "running" || this.state === "beginning";
  }

  /** Whether a smaller value of that curve is better; undefined where none is. */
  lowerIsBetter(tag) {
    if (tag === "train/loss") return true;
    if (!tag.startsWith("validation/")) return undefined;
    return this.lower.has(tag.slice("validation/".length));
  }

  /** The point with the best value of a measure; undefined where there is none. */
  best(tag) {
    const lower = this.lowerIsBetter(tag);
    const points = this.curves.get(tag) ?? [];
    if (lower === undefined || !tag.startsWith("validation/")) return undefined;
    return points.reduce((best, point) => {
      const isBetter = !best || (lower ? point.value < best.value : point.value > best.value);
      return isBetter ? point : best;
    }, undefined);
  }

  /** The epoch whose weights are kept. */
  get kept() {
    return this.epochs.findLast(({best}) => best);
  }

  /** What the training decides by: the tag of its curve. */
  get monitored() {
    const name = this.value.monitor?.[0] ?? "loss";
    return this.curves.has(`validation/${name}`) ? `validation/${name}` : "train/loss";
  }

  /** The newest value of a column of steps, or undefined. */
  last(column) {
    return this.value.steps?.[column]?.at(-1) ?? undefined;
  }

  #curves() {
    const curves = new Map();
    const add = (tag, point) => {
      if (!Number.isFinite(point.value)) return;
      if (!curves.has(tag)) curves.set(tag, []);
      curves.get(tag).push(point);
    };
    const steps = this.value.steps ?? {};
    (steps.step ?? []).forEach((step, i) => {
      for (const [tag, column] of Object.entries(fromSteps))
        add(tag, {step, epoch: steps.epoch[i], time: steps.seconds[i], value: steps[column]?.[i] ?? NaN});
    });
    // A training that an older program has written has epochs alone.
    const hasSteps = curves.has("train/loss");
    let time = 0;
    for (const epoch of this.epochs) {
      time += epoch.seconds ?? 0;
      const at = {step: epoch.step, epoch: epoch.epoch, time};
      if (!hasSteps) add("train/loss", {...at, value: epoch.loss ?? NaN});
      if (!hasSteps) add("learning_rate", {...at, value: epoch.learning_rate ?? NaN});
      for (const [name, value] of Object.entries(epoch.validation))
        add(`validation/${name}`, {...at, value: value ?? NaN});
    }
    return curves;
  }
}

/** The tags of all runs: the loss, what is monitored, other measures, the rest. */
export function tagsOf(runs) {
  const tags = new Set(runs.flatMap((run) => [...run.curves.keys()]));
  const monitored = new Set(runs.map((run) => run.monitored));
  const rank = (tag) =>
    tag === "train/loss" ? 0 : monitored.has(tag) ? 1 : tag.startsWith("validation/") ? 2 : 3;
  return [...tags].sort((a, b) => rank(a) - rank(b));
}

/** An exponential mean of the values, without the pull of the first ones. `weight` 0 changes nothing. */
export function smoothed(points, weight) {
  if (weight <= 0) return points;
  let sum = 0;
  let total = 0;
  return points.map((point) => {
    sum = weight * sum + (1 - weight) * point.value;
    total = weight * total + (1 - weight);
    return {...point, value: sum / total};
  });
}

/** At most about `most` points that look the same: of each stretch the least and the largest. */
export function thinned(points, most) {
  if (points.length <= most) return points;
  const size = Math.ceil((2 * points.length) / most);
  const kept = [];
  for (let begin = 0; begin < points.length; begin += size) {
    const stretch = points.slice(begin, begin + size);
    const by = (better) => stretch.reduce((a, b) => (better(b.value, a.value) ? b : a));
    const [low, high] = [by((a, b) => a < b), by((a, b) => a > b)];
    kept.push(...(low.step <= high.step ? [low, high] : [high, low]));
  }
  if (kept.at(-1) !== points.at(-1)) kept.push(points.at(-1));
  return kept;
}

/** Of points in the order of their steps, the last that is not behind `at`; the first where all are. */
export function pointAt(points, axis, at) {
  let low = 0;
  for (let high = points.length - 1; low < high; ) {
    const middle = Math.ceil((low + high) / 2);
    if (points[middle][axis] <= at) low = middle;
    else high = middle - 1;
  }
  const next = points[low + 1];
  return next && next[axis] - at < at - points[low][axis] ? next : points[low];
}
