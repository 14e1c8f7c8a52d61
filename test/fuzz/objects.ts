import type { Oid } from '@git-mesh/core';
import { decodeCommit, decodeTree, encodeTree, parseCommitMessage, verifySshSignature } from '@git-mesh/core';
import { judge } from './judge.js';
import { mutatedBytes, mutatedText } from './mutate.js';
import { type Target, tryBytes } from './target.js';

const oid = (digit: string): Oid => digit.repeat(40) as Oid;
const publicKey = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOCrjWsinpRLsN+xHx6oQiMoz27detlCgDaWYjmTJfGs';
const armour = `-----BEGIN SSH SIGNATURE-----
 U1NIU0lHAAAAAQAAADMAAAALc3NoLWVkMjU1MTkAAAAg4KuNayKelEuw37EfHqhCIyjPbt
 162UKANphiOZMl8awAAAADZ2l0AAAAAAAAAAZzaGE1MTIAAABTAAAAC3NzaC1lZDI1NTE5
 AAAAQAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4fICEiIyQlJicoKSorLC0uLz
 AxMjM0NTY3ODk6Ozw9Pj8=
 -----END SSH SIGNATURE-----`;
const commit = `tree ${oid('a')}
parent ${oid('b')}
author release <release@studio.mesh.invalid> 1764651600 +0000
committer studio <studio@mesh.invalid> 1764651600 +0000
gpgsig ${armour}

send freeze release -> laptop/qa: release 2.1

Mesh-Event: send
Mesh-Agent: release
Mesh-Message: 01M8TJCKAS5FG8PGBAT5WBE2NB
Mesh-To: laptop/qa
Mesh-Type: freeze
Mesh-Seq: 41
Mesh-Journal: 37
Mesh-Read: laptop@${oid('c')}
`;
const tree = encodeTree([
  { mode: '100644', name: 'machine.yaml', oid: oid('a') },
  { mode: '40000', name: 'messages', oid: oid('b') },
  { mode: '40000', name: 'presence', oid: oid('c') },
  { mode: '120000', name: 'x', oid: oid('d') },
  { mode: '160000', name: 'y', oid: oid('e') },
]);

/** Trees and commits, with the signature and the trailers that stand in them. */
export function objectTarget(): Target {
  return {
    name: 'objects',
    share: 1,
    close: () => undefined,
    run(chance) {
      if (chance.oneIn(3)) {
        return tryBytes('tree', mutatedBytes(tree, chance), (bytes) => judge(() => decodeTree(bytes)));
      }
      const input = chance.oneIn(2)
        ? mutatedBytes(Buffer.from(commit), chance)
        : Buffer.from(mutatedText(commit, chance, chance.oneIn(20) ? 1_000_000 : 40_000));
      return tryBytes('commit', input, (bytes) =>
        judge(() => {
          const { gpgsig, message, signedBytes } = decodeCommit(bytes);
          parseCommitMessage(message);
          if (gpgsig === null || !verifySshSignature({ armoured: gpgsig, data: signedBytes, publicKey })) return;
          throw new Error('a signature that nobody made holds');
        }),
      );
    },
  };
}
