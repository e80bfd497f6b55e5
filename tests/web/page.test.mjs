// The server's page on real runs: pick, type, see, compare, link, take away; with the keyboard alone and on a
// phone.

import assert from "node:assert/strict";
import {readFile} from "node:fs/promises";
import path from "node:path";
import {after, before, describe, test} from "node:test";
import {Served, input, pane, patience, runFolder, runs, sees, withoutRuns} from "./served.mjs";
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
        const drawn = await pane(page).locator(".shell-stage").locator("canvas, svg").count();
        assert.ok(drawn > 0, "a canvas or an SVG");
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
      page.on("request", (request) => (asked += request.url().endsWith("/v1/explain")));
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
      await page.getByRole("combobox", {name: "Model"}).nth(1).selectOption("translate");
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
      await page.getByRole("radio", {name: /^features/}).check({force: true});
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
      await page.keyboard.press("ArrowDown");
      await page.waitForFunction(() => !/model=dates(&|$)/.test(location.hash));
      await page.keyboard.press("ArrowUp");
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
      await page.getByText("Paste a row").click();
      await page
        .getByRole("textbox", {name: "A row as cells or JSON"})
        .fill(JSON.stringify({...example, [name]: -0.5}));
      await sees(page, await served.answer("features", {...example, [name]: -0.5}));
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

  test("faithfulness is measured and the report downloaded", async () => {
    await served.open("#model=dates&input=9+May+2018", {}, async ({page}) => {
      await sees(page, await served.answer("dates", "9 May 2018"));
      await page.getByRole("button", {name: "Measure faithfulness"}).click();
      await page.getByRole("region", {name: "Should I believe it?"}).waitFor({timeout: 120_000});
      const downloading = page.waitForEvent("download", patience);
      await page.getByRole("button", {name: "Download report"}).click();
      const download = await downloading;
      assert.equal(download.suggestedFilename(), "dates.html");
      assert.match(await readFile(await download.path(), "utf8"), /^<!doctype html>/i);
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
