// A part of the input that is not there: units of every task's inputs taken away and brought back, by mouse and keyboard;
// the smallest change that changes the answer; what a report says of it; two models over a file of rows.

import assert from "node:assert/strict";
import {mkdtempSync, rmSync, writeFileSync} from "node:fs";
import {readFile} from "node:fs/promises";
import {tmpdir} from "node:os";
import path from "node:path";
import {after, before, describe, test} from "node:test";
import {pathToFileURL} from "node:url";
import {isAccessible, isForEveryone, schemes, wide} from "./access.mjs";
import {Served, choose, input, pane, patience, runFolder, runs, sees, withoutRuns} from "./served.mjs";
import {fovea, shoot, startBrowser, startServer, visit} from "./support.mjs";

const row = "-0.1,-0.5,0.9,-0.2,0.5,0.9,-0.8,0.3,0.1,0.6"; // of the built-in table: y = 1 where x1 + x2 > 0, so it rests on x2
const strip = (page) => pane(page).locator(".whatif");
const chips = (page) => strip(page).locator(".away-chip bdi");
const button = (page, name) => strip(page).getByRole("button", {name});
const rowLink = `#model=features&input=${encodeURIComponent(row)}`;

/** Waits until so many units are away, and the answer to the rest is there. */
async function away(page, count) {
  await page.waitForFunction(
    (wanted) => {
      const picture = document.querySelector(".pane .answer-picture");
      return picture?.ariaBusy === "false" && document.querySelectorAll(".away-chip").length === wanted;
    },
    count,
    patience,
  );
}

