// The server on the runs of FOVEA_WEB_RUNS and a browser in front of it, for the tests of the page.

import assert from "node:assert/strict";
import {existsSync, readdirSync} from "node:fs";
import path from "node:path";
import {startBrowser, startServer, visit} from "./support.mjs";

export const runFolder = process.env.FOVEA_WEB_RUNS;
/** All that run.sh trains. */
export const runs = runFolder && existsSync(runFolder) ? readdirSync(runFolder).sort() : [];
export const patience = {timeout: 30_000};
export const withoutRuns = !runFolder && "FOVEA_WEB_RUNS names no runs";

/** One pane of the page. */
export const pane = (page, place = 0) => page.locator(".pane").nth(place);

/** The text field of a pane. */
export const input = (page, place = 0) => pane(page, place).getByRole("textbox", {name: "Input"});

/** Chooses a model of a pane, as people do: its list, a part of its name, Enter. */
export async function choose(page, model, place = 0) {
  const field = pane(page, place).getByRole("combobox", {name: "Model"});
  await field.click();
  await field.fill(model);
  await field.press("Enter");
}

/** Waits until a pane shows this answer, and no other is on its way. */
export async function sees(page, text, place = 0) {
  const shown = ([wanted, index]) => {
    const picture = document.querySelectorAll(".pane .answer-picture")[index];
    return picture?.ariaBusy === "false" && picture.querySelector(".prediction")?.textContent === wanted;
  };
  await page.waitForFunction(shown, [text, place], patience);
}

/** A running server: start() before the tests, stop() after them. */
export class Served {
  async start(...browserFlags) {
    this.server = await startServer(...runs.map((run) => path.join(runFolder, run)));
    this.address = this.server.address;
    this.browser = await startBrowser(...browserFlags);
    this.models = await this.#readyModels();
  }

  async stop() {
    await this.browser?.close();
    await this.server?.stop();
  }

  /** Opens the page with a hash; see visit() in support.mjs. */
  open(hash, options, body) {
    const address = hash.startsWith("http") ? hash : `${this.address}/${hash}`;
    return visit(this.browser, address, {origin: this.address, ...options}, body);
  }

  /** What the server answers to a request. */
  async post(what, body) {
    const response = await fetch(`${this.address}/v1/${what}`, {method: "POST", headers: {"Content-Type": "application/json"}, body: JSON.stringify(body)});
    assert.equal(response.status, 200);
    return response.json();
  }

  /** The answer that the page must show. */
  async answer(model, given) {
    return (await this.post("explain", {model, input: given})).prediction.text;
  }

  async #readyModels() {
    for (;;) {
      const {models} = await (await fetch(`${this.address}/v1/models`)).json();
      if (models.every(({status}) => status !== "loading")) {
        return Object.fromEntries(models.map((model) => [model.name, model]));
      }
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  }
}
