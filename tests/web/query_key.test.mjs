// What a weight is made of, on the page and in a report; embeddings as points, on the page and in a file.

import assert from "node:assert/strict";
import {mkdtempSync, readFileSync, rmSync, writeFileSync} from "node:fs";
import {tmpdir} from "node:os";
import path from "node:path";
import {after, before, describe, test} from "node:test";
import {pathToFileURL} from "node:url";
import {isForEveryone, schemes, wide} from "./access.mjs";
import {Served, pane, patience, runFolder, sees, withoutRuns} from "./served.mjs";
import {fovea, phone, shoot, visit} from "./support.mjs";

const text = "a fine film";
const asked = `#model=documents&input=${encodeURIComponent(text)}`;
const cell = `&map=attention&layer=1&head=2&view=matrix`;

describe("query and key", {skip: withoutRuns}, () => {
  const served = new Served();
  const files = mkdtempSync(path.join(tmpdir(), "fovea-query-key-"));
  before(() => served.start());
  after(async () => {
    await served.stop();
    rmSync(files, {recursive: true, force: true});
  });

  const panel = (page) => page.getByRole("group", {name: "What this weight is made of"});

  /** Opens the map of one head, as a link to it does. */
  async function openHead(options, body) {
    await served.open(asked, options, async ({page}) => {
      await sees(page, await served.answer("documents", text));
      await pane(page).getByRole("tab", {name: "Matrix"}).click();
      await pane(page).getByRole("combobox", {name: /head/i}).first().selectOption("Head 2");
      await body(page);
    });
  }

  /** Chooses the cell (1, 2) with the keyboard alone. */
  async function chooseCell(page) {
    const plot = pane(page).locator(".shell-stage canvas");
    await plot.focus();
    await plot.press("Escape");
    for (const key of ["ArrowDown", "ArrowDown", "ArrowRight", "ArrowRight"]) await plot.press(key);
    await panel(page).locator(".making-chart svg").waitFor(patience);
  }

  test("a chosen cell tells its score by dimension, and the same weight as the map", async () => {
    await openHead({}, async (page) => {
      assert.equal(await panel(page).count(), 0, "nothing is chosen yet");
      const answered = page.waitForResponse("**/v1/query-key");
      await chooseCell(page);
      const made = await (await answered).json();
      const {maps} = await served.post("explain", {model: "documents", input: text, layers: [1], heads: [2]});
      const weight = maps[0].weights[made.query.index][made.key.index];
      assert.ok(Math.abs(weight - made.weight) < 1e-5, `${weight} ${made.weight}`);
      const dot = made.products.reduce((sum, product) => sum + product, 0);
      assert.ok(Math.abs(dot * made.scale - made.score) < 1e-6);
      assert.match(await panel(page).locator(".making-sentence").textContent(), /query · key .* = score .* → softmax over the \d+ keys/);
      await panel(page).getByRole("radio", {name: "All keys of this query"}).click();
      assert.match(await panel(page).getByRole("img").getAttribute("aria-label"), /^All lifts/);
      await panel(page).getByRole("radio", {name: "In order"}).click();
      await panel(page).getByText("Show as table").click();
      const rows = panel(page).locator("tbody tr");
      await rows.first().waitFor(patience);
      assert.equal(await rows.count(), made.products.length);
      await pane(page).locator(".shell-stage canvas").press("Escape");
      await panel(page).waitFor({state: "hidden"});
    });
  });

  test("quick moves over cells ask for the last one alone", async () => {
    await openHead({}, async (page) => {
      let requests = 0;
      page.on("request", (request) => (requests += request.url().endsWith("/v1/query-key")));
      await chooseCell(page);
      assert.ok(requests <= 2, `${requests} requests`);
    });
  });

  test("a mean of heads has no query and key", async () => {
    await served.open(asked, {}, async ({page}) => {
      await sees(page, await served.answer("documents", text));
      await pane(page).getByRole("tab", {name: "Matrix"}).click();
      const heads = pane(page).getByRole("combobox", {name: /head/i}).first();
      await heads.selectOption("Mean of heads");
      const plot = pane(page).locator(".shell-stage canvas");
      await plot.focus();
      await plot.press("ArrowDown");
      await page.waitForTimeout(400);
      assert.equal(await panel(page).count(), 0);
    });
  });

  for (const colorScheme of schemes) {
    test(`everyone can read the panel, ${colorScheme}`, async () => {
      await openHead({viewport: wide, colorScheme}, async (page) => {
        await chooseCell(page);
        await panel(page).scrollIntoViewIfNeeded();
        await shoot(page, `query-key-${colorScheme}`);
        await isForEveryone(page, `query and key, ${colorScheme}`);
        await panel(page).scrollIntoViewIfNeeded();
        await shoot(page, `query-key-${colorScheme}-phone`);
      });
    });
  }

  test("a report holds the weight that was asked for and says where the others are", async () => {
    const report = path.join(files, "weight.html");
    await fovea("explain", path.join(runFolder, "documents"), text, "--query-key", "1.2:2,3", "--no-faithfulness", "--quiet", "--out", report);
    await visit(served.browser, `${pathToFileURL(report).href}${cell.replace("&", "#")}&query=1&key=2`, {}, async ({page}) => {
      await panel(page).locator(".making-chart svg").waitFor(patience);
      const plot = page.locator(".shell-stage canvas");
      await plot.focus();
      await plot.press("ArrowRight");
      await panel(page).getByText("fovea serve").waitFor(patience);
      assert.equal(await panel(page).locator(".making-chart").isVisible(), false);
    });
  });
});

