// Answers of the server as a record of rows, beside a column of the file that says what is right.
import {Column} from "fovea/rows/columns.js";
import {kinds, listOf} from "fovea/rows/kinds.js";
import {Rows} from "fovea/rows/record.js";

const mostNames = 50;  // of cells: more are texts

/** `results`: {answer} or {problem} of each row; `inputs`: texts; `truths`: texts, "" where it is not known, or
    null; `cells`: [{name, cells}], further columns of the file. */
export function rowsOfAnswers({kind, results, inputs, truths, cells, target = ""}) {
  const known = (row) => (truths && truths[row] !== "" ? truths[row] : null);
  const judged = results.map(({answer}, row) => (answer ? kinds[kind].judge(answer, known(row)) : {right: null}));
  const columns = [];
  if (inputs) columns.push(new Column({role: "input", name: "input", type: "text", values: inputs}));
  columns.push(...answerColumns(kind, results, judged, truths));
  if (judged.some(({right}) => right !== null)) {
    const values = Int32Array.from(judged, ({right}) => (right === null ? -1 : Number(right)));
    columns.push(new Column({role: "right", name: "result", type: "place", names: ["wrong", "right"], values}));
  }
  for (const [role, about] of [["probability", "of the answer"], ["surprisal", "−ln p(truth), nats"], ["distance", ""]]) {
    const values = Float32Array.from(judged, (row) => row[role] ?? NaN);
    if (values.some((value) => !Number.isNaN(value))) {
      const name = role === "distance" ? kinds[kind].scores[1].name.replace(/^mean (of )?/, "") : role;
      columns.push(new Column({role, name, about, type: "number", exact: false, values}));
    }
  }
  const problems = results.map(({problem}) => problem ?? "");
  if (problems.some(Boolean)) columns.push(new Column({role: "problem", name: "not answered", type: "text", values: problems}));
  columns.push(...cells.map(({name, cells: values}) => columnOfCells(name, values)));
  return new Rows({kind, count: results.length, columns, target});
}

/** Numbers, places in a list of few names, or texts. */
export function columnOfCells(name, cells) {
  const common = {role: "cell", name};
  const isNumber = (cell) => cell.trim() !== "" && Number.isFinite(Number(cell)) && !/^[+-]?0\d/.test(cell.trim());
  if (cells.some(isNumber) && cells.every((cell) => cell === "" || isNumber(cell))) {
    return new Column({...common, type: "number", values: Float64Array.from(cells, (cell) => (cell === "" ? NaN : Number(cell)))});
  }
  const names = [...new Set(cells)];
  if (names.length > mostNames) return new Column({...common, type: "text", values: cells});
  return new Column({...common, type: "place", names, values: placesOf(names, cells)});
}

function placesOf(names, values) {
  const places = new Map(names.map((name, place) => [name, place]));
  return Int32Array.from(values, (value) => places.get(value) ?? -1);
}

function answerColumns(kind, results, judged, truths) {
  const column = (role, others) => new Column({role, name: role, ...others});
  const answers = judged.map(({answer}) => answer ?? null);
  const withTruth = (answer, truth) => [column("answer", answer), ...(truths ? [column("truth", truth())] : [])];
  if (kind === "number") {
    const number = (text) => (text === null || text === "" ? NaN : Number(text));
    const numbers = (values) => ({type: "number", values: Float64Array.from(values, number)});
    return withTruth(numbers(answers), () => numbers(truths));
  }
  if (kind === "class" || kind === "labels") {
    const own = results.flatMap(({answer}) => Object.keys(answer?.scores ?? {}));
    const split = (text) => (kind === "labels" ? listOf(text) : [text].filter(Boolean));
    const names = [...new Set([...own, ...(truths ?? []).flatMap(split)])];
    if (kind === "class") {
      const places = (values) => ({type: "place", names, values: placesOf(names, values)});
      return withTruth(places(answers), () => places(truths));
    }
    const sets = (values) => ({type: "set", names, values: values.map((list) => Array.from(placesOf(names, list ?? [])))});
    return withTruth(sets(answers), () => sets(truths.map(split)));
  }
  const texts = (values) => ({type: "text", values: values.map((value) => value ?? "")});
  return withTruth(texts(answers), () => texts(truths));
}
