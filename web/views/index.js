// The table of views. The one that fits a map best is shown first.
import {withTable} from "fovea/views/common/tabled.js";
import {view as bars} from "fovea/views/bars.js";
import {view as documentView} from "fovea/views/document.js";
import {view as glimpse} from "fovea/views/glimpse.js";
import {view as heads} from "fovea/views/heads.js";
import {view as image} from "fovea/views/image.js";
import {view as links} from "fovea/views/links.js";
import {view as matrix} from "fovea/views/matrix.js";
import {view as neighbourhood} from "fovea/views/neighbourhood.js";
import {view as panels} from "fovea/views/panels.js";
import {view as reviews} from "fovea/views/reviews.js";
import {view as spectrogram} from "fovea/views/spectrogram.js";
import {view as timeline} from "fovea/views/timeline.js";

const pictures = [
  bars, panels, matrix, links, heads, documentView, reviews, timeline, image, glimpse, spectrogram,
  neighbourhood,
];

/** All views, each with the table of its numbers. */
export const views = pictures.map(withTable);

/** The views that suit a map, the best first. */
export function viewsFor(map, explanation) {
  const fitting = views.map((view) => ({view, fit: view.fits(map, explanation)})).filter(({fit}) => fit > 0);
  return fitting.sort((a, b) => b.fit - a.fit).map(({view}) => view);
}
