// Zoom and drag for a canvas: wheel and pinch zoom at the pointer, drag, and keys. Content is measured in CSS
// pixels at zoom 1, where it is shown whole; the view says how large it and its window are.

const step = 1.4;
const keyPan = 60;
const scrollPause = 250;  // ms in which a wheel still belongs to the page that was being scrolled

let lastPageScroll = -Infinity;
const noteScroll = () => { lastPageScroll = performance.now(); };
window.addEventListener("scroll", noteScroll, {passive: true, capture: true});

/** Options: maximum (zoom), panKeys ("plain", "shift"), origin(): [x, y] of the window inside the element,
    onChange(). */
export class PanZoom {
  constructor(element, {maximum = 64, panKeys = "plain", origin = () => [0, 0], onChange = () => {}} = {}) {
    Object.assign(this, {element, maximum, panKeys, origin, onChange});
    this.zoom = 1;
    this.offsetX = 0;  // of the content's corner from the window's, in pixels on screen
    this.offsetY = 0;
    this.moved = false;  // whether the last press became a drag, so that its click is none
    this.contentWidth = this.contentHeight = this.viewWidth = this.viewHeight = 1;
    this.pointers = new Map();
    this.listening = new AbortController();
    this.#listen();
  }

  /** Sizes of the content at zoom 1 and of the window it is seen through. */
  setSize(contentWidth, contentHeight, viewWidth, viewHeight) {
    const centre = this.#centre();
    Object.assign(this, {contentWidth, contentHeight, viewWidth, viewHeight});
    this.#moveCentre(centre);
  }

  /** Content coordinates of a point in the window. */
  toContent(x, y) {
    return [(x - this.offsetX) / this.zoom, (y - this.offsetY) / this.zoom];
  }

  /** Place in the window of content coordinates. */
  toScreen(x, y) {
    return [x * this.zoom + this.offsetX, y * this.zoom + this.offsetY];
  }

  /** Zooms by a factor, keeping the content under (x, y) of the window where it is. */
  zoomBy(factor, x = this.viewWidth / 2, y = this.viewHeight / 2) {
    const zoom = Math.min(this.maximum, Math.max(1, this.zoom * factor));
    if (zoom === this.zoom) return false;
    const [contentX, contentY] = this.toContent(x, y);
    this.zoom = zoom;
    this.offsetX = x - contentX * zoom;
    this.offsetY = y - contentY * zoom;
    this.#changed();
    return true;
  }

  /** Moves the content by pixels on screen. */
  panBy(x, y) {
    this.offsetX += x;
    this.offsetY += y;
    this.#changed();
  }

  /** Moves as little as needed to show a rectangle of the content. */
  reveal(x, y, width, height) {
    const [left, top] = this.toScreen(x, y);
    const [right, bottom] = this.toScreen(x + width, y + height);
    const shift = (low, high, size) => (low < 0 ? -low : high > size ? Math.max(size - high, -low) : 0);
    this.panBy(shift(left, right, this.viewWidth), shift(top, bottom, this.viewHeight));
  }

  /** Back to the whole. */
  reset() {
    this.zoom = 1;
    this.offsetX = this.offsetY = 0;
    this.#changed();
  }

  /** Zoom and centre, "" for the whole: a text for the address. */
  toText() {
    const [x, y] = this.#centre();
    return this.zoom === 1 ? "" : [this.zoom.toFixed(3), x.toFixed(4), y.toFixed(4)].join(",");
  }

  /** The reverse of toText; whatever cannot be read means the whole. */
  fromText(text) {
    const [zoom, x, y] = String(text ?? "").split(",").map(Number);
    const readable = [zoom, x, y].every(Number.isFinite);
    this.zoom = readable ? Math.min(this.maximum, Math.max(1, zoom)) : 1;
    this.#moveCentre(readable ? [x, y] : [0.5, 0.5]);
  }

