import { MeshError } from '@git-mesh/core';
import type { Oid, RefName } from '@git-mesh/core';
import { readRefs } from './advertisement.js';
import { encodePacket, flushPacket, packetText } from './pkt-line.js';
import type { PacketReader } from './pkt-line.js';

const delimPacket = Buffer.from('0001', 'latin1');

/** Asks a protocol v2 server for the refs that begin with `prefix`, and for nothing else. */
export function lsRefsRequest(prefix: string): Uint8Array {
  return Buffer.concat([
    encodePacket('command=ls-refs\n'),
    delimPacket,
    encodePacket(`ref-prefix ${prefix}\n`),
    flushPacket,
  ]);
}

/**
 * The answer to {@link lsRefsRequest}, to its flush.
 * @throws MeshError `protocol_error` for a cut, erroneous or malformed one.
 */
export async function readLsRefs(packets: PacketReader, prefix: string): Promise<ReadonlyMap<RefName, Oid>> {
  const refs = await readRefs(packets);
  // A server may give more than was asked for.
  for (const ref of refs.keys()) if (!ref.startsWith(prefix)) refs.delete(ref);
  return refs;
}

/**
 * Whether a server that was asked for protocol v2 answers in it, and knows ls-refs. False for an advertisement of v0 or
 * v1, which is then left unread.
 */
export async function speaksLsRefs(packets: PacketReader): Promise<boolean> {
  let lines = 0;
  let version2 = false;
  let knows = false;
  for (;;) {
    const packet = await packets.next();
    if (packet === null) throw new MeshError('protocol_error', 'the remote ended before it had told what it can do');
    // The first flush may end the service's own line, which some servers put before.
    if (packet.kind === 'flush') {
      if (version2 || lines > 1) return version2 && knows;
      continue;
    }
    if (packet.kind !== 'data') return false;
    lines += 1;
    const text = packetText(packet.data);
    if (text === '# service=git-upload-pack') continue;
    if (text === 'version 2') version2 = true;
    else if (!version2 || lines > 1_000) return false;
    else if (text === 'object-format=sha1' || !text.startsWith('object-format='))
      knows ||= /^ls-refs(?:=|$)/.test(text);
    else return false;
  }
}
