// "Does this picture show what the model used?": the verdict of the map that is open, and never of another; the
// measures beside their random baseline and the deletion and insertion curves behind it. Told by word and
// shape; colour only repeats it.
import {clear, element, svg} from "fovea/parts/dom.js";
import {curveFigure} from "fovea/parts/faithfulness_curves.js";
import {count, number} from "fovea/parts/format.js";
import {addLooks} from "fovea/parts/looks.js";

const question = "Does this picture show what the model used?";
const answers = {
  supported: {word: "Yes", tone: "good", shape: "M5 10.5l3.5 3.5L15 7"},
  mixed: {word: "In part", tone: "caution", shape: "M5 12q2.5-5 5-2t5-2"},
  unsupported: {word: "No", tone: "bad", shape: "M6 6l8 8M14 6l-8 8"},
  unknown: {word: "Cannot be told", tone: "quiet", shape: "M7.2 7.8a2.8 2.8 0 1 1 4 2.6q-1.2.7-1.2 2M10 15v.2"},
};
const directions = {
  higher: {arrow: "↑", words: "higher is better"},
  lower: {arrow: "↓", words: "lower is better"},
};

/**
 * What is known of the picture on screen, which draws `maps` of one family: {entry} where that was judged itself;
 * {entry, other, map} where only something that it is part of was, or that is part of it (`other` says what, `map` is
 * the name of the family that shows that, if any); {} where nothing was. `title` is there where the picture shows all
 * series of a group: that of the one that was chosen.
 */
export function findingOf(maps, explanation) {
  const [map] = maps;
  if (map.original) {
    const attention = {other: "the attention, not these colours", map: explanation.familyOf(map.original).key};
    return {...attention, ...findingOf([map.original], explanation)};
  }
  const {faithfulness} = explanation;
  const family = explanation.familyOf(map);
  const rollout = faithfulness.find(({map: name, judged_as: as}) => as === "rollout" && `${name} rollout` === map.name);
  if (rollout) return {entry: rollout};
  const entry = faithfulness.find(({map: name}) => name === map.name);
  if (!entry) return {};
  const layers = new Set(family.maps.filter(({name}) => name === map.name).map(({layer}) => layer)).size;
  const as = entry.judged_as ?? (layers > 1 ? "mean of layers" : "mean of heads");
  const isOneHead = map.head > 0 && family.headsOf(map.layer).length > 1;
  const isMean = maps.length === 1 && !isOneHead;
  if (as === "rollout" || (as === "mean of layers" && layers > 1)) {
    const shown = explanation.families().find(({name}) => name === `${map.name} rollout`);
    const what = as === "rollout" ? "all layers together, by their rollout" : "the mean of all layers";
    return {entry, other: what, map: as === "rollout" ? shown?.key : undefined};
  }
  if (!isMean) return {entry, other: "the mean of all heads", map: family.key};
  return family.grouped && family.maps.length > 1 ? {entry, title: map.title} : {entry};
}

/** The same as a sentence, for where there is no room for more: below a picture that is taken away. */
export function verdictSentence(explanation, maps) {
  const {entry, other} = findingOf(maps, explanation);
  if (!entry || other) return `${question} ${notMeasured(maps)}`;
  return `${question} ${(answers[entry.trust] ?? answers.unknown).word}. ${entry.verdict}`;
}

function notMeasured(maps) {
  return maps.length > 1 ? "Not measured for these maps together." : "Not measured for this map.";
}

/** The strip between the tabs and the picture. `washed(isWashed)` is told whether the picture must look so. */
export class Verdict {
  #washed;
  #finding = {};
  #maps = [];
  #offer = null;
  #timer = 0;

  constructor(washed) {
    addLooks(rules);
    this.#washed = washed;
    this.node = element("div", {class: "faith", role: "group", "aria-label": question});
  }

  /** Shows what is known of the picture that draws `maps`; `go(key)` opens another map. */
  show(maps, explanation, go) {
    this.stop();
    this.#maps = maps;
    this.#finding = findingOf(maps, explanation);
    this.go = go;
    this.#draw();
  }

  /** From now on what was not measured may be, by `start()`; `remark` says why it was not. Null: it may not. */
  offer(start, remark = "") {
    this.stop();
    this.#offer = start && {start, remark};
    this.#draw();
  }

