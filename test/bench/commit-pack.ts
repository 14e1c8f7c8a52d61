import { createHash } from 'node:crypto';
import { closeSync, openSync, readFileSync, writeSync } from 'node:fs';
import { deflateSync } from 'node:zlib';

const commitType = 1;

/** The type and the size before an object in a pack: four bits of the size, then seven a byte. */
function entryHead(size: number): Buffer {
  const bytes = [(commitType << 4) | (size & 15)];
  for (let rest = size >> 4; rest > 0; rest >>= 7) {
    bytes.push((bytes.pop() ?? 0) | 0x80, rest & 0x7f);
  }
  return Buffer.from(bytes);
}

/** Writes commits as a pack (version 2, no deltas) that `git index-pack` takes: git itself writes none with signatures so fast. */
export function writeCommitPack(file: string, count: number, commits: Iterable<Buffer>): void {
  const head = Buffer.alloc(12);
  head.write('PACK', 'latin1');
  head.writeUInt32BE(2, 4);
  head.writeUInt32BE(count, 8);
  const fd = openSync(file, 'w');
  try {
    writeSync(fd, head);
    for (const commit of commits) writeSync(fd, Buffer.concat([entryHead(commit.length), deflateSync(commit)]));
  } finally {
    closeSync(fd);
  }
  const trailer = createHash('sha1').update(readFileSync(file)).digest();
  const end = openSync(file, 'a');
  try {
    writeSync(end, trailer);
  } finally {
    closeSync(end);
  }
}

/** An object's id. */
export function objectId(type: 'blob' | 'commit', data: Uint8Array): string {
  return createHash('sha1').update(`${type} ${data.length}\0`).update(data).digest('hex');
}
