// What can be done with the explanation on screen: take it away, link to it, change the theme, ask for the
// keys.
import {explanationText} from "fovea/model/save.js";
import {element} from "fovea/parts/dom.js";
import {download, svgToPng} from "fovea/parts/export.js";
import {framedSvg} from "fovea/parts/framed.js";
import {showHelp} from "fovea/parts/help.js";
import {menu} from "fovea/parts/menu.js";

const themes = ["auto", "light", "dark"];
const themeNames = {auto: "Theme: auto", light: "Theme: light", dark: "Theme: dark"};

/** `shell`: {explanation, state, mounted (the view on screen or null), drawn (its maps), fileName(), announce(text)}. */
export class Actions {
  constructor(shell, compact) {
    this.shell = shell;
    const button = (text, click) =>
      element("button", {type: "button", class: "button-plain", text, on: {click}});
    this.theme = button("", () => this.nextTheme());
    this.link = button("Copy link", () => this.#copyLink());
    this.node = element("div", {class: "shell-actions", role: "group", "aria-label": "Actions"},
      menu("Export", [
        {title: "Picture", hint: "PNG", action: () => this.#save("png")},
        {title: "Vector picture", hint: "SVG", action: () => this.#save("svg")},
        {title: "Numbers shown", hint: "CSV", action: () => this.#save("csv")},
        {title: "Whole explanation", hint: "JSON", action: () => this.#save("json")},
      ]),
      !compact && this.link, this.theme, !compact && button("Keys", () => showHelp()));
    this.showTheme();
  }

  /** Auto, light, dark in turn. */
  nextTheme() {
    const {state} = this.shell;
    state.set({theme: themes[(themes.indexOf(state.get("theme")) + 1) % themes.length]});
    this.shell.announce(themeNames[state.get("theme")]);
  }

  /** The document follows the state. */
  showTheme() {
    const theme = this.shell.state.get("theme");
    if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
    else delete document.documentElement.dataset.theme;
    this.theme.textContent = themeNames[theme] ?? themeNames.auto;
  }

  async #copyLink() {
    const {state} = this.shell;
    const address = `${location.href.split("#")[0]}#${state.toText()}`;
    const copied = await navigator.clipboard?.writeText(address).then(() => true, () => false);
    this.link.textContent = copied ? "Copied" : "Link is in the address";
    this.shell.announce(this.link.textContent);
    setTimeout(() => { this.link.textContent = "Copy link"; }, 2000);
  }

  async #save(kind) {
    const name = `${this.shell.fileName()}.${kind}`;
    try {
      const content = await this.#content(kind);
      if (!content) throw new Error("this view has none");
      const types = {svg: "image/svg+xml", csv: "text/csv", json: "application/json"};
      download(name, content, types[kind]);
      this.shell.announce(`${name} saved`);
    } catch (error) {
      this.shell.announce(`${name} was not saved: ${error.message}`, true);
    }
  }

  async #content(kind) {
    const view = this.shell.mounted;
    if (kind === "json") return explanationText(this.shell.explanation);
    if (kind === "csv") return view?.csv();
    const picture = view?.svg();
    if (!picture) return null;
    const {explanation, drawn} = this.shell;
    const framed = framedSvg(picture, {explanation, maps: drawn, legend: view.howToRead(), description: view.describe()});
    return kind === "svg" ? framed : svgToPng(framed);
  }
}
