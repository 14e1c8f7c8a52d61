import { createHash } from 'node:crypto';
import { MeshError, isOid } from '@git-mesh/core';
import type { Oid } from '@git-mesh/core';
import { abortsExchange } from './abort.js';
import { ByteBuffer } from './byte-buffer.js';
import { encodePacket, flushPacket, PacketReader, packetText } from './pkt-line.js';
import type { Exchange } from './port.js';
import { redact } from '../redact.js';
import { RemoteWords, readBand, remoteSays } from './side-band.js';

export interface FetchOptions {
  /** At least one, each advertised by this exchange. */
  wants: readonly Oid[];
  /** Every tip that is here with all of its history; those the remote does not know do no harm. */
  haves: readonly Oid[];
  signal: AbortSignal;
  /** What the pack may measure at most, in bytes. */
  maxBytes: number;
  /** The commits at which the history that is here ends. */
  edges?: Iterable<Oid>;
  /**
   * Asks for only so many commits: of each want's history, or with `beyondEdges` of what lies before each edge. The
   * server must offer it, see {@link offersDepth}.
   */
  deepen?: { commits: number; beyondEdges?: boolean };
}

export interface FetchedPack {
  pack: Uint8Array;
  /** The commits at which the server says that it cut the history off; the server's word alone. */
  edges: Oid[];
}

/** git's own for "all of it". */
export const infiniteDepth = 0x7fff_ffff;

/** Whether a part of the history may be asked for, and whether edges may be named: git's servers have since 1.5. */
export function offersDepth(
  { advertised }: Exchange,
  { beyondEdges = false }: { beyondEdges?: boolean } = {},
): boolean {
  const { capabilities } = advertised;
  return capabilities.has('shallow') && (!beyondEdges || capabilities.has('deepen-relative'));
}

/**
 * Asks for `wants` in one round of protocol v0 (all haves, then done) and resolves to the pack: every object that the
 * wants need and the haves lack, bases of deltas included. Ends the exchange. What is in the pack is still to be
 * judged: only its frame and its checksum were.
 *
 * @throws MeshError `protocol_error` for anything that is not exactly one whole pack (with the server's words where it
 * said any), `payload_too_large` past `maxBytes`, `deadline` when a signal fires, and what the transport throws.
 */
export async function fetchPack(
  exchange: Exchange,
  options: Omit<FetchOptions, 'edges' | 'deepen'>,
): Promise<Uint8Array> {
  return (await fetchPart(exchange, options)).pack;
}

/** {@link fetchPack} for a store that has, or is to have, only a part of the history. */
export async function fetchPart(exchange: Exchange, options: FetchOptions): Promise<FetchedPack> {
  const { wants, signal, maxBytes, deepen } = options;
  if (wants.length === 0) throw new RangeError('nothing is wanted');
  const request = fetchRequest(exchange.advertised.capabilities, options);
  return abortsExchange(exchange, signal, async () => {
    const packets = new PacketReader(exchange.post(request));
    const edges = deepen === undefined ? [] : await readEdges(packets);
    await readAcknowledgement(packets);
    const pack = await readPack(packets, maxBytes);
    checkPack(pack);
    return { pack, edges };
  });
}

function fetchRequest(capabilities: ReadonlySet<string>, options: FetchOptions): Uint8Array {
  const { wants, haves, edges = [], deepen } = options;
  if (!capabilities.has('side-band-64k')) {
    throw new MeshError(
      'protocol_error',
      'the remote does not offer side-band-64k, without which its errors cannot be told from data',
    );
  }
  const chosen = ['side-band-64k', ...['ofs-delta', 'no-progress'].filter((name) => capabilities.has(name))];
  if (deepen?.beyondEdges === true) chosen.push('deepen-relative');
  const lines = [...new Set(wants)].map((oid, at) => `want ${oid}${at === 0 ? ` ${chosen.join(' ')}` : ''}\n`);
  // Without multi_ack the server answers once, however many haves there are: nothing to read before all is sent.
  const known = [...new Set(haves)].map((oid) => `have ${oid}\n`);
  const depth = [...edges].map((oid) => `shallow ${oid}\n`);
  if (deepen !== undefined) depth.push(`deepen ${deepen.commits}\n`);
  const packets = [...[...lines, ...depth].map((line) => encodePacket(line)), flushPacket];
  packets.push(...known.map((line) => encodePacket(line)));
  return Buffer.concat([...packets, encodePacket('done\n')]);
}

/** `shallow` and `unshallow` lines up to a flush; what is no edge any more shows in what came. */
async function readEdges(packets: PacketReader): Promise<Oid[]> {
  const edges: Oid[] = [];
  for (;;) {
    const packet = await packets.next();
    if (packet === null) throw noAnswer();
    if (packet.kind === 'flush') return edges;
    const text = packet.kind === 'data' ? packetText(packet.data) : packet.kind;
    const [kind, oid = ''] = text.split(' ');
    if ((kind !== 'shallow' && kind !== 'unshallow') || !isOid(oid)) throw unexpected(text);
    if (kind === 'shallow') edges.push(oid);
    if (edges.length > maxEdges)
      throw new MeshError('protocol_error', 'the remote cuts the history off at too many places');
  }
}

/** Over http nothing but this tells of a service that died of what was asked for. */
const noAnswer = (): MeshError =>
  new MeshError('protocol_error', 'the remote ended without an answer', { cause: new RemoteWords('') });

/** One a branch; past it a remote is no mesh. */
const maxEdges = 200_000;

/** Exactly one line: NAK, or ACK of the first common commit. */
async function readAcknowledgement(packets: PacketReader): Promise<void> {
  const packet = await packets.next();
  if (packet === null) throw noAnswer();
  const text = packet.kind === 'data' ? packetText(packet.data) : packet.kind;
  if (text === 'NAK' || /^ACK [0-9a-f]{40}$/.test(text)) return;
  throw unexpected(text);
}

async function readPack(packets: PacketReader, maxBytes: number): Promise<Uint8Array> {
  const pack = new ByteBuffer();
  for (;;) {
    const packet = await readBand(packets);
    if (packet === null) break;
    if (packet.band === 2) continue;
    if (pack.length + packet.data.length > maxBytes) {
      throw new MeshError(
        'payload_too_large',
        `the remote sends more than ${maxBytes} bytes at once, which is the limit`,
        {
          data: { max_bytes: maxBytes },
        },
      );
    }
    pack.add(packet.data);
  }
  if ((await packets.next()) !== null)
    throw new MeshError('protocol_error', 'the remote sent more after the end of its pack');
  return pack.bytes();
}

function checkPack(pack: Uint8Array): void {
  const bytes = Buffer.from(pack.buffer, pack.byteOffset, pack.byteLength);
  // 12 bytes of header, 20 of checksum.
  if (bytes.length < 32)
    throw new MeshError('protocol_error', `the remote sent ${bytes.length} bytes, which is no pack`);
  if (bytes.toString('latin1', 0, 4) !== 'PACK' || bytes.readUInt32BE(4) !== 2) {
    throw new MeshError('protocol_error', 'the remote sent something else than a pack of version 2');
  }
  const body = bytes.subarray(0, -20);
  if (!createHash('sha1').update(body).digest().equals(bytes.subarray(-20))) {
    throw new MeshError('protocol_error', 'the pack was damaged on its way: its checksum is wrong');
  }
}

function unexpected(text: string): MeshError {
  if (text.startsWith('ERR ')) return remoteSays('the remote says', text.slice(4));
  return new MeshError(
    'protocol_error',
    `the remote answered "${redact(text, { maxLength: 80 })}": expected ACK or NAK`,
  );
}
