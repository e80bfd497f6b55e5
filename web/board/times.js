// Lengths of time, and measures, as people say them.

/** "42 s", "3 min 05 s", "2 h 10 min". */
export function duration(seconds) {
  if (!Number.isFinite(seconds)) return "–";
  if (seconds < 9.95) return `${Math.round(seconds * 10) / 10} s`;
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole} s`;
  const two = (number) => String(number).padStart(2, "0");
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${two(whole % 60)} s`;
  return `${Math.floor(whole / 3600)} h ${two(Math.floor((whole % 3600) / 60))} min`;
}

/** The unit that suits a time axis up to `seconds`: [how many seconds, its name]. */
export function timeUnit(seconds) {
  if (seconds < 180) return [1, "seconds"];
  return seconds < 3 * 3600 ? [60, "minutes"] : [3600, "hours"];
}

/** Four significant digits: trainings are compared by the last of them. */
export function measure(value) {
  const text = Math.abs(value) >= 1000 ? String(Math.round(value)) : String(Number(value.toPrecision(4)));
  return text.replace("-", "−");
}
