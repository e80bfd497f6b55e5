// The reviews of one side: stars, whom or what they are about, a bar of the weight; open ones show their
// words in full.
import {element} from "fovea/parts/dom.js";
import {count, number, visible} from "fovea/parts/format.js";
import {chosenQuery} from "fovea/views/common/choice.js";
import {addLooks} from "fovea/parts/looks.js";
import {largestOf} from "fovea/views/common/nested_words.js";
import {RunningText} from "fovea/views/common/running_text.js";

const shown = 40;
const mostStars = 5;
const pointedAt = 0.5; // reviews of at least this share of the largest weight are open at first

/** `section` is its element; `prefix` names its reviews in the state's zoom, which lists those flipped. */
export class ReviewList {
  constructor(view, nested, prefix) {
    addLooks(rules);
    Object.assign(this, {view, nested, prefix, numbers: null, order: []});
    this.text = new RunningText(nested);
    this.cards = this.text.groups.map((nodes, review) => this.#card(nodes, review));
    this.list = element("ol", {
      class: "review-list",
      on: {
        keydown: (event) => this.#key(event),
        click: (event) => this.#click(event),
        pointermove: (event) => this.#hover(event),
        pointerleave: () => view.point(null, null),
      },
    });
    this.more = element("p", {class: "review-more"});
    const heading = nested.parentMap?.title ?? nested.wordMap?.title ?? nested.parents.name;
    this.section = element(
      "section",
      {class: "review-side", "aria-label": heading},
      element("h2", {text: heading}),
      this.list,
      this.more,
    );
  }

  /** Shows numbers of NestedWords.read(). */
  draw(numbers, scale) {
    const {map, state} = this.view.context;
    const {words, parents} = this.nested;
    if (numbers !== this.numbers) this.#sort(numbers);
    const chosen = (axis) => (map.keyAxis === axis ? state.get("key") : -1);
    for (const review of this.order) this.#drawCard(review, review === chosen(parents));
    this.text.shade(0, words.size, (word) => numbers.shades[word], scale);
    const truth = this.nested.trueWords(chosenQuery(this.view.context));
    this.text.mark({search: state.get("search"), chosen: chosen(words), truth});
    this.more.textContent = parents.size > shown ? `… and ${count(parents.size - shown)} of less weight` : "";
  }

  #card(nodes, review) {
    const {labels, values} = this.nested.parents;
    const head = element(
      "button",
      {type: "button", class: "review-head", on: {click: () => this.#toggle(review)}},
      stars(values, review),
      element("bdi", {class: "review-label", text: visible(labels[review])}),
      element("span", {class: "review-bar"}, element("span")),
      element("span", {class: "review-weight"}),
    );
    return element("li", {class: "review"}, head, element("p", {class: "running", dir: "auto"}, nodes));
  }

  #sort(numbers) {
    const size = (review) => Math.abs(numbers.parents[review]) || 0;
    this.numbers = numbers;
    this.order = [...numbers.parents.keys()].sort((a, b) => size(b) - size(a) || a - b).slice(0, shown);
    this.list.replaceChildren(...this.order.map((review) => this.cards[review]));
    this.order.forEach((review, place) => this.#setTabStop(this.cards[review], place === 0));
  }

  #drawCard(review, isChosen) {
    const card = this.cards[review];
    const head = card.firstElementChild;
    const isOpen = this.#isOpen(review);
    head.setAttribute("aria-expanded", String(isOpen));
    head.querySelector(".review-bar span").style.width = `${100 * this.#share(review)}%`;
    head.querySelector(".review-weight").textContent = number(this.numbers.parents[review]);
    card.classList.toggle("open", isOpen);
    card.classList.toggle("chosen", isChosen);
  }

  #share(review) {
    return Math.abs(this.numbers.parents[review]) / (largestOf(this.numbers.parents) || 1) || 0;
  }

