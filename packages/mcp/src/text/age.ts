const units = [
  ['d', 86_400],
  ['h', 3600],
  ['min', 60],
] as const;

/** `45 s`, `3 min`, `2 h`, `5 d`: the largest unit that fits, rounded down. */
export function durationText(seconds: number): string {
  const whole = Math.max(0, Math.floor(seconds));
  for (const [name, size] of units) if (whole >= size) return `${Math.floor(whole / size)} ${name}`;
  return `${whole} s`;
}

/** To the nearest, for what lies ahead: an hour that began a moment ago is `1 h`, not `59 min`. */
function nearestText(seconds: number): string {
  const fit = units.findLast(([, size], i) => Math.round(seconds / size) * size < (units[i - 1]?.[1] ?? Infinity));
  const size = seconds < 59.5 ? 1 : (fit?.[1] ?? 1);
  return durationText(Math.round(seconds / size) * size);
}

/** `3 min ago` (rounded down) or `in 2 h` (to the nearest). */
export function ageText(iso: string, nowMs: number): string {
  const seconds = (nowMs - Date.parse(iso)) / 1000;
  return seconds >= 0 ? `${durationText(seconds)} ago` : `in ${nearestText(-seconds)}`;
}
