// The answer: its text, the probabilities of what there was to choose among, and whether it is right. Right and
// wrong are told by a word and a shape; colour only repeats them.
import {element, svg} from "fovea/parts/dom.js";
import {folded} from "fovea/parts/folded.js";
import {count, percent, visible} from "fovea/parts/format.js";
import {addLooks} from "fovea/parts/looks.js";
import {truthWords} from "fovea/parts/truth.js";

const shownShares = 6;

const verdicts = {
  true: {tone: "good", shape: "M4.5 10.5l3.5 3.5L15.5 6.5"},
  false: {tone: "bad", shape: "M6 6l8 8M14 6l-8 8"},
};

// Answers of these kinds are compared with what is right.
const compared = ["class", "labels", "value", "rating", "text", "choice", "tags", "score"];

/** The block for an explanation's `prediction`; nothing where it has none. `ask`: {text, told(text)} of a page on which
    the reader can say what is right, and what was said already. */
export function answerBlock({prediction}, ask = null) {
  addLooks(rules);
  const {text, answer, truth} = prediction;
  const shares = (Array.isArray(prediction.shares) ? prediction.shares : [])
    .filter(({probability}) => Number.isFinite(probability));
  if (!text && shares.length === 0) return false;
  const isAnswer = answer !== undefined || shares.length > 0;
  return element("div", {class: "answer-block", role: "group", "aria-label": isAnswer ? "Answer" : "Shown"},
    element("h2", {class: "head-name", text: isAnswer ? "Answer" : "Shown"}),
    folded(element("p", {class: "prediction", dir: "auto", text: text || "(nothing)"})),
    isAnswer && truthLine(truth, answer, shares, ask),
    ask && isCompared(answer) && (!truth || ask.text !== "") && truthField(answer, ask),
    shares.length > 0 && shareList(shares, prediction));
}

function isCompared(answer) {
  return answer !== null && typeof answer === "object" && compared.some((key) => key in answer);
}

function truthLine(truth, answer, shares, ask) {
  if (!truth) {
    const isJudged = shares.length > 0 || Number.isFinite(answer?.value) || (ask && isCompared(answer));
    const text = ask?.text ? `“${visible(ask.text)}” cannot be compared with this answer.` : "The right answer is not known here.";
    return isJudged && element("p", {class: "quiet answer-truth"}, element("bdi", {text}));
  }
  const {tone, shape} = verdicts[truth.right] ?? {};
  const {word, name, text, remark} = truthWords(truth);
  return element("p", {class: "answer-truth"},
    word && mark(shape, tone),
    word && element("strong", {style: {color: `var(--${tone})`}, text: `${word}. `}),
    element("span", {}, name, element("b", {dir: "auto", text}), remark));
}

// For who knows what is right: Enter asks again.
function truthField(answer, ask) {
  const hint = Array.isArray(answer.labels) ? "labels, with | between" : Array.isArray(answer.tags) ? "a tag for each word" : "";
  const field = element("input", {
    type: "text", value: ask.text, placeholder: hint, dir: "auto", autocomplete: "off", spellcheck: "false",
  });
  const tell = (event) => {
    event.preventDefault();
    ask.told(field.value.trim());
  };
  return element("form", {class: "truth-field", on: {submit: tell}},
    element("label", {}, element("span", {text: "Right answer"}), field),
    element("button", {type: "submit", text: "Check"}));
}

function mark(shape, tone) {
  return svg("svg", {
    class: "truth-mark", viewBox: "0 0 20 20", "aria-hidden": "true", fill: "none", stroke: `var(--${tone})`,
    "stroke-width": 2, "stroke-linecap": "round", "stroke-linejoin": "round",
  }, svg("circle", {cx: 10, cy: 10, r: 8.6, "stroke-width": 1.6}), svg("path", {d: shape}));
}

// The likeliest few, and those that matter whatever their place: what was given and what is right.
function shareList(shares, {answers, truth}) {
  const right = new Set(truth ? [truth.text, ...truth.text.split(", ")] : []);
  const isRight = ({label}) => right.has(label);
  const few = shares.filter((share, place) => place < shownShares || share.given || isRight(share));
  const rest = shares.filter((share) => !few.includes(share));
  const all = Math.max(shares.length, Number.isFinite(answers) ? answers : 0);
  const row = (share) => shareRow(share, isRight(share));
  const left = all - few.length;
  const unlisted = all - shares.length;
  return [
    element("table", {class: "answer-shares", "aria-label": "Probability of each answer"},
      element("tbody", {}, few.map(row))),
    rest.length > 0 && element("details", {class: "share-rest"},
      element("summary", {text: `and ${count(left)} more`}),
      element("table", {class: "answer-shares", "aria-label": "Probability of the other answers"},
        element("tbody", {}, rest.map(row))),
      unlisted > 0 && element("p", {class: "quiet", text: `and ${count(unlisted)} less likely ones`})),
    rest.length === 0 && left > 0 && element("p", {class: "quiet", text: `and ${count(left)} more`}),
  ];
}

function shareRow({label, probability, given}, isRight) {
  const width = `${100 * Math.max(0, Math.min(1, probability))}%`;
  const remarks = [given && "answer", isRight && "right answer"].filter(Boolean).join(", ");
  return element("tr", {class: given ? "given" : ""},
    element("th", {scope: "row"}, element("bdi", {text: visible(label)}),
      remarks && element("span", {class: "share-remark", text: remarks})),
    element("td", {class: "share-bar", "aria-hidden": "true"}, element("span", {style: {width}})),
    element("td", {class: "share-number", text: percent(probability)}));
}

const rules = `
.answer-block { display: grid; gap: 0.4rem; align-content: start; min-width: 0; }
.answer-block .prediction {
  font-size: 1.25rem; font-weight: 650; line-height: 1.3; overflow-wrap: anywhere; white-space: pre-wrap;
}
.answer-truth { display: flex; gap: 0.45rem; align-items: flex-start; overflow-wrap: anywhere; }
.answer-truth > span { min-width: 0; }
.truth-field, .truth-field label { display: flex; flex-wrap: wrap; align-items: center; gap: 0.3rem 0.5rem; min-width: 0; }
.truth-field { font-size: 0.8667rem; }
.truth-field input { width: 14rem; max-width: 100%; min-width: 0; padding: 0.2rem 0.45rem; }
.truth-field button { padding: 0.2rem 0.6rem; font-size: inherit; }
.truth-mark { flex: none; width: 1.35rem; height: 1.35rem; margin-top: 0.05rem; }
.answer-shares { border-collapse: collapse; width: 100%; max-width: 34rem; font-size: 0.9rem; }
.answer-shares th { font-weight: 400; text-align: start; padding: 0.12rem 0.75rem 0.12rem 0; overflow-wrap: anywhere;
  max-width: 14rem; vertical-align: middle; }
.answer-shares td { padding: 0.12rem 0; vertical-align: middle; }
.answer-shares .given th, .answer-shares .given .share-number { font-weight: 650; }
.share-remark { margin-left: 0.5rem; color: var(--quiet); font-size: 0.8rem; font-weight: 400; white-space: nowrap; }
.share-bar { width: 45%; min-width: 4rem; }
.share-bar span { display: block; min-width: 2px; height: 0.7rem; border-radius: 2px;
  background: color-mix(in srgb, var(--accent) 45%, var(--paper)); }
.given .share-bar span { background: var(--accent); }
.answer-shares .share-number { width: 4.5rem; padding-left: 0.75rem; text-align: end; white-space: nowrap; }
.share-rest summary { color: var(--accent); font-size: 0.8667rem; cursor: pointer; }
`;