describe("embeddings", {skip: withoutRuns}, () => {
  const served = new Served();
  const files = mkdtempSync(path.join(tmpdir(), "fovea-embeddings-"));
  before(() => served.start());
  after(async () => {
    await served.stop();
    rmSync(files, {recursive: true, force: true});
  });

  const neighbours = (page) => page.getByRole("region", {name: "Neighbours"});

  test("the page leads to them; search, neighbours, another vocabulary", async () => {
    await served.open("#model=dates&input=9+May+2018", {}, async ({page}) => {
      await sees(page, await served.answer("dates", "9 May 2018"));
      await pane(page).getByRole("link", {name: "See its embeddings"}).click();
      await page.getByRole("heading", {name: "Embeddings of dates: source"}).waitFor(patience);
      const points = await served.post("embeddings", {model: "dates", of: "source"});
      await page.getByRole("searchbox", {name: "Find a point"}).fill("a");
      await page.getByRole("searchbox").press("Enter");
      await page.getByRole("heading", {name: "Nearest to a"}).waitFor();
      const place = points.labels.indexOf("a");
      const expected = points.neighbours[place].map(([index]) => points.labels[index]);
      const listed = await neighbours(page).getByRole("button").allTextContents();
      assert.equal(listed.length, 10);
      assert.equal(listed[1].replace("␣", " "), expected[1]);
      await neighbours(page).getByRole("button").first().click();
      assert.notEqual(await neighbours(page).getByRole("heading").textContent(), "Nearest to a");
      await page.getByRole("combobox", {name: "Embeddings of"}).selectOption("target");
      await page.getByRole("heading", {name: "Embeddings of dates: target"}).waitFor(patience);
    });
  });

  test("a model without embeddings offers none, and a link to it says so", async () => {
    await served.open("#model=features", {}, async ({page}) => {
      await sees(page, await served.answer("features", served.models.features.examples[0]));
      assert.equal(await page.getByRole("link", {name: "See its embeddings"}).isVisible(), false);
    });
    await served.open("web/embeddings/served.html#model=features", {}, async ({page}) => {
      await page.getByText("The model features has no embeddings to show").waitFor(patience);
    });
  });

  test("keys and clicks choose points; the zoom is of the picture", async () => {
    await served.open("web/embeddings/served.html#model=documents", {}, async ({page}) => {
      const plot = page.locator(".projector-plot");
      await plot.waitFor(patience);
      await plot.focus();
      await plot.press("ArrowRight");
      const first = await neighbours(page).getByRole("heading").textContent();
      await plot.press("ArrowRight");
      assert.notEqual(await neighbours(page).getByRole("heading").textContent(), first);
      const before = await plot.screenshot();
      await page.getByRole("button", {name: "Zoom in"}).click();
      await page.waitForTimeout(100);
      assert.ok(!before.equals(await plot.screenshot()), "another picture");
      await plot.focus();
      await plot.press("Escape");
      await page.getByText("Choose a point").waitFor();
    });
  });

  for (const colorScheme of schemes) {
    test(`everyone can read them, ${colorScheme}`, async () => {
      await served.open("web/embeddings/served.html#model=documents", {viewport: wide, colorScheme}, async ({page}) => {
        await page.locator(".projector-plot").waitFor(patience);
        await page.getByRole("searchbox").fill("film");
        await page.getByRole("searchbox").press("Enter");
        await page.getByText("Show as table").click();
        await shoot(page, `embeddings-${colorScheme}`);
        await isForEveryone(page, `embeddings, ${colorScheme}`);
        await shoot(page, `embeddings-${colorScheme}-phone`);
      });
    });
  }

  test("nodes of a graph as one offline file, coloured by class, saved as SVG", async () => {
    const file = path.join(files, "nodes.html");
    await fovea("embeddings", path.join(runFolder, "graph"), "--of", "rows", "--out", file);
    await visit(served.browser, pathToFileURL(file).href, {viewport: phone}, async ({page}) => {
      await page.locator(".projector-plot").waitFor();
      assert.ok(await page.getByRole("list", {name: "Colours"}).getByRole("listitem").count() >= 3);
      await shoot(page, "embeddings-nodes-phone");
      await page.getByRole("button", {name: "Save"}).click();
      const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("menuitem", {name: /SVG/}).click()]);
      const svg = readFileSync(await download.path(), "utf8");
      assert.match(svg, /<title>Embeddings of graph: rows<\/title>/);
      assert.ok(svg.split("<circle").length > 100);
      assert.ok(!svg.includes("var("), "colours are concrete");
    });
  });

  test("labels of strangers are text", async () => {
    const file = path.join(files, "labels.html");
    await fovea("embeddings", path.join(runFolder, "dates"), "--out", file);
    const hostile = "<img src=x onerror=alert(1)>";
    const html = readFileSync(file, "utf8").replace('"labels":["', `"labels":["${hostile.replaceAll("<", "\\u003c")}`);
    writeFileSync(file, html);
    await visit(served.browser, pathToFileURL(file).href, {}, async ({page}) => {
      await page.getByRole("searchbox").fill("onerror");
      await page.getByRole("searchbox").press("Enter");
      await page.getByRole("heading", {name: "Nearest to <img"}).waitFor();
      assert.equal(await page.locator("img").count(), 0);
    });
  });
});
