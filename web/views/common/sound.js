// The sound of an axis, with a button that plays it and a call for every frame while it plays.
import {PlayButton} from "fovea/views/common/player.js";

/** `tick()` is called while it plays and when it stops. */
export class Sound {
  constructor(medium, tick) {
    this.tick = tick;
    this.frame = 0;
    this.audio = new Audio(medium.url);
    this.button = new PlayButton(() => this.toggle());
    this.element = this.button.element;
    this.audio.addEventListener("ended", () => this.#stopped());
    this.audio.addEventListener("error", () => this.#refuse());
  }

  get playing() {
    return !this.audio.paused && !this.audio.ended;
  }

  /** Seconds from the beginning. */
  get time() {
    return this.audio.currentTime;
  }

  /** Goes to a time. */
  seek(seconds) {
    if (Number.isFinite(this.audio.duration)) this.audio.currentTime = Math.min(seconds, this.audio.duration);
    this.tick();
  }

  /** Plays or pauses. */
  async toggle() {
    if (this.playing) {
      this.audio.pause();
      this.#stopped();
      return;
    }
    try {
      await this.audio.play();
      this.button.show(true);
      this.#follow();
    } catch {
      this.#refuse();
    }
  }

  /** Ends it for good. */
  destroy() {
    cancelAnimationFrame(this.frame);
    this.audio.pause();
    this.audio.removeAttribute("src");
  }

  #follow() {
    this.tick();
    this.frame = requestAnimationFrame(() => this.#follow());
  }

  #stopped() {
    cancelAnimationFrame(this.frame);
    this.button.show(false);
    this.tick();
  }

  #refuse() {
    this.element.disabled = true;
    this.element.title = "This browser cannot play the sound.";
  }
}
