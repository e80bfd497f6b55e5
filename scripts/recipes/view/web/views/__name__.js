// The largest weights of one query as a plain list.
import {element} from "fovea/parts/dom.js";
import {number, visible} from "fovea/parts/format.js";
import {NumbersView} from "fovea/views/common/numbers_view.js";

const most = 20;

/** See web/README.md. */
export const view = {
  id: "__name__",
  title: "__Name__",
  fits(map) {
    return map.layout === "dense" && map.queryAxis.size > 0 ? 0.2 : 0;
  },
  mount(host, context) {
    return new __Name__(host, context);
  },
};

class __Name__ extends NumbersView {
  constructor(host, context) {
    super(host, context, "");
    this.rows = [];
    this.list = element("ol", {});
    host.append(this.list, this.message);
    this.update();
  }

  update() {
    const {map, state} = this.context;
    const query = Math.max(0, state.get("query"));
    this.read(() => map.weights.row(query), (weights) => {
      const rows = Array.from(weights, (weight, key) => ({label: visible(map.keyAxis.labels[key]), weight}));
      this.rows = rows.sort((a, b) => b.weight - a.weight).slice(0, most);
    });
  }

  draw() {
    this.list.replaceChildren(...this.rows.map(({label, weight}) => element("li", {}, `${label} ${number(weight)}`)));
  }

  svg() {
    return null;
  }

  async *numbers() {
    yield ["key", "weight"];
    for (const {label, weight} of this.rows) yield [label, weight];
  }

  describe() {
    const first = this.rows.slice(0, 3).map(({label, weight}) => `${label} ${number(weight)}`);
    return `The ${this.rows.length} largest weights: ${first.join(", ")}.`;
  }
}
