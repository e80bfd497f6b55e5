// The table of all rows (fovea evaluate --out): one run for each kind of answers, ten thousand rows, what data of
// strangers may hold, and a dropped file on the server's page.

import assert from "node:assert/strict";
import {mkdtempSync, readFileSync, rmSync, statSync, writeFileSync} from "node:fs";
import {readFile} from "node:fs/promises";
import {tmpdir} from "node:os";
import path from "node:path";
import {after, before, describe, test} from "node:test";
import {pathToFileURL} from "node:url";
import Ajv from "ajv/dist/2020.js";
import {isAccessible, isForEveryone, onPaper, schemes, wide} from "./access.mjs";
import {Served, pane, patience, runFolder, sees, withoutRuns} from "./served.mjs";
import {speedOf, workOf} from "./rows_speed.mjs";
import {desktop, fovea, phone, root, shoot, startBrowser, visit} from "./support.mjs";

const judgedFolder = process.env.FOVEA_WEB_JUDGED;
const withoutJudged = !judgedFolder && "FOVEA_WEB_JUDGED names no runs";
// Where it is, what its answers are, and which metric the judged rows must come to.
const judged = {
  orders: {folder: runFolder, kind: "class", metric: "accuracy"},
  choices: {folder: runFolder, kind: "choice", metric: "accuracy"},
  dates: {folder: runFolder, kind: "text", metric: "exact_match"},
  context: {folder: runFolder, kind: "number", metric: "mae"},
  digits: {folder: runFolder, kind: "class", metric: "accuracy"},
  visits: {folder: runFolder, kind: "class", metric: "accuracy"},
  graph: {folder: runFolder, kind: "class", metric: "accuracy"},
  labels: {folder: judgedFolder, kind: "labels", metric: "subset_accuracy"},
  tags: {folder: judgedFolder, kind: "tags", metric: null},
  questions: {folder: judgedFolder, kind: "span", metric: "exact_match"},
};
const longestOpening = 2000; // milliseconds of processor time, the median of several; the figures are printed
const longestFilter = 100;
const timesMeasured = 5;

const lines = (page) => page.locator(".rows-table tbody tr[data-row]");
const status = (page) => page.locator(".rows-status").textContent();
const shown = async (page) => Number((await status(page)).split(" ")[0].replaceAll(",", ""));
const opened = (page) => lines(page).first().waitFor(patience);

/** The cells of CSV text. */
function cellsOf(text) {
  const rows = [[""]];
  let quoted = false;
  for (let at = 0; at < text.length; ++at) {
    const cells = rows.at(-1);
    const character = text[at];
    if (quoted && character === '"' && text[at + 1] === '"') cells[cells.length - 1] += text[++at];
    else if (character === '"') quoted = !quoted;
    else if (!quoted && character === ",") cells.push("");
    else if (!quoted && character === "\n") rows.push([""]);
    else if (quoted || character !== "\r") cells[cells.length - 1] += character;
  }
  return rows.slice(0, -1);
}

async function downloaded(page) {
  const [download] = await Promise.all([
    page.waitForEvent("download"), page.getByRole("button", {name: "Download CSV"}).click(),
  ]);
  return cellsOf(await readFile(await download.path(), "utf8"));
}

