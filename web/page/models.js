// Picks a model: a list of radio buttons with task and title where there is room, a select on phones and
// beside another pane. Both are in the document; the style sheet shows one of them.

import {clear, element} from "fovea/parts/dom.js";
import {count} from "fovea/parts/format.js";

const remarks = {loading: "loading", failed: "could not be loaded"};
let pickers = 0;

/** The picker of one pane; `picked(name)` hears the choice. */
export class ModelPicker {
  #group = `model-${++pickers}`;
  #list = element("div", {class: "model-list", role: "radiogroup", "aria-label": "Model"});
  #select = element("select", {
    class: "model-select",
    "aria-label": "Model",
    on: {change: (event) => this.#picked(event.target.value)},
  });
  #picked;
  #models = [];

  constructor(host, picked) {
    this.#picked = picked;
    host.append(this.#list, this.#select);
  }

  /**
   * Shows the models with the one of this name chosen. Keeps the elements (and the focus) when only the
   * choice changed.
   */
  show(models, chosen) {
    if (JSON.stringify(models) !== JSON.stringify(this.#models)) this.#build(models);
    this.#select.value = chosen;
    for (const radio of this.#list.querySelectorAll("input")) radio.checked = radio.value === chosen;
  }

  focus() {
    const radio = this.#list.querySelector("input:checked") ?? this.#list.querySelector("input");
    (this.#list.offsetParent === null ? this.#select : radio)?.focus();
  }

  #build(models) {
    this.#models = models;
    const held = this.#list.contains(document.activeElement) || this.#select === document.activeElement;
    clear(this.#list);
    clear(this.#select);
    this.#list.append(...models.map((model) => this.#entry(model)));
    this.#select.append(
      ...models.map((model) => element("option", {value: model.name, text: optionText(model)})),
    );
    if (held) queueMicrotask(() => this.focus());
  }

  #entry(model) {
    const radio = element("input", {
      type: "radio",
      name: this.#group,
      value: model.name,
      on: {change: () => this.#picked(model.name)},
    });
    const remark = remarks[model.status] ?? `${count(model.parameters)} parameters`;
    return element(
      "label",
      {class: "model-entry"},
      radio,
      element(
        "span",
        {},
        element("bdi", {class: "model-name", text: model.name}),
        element("bdi", {class: "model-title", text: model.title}),
        element("span", {
          class: "model-facts",
          text: model.task === model.name ? remark : `${model.task} · ${remark}`,
        }),
      ),
    );
  }
}

function optionText(model) {
  const remark = remarks[model.status];
  return [model.name, model.title, remark && `(${remark})`].filter(Boolean).join(" · ");
}
