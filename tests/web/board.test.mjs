// The page of trainings on real ones: finished, under way, as one file; hostile names; nothing leaves the machine.

import assert from "node:assert/strict";
import {spawn} from "node:child_process";
import {cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync} from "node:fs";
import {tmpdir} from "node:os";
import path from "node:path";
import {after, before, describe, test} from "node:test";
import {isAccessible, isForEveryone, onPaper, schemes, wide} from "./access.mjs";
import {desktop, fovea, program, shoot, startBrowser, visit} from "./support.mjs";

const patience = {timeout: 60_000};
const hostile = '<img src=x onerror=alert(1)> & "dates"';

/** The program, until it says where its page is: {address, ended, stop()}. */
async function startPage(...words) {
  const child = spawn(program, words, {stdio: ["ignore", "pipe", "pipe"]});
  const ended = new Promise((resolve) => child.once("exit", resolve));
  let said = "";
  const address = await new Promise((resolve, reject) => {
    child.once("exit", (code) => reject(new Error(`fovea ${words[0]} ended with ${code}: ${said}`)));
    for (const stream of [child.stdout, child.stderr])
      stream.on("data", (data) => {
        said += data;
        const found = /http:\/\/127\.0\.0\.1:\d+/.exec(said);
        if (found) resolve(found[0]);
      });
  });
  return {address, ended, stop: () => (child.kill("SIGTERM"), ended)};
}

const chart = (page, title) => page.locator("figure", {has: page.getByRole("heading", {name: title, exact: true})});
const status = (page) => page.locator(".board-status");

/** Waits until the page shows these trainings and their curves. */
async function sees(page, curves = 1) {
  await page.waitForFunction((count) => document.querySelectorAll(".board-plot path").length >= count, curves, patience);
}

/** Waits until every finished training has told all that it has to tell. */
async function seesAll(page, curves = 6) {
  await page.waitForFunction(() => document.querySelector(".board-status")?.dataset.kind === "idle", null, patience);
  await sees(page, curves);
}

