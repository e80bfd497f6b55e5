// The form of each kind of input, on real runs: what is edited there is what the server is asked, JSON is one press
// away, every field has a name, and nothing that is typed becomes markup.

import assert from "node:assert/strict";
import {after, before, describe, test} from "node:test";
import {Served, choose, pane, patience, runs, sees, withoutRuns} from "./served.mjs";
import {phone, shoot} from "./support.mjs";

const hostile = "<img src=x onerror=\"document.title='hurt'\">\u202e</script>";

const problem = (page) => pane(page).locator(".pane-prompt > .problem");
const json = (page) => pane(page).getByRole("button", {name: "JSON"});

/** The input that the form holds, as the page itself writes it. */
async function inputOf(page) {
  await json(page).click();
  const text = await pane(page).getByLabel("The input as JSON").inputValue();
  await json(page).click();
  return JSON.parse(text);
}

/** A model whose every text is hostile, but for those that say what it takes. */
function poisoned(model) {
  const kept = ["type", "contentMediaType", "contentEncoding", "required"];
  const poison = (value, key) => {
    if (typeof value === "string") return kept.includes(key) || value.startsWith("data:") ? value : `${hostile}${value}`;
    if (Array.isArray(value)) return value.map((one) => poison(one, key));
    if (value === null || typeof value !== "object") return value;
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, poison(one, name)]));
  };
  const isTable = model.task === "features" || model.task === "context";
  const renamed = (object) => Object.fromEntries(Object.entries(object).map(([name, one]) => [`${hostile}${name}`, one]));
  const {title, input_schema: schema, examples, metric} = poison(model);
  const own = isTable ? {...schema, properties: renamed(schema.properties), required: []} : schema;
  return {...model, title, metric, note: hostile, input_schema: own, examples: isTable ? examples.map(renamed) : examples};
}

/** What is asked next when `act` changes something. */
async function asked(page, act) {
  // Whether the picture shows what the model used may be asked too, of the answer before.
  const isAnswer = (request) => /\/v1\/(explain|predict)$/.test(request.url()) && !request.postDataJSON().faithfulness;
  const asking = page.waitForRequest(isAnswer, patience);
  await act();
  return (await asking).postDataJSON().input;
}

