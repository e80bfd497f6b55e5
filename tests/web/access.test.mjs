// Everyone can read it: every view of a report of every task, and the served page, without findings of axe-core
// in light and dark, without sideways scrolling on phones, with the numbers behind each picture as a table; on
// paper and as saved pictures with what was said about it.

import assert from "node:assert/strict";
import {mkdtempSync, readdirSync, rmSync} from "node:fs";
import {readFile} from "node:fs/promises";
import {tmpdir} from "node:os";
import path from "node:path";
import {after, before, describe, test} from "node:test";
import {pathToFileURL} from "node:url";
import {fits, isAccessible, isForEveryone, onPaper, phones, schemes, wide} from "./access.mjs";
import {choose, drawn, everyView} from "./reports.mjs";
import {Served, patience, runFolder, withoutRuns} from "./served.mjs";
import {fovea, shoot, startBrowser, visit} from "./support.mjs";

const tabled = new Set(["features", "images"]);  // axe-core with the table open: one is like the other, and long ones take long
const explained = {dates: ["9 May 2018", "--faithfulness", "--truth", "never"]};  // of the other runs their data, unmeasured: that takes long
const tasks = runFolder ? readdirSync(runFolder).sort() : [];

/** Opens the table behind the picture; it must hold numbers. */
async function hasTable(page, where) {
  await page.getByRole("button", {name: "Show as table"}).click();
  const table = page.getByRole("region", {name: "Numbers as a table"}).getByRole("table");
  await table.locator("tbody tr").first().waitFor(patience);
  const {columns, numbers, caption} = await table.evaluate((node) => ({
    columns: node.querySelectorAll("thead th[scope=col]").length,
    numbers: node.querySelectorAll("tbody td.numeric").length,
    caption: node.caption.textContent,
  }));
  assert.ok(columns >= 2 && numbers > 0 && caption !== "", `${where}: ${columns} columns, ${numbers} numbers`);
}

async function hideTable(page) {
  await page.getByRole("button", {name: "Hide the table"}).click();
}

async function saved(page, name) {
  await page.getByRole("button", {name: "Export"}).click();
  const downloading = page.waitForEvent("download", patience);
  await page.getByRole("menuitem", {name}).click();
  return readFile(await (await downloading).path());
}

