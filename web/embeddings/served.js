// The page of embeddings on the server: asks it for those of the model that the address names.
import {Projector} from "fovea/embeddings/projector.js";
import {clear, element} from "fovea/parts/dom.js";
import {Server} from "fovea/page/server.js";

const main = document.getElementById("projector");
const server = new Server("../../");
serve();

// The hash names the model, and which of its embeddings.
async function serve() {
  const top = element("nav", {class: "projector-models", "aria-label": "Model"});
  const place = element("div", {"aria-live": "polite"});
  main.append(top, place);
  let projector = null;
  const say = (text) => clear(place).append(element("p", {class: "message", text}));
  const show = async () => {
    const wanted = new URLSearchParams(location.hash.slice(1));
    projector?.destroy();
    projector = null;
    say("Reading…");
    try {
      const models = (await server.models()).filter(({embeddings}) => embeddings?.length > 0);
      const model = models.find(({name}) => name === wanted.get("model")) ?? (wanted.has("model") ? null : models[0]);
      fillPickers(top, models, model, wanted.get("of"));
      if (!model) return say(models.length === 0 ? "No model of this server has embeddings to show."
        : `The model ${wanted.get("model")} has no embeddings to show. Choose another.`);
      const of = wanted.get("of") ?? model.embeddings[0];
      const points = await server.embeddings({model: model.name, of});
      projector = new Projector(clear(place), {...points, run: model.name});
    } catch (error) {
      say(error.message);
    }
  };
  window.addEventListener("hashchange", show);
  await show();
}

function fillPickers(top, models, model, of) {
  const go = (values) => { location.hash = new URLSearchParams(values).toString(); };
  const option = (chosen) => (value) => element("option", {value, text: value, selected: value === chosen});
  const picker = (name, values, chosen, pick) => {
    const list = element("select", {on: {change: () => pick(list.value)}}, values.map(option(chosen)));
    return element("label", {class: "field"}, name, list);
  };
  clear(top).append(element("a", {href: "../../", text: "Back to the models"}));
  if (models.length > 0) top.append(picker("Model", models.map(({name}) => name), model?.name, (name) => go({model: name})));
  if (model?.embeddings.length > 1) {
    top.append(picker("Embeddings of", model.embeddings, of ?? model.embeddings[0], (one) => go({model: model.name, of: one})));
  }
}
