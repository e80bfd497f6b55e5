// The table of input editors: the first that fits a model's input_schema is used. A new modality (a picture,
// a sound) is a new file and a line here.
//
// An editor module has
//   fits(schema)          whether it can edit such inputs
//   parse(text, schema)   an input from a line of a file, a link or the clipboard; throws
//                         an Error that says what is wrong
//   fromCells(header, cells, schema)
//                         an input from a row of a table; `header` is null where the table has none
//   text(input, schema)   the input as one line, for links; parse() gives it back
//   caption(input)        the input for people
//   mount(host, {schema, changed, label}) -> {read() -> {input} or {problem}, write(input), focus()}
// and, where an input is a file itself,
//   accept                which files, as a file field wants it
//   fromFile(file, schema) -> Promise of an input
//   thumbnail(input)      an element that shows it in an example's chip

import {picture} from "fovea/page/inputs/picture.js";
import {row} from "fovea/page/inputs/row.js";
import {sound} from "fovea/page/inputs/sound.js";
import {text} from "fovea/page/inputs/text.js";

const editors = [picture, sound, row, text];

/** The editor module for inputs of this schema; plain text when none is made for it. */
export function editorFor(schema) {
  return editors.find((editor) => editor.fits(schema)) ?? text;
}