describe("the table of rows", {skip: withoutRuns || withoutJudged}, () => {
  const work = mkdtempSync(path.join(tmpdir(), "fovea-rows-"));
  const schema = JSON.parse(readFileSync(path.join(root, "docs/formats/rows.schema.json"), "utf8"));
  const validate = new Ajv({allErrors: true, strictTypes: false, strictRequired: false}).compile(schema);
  const evaluations = {};
  let browser;
  const pageOf = (name) => pathToFileURL(path.join(work, `${name}.html`)).href;

  before(async () => {
    browser = await startBrowser();
    for (const [name, {folder}] of Object.entries(judged)) {
      const out = ["html", "json"].flatMap((ending) => ["--out", path.join(work, `${name}.${ending}`)]);
      const said = await fovea("evaluate", path.join(folder, name), ...out, "--explain", "3", "--json", "--quiet");
      evaluations[name] = JSON.parse(said);
    }
  });
  after(async () => {
    await browser?.close();
    rmSync(work, {recursive: true, force: true});
  });

  for (const [name, {kind, metric}] of Object.entries(judged)) {
    test(`${name}: the record obeys its schema`, () => {
      const record = JSON.parse(readFileSync(path.join(work, `${name}.json`), "utf8"));
      assert.ok(validate(record), JSON.stringify(validate.errors?.slice(0, 3)));
      assert.equal(record.kind, kind);
      assert.equal(record.rows, evaluations[name].rows);
      assert.equal(record.explained.length, 3);
      assert.notEqual(record.columns.find(({role}) => role === "supported"), undefined);
      assert.equal(validate({...record, kind: "other"}), false);
      assert.equal(validate({...record, columns: [{role: "input"}]}), false);
    });

    test(`${name}: all rows are there, and measure what fovea evaluate says`, async () => {
      await visit(browser, pageOf(name), {}, async ({page}) => {
        await opened(page);
        assert.equal(await shown(page), evaluations[name].rows);
        assert.equal(Number(await page.locator(".rows-table").getAttribute("aria-rowcount")), evaluations[name].rows + 1);
        const csv = await downloaded(page);
        assert.equal(csv.length, evaluations[name].rows + 1);
        if (metric) {
          const place = csv[0].indexOf(kind === "number" ? "error" : "right");
          const values = csv.slice(1).map((cells) => (kind === "number" ? Number(cells[place]) : Number(cells[place] === "right")));
          const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
          const wanted = evaluations[name].metrics[metric];
          assert.ok(Math.abs(mean - wanted) < 1e-4 * Math.max(1, Math.abs(wanted)), `${mean} is not ${wanted}`);
        }
        await shoot(page, `rows-${name}`);
      });
    });

    for (const colorScheme of schemes) {
      test(`${name}, ${colorScheme}: everyone can read it, on phones too`, async () => {
        await visit(browser, pageOf(name), {viewport: wide, colorScheme}, async ({page}) => {
          await opened(page);
          await shoot(page, `rows-${name}-1440-${colorScheme}`);
          await isForEveryone(page, `${name} ${colorScheme}`);
          await shoot(page, `rows-${name}-320-${colorScheme}`);
        });
      });
    }

    test(`${name}: an explained row opens where the network looked, and the way back leads to it`, async () => {
      const {explained} = JSON.parse(readFileSync(path.join(work, `${name}.json`), "utf8"));
      await visit(browser, `${pageOf(name)}#example=${explained[0] + 1}`, {}, async ({page}) => {
        await page.locator(".rows-one .shell-stage > *").first().waitFor(patience);
        assert.match(await page.locator("h1:visible").textContent(), new RegExp(`^Row ${(explained[0] + 1).toLocaleString("en")} of`));
        await shoot(page, `rows-${name}-one`);
        await isForEveryone(page, `one row of ${name}`);
        await shoot(page, `rows-${name}-one-320`);
        await page.setViewportSize(desktop);
        await page.getByRole("button", {name: "‹ All rows"}).click();
        await opened(page);
        const focused = await page.evaluate(() => document.activeElement.getAttribute("aria-label"));
        assert.equal(focused, `Open row ${(explained[0] + 1).toLocaleString("en")}, with where the network looked`);
        await page.getByRole("button", {name: "With a picture"}).click();
        assert.equal(await shown(page), explained.length);
      });
    });
  }

  test("a cell of the confusion matrix shows the rows that it counts", async () => {
    await visit(browser, pageOf("orders"), {}, async ({page}) => {
      await opened(page);
      const cell = page.locator(".rows-matrix button:not(:disabled)").first();
      const counted = Number((await cell.textContent()).replaceAll(",", ""));
      await cell.click();
      assert.equal(await shown(page), counted);
      const csv = await downloaded(page);
      const [answer, truth] = ["answer", "truth"].map((column) => csv[0].indexOf(column));
      assert.equal(new Set(csv.slice(1).map((cells) => `${cells[answer]} ${cells[truth]}`)).size, 1);
      await page.getByRole("button", {name: "Show all rows"}).click();
      assert.equal(await shown(page), evaluations.orders.rows);
    });
  });

  test("with filters on, and where no row fits, everyone can read it", async () => {
    for (const colorScheme of schemes) {
      await visit(browser, pageOf("orders"), {viewport: wide, colorScheme}, async ({page}) => {
        await opened(page);
        await page.locator(".rows-matrix button:not(:disabled)").first().click();
        await page.getByRole("button", {name: "Most confident errors"}).click();
        await isForEveryone(page, `filters ${colorScheme}`);
        await shoot(page, `rows-filters-320-${colorScheme}`);
        await page.getByRole("searchbox").fill("nowhere to be found");
        await page.getByText(/No row fits/).waitFor(patience);
        await isAccessible(page, `no row ${colorScheme}`);
      });
    }
  });

  test("paper has the rows, without controls, in light colours", async () => {
    await visit(browser, pageOf("dates"), {viewport: wide, colorScheme: "dark"}, async ({page}) => {
      await opened(page);
      await onPaper(page, async () => {
        const rows = evaluations.dates.rows;
        assert.equal(await lines(page).count(), Math.min(200, rows));
        if (rows > 200) assert.ok(await page.getByText(`… and ${(rows - 200).toLocaleString("en")} more rows`).isVisible());
        assert.equal(await page.evaluate(() => getComputedStyle(document.body).backgroundColor), "rgb(255, 255, 255)");
        for (const name of ["Download CSV", "Most confident errors"]) assert.equal(await page.getByText(name, {exact: true}).isVisible(), false, name);
        await page.setViewportSize({width: 700, height: 1000});
        const {scrolls, cut} = await page.locator(".rows-scroll").evaluate((node) => ({scrolls: node.scrollWidth - node.clientWidth, cut: node.scrollHeight - node.clientHeight}));
        assert.ok(scrolls <= 1 && cut <= 1, `${scrolls} pixels beside, ${cut} below`);
        await shoot(page, "rows-paper");
        await page.setViewportSize(wide);
      });
      assert.ok((await lines(page).count()) < 80);
    });
  });

  test("a text of any length is folded with a sign", async () => {
    const long = "word ".repeat(300);
    const data = path.join(work, "long.csv");
    writeFileSync(data, ["text,label", ...Array.from({length: 60}, (_, i) => `${i % 2 ? "good" : "bad"} ${long},${i % 2 ? "good" : "bad"}`)].join("\n"));
    const run = path.join(work, "long");
    await fovea("train", "documents", data, "--set", "model.name=words", "--epochs", "1", "--out", run, "--quiet");
    await fovea("evaluate", run, data, "--out", `${run}.html`, "--explain", "1", "--quiet");
    await visit(browser, `${pageOf("long")}#example=1`, {}, async ({page}) => {
      const fact = page.locator(".rows-fact.folded");
      await fact.waitFor(patience);
      const before = await fact.boundingBox();
      await page.getByRole("button", {name: /^Show all 1,50\d characters/}).first().click();
      const after = await page.locator(".rows-fact", {hasText: "word word"}).boundingBox();
      assert.ok(after.height > before.height + 40, `${before.height}, then ${after.height}`);
    });
  });

  test("precision, recall and F1 are those of fovea evaluate", async () => {
    await visit(browser, pageOf("orders"), {}, async ({page}) => {
      await opened(page);
      for (const one of evaluations.orders.classes) {
        const line = page.locator(".rows-classes tbody tr").filter({has: page.getByText(one.class, {exact: true})}).first();
        const cells = (await line.locator("td").allTextContents()).map((text) => (text === "–" ? 0 : Number(text)));
        [one.precision, one.recall, one.f1, one.support].forEach((wanted, i) =>
          assert.ok(Math.abs(cells[i] - wanted) < 6e-4, `${one.class}: ${cells} is not ${JSON.stringify(one)}`));
      }
    });
  });

  test("slices and the calibration curve count every row once, and choose their rows", async () => {
    await visit(browser, pageOf("orders"), {}, async ({page}) => {
      await opened(page);
      for (const figure of ["slices", "calibration"]) {
        if (figure === "calibration") await page.locator(".rows-calibration details summary").click();
        const counts = (await page.locator(`.rows-${figure} tbody .rows-open`).allTextContents()).map((text) => Number(text.replaceAll(",", "")));
        assert.equal(counts.reduce((sum, n) => sum + n, 0), evaluations.orders.rows, figure);
      }
      await page.getByLabel("Slices by").selectOption({label: "plan"});
      const slice = page.locator(".rows-slices tbody tr").first();
      const counted = Number(await slice.locator(".rows-open").textContent());
      await slice.locator(".rows-open").click();
      assert.equal(await shown(page), counted);
      assert.match(await page.locator(".rows-chips").textContent(), /plan: /);
    });
  });

  test("without a mouse: sort, walk, open, come back", async () => {
    await visit(browser, pageOf("dates"), {}, async ({page}) => {
      await opened(page);
      const head = page.getByRole("columnheader", {name: "probability"});
      await head.getByRole("button").focus();
      await page.keyboard.press("Enter");
      assert.equal(await head.getAttribute("aria-sort"), "descending");
      const places = await lines(page).locator("td:nth-child(6)").allTextContents();
      const numbers = places.map(Number).filter((value) => !Number.isNaN(value));
      assert.deepEqual(numbers, [...numbers].sort((a, b) => b - a));
      await page.keyboard.press("Enter");
      assert.equal(await head.getAttribute("aria-sort"), "ascending");
      await lines(page).first().getByRole("button").focus();
      await page.keyboard.press("End");
      const last = await page.evaluate(() => Number(document.activeElement.closest("tr").getAttribute("aria-rowindex")));
      assert.equal(last, evaluations.dates.rows + 1);
      await page.keyboard.press("ArrowUp");
      const row = await page.evaluate(() => document.activeElement.textContent.replace("◉ ", ""));
      await page.keyboard.press("Enter");
      await page.getByRole("heading", {name: `Row ${row} of`}).waitFor(patience);
      await page.waitForFunction(() => location.hash.includes("example="));
      await page.goBack();
      await opened(page);
      assert.equal(await page.evaluate(() => document.activeElement.textContent.replace("◉ ", "")), row);
    });
  });

  test("the worst first: confident errors are wrong, and fall in probability", async () => {
    await visit(browser, pageOf("orders"), {}, async ({page}) => {
      await opened(page);
      await page.getByRole("button", {name: "Most confident errors"}).click();
      const csv = await downloaded(page);
      const [right, probability] = ["right", "probability"].map((column) => csv[0].indexOf(column));
      assert.ok(csv.slice(1).every((cells) => cells[right] === "wrong"));
      const sure = csv.slice(1).map((cells) => Number(cells[probability]));
      assert.deepEqual(sure, [...sure].sort((a, b) => b - a));
    });
  });

  test("what data of strangers hold is text, and CSV that no spreadsheet runs comes back as it was", async () => {
    const evil = ["=HYPERLINK(\"http://x\")", "'=1+1", "<img src=x onerror=\"document.title='broken'\">", "a \"quoted\", cell", "-5 apples", "</script><script>document.title='broken'</script>"];
    const table = ["note,size,kind", ...Array.from({length: 240}, (_, i) =>
      `"${evil[i % evil.length].replaceAll('"', '""')}",${i % 7},${i % 2 ? "=yes" : "<b>no</b>"}`)].join("\n");
    const data = path.join(work, "evil.csv");
    writeFileSync(data, `${table}\n`);
    const run = path.join(work, "evil");
    await fovea("train", "features", data, "--target", "kind", "--epochs", "1", "--out", run, "--quiet");
    await fovea("evaluate", run, data, "--out", `${run}.html`, "--explain", "1", "--quiet");
    await visit(browser, pageOf("evil"), {}, async ({page}) => {
      await opened(page);
      assert.equal(await page.locator("main img").count(), 0);
      assert.notEqual(await page.title(), "broken");
      const [download] = await Promise.all([
        page.waitForEvent("download"), page.getByRole("button", {name: "Download CSV"}).click(),
      ]);
      const csv = cellsOf(await readFile(await download.path(), "utf8"));
      const place = csv[0].indexOf("note");
      const notes = csv.slice(1).map((cells) => cells[place]);
      assert.ok(notes.every((text) => !/^[=+\-@\t\r]/.test(text)));
      const back = await page.evaluate(async (cells) => {
        const {plainCell} = await import("fovea/rows/csv.js");
        return cells.map(plainCell);
      }, notes);
      assert.deepEqual(back, Array.from({length: 240}, (_, i) => evil[i % evil.length]));
    });
  });

  test("tasks without right and wrong are refused by name; so is a file of another kind", async () => {
    const refused = (...words) => fovea(...words).then(() => assert.fail("accepted"), ({stderr}) => stderr);
    const forecast = path.join(runFolder, "forecast");
    assert.match(await refused("evaluate", forecast, "--out", path.join(work, "x.html")), /not right or wrong row by row/);
    assert.match(await refused("evaluate", path.join(runFolder, "orders"), "--out", path.join(work, "x.pdf")), /\.html or \.json/);
  });

  test("ten thousand rows open, filter and sort quickly", async () => {
    const rows = 10_000;
    const words = "a quiet story of people who never meet and yet talk with each other for years without end".split(" ");
    const text = (i) => Array.from({length: 8 + (i % 24)}, (_, w) => words[(i * 7 + w * w) % words.length]).join(" ");
    const data = path.join(work, "many.csv");
    const line = (i) => `${text(i)} ${i % 3 ? "good" : "bad"},${i % 3 ? "good" : "bad"}`;
    writeFileSync(data, ["text,label", ...Array.from({length: rows}, (_, i) => line(i))].join("\n"));
    const run = path.join(work, "many");
    const small = path.join(work, "few.csv");
    writeFileSync(small, ["text,label", ...Array.from({length: 400}, (_, i) => line(i))].join("\n"));
    await fovea("train", "documents", small, "--set", "model.name=words", "--epochs", "1", "--out", run, "--quiet");
    await fovea("evaluate", run, data, "--out", `${run}.html`, "--explain", "0", "--quiet");
    console.log(`10,000 rows: ${(statSync(`${run}.html`).size / 1e6).toFixed(2)} MB`);
    await visit(browser, pageOf("many"), {}, async ({page}) => {
      console.log(`10,000 rows, on the clock: ${JSON.stringify(await speedOf(page))}`);
      const works = [];
      while (works.length < timesMeasured) works.push(await workOf(page));
      const median = (name) => works.map((work) => work[name]).toSorted((a, b) => a - b)[Math.floor(timesMeasured / 2)];
      const [open, search, filter] = ["open", "search", "filter"].map(median);
      console.log(`10,000 rows, processor time: ${JSON.stringify({open, search, filter})}`);
      assert.ok(open > 10 && open < longestOpening, `opened in ${open} ms`);
      assert.ok(filter < longestFilter && search < longestFilter, JSON.stringify(works));
      assert.ok((await lines(page).count()) < 80, "only the rows in sight are in the document");
    });
  });
});

