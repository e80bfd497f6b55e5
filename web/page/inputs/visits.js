// Input editor for health records: the visits down a line of time, each with its codes, which are found by
// search.

import {clear, element} from "fovea/parts/dom.js";
import {count, number} from "fovea/parts/format.js";
import {Chips} from "fovea/page/fields/chips.js";
import {isTexts, objectIn} from "fovea/page/inputs/object.js";

const visitOf = (visit) => (Array.isArray(visit) ? {codes: visit} : visit);
const itemOf = (schema) => schema.properties.visits.items;

/** How long after the visit before, where both times are numbers or dates. */
function gapText(before, time) {
  const [first, second] = [before, time].map((value) => String(value ?? "").trim());
  if (first === "" || second === "") return "";
  const isDate = [first, second].every((value) => /^\d{4}-\d\d-\d\d/.test(value));
  const gap = isDate ? (Date.parse(second) - Date.parse(first)) / 86_400_000 : Number(second) - Number(first);
  if (!Number.isFinite(gap)) return "";
  return `${number(gap)}${isDate ? " days" : ""} later`;
}

/** See inputs/index.js. */
export const visits = {
  fits: (schema) => schema.properties?.visits?.items?.properties?.codes !== undefined,

  parse(line) {
    if (line.trim().startsWith("{")) return objectIn(line, "an object with visits");
    if (line.trim() === "") throw new Error("Expected codes, with ; between visits.");
    return {visits: line.split(";").map((codes) => ({codes: codes.trim().split(/\s+/).filter(Boolean)}))};
  },

  fromCells: (header, cells) => visits.parse(cells.join(" ")),

  takes: (input) => Array.isArray(input.visits) && input.visits.every((visit) => isTexts(visitOf(visit)?.codes)),

  text: (input) => JSON.stringify(input),

  caption(input) {
    const all = input.visits.map(visitOf);
    const codes = new Set(all.flatMap((visit) => visit.codes));
    const words = all.length === 1 ? "1 visit" : `${count(all.length)} visits`;
    return `${words}, ${count(codes.size)} codes; the last visit: ${all.at(-1)?.codes.join(", ") ?? "none"}`;
  },

  mount(host, {schema, changed, label, describedBy, names}) {
    const hasTimes = "time" in itemOf(schema).properties;
    const known = itemOf(schema).properties.codes.known?.count ?? 0;
    let cards = [];
    const list = element("ol", {class: "visits-line"});
    const add = element("button", {type: "button", class: "button-plain", text: "Add a visit", on: {click: () => insert({codes: []}).focus()}});
    const box = element(
      "div",
      {class: "input-visits", role: "group", "aria-label": label},
      list,
      add,
      element("p", {class: "hint", text: known > 0 ? `${count(known)} codes are known from training; the model has never seen others.` : ""}),
    );
    host.append(box);

    const insert = (visit) => {
      const card = cardOf(visit);
      cards.push(card);
      list.append(card.node);
      tell();
      return card;
    };

    const cardOf = (visit) => {
      const card = {};
      const title = element("span", {class: "visit-title"});
      const gap = element("span", {class: "visit-gap"});
      const time = element("input", {
        type: "text",
        class: "visit-time",
        value: String(visit.time ?? ""),
        "aria-describedby": describedBy,
        placeholder: "day or date",
        autocomplete: "off",
        on: {input: () => (tell(), changed())},
      });
      const chips = new Chips({
        label: "Codes",
        adds: "Add a code",
        suggest: async (text) => (await names("codes", text)).map((value) => ({value})),
        changed,
        describedBy,
      });
      chips.names = visit.codes;
      const button = (text, says, click) => element("button", {type: "button", class: "button-plain", text, "aria-label": says, on: {click}});
      const earlier = button("↑", "Earlier", () => move(card, -1));
      const later = button("↓", "Later", () => move(card, 1));
      const remove = button("×", "Remove this visit", () => removeCard(card));
      card.node = element(
        "li",
        {class: "visit-card"},
        element("div", {class: "visit-head"}, title, hasTimes && time, gap, element("span", {class: "visit-buttons"}, !hasTimes && earlier, !hasTimes && later, remove)),
        chips.node,
      );
      card.tell = (place, before) => {
        title.textContent = `Visit ${place + 1}`;
        card.node.setAttribute("aria-label", `Visit ${place + 1}`);
        time.setAttribute("aria-label", `Time of visit ${place + 1}`);
        remove.setAttribute("aria-label", `Remove visit ${place + 1}`);
        gap.textContent = hasTimes && before ? gapText(before.time, card.time) : "";
        earlier.disabled = place === 0;
        later.disabled = place === cards.length - 1;
      };
      Object.defineProperty(card, "time", {get: () => time.value.trim()});
      Object.defineProperty(card, "codes", {get: () => chips.names});
      card.focus = () => (hasTimes ? time.focus() : chips.focus());
      return card;
    };

    const tell = () => cards.forEach((card, place) => card.tell(place, cards[place - 1]));

    const removeCard = (card) => {
      const place = cards.indexOf(card);
      cards.splice(place, 1);
      card.node.remove();
      tell();
      (cards[Math.min(place, cards.length - 1)]?.node.querySelector("button") ?? add).focus();
      changed();
    };

    const move = (card, by) => {
      const place = cards.indexOf(card);
      cards.splice(place, 1);
      cards.splice(place + by, 0, card);
      list.append(...cards.map(({node}) => node));
      tell();
      card.node.querySelector(`button:nth-of-type(${by < 0 ? 1 : 2})`)?.focus();
      changed();
    };

    return {
      read() {
        if (cards.length === 0) return {problem: "There is no visit yet."};
        const timed = cards.filter(({time}) => time !== "").length;
        if (timed > 0 && timed < cards.length) return {problem: `${timed} of ${cards.length} visits have a time; expected all or none.`};
        return {
          input: {
            visits: cards.map(({time, codes}) => {
              if (time === "") return {codes};
              const plain = Number(time);
              return {time: Number.isFinite(plain) ? plain : time, codes};
            }),
          },
        };
      },
      write(input) {
        clear(list);
        cards = [];
        input.visits.map(visitOf).forEach(insert);
      },
      focus: () => (cards[0] ?? add).focus(),
    };
  },
};