describe("reports for everyone", {skip: withoutRuns}, () => {
  const folder = mkdtempSync(path.join(tmpdir(), "fovea-access-"));
  const addressOf = (run) => pathToFileURL(path.join(folder, `${run}.html`)).href;
  let browser;
  before(async () => (browser = await startBrowser()));
  after(async () => {
    await browser?.close();
    rmSync(folder, {recursive: true, force: true});
  });

  for (const run of tasks) {
    test(`${run}: report`, async () => {
      const words = explained[run] ?? ["--no-faithfulness"];
      await fovea("explain", path.join(runFolder, run), ...words, "--quiet", "--out", path.join(folder, `${run}.html`));
    });

    for (const colorScheme of schemes) {
      test(`${run}: every view, ${colorScheme}`, async () => {
        await visit(browser, addressOf(run), {viewport: wide, colorScheme}, async ({page}) => {
          for (const [family, view] of await everyView(page)) {
            const where = `${run} ${family} ${view} ${colorScheme}`;
            await page.setViewportSize(wide);
            await choose(page, "Maps", family);
            await choose(page, "Views", view);
            await drawn(page);
            await hasTable(page, where);
            if (tabled.has(run)) await isAccessible(page, `${where} with its table`);
            await hideTable(page);
            await isAccessible(page, where);
            await shoot(page, `access-${run}-${family}-${view}-1440-${colorScheme}`);
            for (const viewport of phones) {
              await page.setViewportSize(viewport);
              await drawn(page);
              await fits(page, `${where} ${viewport.width}`);
              await shoot(page, `access-${run}-${family}-${view}-${viewport.width}-${colorScheme}`);
            }
            await isAccessible(page, `${where} 320`);
          }
        });
      });
    }
  }

  test("menu and keys", async () => {
    await visit(browser, addressOf("dates"), {viewport: wide}, async ({page}) => {
      await drawn(page);
      await page.getByRole("button", {name: "Export"}).click();
      await isAccessible(page, "menu");
      await page.keyboard.press("Escape");
      await page.keyboard.press("?");
      await page.locator("dialog[open]").waitFor(patience);
      await isAccessible(page, "keys");
    });
  });

  test("the table holds what the CSV holds", async () => {
    await visit(browser, `${addressOf("dates")}#view=matrix&table=1`, {viewport: wide}, async ({page}) => {
      const csv = (await saved(page, "Numbers shown CSV")).toString().trim().split("\r\n");
      const rows = page.locator(".number-table tbody tr");
      await rows.first().waitFor(patience);
      assert.equal(await rows.count(), csv.length - 1);
      const cells = await rows.first().locator("td").allTextContents();
      const numbers = csv[1].split(",").slice(1).map(Number);
      assert.equal(cells.length, numbers.length);
      cells.forEach((cell, at) => {
        const shown = Number(cell.replaceAll("−", "-").replaceAll(",", ""));
        assert.ok(Math.abs(shown - numbers[at]) <= 0.005 * Math.abs(numbers[at]), `${cell} for ${numbers[at]}`);
      });
    });
  });

  test("a saved picture tells what it shows and whether to believe it", async () => {
    await visit(browser, `${addressOf("dates")}#view=matrix`, {viewport: wide}, async ({page}) => {
      await drawn(page);
      const {title, input, prediction, faithfulness} =
        JSON.parse((await saved(page, "Whole explanation JSON")).toString());
      const svg = (await saved(page, "Vector picture SVG")).toString();
      const texts = await page.evaluate((text) =>
        new DOMParser().parseFromString(text, "image/svg+xml").documentElement.textContent, svg);
      const words = (text) => text.replace(/\s+/g, "");
      for (const expected of [title, `Input: ${input}`, `Prediction: ${prediction.text}`, "Wrong. The right answer: never", faithfulness[0].verdict]) {
        assert.ok(words(texts).includes(words(expected)), `${expected} is not in ${texts}`);
      }
      const gradient = await page.evaluate((text) => {
        const {documentElement} = new DOMParser().parseFromString(text, "image/svg+xml");
        return Array.from(documentElement.querySelectorAll("rect"), (rect) => [rect.getAttribute("height"), rect.getAttribute("fill")]).filter(([height]) => height === "6");
      }, svg);
      assert.equal(gradient.length, 16, "the legend's colours");
      assert.ok(new Set(gradient.map(([, fill]) => fill)).size > 8, "which differ");
      assert.match(texts, /looked at alike/, "and what even weights are");
    });
  });

  test("paper is light, has no controls and cuts nothing", async () => {
    const options = {viewport: wide, colorScheme: "dark"};
    await visit(browser, `${addressOf("dates")}#view=matrix`, options, async ({page}) => {
      await drawn(page);
      const corner = () => page.locator("canvas.plot").evaluate((canvas) =>
        Array.from(canvas.getContext("2d").getImageData(canvas.width - 4, canvas.height - 4, 1, 1).data));
      const dark = await corner();
      await onPaper(page, async () => {
        const [light, ground] = [await corner(), await page.evaluate(() => getComputedStyle(document.body).backgroundColor)];
        assert.notDeepEqual(light, dark);
        assert.equal(ground, "rgb(255, 255, 255)");
        const box = await page.locator("canvas.plot").boundingBox();
        assert.ok(box.width <= 700, `the picture is ${box.width} wide`);
        for (const name of ["Export", "Copy link", "Show as table", "Search labels"]) {
          assert.equal(await page.getByText(name, {exact: true}).filter({visible: true}).count(), 0, name);
        }
      });
      assert.deepEqual(await corner(), dark);
    });
  });
});

