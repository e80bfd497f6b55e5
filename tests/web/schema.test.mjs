// Every example explanation, and everything the program wrote in other tests, obeys
// docs/formats/explanation.schema.json.

import assert from "node:assert/strict";
import {readFileSync} from "node:fs";
import path from "node:path";
import {test} from "node:test";
import Ajv from "ajv/dist/2020.js";
import {fixtures, jsonFiles, root} from "./support.mjs";

const schema = JSON.parse(readFileSync(path.join(root, "docs/formats/explanation.schema.json"), "utf8"));
const validate = new Ajv({allErrors: true, strictTypes: false, strictRequired: false}).compile(schema);

function problemsOf(value) {
  return validate(value)
    ? []
    : validate.errors.slice(0, 5).map((error) => `${error.instancePath} ${error.message}`);
}

for (const file of [...fixtures, ...jsonFiles(process.env.FOVEA_WEB_OUTPUT)]) {
  test(`${path.basename(file)} obeys the schema`, () => {
    assert.deepEqual(problemsOf(JSON.parse(readFileSync(file, "utf8"))), []);
  });
}

test("there are example explanations", () => assert.ok(fixtures.length > 0));

test("the schema refuses what the format refuses", () => {
  const whole = JSON.parse(readFileSync(fixtures[0], "utf8"));
  for (const broken of [
    {...whole, format: "other"},
    {...whole, version: 1},
    {...whole, axes: "none"},
    {...whole, maps: [{}]},
    {...whole, cuts: [{unit: "words", read: -1, of: 3}]},
    {...whole, model: {measured: {metric: "accuracy"}}},
    {...whole, prediction: {text: "", shares: [{label: "a", probability: 1}]}},
    {...whole, prediction: {text: "", truth: {right: true}}},
  ]) {
    assert.notDeepEqual(problemsOf(broken), []);
  }
});
