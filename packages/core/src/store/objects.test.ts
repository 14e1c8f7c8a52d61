import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  appendFile,
  chmod,
  copyFile,
  mkdir,
  readFile,
  readdir,
  rm,
  stat,
  truncate,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { join } from 'node:path';
import { deflateSync } from 'node:zlib';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Oid } from '../domain/ids.js';
import { faultyFs } from '../testing/faulty-fs.js';
import { fsck, git } from '../testing/git.js';
import { storeForEach } from '../testing/store-for-each.js';
import { nodeFs } from './node-fs.js';
import { hashObject } from './object-id.js';
import { StoreObjects } from './objects.js';
import { encodePack } from './pack-write.js';

const limits = { maxObjectBytes: 100_000 };
const bytes = (text: string): Uint8Array => Buffer.from(text);
const blob = (text: string): { type: 'blob'; data: Uint8Array } => ({ type: 'blob', data: bytes(text) });

const { folder, store } = storeForEach();
let objects: StoreObjects;
beforeEach(() => {
  objects = new StoreObjects(nodeFs, store.dir);
});

const fresh = (): StoreObjects => new StoreObjects(nodeFs, store.dir);
const packFolder = (): string => join(store.dir, 'objects', 'pack');
const pathOf = (oid: Oid): string => join(store.dir, 'objects', oid.slice(0, 2), oid.slice(2));

/** A repository with `commits` commits of growing files, and the pack that holds all of it, deltas included. */
async function foreign(commits: number): Promise<{ dir: string; tip: Oid; pack: Buffer }> {
  const dir = join(folder.path, `foreign-${commits}.git`);
  await mkdir(dir);
  await git(dir, 'init', '-q', '--bare');
  const lines: string[] = [];
  let text = '';
  for (let n = 0; n < commits; n++) {
    text += `line ${n} of a file that grows, so that deltas are worth their while\n`;
    const body = n % 10 === 0 ? text : `only ${n}\n`;
    lines.push('commit refs/heads/main', `committer x <x@y> ${1_000_000 + n} +0000`, 'data 1', 'x');
    lines.push(`M 100644 inline d${n % 5}/f${n % 20}`, `data ${body.length}`, body);
  }
  execFileSync('git', ['--git-dir', dir, 'fast-import', '--quiet'], { input: lines.join('\n') });
  const tip = (await git(dir, 'rev-parse', 'refs/heads/main')) as Oid;
  const pack = execFileSync(
    'git',
    ['--git-dir', dir, 'pack-objects', '--revs', '--stdout', '-q', '--delta-base-offset'],
    {
      input: `${tip}\n`,
      maxBuffer: 1e9,
    },
  );
  return { dir, tip, pack };
}

