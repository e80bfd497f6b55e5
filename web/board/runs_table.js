// The trainings as a table that is the legend too: what each is doing, its best value, and a switch that hides
// its curves.
import {element} from "fovea/parts/dom.js";
import {count, number, visible} from "fovea/parts/format.js";
import {sample} from "fovea/board/line_chart.js";
import {titleOf} from "fovea/board/curves.js";
import {duration, measure} from "fovea/board/times.js";

const states = {
  beginning: "begins",
  running: "running",
  finished: "finished",
  stopped: "stopped",
  "broken off": "broken off",
  unreadable: "cannot be read",
};

/** The cells of a run that are texts, by column. */
function cellsOf(run) {
  const epochs = run.value.epochs_planned;
  const reached = run.last("epoch") ?? run.epochs.at(-1)?.epoch;
  const best = run.best(run.monitored);
  const speed = run.last("rows_per_second");
  const seconds = run.last("seconds") ?? run.epochs.reduce((sum, epoch) => sum + (epoch.seconds ?? 0), 0);
  return {
    Epoch: reached === undefined ? "–" : `${number(Number(reached.toFixed(1)))}${epochs ? ` of ${count(epochs)}` : ""}`,
    Best: best ? `${measure(best.value)} ${titleOf(run.monitored).replace("Validation ", "")}, epoch ${number(best.epoch)}` : "–",
    "Rows/s": speed === undefined ? "–" : number(speed),
    Time: run.curves.size ? duration(seconds) : "–",
    Left: run.isOpen && run.last("left") !== undefined ? duration(run.last("left")) : "–",
  };
}

/** The table of `runs`, some of which may not be read yet; `settings` says which are hidden. */
export function runsTable(runs, settings) {
  const best = bestRun(runs);
  const columns = ["Run", "State", "Epoch", "Best", "Rows/s", "Time", "Left"];
  const rows = runs.map((run) => {
    const isHidden = settings.isHidden(run.index);
    const toggle = element("button", {
      type: "button", class: "board-run", "aria-pressed": String(!isHidden), dataset: {run: run.index},
      title: isHidden ? "Show its curves" : "Hide its curves",
      on: {click: () => settings.hide(run.index, !isHidden)},
    }, sample(run.index), element("bdi", {text: visible(run.name)}));
    const cells = cellsOf(run);
    const state = [element("span", {class: "board-state", dataset: {state: run.state}, text: states[run.state] ?? run.state})];
    const why = run.error || run.value.summary;
    if (why) state.push(element("span", {class: "quiet board-why", dir: "auto", text: why}));
    return element("tr", {class: isHidden ? "hidden-run" : ""},
      element("th", {scope: "row"}, toggle),
      element("td", {dataset: {title: "State"}}, state),
      ...Object.entries(cells).map(([title, text]) =>
        element("td", {dataset: {title}},
          text, title === "Best" && run === best && element("strong", {class: "board-winner", text: "best of all"}))));
  });
  return element("table", {class: "board-runs"},
    element("caption", {class: "visually-hidden", text: "Trainings; the button of each hides its curves"}),
    element("thead", {}, element("tr", {}, columns.map((text) => element("th", {scope: "col", text})))),
    element("tbody", {}, rows));
}

// Where several runs measure the same, the one with the best value.
function bestRun(runs) {
  const measured = runs.filter((run) => run.best(run.monitored));
  const tags = new Set(measured.map((run) => run.monitored));
  const tasks = new Set(measured.map(({value}) => value.task));  // what is a good loss differs
  if (measured.length < 2 || tags.size !== 1 || tasks.size !== 1) return undefined;
  const [tag] = tags;
  return measured.reduce((a, b) => {
    const [first, second] = [a.best(tag).value, b.best(tag).value];
    return (a.lowerIsBetter(tag) ? second < first : second > first) ? b : a;
  });
}
