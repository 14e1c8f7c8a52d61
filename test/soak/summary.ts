import type { Finding } from './check.js';
import type { SendAttempt } from './ledger.js';

export interface Summary {
  seed: number;
  machines: number;
  /** Of work and faults, without the beginning and the end. */
  seconds: number;
  sends: number;
  /** Of the sends that were not accepted: how often which error, or none. */
  refused: Record<string, number>;
  accepted: number;
  /** Pairs of an accepted message and an agent that it was for. */
  delivered: number;
  duplicated: number;
  lost: number;
  phantoms: number;
  acks: number;
  kills: number;
  pauses: number;
  outages: number;
  /** Times in which the remote was slow. */
  slow: number;
  refusals: number;
  full_disks: number;
  disk: 'mounted' | 'injected' | 'none';
  skewed_machines: number;
  findings: number;
  duration_s: number;
}

const rows: readonly (readonly [string, Exclude<keyof Summary, 'refused'>])[] = [
  ['seed', 'seed'],
  ['machines', 'machines'],
  ['sends tried', 'sends'],
  ['messages accepted', 'accepted'],
  ['delivered to an agent', 'delivered'],
  ['duplicated', 'duplicated'],
  ['lost', 'lost'],
  ['phantoms', 'phantoms'],
  ['acknowledgements', 'acks'],
  ['kills', 'kills'],
  ['pauses', 'pauses'],
  ['outages of the remote', 'outages'],
  ['times it was slow', 'slow'],
  ['pushes refused', 'refusals'],
  ['full disks', 'full_disks'],
  ['machines with a wrong clock', 'skewed_machines'],
  ['findings', 'findings'],
  ['seconds in all', 'duration_s'],
];

export function asTable(summary: Summary): string {
  const width = Math.max(...rows.map(([name]) => name.length));
  const lines = rows.map(([name, field]) => `${name.padEnd(width)}  ${summary[field]}\n`);
  const refused = Object.entries(summary.refused).map(([error, times]) => `${error} ${times}`);
  return `${lines.join('')}${'sends not accepted'.padEnd(width)}  ${refused.join(', ') || 'none'}\n`;
}

/** How often which error was given to sends that were not accepted. */
export function refusals(sends: readonly SendAttempt[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { outcome, error } of sends) {
    if (outcome === 'accepted') continue;
    const name = error === null ? 'killed' : (/^(\w+): /.exec(error)?.[1] ?? 'no answer');
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}

/** The findings by kind, at most so many of each: one cause often has many. */
export function asList(findings: readonly Finding[], most = 20): string {
  const kinds = [...new Set(findings.map(({ kind }) => kind))];
  return kinds
    .map((kind) => {
      const own = findings.filter((finding) => finding.kind === kind);
      const more = own.length > most ? [`  … and ${own.length - most} more`] : [];
      return [`${kind}: ${own.length}`, ...own.slice(0, most).map(({ text }) => `  ${text}`), ...more, ''].join('\n');
    })
    .join('');
}
