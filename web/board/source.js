// Where trainings come from. A source calls the board: runs(names, live) once, run(index, value) whenever one
// has news, gone(isGone) when the server stops or begins to answer; and look(run, line) gives the explanation
// of a line of its attention.

const busySeconds = 1;
const idleSeconds = 10;

/** The trainings that a document holds. */
export class HeldRuns {
  constructor(document) {
    this.document = document;
  }

  start(board) {
    const {runs} = JSON.parse(this.document.getElementById("runs").textContent);
    board.open(this, runs.map(({name}) => name), false);
    runs.forEach((run, index) => board.run(index, run));
  }

  async look(run, line) {
    const held = this.document.getElementById(`attention-${run}-${line}`);
    if (!held) throw new Error("this file does not hold that picture");
    return JSON.parse(held.textContent);
  }
}

/** Those of a server, asked for as long as the page is open. All addresses are relative to the document. */
export class ServedRuns {
  #tags = [];
  #looks = new Map();
  #gone = false;

  async start(board) {
    const {runs, live} = await this.#first(board);
    board.open(this, runs.map(({name}) => name), live);
    runs.forEach((_, index) => this.#follow(board, index, live));
  }

  /** Pictures never change: each is asked for once. */
  async look(run, line, key) {
    if (!this.#looks.has(key)) {
      const asked = fetch(`v1/runs/${run}/attention/${line}`, {cache: "no-store"}).then((response) => {
        if (!response.ok) throw new Error(`the server answered ${response.status}`);
        return response.json();
      });
      asked.catch(() => this.#looks.delete(key));
      this.#looks.set(key, asked);
    }
    return this.#looks.get(key);
  }

  async #first(board) {
    for (;;) {
      try {
        const answer = await (await fetch("v1/runs", {cache: "no-store"})).json();
        this.#tell(board, false);
        return answer;
      } catch {
        this.#tell(board, true);
        await pause(busySeconds);
      }
    }
  }

  async #follow(board, index, live) {
    let state = "";
    for (;;) {
      try {
        const headers = this.#tags[index] ? {"If-None-Match": this.#tags[index]} : {};
        const response = await fetch(`v1/runs/${index}`, {headers, cache: "no-store"});
        this.#tell(board, false);
        if (response.ok) {
          const run = await response.json();
          this.#tags[index] = response.headers.get("ETag");
          state = run.state;
          board.run(index, run);
        }
      } catch {
        this.#tell(board, true);
      }
      await pause(live || state === "running" ? busySeconds : idleSeconds);
    }
  }

  #tell(board, gone) {
    if (gone !== this.#gone) board.gone(gone);
    this.#gone = gone;
  }
}

function pause(seconds) {
  return new Promise((resolve) => setTimeout(resolve, 1000 * seconds));
}
