import type { Chance } from './chance.js';
import type { Verdict } from './judge.js';

/** One way in for what others wrote. */
export interface Target {
  name: string;
  /** Of the time, as against the others'. */
  share: number;
  /** One case; gives what went wrong with what is needed to look at it. */
  run(chance: Chance): Promise<Finding | null>;
  close(): void;
}

export interface Finding {
  verdict: string;
  /** The smallest input that still does it, as far as that was found. */
  input: Buffer;
  /** What the input is of. */
  of: string;
}

/** Takes pieces out of the input, large ones first, as long as what is left does wrong too. */
async function shrunk(input: Buffer, bad: (smaller: Buffer) => Promise<Verdict>): Promise<Buffer> {
  let best = input;
  let tries = 0;
  for (let size = Math.floor(best.length / 2); size >= 1 && tries < 400; size = Math.floor(size / 2)) {
    for (let at = 0; at + size <= best.length && tries < 400; tries++) {
      const smaller = Buffer.concat([best.subarray(0, at), best.subarray(at + size)]);
      if ((await bad(smaller)) === null) at += size;
      else best = smaller;
    }
  }
  return best;
}

/** A target of bytes: judged by itself, and shrunk. */
export async function tryBytes(
  of: string,
  input: Buffer,
  bad: (input: Buffer) => Promise<Verdict>,
): Promise<Finding | null> {
  const verdict = await bad(input);
  if (verdict === null) return null;
  const small = await shrunk(input, bad);
  return { of, verdict: (await bad(small)) ?? verdict, input: small };
}