describe('objects', () => {
  it('are written together as a small read-only pack, each once, and read back by stock git and by us', async () => {
    const data = [blob('hello\n'), blob(''), blob('hello\n'), { type: 'blob' as const, data: randomBytes(200_000) }];
    const oids = await objects.write(data);
    expect(oids[0]).toBe('ce013625030ba8dba906f756967f9e9ca394464a');
    expect(oids[2]).toBe(oids[0]);
    for (const [n, oid] of oids.entries()) {
      expect(Buffer.from((await fresh().read(oid)).data).equals(data[n]!.data)).toBe(true);
      expect(await git(store.dir, 'cat-file', '-s', oid)).toBe(String(data[n]!.data.length));
    }
    await fresh().write(data);
    const files = await readdir(packFolder());
    expect(files.map((name) => name.replace(/^pack-[0-9a-f]{40}/, 'pack')).sort()).toEqual(['pack.idx', 'pack.pack']);
    for (const name of files) expect(((await stat(join(packFolder(), name))).mode & 0o777).toString(8)).toBe('444');
    expect(await git(store.dir, 'count-objects', '-v')).toMatch(/in-pack: 3\npacks: 1\n/);
    expect(await fsck(store.dir)).toBe('');
  });

  it('of packs are read without a look for a file of their own each', async () => {
    const looked: string[] = [];
    const watched = {
      ...nodeFs,
      readFile: (path: string) => {
        looked.push(path);
        return nodeFs.readFile(path);
      },
    };
    const packed = (await objects.write([blob('a'), blob('b'), blob('c')])) as [Oid, Oid, Oid];
    const reader = new StoreObjects(watched, store.dir);
    for (const oid of packed) await reader.read(oid);
    expect(packed.map(pathOf).filter((path) => looked.includes(path))).toEqual([pathOf(packed[0])]);
    // One that came as a file since is found all the same.
    const loose = execFileSync('git', ['hash-object', '-w', '--stdin'], { cwd: store.dir, input: 'd' });
    expect((await reader.read(loose.toString().trim() as Oid)).type).toBe('blob');
  });

  it('that a power cut left empty, cut or changed are reported, and mended by the next write', async () => {
    for (const harm of [
      (path: string) => truncate(path, 0),
      (path: string) => truncate(path, 9),
      (path: string) => writeFile(path, deflateSync(bytes('blob 6\0jello\n'))),
      (path: string) => writeFile(path, deflateSync(bytes('blob 7\0hello\n'))),
    ]) {
      // As stock git writes it.
      const input = { input: 'hello\n', encoding: 'utf8' as const };
      const oid = execFileSync('git', ['--git-dir', store.dir, 'hash-object', '-w', '--stdin'], input).trim() as Oid;
      await chmod(pathOf(oid), 0o644);
      await harm(pathOf(oid));
      await expect(fresh().read(oid)).rejects.toMatchObject({ errorName: 'store_damaged', data: { oid } });
      await fresh().write([blob('hello\n')]);
      expect(Buffer.from((await fresh().read(oid)).data).toString()).toBe('hello\n');
      await rm(packFolder(), { recursive: true });
      await rm(pathOf(oid));
    }
  });

  it.each([0, 9, 26])('of a pack that was cut to %i bytes are reported, and mended by the next write', async (size) => {
    const [oid] = await objects.write([blob('hello\n')]);
    const [pack = ''] = (await readdir(packFolder())).filter((name) => name.endsWith('.pack'));
    await chmod(join(packFolder(), pack), 0o644);
    await truncate(join(packFolder(), pack), size);
    await expect(fresh().read(oid!)).rejects.toMatchObject({ errorName: 'store_damaged', data: { oid } });
    await fresh().write([blob('hello\n')]);
    expect(Buffer.from((await fresh().read(oid!)).data).toString()).toBe('hello\n');
  });

  it('are refused as what they are not, or past a size, before they are inflated', async () => {
    const [oid] = await objects.write([blob('x'.repeat(1000))]);
    await expect(fresh().tree(oid!)).rejects.toMatchObject({ errorName: 'store_damaged' });
    await expect(fresh().commit(oid!)).rejects.toMatchObject({ errorName: 'store_damaged' });
    await expect(fresh().blob(oid!, 999)).rejects.toMatchObject({ errorName: 'payload_too_large' });
    expect(await fresh().blob(oid!, 1000)).toHaveLength(1000);
    await objects.read(oid!);
    await expect(objects.blob(oid!, 999)).rejects.toMatchObject({ errorName: 'payload_too_large' });
    await expect(fresh().read('0'.repeat(40) as Oid)).rejects.toMatchObject({ errorName: 'store_damaged' });
  });

  it('stay readable while stock git repacks and prunes them', async () => {
    const oids = await objects.write(Array.from({ length: 40 }, (_, n) => blob(`object ${n}\n`)));
    const tree = execFileSync('git', ['--git-dir', store.dir, 'mktree'], {
      input: oids.map((oid, n) => `100644 blob ${oid}\tf${n}\n`).join(''),
    });
    const person = ['-c', 'user.name=x', '-c', 'user.email=x@y'];
    const tip = await git(store.dir, ...person, 'commit-tree', tree.toString().trim(), '-m', 'x');
    await git(store.dir, 'update-ref', 'refs/heads/main', tip);
    const repacking = new AbortController();
    const repack = (async (): Promise<void> => {
      for (let n = 0; n < 8; n++) {
        await git(store.dir, 'repack', '-adfq', `--depth=${n % 2 === 0 ? 1 : 20}`);
        await fresh().write([blob(`more ${n}`)]);
      }
    })().finally(() => {
      repacking.abort();
    });
    let reads = 0;
    const reader = fresh();
    while (!repacking.signal.aborted) {
      for (const oid of oids) {
        // A new reader has nothing cached; the other one has packs cached that are gone.
        expect((await fresh().read(oid)).type).toBe('blob');
        expect(await reader.has(oid)).toBe(true);
        reads += 1;
      }
    }
    await repack;
    expect(reads).toBeGreaterThan(40);
    expect(await reader.has('1'.repeat(40) as Oid)).toBe(false);
  });

  it('are read past an index that a repack has under a temporary name', async () => {
    const { tip, pack } = await foreign(400);
    await objects.installPack(pack, limits);
    const folderOfPacks = join(store.dir, 'objects/pack');
    const index = (await readdir(folderOfPacks)).find((name) => name.endsWith('.idx')) ?? '';
    await copyFile(join(folderOfPacks, index), join(folderOfPacks, `.tmp-1-${index}`));
    expect((await fresh().commit(tip)).parents).toHaveLength(1);
    await writeFile(join(folderOfPacks, 'pack-empty.idx'), '');
    expect((await fresh().commit(tip)).parents).toHaveLength(1);
    expect(await fresh().has('1'.repeat(40) as Oid)).toBe(false);
  });

  it('come as a pack that stock git takes, each once', async () => {
    const oids = await objects.write([blob('a'), blob('b'), { type: 'blob', data: randomBytes(70_000) }]);
    const pack = await objects.pack([...oids, oids[0]!]);
    const target = join(folder.path, 'target.git');
    await mkdir(target);
    await git(target, 'init', '-q', '--bare');
    execFileSync('git', ['--git-dir', target, 'unpack-objects', '-q', '--strict'], { input: pack });
    for (const oid of oids) expect(await git(target, 'cat-file', '-t', oid)).toBe('blob');
    expect(Buffer.from(pack).readUInt32BE(8)).toBe(3);
  });
});

