// Many inputs through the server: in requests of a size that it takes, one after the other, with the inputs that
// it refuses marked and the rest answered.

const mostInputs = 64;
const mostBytes = 200_000;   // of a request; the server's limit is larger, and so are escapes
const longestWaits = 30;     // in a row, for a server that is busy or gone
const usualWait = 1;         // second

/** `send(inputs, signal)` -> Promise of an answer for each. Gives [{answer} or {problem}] for all inputs;
    `told(done)` hears how many there are. Rejects as `send` does where no input is to blame. */
export async function answerAll(inputs, send, {signal, told}) {
  const results = [];
  for (let at = 0; at < inputs.length;) {
    const size = batchSize(inputs, at);
    results.push(...await answerBatch(inputs.slice(at, at + size), send, signal));
    at += size;
    told(at);
  }
  return results;
}

function batchSize(inputs, at) {
  let bytes = 0;
  let size = 0;
  while (at + size < inputs.length && size < mostInputs) {
    bytes += 4 * JSON.stringify(inputs[at + size]).length;
    if (size > 0 && bytes > mostBytes) break;
    ++size;
  }
  return size;
}

async function answerBatch(inputs, send, signal) {
  try {
    const answers = await patient(() => send(inputs, signal), signal);
    return answers.map((answer) => ({answer}));
  } catch (error) {
    if (![400, 413, 422, 504].includes(error.status)) throw error;
    if (inputs.length === 1) return [{problem: error.message}];
    // The one that is to blame, else the half that it is in.
    const blamed = Number(/^inputs\[(\d+)\]/.exec(error.field)?.[1] ?? -1);
    const cuts = blamed >= 0 && blamed < inputs.length ? [0, blamed, blamed + 1] : [0, inputs.length >> 1];
    const parts = cuts.map((begin, i) => inputs.slice(begin, cuts[i + 1])).filter(({length}) => length > 0);
    const results = [];
    for (const part of parts) results.push(...await answerBatch(part, send, signal));
    return results;
  }
}

// Asks again while the server is busy, loading or gone.
async function patient(ask, signal) {
  for (let waits = 0; ; ++waits) {
    try {
      return await ask();
    } catch (error) {
      if (!error.passing || waits >= longestWaits) throw error;
      await pause(error.retryAfter ?? usualWait, signal);
    }
  }
}

function pause(seconds, signal) {
  return new Promise((resolve, reject) => {
    const stopped = () => reject(new DOMException("cancelled", "AbortError"));
    if (signal.aborted) return stopped();
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", stopped);
      resolve();
    }, seconds * 1000);
    signal.addEventListener("abort", () => (clearTimeout(timer), stopped()), {once: true});
  });
}
