// What a column holds stands beside its bar: a number as one, a category as it stands in the file.

import assert from "node:assert/strict";
import {mkdtempSync, rmSync, writeFileSync} from "node:fs";
import {tmpdir} from "node:os";
import path from "node:path";
import {after, before, describe, test} from "node:test";
import {pathToFileURL} from "node:url";
import {desktop, fovea, phone, shoot, startBrowser, visit} from "./support.mjs";

const long = `a very ${"long ".repeat(60)}category`;
const columns = {colour: "red", size: "small", weight: 3.5, note: null, code: "a\u001b[31mb", address: long};

const explanation = {
  format: "fovea-explanation",
  version: 2,
  task: "features",
  title: "Which columns the purchase rests on",
  input: "red,small,3.5",
  prediction: {text: "yes"},
  axes: [
    {name: "prediction", kind: "prediction", labels: ["buys"]},
    {name: "column", kind: "column", labels: Object.keys(columns), values: Object.values(columns)},
  ],
  maps: [
    {
      name: "attention",
      title: "Attention over columns",
      kind: "distribution",
      query_axis: "prediction",
      key_axis: "column",
      weights: [[0.4, 0.2, 0.15, 0.1, 0.1, 0.05]],
    },
  ],
  notes: [],
};

describe("values of columns", () => {
  const folder = mkdtempSync(path.join(tmpdir(), "fovea-values-"));
  const report = path.join(folder, "report.html");
  const address = pathToFileURL(report).href;
  let browser;
  before(async () => {
    const file = path.join(folder, "explanation.json");
    writeFileSync(file, JSON.stringify(explanation));
    await fovea("explain", "--weights", file, "--out", report);
    browser = await startBrowser();
  });
  after(async () => {
    await browser?.close();
    rmSync(folder, {recursive: true, force: true});
  });

  for (const [name, viewport] of Object.entries({desktop, phone})) {
    test(`categories and numbers are drawn: ${name}`, async () => {
      await visit(browser, address, {viewport}, async ({page}) => {
        const texts = page.locator(".bars-chart svg text");
        await texts.first().waitFor();
        const drawn = await texts.allTextContents();
        await shoot(page, `values-${name}`);
        for (const value of ["red", "small", "3.5", "a\\x1b[31mb"]) {
          assert.ok(drawn.includes(value), `${value} is not among ${drawn.join(" | ")}`);
        }
        assert.ok(drawn.some((text) => /^a very .*…$/.test(text)), "a long value is cut");
        assert.ok(!drawn.includes("gap"), drawn.join(" | "));
      });
    });
  }

  test("a bar's tooltip tells its category", async () => {
    await visit(browser, address, {}, async ({page}) => {
      const chart = page.locator(".bars-chart");
      await page.locator(".bars-chart svg text").first().waitFor();
      await chart.hover({position: {x: 60, y: 32}});
      const tooltip = page.locator(".tooltip");
      await tooltip.filter({hasText: "its value"}).waitFor();
      assert.match(await tooltip.textContent(), /its value\s*red/);
    });
  });
});
