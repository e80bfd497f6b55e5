// Whether everyone can read a page: axe-core, no sideways scrolling on phones, paper. For the tests of every page.

import assert from "node:assert/strict";
import {readFileSync} from "node:fs";
import {createRequire} from "node:module";
import {shoot} from "./support.mjs";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

export const wide = {width: 1440, height: 900};
export const phones = [430, 390, 320].map((width) => ({width, height: 800}));
const usualPhone = 390;  // of which there is a shot of every page
export const schemes = ["light", "dark"];

/** Fails with what axe-core finds, but for what it calls minor. */
export async function isAccessible(page, where) {
  if (!(await page.evaluate(() => Boolean(window.axe)))) await page.evaluate(axe);
  const isStill = () => !document.getAnimations().some((animation) => animation instanceof CSSTransition);
  await page.waitForFunction(isStill, null, {timeout: 30_000});  // what fades has other colours
  const findings = await page.evaluate(async () => {
    const {violations} = await window.axe.run(document, {resultTypes: ["violations"]});
    return violations.filter(({impact}) => impact !== "minor").map(({id, impact, nodes}) =>
      `${impact} ${id}: ${nodes.slice(0, 3).map(({target, failureSummary}) => `${target} ${failureSummary}`).join("; ")}`);
  });
  assert.deepEqual(findings, [], where);
}

/** Fails where the page still scrolls sideways after it had time to follow the window, with what sticks out. */
export async function fits(page, where) {
  const narrow = () => document.scrollingElement.scrollWidth <= innerWidth;
  await page.waitForFunction(narrow, null, {timeout: 10_000}).catch(() => {});
  const {scrolled, room, wide: culprits} = await page.evaluate(() => ({
    scrolled: document.scrollingElement.scrollWidth,
    room: innerWidth,
    wide: Array.from(document.querySelectorAll("body *"))
      .filter((node) => node.getBoundingClientRect().right > innerWidth + 0.5)
      .slice(0, 8).map((node) => `${node.tagName}.${node.getAttribute("class")}`),
  }));
  assert.ok(scrolled <= room, `${where}: ${scrolled} in a window of ${room}: ${culprits.join(", ")}`);
}

/** The page as it is: findings in its window, sideways scrolling on each phone, findings on the narrowest. `settled`
    waits until what is drawn has followed the window. */
export async function isForEveryone(page, where, settled = () => {}) {
  await isAccessible(page, where);
  for (const viewport of phones) {
    await page.setViewportSize(viewport);
    await settled();
    await fits(page, `${where} ${viewport.width}`);
    if (viewport.width === usualPhone) await shoot(page, `everyone-${where.replaceAll(/[^\w]+/g, "-")}-${usualPhone}`);
  }
  await isAccessible(page, `${where} ${phones.at(-1).width}`);
}

/** `look(page)` on paper, as a page prints itself; what is on screen comes back. */
export async function onPaper(page, look) {
  await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
  await page.emulateMedia({media: "print"});
  await look();
  await page.evaluate(() => dispatchEvent(new Event("afterprint")));
  await page.emulateMedia({media: "screen"});
}
