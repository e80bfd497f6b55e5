// What follows from the kind of answers, once for each kind: by what rows are judged, which figures there are,
// which rows are worth a look first, and how an answer of the server becomes a row.

const accuracy = {role: "right", name: "accuracy", share: true};
const exactMatch = {role: "right", name: "exact match", share: true};
const mostSurprising = {
  title: "Most surprising", about: "lowest probability of the truth", sort: "surprisal", descending: true,
};
const confidentErrors = {
  title: "Most confident errors", about: "wrong, with the highest probability", sort: "probability",
  descending: true, wrong: true,
};
const furthestOff = {title: "Furthest off", about: "wrong, by distance", sort: "distance", descending: true, wrong: true};

/** `scores`: the first judges rows, the others stand beside it. `figures`: names in view.js. `fits(answer)`:
    whether the server answers so; `judge(answer, truth)`: its row beside a text that is right (null where that
    is not known), as the kind of output of the library compares them. */
export const kinds = {
  class: {
    scores: [accuracy],
    figures: ["confusion", "classes", "calibration", "slices"],
    presets: [confidentErrors, mostSurprising],
    fits: (answer) => typeof answer.class === "string",
    judge({class: name, probability, scores}, truth) {
      const own = truth !== null && Object.hasOwn(scores, truth) ? scores[truth] : NaN;
      return {answer: name, probability, surprisal: -Math.log(own), right: truth === null ? null : name === truth};
    },
  },
  labels: {
    scores: [{...accuracy, name: "all labels right"}, {role: "distance", name: "wrong labels"}],
    figures: ["labels", "calibration", "slices"],
    presets: [furthestOff, confidentErrors, mostSurprising],
    fits: (answer) => Array.isArray(answer.labels),
    judge({labels, scores}, truth) {
      const given = new Set(labels);
      const likelihood = (wanted) => Object.entries(scores)
        .reduce((sum, [label, p]) => sum + Math.log(wanted.has(label) ? p : 1 - p), 0);
      const judged = {answer: labels, probability: Math.exp(likelihood(given))};
      if (truth === null) return {...judged, right: null};
      const wanted = new Set(listOf(truth));
      const distance = Object.keys(scores).filter((label) => given.has(label) !== wanted.has(label)).length;
      return {...judged, surprisal: -likelihood(wanted), distance, right: distance === 0};
    },
  },
  number: {
    scores: [{role: "error", name: "mean absolute error"}, {role: "residual", name: "mean residual (bias)"}],
    figures: ["residuals", "slices"],
    presets: [{title: "Largest residuals", about: "by size", sort: "error", descending: true}],
    fits: (answer) => typeof (answer.value ?? answer.rating) === "number",
    judge: (answer) => ({answer: answer.value ?? answer.rating, right: null}),
  },
  text: {
    scores: [exactMatch, {role: "distance", name: "mean character error rate"}],
    figures: ["calibration", "slices"],
    presets: [furthestOff, confidentErrors, mostSurprising],
    fits: (answer) => typeof answer.text === "string",
    judge({text, log_probability: likelihood}, truth) {
      const judged = {answer: text, probability: Math.exp(likelihood ?? NaN)};
      if (truth === null) return {...judged, right: null};
      const wanted = Array.from(truth);
      const distance = editDistance(Array.from(text), wanted) / Math.max(1, wanted.length);
      return {...judged, distance, right: text === truth};
    },
  },
  tags: {
    scores: [{...exactMatch, name: "all words right"}, {role: "distance", name: "wrong words"}],
    figures: ["calibration", "slices"],
    presets: [furthestOff, mostSurprising],
    fits: (answer) => Array.isArray(answer.tags),
    judge({tags}, truth) {
      if (truth === null) return {answer: tags.join(" "), right: null};
      const wanted = truth.split(/[\s|]+/).filter(Boolean);
      const distance = tags.filter((tag, word) => tag !== wanted[word]).length;
      return {answer: tags.join(" "), distance, right: distance === 0 && wanted.length === tags.length};
    },
  },
  choice: {
    scores: [accuracy],
    figures: ["calibration", "slices"],
    presets: [confidentErrors, mostSurprising],
    fits: (answer) => typeof answer.choice === "string",
    judge({choice, index, probability, probabilities}, truth) {
      if (truth === null) return {answer: choice, probability, right: null};
      const place = /^\d+$/.test(truth) ? Number(truth) : -1;
      const right = place >= 0 ? place === index : truth === choice;
      return {answer: choice, probability, surprisal: -Math.log(place >= 0 ? probabilities[place] : NaN), right};
    },
  },
  span: {
    scores: [exactMatch, {role: "distance", name: "mean of 1 − F1"}],
    figures: ["calibration", "slices"],
    presets: [furthestOff, confidentErrors, mostSurprising],
    fits: (answer) => "answer" in answer && "score" in answer,
    judge({answer, score}, truth) {
      const said = answer ?? "no answer";
      if (truth === null) return {answer: said, probability: score, right: null};
      const [found, wanted] = [answer ?? "", truth === "no answer" ? "" : truth].map(normalised);
      return {answer: said, probability: score, distance: 1 - wordF1(found, wanted), right: found === wanted};
    },
  },
};

/** The kind of an answer of the server, or undefined where such answers are not compared row by row. */
export function kindOf(answer) {
  return Object.keys(kinds).find((kind) => answer && kinds[kind].fits(answer));
}

/** The labels of a cell, with | or , between them. */
export function listOf(text) {
  return text.split(text.includes("|") ? "|" : ",").map((label) => label.trim()).filter(Boolean);
}

/** Insertions, deletions and substitutions between two lists (Levenshtein). */
export function editDistance(found, wanted) {
  let costs = Array.from({length: wanted.length + 1}, (_, i) => i);
  found.forEach((symbol, i) => {
    const next = [i + 1];
    wanted.forEach((other, j) => {
      next.push(Math.min(next[j] + 1, costs[j + 1] + 1, costs[j] + (symbol === other ? 0 : 1)));
    });
    costs = next;
  });
  return costs[wanted.length];
}

// As the official script of SQuAD: without case, punctuation, articles and extra blanks.
function normalised(text) {
  return text.toLowerCase().replace(/[!-/:-@[-`{-~]/g, "").replace(/\b(a|an|the)\b/g, " ")
    .split(/\s+/).filter(Boolean).join(" ");
}

function wordF1(found, wanted) {
  if (!found || !wanted) return Number(found === wanted);
  const [own, right] = [found.split(" "), wanted.split(" ")];
  const left = new Map();
  for (const word of right) left.set(word, (left.get(word) ?? 0) + 1);
  const shared = own.filter((word) => {
    const times = left.get(word) ?? 0;
    left.set(word, times - 1);
    return times > 0;
  }).length;
  return (2 * shared) / (own.length + right.length);
}
