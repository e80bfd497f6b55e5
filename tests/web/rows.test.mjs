// The form for a row of a table takes what the server takes: numbers as people write them, words in another
// case, nothing where a column may be empty.

import assert from "node:assert/strict";
import {after, before, describe, test} from "node:test";
import {Served, pane, sees, withoutRuns} from "./served.mjs";

const row = {price: "$1,200", discount: "12 %", plan: "Basic", age: null};

const field = (page, name) => pane(page).locator(`[name=${name}]`);

describe("rows of a table", {skip: withoutRuns}, () => {
  const served = new Served();
  before(() => served.start());
  after(() => served.stop());

  test("typed: money and percentages, and a column that may be empty", async () => {
    await served.open("#model=orders", {}, async ({page}) => {
      await field(page, "price").fill("$1,200");
      await field(page, "discount").fill("12 %");
      await field(page, "plan").selectOption("Basic");
      await field(page, "age").fill("");
      await sees(page, await served.answer("orders", row));
      assert.equal(await pane(page).locator(".problem").textContent(), "");
    });
  });

  test("typed: what holds no number, and what must not be empty, is said", async () => {
    await served.open("#model=orders", {}, async ({page}) => {
      await field(page, "price").fill("cheap");
      await pane(page).getByText("price: “cheap” is not a number.").waitFor();
      assert.equal(await field(page, "price").getAttribute("aria-invalid"), "true");
      const said = await field(page, "price").getAttribute("aria-describedby");
      const texts = await Promise.all(said.split(" ").map((id) => page.locator(`#${id}`).textContent()));
      assert.deepEqual(texts, ["“cheap” is not a number.", "price: “cheap” is not a number."]);
      await field(page, "price").fill("");
      await pane(page).getByText("Still empty: price.").waitFor();
    });
  });

  test("each column says what training saw, and a number beyond it is remarked upon", async () => {
    await served.open("#model=orders", {}, async ({page}) => {
      const hint = (name) => pane(page).locator(".cell", {has: page.locator(`[name=${name}]`)}).locator(".cell-hint");
      const {low, high} = served.models.orders.input_schema.properties.age.training;
      assert.equal(await hint("age").textContent(), `${low} to ${high} or empty`);
      assert.equal(await hint("plan").textContent(), "2 categories");
      await field(page, "age").fill("500");
      await sees(page, await served.answer("orders", {...served.models.orders.examples[0], age: 500}));
      assert.equal(await hint("age").textContent(), `outside of training: ${low} to ${high}`);
    });
  });

  test("pasted: names and categories in another case", async () => {
    await served.open("#model=orders", {}, async ({page}) => {
      const button = pane(page).getByRole("button", {name: "JSON"});
      await button.click();
      const area = pane(page).getByLabel("The input as JSON");
      await area.fill('{"Price": "$1,200", "DISCOUNT": "12 %", "plan": "basic", "age": null}');
      await sees(page, await served.answer("orders", row));
      await button.click();
      assert.equal(await field(page, "plan").inputValue(), "Basic");
      await button.click();
      await area.fill("$900;5 %;PRO;41");
      await sees(page, await served.answer("orders", {price: "$900", discount: "5 %", plan: "Pro", age: 41}));
    });
  });
});
