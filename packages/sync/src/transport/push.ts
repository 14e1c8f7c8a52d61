import { createHash } from 'node:crypto';
import { MeshError } from '@git-mesh/core';
import type { Oid, RefName } from '@git-mesh/core';
import { redact } from '../redact.js';
import { abortsExchange } from './abort.js';
import { encodePacket, flushPacket, PacketReader, packetText } from './pkt-line.js';
import type { Exchange } from './port.js';
import { readBand } from './side-band.js';

export interface RefUpdate {
  ref: RefName;
  /** The lease: what the remote must still have for the update to be made; null where the ref must not exist yet. */
  expected: Oid | null;
  next: Oid;
}

export interface PushOptions {
  /** At least one, no ref twice. */
  updates: readonly RefUpdate[];
  /** The objects the remote lacks; null where it has them all. */
  pack: Uint8Array | null;
  /** All or none, where the remote offers that; else each on its own. */
  atomic: boolean;
  signal: AbortSignal;
}

export interface PushedRef {
  ref: RefName;
  ok: boolean;
  /** Null when ok. Begins with git's own reason, followed by what else the remote said (a hook's words) in brackets. */
  reason: string | null;
}

/** Past it a report is no report. */
const maxReportBytes = 1024 * 1024;
const zeroOid = '0'.repeat(40);

/**
 * Sends the updates with their objects and resolves to what became of each, in the order given. Ends the exchange.
 * A refusal of refs (a lease that no longer holds, a hook, a rule of the repository) is a result, no error.
 *
 * @throws MeshError `push_refused` when the remote could not take the objects (with its words), `protocol_error` when
 * its report is missing, cut or not about exactly these refs (then nothing is known: read the remote's refs again),
 * `deadline`, and what the transport throws.
 */
export async function pushRefs(exchange: Exchange, options: PushOptions): Promise<PushedRef[]> {
  const { updates, signal } = options;
  if (updates.length === 0) throw new RangeError('nothing is to be pushed');
  const request = pushRequest(exchange.advertised.capabilities, options);
  return abortsExchange(exchange, signal, async () => {
    const { report, words } = await readAnswer(new PacketReader(exchange.post(request)));
    return await judge(report, words, updates);
  });
}

function pushRequest(capabilities: ReadonlySet<string>, { updates, pack, atomic }: PushOptions): Uint8Array {
  for (const needed of ['report-status', 'side-band-64k']) {
    if (!capabilities.has(needed)) {
      throw new MeshError(
        'protocol_error',
        `the remote does not offer ${needed}, without which a push cannot be confirmed`,
      );
    }
  }
  const wanted = ['quiet', 'ofs-delta', ...(atomic ? ['atomic'] : [])];
  const chosen = ['report-status', 'side-band-64k', ...wanted.filter((name) => capabilities.has(name))];
  const commands = updates.map(({ ref, expected, next }, at) =>
    encodePacket(`${expected ?? zeroOid} ${next} ${ref}${at === 0 ? `\0 ${chosen.join(' ')}` : ''}`),
  );
  return Buffer.concat([...commands, flushPacket, pack ?? emptyPack()]);
}

/** git expects a pack with every update that is not a deletion. */
function emptyPack(): Uint8Array {
  const header = Buffer.from('PACK\0\0\0\u0002\0\0\0\0', 'latin1');
  return Buffer.concat([header, createHash('sha1').update(header).digest()]);
}

async function readAnswer(packets: PacketReader): Promise<{ report: Uint8Array; words: string }> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  let words = '';
  for (let piece = await readBand(packets); piece !== null; piece = await readBand(packets)) {
    if (piece.band === 2) {
      if (words.length < maxReportBytes) words += Buffer.from(piece.data).toString('utf8');
      continue;
    }
    bytes += piece.data.length;
    if (bytes > maxReportBytes)
      throw new MeshError('protocol_error', `the remote reports more than ${maxReportBytes} bytes`);
    parts.push(piece.data);
  }
  if ((await packets.next()) !== null) throw new MeshError('protocol_error', 'the remote sent more after its report');
  return { report: Buffer.concat(parts), words: redact(words) };
}

async function judge(report: Uint8Array, words: string, updates: readonly RefUpdate[]): Promise<PushedRef[]> {
  const packets = new PacketReader(oneChunk(report));
  const said = words === '' ? '' : ` (${words})`;
  const unpack = await reportLine(packets);
  if (unpack?.startsWith('unpack ') !== true)
    throw new MeshError('protocol_error', 'the remote did not report on the push');
  if (unpack !== 'unpack ok') {
    throw new MeshError('push_refused', `the remote could not take the objects: ${redact(unpack.slice(7))}${said}`);
  }
  const results = new Map<string, PushedRef>();
  for (let line = await reportLine(packets); line !== null; line = await reportLine(packets)) {
    const { ok, ref, reason } = parseStatus(line);
    const update = updates.find((each) => each.ref === ref);
    if (update === undefined || results.has(ref)) {
      throw new MeshError(
        'protocol_error',
        `the remote reports on "${redact(ref, { maxLength: 80 })}", about which it was not asked once`,
      );
    }
    results.set(ref, { ref: update.ref, ok, reason: ok ? null : `${redact(reason)}${said}` });
  }
  return updates.map(({ ref }) => {
    const result = results.get(ref);
    if (result === undefined) throw new MeshError('protocol_error', `the remote did not report on ${ref}`);
    return result;
  });
}

async function reportLine(packets: PacketReader): Promise<string | null> {
  const packet = await packets.next();
  if (packet === null) throw new MeshError('protocol_error', "the remote's report on the push was cut");
  if (packet.kind === 'flush') return null;
  if (packet.kind !== 'data')
    throw new MeshError('protocol_error', "the remote's report on the push has no known form");
  return packetText(packet.data);
}

function parseStatus(line: string): { ok: boolean; ref: string; reason: string } {
  const [, word, ref = '', reason = ''] = /^(ok|ng) (\S+)(?: (.*))?$/s.exec(line) ?? [];
  if (word === undefined)
    throw new MeshError('protocol_error', `the remote reports "${redact(line, { maxLength: 80 })}"`);
  return { ok: word === 'ok', ref, reason: reason === '' ? 'no reason given' : reason };
}

async function* oneChunk(bytes: Uint8Array): AsyncGenerator<Uint8Array, void, undefined> {
  yield await Promise.resolve(bytes);
}
