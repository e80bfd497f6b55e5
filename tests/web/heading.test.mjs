// What stands before the picture: the answer with all that it was chosen among, whether it is right, what was read
// of the input, the model's card, and whether the picture shows what the model used.

import assert from "node:assert/strict";
import {mkdtempSync, readFileSync, rmSync, writeFileSync} from "node:fs";
import {tmpdir} from "node:os";
import path from "node:path";
import {after, before, describe, test} from "node:test";
import {pathToFileURL} from "node:url";
import {desktop, fixtureFolder, fovea, phone, shoot, startBrowser, visit} from "./support.mjs";

const hostile = "<img src=x onerror=\"document.title='hurt'\">";
const card = {
  name: hostile,
  task: "features",
  network: "attention",
  parameters: 12345,
  data: "people.csv",
  rows: {train: 4000, validation: 500, test: 500},
  epoch: 12,
  epochs: 12,
  best_epoch: 9,
  trained: "2026-03-01T12:00:00Z",
  measured: {
    metric: "balanced_accuracy",
    value: 0.8613,
    split: "validation",
    rows: 500,
    higher_is_better: true,
    interval: [0.84, 0.882],
    baselines: [{name: "majority", value: 0.5}],
  },
};
const classes = Array.from({length: 50}, (_, i) => ({label: `class ${i}`, probability: 0.5 ** (i + 1)}));
classes[0].given = true;

/** A verdict of the map. */
function judged(map, trust, more = {}) {
  const parts = {examples: 1, output: "value", measures: [], curves: [], notes: []};
  return {map, trust, verdict: `The verdict of ${map}.`, ...parts, ...more};
}

function matrix(rows, columns, value) {
  return Array.from({length: rows}, () => Array.from({length: columns}, () => value));
}

/** An explanation with two maps, one of four heads. */
function example(more = {}) {
  const keys = {name: "column", kind: "column", labels: ["a", "b", "c", "d"]};
  const prediction = {name: "prediction", kind: "prediction", labels: ["y"]};
  const map = {title: "First", kind: "distribution", query_axis: "prediction", key_axis: "column"};
  const heads = [1, 2, 3, 4].map((head) => ({
    ...map, name: "heads", title: "Second", head, weights: [[0.1, 0.2, 0.3, 0.4]],
  }));
  return {
    format: "fovea-explanation",
    version: 2,
    task: "features",
    title: "What was looked at",
    input: "a row",
    prediction: {text: "class 0 (0.5)", answer: {class: "class 0"}, shares: classes, answers: 1000},
    axes: [prediction, keys],
    maps: [{...map, name: "first", weights: matrix(1, 4, 0.25)}, ...heads],
    model: card,
    notes: [],
    ...more,
  };
}

