// Visits along time with what each adds: codes raise or lower the prediction, their sum ends at the total.
// Attention over visits is shown the same way, without the sum. Under it are the codes of the chosen visit.
import {clear, element, svg} from "fovea/parts/dom.js";
import {count, number} from "fovea/parts/format.js";
import {matches} from "fovea/parts/search.js";
import {barSentence, drawBarRows, signEntries} from "fovea/views/common/bar_rows.js";
import {exportChart, fitText, label, legend, markEntries} from "fovea/parts/chart.js";
import {Choice, chosenQuery, queryChoice} from "fovea/views/common/choice.js";
import {largestOf} from "fovea/views/common/nested_words.js";
import {NumbersView} from "fovea/views/common/numbers_view.js";
import {drawTimeChart} from "fovea/views/common/time_chart.js";
import {Visits, bySize} from "fovea/views/common/visits.js";

const listedCodes = 8;
const widestList = 640;
const headingLine = 22;
const spacings = [
  {value: "time", text: "By time"},
  {value: "even", text: "Evenly"},
];

/** See web/README.md. */
export const view = {
  id: "timeline",
  title: "Timeline",
  fits(map, explanation) {
    if (map.layout !== "dense" || map.queryAxis.size === 0 || map.keyAxis.size === 0) return 0;
    return new Visits(map, explanation).visits.kind === "visit" ? 5 : 0;
  },
  mount(host, context) {
    return new Timeline(host, context);
  },
};

