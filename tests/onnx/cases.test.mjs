// Every way of building a model: ONNX Runtime's numbers against ours, to 1e-4, for several numbers of rows and lengths.
// FOVEA_ONNX_CASES is the folder that the test program wrote (tests/export/cases.h).

import assert from "node:assert/strict";
import {readdirSync} from "node:fs";
import path from "node:path";
import {test} from "node:test";
import {int64, open, readJson, Sequences, tensorOf} from "./runtime.mjs";

const folder = process.env.FOVEA_ONNX_CASES;
const tolerance = 1e-4;

function expectClose(found, wanted, what) {
  assert.equal(found.length, wanted.length, `${what}: ${found.length} numbers instead of ${wanted.length}`);
  let worst = 0;
  for (let i = 0; i < wanted.length; ++i) {
    const difference = Math.abs(found[i] - wanted[i]);
    worst = difference <= worst ? worst : difference; // NaN stays
  }
  assert.ok(worst <= tolerance, `${what} differs by ${worst}`);
}

function expectOutputs(found, wanted) {
  for (const [name, {shape, type, data}] of Object.entries(wanted)) {
    assert.deepEqual([...found[name].dims], shape, name);
    expectClose(type === "int64" ? Array.from(found[name].data, Number) : found[name].data, data, name);
  }
}

function feedsOf(inputs) {
  return Object.fromEntries(Object.entries(inputs).map(([name, tensor]) => [name, tensorOf(tensor)]));
}

async function checkModel(file, batches) {
  const session = await open(file);
  for (const {inputs, outputs} of batches) {
    const found = await session.run(feedsOf(inputs));
    assert.deepEqual(Object.keys(found).sort(), Object.keys(outputs).sort());
    expectOutputs(found, outputs);
  }
}

/** Step `step` of a tensor [B, T, …]. */
function atStep({shape, data}, step) {
  const width = shape.slice(2).reduce((product, size) => product * size, 1);
  const rows = [];
  for (let row = 0; row < shape[0]; ++row) {
    const begin = (row * shape[1] + step) * width;
    rows.push(...data.slice(begin, begin + width));
  }
  return rows;
}

/** Rows of `width` numbers without what lies beyond `length`, which must be 0: nobody looks at what is yet to be written. */
function cutRows(rows, width, length) {
  assert.ok(rows.every((number, i) => i % width < length || number === 0), "a step looked ahead");
  return rows.filter((_, i) => i % width < length);
}

function checkStep(found, {outputs, tokens}, step) {
  for (const [name, wanted] of Object.entries(outputs)) {
    if (name === "log_probabilities") continue;
    const rows = cutRows(atStep(wanted, step), wanted.shape.at(-1), found[name].dims.at(-1));
    expectClose(found[name].data, rows, `${name} of step ${step}`);
  }
  if (!outputs.log_probabilities) return {};
  const chosen = atStep(tokens, step), symbols = found.log_probabilities.dims[1];
  const given = chosen.map((token, row) => found.log_probabilities.data[row * symbols + token]);
  expectClose(given, atStep(outputs.log_probabilities, step), `log-probability of step ${step}`);
  return {token: int64(chosen, [chosen.length])};
}

async function checkSequences(files, batches) {
  const sequences = await Sequences.open(...files);
  for (const batch of batches) {
    const steps = Object.values(batch.outputs)[0].shape[1];
    let made = 0;
    await sequences.run(feedsOf(batch.inputs), (step, found) => {
      ++made;
      const wanted = checkStep(found, batch, step);
      return step + 1 < steps && wanted;
    });
    assert.equal(made, steps);
    expectOutputs(sequences.encoded, batch.encoded ?? {});
  }
}

const cases = readdirSync(folder).filter((name) => name.endsWith(".json")).sort();
test("there are cases", () => assert.ok(cases.length > 80));
for (const name of cases)
  test(name.replace(".json", ""), async () => {
    const {files, batches} = readJson(path.join(folder, name));
    const paths = files.map((file) => path.join(folder, file));
    await (paths.length === 1 ? checkModel(paths[0], batches) : checkSequences(paths, batches));
  });