  /** Handles + - 0 and arrows; true when the key was one of them. */
  handleKey(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return false;
    const pans = {ArrowLeft: [1, 0], ArrowRight: [-1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1]}[event.key];
    if (pans && event.shiftKey === (this.panKeys === "shift")) this.panBy(pans[0] * keyPan, pans[1] * keyPan);
    else if (event.key === "+" || event.key === "=") this.zoomBy(step);
    else if (event.key === "-") this.zoomBy(1 / step);
    else if (event.key === "0") this.reset();
    else return false;
    return true;
  }

  /** Ends all listening. */
  destroy() {
    this.listening.abort();
  }

  #listen() {
    const on = (type, listener, options) =>
      this.element.addEventListener(type, listener, {...options, signal: this.listening.signal});
    on("wheel", (event) => this.#wheel(event), {passive: false});
    on("pointerdown", (event) => this.#press(event));
    on("pointermove", (event) => this.#move(event));
    for (const type of ["pointerup", "pointercancel", "lostpointercapture"]) {
      on(type, (event) => this.pointers.delete(event.pointerId));
    }
    on("keydown", (event) => {
      if (this.handleKey(event)) event.preventDefault();
    });
    this.element.style.touchAction = "pan-x pan-y";
  }

  #wheel(event) {
    if (!event.ctrlKey && performance.now() - lastPageScroll < scrollPause) return;
    const unit = event.deltaMode === 1 ? 16 : 1;
    const factor = Math.exp(-event.deltaY * unit * (event.ctrlKey ? 0.01 : 0.002));
    if (this.zoomBy(factor, ...this.#place(event)) || event.ctrlKey) event.preventDefault();
  }

  #press(event) {
    if (event.button !== 0) return;
    this.pointers.set(event.pointerId, this.#place(event));
    this.moved = false;
  }

  #move(event) {
    const before = this.pointers.get(event.pointerId);
    if (!before) return;
    const now = this.#place(event);
    const [shiftX, shiftY] = [now[0] - before[0], now[1] - before[1]];
    if (!this.moved && Math.hypot(shiftX, shiftY) < 4 && this.pointers.size === 1) return;
    if (!this.moved) this.element.setPointerCapture(event.pointerId);
    this.moved = true;
    if (this.pointers.size === 2) this.#pinch(event.pointerId, before, now);
    this.pointers.set(event.pointerId, now);
    this.panBy(shiftX / this.pointers.size, shiftY / this.pointers.size);
  }

  #pinch(movedId, before, now) {
    const [, other] = [...this.pointers].find(([id]) => id !== movedId);
    const spread = (point) => Math.max(1, Math.hypot(point[0] - other[0], point[1] - other[1]));
    this.zoomBy(spread(now) / spread(before), (now[0] + other[0]) / 2, (now[1] + other[1]) / 2);
  }

  #place(event) {
    const box = this.element.getBoundingClientRect();
    const [left, top] = this.origin();
    return [event.clientX - box.left - left, event.clientY - box.top - top];
  }

  #centre() {
    const [x, y] = this.toContent(this.viewWidth / 2, this.viewHeight / 2);
    return [x / this.contentWidth, y / this.contentHeight];
  }

  #moveCentre([x, y]) {
    this.offsetX = this.viewWidth / 2 - x * this.contentWidth * this.zoom;
    this.offsetY = this.viewHeight / 2 - y * this.contentHeight * this.zoom;
    this.#limit();
  }

  #changed() {
    this.#limit();
    // At zoom 1 a finger that moves scrolls the page; later it moves the content.
    this.element.style.touchAction = this.zoom === 1 ? "pan-x pan-y" : "none";
    this.onChange();
  }

  #limit() {
    const limited = (offset, content, view) => Math.min(0, Math.max(offset, view - content * this.zoom));
    this.offsetX = limited(this.offsetX, this.contentWidth, this.viewWidth);
    this.offsetY = limited(this.offsetY, this.contentHeight, this.viewHeight);
  }
}
