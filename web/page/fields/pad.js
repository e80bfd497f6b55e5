// A pad to draw a small picture of one channel on: a digit, a sign. It begins as the picture that is there, and
// its ground is that picture's. With the keyboard the arrows move the pen, the space bar sets it down and lifts it.

import {element} from "fovea/parts/dom.js";

const side = 280; // pixels of the pad's longer side; the network sees fewer
const keySteps = 28; // of the pen along a side, with the keyboard

/** `options`: {width, height (of what the network sees), changed(), describedBy}. */
export class Pad {
  #options;
  #paper = "#000000";
  #ink = "#ffffff";
  #last = null;
  #pen = {x: 0.5, y: 0.5, isDown: false};
  #isTouched = false;

  constructor(options) {
    this.#options = options;
    const scale = side / Math.max(options.width, options.height);
    this.canvas = element("canvas", {
      class: "pad-canvas",
      width: Math.round(options.width * scale),
      height: Math.round(options.height * scale),
      tabindex: 0,
      role: "application",
      "aria-roledescription": "drawing pad",
      "aria-label": "Draw here. Arrow keys move the pen, the space bar sets it down or lifts it.",
      "aria-describedby": options.describedBy,
      on: {
        pointerdown: (event) => this.#begin(event),
        pointermove: (event) => this.#drag(event),
        pointerup: () => this.#end(),
        pointercancel: () => this.#end(),
        keydown: (event) => this.#key(event),
        blur: () => (this.#pen.isDown = false),
      },
    });
    this.context = this.canvas.getContext("2d");
    this.node = element(
      "div",
      {class: "pad"},
      this.canvas,
      element(
        "div",
        {class: "pad-tools"},
        element("button", {type: "button", text: "Clear", on: {click: () => this.clear()}}),
        element("span", {class: "hint", text: "Draw with the mouse, a pen or a finger."}),
      ),
    );
    this.#fill();
  }

  /** Shows a picture, to be drawn upon; its corner is the ground. */
  async show(url) {
    const image = new Image();
    image.src = url;
    try {
      await image.decode();
    } catch {
      return; // the server says what is wrong with it
    }
    const {canvas, context} = this;
    context.imageSmoothingEnabled = false;
    context.drawImage(image, 0, 0, canvas.width, canvas.height);
    const [red, green, blue] = context.getImageData(1, 1, 1, 1).data;
    const isLight = red + green + blue > 3 * 127;
    [this.#paper, this.#ink] = isLight ? ["#ffffff", "#000000"] : ["#000000", "#ffffff"];
    this.#isTouched = false;
  }

  /** Empties it. */
  clear() {
    this.#fill();
    this.#isTouched = true;
    this.#options.changed();
    this.canvas.focus();
  }

  /** What is drawn, as small as the network sees it, as a Promise of a PNG. */
  async blob() {
    const {width, height} = this.#options;
    const small = element("canvas", {width, height});
    const context = small.getContext("2d");
    context.imageSmoothingQuality = "high";
    context.drawImage(this.canvas, 0, 0, width, height);
    return new Promise((resolve) => small.toBlob(resolve, "image/png"));
  }

  #fill() {
    this.context.fillStyle = this.#paper;
    this.context.fillRect(0, 0, this.canvas.width, this.canvas.height);
  }

  #point(event) {
    const box = this.canvas.getBoundingClientRect();
    return {
      x: ((event.clientX - box.left) / box.width) * this.canvas.width,
      y: ((event.clientY - box.top) / box.height) * this.canvas.height,
    };
  }

  #line(from, to) {
    const {context} = this;
    context.strokeStyle = this.#ink;
    context.lineWidth = Math.max(this.canvas.width, this.canvas.height) / 13;
    context.lineCap = context.lineJoin = "round";
    context.beginPath();
    context.moveTo(from.x, from.y);
    context.lineTo(to.x + 0.01, to.y);
    context.stroke();
    this.#isTouched = true;
  }

  #begin(event) {
    if (event.button !== 0) return;
    event.preventDefault();
    this.canvas.focus();
    this.canvas.setPointerCapture(event.pointerId);
    this.#last = this.#point(event);
    this.#line(this.#last, this.#last);
  }

  #drag(event) {
    if (!this.#last) return;
    const to = this.#point(event);
    this.#line(this.#last, to);
    this.#last = to;
  }

  #end() {
    if (!this.#last) return;
    this.#last = null;
    if (this.#isTouched) this.#options.changed();
  }

  #key(event) {
    const move = {ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1]}[event.key];
    const at = () => ({x: this.#pen.x * this.canvas.width, y: this.#pen.y * this.canvas.height});
    if (event.key === " ") {
      event.preventDefault();
      this.#pen.isDown = !this.#pen.isDown;
      if (!this.#pen.isDown) return;
      this.#line(at(), at());
      return this.#options.changed();
    }
    if (!move) return;
    event.preventDefault();
    const from = at();
    for (const [axis, by] of [["x", move[0]], ["y", move[1]]]) {
      this.#pen[axis] = Math.min(1, Math.max(0, this.#pen[axis] + by / keySteps));
    }
    if (!this.#pen.isDown) return;
    this.#line(from, at());
    this.#options.changed();
  }
}
