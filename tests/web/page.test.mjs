// The server's page on real runs: pick, type, see, compare, link, take away; with the keyboard alone and on a
// phone.

import assert from "node:assert/strict";
import {readFile} from "node:fs/promises";
import path from "node:path";
import {after, before, describe, test} from "node:test";
import {Served, choose, input, pane, patience, runFolder, runs, sees, withoutRuns} from "./served.mjs";
import {fovea, phone, shoot} from "./support.mjs";

/** A tone as a WAV file with two channels. */
function tone(rate, seconds) {
  const wav = Buffer.alloc(44 + 4 * rate * seconds);
  wav.write("RIFF", 0);
  wav.writeUInt32LE(wav.length - 8, 4);
  wav.write("WAVEfmt ", 8);
  [16, 0x20001, rate, 4 * rate, 0x100004].forEach((word, i) => wav.writeUInt32LE(word, 16 + 4 * i));
  wav.write("data", 36);
  wav.writeUInt32LE(wav.length - 44, 40);
  for (let at = 44; at < wav.length; at += 2) wav.writeInt16LE(Math.round(8000 * Math.sin(at / 40)), at);
  return wav;
}

/** Whether a request only asks whether the picture shows what the model used: the page does so by itself. */
const isMeasure = (request) => request.postDataJSON()?.faithfulness === true;

