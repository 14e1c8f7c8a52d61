import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { deflateSync } from 'node:zlib';
import type { Oid } from '@git-mesh/core';
import { type Peer, type RemoteMesh, remoteMesh, settle } from '@git-mesh/sync/testing';
import type { Chance } from './chance.js';
import { type LooseObject, type OddFile, looseObject, oddTrees } from './hostile-tree.js';
import { type Verdict, judge } from './judge.js';
import { mutatedBytes, mutatedFile, mutatedText } from './mutate.js';
import { samples } from './samples.js';
import type { Finding, Target } from './target.js';

/** A round starts processes and answers nine calls; what takes this long hangs. */
const longestMs = 10_000;
const casesAMesh = 60;

interface Scene {
  /** Whether commits are spoilt as well: some of them no git reads, and a repository that holds one takes no push. */
  oddCommits: boolean;
  mesh: RemoteMesh;
  studio: Peer;
  rogue: Peer;
  machine: Buffer;
  /** All that stands beside the stores and the repository, which nothing may add to. */
  beside: string;
}

function besides({ root }: RemoteMesh['git']): string {
  const listed = (folder: string): string[] => readdirSync(folder).map((name) => join(folder, name));
  // The folder around the fixture too: as far as a `..` or two would lead.
  const around = listed(root);
  const inStores = around.flatMap((path) => (path.includes('state-') ? [] : listed(path)));
  return [...around, ...inStores.filter((path) => !path.endsWith('packed-refs') && !path.endsWith('shallow'))]
    .sort()
    .join('\n');
}

async function scene(oddCommits: boolean): Promise<Scene> {
  const mesh = await remoteMesh(['studio', 'rogue']);
  const [studio, rogue] = mesh.peers as [Peer, Peer];
  await studio.checkin('boss');
  await rogue.checkin('dev');
  await studio.send('rogue', 'to be acknowledged');
  await settle(mesh.peers);
  const machine = Buffer.from(`${rogue.git('show', `${rogue.store.branch}:machine.yaml`)}\n`);
  return { oddCommits, mesh, studio, rogue, machine, beside: besides(mesh.git) };
}

function writeLoose(gitdir: string, { oid, type, data }: LooseObject): void {
  const path = join(gitdir, 'objects', oid.slice(0, 2), oid.slice(2));
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, deflateSync(Buffer.concat([Buffer.from(`${type} ${data.length}\0`), data])));
}

const oddPath = (path: string, chance: Chance): string =>
  chance.oneIn(2)
    ? mutatedText(path, chance, 400)
    : path
        .split('/')
        .map((part) => (chance.oneIn(3) ? mutatedText(part, chance, 200) : part))
        .join('/');

/** Every kind of file that a branch has, addressed to studio, some of them spoilt. */
function oddFiles(machine: Buffer, chance: Chance): OddFile[] {
  const files: OddFile[] = [{ path: 'machine.yaml', content: machine, mode: '100644' }];
  for (const { path, content } of samples()) {
    if (path === 'mesh.yaml' || path === 'machine.yaml') continue;
    // What studio sent on the page is rogue's here, and for laptop it is for studio.
    const swap = (text: string): string => text.replaceAll('studio', 'rogue').replaceAll('laptop', 'studio');
    files.push({ path: swap(path), content: Buffer.from(swap(content.toString('utf8'))), mode: '100644' });
  }
  for (let times = chance.below(8); times > 0; times--) {
    const file = chance.pick(files);
    // Mostly its own machine.yaml is sound, or nothing else of the branch would be looked at.
    if (file.path === 'machine.yaml' && !chance.oneIn(6)) continue;
    const how = chance.below(6);
    if (how < 3) file.content = mutatedFile(file.content.length > 0 ? file.content : Buffer.from('a: 1\n'), chance);
    else if (how < 5) files.push({ ...file, path: oddPath(file.path, chance) });
    else file.mode = chance.pick(['120000', '160000', '100755', '40000', '100664', '040000', '0', 'x']);
  }
  return files;
}

interface Attack {
  objects: LooseObject[];
  tip: Oid;
  /** False where the commit breaks a rule that readers must check. */
  isSound: boolean;
  story: string;
}

