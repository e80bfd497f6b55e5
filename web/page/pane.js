// One pane: a model, an input, the answer. The page shows one, or two to compare.

import {element} from "fovea/parts/dom.js";
import {State} from "fovea/model/state.js";
import {Answer, withoutMaps} from "fovea/page/answer.js";
import {Asker} from "fovea/page/asker.js";
import {ModelPicker} from "fovea/page/models.js";
import {Prompt, shapeOf} from "fovea/page/prompt.js";
import {FileRows} from "fovea/page/rows.js";
import {reasonOf} from "fovea/page/status.js";
import {readAway, writeAway} from "fovea/whatif/away.js";

const waitings = {
  loading: (name) => `The model ${name} is loading.`,
  failed: (name) => `The model ${name} could not be loaded.`,
};

/** What a schema says of the names of a property, wherever in it that is. */
function knownOf(schema, property) {
  const own = schema?.properties?.[property];
  if (own?.known) return own.known;
  for (const part of [schema?.items, ...Object.values(schema?.properties ?? {})]) {
    const found = part && knownOf(part, property);
    if (found) return found;
  }
  return null;
}

/** `page`: {server, announce(text), changed(pane, what, keys), refused(), gone()}; see Page.changed(). */
export class Pane {
  #page;
  #name;
  #models = [];
  #model = null;
  #wanted;
  #heading;
  #picker;
  #prompt;
  #promptHost;
  #embeddings = element("a", {class: "hint embeddings-link", hidden: true, text: "See its embeddings"});
  #answer;
  #asker;
  #rows;
  #last = null;
  #truth = "";  // the right answer to the input, as far as somebody said it here; never in a link
  #isWaiting = false;

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
          dragleave: (event) => this.node.contains(event.relatedTarget) || this.node.classList.remove("dragging"),
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
    ask.append(this.#embeddings);
    ask.append(element("p", {class: "hint following-note", text: "Same input as A."}));
    this.#promptHost = element("div", {class: "pane-prompt", hidden: true});
    ask.append(this.#promptHost);
    this.#prompt = new Prompt(this.#promptHost, {
      label: "Input",
      changed: (how) => this.#edited(how),
      names: (property, text) => this.#names(property, text),
      opened: (found) => this.#rows.offer({...found, model: this.#model, others: this.#alike()}),
    });
    this.#rows = new FileRows({page, place: () => this.node.parentElement});
    this.#answer = new Answer(answer, this.state, {
      again: () => this.#asker.again(),
      measure: (signal) => page.server.explain({...this.#last, faithfulness: true}, signal),
      truth: (text) => this.#tellTruth(text),
      take: (away) => this.#takeAway(away),
      flip: (axis, told, signal) => this.#flip(axis, told, signal),
      announce: (text) => page.announce(text),
      measured: () => page.announce(`${name}: it was measured whether the picture shows what the model used.`),
      queryKey: (place, signal) => {
        const {model, input, without} = this.#last;
        return page.server.queryKey({model, input, ...place, ...(without && {without})}, signal);
      },
      report: (measured, signal) => page.server.report({...this.#last, faithfulness: measured}, signal),
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
      input: this.#wanted.input ?? this.text,
      view: this.state.toText(),
    };
  }

  /** New facts about the models; takes up the wanted one when it is there. */
  setModels(models) {
    this.#models = models;
    if (models.length === 0) return this.#answer.say("The server has no model.");
    const name = this.#model?.name ?? this.#wanted.model ?? models[0].name;
    const model = models.find((one) => one.name === name);
    if (!model) return this.#miss(name);
    const fresh = this.#model === null;
    if (fresh) this.#truth = "";
    const wasReady = this.#model?.status === "ready";
    if (fresh) this.#rows.close();
    this.#model = model;
    this.#picker.show(models, model.name);
    // What a model takes is known once it is loaded.
    const begins = fresh || !wasReady;
    this.#promptHost.hidden = model.status !== "ready";
    if (begins && model.status === "ready") this.#use(model, this.#wanted.input);
    if (begins) this.ask({now: true});
  }

  /** Goes back to what an address wants. */
  restore(wanted) {
    this.#wanted = wanted;
    const away = this.state.get("away");
    this.state.set(State.fromText(wanted.view).values);
    const isSame = !this.#model || (wanted.model === this.#model.name && wanted.input === this.text);
    if (isSame && away !== this.state.get("away")) this.ask({now: true});
    if (isSame) return;
    this.#model = null;
    this.setModels(this.#models);
  }

  /** Shows the same input as another pane, or an own one again. */
  follow(follows) {
    this.node.classList.toggle("following", follows);
  }

  /** The right answer that somebody gave here; empty: none. */
  get truth() {
    return this.#truth;
  }

  /** Takes the input of another pane, and the right answer that was given there. */
  write(text, truth = "") {
    if (text === this.text && truth === this.#truth) return;
    this.#truth = truth;
    if (text !== this.text) this.state.set({away: ""});
    if (text !== this.text) this.#prompt.write(text);
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
    if (status !== "ready") return this.#wait(waitings[status](name));
    const {input, problem} = this.#prompt.read();
    const truth = this.#truth;
    const without = readAway(this.state.get("away"));
    const request = {model: name, input, ...(truth && {truth}), ...(without.length > 0 && {without})};
    if (problem === undefined) return this.#asker.ask(request, {now});
    // What is wrong stands beside the input.
    this.#wait(this.#last?.model === name ? "The input is not complete: this is the answer to the one before." : "The input is not complete.");
  }

  /** Asks again at once where the last request still waits for a server. */
  askIfWaiting() {
    if (this.#isWaiting) this.#asker.again();
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
    this.#rows.close();
    this.#answer.destroy();
    this.node.remove();
  }

  #use(model, text) {
    this.#embeddings.hidden = !model.embeddings?.length;
    this.#embeddings.href = `web/embeddings/served.html#${new URLSearchParams({model: model.name})}`;
    this.#prompt.use(model, text ?? null);
    this.#wanted = {...this.#wanted, input: undefined};
  }

  // A link may be older than the server's list of models.
  #miss(name) {
    this.#wanted = {...this.#wanted, model: name, input: this.wanted.input};
    this.#model = null;
    this.#rows.close();
    this.#promptHost.hidden = true;
    this.#asker.stop();
    this.#picker.miss(this.#models, name);
    this.#answer.say("Choose a model to see an answer.");
  }

  #wait(why) {
    this.#asker.stop();
    this.#answer.say(why);
  }

  // Models whose answers may stand beside this one's.
  #alike() {
    return this.#models.filter(({name, task, status}) => status === "ready" && task === this.#model.task && name !== this.#model.name);
  }

  #names(property, text) {
    const {count, names} = knownOf(this.#model.input_schema, property) ?? {count: 0, names: []};
    const wanted = text.toLowerCase();
    if (count === 0) return Promise.resolve([]);
    if (count <= names.length) return Promise.resolve(names.filter((name) => name.toLowerCase().includes(wanted)));
    return this.#page.server.names({model: this.#model.name, property, text});
  }

  #pick(name) {
    this.#model = this.#models.find((model) => model.name === name);
    this.#truth = "";
    this.#picker.show(this.#models, name);
    this.#rows.close();
    this.#promptHost.hidden = this.#model.status !== "ready";
    const {input} = this.#wanted; // of a link to a model that is not there
    this.#wanted = {model: name};
    if (this.#model.status === "ready") {
      this.#use(this.#model, input);
      if (input !== undefined && !this.#prompt.read().input) this.#use(this.#model);
    }
    this.state.set({map: "", layer: 0, head: 0, query: -1, key: -1, zoom: "", away: ""});
    this.#page.changed(this, "model");
    this.ask({now: true});
  }

  // What was right of the input before says nothing of this one.
  #edited({truth = "", ...how}) {
    this.#truth = truth;
    this.state.set({away: ""});
    this.#page.changed(this, "input");
    this.ask(how);
  }

