// Every text of an explanation, of a record of rows and of trainings in place of a hostile one: all views, tables and
// saved pictures show it and nothing of it is run.

import assert from "node:assert/strict";
import {mkdtempSync, readFileSync, rmSync, writeFileSync} from "node:fs";
import {readFile} from "node:fs/promises";
import {tmpdir} from "node:os";
import path from "node:path";
import {after, before, describe, test} from "node:test";
import {pathToFileURL} from "node:url";
import {choose, drawn, everyView} from "./reports.mjs";
import {patience, runFolder, runs, withoutRuns} from "./served.mjs";
import {fovea, startBrowser, visit} from "./support.mjs";

const hostile = "\"'><img src=x onerror=document.title='hurt'><svg onload=document.title='hurt'></script><script>document.title='hurt'</script>\u202e";
// What names no thing of a stranger's but a kind of the format's own.
const structural = new Set(["format", "kind", "layout", "type", "trust", "judged_as", "better", "encoding", "compression", "role", "state"]);
const packed = new Set(["chunks", "data", "curves"]);  // numbers and media; curves have names of the format's own

/** The value with a hostile text before each of its texts and names of strangers. Names that refer to each other still do. */
function poisoned(value, key = "") {
  if (typeof value === "string") return structural.has(key) ? value : hostile + value;
  if (value === null || typeof value !== "object" || (packed.has(key) && typeof value !== "string")) return value;
  if (Array.isArray(value)) return value.map((one) => poisoned(one, key));
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, name === "data" && value.type ? one : poisoned(one, name)]));
}

/** Fails where a hostile text became more than a text. */
async function isUnhurt(page, where) {
  const found = await page.evaluate(() => ({
    title: document.title,
    made: document.querySelectorAll("img[src=x], [onerror], [onload], main script, body > .shell script").length,
  }));
  assert.equal(found.made, 0, where);
  assert.notEqual(found.title, "hurt", where);
}

async function saved(page, name) {
  await page.getByRole("button", {name: "Export"}).click();
  const item = page.getByRole("menuitem", {name});
  if (!(await item.isVisible())) return page.keyboard.press("Escape").then(() => null);
  const downloading = page.waitForEvent("download", patience);
  await item.click();
  return readFile(await (await downloading).path(), "utf8");
}

