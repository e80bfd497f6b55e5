// Ids that tie labels, hints and errors to their fields.

let made = 0;

/** An id that nothing else on the page has. */
export function freshId(word) {
  return `${word}-${++made}`;
}
