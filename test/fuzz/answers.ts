import { execFileSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Oid, Store, silentLogger } from '@git-mesh/core';
import { newStore } from '@git-mesh/core/testing';
import {
  type Exchange,
  PacketReader,
  encodePacket,
  fetchPart,
  flushPacket,
  localTransport,
  readAdvertisement,
} from '@git-mesh/sync/testing';
import { stockGit } from '../stock-git.js';
import type { Chance } from './chance.js';
import { type Verdict, judge } from './judge.js';
import { mutatedBytes } from './mutate.js';
import { type Finding, type Target, tryBytes } from './target.js';

const limits = { maxObjectBytes: 1 << 20 };
const { signal } = new AbortController();

interface Recorded {
  tip: Oid;
  advertisement: Buffer;
  /** What the service sent after the request, side band and all. */
  answer: Buffer;
  pack: Buffer;
  capabilities: ReadonlySet<string>;
}

/** `commits` commits whose files grow line by line, so that git packs them as deltas of one another. */
async function record(root: string, commits: number): Promise<Recorded> {
  const path = join(root, `${commits}.git`);
  stockGit(['init', '-q', '--bare', '-b', 'main', path]);
  const lines: string[] = [];
  let text = '';
  for (let n = 1; n <= commits; n++) {
    text += `line ${n} of a file that grows: ${createHash('sha1').update(String(n)).digest('hex')}\n`;
    lines.push('commit refs/heads/mesh/studio', `committer a <a@x.invalid> ${1_700_000_000 + n} +0000`, 'data 1', 'x');
    lines.push('M 100644 inline a/growing.yaml', `data ${text.length}`, text);
  }
  stockGit(['--git-dir', path, 'fast-import', '--quiet'], { input: `${lines.join('\n')}\n` });
  stockGit(['--git-dir', path, 'repack', '-adfq', '--depth=50', '--window=50']);
  const tip = stockGit(['--git-dir', path, 'rev-parse', 'refs/heads/mesh/studio']) as Oid;
  const advertisement = execFileSync('git', ['upload-pack', '--strict', '--advertise-refs', path]);
  const exchange = await localTransport({ path, env: process.env }).open('git-upload-pack', { signal });
  const chunks: Uint8Array[] = [];
  const recording: Exchange = {
    advertised: exchange.advertised,
    close: () => exchange.close(),
    async *post(body) {
      for await (const chunk of exchange.post(body)) {
        chunks.push(chunk);
        yield chunk;
      }
    },
  };
  const { pack } = await fetchPart(recording, { wants: [tip], haves: [], signal, maxBytes: 1 << 24 });
  const { capabilities } = exchange.advertised;
  return { tip, advertisement, answer: Buffer.concat(chunks), pack: Buffer.from(pack), capabilities };
}

/** In pieces of random length, as a network gives them. */
async function* inPieces(bytes: Buffer): AsyncGenerator<Uint8Array> {
  const size = 1 + (bytes.length % 7_919);
  for (let at = 0; at < bytes.length; at += size) yield await Promise.resolve(bytes.subarray(at, at + size));
}

function framed(pack: Uint8Array): Buffer {
  const parts: Uint8Array[] = [encodePacket('NAK\n')];
  for (let at = 0; at < pack.length; at += 8_000) {
    parts.push(encodePacket(Buffer.concat([Buffer.from([1]), pack.subarray(at, at + 8_000)])));
  }
  return Buffer.concat([...parts, flushPacket]);
}

/** A changed pack with a right checksum, as a server sends that means harm. */
function badPack(pack: Buffer, chance: Chance): Buffer {
  const body = mutatedBytes(pack.subarray(chance.oneIn(6) ? 0 : 12, -20), chance);
  const head =
    body.length + 20 < pack.length - 12 || chance.oneIn(2) ? pack.subarray(0, 12) : Buffer.from(pack.subarray(0, 12));
  if (chance.oneIn(5)) head.writeUInt32BE(chance.pick([0, 1, 199, 201, 0x7fffffff, 0xffffffff]), 8);
  const whole = Buffer.concat([Buffer.from(head), body]);
  return Buffer.concat([whole, createHash('sha1').update(whole).digest()]);
}

/** The bytes of a fetch: what is advertised, and the answer with its pack, into a real store. */
export async function answerTarget(): Promise<Target> {
  const root = mkdtempSync(join(tmpdir(), 'mesh-fuzz-'));
  // The deltas of the short one are resolved; the long one stays a pack.
  const recorded = [await record(root, 20), await record(root, 120)];
  let store = await newStore(join(root, 'store'));
  let cases = 0;

  /** A store that has none of it, now and then. */
  const fresh = async (): Promise<void> => {
    cases += 1;
    if (cases % 500 !== 0) return;
    rmSync(store.dir, { recursive: true, force: true });
    await newStore(join(root, 'store'));
    const deps = { clock: { now: () => Date.now() }, random: (length: number) => randomBytes(length) };
    store = await Store.open(join(root, 'store'), { ...deps, logger: silentLogger });
  };

  const taken =
    ({ tip, capabilities }: Recorded) =>
    (answer: Buffer): Promise<Verdict> =>
      judge(
        async () => {
          const exchange: Exchange = {
            advertised: { refs: new Map(), capabilities, head: null },
            close: () => Promise.resolve(),
            post: () => inPieces(answer),
          };
          const { pack } = await fetchPart(exchange, { wants: [tip], haves: [], signal, maxBytes: 1 << 24 });
          await store.objects.installPack(pack, limits);
          // What was taken in is what it says it is.
          if (await store.objects.has(tip)) await store.objects.commit(tip);
        },
        { limitMs: 3_000 },
      );

  return {
    name: 'answers',
    share: 3,
    close: () => {
      rmSync(root, { recursive: true, force: true, maxRetries: 5 });
    },
    async run(chance): Promise<Finding | null> {
      await fresh();
      const one = chance.pick(recorded);
      if (chance.oneIn(4)) {
        return tryBytes('advertisement', mutatedBytes(one.advertisement, chance), (bytes) =>
          judge(() => readAdvertisement(new PacketReader(inPieces(bytes)))),
        );
      }
      if (chance.oneIn(2)) return tryBytes('answer', mutatedBytes(one.answer, chance), taken(one));
      return tryBytes('pack', badPack(one.pack, chance), (pack) => taken(one)(framed(pack)));
    },
  };
}