describe("forms", {skip: withoutRuns}, () => {
  const served = new Served();
  before(() => served.start());
  after(() => served.stop());

  for (const run of runs) {
    test(`${run}: every control has a name and can be reached, and examples tell what they are`, async () => {
      await served.open(`#model=${run}`, {}, async ({page}) => {
        await pane(page).locator(".prediction").waitFor(patience);
        const nameless = await pane(page).evaluate((node) => {
          const fields = node.querySelectorAll(".pane-ask :is(input, textarea, select, button, canvas, [tabindex])");
          const nameOf = (field) => field.ariaLabel || field.labels?.[0]?.textContent.trim() || (field.matches("button") && (field.textContent.trim() || field.querySelector("img")?.alt));
          return Array.from(fields).filter((field) => !nameOf(field)).map((field) => field.outerHTML);
        });
        assert.deepEqual(nameless, []);
        const unreachable = await pane(page).locator(".pane-ask [tabindex='-1']").count();
        assert.equal(unreachable, 0);
        const examples = await pane(page).locator(".example").evaluateAll((nodes) => nodes.map((node) => node.textContent.trim() || node.querySelector("img")?.alt));
        assert.ok(examples.length > 0);
        for (const text of examples) assert.doesNotMatch(text, /^example|^\{|^$/i);
        await shoot(page, `form-${run}`);
      });
    });

    test(`${run}: on a phone the input stands on the first screen, nothing scrolls sideways`, async () => {
      await served.open(`#model=${run}`, {viewport: {...phone, width: 390}, hasTouch: true}, async ({page}) => {
        await pane(page).locator(".prediction").waitFor(patience);
        const top = await pane(page).locator(".editor").evaluate((node) => node.getBoundingClientRect().top);
        assert.ok(top < 400, `the input begins at ${top}`);
        const wide = await page.evaluate(() => document.querySelector(".pane-ask").scrollWidth - document.querySelector(".pane-ask").clientWidth);
        assert.ok(wide <= 0, `${wide} pixels too wide`);
      });
    });
  }

  test("visits: codes are found by search, visits added and removed", async () => {
    await served.open("#model=visits", {}, async ({page}) => {
      const [example] = served.models.visits.examples;
      await sees(page, await served.answer("visits", example));
      const known = served.models.visits.input_schema.properties.visits.items.properties.codes.known;
      const code = known.names.find((name) => !example.visits[0].codes.includes(name));
      const first = pane(page).getByRole("listitem", {name: "Visit 1", exact: true});
      const more = await asked(page, async () => {
        await first.getByRole("combobox").fill(code.toUpperCase());
        await page.getByRole("option", {name: code, exact: true}).click();
      });
      assert.deepEqual(more.visits[0].codes, [...example.visits[0].codes, code]);
      const fewer = await asked(page, () => first.getByRole("button", {name: `Remove ${code}`}).click());
      assert.deepEqual(fewer, example);
      const shorter = await asked(page, () => pane(page).getByRole("button", {name: "Remove visit 1"}).click());
      assert.deepEqual(shorter.visits, example.visits.slice(1));
      await pane(page).getByRole("button", {name: "Add a visit"}).click();
      const last = shorter.visits.length + 1;
      const time = pane(page).getByRole("textbox", {name: `Time of visit ${last}`});
      await time.fill("9999");
      await asked(page, async () => {
        await pane(page).getByRole("listitem", {name: `Visit ${last}`}).getByRole("combobox").fill(hostile);
        await page.keyboard.press("Enter");
      });
      assert.deepEqual((await inputOf(page)).visits.at(-1), {time: 9999, codes: [hostile]});
      await time.fill("");
      await problem(page).getByText(/visits have a time/).waitFor(patience);
      assert.notEqual(await page.title(), "hurt");
      assert.equal(await page.locator("img[src=x]").count(), 0);
    });
  });

  test("a series is drawn, typed, pasted, and changed with the keyboard", async () => {
    await served.open("#model=forecast", {}, async ({page}) => {
      const [example] = served.models.forecast.examples;
      const [name] = Object.keys(example);
      await sees(page, await served.answer("forecast", example));
      const chart = pane(page).getByRole("slider", {name: /drawn/});
      const {x, y, width, height} = await chart.boundingBox();
      await asked(page, async () => {
        await page.mouse.move(x + width * 0.25, y + height * 0.1);
        await page.mouse.down();
        await page.mouse.move(x + width * 0.75, y + height * 0.1, {steps: 5});
        await page.mouse.up();
      });
      const drawn = await inputOf(page);
      const middle = drawn[name].slice(Math.floor(drawn[name].length * 0.3), Math.floor(drawn[name].length * 0.7));
      assert.equal(new Set(middle).size, 1, "a level stroke is a level line");
      assert.ok(middle[0] > Math.max(...drawn[name].slice(0, 5)), `${middle[0]} is high`);
      await chart.focus();
      await page.keyboard.press("Home");
      const before = drawn[name][0];
      const raised = await asked(page, () => page.keyboard.press("ArrowUp"));
      assert.ok(raised[name][0] > before);
      const numbers = pane(page).getByLabel("Its numbers, the oldest first");
      await numbers.fill("1, 2, many");
      await problem(page).getByText(`${name}: “many” is not a number.`).waitFor(patience);
      await numbers.fill("1, 2, 3");
      await problem(page).getByText(/3 of at least/).waitFor(patience);
      const values = example[name].map((value, step) => step);
      const pasted = await asked(page, () => numbers.fill(`time,${name}\n${values.map((value) => `day ${value},${value}`).join("\n")}`));
      assert.deepEqual(pasted[name], values);
      const buffer = Buffer.from(`${name}\n${values.map((value) => value * 2).join("\n")}`);
      const opened = await asked(page, () => page.locator("input[type=file]").setInputFiles({name: "series.csv", mimeType: "text/csv", buffer}));
      assert.deepEqual(opened[name], values.map((value) => value * 2));
      await pane(page).getByText("Read series.csv.").waitFor(patience);
    });
  });

  test("a node is found by search among all nodes, and a new one described", async () => {
    const refused = {expected: [/422/]};
    await served.open("#model=graph", refused, async ({page}) => {
      const {properties} = served.models.graph.input_schema;
      await sees(page, await served.answer("graph", served.models.graph.examples[0]));
      assert.ok(properties.node.known.count > properties.node.known.names.length, "the server has to be asked");
      const field = pane(page).getByRole("combobox", {name: "node"});
      await field.fill("999");
      const option = page.getByRole("option").first();
      await option.waitFor(patience);
      const name = await option.textContent();
      assert.match(name, /999/);
      assert.deepEqual(await asked(page, () => option.click()), {node: name});
      await pane(page).getByLabel("A new one").check();
      const features = pane(page).getByRole("combobox", {name: "Add a feature"});
      const [feature] = properties.features.known.names;
      const fresh = await asked(page, async () => {
        await features.fill(properties.features.additionalProperties ? `${feature} 1.5` : feature);
        await features.press("Enter");
      });
      assert.deepEqual(fresh, {features: properties.features.additionalProperties ? {[feature]: 1.5} : [feature], neighbours: []});
      const neighbours = pane(page).getByRole("combobox", {name: "Add a neighbour"});
      await neighbours.fill(name);
      await neighbours.press("Enter");
      await page.waitForFunction(() => document.querySelector(".answer-picture")?.ariaBusy === "false");
      assert.deepEqual((await inputOf(page)).neighbours, [name]);
      await neighbours.fill("nobody");
      await neighbours.press("Enter");
      await problem(page).getByText(/nobody/).waitFor(patience);
      await shoot(page, "form-graph-new");
    });
  });

  test("a user and an item are found by search; reviews of one's own take their place", async () => {
    await served.open("#model=ratings", {}, async ({page}) => {
      const [example] = served.models.ratings.examples;
      await sees(page, await served.answer("ratings", example));
      const {user} = served.models.ratings.input_schema.properties;
      const other = user.known.names.find((name) => name !== example.user);
      const field = pane(page).getByRole("combobox", {name: "user"});
      await field.fill(other);
      const picked = await asked(page, () => page.getByRole("option", {name: other, exact: true}).click());
      assert.deepEqual(picked, {...example, user: other});
      await pane(page).getByText("Other reviews of the item").click();
      await pane(page).getByRole("button", {name: "Add a review"}).last().click();
      const reviewed = await asked(page, () => pane(page).getByRole("textbox", {name: "review 1"}).last().fill("a fine thing"));
      assert.deepEqual(reviewed.item_reviews, ["a fine thing"]);
      await field.fill("");
      await field.press("Enter");
      await problem(page).getByText("Still empty: user.").waitFor(patience);
    });
  });

  test("a question and its choices have fields of their own", async () => {
    await served.open("#model=choices", {}, async ({page}) => {
      const input = {question: "What does Anna take?", choices: ["the soup", "the old coat"]};
      const group = pane(page).getByRole("group", {name: "Input"});
      await group.getByLabel("context").fill("");
      await group.getByLabel("question").fill(input.question);
      await group.getByRole("textbox", {name: "choice 1"}).fill("the soup");
      await group.getByRole("textbox", {name: "choice 2"}).fill("");
      await problem(page).getByText("Still empty: choices: 1 of at least 2.").waitFor(patience);
      await group.getByRole("textbox", {name: "choice 2"}).fill("the old coat");
      await sees(page, await served.answer("choices", input));
      await group.getByRole("button", {name: "Add a choice"}).click();
      await group.getByRole("textbox", {name: "choice 3"}).fill(hostile);
      const three = {...input, choices: [...input.choices, hostile]};
      await sees(page, await served.answer("choices", three));
      await group.getByRole("button", {name: "Remove choice 3"}).click();
      await sees(page, await served.answer("choices", input));
      assert.notEqual(await page.title(), "hurt");
    });
  });

  test("accesses to memory are written one a line", async () => {
    await served.open("#model=prefetch", {}, async ({page}) => {
      const [example] = served.models.prefetch.examples;
      await sees(page, await served.answer("prefetch", example));
      const accesses = example.accesses ?? example.split(";").map((access) => access.trim());
      const area = pane(page).getByRole("textbox", {name: /^Input/});
      assert.equal(await area.inputValue(), accesses.join("\n"));
      const shorter = await asked(page, () => area.fill(accesses.slice(0, 3).join("\n")));
      assert.deepEqual(shorter.accesses, accesses.slice(0, 3));
    });
  });

  test("a digit is drawn with the mouse and with the keyboard", async () => {
    await served.open("#model=digits", {}, async ({page}) => {
      await sees(page, await served.answer("digits", served.models.digits.examples[0]));
      const {picture} = served.models.digits.input_schema.properties.image;
      const pad = pane(page).locator(".pad-canvas");
      const read = (url) =>
        page.evaluate(async (src) => {
          const image = Object.assign(new Image(), {src});
          await image.decode();
          const context = Object.assign(document.createElement("canvas"), {width: image.width, height: image.height}).getContext("2d");
          context.drawImage(image, 0, 0);
          const {data} = context.getImageData(0, 0, image.width, image.height);
          return {width: image.width, height: image.height, light: Array.from(data).filter((value, at) => at % 4 === 0 && value > 127).length};
        }, url);
      const empty = await read((await asked(page, () => pane(page).getByRole("button", {name: "Clear"}).click())).image);
      assert.deepEqual([empty.width, empty.height], [picture.width, picture.height]);
      const cells = picture.width * picture.height;
      assert.ok(empty.light === 0 || empty.light === cells, "an empty pad has one colour");
      const {x, y, width, height} = await pad.boundingBox();
      const drawn = await asked(page, async () => {
        await page.mouse.move(x + width / 2, y + height * 0.2);
        await page.mouse.down();
        await page.mouse.move(x + width / 2, y + height * 0.8, {steps: 8});
        await page.mouse.up();
      });
      const inked = ({light}) => Math.abs(light - empty.light) / cells;
      const stroke = inked(await read(drawn.image));
      assert.ok(stroke > 0.02 && stroke < 0.2, `${stroke} of the pad`);
      await pad.focus();
      await asked(page, () => page.keyboard.press("Space"));
      for (let step = 0; step < 7; ++step) await page.keyboard.press("ArrowRight");
      await page.waitForFunction(() => document.querySelector(".answer-picture")?.ariaBusy === "false");
      assert.ok(inked(await read((await inputOf(page)).image)) > stroke, "the keyboard draws too");
      await shoot(page, "form-digits-drawn");
    });
  });

  test("a pasted picture is taken", async () => {
    await served.open("#model=caption", {}, async ({page}) => {
      await sees(page, await served.answer("caption", served.models.caption.examples[0]));
      await page.evaluate(async () => {
        const canvas = Object.assign(document.createElement("canvas"), {width: 40, height: 40});
        canvas.getContext("2d").fillRect(4, 4, 20, 20);
        const blob = await new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
        const clipboardData = new DataTransfer();
        clipboardData.items.add(new File([blob], "pasted.png", {type: "image/png"}));
        document.querySelector(".input-drop").dispatchEvent(new ClipboardEvent("paste", {clipboardData, bubbles: true, cancelable: true}));
      });
      await pane(page).locator('.input-picture[alt="pasted.png"]').waitFor(patience);
      await pane(page).locator(".answer-picture[aria-busy=false]").waitFor(patience);
    });
  });

  test("without a microphone the page says so", async () => {
    await served.open("#model=speech", {}, async ({page}) => {
      await sees(page, await served.answer("speech", served.models.speech.examples[0]));
      await pane(page).getByRole("button", {name: "Record"}).click();
      await problem(page).getByText(/microphone/).waitFor(patience);
    });
  });

  test("40 models stand in one list that is searched and pushes nothing away", async () => {
    await served.open("#model=dates", {}, async ({page}) => {
      const all = Object.values(served.models);
      const many = Array.from({length: 40}, (_, place) => ({...all[place % all.length], name: `${all[place % all.length].name}-${place}`}));
      many[2] = served.models.dates;
      many[7] = {...many[7], title: hostile};
      await page.route("**/v1/models", (route) => route.fulfill({json: {models: many}}));
      await page.goto(`${served.address}/#model=dates&input=9+May+2018`);
      await page.reload();
      const editor = pane(page).locator(".editor");
      await editor.locator("textarea").waitFor(patience);
      const place = () => editor.evaluate((node) => node.getBoundingClientRect().top);
      const top = await place();
      assert.ok(top < 300, `the input begins at ${top}`);
      const field = pane(page).getByRole("combobox", {name: "Model"});
      await field.click();
      await page.waitForFunction(() => document.querySelectorAll("[role=option]").length === 40);
      assert.equal(await place(), top);
      const {metric} = served.models.dates;
      const entry = page.getByRole("option", {name: /^✓? ?dates\b(?!-)/});
      assert.match(await entry.textContent(), new RegExp(metric.name));
      await shoot(page, "models-40");
      await field.fill(`${all[33 % all.length].name} 33`);
      await page.waitForFunction(() => document.querySelectorAll("[role=option]").length === 1);
      await field.fill("nothing like it");
      await page.locator(".combobox-count").getByText("Nothing found.").waitFor(patience);
      await page.keyboard.press("Escape");
      assert.equal(await field.inputValue(), "dates");
      assert.notEqual(await page.title(), "hurt");
    });
  });

  for (const run of runs) {
    test(`${run}: no text of a model, of its inputs or of the server's errors is read as markup`, async () => {
      await served.open(`#model=${run}`, {expected: [/422/]}, async ({page}) => {
        await pane(page).locator(".prediction").waitFor(patience);
        await page.route("**/v1/models", (route) => route.fulfill({json: {models: [poisoned(served.models[run])]}}));
        const json422 = {error: {kind: "bad_data", message: `${hostile} is wrong`, field: "input"}};
        await page.route(/\/v1\/(explain|predict)$/, (route) => route.fulfill({status: 422, json: json422}));
        await page.reload();
        await problem(page).getByText(`${hostile} is wrong`).waitFor(patience);
        assert.ok((await pane(page).locator(".pane-ask").textContent()).includes(hostile));
        await pane(page).getByRole("combobox", {name: "Model"}).click();
        await page.getByRole("option").first().waitFor(patience);
        if (await json(page).isVisible()) await json(page).click();
        assert.equal(await page.locator("img[src=x]").count(), 0);
        assert.notEqual(await page.title(), "hurt");
      });
    });
  }

  test("an input that the form has no place for is shown as JSON", async () => {
    const input = {item: served.models.ratings.examples[0].item, user_reviews: [{text: "fine", rating: 4}]};
    await served.open(`#model=ratings&input=${encodeURIComponent(JSON.stringify(input))}`, {}, async ({page}) => {
      await sees(page, await served.answer("ratings", input));
      assert.deepEqual(JSON.parse(await pane(page).getByLabel("The input as JSON").inputValue()), input);
      await json(page).click();
      await problem(page).getByText(/stays JSON/).waitFor(patience);
      await choose(page, "dates");
      await sees(page, await served.answer("dates", served.models.dates.examples[0]));
    });
  });
});

describe("microphone", {skip: withoutRuns}, () => {
  const served = new Served();
  before(() => served.start("--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream"));
  after(() => served.stop());

  test("what is recorded becomes a WAV file and is explained", async () => {
    await served.open("#model=speech", {permissions: ["microphone"]}, async ({page}) => {
      await sees(page, await served.answer("speech", served.models.speech.examples[0]));
      await pane(page).getByRole("button", {name: "Record"}).click();
      await pane(page).getByRole("timer").getByText(/^1\.\d s of at most 18 s/).waitFor(patience);
      const input = await asked(page, () => pane(page).getByRole("button", {name: "Stop"}).click());
      assert.match(input.audio, /^data:audio\/wav;name=recording;base64,/);
      const wav = Buffer.from(input.audio.split(",")[1], "base64");
      assert.equal(wav.toString("latin1", 0, 4), "RIFF");
      assert.equal(wav.readUInt32LE(24), 16_000);
      const seconds = (wav.length - 44) / 32_000;
      assert.ok(seconds > 0.8 && seconds < 5, `${seconds} s`);
      await pane(page).locator(".answer-picture[aria-busy=false]").waitFor(patience);
    });
  });
});
