// One pane: a model, an input, the answer. The page shows one, or two to compare.

import {element} from "fovea/parts/dom.js";
import {State} from "fovea/model/state.js";
import {Answer, withoutMaps} from "fovea/page/answer.js";
import {Asker} from "fovea/page/asker.js";
import {ModelPicker} from "fovea/page/models.js";
import {Prompt, shapeOf} from "fovea/page/prompt.js";

const waitings = {
  loading: (name) => `The model ${name} is loading.`,
  failed: (name) => `The model ${name} could not be loaded.`,
};

/** `page`: {server, announce(text), changed(pane, what, keys), refused()}; see Page.changed(). */
export class Pane {
  #page;
  #name;
  #models = [];
  #model = null;
  #wanted;
  #heading;
  #picker;
  #prompt;
  #answer;
  #asker;
  #last = null;

  constructor(page, name, wanted = {}) {
    this.#page = page;
    this.#name = name;
    this.#wanted = wanted;
    this.state = State.fromText(wanted.view ?? "");
    this.state.subscribe((keys) => page.changed(this, "view", keys));
    this.#heading = element("h2", {class: "pane-name", tabindex: -1, text: name});
    const ask = element("div", {class: "pane-ask"});
    const answer = element("div", {class: "pane-answer", tabindex: -1});
    this.node = element(
      "section",
      {
        class: "pane",
        "aria-label": `Pane ${name}`,
        on: {
          dragover: (event) => this.#dragOver(event),
          drop: (event) => this.#drop(event),
          keydown: (event) => this.#keyDown(event),
        },
      },
      this.#heading,
      ask,
      answer,
    );
    ask.append(element("h3", {class: "caption", text: "Model"}));
    this.#picker = new ModelPicker(ask, (model) => this.#pick(model));
    ask.append(element("p", {class: "hint following-note", text: "Same input as A."}));
    this.#prompt = new Prompt(ask, {label: "Input", changed: (how) => this.#edited(how)});
    this.#answer = new Answer(answer, this.state, {
      again: () => this.#asker.again(),
      measure: () => this.measure(),
      report: () => page.server.report(this.#last),
    });
    this.#asker = new Asker(
      (request, signal) => this.#send(request, signal),
      (happening) => this.#told(happening),
    );
  }

  get model() {
    return this.#model;
  }

  get text() {
    return this.#prompt.text;
  }

  get prediction() {
    return this.#answer.prediction;
  }

  /** What a link must hold to bring this pane back. */
  get wanted() {
    return {
      model: this.#model?.name ?? this.#wanted.model,
      input: this.#model ? this.text : this.#wanted.input,
      view: this.state.toText(),
    };
  }

  /** New facts about the models; takes up the wanted one when it is there. */
  setModels(models) {
    this.#models = models;
    const name = this.#model?.name ?? this.#wanted.model ?? models[0]?.name;
    const model = models.find((one) => one.name === name) ?? models[0];
    if (!model) return this.#answer.say("The server has no model.");
    const fresh = this.#model === null;
    const wasReady = this.#model?.status === "ready";
    this.#model = model;
    this.#picker.show(models, model.name);
    if (fresh) this.#prompt.use(model, this.#wanted.input ?? null);
    if (fresh || !wasReady) this.ask({now: true});
  }

  /** Goes back to what an address wants. */
  restore(wanted) {
    this.#wanted = wanted;
    this.state.set(State.fromText(wanted.view).values);
    if (!this.#model || (wanted.model === this.#model.name && wanted.input === this.text)) return;
    this.#model = null;
    this.setModels(this.#models);
  }

  /** Shows the same input as another pane, or an own one again. */
  follow(follows) {
    this.node.classList.toggle("following", follows);
  }

  /** Takes the input of another pane. */
  write(text) {
    if (text === this.text) return;
    this.#prompt.write(text);
    this.ask();
  }

  /** Whether this pane's model takes the inputs of the other's. */
  takesInputsOf(other) {
    return (
      Boolean(this.#model && other.model) &&
      shapeOf(this.#model.input_schema) === shapeOf(other.model.input_schema)
    );
  }

  /** Asks for what is in the editor. */
  ask({now = false} = {}) {
    if (!this.#model) return;
    const {name, status} = this.#model;
    const {input, problem} = status === "ready" ? this.#prompt.read() : {problem: waitings[status](name)};
    if (problem === undefined) return this.#asker.ask({model: name, input}, {now});
    this.#asker.stop();
    this.#answer.say(problem);
  }

  /** Asks what is on screen again, with a measure of whether to believe it. */
  measure() {
    if (this.#last) this.#asker.ask({...this.#last, faithfulness: true}, {now: true});
  }

  /** The next or an earlier input of the file. */
  step(by) {
    return this.#prompt.step(by);
  }

  focus() {
    this.#heading.focus();
  }

  focusModel() {
    this.#picker.focus();
  }

  focusInput() {
    this.#prompt.focus();
  }

  focusAnswer() {
    this.node.querySelector(".pane-answer").focus();
  }

  destroy() {
    this.#asker.stop();
    this.#answer.destroy();
    this.node.remove();
  }

  #pick(name) {
    this.#model = this.#models.find((model) => model.name === name);
    this.#picker.show(this.#models, name);
    this.#prompt.use(this.#model);
    this.state.set({map: "", layer: 0, head: 0, query: -1, key: -1, zoom: ""});
    this.#page.changed(this, "model");
    this.ask({now: true});
  }

  #edited(how) {
    this.#page.changed(this, "input");
    this.ask(how);
  }

  async #send(request, signal) {
    const {server} = this.#page;
    const model = this.#model;
    if (model.maps?.length > 0) return server.explain(request, signal);
    return withoutMaps(model, this.text, await server.predict(request, signal));
  }

  #told(happening) {
    this.#answer.tell(happening);
    if (happening.name === "answered") this.#show(happening);
    if (happening.name === "failed" && happening.error.status === 401) this.#page.refused();
    if (happening.error) this.#page.announce(happening.error.message);
  }

  #show({request, answer}) {
    const {faithfulness, ...last} = request;
    this.#answer.show(answer, {sameModel: this.#last?.model === last.model});
    this.#last = last;
    if (faithfulness) this.#answer.showFaithfulness();
    this.#page.announce(
      faithfulness ? "Faithfulness was measured." : `${this.#name}: ${answer.prediction?.text}`,
    );
    this.#page.changed(this, "answer");
  }

  #dragOver(event) {
    if (event.dataTransfer.types.includes("Files")) event.preventDefault();
  }

  #drop(event) {
    const [file] = event.dataTransfer.files;
    if (!file) return;
    event.preventDefault();
    this.#prompt.open(file);
  }

  #keyDown(event) {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    this.ask({now: true});
  }
}
