import { isOid, MeshError } from '@git-mesh/core';
import type { Oid, RefName } from '@git-mesh/core';
import { redact } from '../redact.js';
import type { PacketReader } from './pkt-line.js';
import { packetText } from './pkt-line.js';
import type { Advertisement } from './port.js';

/** 200,000 branches; past it a remote is no mesh, and reading on would only fill the memory. */
const maxBytes = 32 * 1024 * 1024;

/**
 * Reads a protocol v0 or v1 advertisement up to its flush.
 *
 * @throws MeshError `protocol_error` for a cut, empty, erroneous or malformed one, `not_a_repository` for a repository
 * that is shallow or does not use SHA-1.
 */
export async function readAdvertisement(packets: PacketReader): Promise<Advertisement> {
  const refs = new Map<RefName, Oid>();
  let capabilities: ReadonlySet<string> = new Set();
  let bytes = 0;
  let versioned = false;
  for (let line = 0; ;) {
    const packet = await packets.next();
    if (packet === null) throw new MeshError('protocol_error', 'the remote ended before it had told what it has');
    if (packet.kind === 'flush') return { refs, capabilities, head: symrefOfHead(capabilities) };
    if (packet.kind !== 'data')
      throw new MeshError('protocol_error', 'the remote answered in another protocol version');
    bytes += packet.data.length;
    if (bytes > maxBytes) throw new MeshError('protocol_error', `the remote lists more than ${maxBytes} bytes of refs`);

    const text = packetText(packet.data);
    if (text.startsWith('ERR ')) throw new MeshError('protocol_error', `the remote says: ${redact(text.slice(4))}`);
    // All that protocol v1 adds to v0.
    if (line === 0 && text === 'version 1' && !versioned) {
      versioned = true;
      continue;
    }
    const [entry = '', listed] = text.split('\0', 2);
    if (line === 0) {
      capabilities = new Set((listed ?? '').split(' ').filter((name) => name !== ''));
      refuseObjectFormat(capabilities);
    }
    addRef(refs, entry);
    line += 1;
  }
}

/**
 * Reads lines of object id and ref up to a flush: protocol v2's answer to ls-refs.
 *
 * @throws MeshError `protocol_error` for a cut, erroneous or malformed one.
 */
export async function readRefs(packets: PacketReader): Promise<Map<RefName, Oid>> {
  const refs = new Map<RefName, Oid>();
  for (let bytes = 0; ;) {
    const packet = await packets.next();
    if (packet === null) throw new MeshError('protocol_error', 'the remote ended before it had told what it has');
    if (packet.kind === 'flush') return refs;
    if (packet.kind !== 'data') throw new MeshError('protocol_error', 'the remote lists its refs in no known form');
    bytes += packet.data.length;
    if (bytes > maxBytes) throw new MeshError('protocol_error', `the remote lists more than ${maxBytes} bytes of refs`);
    const text = packetText(packet.data);
    if (text.startsWith('ERR ')) throw new MeshError('protocol_error', `the remote says: ${redact(text.slice(4))}`);
    addRef(refs, text);
  }
}

function addRef(refs: Map<RefName, Oid>, entry: string): void {
  const space = entry.indexOf(' ');
  const [oid, name] = [entry.slice(0, space), entry.slice(space + 1)];
  if (oid === 'shallow') {
    throw new MeshError('not_a_repository', 'the remote is a shallow clone, which has not all of its history');
  }
  if (space < 0 || !isOid(oid)) {
    throw new MeshError(
      'protocol_error',
      `the remote lists a ref in no known form: "${redact(entry, { maxLength: 80 })}"`,
    );
  }
  // HEAD, `capabilities^{}`, `.have` and peeled tags are no refs; a name git would refuse must not hide the others.
  if (!isRefName(name)) return;
  if (refs.has(name)) {
    throw new MeshError('protocol_error', `the remote lists "${redact(name, { maxLength: 80 })}" twice`);
  }
  refs.set(name, oid);
}

/** git's check-ref-format, and under refs/. */
function isRefName(name: string): name is RefName {
  return (
    name.startsWith('refs/') &&
    // eslint-disable-next-line no-control-regex -- naming them is the point
    !/[\u0000-\u0020\u007f~^:?*[\\\ufffd]|\.\.|@\{|\/\/|\/\.|\.lock(?:\/|$)|[./]$/.test(name)
  );
}

function refuseObjectFormat(capabilities: ReadonlySet<string>): void {
  for (const capability of capabilities) {
    if (capability.startsWith('object-format=') && capability !== 'object-format=sha1') {
      throw otherObjectFormat(capability.slice(14));
    }
  }
}

export function otherObjectFormat(format: string): MeshError {
  return new MeshError(
    'not_a_repository',
    `the remote uses ${redact(format, { maxLength: 20 })} objects: expected a repository with SHA-1 (git init --bare --object-format=sha1)`,
  );
}

function symrefOfHead(capabilities: ReadonlySet<string>): string | null {
  for (const capability of capabilities) {
    const target = capability.startsWith('symref=HEAD:') ? capability.slice(12) : '';
    if (isRefName(target)) return target;
  }
  return null;
}
