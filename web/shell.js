// One explanation on screen: heading, pickers of maps and views, layers and heads, search, threshold, the
// view itself, and above it whether that picture shows what the model used.
import {placeName} from "fovea/model/family.js";
import {attention, colouredMap} from "fovea/model/importances.js";
import {Actions} from "fovea/parts/actions.js";
import {clear, element} from "fovea/parts/dom.js";
import {findingOf, Verdict, verdictSentence} from "fovea/parts/faithfulness.js";
import {headBlocks, heading} from "fovea/parts/heading.js";
import {showHelp} from "fovea/parts/help.js";
import {Pager} from "fovea/parts/pager.js";
import {QueryKeyPanel} from "fovea/parts/query_key.js";
import {Tabs} from "fovea/parts/tabs.js";
import {Tools} from "fovea/parts/tools.js";
import {Tooltip} from "fovea/parts/tooltip.js";
import {Colouring} from "fovea/views/common/colouring.js";
import {viewsFor} from "fovea/views/index.js";
import {awayNote} from "fovea/whatif/note.js";

const caution = "Attention is evidence, not proof: a large weight says where the model looked, " +
  "not that the answer rests on it.";
const mapKeys = ["map", "layer", "head", "view", "colour"];
const shells = [];  // keys pressed outside of all of them go to the first

/** Fills `host`. `compact` leaves out what a page around it has; `whatIf` (a WhatIf) takes units of the input away;
    `queryKey(place, signal)` promises what a weight is made of, see parts/query_key.js. */
export class Shell {
  constructor(host, explanation, {state, compact = false, truth = null, whatIf = null, queryKey = null}) {
    Object.assign(this, {host, explanation, state, compact, truth, whatIf, chosen: null, map: null, view: null, mounted: null, judged: []});
    this.tooltip = new Tooltip();
    this.families = new Tabs("Maps", (key) => this.#pickFamily(key));
    this.views = new Tabs("Views", (id) => state.set({view: id, zoom: ""}));
    this.layers = new Pager("layer", (layer) => state.set({layer}));
    this.heads = new Pager("head", (head) => state.set({head}));
    this.actions = new Actions(this, compact);
    this.tools = new Tools(this);
    this.stage = element("section", {class: "shell-stage", role: "tabpanel"});
    this.verdict = new Verdict((isWashed) => this.stage.classList.toggle("washed", isWashed));
    this.colouring = new Colouring((colour) => state.set({colour}));
    this.making = new QueryKeyPanel(explanation, queryKey);
    this.live = element("div", {class: "visually-hidden", "aria-live": "polite"});
    this.#build();
    this.unsubscribe = state.subscribe((changed) => this.#changed(changed));
    this.keyListener = (event) => this.#key(event);
    document.addEventListener("keydown", this.keyListener);
    this.observer = new ResizeObserver(() => this.#resized());
    this.observer.observe(this.stage);
    this.resizeListener = () => this.#resized();
    window.addEventListener("resize", this.resizeListener);
    shells.push(this);
    this.#choose();
  }

  /** Takes everything away again. */
  destroy() {
    shells.splice(shells.indexOf(this), 1);
    this.unsubscribe();
    this.observer.disconnect();
    document.removeEventListener("keydown", this.keyListener);
    window.removeEventListener("resize", this.resizeListener);
    clearTimeout(this.liveTimer);
    this.verdict.stop();
    this.making.destroy();
    this.#unmount();
    clear(this.host);
  }

  /** Says a text through the live region; `visibly` also shows it above the picture. */
  announce(text, visibly = false) {
    clearTimeout(this.liveTimer);
    this.liveTimer = setTimeout(() => { this.live.textContent = text; }, 120);
    if (visibly) this.tooltip.show(window.innerWidth / 2, 80, [text]);
  }

  /** Takes what was measured of the maps, in place of what was known of it. */
  judge(faithfulness) {
    this.explanation.faithfulness = faithfulness;
    this.explanation.value.faithfulness = faithfulness;
    this.#choose();
    this.#showVerdict();
  }

  /** The maps that the picture on screen is of; none where there is no picture. */
  get drawn() {
    return this.mounted?.drawnMaps() ?? [];
  }

  /** A name for files: task, map, layers and heads. */
  fileName() {
    const {task, title} = this.explanation;
    const parts = [task || title || "attention", this.map?.name, placeName(this.drawn), this.map?.original && this.map.valueName];
    return parts.filter(Boolean).join("-").replace(/[ ,]+/g, "-");
  }

  #build() {
    const {explanation, compact} = this;
    const notes = explanation.notes.map((note) => element("li", {dir: "auto", text: note}));
    this.tools.node.prepend(this.layers.node, this.heads.node);
    this.controls = element("div", {class: "shell-controls"}, this.views.node, this.tools.node);
    this.root = element("article", {class: compact ? "shell compact" : "shell"},
      element("div", {class: "shell-top"}, heading(explanation, compact), this.actions.node),
      headBlocks(explanation, compact, this.truth),
      this.families.node, this.verdict.node, this.colouring.node, this.whatIf?.node ?? awayNote(explanation), this.controls, this.stage,
      this.making.node, this.whatIf?.result,
      notes.length > 0 && element("ul", {class: "shell-notes", "aria-label": "Notes"}, notes),
      element("p", {class: "shell-caution", text: caution}), this.live);
    clear(this.host).append(this.root);
  }

  #pickFamily(key) {
    this.state.set({map: key, layer: 0, head: 0, view: "", query: -1, key: -1, zoom: "", colour: "attention"});
  }

  #changed(changed) {
    if (changed.has("theme")) this.actions.showTheme();
    const before = this.mounted;
    if (mapKeys.some((key) => changed.has(key))) this.#choose();
    if (this.mounted === before) {
      this.mounted?.update(changed);
      this.#followDrawn();
    }
    if (changed.has("query")) this.#showColouring();
    this.tools.show();
    this.#showMaking();
  }

