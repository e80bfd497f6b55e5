// Records the microphone. Nothing leaves the page: the recording is a file like one that was opened.

import {element} from "fovea/parts/dom.js";

const reasons = {
  NotFoundError: "No microphone was found.",
  NotAllowedError: "The page may not use the microphone: the browser or its user does not allow it.",
  NotReadableError: "The microphone cannot be used; another program may hold it.",
};

/** `options`: {seconds (the most), recorded(file), failed(text)}. */
export class Recorder {
  #options;
  #media = null;
  #begin = 0;
  #timer = 0;
  #isWanted = false;

  constructor(options) {
    this.#options = options;
    this.button = element("button", {type: "button", class: "record", text: "Record", "aria-pressed": "false", on: {click: () => this.#toggle()}});
    this.time = element("span", {class: "record-time", role: "timer"});
    this.node = element("span", {class: "recorder"}, this.button, this.time);
  }

  #toggle() {
    if (this.#media) return this.#media.stop();
    if (!this.#isWanted) this.#start();
  }

  async #start() {
    if (!navigator.mediaDevices?.getUserMedia || !window.MediaRecorder) {
      const isOpen = window.isSecureContext;
      return this.#options.failed(isOpen ? "This browser cannot record." : "Browsers give the microphone only to pages of this machine or over HTTPS.");
    }
    this.#isWanted = true;
    let stream;
    try {
      stream = await navigator.mediaDevices.getUserMedia({audio: true});
    } catch (failure) {
      this.#isWanted = false;
      return this.#options.failed(reasons[failure.name] ?? `The microphone cannot be used: ${failure.message}`);
    }
    this.#isWanted = false;
    if (!this.node.isConnected) return stream.getTracks().forEach((track) => track.stop());
    const pieces = [];
    this.#media = new MediaRecorder(stream);
    this.#media.addEventListener("dataavailable", ({data}) => pieces.push(data));
    this.#media.addEventListener("stop", () => {
      const {mimeType} = this.#media;
      this.#stopped(stream);
      this.#options.recorded(new File(pieces, "recording", {type: mimeType}));
    });
    this.#media.start();
    this.#begin = performance.now();
    this.#timer = setInterval(() => this.#tell(), 200);
    this.#show(true);
    this.#tell();
  }

  #tell() {
    const seconds = (performance.now() - this.#begin) / 1000;
    this.time.textContent = `${seconds.toFixed(1)} s of at most ${this.#options.seconds} s`;
    const isGone = !this.node.isConnected; // another model was chosen
    if ((isGone || seconds >= this.#options.seconds) && this.#media?.state === "recording") this.#media.stop();
  }

  #stopped(stream) {
    clearInterval(this.#timer);
    stream.getTracks().forEach((track) => track.stop());
    this.#media = null;
    this.#show(false);
  }

  #show(isRecording) {
    this.button.textContent = isRecording ? "Stop" : "Record";
    this.button.setAttribute("aria-pressed", String(isRecording));
    if (!isRecording) this.time.textContent = "";
  }
}
