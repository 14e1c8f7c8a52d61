const units: readonly (readonly [name: string, seconds: number])[] = [
  ['s', 1],
  ['min', 60],
  ['h', 3600],
  ['day', 86_400],
];

/** `45 s`, `3 min`, `2 h`, `5 days`: the largest unit that fits, rounded down. */
export function durationText(seconds: number): string {
  const whole = Math.max(0, Math.floor(seconds));
  let [name, size] = ['s', 1];
  for (const [unitName, unitSize] of units) if (whole >= unitSize) [name, size] = [unitName, unitSize];
  const count = Math.floor(whole / size);
  return `${count} ${name === 'day' && count !== 1 ? 'days' : name}`;
}

/**
 * The same rounded to the nearest, for what lies ahead: an hour that began a moment ago is `1 h`, not `59 min`. A count
 * that rounds up to the next unit is one of that unit.
 */
function nearestDuration(seconds: number): string {
  const unit = units.findIndex(([, size], i) => {
    const next = units[i + 1]?.[1] ?? Infinity;
    return Math.round(seconds / size) * size < next;
  });
  const size = units[unit]?.[1] ?? 1;
  return durationText(Math.round(seconds / size) * size);
}

/** `just now`, `3 min ago` (rounded down), `in a moment`, `in 55 min` (to the nearest); `—` for a time that is null or unreadable. */
export function relativeTime(iso: string | null, nowMs: number): string {
  const at = iso === null ? Number.NaN : Date.parse(iso);
  if (Number.isNaN(at)) return '—';
  const seconds = (nowMs - at) / 1000;
  if (Math.abs(seconds) < 2) return seconds >= 0 ? 'just now' : 'in a moment';
  return seconds > 0 ? `${durationText(seconds)} ago` : `in ${nearestDuration(-seconds)}`;
}