  // Of the cell that is chosen.
  #showMaking() {
    this.making.show(this.mounted && this.map, {query: this.state.get("query"), key: this.state.get("key")});
  }

  // The map and the view that the state asks for, or the nearest there are.
  #choose() {
    const families = this.explanation.families();
    const name = this.state.get("map");
    const holdsName = ({maps}) => maps.some((map) => map.name === name);
    const family = families.find(({key}) => key === name) ?? families.find(holdsName) ?? families[0];
    if (!family) return this.#showNothing("There are no maps in this explanation.");
    const ofGroup = family.grouped && holdsName(family) ? name : undefined;
    this.chosen = family.find(this.state.get("layer"), this.state.get("head"), ofGroup);
    const map = colouredMap(this.#finding.entry, this.chosen, this.state.get("colour")) ?? this.chosen;
    const views = viewsFor(map, this.explanation);
    const view = views.find(({id}) => id === this.state.get("view")) ?? views[0];
    this.#showPickers(families, family, map, views, view);
    if (!view) return this.#showNothing("This map is empty: it has no queries or no keys.");
    if (map !== this.map || view !== this.view || !this.mounted) this.#mount(family, map, view);
    this.#showColouring();
  }

  get #finding() {
    return findingOf([this.chosen], this.explanation);
  }

  #showColouring() {
    if (!this.chosen) return;
    this.colouring.show(this.chosen, this.#finding.entry, this.map.original ? this.map.valueName : attention, this.state.get("query"));
  }

  #showPickers(families, family, map, views, view) {
    this.families.show(families.map(({key, title}) => ({id: key, title})), family.key);
    this.views.show(views.map(({id, title}) => ({id, title})), view?.id);
    this.layers.show(family.layers.map((layer) => ({value: layer, text: `Layer ${layer}`})), this.chosen.layer);
    const word = map.layout === "points" ? "Path" : "Head";
    const {layer, head} = this.chosen;
    const heads = family.headsOf(layer).map((head) => ({value: head, text: `${word} ${head}`}));
    const hasMean = heads.length > 1 && family.averages;
    this.heads.show(hasMean ? [{value: 0, text: "Mean of heads"}, ...heads] : heads, head);
    // Some views have pickers of their own.
    if (view?.picks?.includes("layer")) this.layers.node.hidden = true;
    if (view?.picks?.includes("head")) this.heads.node.hidden = true;
    // What else says how much a unit matters says it of the whole.
    if (map.original) this.layers.node.hidden = this.heads.node.hidden = true;
  }

  #mount(family, map, view) {
    this.#unmount();
    Object.assign(this, {map, view});
    this.controls.hidden = false;
    this.verdict.node.hidden = false;
    const inside = (name, axis) => (this.state.get(name) < axis.size ? this.state.get(name) : -1);
    this.state.set({query: inside("query", map.queryAxis), key: inside("key", map.keyAxis)});
    const context = {
      explanation: this.explanation, map, maps: map.original ? [map] : family.maps, state: this.state, tooltip: this.tooltip,
      set: (partial) => this.state.set(partial), announce: (text) => this.announce(text),
    };
    try {
      this.mounted = view.mount(clear(this.stage), context);
      this.stage.setAttribute("aria-label", this.mounted.describe());
      this.#followDrawn();
    } catch (error) {
      this.#showNothing(`This view cannot be drawn: ${error.message}`);
    }
    this.whatIf?.opened(map, this.stage);
    this.tools.show();
    this.#showMaking();
  }

  // A verdict is that of what is drawn, which a view may choose itself.
  #followDrawn() {
    const drawn = this.drawn;
    if (drawn.length !== this.judged.length || drawn.some((map, i) => map !== this.judged[i])) this.#showVerdict();
  }

  #showVerdict() {
    this.judged = this.drawn;
    if (this.judged.length === 0) return;
    this.verdict.show(this.judged, this.explanation, (key) => this.#pickFamily(key));
    this.stage.setAttribute("aria-description", verdictSentence(this.explanation, this.judged));
  }

  #unmount() {
    this.mounted?.destroy();
    this.mounted = null;
  }

  #showNothing(text) {
    this.#unmount();
    clear(this.stage).append(element("p", {class: "message", text}));
    this.stage.setAttribute("aria-label", text);
    this.controls.hidden = this.explanation.maps.length === 0;
    this.verdict.node.hidden = true;
    this.colouring.show(null);
  }

  // Canvases follow the width; the height of the window matters to them too, but their own height must not
  // start a circle.
  #resized() {
    const size = `${this.stage.clientWidth} ${window.innerHeight}`;
    if (size === this.size || this.stage.clientWidth === 0) return;
    this.size = size;
    this.mounted?.resize();
  }

  #key(event) {
    const {target} = event;
    const mine = this.host.contains(target) || (target === document.body && shells[0] === this);
    const typing = target.closest?.("input:not([type=range]), select, textarea, dialog");
    if (!mine || typing || event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    const actions = {
      "/": () => this.tools.focusSearch(),
      "[": () => this.layers.step(-1),
      "]": () => this.layers.step(1),
      ",": () => this.heads.step(-1),
      ".": () => this.heads.step(1),
      t: () => this.actions.nextTheme(),
      v: () => this.#nextView(),
      "?": () => this.compact || showHelp(),
    };
    if (!Object.hasOwn(actions, event.key)) return;
    actions[event.key]();
    event.preventDefault();
  }

  #nextView() {
    const views = viewsFor(this.map, this.explanation);
    const next = views[(views.indexOf(this.view) + 1) % views.length];
    if (next) this.state.set({view: next.id, zoom: ""});
  }
}