describe("what stands before the picture", () => {
  const folder = mkdtempSync(path.join(tmpdir(), "fovea-heading-"));
  let browser;
  before(async () => (browser = await startBrowser()));
  after(async () => {
    await browser?.close();
    rmSync(folder, {recursive: true, force: true});
  });

  /** Opens the report of an explanation. */
  async function open(name, explanation, options, body) {
    const file = path.join(folder, `${name}.json`);
    const report = path.join(folder, `${name}.html`);
    writeFileSync(file, JSON.stringify(explanation));
    await fovea("explain", "--weights", file, "--out", report);
    return visit(browser, pathToFileURL(report).href, options, async ({page}) => {
      await page.locator(".head").waitFor();
      await body(page);
    });
  }

  const block = (page) => page.locator(".answer-block");
  const verdict = (page) => page.getByRole("group", {name: "Does this picture show what the model used?"});
  const tab = (page, name) => page.getByRole("tablist", {name: "Maps"}).getByRole("tab", {name});
  const isWashed = (page) => page.locator(".shell-stage").evaluate((node) => node.classList.contains("washed"));

  for (const [look, viewport] of Object.entries({desktop, phone})) {
    test(`the answer, what it was chosen among, and that it is wrong: ${look}`, async () => {
      const truth = {text: "class 40", right: false};
      const prediction = {...example().prediction, truth};
      await open("wrong", example({prediction}), {viewport}, async (page) => {
        const text = await block(page).innerText();
        assert.match(text, /Wrong\.\s*The right answer: class 40/);
        const rows = await block(page).locator("table").first().locator("tr").allInnerTexts();
        assert.equal(rows.length, 7, "the six likeliest and the right one");
        assert.match(rows[0], /class 0\s*answer\s*50 %/);
        assert.match(rows[6], /class 40\s*right answer\s*<0\.1 %/);
        assert.match(text, /and 993 more/);
        await shoot(page, `heading-wrong-${look}`);
        const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        assert.ok(wide <= 0, `${wide} pixels wider than the window`);
      });
    });
  }

  test("a right answer says so, and an unknown one too", async () => {
    const truth = {text: "class 0", right: true};
    await open("right", example({prediction: {...example().prediction, truth}}), {}, async (page) => {
      assert.match(await block(page).innerText(), /Right\.\s*That is the right answer: class 0/);
    });
    await open("unknown", example(), {}, async (page) => {
      assert.match(await block(page).innerText(), /The right answer is not known here\./);
      assert.doesNotMatch(await block(page).innerText(), /Right\.|Wrong\./);
      assert.equal(await page.getByLabel("Right answer").count(), 0, "a report asks nobody");
    });
  });

  test("a number says how far off it is", async () => {
    const truth = {text: "310", remark: "the answer is 8.8 too low"};
    const prediction = {text: "price = 301.2", answer: {value: 301.2}, truth};
    await open("number", example({prediction}), {}, async (page) => {
      assert.match(await block(page).innerText(), /The right answer: 310; the answer is 8\.8 too low/);
      assert.equal(await block(page).locator("table").count(), 0);
    });
  });

  test("the model's card", async () => {
    await open("card", example(), {}, async (page) => {
      const text = await page.getByRole("group", {name: "The model", exact: true}).innerText();
      assert.match(text, /balanced accuracy 0\.861 \(95 % interval 0\.84 to 0\.882\) on 500 validation rows/);
      assert.match(text, /majority 0\.5/);
      assert.match(text, /people\.csv · 4,000 training rows/);
      assert.match(text, /12 epochs · weights of epoch 9 · 1 Mar 2026/);
      assert.match(text, /task features · network attention · 12,345 weights/);
      assert.ok(text.includes(hostile), "names are shown as they are");
      assert.equal(await page.locator("img[src=x]").count(), 0);
      assert.notEqual(await page.title(), "hurt");
      assert.equal(await page.locator(".head-warning").count(), 0);
    });
  });

  test("a run without an epoch is loud, and a file without a card opens", async () => {
    const warning = "WARNING: no epoch of this run's training finished; its weights are random";
    await open("warned", example({model: {...card, epoch: 0, warning}}), {}, async (page) => {
      assert.match(await page.locator(".head-warning").innerText(), /Do not rely on this\. No epoch of this run/);
      assert.match(await page.getByRole("group", {name: "The model", exact: true}).innerText(), /no epoch finished/);
    });
    const {model, ...old} = example({prediction: {text: "y"}});
    await open("old", old, {}, async (page) => {
      assert.equal(await page.locator(".model-card").count(), 0);
      assert.match(await block(page).innerText(), /y/);
    });
  });

  test("what was cut is said", async () => {
    const cuts = [{unit: "tokens", read: 512, of: 2290}, {unit: "reviews of the item", read: 3, of: 1004}];
    await open("cut", example({cuts}), {}, async (page) => {
      assert.match(await page.locator(".head").innerText(), /Read 512 of 2,290 tokens\. The model did not see the rest\./);
      assert.match(await page.locator(".head").innerText(), /Read 3 of 1,004 reviews of the item\./);
    });
  });

  test("a long input is folded with a sign", async () => {
    await open("long", example({input: "word ".repeat(400)}), {}, async (page) => {
      const folded = await page.locator(".head-input .input").boundingBox();
      await page.getByRole("button", {name: "Show all 2,000 characters"}).click();
      const whole = await page.locator(".head-input .input").boundingBox();
      assert.ok(whole.height > folded.height + 40, `${folded.height}, then ${whole.height}`);
    });
    await open("not-long", example({input: "word ".repeat(70)}), {viewport: {width: 1440, height: 900}}, async (page) => {
      await page.locator(".fold-more").waitFor({state: "hidden"});
      await page.setViewportSize(phone);
      await page.getByRole("button", {name: "Show all 350 characters"}).waitFor();
    });
  });

  test("so is a long answer", async () => {
    const prediction = {text: "one more word ".repeat(100), answer: {text: "so"}};
    for (const viewport of [desktop, phone]) {
      await open("long-answer", example({prediction}), {viewport}, async (page) => {
        const answer = page.locator(".prediction");
        const folded = await answer.boundingBox();
        const line = await answer.evaluate((node) => parseFloat(getComputedStyle(node).lineHeight));
        assert.ok(folded.height < 4.5 * line, `${folded.height} of lines of ${line}`);
        await page.getByRole("button", {name: "Show all 1,400 characters"}).click();
        const whole = await answer.boundingBox();
        assert.ok(whole.height > folded.height + line, `${folded.height}, then ${whole.height}`);
        assert.ok(await answer.evaluate((node) => node.scrollHeight <= node.clientHeight + 1), "nothing scrolls inside");
        await page.getByRole("button", {name: "Show less"}).click();
        await page.emulateMedia({media: "print"});
        assert.ok((await answer.boundingBox()).height > folded.height + line, "paper has all of it");
      });
    }
  });

  test("the verdict is that of the map that is open", async () => {
    const faithfulness = [judged("first", "unsupported"), judged("heads", "supported", {judged_as: "mean of heads"})];
    await open("verdict", example({faithfulness}), {}, async (page) => {
      assert.match(await verdict(page).innerText(), /No\. The verdict of first\./);
      assert.equal(await isWashed(page), true, "a picture that is not supported is washed out");
      assert.match(await verdict(page).innerText(), /washed out/);
      await shoot(page, "heading-washed");
      await page.getByRole("button", {name: "Show it in full colour"}).click();
      assert.equal(await isWashed(page), false);
      await tab(page, "Second").click();
      assert.match(await verdict(page).innerText(), /Yes\. The verdict of heads\./);
      assert.doesNotMatch(await verdict(page).innerText(), /verdict of first/);
      assert.equal(await isWashed(page), false);
      const above = await verdict(page).boundingBox();
      const picture = await page.locator(".shell-stage").boundingBox();
      assert.ok(above.y + above.height <= picture.y, "it stands above the picture");
      const described = await page.locator(".shell-stage").getAttribute("aria-description");
      assert.equal(described, "Does this picture show what the model used? Yes. The verdict of heads.");
      await tab(page, "First").click();
      assert.match(await verdict(page).innerText(), /No\. The verdict of first\./);
      assert.equal(await isWashed(page), true);
    });
  });

  test("a head alone has no verdict of the mean of heads", async () => {
    const faithfulness = [judged("heads", "supported", {judged_as: "mean of heads"})];
    await open("head", example({faithfulness}), {}, async (page) => {
      assert.match(await verdict(page).innerText(), /Not measured for this map\./);
      await tab(page, "Second").click();
      assert.match(await verdict(page).innerText(), /Yes\./);
      await page.keyboard.press(".");
      await page.waitForFunction(() => location.hash.includes("head=1"));
      const text = await verdict(page).innerText();
      assert.match(text, /Not measured for this map\. What was measured is the mean of all heads\./);
      assert.doesNotMatch(text, /The verdict of heads|Yes/);
      await page.getByRole("button", {name: "Show that"}).click();
      assert.match(await verdict(page).innerText(), /Yes\. The verdict of heads\./);
    });
  });

  test("of stacked layers the rollout has the verdict, a single layer has none", async () => {
    const keys = {name: "token", kind: "token", labels: ["a", "b", "c"]};
    const map = {kind: "distribution", query_axis: "token", key_axis: "token", weights: matrix(3, 3, 1 / 3)};
    const layers = [1, 2].map((layer) => ({...map, name: "attention", title: "Tokens look at tokens", layer}));
    const rollout = {...map, name: "attention rollout", title: "All layers together"};
    const faithfulness = [judged("attention", "mixed", {judged_as: "rollout"})];
    const stacked = example({axes: [keys], maps: [...layers, rollout], faithfulness});
    await open("stack", stacked, {}, async (page) => {
      assert.doesNotMatch(await verdict(page).innerText(), /verdict of attention/);
      assert.match(await verdict(page).innerText(), /all layers together, by their rollout/);
      await page.getByRole("button", {name: "Show that"}).click();
      assert.match(await verdict(page).innerText(), /In part\. The verdict of attention\./);
      assert.equal(await tab(page, "All layers together").getAttribute("aria-selected"), "true");
    });
  });

  test("an even map looks even and pale, and the scale says what even is", async () => {
    await open("even", example(), {}, async (page) => {
      await page.getByRole("tab", {name: "Matrix"}).click();
      const legend = page.locator(".legend");
      assert.match(await legend.innerText(), /0\.25: the equal share, all looked at alike/);
      const ticks = await page.locator(".legend-ticks span").allInnerTexts();
      assert.equal(ticks.at(-1), "1", "four equal shares do not reach the last colour");
      await page.getByRole("tab", {name: "Bars"}).click();
      const texts = await page.locator(".bars-chart svg text").allTextContents();
      for (const text of ["column", "weight", "0.25: all 4 looked at alike"])
        assert.ok(texts.includes(text), `${text} is not among ${texts.join(" | ")}`);
    });
  });

  test("shades of reviews are scaled against equal weights, those of even reviews are pale", async () => {
    const reviews = JSON.parse(readFileSync(path.join(fixtureFolder, "reviews.json"), "utf8"));
    const even = ({weights, ...map}) => ({...map, weights: weights.map((row) => row.map(() => 1 / row.length))});
    await open("even-reviews", {...reviews, maps: reviews.maps.map(even)}, {}, async (page) => {
      await page.locator(".review .running [style]").first().waitFor({state: "attached"});
      assert.match(await page.locator(".legend").innerText(), /: the equal share, all looked at alike/);
      const [, mark] = (await page.locator(".legend-equal").getAttribute("style")).match(/left: ([\d.]+)%/);
      assert.ok(Number(mark) <= 26, `even words have the colour at ${mark} %`);
      await shoot(page, "even-reviews");
    });
  });

  test("intervals are called what they are", async () => {
    const [first] = example().maps;
    const bounds = {low: matrix(1, 4, 0.2), high: matrix(1, 4, 0.3), of: "5 seeds", is: "95 % interval"};
    await open("interval", example({maps: [{...first, interval: bounds}]}), {}, async (page) => {
      const texts = await page.locator(".bars-chart svg text").allTextContents();
      assert.ok(texts.includes("95 % interval over 5 seeds"), texts.join(" | "));
    });
  });

  test("every verdict is told in words", async () => {
    const faithful = JSON.parse(readFileSync(path.join(fixtureFolder, "faithfulness.json"), "utf8"));
    const words = {supported: "Yes.", mixed: "In part.", unsupported: "No.", unknown: "Cannot be told."};
    await open("words", faithful, {}, async (page) => {
      const tabs = page.getByRole("tablist", {name: "Maps"}).getByRole("tab");
      const seen = new Set();
      for (let place = 0; place < (await tabs.count()); ++place) {
        await tabs.nth(place).click();
        const state = await verdict(page).getAttribute("data-state");
        const text = await verdict(page).innerText();
        if (words[state]) assert.ok(text.includes(words[state]), `${state}: ${text}`);
        seen.add(state);
        if (state === "unsupported") assert.equal(await isWashed(page), true);
        await verdict(page).getByText("How this was measured").click();
        await verdict(page).locator(".faith-body").waitFor();
      }
      assert.deepEqual(Array.from(seen).sort(), Object.keys(words).sort());
    });
  });
});
