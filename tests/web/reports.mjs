// What the tests of reports share: which maps and views there are, going to one, waiting until it is drawn.

/** Waits until what the reader sees of the view has something on it. */
export async function drawn(page) {
  await page.waitForFunction(
    () => {
      const stage = document.querySelector(".shell-stage");
      if (!stage) return false;
      const inked = (canvas) => {
        if (canvas.width === 0 || canvas.height === 0) return false;
        const {data} = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
        const pixels = new Uint32Array(data.buffer);
        return pixels.some((pixel) => pixel !== pixels[0]);
      };
      const canvases = Array.from(stage.querySelectorAll("canvas"));
      const pictures = Array.from(stage.querySelectorAll("svg"));
      if (canvases.length + pictures.length === 0) return stage.textContent.trim() !== "";
      return canvases.some(inked) || pictures.some((picture) => picture.children.length > 0);
    },
    null,
    {timeout: 30_000},
  );
}

/** The ids of the tabs on offer; a single one is there but not shown. */
export async function tabsOf(page, list) {
  const tabs = page.locator(`[role=tablist][aria-label=${list}] [role=tab]`);
  await tabs.first().waitFor({state: "attached"});
  return tabs.evaluateAll((nodes) => nodes.map(({dataset}) => dataset.id));
}

export async function choose(page, list, id) {
  const tab = page.locator(`[role=tablist][aria-label=${list}] [data-id=${JSON.stringify(id)}]`);
  if (await tab.isVisible()) await tab.click();
}

/** Every [family of maps, view] of a report. */
export async function everyView(page) {
  const pairs = [];
  for (const family of await tabsOf(page, "Maps")) {
    await choose(page, "Maps", family);
    for (const view of await tabsOf(page, "Views")) pairs.push([family, view]);
  }
  return pairs;
}
