import {
  decodeAck,
  decodeCharter,
  decodeMachine,
  decodeMessage,
  decodePresence,
  decodeReceipt,
  decodeRoster,
  encodeAck,
  encodeCharter,
  encodeMachine,
  encodeMessage,
  encodePresence,
  encodeReceipt,
  encodeRoster,
  handleOfRef,
  isMeshFolder,
  parsePath,
} from '@git-mesh/core';
import { type Verdict, judge } from './judge.js';
import { mutatedFile, mutatedText } from './mutate.js';
import { samples } from './samples.js';
import { type Target, tryBytes } from './target.js';

/** Reads a file, and writes what it held again. */
function rewriter<T>(decode: (bytes: Uint8Array) => T, encode: (record: T) => Uint8Array): (bytes: Buffer) => void {
  return (bytes) => {
    const record = decode(bytes);
    const once = Buffer.from(encode(record));
    if (!Buffer.from(encode(decode(once))).equals(once)) throw new Error('what was read is written in two ways');
  };
}

const kinds: Record<string, (bytes: Buffer) => void> = {
  'mesh.yaml': rewriter(decodeCharter, encodeCharter),
  'machine.yaml': rewriter(decodeMachine, encodeMachine),
  presence: rewriter(decodePresence, encodePresence),
  messages: rewriter(decodeMessage, encodeMessage),
  acks: rewriter(decodeAck, encodeAck),
  receipts: rewriter(decodeReceipt, encodeReceipt),
  roster: rewriter(decodeRoster, encodeRoster),
};

const polluted = (): boolean => Reflect.get({}, 'polluted') !== undefined;

/** Every kind of file, through its own decoder; and paths and refs. */
export function fileTarget(): Target {
  const files = samples();
  return {
    name: 'files',
    share: 3,
    close: () => undefined,
    async run(chance) {
      const { path, content } = chance.pick(files);
      const kind = path.split('/')[0] ?? '';
      const read = kinds[kind];
      if (read === undefined) throw new Error(`nothing reads ${path}`);
      const bad = async (bytes: Buffer): Promise<Verdict> => {
        const verdict = await judge(() => {
          read(bytes);
        });
        return polluted() ? 'changed the prototype of all objects' : verdict;
      };
      const named = mutatedText(path, chance, 4_096);
      const place = await judge(() => [parsePath(named), isMeshFolder(named), handleOfRef('refs/heads/mesh/', named)]);
      if (place !== null) return { of: 'path', verdict: place, input: Buffer.from(named) };
      return tryBytes(path, mutatedFile(content, chance), bad);
    },
  };
}
