// What the browser tests share: Chromium without a network, pages that collect everything that goes wrong,
// the program and its server.
//
// FOVEA_PROGRAM     the program `fovea`
// FOVEA_CHROMIUM    Chromium, where it is not in one of the usual places
// FOVEA_WEB_SHOTS   folder for screenshots; none are made without it
// FOVEA_WEB_RUNS    folder with the runs of run.sh
// FOVEA_WEB_JUDGED  folder with the runs labels, tags and questions
// FOVEA_WEB_OUTPUT  folder with explanations that the program wrote

import assert from "node:assert/strict";
import {execFile, spawn} from "node:child_process";
import {existsSync, mkdirSync, readdirSync} from "node:fs";
import path from "node:path";
import {fileURLToPath} from "node:url";
import {promisify} from "node:util";
import {chromium} from "playwright-core";

const here = path.dirname(fileURLToPath(import.meta.url));
const chromiumPlaces = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
const chromiumFlags = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

export const root = path.resolve(here, "../..");
export const program = process.env.FOVEA_PROGRAM ?? path.join(root, "build/release/fovea");
export const fixtureFolder = path.join(root, "tests/fixtures/explanations");
export const fixtures = jsonFiles(fixtureFolder);
export const desktop = {width: 1280, height: 900};
export const phone = {width: 380, height: 800};

/** The *.json files of a folder; none where there is no such folder. */
export function jsonFiles(folder) {
  if (!folder || !existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => name.endsWith(".json"))
    .sort()
    .map((name) => path.join(folder, name));
}

/** Runs the program and returns its standard output. */
export async function fovea(...words) {
  const {stdout} = await promisify(execFile)(program, words, {maxBuffer: 2 ** 28});
  return stdout;
}

/** Chromium; its close() ends it. */
export async function startBrowser(...flags) {
  const executablePath = process.env.FOVEA_CHROMIUM ?? chromiumPlaces.find(existsSync);
  assert.ok(executablePath, `no Chromium in ${chromiumPlaces.join(", ")}; FOVEA_CHROMIUM may name one`);
  return chromium.launch({executablePath, args: [...chromiumFlags, ...flags]});
}

function mayLoad(address, origin) {
  return (
    /^(data|blob|about):/.test(address) ||
    (origin ? new URL(address).origin === origin : address.startsWith("file:"))
  );
}

/**
 * Opens a page for `body({page, context})`. Fails where it has console errors, page errors, or requests that
 * leave the origin (without `origin`: the files of this machine). `expected`: console errors a test provokes.
 */
export async function visit(browser, address, {origin = "", expected = [], ...options}, body) {
  const context = await browser.newContext({viewport: desktop, acceptDownloads: true, ...options});
  const page = await context.newPage();
  const problems = [];
  page.on("console", (message) => {
    const wrong = message.type() === "error" && !expected.some((one) => one.test(message.text()));
    if (wrong) problems.push(`console: ${message.text()}`);
  });
  page.on("pageerror", (error) => problems.push(`page: ${error.stack || error.message}`));
  context.on("request", (request) => {
    if (!mayLoad(request.url(), origin)) problems.push(`request: ${request.url()}`);
  });
  try {
    await page.goto(address);
    await body({page, context});
  } catch (failure) {
    failure.message += problems.map((problem) => `\n${problem}`).join("");
    throw failure;
  } finally {
    await context.close();
  }
  assert.deepEqual(problems, []);
}

/** Writes a screenshot where they are wanted. */
export async function shoot(page, name) {
  const folder = process.env.FOVEA_WEB_SHOTS;
  if (!folder) return;
  mkdirSync(folder, {recursive: true});
  await page.screenshot({path: path.join(folder, `${name}.png`)});
}

/** `fovea serve` on a free port: its `address`, and stop(), which ends it. */
export async function startServer(...words) {
  const server = spawn(program, ["serve", ...words, "--port", "0"], {stdio: ["ignore", "pipe", "inherit"]});
  const ended = new Promise((resolve) => server.once("exit", resolve));
  const stop = () => {
    server.kill("SIGTERM");
    return ended;
  };
  let said = "";
  const address = await new Promise((resolve, reject) => {
    server.once("error", reject);
    server.once("exit", (code) => reject(new Error(`fovea serve ended with ${code}: ${said}`)));
    server.stdout.on("data", (data) => {
      said += data;
      const found = /listening on (http:\/\/127\.0\.0\.1:\d+)/.exec(said);
      if (found) resolve(found[1]);
    });
  });
  return {address, stop};
}
