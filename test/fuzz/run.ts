import { answerTarget } from './answers.js';
import { branchTarget } from './branches.js';
import { Chance } from './chance.js';
import { fileTarget } from './files.js';
import { objectTarget } from './objects.js';
import type { Finding, Target } from './target.js';

export interface FuzzOptions {
  seed: number;
  /** Seconds; what has begun is ended. */
  seconds: number;
  /** Cases of each target at most. */
  most?: Readonly<Record<string, number>>;
  onCase?: (name: string, number: number) => void;
  onFinding?: (finding: NamedFinding) => void;
}

export interface NamedFinding extends Finding {
  target: string;
  /** Of the case: the target's cases before it with the same seed lead there. */
  number: number;
}

export interface FuzzResult {
  cases: Record<string, number>;
  findings: NamedFinding[];
}

const maxFindings = 20;

/** Runs cases of all targets, each for its share of the time. Cases have seeds of their own, made from the seed and their number. */
export async function fuzz(options: FuzzOptions): Promise<FuzzResult> {
  const { seed, seconds, most = {} } = options;
  const end = performance.now() + seconds * 1000;
  const targets = [fileTarget(), objectTarget(), await answerTarget(), await branchTarget()];
  const spent = new Map<Target, number>(targets.map((target) => [target, 0]));
  const result: FuzzResult = { cases: {}, findings: [] };
  const due = (): Target | undefined =>
    targets
      .filter(({ name }) => (result.cases[name] ?? 0) < (most[name] ?? Number.POSITIVE_INFINITY))
      .sort((a, b) => (spent.get(a) ?? 0) / a.share - (spent.get(b) ?? 0) / b.share)[0];
  try {
    for (let target = due(); target !== undefined && performance.now() < end; target = due()) {
      const { name } = target;
      const number = result.cases[name] ?? 0;
      result.cases[name] = number + 1;
      options.onCase?.(name, number);
      const began = performance.now();
      const finding = await target.run(new Chance((seed ^ Math.imul(number + 1, 0x9e3779b1)) | 0));
      spent.set(target, (spent.get(target) ?? 0) + performance.now() - began);
      if (finding === null) continue;
      const named = { ...finding, target: name, number };
      result.findings.push(named);
      options.onFinding?.(named);
      if (result.findings.length >= maxFindings) break;
    }
    return result;
  } finally {
    for (const target of targets) target.close();
  }
}
