// One parsed explanation: its axes, its maps and what was measured about them. Numbers stay packed until a
// view asks for them.
import {ChunkStore} from "fovea/model/chunks.js";
import {Family, familiesOf} from "fovea/model/family.js";
import {ListMatrix, SparseMatrix} from "fovea/model/matrix.js";
import {PackedMatrix} from "fovea/model/packed.js";

const version = 2;
const mediaTypes = ["image/png", "image/jpeg", "image/svg+xml", "audio/wav"];

/** A prediction, the axes of its input and output, and the maps between them. */
export class Explanation {
  /** Reads the JSON value; `chunkSource(i)` gives chunk i as base64, by default from the value's own list. */
  static fromJson(value, chunkSource = (index) => value.chunks?.[index]) {
    if (value?.format !== "fovea-explanation") throw new Error("this is no explanation of Fovea");
    if (value.version !== version) {
      throw new Error(`an explanation of version ${value.version}; this viewer reads ${version}`);
    }
    return new Explanation(value, chunkSource);
  }

  /** The explanation that a report holds, or the first of them. */
  static fromDocument(document) {
    return Explanation.listFromDocument(document)[0];
  }

  /** All explanations that a report holds. */
  static listFromDocument(document) {
    const held = JSON.parse(document.getElementById("explanation").textContent);
    const source = (index) => document.getElementById(`chunk-${index}`)?.textContent.trim();
    return [held].flat().map((value) => Explanation.fromJson(value, source));
  }

  constructor(value, chunkSource) {
    this.value = value;
    this.chunkSource = chunkSource;
    this.task = value.task ?? "";
    this.title = value.title ?? "";
    this.input = value.input ?? "";
    this.prediction = value.prediction ?? {text: ""};
    this.notes = value.notes ?? [];
    this.faithfulness = value.faithfulness ?? [];
    const store = new ChunkStore(chunkSource);
    this.axes = (value.axes ?? []).map((axis) => new Axis(axis, store));
    this.maps = (value.maps ?? []).map((map) => new AttentionMap(map, this, store));
    this.familyList = null;
    for (const {axis, units} of value.without?.units ?? []) this.axis(axis)?.away.push(...units);
  }

  /** The axis of a name, or undefined. */
  axis(name) {
    return this.axes.find((axis) => axis.name === name);
  }

  /** The picture or sound of a name with its `url`, or undefined. */
  medium(name) {
    const medium = this.value.media?.find((candidate) => candidate.name === name);
    if (!medium || !mediaTypes.includes(medium.type)) return undefined;
    return {...medium, url: `data:${medium.type};base64,${medium.data}`};
  }

  /** Maps that belong together: layers and heads of one attention, or a group of series. */
  families() {
    this.familyList ??= familiesOf(this.maps);
    return this.familyList;
  }

  /** The family that a map (or a mean of maps) is of. */
  familyOf(map) {
    return this.families().find((family) => family.holds(map)) ?? new Family("", [map], false);
  }

  /** Of the family of `other`, the map of the layer and head that `map` is of, or the mean as it is one. */
  beside(map, other) {
    return this.familyOf(other).find(map.layer, map.head);
  }
}

/** The units that queries or keys are. `parent` is the name of an axis, `media` that of a medium. */
export class Axis {
  constructor(value, store) {
    this.name = value.name;
    this.kind = value.kind ?? "";
    this.labels = value.labels ?? [];
    this.size = this.labels.length;
    const optional = [
      "text", "spans", "special", "parent", "offsets", "grid", "times", "values", "media",
    ];
    for (const field of optional) {
      this[field] = value[field] ?? null;
    }
    this.away = [];  // units that were taken away from the input
    this.timeUnit = value.time_unit ?? "";
    this.output = value.output === true;
    this.spectrogram = value.spectrogram ? matrixOf(value.spectrogram, store, undefined, this.size) : null;
  }

  /** The original text in order as [{text, unit}], unit -1 between units; null without a text. Units that
      overlap are cut. */
  segments() {
    if (this.text === null || !this.spans) return null;
    const characters = Array.from(this.text);  // spans count code points
    const segments = [];
    let at = 0;
    const upTo = (end, unit) => {
      if (end > at) segments.push({text: characters.slice(at, end).join(""), unit});
      at = Math.max(at, end);
    };
    const placed = this.spans.map((span, unit) => ({span, unit})).filter(({span}) => span);
    placed.sort((a, b) => a.span[0] - b.span[0]);
    for (const {span: [begin, end], unit} of placed) {
      upTo(begin, -1);
      upTo(end, unit);
    }
    upTo(characters.length, -1);
    return segments;
  }
}

/** Who looks (rows) at what (columns). */
export class AttentionMap {
  constructor(value, explanation, store) {
    this.name = value.name;
    this.title = value.title || value.name;
    this.kind = value.kind ?? "distribution";
    this.layout = value.layout ?? "dense";
    this.layer = value.layer ?? null;
    this.head = value.head ?? null;
    this.group = value.group ?? "";
    this.total = value.total ?? "";
    this.valueName = this.kind === "contribution" ? "contribution" : "weight";
    this.products = value.products === true;  // a weight can be told as query x key
    this.queryAxis = axisOf(explanation, value.query_axis);
    this.keyAxis = axisOf(explanation, value.key_axis);
    const columns = this.layout === "points" ? undefined : this.keyAxis.size;
    const matrix = (stored) => (stored ? matrixOf(stored, store, this.queryAxis.size, columns) : null);
    this.weights = matrix(value.weights ?? []);
    this.spread = matrix(value.spread);
    this.low = matrix(value.interval?.low);
    this.high = matrix(value.interval?.high);
    this.intervalOf = value.interval?.of ?? "";
    this.intervalIs = value.interval?.is || "interval";
    this.hasTruth = Boolean(value.truth?.length);
    this.truth = new Map();  // query -> Set of keys
    for (const [query, key] of value.truth ?? []) {
      if (!this.truth.has(query)) this.truth.set(query, new Set());
      this.truth.get(query).add(key);
    }
  }

  /** Whether the pair really matters, as the data says. */
  isTrue(query, key) {
    return this.truth.get(query)?.has(key) ?? false;
  }

  /** Decodes all that is known of one weight, so that lookup() and peek() of its matrices can answer. */
  async load(query, key) {
    const matrices = [this.weights, this.spread, this.low, this.high].filter(Boolean);
    await Promise.all(matrices.map((matrix) => matrix.cell(query, key)));
  }

  /** Whether some weights are below 0, as a promise. */
  async isSigned() {
    return this.kind === "contribution" || (await this.weights.range()).low < 0;
  }
}

function axisOf(explanation, name) {
  const axis = explanation.axis(name);
  if (!axis) throw new Error(`a map names the axis "${name}", which is not there`);
  return axis;
}

function matrixOf(stored, store, rows, columns) {
  const matrix = Array.isArray(stored) ? new ListMatrix(stored, columns ?? stored[0]?.length ?? 0)
    : stored.encoding === "sparse" ? new SparseMatrix(stored, store) : new PackedMatrix(stored, store);
  const fits = (size, expected) => expected === undefined || size === expected;
  if (!fits(matrix.rows, rows) || !fits(matrix.columns, columns)) {
    const expected = `${rows ?? "any"} x ${columns ?? "any"}`;
    throw new Error(`a matrix is ${matrix.rows} x ${matrix.columns} where ${expected} was expected`);
  }
  return matrix;
}
