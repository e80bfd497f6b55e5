// Starts a report: shows the explanation that the document holds, or one of a list with a picker.
import {Explanation} from "fovea/model/explanation.js";
import {State} from "fovea/model/state.js";
import {element} from "fovea/parts/dom.js";
import {shorten, visible} from "fovea/parts/format.js";
import {Pager} from "fovea/parts/pager.js";
import {Shell} from "fovea/shell.js";

const longestName = 60;

function start(main) {
  const explanations = Explanation.listFromDocument(document);
  const state = State.fromHash();
  const host = element("div");
  let shell = null;
  let shown = -1;
  const show = () => {
    const wanted = Math.max(0, Math.min(explanations.length - 1, state.get("example")));
    if (wanted === shown) return;
    shown = wanted;
    shell?.destroy();
    shell = new Shell(host, explanations[shown], {state});
  };
  if (explanations.length > 1) main.append(picker(explanations, state));
  main.append(host);
  state.subscribe((changed) => changed.has("example") && show());
  show();
}

// A list of inputs: search narrows it, previous and next go through what is left.
function picker(explanations, state) {
  const names = explanations.map(({input, title}, place) =>
    `${place + 1}. ${shorten(visible(input || title), longestName)}`);
  const pager = new Pager("input", (example) => state.set({example, query: -1, key: -1, zoom: ""}));
  const found = element("span", {class: "quiet", role: "status"});
  const search = element("input", {
    type: "search", placeholder: "Find an input", "aria-label": "Find an input", on: {input: show},
  });
  function show() {
    const wanted = search.value.trim().toLocaleLowerCase();
    const isFound = ({input, title}) => `${input} ${title}`.toLocaleLowerCase().includes(wanted);
    const options = names.map((text, value) => ({text, value}))
      .filter(({value}) => value === state.get("example") || isFound(explanations[value]));
    pager.show(options, state.get("example"));
    pager.node.hidden = false;
    found.textContent = wanted ? `${options.length} of ${names.length}` : `${names.length} inputs`;
  }
  state.subscribe((changed) => changed.has("example") && show());
  document.addEventListener("keydown", (event) => {
    const step = {n: 1, p: -1}[event.key];
    const typing = event.target.closest?.("input, select, textarea, dialog");
    if (step && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) pager.step(step);
  });
  show();
  const attributes = {class: "report-picker", "aria-label": "Inputs of this report"};
  return element("nav", attributes, pager.node, search, found);
}

try {
  start(document.getElementById("report"));
} catch (error) {
  const text = `This report cannot be shown: ${error.message}`;
  document.getElementById("report").append(element("p", {class: "message", role: "alert", text}));
}