async function attack({ oddCommits, studio, rogue, machine }: Scene, chance: Chance): Promise<Attack> {
  const accepted = await studio.accepted('rogue');
  if (accepted === null) throw new Error('the branch is gone');
  const { committer, message } = await studio.store.objects.commit(accepted);
  const seq = Number(/^Mesh-Seq: (\d+)$/m.exec(message)?.[1] ?? 0) + 1;
  const files = oddFiles(machine, chance);
  const spoilt = chance.oneIn(8);
  const trees = oddTrees(files, (tree) => (spoilt && chance.oneIn(4) ? mutatedBytes(tree, chance, 2) : tree));
  const root = trees.at(-1)?.oid ?? '';
  const at = Math.floor(committer.at / 1000);
  const person = `rogue <rogue@mesh.invalid> ${chance.oneIn(8) ? chance.below(2 ** 40) : at} +0000`;
  const event = `Mesh-Event: send\nMesh-Seq: ${seq}\nMesh-Journal: ${seq}\n`;
  let raw: Buffer = Buffer.from(
    `tree ${root}\nparent ${accepted}\nauthor ${person}\ncommitter ${person}\n\nsend x\n\n${event}`,
  );
  const odd = oddCommits && chance.oneIn(2);
  if (odd)
    raw = chance.oneIn(2)
      ? mutatedBytes(raw, chance, 2)
      : Buffer.from(mutatedText(raw.toString('utf8'), chance, 300_000));
  const how = chance.oneIn(4) ? chance.pick(['unsigned', 'by another', 'changed after'] as const) : 'signed';
  const signer = how === 'by another' ? studio.store.signer : rogue.store.signer;
  if (how !== 'unsigned') {
    const signature = signer.sign(raw).trimEnd().replaceAll('\n', '\n ');
    const end = raw.indexOf('\n\n');
    const head = end < 0 ? raw : raw.subarray(0, end);
    raw = Buffer.concat([head, Buffer.from(`\ngpgsig ${signature}`), end < 0 ? Buffer.alloc(0) : raw.subarray(end)]);
  }
  if (how === 'changed after') raw = Buffer.concat([raw, Buffer.from('x\n')]);
  const commit = looseObject('commit', raw);
  const story = `${how}${odd ? ', odd commit' : ''}${spoilt ? ', odd trees' : ''}: ${files.map(({ mode, path }) => `${mode} ${path}`).join('; ')}`;
  return { objects: [...trees, commit], tip: commit.oid as Oid, isSound: how === 'signed', story };
}

/** Whole branches, signed by a member or not, in the repository that a machine synchronises with. */
export async function branchTarget(): Promise<Target> {
  let current = await scene(false);
  let cases = 0;

  async function check(made: Attack, before: Oid | null): Promise<Verdict> {
    const { studio } = current;
    const own = studio.tip();
    const { api } = studio;
    const verdict = await judge(
      async () => {
        await studio.sync();
        for (const work of [
          () => api.agents({ include_stale: true }, studio.call()),
          () => api.status(),
          () => api.doctor(),
          () => api.inbox({ agent_id: 'boss', limit: 100 }, studio.call()),
          () => api.sent({}, studio.call()),
          () => api.log({}),
        ]) {
          await work();
        }
        const { remotes } = await studio.facts();
        if (!current.oddCommits && remotes[0]?.state !== 'ok')
          throw new Error(`one branch stops the remote: ${JSON.stringify(remotes[0]?.error)}`);
        const { agents } = await api.agents({}, studio.call());
        if (!agents.some(({ machine, agent_id: id }) => machine === 'studio' && id === 'boss'))
          throw new Error('boss is gone');
      },
      { limitMs: longestMs },
    ).catch((error: unknown) => `the judge threw ${String(error)}`);
    if (verdict !== null) return verdict;
    const after = await studio.accepted('rogue');
    if (after !== before && !(after === made.tip && made.isSound)) return `accepted ${String(after)}`;
    if (own !== studio.tip() && !studio.git('log', '--format=%H', studio.store.branch).includes(own))
      return 'the own branch lost a commit';
    if (besides(current.mesh.git) !== current.beside) return `wrote outside: ${besides(current.mesh.git)}`;
    return null;
  }

  return {
    name: 'branches',
    share: 4,
    close: () => {
      current.mesh.remove();
    },
    async run(chance): Promise<Finding | null> {
      cases += 1;
      if (cases % casesAMesh === 0) {
        current.mesh.remove();
        current = await scene(!current.oddCommits);
      }
      const { mesh, studio } = current;
      const before = await studio.accepted('rogue');
      const made = await attack(current, chance);
      // A server that is no git serves what git would not.
      const places = chance.oneIn(3) ? [mesh.remote, studio.store.dir] : [mesh.remote];
      for (const place of places) for (const object of made.objects) writeLoose(place, object);
      writeFileSync(join(mesh.remote, 'refs', 'heads', 'mesh', 'rogue'), `${made.tip}\n`);
      const verdict = await check(made, before);
      if (verdict === null) return null;
      const input = Buffer.from(
        made.objects.map(({ type, oid, data }) => `${type} ${oid}\n${data.toString('latin1')}\n`).join(''),
        'latin1',
      );
      return { of: `branch (${made.story})`, verdict, input };
    },
  };
}
