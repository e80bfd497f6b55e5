// A report of every example explanation, opened from disk: each view draws, follows the keyboard, can be
// saved and linked to; nothing is asked of any network.

import assert from "node:assert/strict";
import {mkdtempSync, rmSync} from "node:fs";
import {readFile} from "node:fs/promises";
import {tmpdir} from "node:os";
import path from "node:path";
import {after, before, describe, test} from "node:test";
import {pathToFileURL} from "node:url";
import {choose, drawn, everyView, tabsOf} from "./reports.mjs";
import {desktop, fixtures, fovea, phone, root, shoot, startBrowser, visit} from "./support.mjs";

const beginnings = {png: /^\x89PNG/, svg: /^<svg /, csv: /^[^\n]+\r?\n/};
const menuNames = {png: "Picture PNG", svg: "Vector picture SVG", csv: "Numbers shown CSV"};

const looks = {
  dark: {viewport: desktop, colorScheme: "dark"},
  phone: {viewport: phone, colorScheme: "light", hasTouch: true},
};

const search = (page) => page.getByRole("searchbox", {name: "Search labels"});
const threshold = (page) => page.getByRole("slider", {name: /Hide weights/});

/** Waits until the view says in words what it shows. */
async function hasTextAlternative(page) {
  await page.waitForFunction(() => {
    const labelled = document.querySelectorAll(".shell-stage[aria-label], .shell-stage [aria-label]");
    return Array.from(labelled).some((node) => node.getAttribute("aria-label").length > 20);
  });
}

/** Everything a key may change: the address, what is said, the picture's description and markup. */
function traces(page) {
  return page.evaluate(() => {
    const stage = document.querySelector(".shell-stage");
    const said = Array.from(document.querySelectorAll("[aria-live], .tooltip"), (node) => node.textContent);
    return JSON.stringify([
      location.hash,
      said,
      stage.outerHTML,
      document.activeElement.getAttribute("aria-label"),
    ]);
  });
}

async function followsKeys(page) {
  const target = page
    .locator(".shell-stage [tabindex='0'], .shell-stage button:not([tabindex='-1'])")
    .first();
  await target.focus();
  const earlier = await traces(page);
  for (const key of ["ArrowDown", "ArrowRight", "Enter"]) await page.keyboard.press(key);
  for (let attempt = 0; attempt < 40; ++attempt) {
    if ((await traces(page)) !== earlier) return;
    await page.waitForTimeout(50);
  }
  assert.fail("no key changes anything");
}

async function save(page, kind) {
  await page.getByRole("button", {name: "Export"}).click();
  const downloading = page.waitForEvent("download", {timeout: 30_000});
  await page.getByRole("menuitem", {name: menuNames[kind]}).click();
  const download = await downloading;
  assert.equal(path.extname(download.suggestedFilename()), `.${kind}`);
  const content = await readFile(await download.path());
  assert.match(content.toString("latin1"), beginnings[kind]);
}

describe("report", () => {
  const folder = mkdtempSync(path.join(tmpdir(), "fovea-report-"));
  const seen = new Set();
  let browser;
  before(async () => (browser = await startBrowser()));
  after(async () => {
    await browser?.close();
    rmSync(folder, {recursive: true, force: true});
  });

  for (const fixture of fixtures) {
    const name = path.basename(fixture, ".json");
    const file = path.join(folder, `${name}.html`);
    const address = pathToFileURL(file).href;

    test(`${name}: every view draws, follows the keyboard and can be saved`, async () => {
      await fovea("explain", "--weights", fixture, "--out", file);
      await visit(browser, address, {}, async ({page}) => {
        for (const [family, view] of await everyView(page)) {
          await choose(page, "Maps", family);
          await choose(page, "Views", view);
          await drawn(page);
          await hasTextAlternative(page);
          await shoot(page, `report-${name}-${view}`);
          await followsKeys(page);
          for (const kind of Object.keys(menuNames)) await save(page, kind);
          seen.add(view);
        }
      });
    });

    test(`${name}: a link opens the same state`, async () => {
      let link, view;
      await visit(browser, address, {}, async ({page}) => {
        view = (await tabsOf(page, "Views")).at(-1);
        await choose(page, "Views", view);
        await search(page).fill("a");
        await threshold(page).fill("0.5");
        await page.waitForFunction(() => location.hash.includes("threshold=0.25"));
        link = page.url();
      });
      await visit(browser, link, {}, async ({page}) => {
        await drawn(page);
        assert.equal(await search(page).inputValue(), "a");
        assert.equal(await threshold(page).inputValue(), "0.5");
        const selected = page.locator("[role=tablist][aria-label=Views] [aria-selected=true]");
        assert.equal(await selected.getAttribute("data-id"), view);
      });
    });

    for (const [look, options] of Object.entries(looks)) {
      test(`${name}: ${look}`, async () => {
        await visit(browser, address, options, async ({page}) => {
          await drawn(page);
          await shoot(page, `report-${name}-${look}`);
          const [wide, window] = await page.evaluate(() => [
            document.documentElement.scrollWidth,
            innerWidth,
          ]);
          assert.ok(wide <= window, `the report is ${wide} wide in a window of ${window}`);
        });
      });
    }
  }

  test("the examples show every view", async () => {
    const table = await readFile(path.join(root, "web/views/index.js"), "utf8");
    const all = Array.from(table.matchAll(/from "fovea\/views\/(\w+)\.js"/g), ([, name]) => name);
    assert.deepEqual(Array.from(seen).sort(), all.sort());
  });
});
