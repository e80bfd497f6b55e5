// The server's HTTP interface (docs/formats/http.md) for the page: its requests, one kind of error. All
// addresses are relative to the document, so the page also works behind a path prefix. The API key stays in
// this tab's sessionStorage.

const keyName = "fovea-api-key";

/** What went wrong, as the server says it; status 0: no server answered. `retryAfter`: seconds, or null. */
export class ServerError extends Error {
  constructor(status, {message, field = ""}, retryAfter = null) {
    super(message);
    this.status = status;
    this.field = field;
    this.retryAfter = retryAfter;
  }

  /** Whether the same request may work later without anybody changing it. */
  get passing() {
    return [0, 429, 503].includes(this.status);
  }
}

/** The requests of the page. Each rejects with a ServerError, or an AbortError when `signal` says so. */
export class Server {
  #root;

  /** `root`: where the server stands, as seen from the document. */
  constructor(root = "") {
    this.#root = root;
  }

  get key() {
    return sessionStorage.getItem(keyName) ?? "";
  }

  set key(text) {
    if (text) sessionStorage.setItem(keyName, text);
    else sessionStorage.removeItem(keyName);
  }

  /** The models as docs/formats/http.md lists them. */
  async models(signal) {
    const response = await this.#fetch("v1/models", {signal});
    return (await response.json()).models;
  }

  /** An explanation as JSON. */
  async explain(request, signal) {
    const response = await this.#post("v1/explain", request, signal);
    return response.json();
  }

  /** The answer alone, of a model without maps. */
  async predict(request, signal) {
    const response = await this.#post("v1/predict", request, signal);
    return (await response.json()).predictions[0];
  }

  /** The answers to several inputs, `request.inputs`. */
  async answers(request, signal) {
    const response = await this.#post("v1/predict", request, signal);
    return (await response.json()).predictions;
  }

  /** The smallest set of units found that changes the answer; `told(event)` hears how far the search is. */
  async flip(request, told, signal) {
    const response = await this.#post("v1/flip", request, signal);
    let last = null;
    for await (const event of eventsOf(response)) {
      if (event.error) throw new ServerError(500, event.error);
      last = event;
      if (!event.done) told(event);
    }
    if (!last?.done) throw new ServerError(0, {message: "The server does not answer."});
    return last;
  }

  /** What one weight is made of. */
  async queryKey(request, signal) {
    const response = await this.#post("v1/query-key", request, signal);
    return response.json();
  }

  /** Embeddings of a model as points. */
  async embeddings(request, signal) {
    const response = await this.#post("v1/embeddings", request, signal);
    return response.json();
  }

  /** Names that the model knows and that hold the text, of a property of its inputs. */
  async names(request, signal) {
    const response = await this.#post("v1/names", request, signal);
    return (await response.json()).names;
  }

  /** Whether somebody answers; a file of the page needs no key. */
  async isThere() {
    try {
      await fetch(`${this.#root}web/page.js`, {method: "HEAD", cache: "no-store"});
      return true;
    } catch {
      return false;
    }
  }

  /** The report as a Blob of HTML. */
  async report(request, signal) {
    const response = await this.#post("v1/explain", {...request, format: "html"}, signal);
    return response.blob();
  }

  #post(address, request, signal) {
    const headers = {"Content-Type": "application/json"};
    return this.#fetch(address, {method: "POST", headers, body: JSON.stringify(request), signal});
  }

  async #fetch(address, options) {
    const headers = {...options.headers};
    if (this.key) headers.Authorization = `Bearer ${this.key}`;
    let response;
    try {
      response = await fetch(this.#root + address, {...options, headers, cache: "no-store"});
    } catch (failure) {
      if (failure.name === "AbortError") throw failure;
      throw new ServerError(0, {message: "The server does not answer."});
    }
    if (!response.ok) throw await errorOf(response);
    return response;
  }
}

// Server-sent events, each of one line "data: {…}".
async function* eventsOf(response) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const {value, done} = await reader.read();
    if (done) return;
    const parts = (rest + value).split("\n\n");
    rest = parts.pop();
    for (const part of parts) if (part.startsWith("data: ")) yield JSON.parse(part.slice("data: ".length));
  }
}

async function errorOf(response) {
  const seconds = Number.parseFloat(response.headers.get("Retry-After"));
  let said = {message: `The server answered ${response.status} ${response.statusText}`.trim() + "."};
  try {
    said = (await response.json()).error ?? said;
  } catch {
    // A proxy in between answers in HTML; the status has to do.
  }
  return new ServerError(response.status, said, Number.isFinite(seconds) ? seconds : null);
}
