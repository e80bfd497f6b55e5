// What is on the page as the hash of its address, so that a link brings it back: model and input of each
// pane, what is looked at, the theme. The second pane's keys begin with "b.".

const prefixes = ["", "b."];
const longest = 8000;

/** {panes: [{model, input, view}], same}: what a hash asks for; `view` is the text of a State. */
export function readAddress(hash) {
  const all = new URLSearchParams(hash.replace(/^#/, ""));
  const count = Array.from(all.keys()).some((key) => key.startsWith("b.")) ? 2 : 1;
  const panes = prefixes.slice(0, count).map((prefix) => readPane(all, prefix));
  return {panes, same: all.get("same") === "1"};
}

function readPane(all, prefix) {
  const view = new URLSearchParams();
  for (const [key, value] of all) {
    const mine = prefix === "" ? !key.includes(".") : key.startsWith(prefix);
    const name = key.slice(prefix.length);
    if (mine && !["model", "input", "same"].includes(name)) view.append(name, value);
  }
  return {
    model: all.get(`${prefix}model`) ?? undefined,
    input: all.get(`${prefix}input`) ?? undefined,
    view: view.toString(),
  };
}

/**
 * The hash that asks for these panes. Inputs that would make a link too long for mail and chat are left out:
 * `whole` is false then.
 */
export function writeAddress({panes, same}) {
  const all = new URLSearchParams();
  let whole = true;
  panes.forEach(({model, input, view}, place) => {
    const prefix = prefixes[place];
    if (model) all.append(`${prefix}model`, model);
    if (input && input.length > longest) whole = false;
    else if (input && !(same && place > 0)) all.append(`${prefix}input`, input);
    for (const [key, value] of new URLSearchParams(view)) all.append(prefix + key, value);
  });
  if (same) all.append("same", "1");
  return {hash: `#${all}`.replaceAll("%2C", ","), whole};
}
