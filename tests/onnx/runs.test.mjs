// Trained runs, exported by the program: what ONNX Runtime answers against what `fovea predict` answers.
// FOVEA_PROGRAM is the program, FOVEA_ONNX_RUNS a folder with the runs and beside each its exported files.

import assert from "node:assert/strict";
import {execFileSync} from "node:child_process";
import {existsSync, mkdtempSync, readdirSync, rmSync} from "node:fs";
import {tmpdir} from "node:os";
import path from "node:path";
import {test} from "node:test";
import {bool, float32, int64, likeliest, open, readJson, Sequences} from "./runtime.mjs";

const program = process.env.FOVEA_PROGRAM;
const runs = process.env.FOVEA_ONNX_RUNS;
const writing = ["dates", "translate", "transformer"]; // runs that write texts, of characters
const padding = 0, begin = 2, end = 3, special = 4; // of their vocabularies; the files' metadata say so, too

const asset = (run, name) => readJson(path.join(runs, run, "assets", name));
const exported = (run, part = "") => path.join(runs, `${run}${part}.onnx`);

function predicted(run, inputs) {
  const texts = inputs.map((input) => (typeof input === "string" ? input : JSON.stringify(input)));
  const flags = ["--json", ...(writing.includes(run) ? ["--set", "decoding.method=greedy"] : [])];
  return JSON.parse(execFileSync(program, ["predict", path.join(runs, run), ...texts, ...flags], {encoding: "utf8"}));
}

function expectNear(found, wanted, what) {
  assert.ok(Math.abs(found - wanted) <= 1e-4 * Math.max(1, Math.abs(wanted)), `${what}: ${found} instead of ${wanted}`);
}

test("features: the classes' probabilities", async () => {
  const rows = asset("features", "examples.json");
  const {columns, target} = asset("features", "columns.json");
  const encoded = rows.flatMap((row) =>
    columns.map(({name, standardised, mean, deviation}) => (standardised ? (row[name] - mean) / deviation : row[name])));
  const session = await open(exported("features"));
  const {probabilities} = await session.run({inputs: float32(encoded, [rows.length, columns.length])});
  const wanted = predicted("features", rows);
  for (const [row, {scores}] of wanted.entries())
    for (const [i, name] of target.classes.entries())
      expectNear(probabilities.data[row * target.classes.length + i], scores[name], `row ${row}, class ${name}`);
});

test("context: the value", async () => {
  const rows = asset("context", "examples.json");
  const {contexts, positions, mean, deviation} = asset("context", "contexts.json");
  const session = await open(exported("context"));
  const {value} = await session.run({
    inputs: float32(rows.flatMap((row) => positions.map((name) => (row[name] - mean) / deviation)),
                    [rows.length, positions.length]),
    context: int64(rows.map((row) => contexts.indexOf(row.context)), [rows.length]),
  });
  for (const [row, wanted] of predicted("context", rows).entries())
    expectNear(value.data[row] * deviation + mean, wanted.value, `row ${row}`);
});

test("forecast: every step of the horizon", async () => {
  const rows = asset("forecast", "examples.json");
  const {series, window, horizon, inputs: width} = asset("forecast", "series.json");
  const inputs = series.slice(0, width);
  const source = rows.flatMap((row) => Array.from({length: window}, (_, step) =>
    inputs.map(({name, mean, deviation}) => (row[name][step] - mean) / deviation)).flat());
  const sequences = await Sequences.open(exported("forecast", "-encoder"), exported("forecast", "-decoder"));
  const steps = [];
  await sequences.run({source: float32(source, [rows.length, window, width])}, (step, {value}) => {
    steps.push([...value.data]);
    return step + 1 < horizon && {};
  });
  const target = series.find(({name}) => name === "y");
  for (const [row, wanted] of predicted("forecast", rows).entries())
    for (const [step, values] of steps.entries())
      expectNear(values[row] * target.deviation + target.mean, wanted.y[step], `row ${row}, step ${step}`);
});

/** Texts of a run whose tokens are characters, greedily decoded, all in one batch. */
async function decode(run, texts) {
  const numberOf = new Map(asset(run, "source.json").vocabulary.map((token, i) => [token, i + special]));
  const targetTokens = asset(run, "target.json").vocabulary;
  const sources = texts.map((text) => Array.from(text, (character) => numberOf.get(character)));
  const longest = Math.max(...sources.map((source) => source.length));
  const padded = sources.flatMap((source) => [...source, ...Array(longest - source.length).fill(padding)]);
  const answers = sources.map(() => ({text: "", log_probability: 0, done: false}));
  const sequences = await Sequences.open(exported(run, "-encoder"), exported(run, "-decoder"));
  await sequences.run({source: int64(padded, [sources.length, longest])}, (step, outputs) => {
    const found = outputs.log_probabilities, attention = outputs.attention ?? outputs.attention_1;
    assert.deepEqual([attention.dims[0], attention.dims.at(-1)], [sources.length, longest]);
    const chosen = likeliest(found, [padding, begin]);
    for (const [row, answer] of answers.entries()) {
      if (answer.done) continue;
      answer.log_probability += found.data[row * found.dims[1] + chosen[row]];
      if (chosen[row] !== end) answer.text += targetTokens[chosen[row] - special];
      answer.done = chosen[row] === end || step + 1 === 2 * sources[row].length + 20;
    }
    return answers.some(({done}) => !done) && {token: int64(chosen, [chosen.length])};
  });
  return answers;
}

for (const run of writing)
  test(`${run}: the texts that greedy decoding writes`, async () => {
    const texts = asset(run, "examples.json");
    const answers = await decode(run, texts);
    for (const [i, wanted] of predicted(run, texts).entries()) {
      assert.equal(answers[i].text, wanted.text);
      expectNear(answers[i].log_probability, wanted.log_probability, texts[i]);
    }
  });