describe("what if", {skip: withoutRuns}, () => {
  const served = new Served();
  let folder;
  before(async () => {
    folder = mkdtempSync(path.join(tmpdir(), "whatif-"));
    await served.start();
  });
  after(async () => {
    await served.stop();
    rmSync(folder, {recursive: true});
  });

  for (const run of runs) {
    test(`${run}: a unit goes and comes back, and the answer is that to the rest`, async () => {
      await served.open(`#model=${run}`, {expected: [/status of 4(00|22)/]}, async ({page}) => {
        const given = served.models[run].examples[0];
        const whole = await served.post("explain", {model: run, input: given});
        await sees(page, whole.prediction.text);
        // Of every axis of the input one unit; what cannot go says so.
        let gone = 0;
        for (const axis of whole.axes) {
          if (axis.output || axis.kind === "prediction") continue;
          const units = axis.labels.map((_, unit) => unit).filter((unit) => !axis.special?.includes(unit));
          if (units.length < 2) continue;
          const field = strip(page).getByRole("combobox", {name: "Take away a unit of the input"});
          const body = {model: run, input: given, without: [{axis: axis.name, units: [units[1]]}]};
          const reply = await fetch(`${served.address}/v1/explain`, {
            method: "POST", headers: {"Content-Type": "application/json"}, body: JSON.stringify(body),
          });
          const left = await reply.json();
          await field.click();
          await field.fill(axis.labels[units[1]].trim());
          const option = strip(page).getByRole("option").filter({hasText: `${axis.name} ${units[1] + 1}`}).first();
          if (!(await option.waitFor({timeout: 3000}).then(() => true, () => false))) continue; // beyond the first 50
          await option.click();
          if (reply.status !== 200) {
            assert.match(left.error.message, /cannot be erased|no axis/);
            await strip(page).getByText(/cannot be erased|no axis/).waitFor(patience);
            assert.equal(await chips(page).count(), 0);
            continue;
          }
          await away(page, 1);
          assert.equal(await pane(page).locator(".prediction").textContent(), left.prediction.text);
          const line = await strip(page).locator(".change-line").textContent();
          assert.equal(line.startsWith("The answer stays"), left.prediction.text === whole.prediction.text);
          if (gone === 0) await shoot(page, `whatif-${run}`);
          ++gone;
          await button(page, /^Bring back /).click();
          await away(page, 0);
          assert.equal(await pane(page).locator(".prediction").textContent(), whole.prediction.text);
        }
        if (run !== "language") assert.ok(gone > 0 || whole.axes.every(({output}) => output), "something can go");
      });
    });
  }

  test("a click takes away what it hits, another key brings the choice, Delete takes it", async () => {
    await served.open(rowLink, {}, async ({page}) => {
      const whole = await served.answer("features", row);
      await sees(page, whole);
      await button(page, "Take away by clicking").click();
      const chart = pane(page).locator(".bars-chart");
      const place = {position: {x: 30, y: 34}};
      const first = await pane(page).locator(".bars-chart text").nth(3).textContent();
      await chart.click(place);
      await away(page, 1);
      assert.ok(first !== null);
      await chart.click({position: {x: 30, y: 61}});
      await away(page, 2);
      assert.equal(await button(page, "Take away by clicking").getAttribute("aria-pressed"), "true", "it stays on");
      await button(page, "Take away by clicking").click();
      await button(page, "Bring all back").click();
      await away(page, 0);
      await sees(page, whole);
      await chart.click(place); // now a click only chooses
      const chosen = await strip(page).getByRole("button", {name: /^Take away “/}).textContent();
      await chart.press("ArrowDown");
      await chart.press("Delete");
      await away(page, 1);
      assert.notEqual(`Take away “${await chips(page).textContent()}”`, chosen);
      assert.ok(await page.evaluate(() => document.querySelector(".shell-stage").contains(document.activeElement)), "the focus stays in the picture");
    });
  });

  test("by keyboard alone, and what is of the answer cannot go", async () => {
    await served.open("#model=dates&input=9+May+2018&view=matrix", {}, async ({page}) => {
      await sees(page, await served.answer("dates", "9 May 2018"));
      await pane(page).locator(".shell-stage canvas").focus();
      for (const key of ["ArrowRight", "ArrowRight", "Delete"]) await page.keyboard.press(key);
      await away(page, 1);
      await page.waitForFunction(() => /away=source%3A\d/.test(location.hash), null, patience);
      await page.keyboard.press("Delete"); // nothing is chosen now
      await pane(page).getByRole("tab", {name: "Links"}).click();
      const canvas = pane(page).locator(".shell-stage canvas").first();
      await canvas.focus();
      await page.keyboard.press("ArrowDown");
      await page.keyboard.press("Delete");
      await strip(page).getByText("is of the answer, not of the input").waitFor(patience);
      await away(page, 1);
    });
  });

  test("an edit and another model bring everything back; a link and the back button hold it", async () => {
    const permissions = ["clipboard-read", "clipboard-write"];
    let link;
    await served.open(`${rowLink}&away=columns:1.2`, {permissions}, async ({page}) => {
      await away(page, 2);
      assert.deepEqual(await chips(page).allTextContents(), ["x1", "x2"]);
      const left = await served.post("explain", {model: "features", input: row, without: [{axis: "columns", units: [1, 2]}]});
      await sees(page, left.prediction.text);
      assert.match(await pane(page).locator(".bars-chart").textContent(), /x1 \(away\).*x2 \(away\)|x2 \(away\).*x1 \(away\)/);
      await page.getByRole("button", {name: "Copy link"}).click();
      link = await page.evaluate(() => navigator.clipboard.readText());
      await choose(page, "dates");
      await sees(page, await served.answer("dates", served.models.dates.examples[0]));
      await away(page, 0);
      await input(page).fill("3 June 2011");
      await sees(page, await served.answer("dates", "3 June 2011"));
    });
    await served.open(link, {}, async ({page}) => {
      await away(page, 2);
      for (const scheme of schemes) {
        await page.emulateMedia({colorScheme: scheme});
        await isAccessible(page, `what if, ${scheme}`);
      }
      await shoot(page, "whatif-link");
      await page.setViewportSize({width: 390, height: 800});
      assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth), "no sideways scrolling");
      await shoot(page, "whatif-phone");
    });
  });

  test("in a text, what is away is struck out", async () => {
    await served.open("#model=tag&view=document", {}, async ({page}) => {
      await sees(page, await served.answer("tag", served.models.tag.examples[0]));
      await pane(page).locator(".word").nth(1).click();
      await strip(page).getByRole("button", {name: /^Take away “/}).click();
      await away(page, 1);
      assert.equal(await pane(page).locator(".word.away").count(), 1);
    });
  });

  test("a link that asks for what is not there says so and shows the whole", async () => {
    await served.open(`${rowLink}&away=columns:99`, {expected: [/status of 400/]}, async ({page}) => {
      await sees(page, await served.answer("features", row));
      await away(page, 0);
    });
  });

  test("two panes for one input: each has its own", async () => {
    await served.open(rowLink, {}, async ({page}) => {
      const whole = await served.answer("features", row);
      await sees(page, whole);
      await page.getByRole("button", {name: "Compare"}).click();
      await sees(page, whole, 1);
      await page.getByRole("button", {name: "Same input"}).click();
      const field = pane(page).locator(".whatif").getByRole("combobox");
      await field.fill("x1");
      await field.press("Enter");
      await page.waitForFunction(() => document.querySelectorAll(".away-chip").length === 1, null, patience);
      assert.equal(await pane(page, 1).locator(".away-chip").count(), 0);
      await sees(page, whole, 1);
    });
  });

  test("the smallest change: only what matters, as the server finds it", async () => {
    await served.open(rowLink, {}, async ({page}) => {
      await sees(page, await served.answer("features", row));
      const found = await served.post("flip", {model: "features", input: row, stream: false});
      await button(page, "Smallest change that changes the answer").click();
      await away(page, found.units.length);
      assert.deepEqual(await chips(page).allTextContents(), found.labels);
      assert.ok(found.labels.every((label) => ["x1", "x2"].includes(label)), String(found.labels));
      assert.match(await pane(page).locator(".whatif-result").textContent(), new RegExp(`Found in ${found.predictions} predictions`));
      assert.match(await strip(page).locator(".change-line").textContent(), /^The answer changes from /);
      await shoot(page, "whatif-flip");
    });
  });

  test("a long search tells how far it is and can be cancelled; one without a find says so", async () => {
    await served.open(rowLink, {}, async ({page}) => {
      await sees(page, await served.answer("features", row));
      await page.route("**/v1/flip", async (route) => {
        await new Promise((resolve) => setTimeout(resolve, 4000));
        await route.abort().catch(() => {});
      });
      await button(page, "Smallest change that changes the answer").click();
      await button(page, "Cancel").click(patience);
      await strip(page).getByText("Cancelled.").waitFor(patience);
      await page.unroute("**/v1/flip");
      const nothing = {done: true, axis: "columns", units: [], most: 9, predictions: 1234};
      const body = [{predictions: 3, most_predictions: 2000}, nothing].map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
      await page.route("**/v1/flip", (route) => route.fulfill({contentType: "text/event-stream", body}));
      await button(page, "Smallest change that changes the answer").click();
      await strip(page).getByText("No set of up to 9 units of columns changes the answer (1,234 predictions).").waitFor(patience);
      await away(page, 0);
    });
  });

  test("answers that are numbers have no smallest change, and say so", async () => {
    await served.open("#model=context", {expected: [/status of 422/]}, async ({page}) => {
      await sees(page, await served.answer("context", served.models.context.examples[0]));
      await button(page, "Smallest change that changes the answer").click();
      await strip(page).getByText("change a little with every unit").waitFor(patience);
    });
  });

  test("a report says what was taken away", async () => {
    const report = path.join(folder, "flip.html");
    await fovea("explain", path.join(runFolder, "features"), row, "--flip", "--quiet", "--out", report);
    const browser = await startBrowser();
    try {
      await visit(browser, pathToFileURL(report).href, {viewport: wide}, async ({page}) => {
        const note = page.locator(".whatif");
        await note.waitFor(patience);
        assert.match(await note.textContent(), /Without a part of the input.*x[12].*The answer changes from/s);
        assert.equal(await note.getByRole("button").count(), 0, "nothing can be brought back in a file");
        await shoot(page, "whatif-report");
        await isForEveryone(page, "report of what was taken away");
      });
    } finally {
      await browser.close();
    }
  });
});