describe("board", () => {
  let folder, browser;
  const at = (name) => path.join(folder, name);
  const train = (name, ...more) =>
    fovea("train", "dates", "--out", at(name), "--quiet", "--set", "data.rows=600", "--set", "model.hidden=24", ...more);

  before(async () => {
    folder = mkdtempSync(path.join(tmpdir(), "fovea-board-"));
    await train("small", "--epochs", "4", "--watch", "2", "--set", "training.evaluate_epochs=1");
    await train("fast", "--epochs", "3", "--watch", "1", "--set", "training.learning_rate=0.01");
    await train(hostile.replaceAll("/", ""), "--epochs", "1");
    browser = await startBrowser();
  });
  after(async () => {
    await browser?.close();
    rmSync(folder, {recursive: true, force: true});
  });

  describe("served", () => {
    let board;
    before(async () => (board = await startPage("board", at("small"), at("fast"), at(hostile), "--port", "0")));
    after(() => board.stop());
    const open = (hash, options, body) =>
      visit(browser, `${board.address}/${hash}`, {origin: board.address, ...options}, body);

    test("shows the curves of all runs, with a legend that hides them", async () => {
      await open("", {}, async ({page}) => {
        await seesAll(page);
        for (const title of ["Training loss", "Validation loss", "Validation exact match", "Learning rate", "Rows per second"])
          assert.equal(await chart(page, title).count(), 1, title);
        assert.equal(await page.locator(".board-runs tbody tr").count(), 3);
        const colours = await chart(page, "Training loss").locator("path").evaluateAll((paths) => paths.map((one) => one.getAttribute("stroke")));
        assert.equal(new Set(colours).size, 3, "a colour each");
        const dashes = await page.locator(".board-run path").evaluateAll((paths) => paths.map((one) => one.getAttribute("stroke-dasharray")));
        assert.equal(new Set(dashes).size, 3, "dashes of their own");
        await page.getByRole("button", {name: "fast"}).click();
        await page.waitForFunction(() => document.querySelectorAll(".board-chart:first-child path").length === 2);
        assert.equal(await page.getByRole("button", {name: "fast"}).getAttribute("aria-pressed"), "false");
        await page.waitForFunction(() => location.hash.includes("hidden=1"));
      });
    });

    test("says what the run's files say", async () => {
      const lines = (name) => readFileSync(at(name), "utf8").trim().split("\n").map((line) => JSON.parse(line));
      const epochs = lines("small/metrics.jsonl");
      const best = epochs.reduce((a, b) => (b.validation.loss < a.validation.loss ? b : a));
      await open("", {}, async ({page}) => {
        await seesAll(page);
        const row = page.locator(".board-runs tbody tr").first();
        assert.match(await row.textContent(), new RegExp(`${Number(best.validation.loss.toPrecision(4))} loss, epoch ${best.epoch}`));
        assert.match(await row.textContent(), /4 of 4/);
        assert.match(await row.textContent(), /finished/);
        const picture = chart(page, "Validation loss").locator("svg.board-plot");
        assert.match(await picture.getAttribute("aria-label"), new RegExp(`small: last .*best ${Number(best.validation.loss.toPrecision(4))} at epoch ${best.epoch}`));
        assert.equal(await chart(page, "Validation loss").locator(".board-best").count(), 3, "the best of each run is marked");
        assert.equal(await page.locator(".board-winner").count(), 1, "and the best of all");
        const download = page.waitForEvent("download");
        await page.getByRole("button", {name: "Validation loss: save the numbers as CSV"}).click();
        const saved = readFileSync(await (await download).path(), "utf8").trim().split("\r\n");
        assert.equal(saved.length, 1 + 4 + 3 + 1);
        assert.ok(saved[1].endsWith(`,${epochs[0].validation.loss}`), saved[1]);
      });
    });

    test("options that differ stand in a table, others do not", async () => {
      await open("", {}, async ({page}) => {
        await seesAll(page);
        const options = page.locator(".board-options");
        const names = await options.locator("tbody th").allTextContents();
        assert.deepEqual(names, ["training.epochs", "training.learning_rate", "training.evaluate_epochs"].filter((name) => names.includes(name)));
        assert.ok(names.includes("training.learning_rate") && names.includes("training.epochs"));
        assert.match(await options.locator("tr", {hasText: "learning_rate"}).textContent(), /0\.01/);
      });
    });

    test("axes, smoothing and the logarithmic scale, by the address too", async () => {
      await open("#x=time&smooth=0.5&log=1", {}, async ({page}) => {
        await seesAll(page);
        assert.equal(await page.getByRole("button", {name: "time", exact: true}).getAttribute("aria-pressed"), "true");
        assert.ok(await page.getByRole("checkbox", {name: "Logarithmic scale"}).isChecked());
        const drawn = () => chart(page, "Training loss").locator("path").evaluateAll((paths) => paths.map((one) => one.getAttribute("d")).join());
        // What was chosen is drawn in the next frame and stands in the address a moment later.
        const redrawn = async (choose) => {
          const before = await drawn();
          await choose();
          for (const end = Date.now() + patience.timeout; (await drawn()) === before; ) assert.ok(Date.now() < end, "drawn anew");
        };
        await redrawn(() => page.getByRole("slider", {name: "Smoothing"}).fill("0"));
        await page.waitForFunction(() => !location.hash.includes("smooth"), null, patience);
        await redrawn(() => page.getByRole("button", {name: "epoch", exact: true}).click());
        await page.waitForFunction(() => location.hash.includes("x=epoch"), null, patience);
        assert.match(await chart(page, "Training loss").locator("svg.board-plot").textContent(), /epoch/);
      });
    });

    test("the keyboard reaches the numbers", async () => {
      await open("", {}, async ({page}) => {
        await seesAll(page);
        await chart(page, "Validation loss").locator("svg.board-plot").focus();
        await page.keyboard.press("ArrowRight");
        await page.keyboard.press("ArrowRight");
        assert.match(await page.locator("body > [aria-live]").textContent(), /epoch 2.*small [\d.]+.*fast [\d.]+/);
        assert.ok(await page.locator(".tooltip").isVisible());
        await page.keyboard.press("Escape");
        assert.ok(!(await page.locator(".tooltip").isVisible()));
      });
    });

    test("attention epoch by epoch: the same row, another picture", async () => {
      await open("", {}, async ({page}) => {
        await seesAll(page);
        const slider = page.getByRole("slider", {name: "Epoch"});
        const shows = (text) => page.waitForFunction((wanted) => document.querySelector(".board-epoch").textContent === wanted, text, patience);
        await page.locator(".board-picture .shell-stage canvas, .board-picture .shell-stage svg").first().waitFor(patience);
        await shows("after epoch 4");
        assert.equal(await slider.getAttribute("max"), "4");
        const last = await page.locator(".board-picture").screenshot();
        await slider.fill("0");
        await shows("before the first epoch");
        await page.waitForFunction(() => location.hash.includes("epoch=0"));
        await page.waitForTimeout(400);
        assert.ok(!last.equals(await page.locator(".board-picture").screenshot()), "the picture has changed");
        await page.getByRole("combobox", {name: "Validation row"}).selectOption({index: 1});
        await shows("after epoch 4");
        await page.getByRole("button", {name: "Play"}).click();
        await shows("after epoch 2");
        await page.waitForFunction(() => document.querySelector(".board-time button").textContent === "Play", null, patience);
        await page.getByRole("combobox", {name: "Run"}).selectOption("fast");
        await shows("after epoch 3");
      });
    });

    test("names of strangers stay text", async () => {
      await open("", {}, async ({page}) => {
        await seesAll(page);
        assert.equal(await page.locator("img").count(), 0);
        assert.equal(await page.getByRole("button", {name: hostile}).count(), 1);
      });
    });

    for (const colorScheme of schemes) {
      test(`everyone can read it, on phones too, with the tables open: ${colorScheme}`, async () => {
        await open("", {viewport: wide, colorScheme}, async ({page}) => {
          await seesAll(page);
          await page.locator(".board-picture .shell-stage canvas, .board-picture .shell-stage svg").first().waitFor(patience);
          await shoot(page, `board-1440-${colorScheme}`);
          await isAccessible(page, `board ${colorScheme}`);
          for (const title of ["Training loss", "Validation loss"]) await page.getByRole("button", {name: `${title}: show the numbers as a table`}).click();
          await page.locator(".board-numbers table").nth(1).waitFor(patience);
          await isForEveryone(page, `board ${colorScheme}`);
          await shoot(page, `board-320-${colorScheme}`);
        });
      });
    }

    test("a table behind each picture of curves, by the keyboard", async () => {
      await open("", {}, async ({page}) => {
        await seesAll(page);
        const titles = await page.locator(".board-chart h2").allTextContents();
        assert.ok(titles.length >= 5);
        for (const title of titles) {
          const button = page.getByRole("button", {name: `${title}: show the numbers as a table`, exact: true});
          await button.focus();
          await page.keyboard.press("Enter");
          assert.equal(await button.getAttribute("aria-expanded"), "true");
          const table = page.getByRole("region", {name: `${title} as a table`, exact: true}).getByRole("table");
          await table.waitFor(patience);
          assert.deepEqual(await table.locator("thead th").allTextContents(), ["run", "step", "epoch", "seconds", title]);
        }
        const rows = page.getByRole("region", {name: "Validation loss as a table"}).locator("tbody tr");
        assert.equal(await rows.count(), 4 + 3 + 1);
        const epochs = readFileSync(at("small/metrics.jsonl"), "utf8").trim().split("\n").map((line) => JSON.parse(line));
        assert.equal(Number(await rows.first().locator("td").last().textContent()), Number(epochs[0].validation.loss.toPrecision(3)));
        await page.getByRole("button", {name: "fast", exact: true}).click();
        await page.waitForFunction(() => document.querySelectorAll("[aria-label='Validation loss as a table'] tbody tr").length === 5, null, patience);
      });
    });

    test("paper has the curves in light colours, without controls", async () => {
      await open("", {viewport: wide, colorScheme: "dark"}, async ({page}) => {
        await seesAll(page);
        const ink = () => chart(page, "Training loss").locator("path").first().getAttribute("stroke");
        const dark = await ink();
        await onPaper(page, async () => {
          assert.notEqual(await ink(), dark);
          assert.equal(await page.evaluate(() => getComputedStyle(document.body).backgroundColor), "rgb(255, 255, 255)");
          for (const name of ["CSV", "Table", "Smoothing", "Play"]) assert.equal(await page.getByText(name, {exact: true}).first().isVisible(), false, name);
          assert.ok(await chart(page, "Training loss").locator("svg.board-plot").isVisible());
          await shoot(page, "board-paper");
        });
        await page.waitForFunction((colour) => document.querySelector(".board-plot path").getAttribute("stroke") === colour, dark, patience);
      });
    });

    test("a run that becomes unreadable says why, the others stay", async () => {
      cpSync(at("fast"), at("damaged"), {recursive: true});
      const other = await startPage("board", at("small"), at("damaged"), "--port", "0");
      writeFileSync(at("damaged/metrics.jsonl"), "nonsense\n");
      await visit(browser, other.address, {origin: other.address}, async ({page}) => {
        await seesAll(page, 3);
        assert.match(await page.locator(".board-runs tbody tr").nth(1).textContent(), /cannot be read.*metrics\.jsonl:1/);
      });
      await other.stop();
    });
  });

  test("a page that is open follows a training and says when it has ended", async () => {
    const live = await startPage("train", "dates", "--out", at("live"), "--page", "--quiet", "--time", "12s", "--set", "data.rows=2000", "--set", "model.hidden=24",
      "--set", "training.evaluate_epochs=1", "--set", "training.patience=0", "--epochs", "100000");
    const expected = [/Failed to load resource/, /ERR_CONNECTION_REFUSED/];
    await visit(browser, live.address, {origin: live.address, expected}, async ({page}) => {
      await sees(page, 2);
      await page.waitForFunction(() => /Training: epoch .* left/.test(document.querySelector(".board-status").textContent), null, patience);
      const points = () => page.evaluate(() => document.querySelector(".board-plot path").getAttribute("d").length);
      const early = await points();
      await page.waitForFunction((length) => document.querySelector(".board-plot path").getAttribute("d").length > length, early, patience);
      await page.locator(".board-picture .shell-stage canvas, .board-picture .shell-stage svg").first().waitFor(patience);
      await shoot(page, "board-live");
      await page.waitForFunction(() => document.querySelector(".board-status").dataset.kind === "ended", null, patience);
      assert.match(await status(page).textContent(), /The training has ended: .*the time is up.*fovea board/);
      assert.equal(await live.ended, 0);
      await page.waitForTimeout(1500);
      assert.match(await status(page).textContent(), /The training has ended/, "it stays when the server is gone");
      await sees(page, 2);
    });
  });

  test("Ctrl-C stops the training, and the page says so", async () => {
    const live = await startPage("train", "dates", "--out", at("stopped"), "--page", "--quiet", "--time", "2m", "--set", "data.rows=2000", "--set", "model.hidden=24");
    const expected = [/Failed to load resource/, /ERR_CONNECTION_REFUSED/];
    await visit(browser, live.address, {origin: live.address, expected}, async ({page}) => {
      await sees(page, 1);
      live.stop();
      await page.waitForFunction(() => /The training was stopped: interrupted/.test(document.querySelector(".board-status").textContent), null, patience);
      assert.equal(await live.ended, 143);
    });
  });

  test("one file shows the same without a server or a network", async () => {
    await fovea("board", at("small"), at("fast"), at(hostile), "--out", at("board.html"));
    const expected = [/Content Security Policy/];  // what this test asks for
    await visit(browser, `file://${at("board.html")}`, {expected, viewport: wide}, async ({page, context}) => {
      await context.setOffline(true);
      await seesAll(page);
      await isForEveryone(page, "board of one file");
      await page.setViewportSize(desktop);
      const slider = page.getByRole("slider", {name: "Epoch"});
      await page.locator(".board-picture .shell-stage canvas, .board-picture .shell-stage svg").first().waitFor(patience);
      await slider.fill("1");
      await page.waitForFunction(() => document.querySelector(".board-epoch").textContent === "after epoch 1", null, patience);
      assert.equal(await page.locator("img").count(), 0);
      assert.match(await status(page).textContent(), /3 trainings/);
      const policy = await page.locator('meta[http-equiv="Content-Security-Policy"]').getAttribute("content");
      assert.match(policy, /default-src 'none'.*connect-src 'none'/);
      const asked = await page.evaluate(() => fetch("https://example.org").then(() => "answered", () => "refused"));
      assert.equal(asked, "refused");
      await shoot(page, "board-file");
    });
  });
});
