// How quick a page of rows is: node rows_speed.mjs ROWS.html… prints the size of each, and the milliseconds to
// open it, to filter, search and sort, to scroll.

import {statSync} from "node:fs";
import path from "node:path";
import {fileURLToPath, pathToFileURL} from "node:url";
import {startBrowser, visit} from "./support.mjs";

/** Milliseconds of the page's own thread to open it, to filter by a figure and to search: processor time, which other
    programs on the machine do not lengthen. */
export async function workOf(page) {
  const session = await page.context().newCDPSession(page);
  await session.send("Performance.enable", {timeDomain: "threadTicks"});
  const busy = async () => {
    const {metrics} = await session.send("Performance.getMetrics");
    return 1000 * metrics.find(({name}) => name === "TaskDuration").value;
  };
  const during = async (work) => {
    const begin = await busy();
    await work();
    return Math.round((await busy()) - begin);
  };
  const settled = () => page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve))));
  const open = await during(async () => {
    await page.reload();
    await page.locator(".rows-table tbody tr[data-row]").first().waitFor({timeout: 60_000});
  });
  await page.waitForTimeout(1500); // what is made while nobody waits for it
  const status = () => page.locator(".rows-status").textContent();
  const changes = (act) => during(async () => {
    const before = await status();
    await act();
    await page.waitForFunction((text) => document.querySelector(".rows-status").textContent !== text, before);
    await settled();
  });
  const search = await changes(() => page.locator('input[type="search"]').first().fill("years"));
  await page.locator('input[type="search"]').first().fill("");
  await settled();
  const filter = await changes(() => page.locator(".rows-figures button:not(:disabled)").first().click());
  return {open, search, filter};
}

/** Milliseconds of what a reader does, on a page of rows that is open. */
export async function speedOf(page) {
  await page.locator(".rows-table tbody tr[data-row]").first().waitFor({timeout: 60_000});
  const open = await page.evaluate(() => Math.round(performance.getEntriesByName("rows shown")[0].startTime));
  const search = (word) => page.evaluate((typed) => new Promise((resolve) => {
    const field = document.querySelector('input[type="search"]');
    const begin = performance.now();
    const watch = {childList: true, characterData: true, subtree: true};
    new MutationObserver(() => resolve(Math.round(performance.now() - begin))).observe(document.querySelector(".rows-status"), watch);
    field.value = typed;
    field.dispatchEvent(new Event("input"));
  }), word);
  await page.waitForTimeout(1500); // what is made while nobody waits for it
  const found = await search("e");
  await search("");
  const times = await page.evaluate(() => {
    const timed = (work) => {
      const begin = performance.now();
      work();
      document.querySelector(".rows-table").getBoundingClientRect();
      return Math.round(performance.now() - begin);
    };
    const heads = [...document.querySelectorAll(".rows-sort")];
    const count = [...document.querySelectorAll(".rows-figures button:not(:disabled)")][0];
    return {
      filter: count ? timed(() => count.click()) : null,
      all: timed(() => [...document.querySelectorAll("button")].find(({textContent}) => textContent === "Show all rows")?.click()),
      "sort first column": timed(() => heads[1].click()),
      "sort last column": timed(() => heads.at(-1).click()),
      scroll: timed(() => (document.querySelector(".rows-scroll").scrollTop = 1e5)),
    };
  });
  return {open, search: found, ...times};
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const browser = await startBrowser();
  for (const file of process.argv.slice(2)) {
    await visit(browser, pathToFileURL(path.resolve(file)).href, {}, async ({page}) => {
      const speed = await speedOf(page);
      const status = await page.locator(".rows-status").textContent();
      console.log(`${file}: ${(statSync(file).size / 1e6).toFixed(2)} MB, ${status.split(" ·")[0]}, ${JSON.stringify(speed)}`);
    });
  }
  await browser.close();
}