  #flipped() {
    return new Set(this.view.context.state.get("zoom").split(" ").filter(Boolean));
  }

  #isOpen(review) {
    return this.#share(review) >= pointedAt !== this.#flipped().has(`${this.prefix}${review}`);
  }

  #toggle(review) {
    const flipped = this.#flipped();
    const name = `${this.prefix}${review}`;
    if (!flipped.delete(name)) flipped.add(name);
    this.view.context.set({zoom: [...flipped].join(" ")});
    const weight = ["weight", number(this.numbers.parents[review])];
    this.view.say([
      visible(this.nested.parents.labels[review]),
      weight,
      this.#isOpen(review) ? "open" : "closed",
    ]);
  }

  #lines(word) {
    const {words, parents} = this.nested;
    const review = this.nested.parentOf(word);
    const ofReview = [visible(parents.labels[review]), number(this.numbers.parents[review])];
    return [visible(words.labels[word]), ["within the review", number(this.numbers.within[word])], ofReview];
  }

  #hover(event) {
    const word = this.text.unitOf(event);
    this.view.point(event, word >= 0 ? this.#lines(word) : null);
  }

  #click(event) {
    const word = this.text.unitOf(event);
    if (word < 0) return;
    const {map, set} = this.view.context;
    if (map.keyAxis === this.nested.words) set({key: word});
    else if (map.keyAxis === this.nested.parents) set({key: this.nested.parentOf(word)});
    this.view.say(this.#lines(word));
  }

  #key(event) {
    const step = {ArrowDown: "nextElementSibling", ArrowUp: "previousElementSibling"}[event.key];
    const card = event.target.closest(".review");
    if (!step || !card) return;
    event.preventDefault();
    if (!card[step]) return;
    this.#setTabStop(card, false);
    this.#setTabStop(card[step], true);
    card[step].firstElementChild.focus();
  }

  #setTabStop(card, isStop) {
    card.firstElementChild.tabIndex = isStop ? 0 : -1;
  }
}

// Ratings within 0..5 are stars; others stay numbers.
function stars(values, review) {
  const value = values?.[review] ?? null;
  if (value === null) return element("span", {class: "review-stars none", text: values ? "no rating" : ""});
  const areStars = values.every((other) => other === null || (other >= 0 && other <= mostStars));
  if (!areStars) return element("span", {class: "review-stars", text: number(value)});
  const whole = Math.floor(value + 0.25);
  const half = value - whole >= 0.25 ? "½" : "";
  const text = "★".repeat(whole) + half + "☆".repeat(mostStars - whole - half.length);
  return element("span", {
    class: "review-stars",
    role: "img",
    "aria-label": `${number(value)} of 5 stars`,
    text,
  });
}

const rules = `
.review-side h2 { margin: 0 0 0.6rem; font-size: 0.875rem; }
.review-list { list-style: none; margin: 0; padding: 0; }
.review { border-top: 1px solid var(--rule); padding: 0.35rem 0 0.7rem; }
.review.chosen .review-label { color: var(--accent); font-weight: 600; }
.review-head {
  display: grid; grid-template-columns: auto minmax(0, 1fr) 5.5rem 2.8rem; gap: 0.6rem; align-items: center;
  width: 100%; min-height: 2.25rem; padding: 0; border: 0; background: none;
  font-size: 0.8125rem; text-align: start;
}
.review-head:focus-visible { outline-offset: 0; border-radius: 4px; }
.review-stars { letter-spacing: 0.05em; }
.review-stars.none { color: var(--quiet); letter-spacing: 0; }
.review-label { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; color: var(--quiet); }
.review-bar span {
  display: block; height: 0.75rem; min-width: 1px; background: var(--accent); border-radius: 2px;
}
.review-weight { text-align: end; }
.review:not(.open) .running {
  display: -webkit-box; -webkit-box-orient: vertical; -webkit-line-clamp: 1; overflow: hidden;
  font-size: 0.875rem; line-height: 1.6;
}
.review-more { color: var(--quiet); font-size: 0.8125rem; }
`;