  #takeAway(away) {
    this.state.set({away: writeAway(away)});
    this.ask({now: true});
  }

  #flip(axis, told, signal) {
    const {model, input} = this.#last;
    return this.#page.server.flip({model, input, ...(axis && {axis})}, told, signal);
  }

  #tellTruth(text) {
    this.#truth = text;
    this.#page.changed(this, "truth");
    this.ask({now: true});
  }

  async #send(request, signal) {
    const {server} = this.#page;
    const model = this.#model;
    if (model.maps?.length > 0) return server.explain(request, signal);
    const {truth = "", without, ...asked} = request;
    return withoutMaps(model, this.text, await server.predict(asked, signal), truth);
  }

  #told(happening) {
    const {error} = happening;
    this.#isWaiting = happening.name === "retrying";
    // What is wrong with the input is said beside it.
    const isOfInput = error?.status === 422 && String(error.field).startsWith("input");
    if (isOfInput) this.#prompt.refuse(reasonOf(error));
    this.#answer.tell(isOfInput ? {...happening, error: {status: 422, message: "The model does not take this input."}} : happening);
    if (error?.status === 0) this.#page.gone();
    if (happening.name === "answered") this.#show(happening);
    if (String(error?.field).startsWith("without")) this.#keep(reasonOf(error));
    if (happening.name === "failed" && happening.error.status === 401) this.#page.refused();
    if (happening.error) this.#page.announce(happening.error.message);
  }

  // What cannot be taken away comes back: the answer before still stands, or there is none yet.
  #keep(why) {
    this.state.set({away: writeAway(this.#last?.without ?? [])});
    if (!this.#last) return this.ask({now: true});
    this.#answer.keep(why);
  }

  #show({request, answer}) {
    const sameModel = this.#last?.model === request.model;
    this.#last = request;
    this.#answer.show(answer, {sameModel, truth: request.truth ?? ""});
    this.#page.announce(`${this.#name}: ${answer.prediction?.text}`);
    this.#page.changed(this, "answer");
  }

  #dragOver(event) {
    if (!event.dataTransfer.types.includes("Files")) return;
    event.preventDefault();
    this.node.classList.add("dragging");
  }

  #drop(event) {
    this.node.classList.remove("dragging");
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
