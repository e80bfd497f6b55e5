// A screenshot of a report, for the docs: node picture.mjs REPORT.html OUT.png [WIDTH HEIGHT]
import path from "node:path";
import {pathToFileURL} from "node:url";
import {startBrowser, visit} from "./support.mjs";

const [report, out, width = "1120", height = "900"] = process.argv.slice(2);
const browser = await startBrowser();
const size = {viewport: {width: Number(width), height: Number(height)}, deviceScaleFactor: 1.5};
await visit(browser, pathToFileURL(path.resolve(report)).href, size, async ({page}) => {
  await page.waitForSelector("canvas, svg");
  await page.waitForTimeout(500);
  await page.screenshot({path: out});
});
await browser.close();