  /** It is being measured; counts the seconds until something else is shown. `cancel()` ends it; null: it ends by itself at once. */
  measuring(cancel) {
    this.stop();
    this.node.dataset.state = "measuring";
    if (!cancel) return this.#fill("quiet", answers.unknown, "Measuring…");
    const begin = performance.now();
    const seconds = element("span", {class: "faith-seconds"});
    const tell = () => (seconds.textContent = `${Math.floor((performance.now() - begin) / 1000)} s`);
    tell();
    this.#timer = setInterval(tell, 500);
    this.#fill("quiet", answers.unknown, "Measuring…", element("span", {}, seconds, " ",
      element("button", {type: "button", class: "faith-button", text: "Cancel", on: {click: cancel}})));
  }

  /** Ends the counting. */
  stop() {
    clearInterval(this.#timer);
    this.#timer = 0;
  }

  #draw() {
    const {entry, other, map, title} = this.#finding;
    if (entry && !other) return this.#drawVerdict(entry, title);
    const button = (text, click) => element("button", {type: "button", class: "faith-button", text, on: {click}});
    if (other) {
      this.#fill("quiet", answers.unknown, notMeasured(this.#maps),
        element("span", {}, `What was measured is ${other}. `, map && button("Show that", () => this.go(map))));
    } else if (this.#offer) {
      this.#fill("quiet", answers.unknown, "Not measured yet.",
        element("span", {}, this.#offer.remark, " ", button("Measure it", this.#offer.start)));
    } else {
      this.#fill("quiet", answers.unknown, notMeasured(this.#maps),
        "A large weight says where the model looked, not that the answer rests on it.");
    }
    this.node.dataset.state = "open";
  }

  #drawVerdict(entry, title) {
    const answer = answers[entry.trust] ?? answers.unknown;
    const whose = title ? [element("span", {class: "quiet"}, "Of ", element("bdi", {text: `“${title}”: `}))] : [];
    this.#fill(answer.tone, answer, `${answer.word}.`, ...whose, element("bdi", {text: entry.verdict}));
    this.node.dataset.state = entry.trust;
    const {measures = [], curves = [], notes = []} = entry;
    this.node.append(element("details", {class: "faith-entry"},
      element("summary", {text: "How this was measured"}),
      element("div", {class: "faith-body"}, element("p", {class: "quiet", text: basis(entry)}),
        measures.length > 0 && measureTable(measures),
        curves.length > 0 && element("div", {class: "faith-curves"}, curves.map(curveFigure)),
        notes.length > 0 && element("ul", {class: "faith-notes"},
          notes.map((note) => element("li", {dir: "auto", text: note}))))));
    if (entry.trust !== "unsupported") return;
    const toggle = element("button", {type: "button", class: "faith-button", "aria-pressed": "true"});
    const wash = (isWashed) => {
      toggle.setAttribute("aria-pressed", String(isWashed));
      toggle.textContent = isWashed ? "Show it in full colour" : "Wash it out again";
      this.#washed(isWashed);
    };
    toggle.addEventListener("click", () => wash(toggle.getAttribute("aria-pressed") !== "true"));
    this.node.querySelector(".faith-verdict").append(element("p", {class: "faith-washed"},
      "The picture below is washed out for that reason. ", toggle));
    wash(true);
  }

  #fill(tone, {shape}, word, ...texts) {
    this.#washed(false);
    clear(this.node).append(element("div", {class: "faith-line"}, trustMark({tone, shape}),
      element("div", {class: "faith-verdict"}, element("h2", {text: question}),
        element("p", {}, element("strong", {style: {color: `var(--${tone})`}, text: word}), " ", ...texts))));
  }
}

function basis({examples = 0, output = ""}) {
  const over = examples === 1 ? "one example" : `${count(examples)} examples`;
  return output ? `Measured over ${over}; the output is the ${output}.` : `Measured over ${over}.`;
}

// A tick, a wave or a cross in a ring; a question mark in a broken one.
function trustMark({tone, shape}) {
  return svg("svg", {
    class: "faith-mark", viewBox: "0 0 20 20", "aria-hidden": "true", fill: "none", stroke: `var(--${tone})`,
    "stroke-width": 1.8, "stroke-linecap": "round", "stroke-linejoin": "round",
  }, svg("circle", {cx: 10, cy: 10, r: 8.6, "stroke-dasharray": tone === "quiet" ? "3 2.6" : null}),
  svg("path", {d: shape}));
}

function measureTable(measures) {
  const head = (text, ...more) => element("th", {scope: "col"}, text, ...more);
  return element("table", {class: "faith-table"}, element("thead", {}, element("tr", {},
    head("Measure"), head("Value"), element("td", {class: "faith-track", "aria-hidden": "true"}),
    head("Random", element("span", {class: "faith-track", "aria-hidden": "true", text: " ❘"})))),
  element("tbody", {}, measures.map(measureRow)));
}

