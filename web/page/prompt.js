// The input of one pane: the editor that fits the model, examples as chips, files to step through.

import {clear, element} from "fovea/parts/dom.js";
import {shorten, visible} from "fovea/parts/format.js";
import {inputsFromFile} from "fovea/page/files.js";
import {editorFor} from "fovea/page/inputs/index.js";
import {Steps} from "fovea/page/steps.js";

const chipLength = 40;
const listFiles = ".txt,.json,.jsonl,.csv,.tsv";

/** `changed({now})` hears every edit; `now`: a whole input was chosen, nobody is typing. */
export class Prompt {
  #changed;
  #label;
  #schema = null;
  #editor = null;
  #field = null;
  #editorHost = element("div", {class: "editor"});
  #examples = element("ul", {class: "examples", "aria-label": "Examples"});
  #examplesCaption = element("h3", {class: "caption", text: "Examples"});
  #problem = element("p", {class: "problem", role: "status"});
  #file = element("input", {
    type: "file",
    class: "file-field",
    accept: listFiles,
    on: {change: () => this.#chooseFile()},
  });
  #steps;

  constructor(host, {changed, label}) {
    this.#changed = changed;
    this.#label = label;
    const below = element(
      "div",
      {class: "prompt-below"},
      element("label", {class: "file-button"}, this.#file, element("span", {text: "Open a file"})),
    );
    host.append(element("h3", {class: "caption", text: "Input"}), this.#editorHost, this.#problem, below);
    this.#steps = new Steps(host, (input) => this.#choose(input));
    host.append(this.#examplesCaption, this.#examples);
  }

  /**
   * Makes the editor for a model. `text`: the input to begin with; null keeps what is there if it fits, else
   * takes the first example.
   */
  use(model, text = null) {
    const kept = this.#sameShape(model.input_schema) ? this.text : "";
    if (!this.#sameShape(model.input_schema)) this.#mount(model.input_schema);
    this.#showExamples(model.examples ?? []);
    const start = text ?? (kept === "" ? null : kept);
    if (start !== null) this.write(start);
    else if (model.examples?.length > 0) this.#field.write(model.examples[0]);
  }

  /** {input}, or {problem} where there is nothing to ask yet; the problem is shown. */
  read() {
    const found = this.#field?.read() ?? {problem: ""};
    this.#problem.textContent = found.problem ?? "";
    return found;
  }

  /** The input as one line of text; empty when it is not complete. */
  get text() {
    const {input} = this.#field?.read() ?? {};
    return input === undefined ? "" : this.#editor.text(input, this.#schema);
  }

  /** Puts an input in from its text. */
  write(text) {
    try {
      this.#field.write(this.#editor.parse(text, this.#schema));
    } catch (failure) {
      this.#problem.textContent = failure.message;
    }
  }

  /** Reads a dropped file and shows its first input. */
  async open(file) {
    try {
      const inputs = await inputsFromFile(file, this.#editor, this.#schema);
      this.#steps.show(file.name, inputs);
    } catch (failure) {
      this.#problem.textContent = failure.message;
    }
  }

  /** The next or an earlier input of the file; true where there is one. */
  step(by) {
    return this.#steps.step(by);
  }

  focus() {
    this.#field?.focus();
  }

  #mount(schema) {
    this.#schema = schema;
    this.#editor = editorFor(schema);
    this.#file.accept = this.#editor.accept ? `${this.#editor.accept},${listFiles}` : listFiles;
    this.#steps.show("", []);
    this.#field = this.#editor.mount(clear(this.#editorHost), {
      schema,
      label: this.#label,
      changed: () => this.#changed({now: false}),
    });
  }

  #sameShape(schema) {
    return shapeOf(schema) === shapeOf(this.#schema);
  }

  #choose(input) {
    this.#field.write(input);
    this.#changed({now: true});
  }

  #chooseFile() {
    const [file] = this.#file.files;
    if (file) this.open(file);
    this.#file.value = "";
  }

  #showExamples(examples) {
    const chip = (example) => {
      const text = this.#editor.caption(example);
      const button = element(
        "button",
        {
          type: "button",
          class: "example",
          title: shorten(text, 400),
          on: {click: () => this.#choose(example)},
        },
        this.#editor.thumbnail?.(example) ?? element("bdi", {text: shorten(visible(text), chipLength)}),
      );
      return element("li", {}, button);
    };
    this.#examplesCaption.hidden = examples.length === 0;
    clear(this.#examples).append(...examples.map(chip));
  }
}

/** Two models with the same shape of schema can take the same inputs. */
export function shapeOf(schema) {
  return (
    schema &&
    JSON.stringify([schema.type, schema.contentMediaType ?? "", Object.keys(schema.properties ?? {})])
  );
}
