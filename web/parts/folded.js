// Long texts are folded to a few lines, with a button below that says so and shows all. Paper has all of it.
import {element} from "fovea/parts/dom.js";
import {count} from "fovea/parts/format.js";
import {addLooks} from "fovea/parts/looks.js";

const longest = 280;
const mostLines = 4;

/** Folds the element `text`, which holds a text alone, where that is long: [text, button], else [text]. */
export function folded(text) {
  const {textContent: whole} = text;
  if (whole.length <= longest && whole.split("\n").length <= mostLines) return [text];
  addLooks(rules);
  const more = element("button", {type: "button", class: "fold-more"});
  const show = (all) => {
    text.classList.toggle("folded", !all);
    more.textContent = all ? "Show less" : `Show all ${count(Array.from(whole).length)} characters`;
    more.setAttribute("aria-expanded", String(all));
  };
  more.addEventListener("click", () => show(text.classList.contains("folded")));
  show(false);
  // In a wide window nothing may be cut.
  new ResizeObserver(() => {
    if (text.classList.contains("folded")) more.hidden = text.scrollHeight <= text.clientHeight + 1;
  }).observe(text);
  return [text, more];
}

const rules = `
.folded { display: -webkit-box; -webkit-box-orient: vertical; -webkit-line-clamp: 4; overflow: hidden; }
.fold-more {
  justify-self: start; min-height: 1.75rem; margin-top: 0.25rem; padding: 0.1rem 0.6rem; color: var(--accent);
  font-size: 0.8rem; font-weight: 400;
}
@media print {
  .folded { display: block; overflow: visible; }
  .fold-more { display: none; }
}
`;
