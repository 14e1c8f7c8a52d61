/** The name that `text` was most likely meant to be; null where none is near. */
export function nearestName(text: string, names: readonly string[]): string | null {
  const wanted = text
    .slice(0, 60)
    .toLowerCase()
    .replace(/[^a-z0-9]/g, '');
  let best: string | null = null;
  let least = Number.POSITIVE_INFINITY;
  for (const name of names) {
    const candidate = name.replace(/[^a-z0-9]/g, '');
    const contained = wanted.length >= 3 && (candidate.includes(wanted) || wanted.includes(candidate));
    const distance = contained ? 1 : editDistance(wanted, candidate);
    if (distance < least && distance <= Math.max(2, Math.floor(candidate.length / 2))) {
      least = distance;
      best = name;
    }
  }
  return best;
}

/** How many characters must be put in, taken out or replaced. */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