describe('a pack from outside', () => {
  it('of few objects becomes one without deltas', async () => {
    const { tip, pack } = await foreign(30);
    await objects.installPack(pack, limits);
    await git(store.dir, 'update-ref', 'refs/heads/main', tip);
    expect(await git(store.dir, 'rev-list', '--count', '--objects', 'main')).not.toBe('0');
    expect(await fsck(store.dir)).toBe('');
    expect(pack.readUInt32BE(8)).toBeLessThanOrEqual(200);
    const [name = ''] = (await readdir(packFolder())).filter((file) => file.endsWith('.idx'));
    expect(await git(store.dir, 'verify-pack', '-v', join(packFolder(), name))).not.toContain('chain length');
  });

  it('of many objects stays one, with an index that stock git trusts', async () => {
    const { tip, pack } = await foreign(400);
    expect(pack.readUInt32BE(8)).toBeGreaterThan(200);
    const reader = fresh();
    expect(await reader.has(tip)).toBe(false);
    await objects.installPack(pack, limits);
    await git(store.dir, 'update-ref', 'refs/heads/main', tip);
    const names = (await readdir(join(store.dir, 'objects/pack'))).sort();
    expect(names).toEqual([expect.stringMatching(/^pack-[0-9a-f]{40}\.idx$/), expect.stringMatching(/\.pack$/)]);
    for (const name of names) {
      expect((await stat(join(store.dir, 'objects/pack', name))).mode & 0o777).toBe(0o444);
      if (name.endsWith('.idx')) await git(store.dir, 'verify-pack', join(store.dir, 'objects/pack', name));
    }
    expect(await fsck(store.dir)).toBe('');
    expect(await reader.has(tip)).toBe(true);
    expect((await reader.commit(tip)).parents).toHaveLength(1);
    expect(await readdir(join(store.dir, 'mesh/incoming'))).toEqual([]);
    await objects.installPack(pack, limits);
    expect(await fsck(store.dir)).toBe('');
  });

  it('may leave out bases that the store has', async () => {
    const { dir, tip, pack } = await foreign(30);
    const old = await git(dir, 'rev-parse', `${tip}~10`);
    const older = execFileSync('git', ['--git-dir', dir, 'pack-objects', '--revs', '--stdout', '-q'], {
      input: `${old}\n`,
    });
    const thin = execFileSync('git', ['--git-dir', dir, 'pack-objects', '--revs', '--stdout', '-q', '--thin'], {
      input: `${tip}\n^${old}\n`,
    });
    await expect(objects.installPack(thin, limits)).rejects.toMatchObject({ errorName: 'protocol_error' });
    expect(await objects.has(tip)).toBe(false);
    await objects.installPack(older, limits);
    await objects.installPack(thin, limits);
    await git(store.dir, 'update-ref', 'refs/heads/main', tip);
    expect(await fsck(store.dir)).toBe('');
    expect(pack.length).toBeGreaterThan(0);
  });

  it.each([30, 400])('that was cut, changed or lengthened anywhere is refused whole (%i commits)', async (commits) => {
    const { tip, pack } = await foreign(commits);
    const harmed = [Buffer.alloc(0), pack.subarray(0, 20), pack.subarray(0, -1), pack.subarray(0, pack.length / 2)];
    harmed.push(Buffer.concat([pack, Buffer.of(0)]));
    for (let n = 0; n < 10; n++) {
      const copy = Buffer.from(pack);
      const place = Math.floor((n * (copy.length - 1)) / 9);
      copy[place] = (copy[place] ?? 0) ^ 0x11;
      harmed.push(copy);
    }
    for (const bad of harmed) {
      await expect(objects.installPack(bad, limits)).rejects.toMatchObject({ errorName: 'protocol_error' });
    }
    expect(await fresh().has(tip)).toBe(false);
    expect((await readdir(join(store.dir, 'objects'))).sort()).toEqual(['info', 'pack']);
    expect(await fsck(store.dir)).toBe('');
  });

  it('with a right checksum over wrong contents is refused too', async () => {
    const { createHash } = await import('node:crypto');
    const seal = (body: Buffer): Buffer => Buffer.concat([body, createHash('sha1').update(body).digest()]);
    const header = (count: number): Buffer => Buffer.from([0x50, 0x41, 0x43, 0x4b, 0, 0, 0, 2, 0, 0, 0, count]);
    const five = Buffer.concat([Buffer.of(0x35), deflateSync(bytes('hello'))]);
    const bad = [
      seal(header(1)),
      seal(Buffer.concat([header(2), five])),
      seal(Buffer.concat([header(1), five, five])),
      seal(Buffer.concat([header(1), Buffer.of(0x34), deflateSync(bytes('hello'))])),
      seal(Buffer.concat([header(1), Buffer.of(0x36), deflateSync(bytes('hello'))])),
      seal(Buffer.concat([header(1), Buffer.of(0x55), deflateSync(bytes('hello'))])),
      seal(Buffer.concat([header(1), Buffer.of(0x35), bytes('not zlib')])),
      seal(Buffer.concat([header(1), Buffer.of(0x64, 0x05), deflateSync(Buffer.of(1, 1, 1, 1))])),
      seal(Buffer.concat([header(1), Buffer.of(0x74), Buffer.alloc(20, 1), deflateSync(Buffer.of(1, 1, 1, 1))])),
      // A delta of "hello" that copies more than there is, and one that makes less than it says.
      seal(Buffer.concat([header(2), five, Buffer.of(0x64, five.length), deflateSync(Buffer.of(5, 9, 0x90, 9))])),
      seal(Buffer.concat([header(2), five, Buffer.of(0x64, five.length), deflateSync(Buffer.of(5, 9, 0x90, 5))])),
    ];
    for (const pack of bad) {
      await expect(objects.installPack(pack, limits)).rejects.toMatchObject({ errorName: 'protocol_error' });
    }
    expect(await fsck(store.dir)).toBe('');
  });

  it('is refused when an object in it is too large, by what it declares and by what it inflates to', async () => {
    const data = Buffer.alloc(limits.maxObjectBytes + 1);
    const large = await encodePack([{ type: 'blob', data }]);
    expect(large.length).toBeLessThan(1000);
    await expect(objects.installPack(large, limits)).rejects.toMatchObject({ errorName: 'payload_too_large' });
    await objects.installPack(await encodePack([{ type: 'blob', data: data.subarray(1) }]), limits);
  });

  it('that leaves out an object is refused, and shows nothing of itself', async () => {
    const { dir, tip } = await foreign(5);
    const ids = (await git(dir, 'rev-list', '--objects', '--no-object-names', tip)).split('\n') as Oid[];
    const source = new StoreObjects(nodeFs, dir);
    for (const missing of ids.slice(1)) {
      const pack = await source.pack(ids.filter((oid) => oid !== missing));
      await expect(objects.installPack(pack, limits)).rejects.toMatchObject({
        errorName: 'protocol_error',
        message: expect.stringContaining(missing) as string,
      });
    }
    expect(await fresh().has(tip)).toBe(false);
  });

  it.each([30, 400])('leaves nothing behind when the disk is full (%i commits)', async (commits) => {
    const { tip, pack } = await foreign(commits);
    for (const at of [1, 2, 3]) {
      const full = new StoreObjects(
        faultyFs(nodeFs, { steps: ['write', 'sync'], at, when: 'half', what: 'ENOSPC', lasting: true }),
        store.dir,
      );
      await expect(full.installPack(pack, limits)).rejects.toMatchObject({ code: 'ENOSPC' });
    }
    const left = (await readdir(store.dir, { recursive: true })).filter((name) => name.includes('tmp_mesh_'));
    expect(left).toEqual([]);
    expect(await fresh().has(tip)).toBe(false);
    await objects.installPack(pack, limits);
    expect(await fresh().has(tip)).toBe(true);
  });

  it('sweeps what a killed process left of one, once it is old', async () => {
    const { pack } = await foreign(400);
    const left = join(store.dir, 'mesh/incoming/tmp_mesh_1_old');
    const young = join(store.dir, 'mesh/incoming/tmp_mesh_1_young');
    for (const path of [left, young]) await mkdir(path, { recursive: true });
    await writeFile(join(left, 'x.pack'), 'x');
    const old = new Date(Date.now() - 11 * 60_000);
    await utimes(left, old, old);
    await objects.installPack(pack, limits);
    expect(await readdir(join(store.dir, 'mesh/incoming'))).toEqual(['tmp_mesh_1_young']);
  });
});

describe('a pack in the store', () => {
  it('that is damaged is reported as damage of the store', async () => {
    const { tip, pack } = await foreign(400);
    await objects.installPack(pack, limits);
    const name = (await readdir(join(store.dir, 'objects/pack'))).find((file) => file.endsWith('.pack')) ?? '';
    const path = join(store.dir, 'objects/pack', name);
    await chmod(path, 0o644);
    const content = await readFile(path);
    await writeFile(path, Buffer.concat([content.subarray(0, 12), Buffer.alloc(content.length - 12)]));
    await expect(fresh().read(tip)).rejects.toMatchObject({ errorName: 'store_damaged' });
    await rm(path);
    await expect(fresh().read(tip)).rejects.toMatchObject({ errorName: 'store_damaged' });
    await appendFile(path, content);
    expect((await fresh().commit(tip)).parents).toHaveLength(1);
    expect(hashObject('blob', bytes(''))).toBe('e69de29bb2d1d6434b8b29ae775ad8c2e48c5391');
  });
});
