// A strip of buttons, one per query, each with a small picture that is drawn when it comes into sight. The
// arrow keys choose as in every Choice.
import {element} from "fovea/parts/dom.js";
import {shorten, visible} from "fovea/parts/format.js";
import {Choice} from "fovea/views/common/choice.js";
import {addLooks} from "fovea/parts/looks.js";

const longestLabel = 24;

/** `choose(query)` is called when the reader picks one, `draw(canvas, query)` when its picture is needed. */
export class Thumbnails {
  constructor({labels, kind}, choose, draw) {
    addLooks(rules);
    const options = labels.map((text, value) => ({value, text: shorten(visible(text), longestLabel)}));
    this.choice = new Choice(`${kind || "query"} that looks`, options, choose, "thumbnails");
    this.element = this.choice.element;
    this.canvases = labels.map((_, query) => element("canvas", {"aria-hidden": "true", dataset: {query}}));
    this.canvases.forEach((canvas, query) => this.choice.buttons[query].prepend(canvas));
    this.watcher = new IntersectionObserver((entries) => {
      for (const {target} of entries.filter(({isIntersecting}) => isIntersecting)) {
        this.watcher.unobserve(target);
        draw(target, Number(target.dataset.query));
      }
    });
  }

  /** All pictures are out of date. */
  redraw() {
    this.watcher.disconnect();
    this.canvases.forEach((canvas) => this.watcher.observe(canvas));
  }

  /** Shows what is chosen, scrolling the strip but not the page. */
  select(query) {
    this.choice.select(query);
    const button = this.choice.buttons[query].getBoundingClientRect();
    const {left, right} = this.element.getBoundingClientRect();
    if (button.left < left || button.right > right) {
      this.element.scrollLeft += (button.left + button.right - left - right) / 2;
    }
  }

  /** Marks what a search found. */
  mark(found) {
    this.choice.buttons.forEach((button, query) => button.classList.toggle("found", found.has(query)));
  }

  /** Ends all watching. */
  destroy() {
    this.watcher.disconnect();
  }
}

const rules = `
.choice.thumbnails {
  flex-wrap: nowrap; gap: 0.4rem; overflow-x: auto; padding: 4px; margin: -4px; align-content: start;
}
.choice.thumbnails button {
  flex: none; display: grid; gap: 0.25rem; width: 5.7rem; padding: 3px 3px 0.3rem; overflow: hidden;
  border-radius: 8px; border-color: transparent; color: var(--ink);
}
.choice.thumbnails button:hover { border-color: var(--rule); }
.choice.thumbnails button[aria-checked="true"] { color: var(--accent-ink); }
.choice.thumbnails button.found bdi { background: var(--mark); color: var(--ink); border-radius: 3px; }
.choice.thumbnails canvas { display: block; width: 100%; border-radius: 5px; background: var(--rule); }
.choice.thumbnails bdi { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
@container (min-width: 46rem) {
  .choice.thumbnails {
    display: grid; grid-template-columns: repeat(auto-fill, minmax(5.8rem, 1fr)); max-height: 74vh;
  }
  .choice.thumbnails button { width: auto; }
}
`;
