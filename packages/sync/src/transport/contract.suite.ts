import { MeshError } from '@git-mesh/core';
import type { ErrorName, Oid, RefName } from '@git-mesh/core';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { GitFixture } from '../testing/git-fixture.js';
import { fetchPack, fetchPart, offersDepth } from './fetch.js';
import type { Exchange, Service, Transport } from './port.js';
import { pushRefs } from './push.js';

/** How a kind of transport is brought to a repository that lies at `path` on this machine. */
export interface TransportUnderTest {
  reach(path: string): Transport;
  /** To a place where the service starts and then says nothing. */
  reachHanging(path: string): Transport;
  /** What is told of a folder that is no repository, where the other side does not say it apart from a missing one. */
  readonly noRepository?: ErrorName;
}

const studio = 'refs/heads/mesh/studio' as RefName;
const laptop = 'refs/heads/mesh/laptop' as RefName;
const maxBytes = 1 << 24;

/** What every transport must do, run against real git. */
export function transportContract(name: string, make: (fixture: GitFixture) => TransportUnderTest): void {
  describe(`the contract of a transport: ${name}`, () => {
    let fixture: GitFixture;
    let under: TransportUnderTest;
    let remote: string;
    let mine: string;
    const { signal } = new AbortController();

    beforeEach(() => {
      fixture = new GitFixture();
      under = make(fixture);
      remote = fixture.bare('remote.git');
      mine = fixture.bare('mine.git');
    });
    afterEach(() => {
      fixture.remove();
    });

    const open = (service: Service): Promise<Exchange> => under.reach(remote).open(service, { signal });
    const push = async (updates: { ref: RefName; expected: Oid | null; next: Oid }[], pack: Uint8Array | null) =>
      pushRefs(await open('git-receive-pack'), { updates, pack, atomic: true, signal });
    const install = (pack: Uint8Array): void =>
      void fixture.git(['-C', mine, 'index-pack', '--stdin', '--strict'], pack);

    it('tells what the remote has, and where its HEAD points', async () => {
      const tip = fixture.commit(remote, 'one');
      fixture.setRef(remote, studio, tip);
      fixture.setRef(remote, 'refs/heads/main' as RefName, tip);
      fixture.git(['-C', remote, 'tag', '-a', '-m', 'tagged', 'v1', tip]);
      const exchange = await open('git-upload-pack');
      await exchange.close();
      expect(new Map(exchange.advertised.refs)).toEqual(fixture.refs(remote));
      expect(exchange.advertised.head).toBe('refs/heads/main');
    });

    it.each(['git-upload-pack', 'git-receive-pack'] as const)(
      'finds an empty repository empty: %s',
      async (service) => {
        const exchange = await open(service);
        await exchange.close();
        await exchange.close();
        expect(exchange.advertised.refs.size).toBe(0);
        expect(exchange.advertised.head).toBeNull();
      },
    );

    it('fetches everything into an empty store', async () => {
      const first = fixture.commit(remote, 'one');
      const tip = fixture.commit(remote, 'two', [first]);
      fixture.setRef(remote, studio, tip);
      install(await fetchPack(await open('git-upload-pack'), { wants: [tip], haves: [], signal, maxBytes }));
      expect(fixture.git(['-C', mine, 'rev-list', tip])).toBe(`${tip}\n${first}`);
    });

    it('fetches only what is new, and nothing twice for a no-op', async () => {
      const first = fixture.commit(remote, 'x'.repeat(100_000));
      fixture.setRef(remote, studio, first);
      install(await fetchPack(await open('git-upload-pack'), { wants: [first], haves: [], signal, maxBytes }));
      const second = fixture.commit(remote, 'two', [first]);
      fixture.setRef(remote, studio, second);
      // A tip the remote never saw must do no harm.
      const haves = [first, fixture.commit(mine, 'unknown there')];
      const pack = await fetchPack(await open('git-upload-pack'), { wants: [second], haves, signal, maxBytes });
      expect(Buffer.from(pack).readUInt32BE(8)).toBe(3);
      install(pack);
      expect(fixture.git(['-C', mine, 'rev-list', '--count', second])).toBe('2');
      const nothing = await fetchPack(await open('git-upload-pack'), {
        wants: [second],
        haves: [second],
        signal,
        maxBytes,
      });
      expect(Buffer.from(nothing).readUInt32BE(8)).toBe(0);
    });

    it('fetches the newest commits alone, then goes on from there, then gets what lies before', async () => {
      let tip = fixture.commit(remote, 'one');
      for (const n of [2, 3, 4, 5]) tip = fixture.commit(remote, `file ${n}`, [tip]);
      fixture.setRef(remote, studio, tip);
      const exchange = await open('git-upload-pack');
      expect(offersDepth(exchange, { beyondEdges: true })).toBe(true);
      const newest = await fetchPart(exchange, { wants: [tip], haves: [], signal, maxBytes, deepen: { commits: 1 } });
      expect(newest.edges).toEqual([tip]);
      expect(Buffer.from(newest.pack).readUInt32BE(8)).toBe(3);
      // What stood in the history before and comes back is not here: only a named edge tells the server so.
      const next = fixture.commit(remote, 'one', [tip]);
      fixture.setRef(remote, studio, next);
      fixture.git(['-C', remote, 'repack', '-adbq']);
      const edges = [tip];
      const later = await fetchPart(await open('git-upload-pack'), {
        wants: [next],
        haves: [tip],
        signal,
        maxBytes,
        edges,
      });
      expect(Buffer.from(later.pack).readUInt32BE(8)).toBe(3);
      const deepen = { commits: 2, beyondEdges: true };
      const older = await fetchPart(await open('git-upload-pack'), {
        wants: [next],
        haves: [next],
        signal,
        maxBytes,
        edges,
        deepen,
      });
      const [, , third] = fixture.git(['-C', remote, 'rev-list', tip]).split('\n');
      expect(older.edges).toEqual([third]);
      expect(Buffer.from(older.pack).readUInt32BE(8)).toBe(6);
    });

    it('sends many haves without blocking', async () => {
      const tip = fixture.commit(remote, 'one');
      fixture.setRef(remote, studio, tip);
      const haves = Array.from({ length: 20_000 }, (_, n) => n.toString(16).padStart(40, '0') as Oid);
      const options = { wants: [tip], haves: [...haves, tip], signal, maxBytes };
      const pack = await fetchPack(await open('git-upload-pack'), options);
      expect(Buffer.from(pack).readUInt32BE(8)).toBe(0);
    });

    it('takes a large pack whole, and refuses one past the limit', async () => {
      const { randomBytes } = await import('node:crypto');
      const tip = fixture.commit(remote, randomBytes(1_500_000).toString('base64'));
      fixture.setRef(remote, studio, tip);
      install(await fetchPack(await open('git-upload-pack'), { wants: [tip], haves: [], signal, maxBytes }));
      const tooMuch = fetchPack(await open('git-upload-pack'), { wants: [tip], haves: [], signal, maxBytes: 100_000 });
      await expectError('payload_too_large', () => tooMuch);
    });

    it('pushes a new branch into an empty repository, then forwards it', async () => {
      const first = fixture.commit(mine, 'one');
      const created = await push([{ ref: studio, expected: null, next: first }], fixture.pack(mine, [first]));
      expect(created).toEqual([{ ref: studio, ok: true, reason: null }]);
      const second = fixture.commit(mine, 'two', [first]);
      const pack = fixture.pack(mine, [second], [first]);
      const forwarded = await push([{ ref: studio, expected: first, next: second }], pack);
      expect(forwarded).toEqual([{ ref: studio, ok: true, reason: null }]);
      expect(fixture.refs(remote)).toEqual(new Map([[studio, second]]));
      expect(fixture.git(['-C', remote, 'fsck', '--strict'])).toBe('');
    });

    it('makes a second branch of objects that are there without a pack', async () => {
      const tip = fixture.commit(remote, 'one');
      fixture.setRef(remote, studio, tip);
      const pushed = await push([{ ref: laptop, expected: null, next: tip }], null);
      expect(pushed).toEqual([{ ref: laptop, ok: true, reason: null }]);
    });

    it('refuses what somebody else moved since, and leaves it alone', async () => {
      const first = fixture.commit(mine, 'one');
      await push([{ ref: studio, expected: null, next: first }], fixture.pack(mine, [first]));
      const theirs = fixture.commit(remote, 'theirs', [first]);
      fixture.setRef(remote, studio, theirs);
      const second = fixture.commit(mine, 'two', [first]);
      const [stale] = await push(
        [{ ref: studio, expected: first, next: second }],
        fixture.pack(mine, [second], [first]),
      );
      expect(stale).toMatchObject({ ref: studio, ok: false });
      expect(stale?.reason).not.toBe('');
      const [exists] = await push(
        [{ ref: studio, expected: null, next: second }],
        fixture.pack(mine, [second], [first]),
      );
      expect(exists?.ok).toBe(false);
      expect(fixture.refs(remote).get(studio)).toBe(theirs);
    });

    it('tells a missing remote from one that is no repository', async () => {
      for (const service of ['git-upload-pack', 'git-receive-pack'] as const) {
        const missing = under.reach(fixture.path('nowhere.git'));
        await expectError('remote_not_found', () => missing.open(service, { signal }));
        const { mkdirSync } = await import('node:fs');
        mkdirSync(fixture.path('folder'), { recursive: true });
        await expectError(under.noRepository ?? 'not_a_repository', () =>
          under.reach(fixture.path('folder')).open(service, { signal }),
        );
      }
    });

    it('gives up a service that says nothing when the time is over', async () => {
      const started = Date.now();
      const hanging = under.reachHanging(remote).open('git-upload-pack', { signal: AbortSignal.timeout(300) });
      await expectError('deadline', () => hanging);
      expect(Date.now() - started).toBeLessThan(5_000);
    });

    it('starts nothing when the time is over before it begins', async () => {
      const late = under.reach(remote).open('git-upload-pack', { signal: AbortSignal.abort() });
      await expectError('deadline', () => late);
    });
  });
}

/** Fails unless `act` rejects with a MeshError of that name; resolves to it. */
export async function expectError(name: ErrorName, act: () => Promise<unknown>): Promise<MeshError> {
  const outcome = await act().then(
    () => null,
    (error: unknown) => error,
  );
  if (!(outcome instanceof MeshError))
    throw outcome instanceof Error ? outcome : new Error(`no error: expected ${name}`);
  expect(`${outcome.errorName}: ${outcome.message}`).toMatch(new RegExp(`^${name}: `));
  return outcome;
}
