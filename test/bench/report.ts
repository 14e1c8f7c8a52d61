import { cpus, totalmem } from 'node:os';
import { stockGit } from '../stock-git.js';
import { type Comparison, median, quantile } from './measure.js';

export interface Row {
  name: string;
  history: number;
  runs: number;
  ours_ms: number;
  ours_p90_ms: number;
  git_ms: number;
  git_p90_ms: number;
  ratio: number;
  aim: number;
}

export interface Report {
  at: string;
  node: string;
  git: string;
  platform: string;
  cpu: string;
  memory_gib: number;
  rows: Row[];
  /** Ratios between rows of ours. */
  growth: { name: string; ratio: number; aim: number }[];
}

const rounded = (value: number): number => Math.round(value * 100) / 100;

function row({ name, history, ours, git, aim }: Comparison): Row {
  return {
    name,
    history,
    runs: ours.length,
    ours_ms: rounded(median(ours)),
    ours_p90_ms: rounded(quantile(ours, 0.9)),
    git_ms: rounded(median(git)),
    git_p90_ms: rounded(quantile(git, 0.9)),
    ratio: rounded(median(ours) / median(git)),
    aim,
  };
}

/** How the median of the longest history compares with that of the shortest. */
function growth(comparisons: readonly Comparison[], name: string, aim: number): Report['growth'] {
  const some = comparisons.filter((one) => one.name === name).sort((one, other) => one.history - other.history);
  const first = some[0];
  const last = some.at(-1);
  if (first === undefined || last === undefined || first === last) return [];
  const ratio = rounded(median(last.ours) / median(first.ours));
  return [{ name: `${name} at ${last.history} messages against ${first.history}`, ratio, aim }];
}

export function report(comparisons: readonly Comparison[]): Report {
  const processors = cpus();
  return {
    at: new Date().toISOString(),
    node: process.version,
    git: stockGit(['--version']).replace('git version ', ''),
    platform: `${process.platform} ${process.arch}`,
    cpu: `${processors.length} × ${processors[0]?.model ?? 'unknown'}`,
    memory_gib: Math.round(totalmem() / 2 ** 30),
    rows: comparisons.map(row),
    growth: growth(comparisons, 'send', 1.5),
  };
}

const verdict = (ratio: number, aim: number): string => `≤ ${aim}: ${ratio <= aim ? 'met' : 'missed'}`;

/** The report as a Markdown page's part. */
export function asTable(result: Report): string {
  const cells: string[][] = [
    ['what', 'history', 'runs', 'git-mesh (p90)', 'git (p90)', 'ratio of medians', 'aim'],
    ['---', '---:', '---:', '---:', '---:', '---:', '---'],
    ...result.rows.map((one) => [
      one.name,
      String(one.history),
      String(one.runs),
      `${one.ours_ms} ms (${one.ours_p90_ms})`,
      `${one.git_ms} ms (${one.git_p90_ms})`,
      String(one.ratio),
      verdict(one.ratio, one.aim),
    ]),
    ...result.growth.map((one) => [one.name, '', '', '', '', String(one.ratio), verdict(one.ratio, one.aim)]),
  ];
  const lines = cells.map((line) => `| ${line.join(' | ')} |`);
  const where = `Node ${result.node}, git ${result.git}, ${result.platform}, ${result.cpu}, ${result.memory_gib} GiB, ${result.at}`;
  return `${where}\n\n${lines.join('\n')}\n`;
}
