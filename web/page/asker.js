// Asks the server as somebody types: waits for a pause, drops the request that is no longer wanted, and tries
// again by itself when the server is busy, loading or gone. What happens is told through one callback, as
//   {name: "waiting"}, {name: "asking", request, cancel}, {name: "retrying", error, seconds, cancel},
//   {name: "answered", request, answer, milliseconds}, {name: "failed", error}.

const pause = 250;
const longestRetry = 30;

/** The status of a request that was cancelled here, as the server's log has it. */
export const cancelled = 499;

/** One request at a time. `send(request, signal)` returns a promise; `told(happening)` hears of it. */
export class Asker {
  #send;
  #told;
  #timer = 0;
  #flight = null;
  #request = undefined; // none yet
  #retries = 0;
  #begin = 0;

  constructor(send, told) {
    this.#send = send;
    this.#told = told;
  }

  /** Asks after a pause in typing, or `now`; the last request wins. */
  ask(request, {now = false} = {}) {
    this.stop();
    this.#request = request;
    this.#retries = 0;
    if (now) return void this.#go();
    this.#told({name: "waiting"});
    this.#timer = setTimeout(() => this.#go(), pause);
  }

  /** Asks the last request again at once: "try now". */
  again() {
    if (this.#request !== undefined) this.ask(this.#request, {now: true});
  }

  /** Drops what is under way. */
  stop() {
    clearTimeout(this.#timer);
    this.#flight?.abort();
    this.#flight = null;
  }

  /** Drops it because somebody does not want to wait; the server sees the connection close. */
  cancel() {
    const seconds = ((performance.now() - this.#begin) / 1000).toFixed(1);
    this.stop();
    this.#told({name: "failed", error: Object.assign(new Error(`cancelled after ${seconds} s`), {status: cancelled})});
  }

  async #go() {
    const flight = new AbortController();
    const request = this.#request;
    const begin = (this.#begin = performance.now());
    this.#flight = flight;
    this.#told({name: "asking", request, cancel: () => this.cancel()});
    const {answer, error} = await this.#send(request, flight.signal).then(
      (value) => ({answer: value}),
      (failure) => ({error: failure}),
    );
    if (this.#flight !== flight) return;
    this.#flight = null;
    if (!error) this.#told({name: "answered", request, answer, milliseconds: performance.now() - begin});
    else if (error.passing) this.#retry(error);
    else this.#told({name: "failed", error});
  }

  #retry(error) {
    const seconds = error.retryAfter ?? retryDelay(this.#retries++);
    this.#told({name: "retrying", error, seconds, cancel: () => this.cancel()});
    this.#timer = setTimeout(() => this.#go(), seconds * 1000);
  }
}

/** Seconds before attempt number `retries` + 1 where the server does not say: 1, 2, 4, … 30. */
export function retryDelay(retries) {
  return Math.min(longestRetry, 2 ** retries);
}
