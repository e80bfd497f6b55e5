// Which rows are shown, in which order: filters, a search, a sort.

/** Filters are kept by a key; each is {label, test(row)}. */
export class Selection {
  #rows;
  #filters = new Map();
  #orders = new Map();  // all rows in the order of a column
  #listeners = new Set();
  #search = "";
  #found = null;

  constructor(rows) {
    this.#rows = rows;
    this.sort = {column: null, descending: false};
  }

  /** The rows that are shown, in their order: an Int32Array. */
  get order() {
    this.#found ??= this.#find();
    return this.#found;
  }

  /** [[key, {label, test}]] of what narrows the rows. */
  get filters() {
    return [...this.#filters];
  }

  get search() {
    return this.#search;
  }

  /** The filter of a key, or undefined. */
  filter(key) {
    return this.#filters.get(key);
  }

  /** Sets filters (null takes one away), the search, the sort; then tells the listeners. */
  change({filters = {}, search = this.#search, sort = this.sort, only = false}) {
    if (only) this.#filters.clear();
    for (const [key, filter] of Object.entries(filters)) {
      if (filter) this.#filters.set(key, filter);
      else this.#filters.delete(key);
    }
    this.#search = search;
    this.sort = sort;
    this.#found = null;
    this.#listeners.forEach((listener) => listener());
  }

  subscribe(listener) {
    this.#listeners.add(listener);
  }

  #find() {
    const tests = [...this.#filters.values()].map(({test}) => test);
    const wanted = this.#search.trim().toLocaleLowerCase();
    if (wanted) {
      const haystack = this.#rows.haystack();
      tests.push((row) => haystack[row].includes(wanted));
    }
    const order = this.#wholeOrder();
    return tests.length === 0 ? order : order.filter((row) => tests.every((test) => test(row)));
  }

  // Rows of which nothing is known come last, rows that are alike keep their order.
  #wholeOrder() {
    const {column, descending} = this.sort;
    const key = column ? `${this.#rows.columns.indexOf(column)} ${descending}` : "";
    if (!this.#orders.has(key)) {
      const order = Int32Array.from({length: this.#rows.count}, (_, row) => row);
      if (column) {
        const last = descending ? -Infinity : Infinity;
        const ranks = column.ranks().map((rank) => (Number.isNaN(rank) ? last : rank));
        order.sort(descending ? (a, b) => ranks[b] - ranks[a] || a - b : (a, b) => ranks[a] - ranks[b] || a - b);
      }
      this.#orders.set(key, order);
    }
    return this.#orders.get(key);
  }
}
