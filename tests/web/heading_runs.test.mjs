// The heading and the verdict in a report of a real run of every task, for the first of the run's own examples.

import assert from "node:assert/strict";
import {existsSync, mkdtempSync, readdirSync, readFileSync, rmSync} from "node:fs";
import {tmpdir} from "node:os";
import path from "node:path";
import {after, before, describe, test} from "node:test";
import {pathToFileURL} from "node:url";
import {fits, isAccessible} from "./access.mjs";
import {choose, drawn, everyView, tabsOf} from "./reports.mjs";
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
      for (const {name, title} of explanation.maps)
        assert.notEqual(title.split(" (")[0], name, "every task says in words what its maps show");
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
          await everyColour(page, explanation, look);
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

  /** The text of the SVG that Export saves. */
  async function savedPicture(page) {
    await page.getByRole("button", {name: "Export"}).click();
    const item = page.getByRole("menuitem", {name: "Vector picture SVG"});
    const [download] = await Promise.all([page.waitForEvent("download"), item.click()]);
    return readFileSync(await download.path(), "utf8");
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
      const svg = await savedPicture(page);
      for (const title of ["time in seconds", "frequency"]) assert.ok(svg.includes(title), title);
      await shoot(page, "axes-speech");
    });
    await report("context", exampleOf("context"), "#view=panels", async (page, {maps}) => {
      await says(page, ["weight", maps[0].key_axis]);
      await shoot(page, "axes-panels");
    });
  });

  // In every view of every map: what was judged shows its own sentence, and what was not shows nobody's.
  async function everyVerdict(page, {faithfulness}) {
    for (const [map, view] of await everyView(page)) {
      await choose(page, "Maps", map);
      await choose(page, "Views", view);
      const isOverview = view === "heads";
      await verdictOf(page, faithfulness, {map, mayBeJudged: !isOverview});
      if (isOverview) assert.match(await strip(page).innerText(), /Not measured for these maps together\./);
      if (view === "links") await everyHead(page, faithfulness, map);
    }
  }

  // Each head alone, then the mean and the first head together: none of these was judged.
  async function everyHead(page, faithfulness, map) {
    const chips = page.getByRole("group", {name: "Heads shown"}).getByRole("button");
    for (let place = 1; place < (await chips.count()); ++place) {
      await chips.nth(place).click();
      await chips.nth(place - 1).click();
      await verdictOf(page, faithfulness, {map, mayBeJudged: false});
      assert.match(await savedPicture(page), new RegExp(`, head ${place}<`), "the saved picture names the head");
    }
    if ((await chips.count()) === 0) return;
    await chips.first().click();
    await verdictOf(page, faithfulness, {map, mayBeJudged: false});
    assert.match(await strip(page).innerText(), /Not measured for these maps together\./);
    await chips.last().click();
    await verdictOf(page, faithfulness, {map, mayBeJudged: true});
  }

  // What else says how much a unit matters: as the colours of the map, and side by side.
  async function everyColour(page, {faithfulness, axes, maps}, look) {
    const choice = page.getByRole("radiogroup", {name: "Colour by"});
    let seen = 0;
    for (const family of await tabsOf(page, "Maps")) {
      await choose(page, "Maps", family);
      const entry = faithfulness.find(({map}) => [map, `${map} rollout`].includes(family));
      const names = new Set((entry?.importances ?? []).flatMap(({series}) => series.map(({name}) => name)));
      assert.equal(await choice.isVisible(), names.size > 1, family);
      if (names.size < 2) continue;
      ++seen;
      assert.equal(await choice.getByRole("radio").count(), names.size);
      await choice.getByRole("radio", {checked: true}).focus();
      for (const name of Array.from(names).slice(1)) {
        await page.keyboard.press("ArrowRight");
        await page.waitForFunction((wanted) => decodeURIComponent(location.hash.replaceAll("+", " ")).includes(`colour=${wanted}`), name);
        await drawn(page);
        assert.doesNotMatch(await page.locator(".shell-stage").innerText(), /cannot be/);
        assert.match(await strip(page).innerText(), /Not measured for this map\. What was measured is (the attention|all layers|the mean)/);
        assert.match(await savedPicture(page), new RegExp(`coloured by ${name}`));
        if (seen === 1) await shoot(page, `colour-${name.replaceAll(" ", "-")}-${family.replaceAll(/\W+/g, "-")}-${look}`);
        await choice.getByRole("radio", {checked: true}).focus();
      }
      await page.getByRole("button", {name: "Show that"}).click();
      assert.equal(await choice.getByRole("radio", {checked: true}).textContent(), "Attention");
      const [{key_axis: axis}] = maps.filter(({name}) => name === entry.map);
      await sideBySide(page, entry, axes.find(({name}) => name === axis).labels.length);
      if (seen === 1) {
        await isAccessible(page, `side by side ${family}`);
        await fits(page, `side by side ${family}`);
        await shoot(page, `side-by-side-${family.replaceAll(/\W+/g, "-")}-${look}`);
      }
    }
  }

  async function sideBySide(page, {importances}, units) {
    const place = page.getByRole("region", {name: "Attention, gradient and leaving out side by side"});
    if (!(await place.isVisible())) await page.getByText("Compare them side by side").click();
    await place.locator("tbody tr").first().waitFor();
    assert.equal(await place.locator("tbody tr").count(), Math.min(30, units));
    const [{series}] = importances;
    const heads = place.locator("thead th button");
    assert.equal(await heads.count(), series.length + 1);
    await heads.nth(1).press("Enter");
    const largest = Math.max(...series[0].values);
    const first = Number((await place.locator("tbody tr").first().locator(".colouring-number").first().textContent()).replaceAll(",", "").replace("−", "-"));
    assert.ok(Math.abs(first - largest) <= 0.006 * largest, `${first} stands first, ${largest} is the largest`);
    await heads.first().press("Enter");
  }

  const strip = (page) => page.getByRole("group", {name: "Does this picture show what the model used?"});

  async function verdictOf(page, faithfulness, {map: family, mayBeJudged}) {
    const text = await strip(page).locator("p").first().innerText();
    const sentences = faithfulness.filter(({verdict}) => text.includes(verdict));
    const washed = await page.locator(".shell-stage.washed").count();
    if (!words.test(text)) {
      assert.equal(sentences.length, 0, text);
      assert.match(text, /^Not measured/);
      assert.equal(washed, 0, "what was not judged is not washed out");
      return;
    }
    assert.ok(mayBeJudged, `${family}: ${text}`);
    assert.equal(sentences.length, 1, text);
    const [{map, trust, judged_as: as}] = sentences;
    assert.equal(as === "rollout" ? `${map} rollout` : map, family);
    assert.equal(washed, trust === "unsupported" ? 1 : 0, `${trust}: ${text}`);
  }
});
