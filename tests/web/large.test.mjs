// Reports of large maps open quickly and follow a drag: 4,096 x 4,096 weights, and 12 layers x 12 heads of
// 512 tokens. The bounds are generous, because test machines are small and busy; the figures are printed.

import assert from "node:assert/strict";
import {mkdtempSync, rmSync} from "node:fs";
import {writeFile} from "node:fs/promises";
import {tmpdir} from "node:os";
import path from "node:path";
import {after, before, describe, test} from "node:test";
import {pathToFileURL} from "node:url";
import {deflateSync} from "node:zlib";
import {fovea, shoot, startBrowser, visit} from "./support.mjs";

const longestOpening = 6000; // milliseconds
const slowestFrames = 5; // per second
const bandRows = 64;

/**
 * Rows of attention along the diagonal with some noise, as float32 bytes; row r looks at (r + shift) %
 * columns.
 */
function bandOf(firstRow, rows, columns, shift) {
  const band = new Float32Array(rows * columns);
  for (let row = 0; row < rows; ++row) {
    const begin = row * columns;
    let sum = 0;
    for (let column = 0; column < columns; ++column) {
      const distance = Math.abs(((firstRow + row + shift) % columns) - column);
      const noise = ((column * 2654435761 + (firstRow + row) * 40503) >>> 0) / 2 ** 32;
      sum += band[begin + column] = Math.exp(-distance / 8) + 0.01 * noise;
    }
    for (let column = 0; column < columns; ++column) band[begin + column] /= sum;
  }
  return Buffer.from(band.buffer);
}

/**
 * A packed matrix of float32 without a pyramid; its chunks are added to `chunks`. The program makes the
 * pyramid.
 */
function packed(size, shift, chunks) {
  const matrix = {
    rows: size,
    columns: size,
    encoding: "f32",
    compression: "deflate",
    band: bandRows,
    chunks: [],
    levels: [],
  };
  for (let row = 0; row < size; row += bandRows) {
    matrix.chunks.push(chunks.length);
    chunks.push(
      deflateSync(bandOf(row, Math.min(bandRows, size - row), size, shift), {level: 1}).toString("base64"),
    );
  }
  return matrix;
}

function explanationOf(size, layers, heads) {
  const chunks = [],
    maps = [];
  const labels = Array.from({length: size}, (_, place) => `t${place}`);
  for (let layer = 1; layer <= layers; ++layer) {
    for (let head = 1; head <= heads; ++head) {
      const weights = packed(size, layer * 7 + head * 3, chunks);
      const place = layers * heads > 1 ? {layer, head} : {};
      maps.push({
        name: "self",
        title: "Self-attention",
        kind: "distribution",
        ...place,
        query_axis: "tokens",
        key_axis: "tokens",
        weights,
      });
    }
  }
  const axes = [{name: "tokens", kind: "token", labels}];
  return {
    format: "fovea-explanation",
    version: 2,
    task: "large",
    title: "Large",
    prediction: {text: ""},
    axes,
    maps,
    notes: [],
    chunks,
  };
}

/** Milliseconds until every canvas of the view has colours on it. */
async function openingTime(page) {
  return page.evaluate(
    () =>
      new Promise((resolve) => {
        const look = () => {
          const canvases = Array.from(document.querySelectorAll(".shell-stage canvas"));
          const inked = canvases.every((canvas) => {
            if (canvas.width === 0 || canvas.height === 0) return false;
            const pixels = new Uint32Array(
              canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data.buffer,
            );
            return new Set(pixels.filter((_, index) => index % 7 === 0)).size > 8;
          });
          if (canvases.length > 0 && inked) resolve(performance.now());
          else setTimeout(look, 20);
        };
        look();
      }),
  );
}

/** Frames per second while the picture is zoomed in and dragged to and fro. */
async function draggingRate(page) {
  const box = await page.locator(".shell-stage canvas").first().boundingBox();
  const centre = [box.x + box.width / 2, box.y + Math.min(box.height, 600) / 2];
  await page.mouse.move(...centre);
  for (let step = 0; step < 6; ++step) await page.mouse.wheel(0, -300);
  await page.evaluate(() => {
    window.frames_ = {count: 0, begin: performance.now()};
    const tick = () => (window.frames_.count++, requestAnimationFrame(tick));
    requestAnimationFrame(tick);
  });
  await page.mouse.down();
  for (let step = 0; step < 60; ++step) {
    await page.mouse.move(centre[0] + 150 * Math.sin(step / 6), centre[1] + 100 * Math.cos(step / 9));
  }
  await page.mouse.up();
  return page.evaluate(() => (1000 * window.frames_.count) / (performance.now() - window.frames_.begin));
}

describe("large reports", () => {
  const folder = mkdtempSync(path.join(tmpdir(), "fovea-large-"));
  let browser;
  before(async () => (browser = await startBrowser()));
  after(async () => {
    await browser?.close();
    rmSync(folder, {recursive: true, force: true});
  });

  async function reportOf(name, explanation) {
    const source = path.join(folder, `${name}.json`);
    const report = path.join(folder, `${name}.html`);
    await writeFile(source, JSON.stringify(explanation));
    await fovea("explain", "--weights", source, "--out", report);
    return pathToFileURL(report).href;
  }

  const cases = [
    ["4096", 4096, 1, 1],
    ["12x12x512", 512, 12, 12],
  ];
  for (const [name, size, layers, heads] of cases) {
    test(`${name} opens quickly and can be dragged`, async (context) => {
      const address = await reportOf(name, explanationOf(size, layers, heads));
      await visit(browser, `${address}#view=matrix`, {}, async ({page}) => {
        const opening = await openingTime(page);
        const rate = await draggingRate(page);
        context.diagnostic(`${name}: open after ${Math.round(opening)} ms, ${rate.toFixed(1)} frames/s`);
        await shoot(page, `large-${name}`);
        await page.waitForFunction(() => location.hash.includes("zoom="));
        assert.ok(opening < longestOpening, `open after ${Math.round(opening)} ms`);
        assert.ok(rate > slowestFrames, `${rate.toFixed(1)} frames/s`);
      });
      if (heads === 1) return;
      await visit(browser, `${address}#view=heads`, {}, async ({page}) => {
        const opening = await openingTime(page);
        context.diagnostic(`${name}: overview of all heads open after ${Math.round(opening)} ms`);
        await shoot(page, `large-${name}-heads`);
        assert.ok(opening < longestOpening, `open after ${Math.round(opening)} ms`);
      });
    });
  }
});
