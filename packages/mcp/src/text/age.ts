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

/** `3 min ago` or `in 2 h`. */
export function ageText(iso: string, nowMs: number): string {
  const seconds = (nowMs - Date.parse(iso)) / 1000;
  return seconds >= 0 ? `${durationText(seconds)} ago` : `in ${durationText(-seconds)}`;
}