describe("two models over a file", {skip: withoutRuns}, () => {
  const line = (i) => [20 + ((i * 13) % 50), i % 3 ? "Basic" : "Pro", (i * 7) % 11 > 4 ? "yes" : "no"].join(",");
  const table = (count) => ["age,plan,late", ...Array.from({length: count}, (_, i) => line(i))].join("\n");
  let folder, server, browser;
  const run = (name) => path.join(folder, name);
  before(async () => {
    folder = mkdtempSync(path.join(tmpdir(), "beside-"));
    writeFileSync(run("orders.csv"), table(300));
    const train = (name, ...more) =>
      fovea("train", "features", run("orders.csv"), "--target", "late", "--quiet", "--out", run(name), "--set", "model.name=attention", ...more);
    await train("first", "--epochs", "8");
    await train("second", "--epochs", "1", "--seed", "7");
    [server, browser] = [await startServer(run("first"), run("second")), await startBrowser()];
  });
  after(async () => {
    await browser?.close();
    await server?.stop();
    rmSync(folder, {recursive: true});
  });

  const counted = async (page) => {
    const cells = await page.locator(".rows-beside td button").allTextContents();
    return cells.map((text) => Number(text.split(" ")[0].replaceAll(",", "")));
  };
  const cells = (text) => text.trim().split("\r\n").map((one) => one.split(","));

  test("the page of fovea evaluate --beside: counts, test, filter and CSV agree with what is printed", async () => {
    const page_ = run("rows.html");
    const said = JSON.parse(await fovea("evaluate", run("first"), run("orders.csv"), "--beside", run("second"), "--out", page_, "--explain", "2", "--quiet", "--json"));
    const {both_right: both, only_first: first, only_second: second, both_wrong: neither, p_value: p, rows_that_differ: differ} = said.beside;
    assert.equal(both + first + second + neither, 300);
    assert.ok(differ > 0, "they are two models");
    await visit(browser, pathToFileURL(page_).href, {viewport: wide}, async ({page}) => {
      await page.locator(".rows-beside").waitFor(patience);
      assert.deepEqual(await counted(page), [both, first, second, neither]);
      const shownP = /p = ([\d.e−-]+)\. /.exec(await page.locator(".rows-beside").textContent())[1];
      assert.ok(Math.abs(Number(shownP.replace("−", "-")) - p) <= 0.006 * p, `${shownP} is ${p}`);
      await page.getByRole("button", {name: "Disagree"}).click();
      assert.match(await page.locator(".rows-status").textContent(), new RegExp(`^${differ} of 300 rows`));
      const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", {name: "Download CSV"}).click()]);
      const [head, ...lines] = cells(await readFile(await download.path(), "utf8"));
      const [answer, other, who] = ["answer", "beside_answer", "agreement"].map((role) => head.indexOf(role));
      assert.equal(lines.length, differ);
      assert.ok(lines.every((one) => one[answer] !== one[other]));
      assert.equal(lines.filter((one) => one[who] === "only first").length, first);
      await shoot(page, "beside-report");
      await page.getByRole("button", {name: "Show all rows"}).click();
      await page.locator(".rows-beside td button").nth(1).click();
      assert.match(await page.locator(".rows-status").textContent(), new RegExp(`^${first} of 300 rows`));
      await isForEveryone(page, "two models");
    });
  });

  test("the same for a dropped file on the page", async () => {
    const said = JSON.parse(await fovea("evaluate", run("first"), run("orders.csv"), "--beside", run("second"), "--quiet", "--json"));
    await visit(browser, `${server.address}/#model=first`, {origin: server.address, viewport: wide}, async ({page}) => {
      await pane(page).locator(".prediction").waitFor(patience);
      await pane(page).locator('input[type="file"]').first().setInputFiles({name: "orders.csv", mimeType: "text/csv", buffer: Buffer.from(table(300))});
      await pane(page).getByLabel("Second model, to be compared").selectOption("second");
      await pane(page).getByRole("button", {name: "Answer all 300"}).click();
      await page.locator(".rows-beside").waitFor(patience);
      const {both_right: both, only_first: first, only_second: second, both_wrong: neither} = said.beside;
      assert.deepEqual(await counted(page), [both, first, second, neither]);
      await page.locator(".rows-beside").getByRole("button", {name: /two different answers/}).click();
      assert.match(await page.locator(".rows-status").textContent(), new RegExp(`^${said.beside.rows_that_differ} of 300 rows`));
      await shoot(page, "beside-page");
      await isAccessible(page, "two models on the page");
    });
  });
});
