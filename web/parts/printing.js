// While the document is printed: light colours, and pictures as wide as a page. On paper stand the heading, the
// picture in view with the names of what was chosen, and its notes; no controls, nothing cut.
import {setPrinting} from "fovea/parts/colour.js";
import {addLooks} from "fovea/parts/looks.js";

const listeners = new Set();

/** Pixels of a page between its margins: A4 and Letter upright. */
export const pageWidth = 700;

/** Calls `listener(printing)` before and after printing; returns a function that ends that. */
export function onPrint(listener) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function tell(printing) {
  setPrinting(printing);
  listeners.forEach((listener) => listener(printing));
}

window.addEventListener("beforeprint", () => tell(true));
window.addEventListener("afterprint", () => tell(false));

addLooks(`
[data-printing] .links-scroll { max-height: 3000px; }
@media print {
  .tabs { mask-image: none; }
  * { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
  .shell-actions, .shell-controls .tabs, .shell-tools .field, .pager button, .report-picker, .table-button,
  .picture-tools, .glimpse-tools, .sound-tools button, .ring-tools, .timeline-tools > .choice,
  .truth-field, .faith-button, .making-table > summary, .bars-tools > .choice, .bars-more, .panels-more, .head-chip[aria-pressed="false"], .tooltip,
  .tabs button[aria-selected="false"], .choice:not(.thumbnails) button[aria-checked="false"] {
    display: none !important;
  }
  .report { max-width: none; padding: 0; }
  .shell, .shell-controls { border: 0; gap: 0.5rem; }
  .tabs button[aria-selected="true"], .choice:not(.thumbnails) button[aria-checked="true"], .pager select {
    padding: 0; border: 0; appearance: none; background: none !important; color: var(--ink) !important;
  }
  .shell-answer dd, .choice.loose, .choice.thumbnails, .links-scroll, .glimpse-list, .ranked,
  .number-table-place {
    max-height: none !important; overflow: visible;
  }
  .choice.thumbnails { flex-wrap: wrap !important; overflow: visible !important; }
  .links-scroll, .number-table-place { border: 0; }
  .plot { position: static; max-width: 100%; height: auto !important; }
  .number-table th { position: static !important; }
  .legend, .shell-notes li, .number-table tr, .document-row, .review { break-inside: avoid; }
}
`);
