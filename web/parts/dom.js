// Small helpers that build elements. Data only ever becomes text nodes and attributes, so that no label of a
// stranger is read as markup.

const svgNamespace = "http://www.w3.org/2000/svg";

/** An element: `attributes` may hold class, text, on: {event: listener}, dataset, style (object or text),
    any attribute. */
export function element(tag, attributes = {}, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

/** The same for SVG elements. */
export function svg(tag, attributes = {}, ...children) {
  return filled(document.createElementNS(svgNamespace, tag), attributes, children);
}

/** Removes all children of `node` and returns it. */
export function clear(node) {
  node.replaceChildren();
  return node;
}

function filled(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) setAttribute(node, name, value);
  for (const child of children.flat()) {
    if (child !== null && child !== undefined && child !== false) node.append(child);
  }
  return node;
}

function setAttribute(node, name, value) {
  if (value === null || value === undefined || value === false) return;
  if (name === "text") node.textContent = value;
  else if (name === "on") Object.entries(value).forEach((entry) => node.addEventListener(...entry));
  else if (name === "dataset") Object.assign(node.dataset, value);
  else if (name === "style" && typeof value === "object") setStyle(node.style, value);
  else node.setAttribute(name, value === true ? "" : value);
}

function setStyle(style, values) {
  for (const [name, value] of Object.entries(values)) {
    if (name.startsWith("--")) style.setProperty(name, value);
    else style[name] = value;
  }
}
