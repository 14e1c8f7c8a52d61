import type { Finding } from './check.js';

export interface Summary {
  seed: number;
  machines: number;
  /** Of work and faults, without the beginning and the end. */
  seconds: number;
  sends: number;
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

const rows: readonly (readonly [string, keyof Summary])[] = [
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
  return rows.map(([name, field]) => `${name.padEnd(width)}  ${String(summary[field])}\n`).join('');
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
