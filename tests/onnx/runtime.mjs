// ONNX Runtime as a user of exported files calls it.

import {readFileSync} from "node:fs";
import ort from "onnxruntime-node";

/** A session on the CPU with one thread. */
export function open(file) {
  return ort.InferenceSession.create(file, {
    executionProviders: ["cpu"],
    intraOpNumThreads: 1,
    logSeverityLevel: 3,
  });
}

export function int64(values, shape) {
  return new ort.Tensor("int64", BigInt64Array.from(values, BigInt), shape);
}

export function float32(values, shape) {
  return new ort.Tensor("float32", Float32Array.from(values), shape);
}

export function bool(values, shape) {
  return new ort.Tensor("bool", Uint8Array.from(values), shape);
}

/** A tensor as tests/export/cases.h writes it. */
export function tensorOf({type, shape, data}) {
  if (type === "bool") return bool(data, shape);
  return type === "int64" ? int64(data, shape) : float32(data, shape);
}

/** The exported encoder and decoder of one run, and the loop around them. */
export class Sequences {
  static async open(encoderFile, decoderFile) {
    const sequences = new Sequences();
    sequences.encoder = await open(encoderFile);
    sequences.decoder = await open(decoderFile);
    return sequences;
  }

  /**
   * Encodes what is `given`, inputs by name, then makes steps while `next` asks for more: next(step, outputs) gets what
   * the step put out and returns false, or {} or {token} for the next one. What is put out as X goes into the next step
   * as previous_X. What the encoder put out stays in `encoded`.
   */
  async run(given, next) {
    let known = this.encoded = await this.encoder.run(given);
    for (let step = 0; ; ++step) {
      const inputs = {};
      for (const name of this.decoder.inputNames) inputs[name] = known[name.replace("previous_", "")];
      const outputs = await this.decoder.run(inputs);
      const wanted = next(step, outputs);
      if (!wanted) return;
      known = {...known, ...outputs, ...wanted};
    }
  }
}

/** The largest number of each row of a tensor [B, V], without those that are forbidden: [B]. */
export function likeliest(tensor, forbidden = []) {
  const [rows, width] = tensor.dims;
  const chosen = [];
  for (let row = 0; row < rows; ++row) {
    let best = -1;
    for (let i = 0; i < width; ++i) {
      if (forbidden.includes(i)) continue;
      if (best < 0 || tensor.data[row * width + i] > tensor.data[row * width + best]) best = i;
    }
    chosen.push(best);
  }
  return chosen;
}

export function readJson(file) {
  return JSON.parse(readFileSync(file, "utf8"));
}
