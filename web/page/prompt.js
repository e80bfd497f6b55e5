// The input of one pane: the form that fits the model or the same as JSON, what is wrong with it, files to step
// through, examples.

import {clear, element} from "fovea/parts/dom.js";
import {shorten, visible} from "fovea/parts/format.js";
import {freshId} from "fovea/page/fields/identity.js";
import {inputsFromFile} from "fovea/page/files.js";
import {editorFor} from "fovea/page/inputs/index.js";
import {rawEditor} from "fovea/page/inputs/raw.js";
import {Steps} from "fovea/page/steps.js";

const captionLength = 160;
const listFiles = ".txt,.json,.jsonl,.csv,.tsv";

/**
 * `changed({now, truth})` hears every edit; `now`: a whole input was chosen, nobody is typing; `truth`: the right
 * answer to it, where it came with one. `names(property, text)` is a Promise of names that the model knows. `opened`
 * hears of files: {file, inputs, choose(input, truth), caption(input), below: what stands below the file's place}.
 */
export class Prompt {
  #changed;
  #opened;
  #label;
  #names;
  #schema = null;
  #editor = null;
  #field = null;
  #isRaw = false;
  #problemId = freshId("problem");
  #editorHost = element("div", {class: "editor"});
  #examples = element("ul", {class: "examples", "aria-label": "Examples"});
  #examplesCaption = element("h3", {class: "caption", text: "Examples"});
  #state = element("p", {class: "input-state", role: "status"});
  #problem = element("p", {class: "problem", id: this.#problemId, role: "status"});
  #rawButton = element("button", {
    type: "button",
    class: "button-plain",
    "aria-pressed": "false",
    text: "JSON",
    title: "The input as JSON, in place of the form",
    on: {click: () => this.#toggleRaw()},
  });
  #file = element("input", {
    type: "file",
    class: "file-field",
    accept: listFiles,
    on: {change: () => this.#chooseFile()},
  });
  #steps;

  constructor(host, {changed, label, names, opened = null}) {
    this.#changed = changed;
    this.#opened = opened;
    this.#label = label;
    this.#names = names;
    const head = element(
      "div",
      {class: "prompt-head"},
      element("h3", {class: "caption", text: "Input"}),
      element("label", {class: "file-button"}, this.#file, element("span", {text: "Open a file"})),
      this.#rawButton,
    );
    host.append(head, this.#editorHost, this.#state, this.#problem);
    this.#steps = new Steps(host, (input) => this.#choose(input));
    host.append(this.#examplesCaption, this.#examples);
  }

  /**
   * Makes the editor for a model. `text`: the input to begin with; null keeps what is there if it fits, else
   * takes the first example.
   */
  use(model, text = null) {
    const kept = this.#sameShape(model.input_schema) ? this.text : "";
    // Forms show what training saw, which two models with the same columns need not share.
    const isSame = this.#field && JSON.stringify(model.input_schema) === JSON.stringify(this.#schema);
    if (!isSame) this.#mount(model.input_schema);
    this.#showExamples(model.examples ?? []);
    const start = text ?? (kept === "" ? null : kept);
    if (start !== null) this.write(start);
    else if (model.examples?.length > 0) this.#put(this.#wholeInput(model.examples[0]));
  }

  /** {input}, or {problem} where there is nothing to ask yet; the problem is shown. */
  read() {
    const found = this.#field?.read() ?? {problem: ""};
    this.refuse(found.problem ?? "");
    return found;
  }

  /** Says beside the input what is wrong with it; empty: nothing. */
  refuse(problem) {
    this.#problem.textContent = problem;
    const fields = this.#editorHost.querySelectorAll(`[aria-describedby~="${this.#problemId}"]`);
    // A form marks its own fields; of one field alone there is no doubt.
    if (fields.length === 1) fields[0].toggleAttribute("data-refused", problem !== "");
  }

  /** The input as one line of text; empty when it is not complete. */
  get text() {
    const {input} = this.#field?.read() ?? {};
    return input === undefined ? "" : this.#editor.text(input, this.#schema);
  }

  /** Puts an input in from its text. */
  write(text) {
    try {
      this.#put(this.#editor.parse(text, this.#schema));
    } catch (failure) {
      this.refuse(failure.message);
    }
  }

  /** Reads a dropped file and shows its first input. */
  async open(file) {
    this.#tell(`Reading ${file.name}…`);
    try {
      const inputs = await inputsFromFile(file, this.#editor, this.#schema);
      this.#tell(inputs.length > 1 ? "" : `Read ${file.name}.`);
      this.#steps.show(file.name, inputs);
      this.#opened?.({
        file, inputs, choose: (input, truth) => this.#choose(input, truth), caption: (input) => this.#editor.caption(input),
        below: this.#examplesCaption,
      });
    } catch (failure) {
      this.#tell("", failure.message);
    }
  }

  /** The next or an earlier input of the file; true where there is one. */
  step(by) {
    return this.#steps.step(by);
  }

  focus() {
    this.#field?.focus();
  }

  #tell(state, problem = "") {
    this.#state.textContent = state;
    this.refuse(problem);
  }

  #mount(schema) {
    this.#schema = schema;
    this.#editor = editorFor(schema);
    this.#file.accept = this.#editor.accept ? `${this.#editor.accept},${listFiles}` : listFiles;
    this.#rawButton.hidden = schema.type === "string";
    this.#steps.show("", []);
    this.#tell("");
    this.#show(false);
  }

  // The form, or the field for JSON.
  #show(isRaw) {
    this.#isRaw = isRaw;
    this.#rawButton.setAttribute("aria-pressed", String(isRaw));
    const editor = isRaw ? rawEditor(this.#editor) : this.#editor;
    this.#field = editor.mount(clear(this.#editorHost), {
      schema: this.#schema,
      label: this.#label,
      describedBy: this.#problemId,
      changed: (how) => {
        this.#tell("");
        this.#changed({now: false, ...how});
      },
      told: (state, problem) => this.#tell(state, problem),
      names: (property, text) => this.#names(property, text),
    });
  }

  // An example of an object may be its text: the name of a node alone.
  #wholeInput(example) {
    const isText = typeof example === "string" && this.#schema.type !== "string";
    return isText ? this.#editor.parse(example, this.#schema) : example;
  }

  // Inputs that the form cannot show are shown as they are.
  #put(input) {
    const fits = this.#editor.takes?.(input, this.#schema) ?? true;
    if (!fits && !this.#isRaw) this.#show(true);
    this.#field.write(input);
  }

  #toggleRaw() {
    const {input} = this.#field.read();
    if (this.#isRaw && input !== undefined && !(this.#editor.takes?.(input, this.#schema) ?? true)) {
      return this.refuse("The form has no place for all of this input; it stays JSON.");
    }
    this.#show(!this.#isRaw);
    if (input !== undefined) this.#field.write(input);
    this.refuse("");
    this.#rawButton.focus();
  }

  #sameShape(schema) {
    return shapeOf(schema) === shapeOf(this.#schema);
  }

  #choose(input, truth = "") {
    this.#put(input);
    this.#changed({now: true, truth});
  }

  #chooseFile() {
    const [file] = this.#file.files;
    if (file) this.open(file);
    this.#file.value = "";
  }

  #showExamples(examples) {
    const item = (given) => {
      const example = this.#wholeInput(given);
      const text = visible(this.#editor.caption(example));
      const button = element(
        "button",
        {
          type: "button",
          class: "example",
          title: shorten(text, 1000),
          on: {
            click: () => {
              this.#tell("");
              this.#choose(example);
            },
          },
        },
        this.#editor.thumbnail?.(example) ?? [this.#editor.sketch?.(example), element("bdi", {text: shorten(text, captionLength)})],
      );
      return element("li", {}, button);
    };
    this.#examplesCaption.hidden = examples.length === 0;
    clear(this.#examples).append(...examples.map(item));
  }
}

/** Two models with the same shape of schema can take the same inputs. */
export function shapeOf(schema) {
  return (
    schema &&
    JSON.stringify([schema.type, schema.contentMediaType ?? "", Object.keys(schema.properties ?? {})])
  );
}