class Timeline extends NumbersView {
  constructor(host, context) {
    super(host, context, rules);
    this.model = new Visits(context.map, context.explanation);
    this.visits = [];
    this.queries = queryChoice(context);
    this.spacing = new Choice("Spacing of the visits", spacings, (zoom) => context.set({zoom}));
    this.chart = this.chartPlace("timeline-chart", {
      keydown: (event) => this.#key(event),
      click: (event) => this.#pickVisit(this.#visitAt(event)),
      pointermove: (event) => this.#hover(event),
    });
    this.detail = element("div", {class: "timeline-detail", on: {click: (event) => this.#pickRow(event)}});
    const spacing = this.model.visits.times ? this.spacing.element : null;
    const tools = element("div", {class: "timeline-tools"}, this.queries?.element, spacing);
    host.append(element("div", {class: "timeline"}, tools, this.chart, this.detail));
    this.#read();
  }

  update(changed) {
    const onlyKey = changed.size === 1 && changed.has("key");
    if (changed.has("query")) this.#read();
    else if (onlyKey && this.drawn) this.#showChosen();
    else this.draw();
  }

  svg() {
    if (!this.drawn) return null;
    const {chart, detail, picture} = this.drawn;
    const below = chart.height + 16;
    const list = svg(
      "g",
      {transform: `translate(0 ${below})`},
      detail.nodes.map((node) => node.cloneNode(true)),
    );
    const size = {width: Math.max(chart.width, detail.width), height: below + detail.height};
    const {title} = this.context.map;
    return exportChart([...picture.childNodes, list], {...size, title, description: this.describe()});
  }

  async *numbers() {
    const {visits} = this.model;
    yield ["visit", "time", "key", "weight", "truth"];
    for (const {index, time, parts} of await this.model.read(chosenQuery(this.context))) {
      for (const {key, weight, isTrue} of parts)
        yield [visits.labels[index], time, this.context.map.keyAxis.labels[key], weight, isTrue];
    }
  }

  describe() {
    const {kind, title, total} = this.context.map;
    const parts = this.visits.flatMap(({name, parts: own}) => own.map((part) => ({...part, name})));
    const told = (part) =>
      this.model.byCode ? `${barSentence(part)} (${part.name})` : `${part.name}: ${number(part.weight)}`;
    const largest = bySize(parts).slice(0, 3).map(told).join("; ");
    const sum = number(this.visits.reduce((all, visit) => all + visit.sum, 0));
    const ending = kind === "contribution" ? ` Sum ${sum}${total ? `, ${total}` : ""}.` : "";
    return `Timeline of ${count(this.visits.length)} visits: ${title}. Largest: ${largest}.${ending}`;
  }

  draw() {
    const width = Math.floor(this.host.clientWidth);
    if (width === 0 || this.visits.length === 0) return;
    const {map, state} = this.context;
    const parts = this.visits.flatMap((visit) => visit.parts);
    const least = state.get("threshold") * largestOf(parts.map(({weight}) => weight));
    const signed = map.kind === "contribution" || parts.some(({weight}) => weight < 0);
    const found = matches(map.keyAxis, state.get("search"));
    const chart = drawTimeChart(this.visits, {
      width,
      signed,
      even: state.get("zoom") === "even",
      sums: map.kind === "contribution",
      value: map.kind === "contribution" ? "contribution of the visit’s codes" : `${map.valueName} of the visit`,
      unit: this.model.visits.timeUnit,
      isFaint: ({weight}) => Math.abs(weight) < least,
      isFound: ({key}) => found.has(key),
    });
    const marks = legend([...(signed ? signEntries(map) : []), ...markEntries(map)], 0, chart.height, width);
    chart.height += marks.height;
    const size = {width: chart.width, height: chart.height};
    const picture = svg("svg", {...size, "aria-hidden": "true"}, chart.nodes, marks.nodes);
    this.drawn = {chart, picture, highlighted: null, detail: null};
    clear(this.chart).append(picture);
    this.chart.setAttribute("aria-label", this.describe());
    this.queries?.select(chosenQuery(this.context));
    this.spacing.select(state.get("zoom") === "even" ? "even" : "time");
    this.#showChosen();
  }

  #read() {
    this.read(
      () => this.model.read(chosenQuery(this.context)),
      (visits) => (this.visits = visits),
    );
  }

  // The chosen visit, or the one that matters most.
  #chosen() {
    const key = this.context.state.get("key");
    const owner = this.visits.find(({parts}) => parts.some((part) => part.key === key));
    const size = ({parts}) => parts.reduce((sum, {weight}) => sum + (Math.abs(weight) || 0), 0);
    return owner ?? this.visits.reduce((best, visit) => (size(visit) > size(best) ? visit : best));
  }

  #showChosen() {
    const {picture, chart, highlighted} = this.drawn;
    const visit = this.#chosen();
    highlighted?.remove();
    this.drawn.highlighted = chart.highlightOf(visit.index);
    picture.prepend(this.drawn.highlighted);
    this.drawn.detail = this.#drawDetail(visit, Math.min(this.host.clientWidth, widestList));
    const {width, height, nodes} = this.drawn.detail;
    clear(this.detail).append(svg("svg", {width, height, "aria-hidden": "true"}, nodes));
  }