function measureRow(measure) {
  const {name, value, interval, baseline, better, about} = measure;
  const direction = directions[better];
  return element("tr", {},
    element("th", {scope: "row"}, element("bdi", {text: name}), "\u00a0",
      direction && element("span", {
        class: "faith-arrow", role: "img", title: direction.words, "aria-label": direction.words,
        text: direction.arrow,
      }),
      element("span", {class: "faith-about", dir: "auto", text: about})),
    element("td", {}, element("strong", {text: known(value)}),
      interval && element("span", {class: "faith-interval", title: "95 % interval"},
        `95 %: ${interval.map(known).join(" to ")}`)),
    element("td", {class: "faith-track", "aria-hidden": "true"}, Number.isFinite(value) && track(measure)),
    element("td", {text: known(baseline)}));
}

function known(value) {
  return Number.isFinite(value) ? number(value) : "–";
}

// The value with its interval on a line, the baseline as a short stroke across it.
function track({value, interval = [], baseline}) {
  const [from, to] = interval.filter(Number.isFinite);
  const marks = [0, value, from, to, baseline].filter(Number.isFinite);
  const [low, high] = [Math.min(...marks), Math.max(...marks)];
  const x = (place) => 6 + (128 * (place - low)) / (high - low || 1);
  const line = (x1, x2, attributes) => svg("line", {x1, y1: 10, x2, y2: 10, ...attributes});
  return svg("svg", {width: 140, height: 20}, line(6, 134, {stroke: "var(--rule)"}),
    to !== undefined && line(x(from), x(to), {
      stroke: "var(--accent)", "stroke-width": 5, "stroke-opacity": 0.35, "stroke-linecap": "round",
    }),
    Number.isFinite(baseline) &&
      line(x(baseline), x(baseline), {y1: 3, y2: 17, stroke: "var(--ink)", "stroke-width": 1.6}),
    svg("circle", {cx: x(value), cy: 10, r: 4.5, fill: "var(--accent)"}));
}

const rules = `
.faith {
  max-width: 62rem; display: grid; grid-template-columns: minmax(0, 1fr); gap: 0.4rem; padding: 0.7rem 0.9rem;
  border: 1px solid var(--rule); border-radius: 8px; background: var(--surface);
}
.faith[data-state="unsupported"] { border-color: var(--bad); }
.faith-line { display: flex; gap: 0.8rem; align-items: flex-start; }
.faith-line h2 { font-size: 0.9333rem; }
.faith-line p { overflow-wrap: anywhere; }
.faith-mark { flex: none; width: 1.6rem; height: 1.6rem; margin-top: 0.1rem; }
.faith-verdict { display: grid; gap: 0.2rem; min-width: 0; }
.faith-washed { font-size: 0.8667rem; }
.faith-button { min-height: 1.75rem; padding: 0.05rem 0.6rem; font-size: 0.8667rem; }
.faith-entry > summary { margin-left: 2.4rem; color: var(--accent); font-size: 0.8667rem; cursor: pointer; }
.faith-body { display: grid; grid-template-columns: minmax(0, 1fr); gap: 1.1rem; padding: 0.6rem 0.2rem 0.6rem 2.4rem; }
.washed canvas, .washed svg, .washed img { opacity: 0.42; }
.washed { filter: grayscale(1); }
.faith-table { border-collapse: collapse; width: 100%; font-size: 0.8667rem; }
.faith-table th, .faith-table td {
  padding: 0.55rem 1.2rem 0.55rem 0; text-align: start; vertical-align: top; font-weight: 400;
}
.faith-table thead th { color: var(--quiet); padding-block: 0 0.3rem; }
.faith-table tbody tr { border-top: 1px solid var(--rule); }
.faith-table td { white-space: nowrap; }
.faith-arrow { color: var(--accent); font-weight: 700; }
.faith-about { display: block; color: var(--quiet); font-size: 0.8rem; max-width: 30rem; }
.faith-interval { display: block; color: var(--quiet); font-size: 0.8rem; }
.faith-curves {
  display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 19rem), 1fr)); gap: 1.5rem 2.5rem;
}
.faith-notes { margin: 0; padding-inline-start: 1.1rem; font-size: 0.8667rem; color: var(--label); }
@media (max-width: 600px) {
  .faith-track { display: none; }
  .faith-body { padding-left: 0; }
  .faith-table td { white-space: normal; overflow-wrap: anywhere; }
  .faith-entry > summary { margin-left: 0; }
  .faith-table th, .faith-table td { padding-right: 0.7rem; }
}
`;
