// The table of input editors: the first that fits a model's input_schema is used. A new modality is a new file and
// a line here.
//
// An editor module has
//   fits(schema)          whether it can edit such inputs
//   parse(text, schema)   an input from a line of a file, a link or the clipboard; throws
//                         an Error that says what is wrong
//   fromCells(header, cells, schema)
//                         an input from a row of a table; `header` is null where the table has none
//   text(input, schema)   the input as one line, for links; parse() gives it back
//   caption(input)        the input for people: what it is, in a line
//   mount(host, {schema, changed, label, describedBy, names, told}) -> {read() -> {input} or {problem}, write(input), focus()}
//                         changed({now}) is to be called at every edit; describedBy: the id of what says what is wrong
//                         with the input; names(property, text) -> Promise of names that the model knows;
//                         told(state, problem) says what becomes of a file
// and may have
//   takes(input, schema)  false for inputs that its form cannot show; they are shown as JSON
//   fromTable(text, schema)
//                         one input from a whole table, in place of one for each row
// and, where an input is a file itself,
//   accept                which files, as a file field wants it
//   fromFile(file, schema) -> Promise of an input
//   thumbnail(input)      an element that shows it in place of an example's caption
//   sketch(input)         one that stands before the caption

import {lines} from "fovea/page/inputs/lines.js";
import {node} from "fovea/page/inputs/node.js";
import {picture} from "fovea/page/inputs/picture.js";
import {rating} from "fovea/page/inputs/rating.js";
import {row} from "fovea/page/inputs/row.js";
import {series} from "fovea/page/inputs/series.js";
import {sound} from "fovea/page/inputs/sound.js";
import {text} from "fovea/page/inputs/text.js";
import {texts} from "fovea/page/inputs/texts.js";
import {visits} from "fovea/page/inputs/visits.js";

const editors = [picture, sound, visits, series, rating, node, texts, row, lines, text];

/** The editor module for inputs of this schema; plain text when none is made for it. */
export function editorFor(schema) {
  return editors.find((editor) => editor.fits(schema)) ?? text;
}
