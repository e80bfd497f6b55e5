// What a rating rests on: the reviews of each side by weight, those the model points at open, their words
// shaded. The user's and the item's side stand beside each other.
import {element} from "fovea/parts/dom.js";
import {count, number, visible} from "fovea/parts/format.js";
import {Legend} from "fovea/parts/legend.js";
import {WeightScale} from "fovea/parts/scale.js";
import {chosenQuery, queryChoice} from "fovea/views/common/choice.js";
import {NestedWords, largestOf} from "fovea/views/common/nested_words.js";
import {NumbersView} from "fovea/views/common/numbers_view.js";
import {ReviewList} from "fovea/views/common/review_list.js";
import {snapshot} from "fovea/views/common/snapshot.js";

/** See web/README.md. */
export const view = {
  id: "reviews",
  title: "Reviews",
  fits(map, explanation) {
    if (map.layout !== "dense" || map.queryAxis.size === 0 || map.keyAxis.size === 0) return 0;
    return sideOf(map, explanation) ? 5 : 0;
  },
  mount(host, context) {
    return new Reviews(host, context);
  },
};

class Reviews extends NumbersView {
  constructor(host, context) {
    super(host, context, rules);
    this.readings = null;
    this.sides = sidesOf(context.map, context.explanation);
    this.lists = this.sides.map((nested, side) => new ReviewList(this, nested, `${side}.`));
    this.queries = queryChoice(context);
    this.legend = new Legend();
    this.columns = element(
      "div",
      {class: "reviews-sides", role: "group"},
      this.lists.map(({section}) => section),
    );
    host.append(element("div", {class: "reviews"}, this.queries?.element, this.columns, this.legend.node));
    this.#read();
  }

  update(changed) {
    if (changed.has("query")) this.#read();
    else this.draw();
  }

  resize() {}

  svg() {
    return snapshot(this.columns, {title: this.context.map.title, description: this.describe()});
  }

  howToRead() {
    return {scale: this.scale, remark: this.#remark()};
  }

  async *numbers() {
    yield ["side", "review", "rating", "review weight", "word", "weight", "within review"];
    for (const [side, {weights, within, parents}] of (await this.#readSides()).entries()) {
      const nested = this.sides[side];
      const {name, labels, values} = nested.parents;
      for (const [word, label] of nested.words.labels.entries()) {
        const review = nested.parentOf(word);
        yield [name, labels[review], values?.[review], parents[review], label, weights[word], within[word]];
      }
    }
  }

  describe() {
    const sides = this.sides.map(({parents}, side) => {
      const weights = this.readings?.[side].parents ?? [];
      const best = weights.indexOf(Math.max(...weights));
      const heaviest =
        best < 0 ? "" : `, heaviest ${visible(parents.labels[best])} (${number(weights[best])})`;
      return `${count(parents.size)} reviews (${parents.name})${heaviest}.`;
    });
    return sides.join(" ");
  }

  draw() {
    if (!this.readings) return;
    const shades = this.readings.map((numbers) => numbers.shades);
    const signed = shades.some((side) => side.some((shade) => shade < 0));
    const largest = Math.max(...shades.map(largestOf));
    // One scale for both sides, so that they can be compared: the side with fewer words has the larger equal share.
    const equal = Math.max(...this.sides.map((nested) => nested.equalShade()));
    const scale = new WeightScale({largest, signed, threshold: this.context.state.get("threshold"), equal});
    this.lists.forEach((list, side) => list.draw(this.readings[side], scale));
    this.queries?.select(chosenQuery(this.context));
    this.scale = scale;
    this.legend.show(scale, this.#remark());
  }

  #remark() {
    const hasBoth = this.sides.some(({parentMap, wordMap}) => parentMap && wordMap);
    return hasBoth ? "word weight × root of its review’s weight" : "";
  }

  #readSides() {
    const {map} = this.context;
    const queryOf = (other) => (other.queryAxis === map.queryAxis ? chosenQuery(this.context) : 0);
    return Promise.all(this.sides.map((nested) => nested.read(queryOf)));
  }

  #read() {
    this.read(
      () => this.#readSides(),
      (numbers) => {
        this.readings = numbers;
        this.columns.setAttribute("aria-label", this.describe());
      },
    );
  }
}

// The words and reviews that a map is about; null where it is about none.
function sideOf(map, explanation) {
  const nested = NestedWords.of(map, explanation);
  return nested.parents?.kind === "review" ? nested : null;
}

// The map's own side and that of every other axis of reviews, in the order of the axes.
function sidesOf(map, explanation) {
  const own = sideOf(map, explanation);
  return explanation.axes
    .filter(({kind}) => kind === "review")
    .flatMap((axis) => {
      if (axis === own.parents) return [own];
      const other = explanation.maps.find(({keyAxis}) => keyAxis === axis || keyAxis.parent === axis.name);
      return (other && sideOf(explanation.beside(map, other), explanation)) ?? [];
    });
}

const rules = `
.reviews { display: grid; grid-template-columns: minmax(0, 1fr); gap: 1.2rem; }
.reviews-sides {
  display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 21rem), 1fr)); gap: 1.5rem 2.5rem;
  align-items: start;
}
`;