describe("page", {skip: withoutRuns}, () => {
  const served = new Served();
  before(() => served.start());
  after(() => served.stop());

  for (const run of runs) {
    test(`${run}: what is served is what the program predicts`, async () => {
      for (const example of served.models[run].examples.slice(0, 2)) {
        const {predictions} = await served.post("predict", {model: run, input: example});
        const typed = typeof example === "string" ? example : JSON.stringify(example);
        const printed = JSON.parse(await fovea("predict", path.join(runFolder, run), typed, "--json"));
        assert.deepEqual(predictions, printed);
      }
    });

    test(`${run}: the page shows answer and attention`, async () => {
      await served.open(`#model=${run}`, {}, async ({page}) => {
        await sees(page, await served.answer(run, served.models[run].examples[0]));
        const drawn = await pane(page).locator(".shell-stage").locator("canvas, svg, .review").count();
        assert.ok(drawn > 0, "a canvas, an SVG or reviews");
        await shoot(page, `page-${run}`);
      });
    });
  }

  test("an edit changes answer and picture, and the earlier picture stays until then", async () => {
    await served.open("#model=dates&input=9+May+2018", {}, async ({page}) => {
      const earlier = await served.answer("dates", "9 May 2018");
      const later = await served.answer("dates", "12 May 2018");
      await sees(page, earlier);
      await page.route("**/v1/explain", async (route) => {
        if (isMeasure(route.request())) return route.continue();
        await new Promise((resolve) => setTimeout(resolve, 500));
        await route.continue();
      });
      await input(page).fill("12 May 2018");
      await pane(page).locator(".answer-picture[aria-busy=true]").waitFor(patience);
      assert.equal(await pane(page).locator(".prediction").textContent(), earlier);
      await sees(page, later);
      assert.match(await page.locator("body > [aria-live]").textContent(), new RegExp(later));
    });
  });

  test("only the last of many quick edits is asked for", async () => {
    await served.open("#model=dates&input=9+May+2018", {}, async ({page}) => {
      await sees(page, await served.answer("dates", "9 May 2018"));
      let asked = 0;
      page.on("request", (request) => {
        asked += request.url().endsWith("/v1/explain") && !isMeasure(request);
      });
      await input(page).fill("");
      await input(page).pressSequentially("3 June 2011", {delay: 10});
      await sees(page, await served.answer("dates", "3 June 2011"));
      assert.ok(asked <= 2, `${asked} requests`);
    });
  });

  test("two inputs and two models side by side", async () => {
    await served.open("#model=dates&input=9+May+2018", {}, async ({page}) => {
      await page.getByRole("button", {name: "Compare"}).click();
      await input(page, 1).fill("12 May 2018");
      const [first, second] = await Promise.all(
        ["9 May 2018", "12 May 2018"].map((text) => served.answer("dates", text)),
      );
      await sees(page, second, 1);
      const difference =
        first === second ? `Same answer: ${first}` : `Answers differ: ${first} and ${second}`;
      assert.equal(await page.locator(".difference").textContent(), difference);
      await page.getByRole("button", {name: "Same input"}).click();
      await sees(page, first, 1);
      assert.match(await page.locator(".difference").textContent(), /^Same answer: /);
      await input(page).fill("12 May 2018");
      await sees(page, second, 1);
      await shoot(page, "page-compare");
      await choose(page, "translate", 1);
      await sees(page, await served.answer("translate", "12 May 2018"), 1);
      await page.getByRole("button", {name: "Compare"}).click();
      assert.equal(await page.locator(".pane").count(), 1);
    });
  });

  test("a copied link brings everything back", async () => {
    const permissions = ["clipboard-read", "clipboard-write"];
    const translated = await served.answer("translate", "A dog runs.");
    const dated = await served.answer("dates", "4 July 1999");
    const begin = "#model=dates&input=9+May+2018&b.model=translate&b.input=A+dog+runs.";
    let link;
    await served.open(begin, {permissions}, async ({page}) => {
      await sees(page, translated, 1);
      await pane(page).getByRole("tab", {name: "Links"}).click();
      await input(page).fill("4 July 1999");
      await sees(page, dated);
      await page.getByRole("button", {name: "Copy link"}).click();
      link = await page.evaluate(() => navigator.clipboard.readText());
    });
    await served.open(link, {}, async ({page}) => {
      await sees(page, dated);
      await sees(page, translated, 1);
      assert.equal(await input(page).inputValue(), "4 July 1999");
      assert.equal(await pane(page).getByRole("tab", {selected: true}).last().textContent(), "Links");
    });
  });

  test("the back button goes to the model before", async () => {
    await served.open("#model=dates&input=9+May+2018", {}, async ({page}) => {
      await sees(page, await served.answer("dates", "9 May 2018"));
      await choose(page, "features");
      await sees(page, await served.answer("features", served.models.features.examples[0]));
      await page.waitForFunction(() => location.hash.includes("model=features"));
      await page.goBack();
      await sees(page, await served.answer("dates", "9 May 2018"));
    });
  });

  test("without a mouse", async () => {
    await served.open("#model=dates&input=9+May+2018", {}, async ({page}) => {
      await sees(page, await served.answer("dates", "9 May 2018"));
      await page.keyboard.press("Tab");
      assert.equal(await page.evaluate(() => document.activeElement.textContent), "Skip to the answer");
      await page.keyboard.press("Enter");
      assert.ok(await page.evaluate(() => document.activeElement.matches(".pane-answer")));
      await page.keyboard.press("?");
      await page.locator("dialog[open]").waitFor();
      await page.keyboard.press("Escape");
      await page.keyboard.press("m");
      await page.locator(".combobox-popup:popover-open").waitFor();
      await page.keyboard.press("ArrowDown");
      await page.keyboard.press("Enter");
      await page.waitForFunction(() => !/model=dates(&|$)/.test(location.hash));
      await page.keyboard.press("ArrowUp");
      await page.keyboard.press("ArrowUp");
      await page.keyboard.press("Enter");
      await page.waitForFunction(() => /model=dates(&|$)/.test(location.hash));
      await page.keyboard.press("Escape");
      await page.keyboard.press("i");
      await page.keyboard.press("Control+A");
      await page.keyboard.type("4 July 1999");
      await sees(page, await served.answer("dates", "4 July 1999"));
      await page.keyboard.press("Escape");
      await page.keyboard.press("c");
      await page.locator(".pane").nth(1).waitFor();
      await page.keyboard.press("c");
      assert.equal(await page.locator(".pane").count(), 1);
    });
  });

  test("a row is edited, pasted and read from a file", async () => {
    await served.open("#model=features", {}, async ({page}) => {
      const [name] = Object.keys(served.models.features.input_schema.properties);
      const example = served.models.features.examples[0];
      await sees(page, await served.answer("features", example));
      await page.getByRole("textbox", {name, exact: true}).fill("0.25");
      await sees(page, await served.answer("features", {...example, [name]: 0.25}));
      await page.getByRole("button", {name: "JSON"}).click();
      await page.getByLabel("The input as JSON").fill(JSON.stringify({...example, [name]: -0.5}));
      await sees(page, await served.answer("features", {...example, [name]: -0.5}));
      await page.getByRole("button", {name: "JSON"}).click();
      assert.equal(await page.getByRole("textbox", {name, exact: true}).inputValue(), "-0.5");
      const columns = Object.keys(example);
      const lines = [0.125, 0.375].map((value) => Object.values({...example, [name]: value}).join(","));
      const buffer = Buffer.from([columns.join(","), ...lines].join("\n"));
      await page.locator("input[type=file]").setInputFiles({name: "rows.csv", mimeType: "text/csv", buffer});
      await sees(page, await served.answer("features", {...example, [name]: 0.125}));
      await page.getByRole("button", {name: "Next input"}).click();
      await sees(page, await served.answer("features", {...example, [name]: 0.375}));
      await shoot(page, "page-rows");
    });
  });

  test("a dropped picture is explained, and what is none is refused", async () => {
    await served.open("#model=caption", {}, async ({page}) => {
      const [example] = served.models.caption.examples;
      await sees(page, await served.answer("caption", example));
      assert.ok((await pane(page).locator(".input-thumbnail").count()) > 1, "examples are pictures");
      // Too large for the server and of a kind that it does not read: the page makes another of it.
      await page.evaluate(async () => {
        const canvas = Object.assign(document.createElement("canvas"), {width: 3000, height: 2000});
        const noise = new ImageData(300, 200).data.map((_, place) => (place * 7919) % 251);
        canvas.getContext("2d").putImageData(new ImageData(noise, 300, 200), 900, 900);
        const blob = await new Promise((resolve) => canvas.toBlob(resolve, "image/webp"));
        const dataTransfer = new DataTransfer();
        dataTransfer.items.add(new File([blob], "a photo.webp", {type: "image/webp"}));
        const drop = new DragEvent("drop", {dataTransfer, bubbles: true, cancelable: true});
        document.querySelector(".pane").dispatchEvent(drop);
      });
      await pane(page).locator('.input-picture[alt="a photo.webp"]').waitFor(patience);
      await pane(page).locator(".answer-picture[aria-busy=false]").waitFor(patience);
      await pane(page).locator(".picture-canvas").waitFor(patience);
      await shoot(page, "page-picture");
      const text = {name: "text.png", mimeType: "image/png", buffer: Buffer.from("no picture")};
      await page.locator("input[type=file]").setInputFiles(text);
      await pane(page).getByText("text.png is no picture that can be read.").waitFor(patience);
    });
  });

  test("an opened sound is made a small WAV file and explained, and what is none is refused", async () => {
    await served.open("#model=speech", {}, async ({page}) => {
      const [example] = served.models.speech.examples;
      await sees(page, await served.answer("speech", example));
      const named = await pane(page).locator(".example").first().textContent();
      assert.match(named, /^(do|re|mi|fa|sol|la|ti)( |$)/, "examples are called by what is said");
      const open = (name, buffer) =>
        page.locator("input[type=file]").setInputFiles({name, mimeType: "audio/vnd.wave", buffer});
      await open("a tone.wav", tone(48_000, 2));
      await pane(page).locator('.input-sound[aria-label="a tone.wav"]').waitFor(patience);
      await pane(page).locator(".answer-picture[aria-busy=false]").waitFor(patience);
      const sent = await pane(page).locator(".input-sound").getAttribute("src");
      assert.ok(sent.length < (2 * 2 * 16_000 * 4) / 3 + 200, "one channel of 16,000 samples a second");
      await shoot(page, "page-sound");
      await open("text.wav", Buffer.from("no sound"));
      await pane(page).getByText("text.wav is no sound that can be read.").waitFor(patience);
      await open("long.wav", tone(16_000, 20));
      await pane(page).getByText("long.wav is too long; the page sends up to 18 seconds.").waitFor(patience);
    });
  });

  test("a label is never read as markup", async () => {
    const hostile = "<img src=x onerror=\"document.title='hurt'\">\u202e9 May";
    await served.open(`#model=dates&input=${encodeURIComponent(hostile)}`, {}, async ({page}) => {
      await sees(page, await served.answer("dates", hostile));
      assert.equal(await page.locator("img[src=x]").count(), 0);
      assert.notEqual(await page.title(), "hurt");
    });
  });

  /** Waits until the verdict of the map on screen is there; presses where it is not measured by itself. */
  async function judged(page) {
    const verdict = page.getByRole("group", {name: "Does this picture show what the model used?"});
    const measure = verdict.getByRole("button", {name: "Measure it"});
    const answer = verdict.getByText(/^(Yes|In part|No|Cannot be told)\.$/);
    await answer.or(measure).first().waitFor({timeout: 60_000});
    if (await measure.isVisible()) await measure.click();
    await answer.waitFor({timeout: 120_000});
    return verdict;
  }

  test("whether the picture shows what the model used is measured, and the report downloaded", async () => {
    await served.open("#model=dates&input=9+May+2018", {}, async ({page}) => {
      await sees(page, await served.answer("dates", "9 May 2018"));
      const verdict = await judged(page);
      assert.match(await verdict.innerText(), /How this was measured/);
      await shoot(page, "page-judged");
      const downloading = page.waitForEvent("download", patience);
      await page.getByRole("button", {name: "Download report"}).click();
      const download = await downloading;
      assert.equal(download.suggestedFilename(), "dates.html");
      const report = await readFile(await download.path(), "utf8");
      assert.match(report, /^<!doctype html>/i);
      assert.match(report, /"faithfulness":/, "what was measured is in the report");
    });
  });

  test("what is quick is measured by itself, and a new answer never has the verdict of the one before", async () => {
    await served.open("#model=orders", {}, async ({page}) => {
      const [example] = served.models.orders.examples;
      await sees(page, await served.answer("orders", example));
      const verdict = await judged(page);
      const asked = [];
      await page.route("**/v1/explain", (route) => {
        asked.push(route.request());
        return isMeasure(route.request()) ? undefined : route.continue(); // the measure is never answered
      });
      await page.locator(".example").nth(1).click();
      await page.waitForFunction(() => document.querySelector(".faith")?.dataset.state === "measuring", null, patience);
      assert.doesNotMatch(await verdict.innerText(), /Yes|No\.|In part/);
      await verdict.getByRole("button", {name: "Measure it"}).waitFor(patience);
      assert.match(await verdict.innerText(), /Takes more than a second here\./);
      assert.ok(asked.some(isMeasure), "it was asked for without a press");
      await verdict.getByRole("button", {name: "Measure it"}).click();
      await verdict.getByText("1 s", {exact: true}).waitFor(patience);
      await verdict.getByRole("button", {name: "Cancel"}).click();
      await verdict.getByText("Cancelled.").waitFor(patience);
    });
  });

  test("the right answer of an example is known, that of another input is not", async () => {
    await served.open("#model=orders", {}, async ({page}) => {
      const [example] = served.models.orders.examples;
      const explained = await served.post("explain", {model: "orders", input: example});
      assert.equal(typeof explained.prediction.truth.right, "boolean");
      await sees(page, explained.prediction.text);
      const word = explained.prediction.truth.right ? "Right." : "Wrong.";
      await pane(page).locator(".answer-truth").getByText(word).waitFor(patience);
      const card = pane(page).getByRole("group", {name: "The model", exact: true});
      assert.match(await card.innerText(), /orders\.csv .* training rows/);
      await shoot(page, "page-truth");
      const other = {...example, price: "$9,999"};
      const unknown = await served.post("explain", {model: "orders", input: other});
      assert.equal(unknown.prediction.truth, undefined);
      const told = await served.post("explain", {model: "orders", input: other, truth: "1"});
      assert.equal(told.prediction.truth.text, "1");
    });
  });

  test("who knows the right answer says it, and an edit makes it unknown again", async () => {
    const [example] = served.models.orders.examples;
    const other = {...example, price: "$9,999"};
    const {prediction} = await served.post("explain", {model: "orders", input: other});
    await served.open(`#model=orders&input=${encodeURIComponent(JSON.stringify(other))}`, {}, async ({page}) => {
      const block = pane(page).locator(".answer-block");
      const field = block.getByLabel("Right answer");
      const tell = async (text, word) => {
        await field.fill(text);
        await field.press("Enter");
        await block.locator(".answer-truth strong").getByText(word).waitFor(patience);
      };
      const unknown = block.getByText("The right answer is not known here.");
      await unknown.waitFor(patience);
      await tell(prediction.answer.class, "Right.");
      assert.ok(await field.evaluate((node) => node === document.activeElement), "the field keeps the focus");
      await tell(prediction.answer.class === "1" ? "0" : "1", "Wrong.");
      await shoot(page, "page-told");
      const hostile = "<img src=x onerror=\"document.title='hurt'\">\u202e";
      await tell(hostile, "Wrong.");
      await block.getByText("<img src=x").first().waitFor(patience);
      assert.equal(await page.locator("img[src=x]").count(), 0);
      assert.notEqual(await page.title(), "hurt");
      assert.doesNotMatch(decodeURIComponent(await page.evaluate(() => location.hash)), /truth|img/);
      const asked = () => page.waitForRequest((request) => request.url().endsWith("/v1/explain") && !isMeasure(request), patience);
      const [edited] = await Promise.all([asked(), pane(page).getByRole("textbox", {name: "price", exact: true}).fill("$9,998")]);
      assert.equal(edited.postDataJSON().truth, undefined);
      await unknown.waitFor(patience);
      assert.equal(await field.inputValue(), "");
      await tell("1", /Right|Wrong/);
      await pane(page).locator(".example").first().click();
      await page.waitForFunction(() => document.querySelector(".answer-block form") === null, null, patience);
      await pane(page).getByRole("textbox", {name: "price", exact: true}).fill("$9,997");
      await tell("1", /Right|Wrong/);
      const [next] = await Promise.all([asked(), choose(page, "features")]);
      assert.equal(next.postDataJSON().truth, undefined);
    });
  });

  test("the right answer holds for both panes of one input, and of an answer without maps", async () => {
    await served.open("#model=dates&input=9+May+2018&b.model=dates&same=1", {}, async ({page}) => {
      const answer = await served.answer("dates", "9 May 2018");
      await sees(page, answer, 1);
      const field = pane(page, 1).getByLabel("Right answer");
      await field.fill(answer);
      await field.press("Enter");
      for (const place of [0, 1]) await pane(page, place).getByText("Right.").waitFor(patience);
      const judged = await page.evaluate(async (hostile) => {
        const {withoutMaps} = await import("fovea/page/answer.js");
        const of = (given, truth) => withoutMaps({task: "t", title: ""}, "input", given, truth).prediction.truth;
        return [of({value: 3}, "2.5"), of({class: "a", scores: {a: 1}}, "a"), of({class: "a", scores: {a: 1}}, hostile), of({value: 3}, "many"), of({value: 3}, "")];
      }, "<b>");
      assert.deepEqual(judged, [
        {text: "2.5", remark: "the answer is 0.5 too high"}, {text: "a", right: true}, {text: "<b>", right: false}, undefined, undefined,
      ]);
    });
  });

  for (const colorScheme of ["light", "dark"]) {
    test(`on a phone, ${colorScheme}`, async () => {
      const options = {viewport: phone, colorScheme, hasTouch: true};
      await served.open("#model=dates&b.model=features", options, async ({page}) => {
        await sees(page, await served.answer("dates", served.models.dates.examples[0]));
        await sees(page, await served.answer("features", served.models.features.examples[0]), 1);
        const [wide, window] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
        assert.ok(wide <= window, `the page is ${wide} wide in a window of ${window}`);
        await shoot(page, `page-phone-${colorScheme}`);
      });
    });
  }
});
