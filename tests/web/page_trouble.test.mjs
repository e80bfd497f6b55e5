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
      await page.route("**/v1/explain", (route) => route.abort("connectionrefused"), {times: 2});
      await input(page).fill("4 July 1999");
      await pane(page).getByText("The server does not answer.").waitFor(patience);
      await page.getByRole("button", {name: "Try now"}).click();
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
});
