import { nodeFs, silentLogger } from '@git-mesh/core';
import { faultyFs } from '@git-mesh/core/testing';
import { openMesh } from '@git-mesh/sync';

// A process that exports or imports a bundle and is killed at one step of its writing; started by the test beside it,
// from the build. It prints how many steps it took, where it lives to do so.

const [dir, what, file, at] = process.argv.slice(2);
if (dir === undefined || file === undefined) throw new Error('usage: carrier DIR export|import FILE STEP');
const faulty = faultyFs({ ...nodeFs }, { at: Number(at), when: 'half', what: 'exit' });
// Everything that is written, in the store and beside it, goes through this one object.
Object.assign(nodeFs, faulty);
const mesh = await openMesh({ dir, env: process.env, logger: silentLogger });
if (what === 'export') await mesh.exportBundle({ file, sinceLast: 'lab' });
else await mesh.importBundle({ file });
await mesh.close();
process.stdout.write(`${faulty.steps()}\n`);
