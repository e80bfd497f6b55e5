// Asks for the API key when the server wants one.

import {element} from "fovea/parts/dom.js";

/** A form, hidden until asked for; `given(key)` hears the key. */
export class KeyForm {
  #field = element("input", {
    type: "password",
    id: "api-key",
    autocomplete: "off",
    required: "",
    spellcheck: "false",
  });
  #problem = element("p", {class: "problem", role: "status"});
  #form;

  constructor(host, given) {
    this.#form = element(
      "form",
      {
        class: "key-form",
        hidden: "",
        on: {
          submit: (event) => {
            event.preventDefault();
            given(this.#field.value.trim());
          },
        },
      },
      element("label", {for: "api-key", text: "This server asks for an API key"}),
      element("div", {class: "key-line"}, this.#field, element("button", {type: "submit", text: "Use it"})),
      element("p", {class: "hint", text: "Kept in this tab only, and forgotten when it closes."}),
      this.#problem,
    );
    host.append(this.#form);
  }

  /** Shows the form; `wrong`: a key was sent and refused. */
  ask(wrong) {
    this.#problem.textContent = wrong ? "The server refused this key." : "";
    if (!this.#form.hidden) return;
    this.#form.hidden = false;
    this.#field.focus();
  }

  hide() {
    this.#form.hidden = true;
  }
}