describe("the page for everyone", {skip: withoutRuns}, () => {
  const served = new Served();
  before(() => served.start());
  after(() => served.stop());

  for (const colorScheme of schemes) {
    test(`every model, ${colorScheme}`, async () => {
      for (const run of Object.keys(served.models)) {
        await served.open(`#model=${run}`, {viewport: wide, colorScheme}, async ({page}) => {
          await page.locator(".answer-picture[aria-busy=false] .shell-stage").waitFor(patience);
          await shoot(page, `access-page-${run}-1440-${colorScheme}`);
          await isForEveryone(page, `page ${run} ${colorScheme}`);
          await shoot(page, `access-page-${run}-320-${colorScheme}`);
        });
      }
    });
  }

  test("two panes", async () => {
    await served.open("#model=dates&b.model=features", {viewport: wide}, async ({page}) => {
      await page.locator(".answer-picture[aria-busy=false] .shell-stage").nth(1).waitFor(patience);
      await isForEveryone(page, "two panes");
    });
  });

  for (const colorScheme of schemes) {
    const opened = (hash, options, body) => served.open(hash, {viewport: wide, colorScheme, ...options}, async ({page}) => {
      await page.locator(".answer-picture[aria-busy=false] .shell-stage").first().waitFor(patience);
      await body(page);
    });

    test(`the details of the verdict, ${colorScheme}`, async () => {
      await opened("#model=orders", {}, async (page) => {
        const measure = page.getByRole("button", {name: "Measure it"});
        const details = page.getByText("How this was measured");
        await measure.or(details).first().waitFor(patience);
        if (await measure.isVisible()) await measure.click();
        await details.click();
        await page.locator(".faith-body").waitFor(patience);
        await isForEveryone(page, `verdict ${colorScheme}`);
        await shoot(page, `access-verdict-320-${colorScheme}`);
      });
    });

    test(`the list of models, the input as JSON and a problem with it, ${colorScheme}`, async () => {
      await opened("#model=orders", {expected: [/422/]}, async (page) => {
        await page.getByRole("combobox", {name: "Model"}).click();
        await page.getByRole("option").first().waitFor(patience);
        await isForEveryone(page, `list of models ${colorScheme}`);
        await shoot(page, `access-models-320-${colorScheme}`);
        await page.keyboard.press("Escape");
        await page.setViewportSize(wide);
        await page.getByRole("button", {name: "JSON"}).click();
        const field = page.getByLabel("The input as JSON");
        await field.fill('{"price": "' + "9".repeat(300) + "x" + '"}');
        await page.waitForFunction(() => document.querySelector(".pane-prompt > .problem").textContent !== "", null, patience);
        await isForEveryone(page, `JSON and a problem ${colorScheme}`);
        await shoot(page, `access-json-320-${colorScheme}`);
      });
    });

    test(`paper has what was asked and answered and no controls, ${colorScheme}`, async () => {
      for (const [hash, asked] of [["#model=dates&input=9+May+2018", "9 May 2018"], ["#model=documents&input=a+fine+film", "a fine film"]]) {
        await opened(hash, {}, async (page) => {
          await page.locator(".answer-picture[aria-busy=false] .shell-stage").waitFor(patience);
          const said = await page.locator(".prediction").textContent();
          assert.equal(await page.locator(".head-input").isVisible(), false, "on screen it stands in the form");
          await onPaper(page, async () => {
            await page.locator(".head-input").getByText(asked).waitFor(patience);
            assert.equal(await page.locator(".prediction").innerText(), said);
            const controls = await page.evaluate(() => Array.from(document.querySelectorAll("button, input, textarea, select"))
              .filter((node) => node.checkVisibility() && !node.closest(".visually-hidden"))
              .filter((node) => !node.matches("[aria-selected=true], [aria-checked=true], [aria-pressed=true], .pager select, .heads-grid button"))  // a head is a picture
              .map((node) => `${node.tagName} ${node.className} ${node.textContent || node.ariaLabel}`));
            assert.deepEqual(controls, []);
            assert.equal(await page.evaluate(() => getComputedStyle(document.body).backgroundColor), "rgb(255, 255, 255)");
            await shoot(page, `paper-page-${asked.replaceAll(" ", "-")}-${colorScheme}`);
          });
        });
      }
    });

    test(`a told right answer, ${colorScheme}`, async () => {
      await opened("#model=dates&input=9+May+2018", {}, async (page) => {
        await page.getByLabel("Right answer").fill(`<b>${"very long ".repeat(20)}${"x".repeat(200)}`);
        await page.keyboard.press("Enter");
        await page.getByText("Wrong.").waitFor(patience);
        await page.locator(".answer-picture[aria-busy=false]").waitFor(patience);
        await isForEveryone(page, `right answer ${colorScheme}`);
        await shoot(page, `access-told-320-${colorScheme}`);
      });
    });
  }
});
