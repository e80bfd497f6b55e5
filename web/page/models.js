// Picks a model: one field that shows which it is, and a list of all of them, searched by typing, that lies above
// the page. Below it what the chosen one is and how good it is.

import {clear, element} from "fovea/parts/dom.js";
import {count, number} from "fovea/parts/format.js";
import {Combobox} from "fovea/page/fields/combobox.js";

const remarks = {loading: "loading", failed: "could not be loaded"};

/** "accuracy 0.97"; empty where nobody knows. */
function metricText({metric}) {
  return metric ? `${metric.name} ${number(metric.value)}` : "";
}

function searched(model) {
  return [model.name, model.task, model.title, metricText(model), remarks[model.status]].join(" ").toLowerCase();
}

function suggestionOf(model) {
  return {
    value: model.name,
    aside: remarks[model.status] ?? metricText(model),
    detail: [model.task !== model.name && model.task, model.title].filter(Boolean).join(" · "),
  };
}

/** The picker of one pane; `picked(name)` hears the choice. */
export class ModelPicker {
  #models = [];
  #box;
  #missing = element("p", {class: "model-missing", role: "alert", hidden: true});
  #facts = element("p", {class: "model-facts"});
  #note = element("p", {class: "model-note", hidden: true});

  constructor(host, picked) {
    this.#box = new Combobox({
      label: "Model",
      placeholder: "Choose a model",
      suggest: (text) => this.#found(text).map(suggestionOf),
      chosen: picked,
    });
    this.#box.node.classList.add("model-picker");
    host.append(this.#missing, this.#box.node, this.#facts, this.#note);
  }

  /** Shows the models with the one of this name chosen. */
  show(models, chosen) {
    this.#models = models;
    const model = models.find(({name}) => name === chosen);
    this.#missing.hidden = true;
    if (!this.#box.isOpen) this.#box.value = chosen;
    const metric = model.metric ? `${metricText(model)} on ${model.metric.rows} rows` : "";
    const facts = remarks[model.status] ? [remarks[model.status]] : [metric, `${count(model.parameters)} parameters`];
    clear(this.#facts).append(
      element("bdi", {class: "model-title", text: model.title}),
      element("span", {text: [model.task !== model.name && model.task, ...facts].filter(Boolean).join(" · ")}),
    );
    this.#note.hidden = !model.note && !model.error;
    this.#note.textContent = model.error ?? model.note ?? "";
  }

  /** Says that a link asks for a model that is not there, and offers those that are. */
  miss(models, wanted) {
    this.#models = models;
    this.#box.value = "";
    clear(this.#facts);
    this.#note.hidden = true;
    this.#missing.hidden = false;
    const there = models.length === 1 ? "There is one model; choose it below." : `Choose one of the ${count(models.length)} that are there.`;
    clear(this.#missing).append("There is no model ", element("bdi", {class: "model-name", text: wanted}), ` on this server. ${there}`);
    if (document.activeElement === document.body) this.focus();
  }

  focus() {
    this.#box.focus();
  }

  // Every word that was typed is somewhere in the model.
  #found(text) {
    const words = text.toLowerCase().split(/\s+/);
    return this.#models.filter((model) => words.every((word) => searched(model).includes(word)));
  }
}
