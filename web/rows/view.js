// Many rows at a glance: what they measure, where the mistakes are, and the table of all of them.
import {element} from "fovea/parts/dom.js";
import {onThemeChange} from "fovea/parts/colour.js";
import {addLooks} from "fovea/parts/looks.js";
import {beside} from "fovea/rows/beside.js";
import {confusion} from "fovea/rows/confusion.js";
import {Filters} from "fovea/rows/filters.js";
import {kinds} from "fovea/rows/kinds.js";
import {looks} from "fovea/rows/looks.js";
import {calibration, residuals} from "fovea/rows/plots.js";
import {classTable, slices} from "fovea/rows/reports.js";
import {Selection} from "fovea/rows/selection.js";
import {RowTable} from "fovea/rows/table.js";

const figures = {
  beside: {title: "Two models", draw: beside},
  confusion: {title: "Confusion matrix", draw: confusion},
  classes: {title: "Precision and recall", draw: classTable},
  labels: {title: "Precision and recall", draw: classTable},
  calibration: {title: "Calibration", draw: calibration},
  residuals: {title: "Residuals", draw: residuals},
  slices: {title: "Slices", draw: slices},
};

/** Fills `host` with figures and the table. `open(row)` is called when a row is chosen. */
export class RowsView {
  constructor(host, rows, {open, caption = "All rows", fileName = "rows", level = "h2"}) {
    addLooks(looks);
    this.rows = rows;
    this.selection = new Selection(rows);
    this.table = new RowTable(rows, this.selection, {open, caption});
    this.filters = new Filters(rows, this.selection, fileName);
    this.level = level;
    const truthKnown = ["right", "error"].some((role) => rows.column(role));
    this.figures = truthKnown ? this.#draw() : [];
    this.node = element("div", {class: "rows-view"},
      this.figures.length > 0 && element("div", {class: "rows-figures"}, this.figures.map(({section}) => section)),
      element("section", {class: "rows-all", "aria-label": "Table of rows"}, this.filters.node, this.table.node));
    host.append(this.node);
    this.table.show();
    performance.mark("rows shown");
    rows.prepare();
    this.unsubscribe = onThemeChange(() => this.figures.forEach(({redraw}) => redraw()));
  }

  destroy() {
    this.unsubscribe();
    this.table.destroy();
    this.figures.forEach(({destroy}) => destroy?.());
    this.node.remove();
  }

  #draw() {
    const choose = (filters) => {
      this.selection.change({filters});
      this.table.node.scrollIntoView({block: "nearest"});
    };
    return ["beside", ...kinds[this.rows.kind].figures].flatMap((name) => {
      const {title, draw} = figures[name];
      const drawn = draw(this.rows, choose);
      if (!drawn) return [];
      const heading = element(this.level, {text: title});
      return [{...drawn, section: element("section", {class: `rows-figure rows-${name}`, "aria-label": title}, heading, drawn.node)}];
    });
  }
}