describe("a dropped file of rows", {skip: withoutRuns}, () => {
  const served = new Served();
  const rows = Array.from({length: 130}, (_, i) => {
    const own = [`"$${1 + (i % 4)},${100 + ((i * 37) % 900)}"`, `${(i * 7) % 30} %`, i % 3 ? "Basic" : "Pro", i % 5 ? 20 + i % 50 : ""];
    return [...own, i % 4 > 1 ? 1 : 0].join(",");
  });
  const file = {name: "later.csv", mimeType: "text/csv", buffer: Buffer.from(["price,discount,plan,age,late", ...rows].join("\n"))};
  const drop = async (page, given = file) => {
    await pane(page).locator(".prediction").waitFor(patience);  // the form is there
    await pane(page).locator('input[type="file"]').first().setInputFiles(given);
  };
  before(() => served.start());
  after(() => served.stop());

  test("all rows are answered, judged by a column of the file, and open in the pane", async () => {
    await served.open("#model=orders", {}, async ({page}) => {
      await drop(page);
      await pane(page).getByRole("button", {name: "Answer all 130"}).waitFor(patience);
      assert.equal(await pane(page).getByLabel("Column that says what is right").inputValue(), "4");
      await pane(page).getByRole("button", {name: "Answer all 130"}).click();
      await opened(page);
      assert.equal(await shown(page), 130);
      const csv = await downloaded(page);
      const inputs = rows.slice(0, 100).map((line) => {
        const [[price, discount, plan, age]] = cellsOf(`${line}\n`);
        return {price, discount, plan, age: age === "" ? null : age};
      });
      const {predictions} = await served.post("predict", {model: "orders", inputs});
      const [answer, right] = ["answer", "right"].map((column) => csv[0].indexOf(column));
      predictions.forEach((one, i) => {
        assert.equal(csv[i + 1][answer], String(one.class));
        assert.equal(csv[i + 1][right], one.class === cellsOf(`${rows[i]}\n`)[0][4] ? "right" : "wrong");
      });
      await page.locator(".rows-matrix").waitFor();
      await shoot(page, "rows-served");
      for (const row of [2, 0, 1, 3]) {
        await lines(page).nth(row).getByRole("button").press("Enter");
        await sees(page, await served.answer("orders", inputs[row]));
        const word = csv[row + 1][right] === "right" ? "Right. " : "Wrong. ";
        await page.waitForFunction((wanted) => document.querySelector(".answer-truth strong")?.textContent === wanted, word, patience);
      }
      await shoot(page, "rows-opened");
      assert.doesNotMatch(decodeURIComponent(await page.evaluate(() => location.hash)), /truth/);
      await pane(page).getByRole("button", {name: "Next input"}).click();
      await pane(page).getByText("The right answer is not known here.").waitFor(patience);
    });
  });

  test("an input that the server refuses is marked, the others are answered", async () => {
    await served.open("#model=dates&input=9+May+2018", {expected: [/422/]}, async ({page}) => {
      const texts = Array.from({length: 70}, (_, i) => (i === 33 ? "9".repeat(6000) : `${1 + (i % 28)} May 20${10 + (i % 10)}`));
      await drop(page, {name: "days.txt", mimeType: "text/plain", buffer: Buffer.from(texts.join("\n"))});
      await pane(page).getByRole("button", {name: "Answer all 70"}).click();
      await opened(page);
      const csv = await downloaded(page);
      const problem = csv[0].indexOf("problem");
      assert.deepEqual(csv.slice(1).flatMap((cells, row) => (cells[problem] ? [row] : [])), [33]);
    });
  });

  test("it can be cancelled", async () => {
    await served.open("#model=orders", {}, async ({page}) => {
      await drop(page);
      await page.route("**/v1/predict", () => {});  // never answers
      await pane(page).getByRole("button", {name: "Answer all 130"}).click();
      await pane(page).getByRole("button", {name: "Cancel"}).click();
      await pane(page).getByText("Cancelled.").waitFor(patience);
      assert.equal(await page.locator(".rows-table").count(), 0);
    });
  });
});