/** Fails where a saved picture is no XML, or does more than show. */
async function isPicture(page, svg, where) {
  const found = await page.evaluate((text) => {
    const {documentElement} = new DOMParser().parseFromString(text, "image/svg+xml");
    const all = [documentElement, ...documentElement.querySelectorAll("*")];
    return {
      broken: documentElement.tagName !== "svg" || documentElement.querySelector("parsererror") !== null,
      active: all.filter((node) => ["script", "iframe", "object", "embed", "link", "meta", "animate", "set"].includes(node.localName) ||
        (node.localName === "use" && !/^#[a-z]+$/.test(node.getAttribute("href")))).map((node) => node.localName),
      attributes: all.flatMap((node) => Array.from(node.attributes, ({name, value}) => [name.toLowerCase(), value.trim().toLowerCase()]))
        .filter(([name, value]) => name.startsWith("on") || value.startsWith("javascript:") || (name.endsWith("href") && !/^(#|data:image\/(png|jpeg|svg\+xml)[;,])/.test(value))),
      texts: documentElement.textContent.includes("onerror"),
    };
  }, svg);
  assert.deepEqual(found, {broken: false, active: [], attributes: [], texts: true}, where);
}

describe("hostile texts", {skip: withoutRuns}, () => {
  const folder = mkdtempSync(path.join(tmpdir(), "fovea-hostile-"));
  const file = (name) => path.join(folder, name);
  let browser;
  before(async () => (browser = await startBrowser()));
  after(async () => {
    await browser?.close();
    rmSync(folder, {recursive: true, force: true});
  });

  for (const run of runs) {
    test(`${run}: every text of an explanation`, async () => {
      await fovea("explain", path.join(runFolder, run), "--no-faithfulness", "--quiet", "--out", file(`${run}.json`));
      const explanation = JSON.parse(readFileSync(file(`${run}.json`), "utf8"));
      const judged = explanation.maps.slice(0, 1).map(({name}) => ({
        map: name, trust: "mixed", verdict: "so", examples: 1, output: "out", notes: ["note"], curves: [],
        measures: [{name: "measure", value: 1, better: "higher", about: "about"}],
      }));
      const truth = {text: "right", right: false, remark: "off"};
      const before = {text: "before", shares: [{label: "share", probability: 0.5}], answers: 1};
      const without = {units: [{axis: explanation.axes[0]?.name ?? "axis", units: [0], labels: ["label"]}], before, predictions: 3};
      const prediction = {...explanation.prediction, truth, shares: before.shares, answers: 1};
      const more = {faithfulness: judged, prediction, without, cuts: [{unit: "words", read: 1, of: 2}]};
      writeFileSync(file(`${run}-hostile.json`), JSON.stringify(poisoned({...explanation, ...more})));
      await fovea("explain", "--weights", file(`${run}-hostile.json`), "--quiet", "--out", file(`${run}.html`));
      await visit(browser, pathToFileURL(file(`${run}.html`)).href, {}, async ({page}) => {
        for (const [family, view] of await everyView(page)) {
          const where = `${run} ${family.replace(hostile, "")} ${view}`;
          await choose(page, "Maps", family);
          await choose(page, "Views", view);
          await drawn(page);
          await page.getByRole("button", {name: "Show as table"}).click();
          await page.locator(".number-table tbody tr").first().waitFor(patience);
          await isUnhurt(page, where);
          const svg = await saved(page, "Vector picture SVG");
          if (svg !== null) await isPicture(page, svg, where);
          await page.getByRole("button", {name: "Hide the table"}).click();
        }
        await page.getByText("How this was measured").first().click({timeout: 2000}).catch(() => {});
        await isUnhurt(page, run);
        assert.ok((await page.locator("body").innerText()).includes("<img src=x"), "they are shown as they are");
      });
    });
  }

  test("every text of a record of rows", async () => {
    const run = path.join(runFolder, "orders");
    await fovea("evaluate", run, "--beside", run, "--out", file("rows.html"), "--explain", "2", "--quiet");
    const html = readFileSync(file("rows.html"), "utf8");
    const held = (id) => new RegExp(`(<script type="application/json" id="${id}">)(.*?)(</script>)`, "s");
    let hurt = html;
    for (const id of ["rows", "explanation"]) {
      const value = JSON.parse(held(id).exec(html)[2]);
      const text = JSON.stringify(poisoned(value)).replaceAll("<", "\\u003c");
      hurt = hurt.replace(held(id), (_, begin, own, end) => begin + text + end);
    }
    writeFileSync(file("rows-hostile.html"), hurt);
    await visit(browser, pathToFileURL(file("rows-hostile.html")).href, {}, async ({page}) => {
      await page.locator(".rows-table tbody tr[data-row]").first().waitFor(patience);
      await isUnhurt(page, "rows");
      await page.locator(".rows-matrix button:not(:disabled)").first().click();
      await page.locator("summary").evaluateAll((all) => all.forEach((one) => one.click()));
      await isUnhurt(page, "filtered rows");
      assert.ok((await page.locator("body").innerText()).includes("<img src=x"));
      await page.getByRole("button", {name: "Show all rows"}).click();
      await page.getByRole("button", {name: "With a picture"}).click();
      await page.locator(".rows-table tbody tr[data-row] button").first().click();
      await page.locator(".rows-one .shell-stage > *").first().waitFor(patience);
      await isUnhurt(page, "one row");
    });
  });

  test("every text of trainings", async () => {
    await fovea("board", ...["orders", "features"].map((run) => path.join(runFolder, run)), "--out", file("board.html"));
    const html = readFileSync(file("board.html"), "utf8");
    const hurt = html.replace(/(<script type="application\/json" id="([^"]*)">)(.*?)(<\/script>)/gs, (_, begin, id, text, end) =>
      begin + JSON.stringify(poisoned(JSON.parse(text))).replaceAll("<", "\\u003c") + end);
    writeFileSync(file("board-hostile.html"), hurt);
    await visit(browser, pathToFileURL(file("board-hostile.html")).href, {}, async ({page}) => {
      await page.locator(".board-plot path").first().waitFor({state: "attached", ...patience});  // of one step it has no length
      for (const button of await page.getByRole("button", {name: /show the numbers as a table/}).all()) await button.click();
      await page.locator(".board-numbers table").first().waitFor(patience);
      await page.locator(".board-plot").first().focus();
      await page.keyboard.press("ArrowRight");
      await isUnhurt(page, "board");
      assert.ok((await page.locator("body").innerText()).includes("<img src=x"));
      const downloading = page.waitForEvent("download", patience);
      await page.getByRole("button", {name: /save the picture as SVG/}).first().click();
      await isPicture(page, await readFile(await (await downloading).path(), "utf8"), "board");
    });
  });
});
