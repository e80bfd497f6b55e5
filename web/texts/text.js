// What the page says, in the reader's language. Modules write it in English where it is shown, t("Answered in {time}.", {time});
// the table of another language maps that sentence to its own.

/** The sentence with its {names} filled in. Fillings are put in as they are: show the result as text only. */
export function t(sentence, fillings = {}) {
  return sentence.replace(/\{(\w+)\}/g, (whole, name) => (name in fillings ? String(fillings[name]) : whole));
}
