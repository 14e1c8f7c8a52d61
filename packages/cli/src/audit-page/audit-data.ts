import type { AuditEvent } from '@git-mesh/core';

/** What the page carries. Times in milliseconds since 1970. */
export interface AuditData {
  from: number;
  to: number;
  events: AuditEvent[];
  freezes: { from: number; to: number }[];
}

/** `events` as the log gives them, newest first; shown in that order. */
export function auditData(events: readonly AuditEvent[], nowMs: number): AuditData {
  const times = events.map(({ at }) => Date.parse(at));
  return {
    from: times.reduce((a, b) => Math.min(a, b), nowMs),
    to: times.reduce((a, b) => Math.max(a, b), events.length === 0 ? nowMs : 0),
    events: [...events],
    freezes: joined(
      events.filter(isFreeze).map((freeze) => ({ from: Date.parse(freeze.at), to: endOf(freeze, events) })),
    ),
  };
}

/** Bands that overlap are one: laid over each other they would hide what is in them. */
function joined(bands: AuditData['freezes']): AuditData['freezes'] {
  const whole: AuditData['freezes'] = [];
  for (const band of [...bands].sort((a, b) => a.from - b.from)) {
    const last = whole.at(-1);
    if (last === undefined || band.from > last.to) whole.push({ ...band });
    else last.to = Math.max(last.to, band.to);
  }
  return whole;
}

const isFreeze = ({ event, type }: AuditEvent): boolean => event === 'send' && type === 'freeze';

/** By the first clear that names it, or that is later and of its repository, else by its own end. */
function endOf(freeze: AuditEvent, events: readonly AuditEvent[]): number {
  const clears = events.filter(({ event, type }) => event === 'send' && type === 'freeze-clear');
  const [id] = freeze.ids;
  const ends = clears
    .filter((clear) => {
      const isLater = (clear.ids[0] ?? '') > (id ?? '');
      return (
        (clear.in_reply_to !== null && clear.in_reply_to === id) ||
        (isLater && clear.repo !== null && clear.repo === freeze.repo)
      );
    })
    .map(({ at }) => Date.parse(at));
  const expiry = freeze.expires_at === null ? Infinity : Date.parse(freeze.expires_at);
  return Math.max(Date.parse(freeze.at), Math.min(expiry, ...ends));
}
