// The heading and the verdict in a report of a real run of every task, for the first of the run's own examples.

import assert from "node:assert/strict";
import {existsSync, mkdtempSync, readdirSync, readFileSync, rmSync} from "node:fs";
import {tmpdir} from "node:os";
import path from "node:path";
import {after, before, describe, test} from "node:test";
import {pathToFileURL} from "node:url";
import {fovea, shoot, startBrowser, visit} from "./support.mjs";

const folder = process.env.FOVEA_WEB_RUNS;
const runs = folder && existsSync(folder) ? readdirSync(folder).sort() : [];
const windows = {
  wide: {viewport: {width: 1440, height: 1000}, colorScheme: "light"},
  phone: {viewport: {width: 390, height: 844}, colorScheme: "dark", hasTouch: true},
};
const words = /^(Yes|In part|No|Cannot be told)\./;

describe("the heading of real runs", {skip: runs.length === 0 && "FOVEA_WEB_RUNS names no runs"}, () => {
  const reports = mkdtempSync(path.join(tmpdir(), "fovea-headings-"));
  let browser;
  before(async () => (browser = await startBrowser()));
  after(async () => {
    await browser?.close();
    rmSync(reports, {recursive: true, force: true});
  });

  for (const run of runs) {
    test(`${run}: answer, model and verdict at a glance`, async () => {
      const [example] = JSON.parse(readFileSync(path.join(folder, run, "assets/examples.json"), "utf8"));
      const input = typeof example === "string" ? example : JSON.stringify(example);
      const report = path.join(reports, `${run}.html`);
      const json = path.join(reports, `${run}.json`);
      await fovea("explain", path.join(folder, run), input, "--quiet", "--faithfulness", "--out", report, "--out", json);
      const explanation = JSON.parse(readFileSync(json, "utf8"));
      for (const [look, options] of Object.entries(windows)) {
        await visit(browser, pathToFileURL(report).href, options, async ({page}) => {
          await page.locator(".shell-stage :is(svg, canvas, img, .running, .reviews)").first().waitFor();
          assert.equal(await page.locator(".prediction").textContent(), explanation.prediction.text);
          const {shares = [], truth} = explanation.prediction;
          const rows = page.locator(".answer-block > .answer-shares tr");
          assert.equal(await rows.count() > 0, shares.length > 0);
          const judgement = page.locator(".answer-truth strong");
          assert.equal(await judgement.count(), truth?.right === undefined ? 0 : 1);
          if (truth?.right !== undefined)
            assert.equal(await judgement.textContent(), truth.right ? "Right. " : "Wrong. ");
          const card = await page.getByRole("group", {name: "The model", exact: true}).innerText();
          const {metric, value} = explanation.model.measured;
          assert.ok(card.includes(metric.replaceAll("_", " ")), card);
          assert.ok(Number.isFinite(value), `${metric} ${value}`);
          assert.match(card, /epochs?|fitted/);
          assert.match(card, /training rows/);
          await everyVerdict(page, explanation);
          await shoot(page, `heading-${run}-${look}`);
        });
      }
    });
  }

  /** Opens the report of an input of a run. */
  async function report(run, input, hash, body) {
    const file = path.join(reports, `${run}-given.html`);
    const json = path.join(reports, `${run}-given.json`);
    await fovea("explain", path.join(folder, run), ...(input ? [JSON.stringify(input)] : []), "--quiet", "--no-faithfulness", "--out", file, "--out", json);
    const explanation = JSON.parse(readFileSync(json, "utf8"));
    await visit(browser, pathToFileURL(file).href + hash, windows.wide, async ({page}) => {
      await page.locator(".shell-stage :is(svg, canvas, .running, .reviews)").first().waitFor();
      await body(page, explanation);
    });
  }

  const exampleOf = (run) => JSON.parse(readFileSync(path.join(folder, run, "assets/examples.json"), "utf8"))[0];

  test("visits that were cut are said", async () => {
    const visits = Array.from({length: 230}, (_, time) => ({time, codes: exampleOf("visits").visits[0].codes}));
    await report("visits", {visits}, "", async (page, {cuts}) => {
      assert.deepEqual(cuts, [{unit: "visits", read: 200, of: 230}]);
      assert.match(await page.locator(".head").innerText(), /Read 200 of 230 visits\. The model did not see the rest\./);
    });
  });

  test("reviews that were cut are said", async () => {
    const review = {text: "quite a fine thing and more of it ".repeat(400), rating: 4};
    await report("ratings", {...exampleOf("ratings"), item_reviews: [review, review]}, "", async (page, {cuts}) => {
      assert.ok(cuts.length > 0);
      for (const {unit, read, of} of cuts) {
        assert.match(unit, /^(reviews|words) of the (user|item)/);
        assert.ok(read < of);
        assert.ok((await page.locator(".head").innerText()).includes(`Read ${read.toLocaleString("en")} of ${of.toLocaleString("en")} ${unit}.`));
      }
    });
  });

  /** Waits until the picture has these texts among its own. */
  async function says(page, wanted) {
    await page.waitForFunction((sources) => {
      const texts = Array.from(document.querySelectorAll(".shell-stage svg text"), (node) => node.textContent);
      return sources.every((source) => texts.some((text) => new RegExp(`^${source}$`).test(text)));
    }, wanted, {timeout: 20_000}).catch(async () => {
      assert.fail(`${wanted.join(", ")} are not all among ${(await page.locator(".shell-stage svg text").allTextContents()).join(" | ")}`);
    });
  }

  test("edges of graphs are scaled against equal weights", async () => {
    await report("graph", null, "#view=neighbourhood", async (page) => {
      const legend = page.locator(".legend").first();
      await legend.getByText(/looked at alike/).waitFor();
      const many = await page.locator(".ranked-row").count();
      const last = Number(await legend.locator(".legend-ticks span").last().textContent());
      assert.ok(last >= Math.min(1, 4 / many) - 0.005, `${last} is the last colour of ${many} edges`);
      await shoot(page, "scale-graph");
    });
  });

  test("axes are titled, with their units", async () => {
    await report("visits", exampleOf("visits"), "#view=timeline", async (page) => {
      await says(page, ["(contribution of the visit’s codes|weight of the visit)", "(time of the visit(, .+)?|number of the visit)"]);
      await shoot(page, "axes-timeline");
    });
    await report("speech", exampleOf("speech"), "#view=spectrogram", async (page) => {
      await page.getByRole("button", {name: "Export"}).click();
      const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("menuitem", {name: "Vector picture SVG"}).click()]);
      const svg = readFileSync(await download.path(), "utf8");
      for (const title of ["time in seconds", "frequency"]) assert.ok(svg.includes(title), title);
      await shoot(page, "axes-speech");
    });
    await report("context", exampleOf("context"), "#view=panels", async (page, {maps}) => {
      await says(page, ["weight", maps[0].key_axis]);
      await shoot(page, "axes-panels");
    });
  });

  // A tab that was judged shows its own sentence; one that was not shows nobody's.
  async function everyVerdict(page, {faithfulness}) {
    const strip = page.getByRole("group", {name: "Does this picture show what the model used?"});
    const tabs = page.locator("[role=tablist][aria-label=Maps] [role=tab]");
    for (let place = 0; place < (await tabs.count()); ++place) {
      if (await tabs.nth(place).isVisible()) await tabs.nth(place).click();
      const text = await strip.locator("p").first().innerText();
      const name = await tabs.nth(place).getAttribute("data-id");
      const sentences = faithfulness.filter(({verdict}) => text.includes(verdict));
      if (!words.test(text)) {
        assert.equal(sentences.length, 0, text);
        assert.match(text, /^Not measured/);
        continue;
      }
      assert.equal(sentences.length, 1, text);
      const [{map, trust, judged_as: as}] = sentences;
      assert.equal(as === "rollout" ? `${map} rollout` : map, name);
      const washed = await page.locator(".shell-stage.washed").count();
      assert.equal(washed, trust === "unsupported" ? 1 : 0, `${trust}: ${text}`);
    }
  }
});
