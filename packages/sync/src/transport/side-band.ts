import { MeshError } from '@git-mesh/core';
import { redact } from '../redact.js';
import type { PacketReader } from './pkt-line.js';
import { packetText } from './pkt-line.js';

/**
 * The cause of a `protocol_error` whose words are the remote's own: its repository is at fault, not the way to it. Empty
 * where its service ended without a word, which may be the way's fault too.
 */
export class RemoteWords extends Error {}

/** Redacted, behind `lead`. Git ends what it says with a NUL at times. */
export function remoteSays(lead: string, said: string): MeshError {
  const words = said.replaceAll('\0', '').trimEnd();
  return new MeshError('protocol_error', `${lead}: ${redact(words)}`, { cause: new RemoteWords(words) });
}

export interface Band {
  /** 1 carries the answer, 2 words for people (progress, a hook's output). */
  band: 1 | 2;
  data: Uint8Array;
}

/**
 * The next piece of a side-band-64k answer; null at its flush.
 * @throws MeshError `protocol_error` for band 3 and `ERR` (with the server's words), an end before the flush, or another form.
 */
export async function readBand(packets: PacketReader): Promise<Band | null> {
  const packet = await packets.next();
  if (packet === null) throw new MeshError('protocol_error', 'the answer was cut: it ended before its closing packet');
  if (packet.kind === 'flush') return null;
  if (packet.kind === 'data') {
    const band = packet.data[0];
    if (band === 1 || band === 2) return { band, data: packet.data.subarray(1) };
    const text = packetText(packet.data);
    if (band === 3) throw remoteSays('the remote failed', text.slice(1));
    if (text.startsWith('ERR ')) throw remoteSays('the remote says', text.slice(4));
  }
  throw new MeshError('protocol_error', 'the remote answered outside of the side band that was agreed on');
}
