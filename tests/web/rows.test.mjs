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
      assert.equal(await pane(page).locator(".prompt .problem, .problem").first().textContent(), "");
    });
  });

  test("typed: what holds no number, and what must not be empty, is said", async () => {
    await served.open("#model=orders", {}, async ({page}) => {
      await field(page, "price").fill("cheap");
      await pane(page).getByText("price: “cheap” is not a number.").first().waitFor();
      await field(page, "price").fill("");
      await pane(page).getByText("Still empty: price.").first().waitFor();
    });
  });

  test("pasted: names and categories in another case", async () => {
    await served.open("#model=orders", {}, async ({page}) => {
      await pane(page).getByText("Paste a row").click();
      const area = pane(page).getByLabel("A row as cells or JSON");
      await area.fill('{"Price": "$1,200", "DISCOUNT": "12 %", "plan": "basic", "age": null}');
      await sees(page, await served.answer("orders", row));
      assert.equal(await field(page, "plan").inputValue(), "Basic");
      await area.fill("$900;5 %;PRO;41");
      await sees(page, await served.answer("orders", {price: "$900", discount: "5 %", plan: "Pro", age: 41}));
    });
  });

  test("typed: choices, one a line, and a context that may be left out", async () => {
    await served.open("#model=choices", {}, async ({page}) => {
      const input = {question: "What does Anna take?", choices: ["the soup", "the old coat"]};
      await field(page, "context").fill("");
      await field(page, "question").fill(input.question);
      await field(page, "choices").fill("the soup");
      await pane(page).getByText("choices: 1 of at least 2 lines.").first().waitFor();
      await field(page, "choices").fill(`${input.choices.join("\n")}\n`);
      await sees(page, await served.answer("choices", input));
    });
  });
});
