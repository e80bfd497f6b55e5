// The server's page when the server is busy, gone, refuses the input or asks for a key.

import assert from "node:assert/strict";
import {after, before, describe, test} from "node:test";
import {Served, input, pane, patience, sees, withoutRuns} from "./served.mjs";

const provoked = {expected: [/Failed to load resource/]};

describe("page in trouble", {skip: withoutRuns}, () => {
  const served = new Served();
  before(() => served.start());
  after(() => served.stop());

  test("a busy server is asked again after the time it says", async () => {
    await served.open("#model=dates&input=9+May+2018", provoked, async ({page}) => {
      await sees(page, await served.answer("dates", "9 May 2018"));
      const busy = {error: {kind: "busy", message: "the queue is full"}};
      const headers = {"Retry-After": "1"};
      await page.route("**/v1/explain", (route) => route.fulfill({status: 429, headers, json: busy}), {
        times: 1,
      });
      await input(page).fill("4 July 1999");
      await pane(page).getByText("The server is busy.").waitFor(patience);
      await sees(page, await served.answer("dates", "4 July 1999"));
    });
  });

  test("a server that is gone is found again", async () => {
    await served.open("#model=dates&input=9+May+2018", provoked, async ({page}) => {
      await sees(page, await served.answer("dates", "9 May 2018"));
      let isGone = true;
      await page.route("**/v1/*", (route) => (isGone ? route.abort("connectionrefused") : route.continue()));
      await input(page).fill("4 July 1999");
      await pane(page).getByText("The server does not answer.").waitFor(patience);
      isGone = false;
      // It may be found again before anybody presses.
      await pane(page).getByRole("button", {name: "Try now"}).click({timeout: 2000}).catch(() => {});
      await sees(page, await served.answer("dates", "4 July 1999"));
    });
  });

  test("a refused input says why", async () => {
    await served.open("#model=dates&input=9+May+2018", provoked, async ({page}) => {
      await sees(page, await served.answer("dates", "9 May 2018"));
      const json = {error: {kind: "bad_data", message: "the text is too long", field: "input"}};
      await page.route("**/v1/explain", (route) => route.fulfill({status: 422, json}), {times: 1});
      await input(page).fill("4 July 1999");
      await pane(page).getByText("The text is too long.").waitFor(patience);
      const said = await input(page).getAttribute("aria-describedby");
      assert.equal(await page.locator(`#${said}`).textContent(), "The text is too long.");
      await input(page).fill("5 July 1999");
      await sees(page, await served.answer("dates", "5 July 1999"));
      assert.equal(await page.locator(`#${said}`).textContent(), "");
    });
  });

  test("a key is asked for, used, and kept in the tab only", async () => {
    await served.open("", provoked, async ({page, context}) => {
      const json = {error: {kind: "unauthorised", message: "the API key is missing or wrong"}};
      await page.route("**/v1/*", (route) => {
        const given = route.request().headers().authorization === "Bearer open sesame";
        return given ? route.continue() : route.fulfill({status: 401, json});
      });
      await page.reload();
      await page.getByLabel("This server asks for an API key").fill("open sesame");
      await page.keyboard.press("Enter");
      await pane(page).locator(".prediction").waitFor(patience);
      assert.equal(await page.getByLabel("This server asks for an API key").isVisible(), false);
      const {cookies, origins} = await context.storageState();
      assert.deepEqual([cookies, origins], [[], []]);
      assert.ok(!page.url().includes("sesame"));
    });
  });

  test("a slow request shows its time and can be cancelled, and the server stops its work", async () => {
    const metric = async () => {
      const text = await (await fetch(`${served.address}/metrics`)).text();
      return Number(/fovea_requests_total\{route="\/v1\/explain",status="499"\} (\d+)/.exec(text)?.[1] ?? 0);
    };
    const long = "9 May 2018 ".repeat(300);
    await served.open("#model=dates&input=9+May+2018", {}, async ({page}) => {
      await sees(page, await served.answer("dates", "9 May 2018"));
      const earlier = await metric();
      await input(page).fill(long);
      const state = pane(page).locator(".answer-bar .server-state");
      await page.route("**/v1/explain", async (route) => {
        const body = {...route.request().postDataJSON(), faithfulness: true};
        await route.continue({postData: JSON.stringify(body)});
      });
      await input(page).fill(`${long}!`);
      await state.getByText(/^ [1-9]\d* s$/).waitFor(patience);
      await state.getByRole("button", {name: "Cancel"}).click();
      await state.getByText(/^Cancelled after \d+\.\d s\.$/).waitFor(patience);
      for (let attempt = 0; (await metric()) === earlier; ++attempt) {
        assert.ok(attempt < 100, "the server has not noticed");
        await page.waitForTimeout(100);
      }
      await page.unroute("**/v1/explain");
      await input(page).fill("4 July 1999");
      await sees(page, await served.answer("dates", "4 July 1999"));
    });
  });

  test("a quick request shows no time", async () => {
    await served.open("", {}, async ({page}) => {
      // A clock that stands still: every request is quick, however busy the machine is.
      await page.addInitScript(() => {
        const now = performance.now();
        performance.now = () => now;
      });
      await page.goto(`${served.address}/#model=dates&input=9+May+2018`);
      await page.reload();
      await sees(page, await served.answer("dates", "9 May 2018"));
      assert.equal(await pane(page).getByRole("button", {name: "Cancel"}).count(), 0);
      assert.equal(await pane(page).locator(".elapsed").count(), 0);
    });
  });

  test("a link to a model that is not there says so and offers the others", async () => {
    const hostile = "<img src=x onerror=\"document.title='hurt'\">";
    await served.open(`#model=${encodeURIComponent(hostile)}&input=9+May+2018`, {}, async ({page}) => {
      await pane(page).getByRole("alert").getByText(`There is no model ${hostile} on this server.`).waitFor(patience);
      assert.equal(await pane(page).locator(".prediction").count(), 0, "no other model answers in its place");
      await page.getByRole("option", {name: /^dates/}).click();
      await sees(page, await served.answer("dates", "9 May 2018"));
      assert.equal(await pane(page).getByRole("alert").count(), 0);
      assert.notEqual(await page.title(), "hurt");
    });
  });

  test("a server that has gone shows in the header, and comes back by itself", async () => {
    await served.open("#model=dates&input=9+May+2018", provoked, async ({page}) => {
      await sees(page, await served.answer("dates", "9 May 2018"));
      const head = page.locator(".page-head .server-state");
      await head.getByText(/models ready/).waitFor(patience);
      await page.route("**/*", (route) => route.abort("connectionrefused"));
      await head.getByText("The server does not answer.").waitFor(patience);
      await page.unroute("**/*");
      await head.getByText(/models ready/).waitFor(patience);
      await input(page).fill("4 July 1999");
      await sees(page, await served.answer("dates", "4 July 1999"));
    });
  });
});
