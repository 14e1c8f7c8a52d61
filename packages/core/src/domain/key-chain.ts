import type { Handle, Ulid } from './ids.js';
import type { EventName, MachineRecord } from './records.js';

/** All keys that a machine has had, each as one OpenSSH line, oldest first and the current one last. */
export function keysOf({ key, previous = [] }: Pick<MachineRecord, 'key' | 'previous'>): readonly string[] {
  return [...previous.map((earlier) => earlier.key), key];
}

/** What a key signs to hand over to the next. An SSH signature's data begins otherwise: neither stands for the other. */
export function handoverBytes(handover: { mesh: Ulid; handle: Handle; from: string; to: string }): Uint8Array {
  const { mesh, handle, from, to } = handover;
  return new TextEncoder().encode(`git-mesh rotate-key\n${mesh}\n${handle}\n${from}\n${to}\n`);
}

/** Whether `signature` (base64) is a plain Ed25519 signature of `data` by `publicKey`. */
export type CheckSignature = (signed: { publicKey: string; data: Uint8Array; signature: string }) => boolean;

/** What is wrong with a machine's chain of keys; null where each was signed in by the one before it. */
export function brokenLink(machine: MachineRecord, isGood: CheckSignature): string | null {
  const { previous = [], mesh, handle } = machine;
  const keys = keysOf(machine);
  if (new Set(keys).size < keys.length) return 'its machine.yaml names one key twice';
  for (const [at, { key, signature }] of previous.entries()) {
    const data = handoverBytes({ mesh, handle, from: key, to: keys[at + 1] ?? '' });
    if (!isGood({ publicKey: key, data, signature })) {
      return `key ${at + 2} of its machine.yaml was not signed in by the key before it`;
    }
  }
  return null;
}

/**
 * Which key must have signed each commit of a branch, asked newest first: a `rotate-key` commit is the last one of the key
 * that hands over, and makes no key older than the first.
 */
export class SigningKeys {
  readonly #chain: readonly string[];
  #at: number;

  /** `current`: the key in force after the first commit that is asked about; one of `chain`. */
  constructor(chain: readonly string[], current: string) {
    this.#chain = chain;
    this.#at = chain.indexOf(current);
  }

  /** The key in force before the commits that were asked about; undefined where there were more rotations than keys. */
  get current(): string | undefined {
    return this.#chain[this.#at];
  }

  /** The key that signs the next older commit; undefined where there were more rotations than keys. */
  older(event: EventName | undefined): string | undefined {
    if (event === 'rotate-key') this.#at -= 1;
    return this.current;
  }
}
