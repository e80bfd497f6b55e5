// What views share that draw on one canvas: at most once a frame, sharp on every screen, with pan and zoom where
// they are wanted, and gone when left.
import {printing} from "fovea/parts/colour.js";
import {element} from "fovea/parts/dom.js";
import {PanZoom} from "fovea/parts/panzoom.js";

/** Views extend it with draw(), resize(), update(), svg(), csv() and describe(), and set endTheme. */
export class CanvasView {
  constructor(host, context) {
    Object.assign(this, {host, context, map: context.map, hovered: null, frame: 0, destroyed: false});
    this.canvas = element("canvas", {class: "plot", tabindex: 0, role: "img"});
    this.drawing = this.canvas.getContext("2d");
  }

  /** `hover` is told of null when the pointer leaves. */
  listen({hover, click, key}) {
    const on = (type, listener) => this.canvas.addEventListener(type, listener);
    on("pointermove", hover);
    on("pointerleave", () => hover(null));
    on("click", click);
    on("keydown", key);
  }

  /** Draws with the next frame, once, however often it is asked. */
  schedule() {
    if (printing()) return this.draw();
    this.frame ||= requestAnimationFrame(() => {
      this.frame = 0;
      this.draw();
    });
  }

  /** A size in CSS pixels. */
  sizeCanvas(width, height) {
    const ratio = window.devicePixelRatio || 1;
    [this.canvas.width, this.canvas.height] = [Math.round(width * ratio), Math.round(height * ratio)];
    this.canvas.style.height = `${height}px`;
  }

  /** An empty canvas to draw on in CSS pixels, in place of what was scheduled. */
  startDrawing(width, height) {
    cancelAnimationFrame(this.frame);
    this.frame = 0;
    const ratio = window.devicePixelRatio || 1;
    this.drawing.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.drawing.clearRect(0, 0, width, height);
  }

  /** Pan and zoom, which the state remembers; `origin()` is where what they move begins. */
  addPanZoom(origin) {
    const onChange = () => {
      this.context.tooltip.hide();
      this.schedule();
      clearTimeout(this.zoomTimer);
      this.zoomTimer = setTimeout(() => this.context.set({zoom: this.panzoom.toText()}), 200);
    };
    this.panzoom = new PanZoom(this.canvas, {panKeys: "shift", origin, onChange});
  }

  /** The zoom of the state, where it is another one. */
  followZoom() {
    const zoom = this.context.state.get("zoom");
    if (zoom !== this.panzoom.toText()) this.panzoom.fromText(zoom);
  }

  destroy() {
    this.destroyed = true;
    cancelAnimationFrame(this.frame);
    clearTimeout(this.zoomTimer);
    this.panzoom?.destroy();
    this.endTheme();
    this.context.tooltip.hide();
    this.host.replaceChildren();
  }
}