  #drawDetail(visit, width) {
    const {map, state} = this.context;
    const {byCode, listedMap} = this.model;
    const quiet = {size: 12, fill: "var(--quiet)"};
    const heading = [
      label(8, 12, fitText(`${visit.name}: ${number(visit.sum)}`, width), {"font-weight": 600}),
    ];
    if (listedMap && !byCode)
      heading.push(label(8, 12 + headingLine, fitText(this.model.listedTitle(chosenQuery(this.context)), width), quiet));
    const chosen = visit.listed.find(({key}) => key === state.get("key"));
    if (chosen && byCode && Number.isFinite(chosen.absent))
      heading.push(label(8, 12 + headingLine, fitText(this.#absence(chosen), width), quiet));
    const top = heading.length * headingLine + 6;
    const signed = listedMap?.kind === "contribution" || visit.listed.some(({weight}) => weight < 0);
    const found = byCode ? matches(map.keyAxis, state.get("search")) : new Set();
    const drawn = drawBarRows(bySize(visit.listed), {width, top, signed, found});
    const isForeign = listedMap && !byCode;
    const entries = isForeign ? [...(signed ? signEntries(listedMap) : []), ...markEntries(listedMap)] : [];
    const marks = legend(entries, 8, top + drawn.height + 8, width);
    const highlight = byCode ? drawn.highlightOf(state.get("key")) : null;
    const nodes = [highlight, ...heading, ...drawn.nodes, ...marks.nodes].filter(Boolean);
    return {...drawn, nodes, width, height: top + drawn.height + 12 + marks.height};
  }

  // What if this code were absent?
  #absence({label: code, absent}) {
    const change = `${absent < 0 ? "−" : "+"}${number(Math.abs(absent))}`;
    const {map, explanation} = this.context;
    const given = explanation.prediction.answer?.log_odds; // of several labels one each
    const odds = given?.[map.queryAxis.labels[chosenQuery(this.context)]] ?? given;
    const chance = (logOdds) => number(1 / (1 + Math.exp(-logOdds)));
    const chances = Number.isFinite(odds) ? `, probability ${chance(odds)} → ${chance(odds + absent)}` : "";
    return `Without ${code}: log odds ${change}${chances}`;
  }

  #visitAt(event) {
    const x = event.clientX - this.chart.firstChild.getBoundingClientRect().left;
    return this.visits[this.drawn?.chart.visitAt(x) ?? -1];
  }

  #lines(visit) {
    const sorted = bySize(visit.listed);
    const codes = sorted.slice(0, listedCodes).map(({label: text, weight}) => [text, number(weight)]);
    const rest = sorted.length > listedCodes ? [`… and ${count(sorted.length - listedCodes)} more`] : [];
    return [
      visit.name,
      ...codes,
      ...rest,
      [this.model.byCode ? "together" : "its weight", number(visit.sum)],
    ];
  }

  #hover(event) {
    const visit = this.drawn && this.#visitAt(event);
    this.point(event, visit && this.#lines(visit));
  }

  #pickVisit(visit) {
    if (!visit?.parts.length) return;
    this.context.set({key: bySize(visit.parts)[0].key});
    this.say(this.#lines(visit));
  }

  #pickRow(event) {
    const bar = this.drawn?.detail.barAt(event.clientY - this.detail.getBoundingClientRect().top);
    if (bar && this.model.byCode) this.#pickCode(bar);
  }

  #pickCode(bar) {
    this.context.set({key: bar.key});
    const absence = Number.isFinite(bar.absent) ? `. ${this.#absence(bar)}` : "";
    this.context.announce(`${barSentence(bar)}, ${this.#chosen().name}${absence}`);
  }

  #key(event) {
    if (!this.drawn) return;
    const chosen = this.#chosen();
    const targets = {
      ArrowRight: chosen.index + 1,
      ArrowLeft: chosen.index - 1,
      Home: 0,
      End: this.visits.length - 1,
    };
    const step = {ArrowDown: 1, ArrowUp: -1}[event.key];
    if (Object.hasOwn(targets, event.key)) this.#pickVisit(this.visits[targets[event.key]]);
    else if (step && this.model.byCode) this.#stepCode(chosen, step);
    else return;
    event.preventDefault();
  }

  #stepCode({parts}, step) {
    const sorted = bySize(parts);
    const at = sorted.findIndex(({key}) => key === this.context.state.get("key"));
    this.#pickCode(sorted[Math.min(Math.max(0, at + step), sorted.length - 1)]);
  }
}

const rules = `
.timeline { display: grid; grid-template-columns: minmax(0, 1fr); gap: 1rem; }
.timeline-tools { display: grid; grid-template-columns: minmax(0, 1fr); gap: 0.8rem; justify-items: start; }
.timeline-chart { cursor: default; border-radius: 6px; overflow-x: auto; min-height: 4rem; }
.timeline-chart svg, .timeline-detail svg { display: block; }
.timeline-chart:focus-visible { outline-offset: 4px; }
`;
