// Rules that belong to one module only. They come with it, so that style.css holds what all share.

const added = new Set();

/** Adds CSS text to the document, once. */
export function addLooks(rules) {
  if (added.has(rules)) return;
  added.add(rules);
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(rules);
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
}