/** Plain English as WordPiece cuts it: [CLS] pieces [SEP]. */
function pieces(text, vocabulary) {
  const numberOf = new Map(vocabulary.map((piece, i) => [piece, i]));
  const cut = (word) => {
    const found = [];
    for (let first = 0; first < word.length; ) {
      let last = word.length;
      const name = () => (first > 0 ? "##" : "") + word.slice(first, last);
      while (last > first && !numberOf.has(name())) --last;
      if (last === first) return [numberOf.get("[UNK]")];
      found.push(numberOf.get(name()));
      first = last;
    }
    return found;
  };
  const words = text.match(/\[MASK\]|[A-Za-z0-9]+|[^A-Za-z0-9\s]/g);
  const inner = words.flatMap((word) => (word === "[MASK]" ? numberOf.get(word) : cut(word.toLowerCase())));
  return [numberOf.get("[CLS]"), ...inner, numberOf.get("[SEP]")];
}

/** What a graph over BERT reads: single texts side by side. */
function bertInputs(texts, vocabulary) {
  const rows = texts.map((text) => pieces(text, vocabulary));
  const longest = Math.max(...rows.map((row) => row.length)), shape = [rows.length, longest];
  const flat = (value) => rows.flatMap((row) => Array.from({length: longest}, (_, i) => value(row, i)));
  return {
    tokens: int64(flat((row, i) => row[i] ?? 0), shape),
    keep: bool(flat((row, i) => i < row.length), shape),
    segments: int64(flat(() => 0), shape),
  };
}

test("documents: the classes' probabilities", async () => {
  const texts = ["A wonderful film, I loved it.", "It was bad.", "The worst story of the year and a boring cast!"];
  const {classes} = asset("documents", "documents.json");
  const session = await open(exported("documents"));
  const {probabilities} = await session.run(bertInputs(texts, asset("documents", "tokeniser.json").vocabulary));
  for (const [row, {scores}] of predicted("documents", texts).entries())
    for (const [i, name] of classes.entries())
      expectNear(probabilities.data[row * classes.length + i], scores[name], `row ${row}, class ${name}`);
});

for (const run of ["pretrain", "hugging-face"])
  test(`${run}: embeddings, and what stood at [MASK]`, async () => {
    const texts = ["The old [MASK] went to the river.", "A dog.", "She saw the [MASK] and the [MASK] again."];
    const {vocabulary} = asset("pretrain", "tokeniser.json");
    const session = await open(exported(run));
    const found = await session.run(bertInputs(texts, vocabulary));
    const wanted = predicted(run, texts), width = found.embedding.dims[1], size = vocabulary.length;
    for (const [row, {embedding}] of wanted.entries())
      for (let i = 0; i < width; ++i) expectNear(found.embedding.data[row * width + i], embedding[i], `row ${row}`);
    const masks = wanted.flatMap(({masks}, row) => (masks ?? []).map((mask) => ({row, ...mask})));
    assert.deepEqual(Array.from(found.masked_places.data, Number), masks.flatMap(({row, token}) => [row, token]));
    const best = likeliest(found.masked_log_probabilities);
    for (const [i, {words}] of masks.entries())
      expectNear(Math.exp(found.masked_log_probabilities.data[i * size + best[i]]), words[0].probability, `[MASK] ${i}`);
  });

test("what cannot be exported is refused and leaves nothing behind", () => {
  const folder = mkdtempSync(path.join(tmpdir(), "fovea-onnx-"));
  const refused = (run, file) => {
    try {
      execFileSync(program, ["export", path.join(runs, run), "--onnx", path.join(folder, file)], {stdio: "pipe"});
    } catch (error) {
      return error.stderr.toString();
    }
    return "";
  };
  assert.match(refused("features", "model.pb"), /^error: .*ends in \.onnx/);
  assert.match(refused("features", "missing/model.onnx"), /^error: .*does not exist/);
  assert.match(refused("nothing", "model.onnx"), /^error: /);
  assert.ok(!existsSync(path.join(folder, "missing")));
  assert.deepEqual(readdirSync(folder), []);
  rmSync(folder, {recursive: true});
});

test("language: a prompt, then token by token", async () => {
  const {vocab} = asset("language", "tokenizer.json").model;
  const {layers, heads, hidden} = readJson(path.join(runs, "language", "config.json")).model;
  const session = await open(exported("language"));
  const prompt = "d7 k2 ", tokens = 12;
  let ids = [...prompt].map((letter) => vocab[letter]), past = {}, text = "";
  for (let i = 0; i < layers; ++i)
    for (const part of ["key", "value"])
      past[`past_key_values.${i}.${part}`] = float32([], [1, heads, 0, hidden / heads]);
  while (text.length < tokens) {
    const found = await session.run({input_ids: int64(ids, [1, ids.length]), ...past});
    const [, length, width] = found.logits.dims;
    const last = {dims: [1, width], data: found.logits.data.slice((length - 1) * width)};
    ids = likeliest(last, [vocab["<unk>"]]);
    text += Object.keys(vocab).find((letter) => vocab[letter] === ids[0]);
    past = Object.fromEntries(Object.keys(past).map((name) => [name, found[name.replace("past_key_values", "present")]]));
  }
  const flags = ["--tokens", `${tokens}`, "--temperature", "0", "--json"];
  const wanted = execFileSync(program, ["generate", path.join(runs, "language"), prompt, ...flags], {encoding: "utf8"});
  assert.equal(text, JSON.parse(wanted).text);
});
