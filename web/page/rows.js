// A dropped file of many inputs: all of them are answered, and the answers stand in a table below the panes, beside
// what is right where a column of the file says it. A row opens in the pane.

import {clear, element} from "fovea/parts/dom.js";
import {count, shorten, visible} from "fovea/parts/format.js";
import {addLooks} from "fovea/parts/looks.js";
import {answerAll} from "fovea/page/batches.js";
import {columnsOfFile, truthPlace} from "fovea/page/file_columns.js";
import {rowsOfAnswers} from "fovea/rows/answers.js";
import {besideColumns} from "fovea/rows/beside.js";
import {kindOf, listOf} from "fovea/rows/kinds.js";
import {RowsView} from "fovea/rows/view.js";

const looks = `
.file-rows { display: flex; flex-wrap: wrap; align-items: center; gap: 0.4rem 0.6rem; margin-top: 0.6rem; font-size: 0.8667rem; }
.file-rows select { max-width: 100%; min-width: 0; }
.file-rows progress { width: 100%; accent-color: var(--accent); }
.rows-below { grid-column: 1 / -1; min-width: 0; padding: 1.25rem 1.5rem 2rem; border-top: 1px solid var(--rule); }
.rows-below > h2 { margin-bottom: 1rem; }
`;

/** `page`: {server, announce(text)}; `place()` gives the element that the table goes into. */
export class FileRows {
  #page;
  #place;
  #offered = null;
  #flight = null;
  #view = null;
  #node = element("div", {class: "file-rows", hidden: true});
  #section = null;

  constructor({page, place}) {
    addLooks(looks);
    this.#page = page;
    this.#place = place;
  }

  /** A file was opened: `model` answers, one of the models `others` may stand beside it, `choose(input, truth)` shows one with what is right, as far as that is
      known, `caption(input)` names one; what is offered stands before the element `below`. */
  async offer({file, inputs, model, others, choose, caption, below}) {
    this.close();
    below.before(this.#node);
    if (inputs.length < 2) return;
    const columns = await columnsOfFile(file, inputs.length).catch(() => ({names: [], cells: []}));
    this.#offered = {file, inputs, model, choose, caption, columns};
    const truth = truthPlace(columns.names, model.input_schema);
    const option = (name, value) => element("option", {value, text: shorten(visible(name), 40), selected: value === truth});
    const select = element("select", {"aria-label": "Column that says what is right"},
      option("right answers: not known", -1), columns.names.map((name, value) => option(`right answers: ${name}`, value)));
    const second = element("select", {"aria-label": "Second model, to be compared"},
      element("option", {value: "", text: "compared with: no other model"}),
      others.map(({name}) => element("option", {value: name, text: `compared with: ${shorten(visible(name), 40)}`})));
    const answer = element("button", {
      type: "button", text: `Answer all ${count(inputs.length)}`, on: {click: () => this.#answer(Number(select.value), second.value)},
    });
    clear(this.#node).append(answer, columns.names.length > 0 ? select : "", others.length > 0 ? second : "");
    this.#node.hidden = false;
  }

  /** Takes offer and table away. */
  close() {
    this.#flight?.abort();
    this.#flight = null;
    this.#view?.destroy();
    this.#view = null;
    this.#section?.remove();
    this.#section = null;
    this.#offered = null;
    this.#node.hidden = true;
  }

  async #answer(truth, second) {
    const {inputs, model} = this.#offered;
    const names = [model.name, ...(second ? [second] : [])];
    const offered = this.#offered;
    const flight = new AbortController();
    this.#flight?.abort();
    this.#flight = flight;
    const controls = [...this.#node.childNodes];
    const all = names.length * inputs.length;
    const bar = element("progress", {max: all, value: 0, "aria-label": "Inputs answered"});
    const said = element("span", {class: "quiet"});
    const cancel = element("button", {type: "button", text: "Cancel", on: {click: () => flight.abort()}});
    clear(this.#node).append(bar, said, cancel);
    cancel.focus();
    const begin = performance.now();
    const told = (done) => {
      bar.value = done;
      const left = ((performance.now() - begin) / done) * (all - done) / 1000;
      said.textContent = `${count(done)} of ${count(all)}${left >= 1 ? `, ${count(left)} s left` : ""}`;
    };
    const send = (name) => (some, signal) => this.#page.server.answers({model: name, inputs: some}, signal);
    let problem = "";
    try {
      const results = [];
      for (const name of names) {
        const before = results.length * inputs.length;
        results.push(await answerAll(inputs, send(name), {signal: flight.signal, told: (done) => told(before + done)}));
      }
      if (this.#offered === offered) problem = this.#show(results, truth, names);
    } catch (error) {
      problem = error.name === "AbortError" ? "Cancelled." : error.message;
    }
    if (this.#offered !== offered) return;
    this.#flight = null;
    const outcome = element("span", {role: "status", text: problem});
    clear(this.#node).append(...controls, outcome);
    this.#page.announce(problem || `${count(inputs.length)} inputs are answered; the table is below.`);
  }

  // Gives what is wrong, or "".
  #show([results, theirs], truth, [name, second]) {
    const {file, inputs, model, choose, caption, columns} = this.#offered;
    const firsts = [results, theirs].filter(Boolean).map((some) => some.find(({answer}) => answer));
    const unanswered = firsts.indexOf(undefined);
    if (unanswered >= 0) return [results, theirs][unanswered][0].problem;
    const [kind, other = kind] = firsts.map(({answer}) => kindOf(answer));
    if (!kind) return "The answers of this model are not compared row by row.";
    const [own, others = own] = firsts.map(({answer}) => Object.keys(answer.scores ?? {}).sort().join());
    if (kind !== other || own !== others) return `${second} does not choose among the answers of ${name}: they cannot be compared.`;
    const isTable = Boolean(model.input_schema.properties) && columns.names.length > 0;
    const texts = inputs.map(caption);
    const cells = columns.names.map((name, place) => ({name, cells: columns.cells[place], place}))
      .filter(({place, cells: own}) => place !== truth && (isTable || own.some((cell, row) => cell !== texts[row])));
    const truths = truth >= 0 ? columns.cells[truth] : null;
    const target = columns.names[truth] ?? "";
    const rows = rowsOfAnswers({kind, results, cells, inputs: isTable ? null : texts, truths, target});
    if (theirs) {
      const beside = rowsOfAnswers({kind, results: theirs, cells: [], inputs: null, truths, target});
      const place = rows.columns.findLastIndex(({role}) => ["answer", "truth", "right", "error"].includes(role)) + 1;
      rows.columns.splice(place, 0, ...besideColumns(rows, beside, [name, second]));
    }
    this.#view?.destroy();
    this.#section?.remove();
    const heading = element("h2", {tabindex: -1, dir: "auto", text: `${count(results.length)} rows of ${file.name}, answered by ${[name, second].filter(Boolean).join(" and ")}`});
    this.#section = element("section", {class: "rows-below", "aria-label": "Rows of the file"}, heading);
    this.#place().append(this.#section);
    this.#view = new RowsView(this.#section, rows, {
      caption: heading.textContent, level: "h3", fileName: `${model.name}-${file.name.replace(/\.\w+$/, "")}`,
      open: (row) => {
        choose(inputs[row], truthText(kind, truth >= 0 ? columns.cells[truth][row] : ""));
        window.scrollTo({top: 0});
      },
    });
    heading.focus({preventScroll: true});
    this.#section.scrollIntoView({block: "start"});
    return "";
  }
}

// As the server takes it: labels with | between them.
function truthText(kind, text) {
  return kind === "labels" ? listOf(text).join("|") : text;
}
