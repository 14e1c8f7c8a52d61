import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Oid, RefName } from '@git-mesh/core';
import { GitFixture } from '../testing/git-fixture.js';
import { expectError } from './contract.suite.js';
import { localTransport } from './local.js';
import { encodePacket } from './pkt-line.js';
import type { Exchange } from './port.js';
import type { PushedRef } from './push.js';
import { pushRefs } from './push.js';

const studio = 'refs/heads/mesh/studio' as RefName;
const laptop = 'refs/heads/mesh/laptop' as RefName;
const { signal } = new AbortController();
const posix = process.platform !== 'win32';

describe('pushRefs', () => {
  let fixture: GitFixture;
  let remote: string;
  let mine: string;
  let first: Oid;
  let second: Oid;
  beforeEach(() => {
    fixture = new GitFixture();
    remote = fixture.bare('remote.git');
    mine = fixture.bare('mine.git');
    first = fixture.commit(mine, 'one');
    second = fixture.commit(mine, 'two', [first]);
  });
  afterEach(() => {
    fixture.remove();
  });

  type Update = [RefName, Oid | null, Oid];
  const open = (env: Readonly<Record<string, string>> = fixture.env): Promise<Exchange> =>
    localTransport({ path: remote, env }).open('git-receive-pack', { signal });
  const send = (exchange: Exchange, updates: Update[], atomic = true): Promise<PushedRef[]> =>
    pushRefs(exchange, {
      updates: updates.map(([ref, expected, next]) => ({ ref, expected, next })),
      pack: fixture.pack(mine, [first, second]),
      atomic,
      signal,
    });
  const push = async (updates: Update[], atomic = true): Promise<PushedRef[]> => send(await open(), updates, atomic);
  const hook = (name: string, script: string): void => {
    writeFileSync(fixture.path('remote.git', 'hooks', name), `#!/bin/sh\n${script}\n`);
    chmodSync(fixture.path('remote.git', 'hooks', name), 0o755);
  };

  it("gives a hook's refusal with the hook's words", async () => {
    hook('pre-receive', 'echo "only on weekdays, see https://bob:secret@wiki/" >&2; exit 1');
    const [result] = await push([[studio, null, first]]);
    expect(result).toMatchObject({ ref: studio, ok: false });
    expect(result?.reason).toMatch(/^pre-receive hook declined \(.*only on weekdays, see https:\/\/\*\*\*@wiki\/.*\)$/);
    expect(fixture.refs(remote).size).toBe(0);
  });

  it('pushes what a hook lets through, and refuses the rest on its own when not atomic', async () => {
    hook('update', `test "$1" = ${studio}`);
    const results = await push([[laptop, null, first], [studio, null, second]], false); // prettier-ignore
    expect(results.map(({ ref, ok }) => [ref, ok])).toEqual([[laptop, false], [studio, true]]); // prettier-ignore
    expect(results[0]?.reason).toMatch(/^hook declined/);
    expect(fixture.refs(remote)).toEqual(new Map([[studio, second]]));
  });

  it('pushes nothing when one of an atomic push fails', async () => {
    await push([[laptop, null, first]]);
    const results = await push([[studio, null, second], [laptop, null, second]]); // prettier-ignore
    expect(results.map(({ ok }) => ok)).toEqual([false, false]);
    expect(fixture.refs(remote)).toEqual(new Map([[laptop, first]]));
  });

  it.runIf(posix).each([
    ['takes what was sent', 'pre-receive', 'true'],
    ['moves its branches', 'reference-transaction', 'test "$1" = prepared'],
  ])('given up while the remote %s it leaves no lock there', async (_what, name, when) => {
    hook(name, `cat > /dev/null\nif ${when}; then touch ${fixture.path('reached')}; sleep 60; fi`);
    const over = new AbortController();
    const exchange = await localTransport({ path: remote, env: fixture.env }).open('git-receive-pack', over);
    const pushed = pushRefs(exchange, {
      updates: [{ ref: studio, expected: null, next: first }],
      pack: fixture.pack(mine, [first]),
      atomic: false,
      signal: over.signal,
    });
    const failed = expect(pushed).rejects.toThrow(/in the time given/);
    while (!existsSync(fixture.path('reached'))) await sleep(10);
    over.abort();
    await failed;
    await exchange.close();
    const left = readdirSync(remote, { recursive: true, encoding: 'utf8' });
    expect(left.filter((path) => path.endsWith('.lock'))).toEqual([]);
    rmSync(fixture.path('remote.git', 'hooks', name));
    expect(await push([[studio, null, first]])).toMatchObject([{ ok: true }]);
  });

  it('gives the refusal of a repository that denies rewinding', async () => {
    await push([[studio, null, second]]);
    fixture.git(['-C', remote, 'config', 'receive.denyNonFastForwards', 'true']);
    const [result] = await push([[studio, second, first]]);
    expect(result?.reason).toMatch(/^non-fast-forward/);
    expect(fixture.refs(remote).get(studio)).toBe(second);
  });

  it('loses to one who moves the ref between the advertisement and the push', async () => {
    await push([[studio, null, first]]);
    const exchange = await open();
    const theirs = fixture.commit(remote, 'theirs', [first]);
    fixture.setRef(remote, studio, theirs);
    const [result] = await send(exchange, [[studio, first, second]]);
    expect(result?.ok).toBe(false);
    expect(result?.reason).toContain('cannot lock ref');
    expect(fixture.refs(remote).get(studio)).toBe(theirs);
  });

  it('is refused as a whole when the pack lacks objects', async () => {
    const updates = [{ ref: studio, expected: null, next: second }];
    const pack = fixture.pack(mine, [second], [first]);
    const outcome = await pushRefs(await open(), { updates, pack, atomic: true, signal });
    expect(outcome[0]?.ok).toBe(false);
    expect(fixture.refs(remote).size).toBe(0);
  });

  it('is push_refused when the pack is damaged', async () => {
    const pack = Buffer.from(fixture.pack(mine, [first]));
    pack[pack.length - 1] = (pack[pack.length - 1] ?? 0) ^ 1;
    const updates = [{ ref: studio, expected: null, next: first }];
    await expectError('push_refused', async () => pushRefs(await open(), { updates, pack, atomic: true, signal }));
    expect(fixture.refs(remote).size).toBe(0);
  });

  const unprivileged = spawnSync('setpriv', ['--reuid=65534', '--clear-groups', 'true']).status === 0;
  it.skipIf(!posix || (process.getuid?.() === 0 && !unprivileged))(
    'is push_refused by a read-only repository',
    async () => {
      const env: Record<string, string> = { ...fixture.env };
      spawnSync('chmod', ['-R', 'a+rX,a-w', remote]);
      chmodSync(fixture.root, 0o755);
      if (process.getuid?.() === 0) {
        // Real git, but as a user to whom permissions apply.
        mkdirSync(fixture.path('bin'));
        const git = spawnSync('which', ['git']).stdout.toString().trim();
        writeFileSync(fixture.path('bin', 'git'), `#!/bin/sh\nexec setpriv --reuid=65534 --clear-groups ${git} "$@"\n`);
        chmodSync(fixture.path('bin', 'git'), 0o755);
        writeFileSync(fixture.path('config'), '[safe]\n\tdirectory = *\n');
        env['PATH'] = `${fixture.path('bin')}${delimiter}${process.env['PATH'] ?? ''}`;
      }
      const transport = localTransport({ path: remote, env, globalConfig: fixture.path('config') });
      const { message } = await expectError('push_refused', async () =>
        send(await transport.open('git-receive-pack', { signal }), [[studio, null, second]]),
      );
      expect(message).toContain('could not take the objects');
      spawnSync('chmod', ['-R', 'u+w', remote]);
    },
  );

  it('ends a hook that hangs when the time is over', async () => {
    const pidFile = fixture.path('pid');
    hook('pre-receive', `echo $$ > ${pidFile}; sleep 600`);
    const abort = new AbortController();
    const updates = [{ ref: studio, expected: null, next: first }];
    const exchange = await localTransport({ path: remote, env: fixture.env }).open('git-receive-pack', { signal });
    const pushed = pushRefs(exchange, {
      updates,
      pack: fixture.pack(mine, [first]),
      atomic: true,
      signal: abort.signal,
    });
    const failed = expectError('deadline', () => pushed);
    await expect
      .poll(() => (existsSync(pidFile) ? readFileSync(pidFile, 'utf8') : ''), { timeout: 10_000 })
      .toMatch(/\n/);
    abort.abort();
    await failed;
    const pid = readFileSync(pidFile, 'utf8').trim();
    await expect.poll(() => spawnSync('ps', ['-o', 'stat=', '-p', pid]).stdout.toString().trim()).toMatch(/^(Z|$)/);
    expect(fixture.refs(remote).size).toBe(0);
  });

  const band1 = (text: string) => encodePacket(Buffer.concat([Buffer.from([1]), Buffer.from(text, 'latin1')]));
  const whole = '000eunpack ok\n001eok refs/heads/mesh/studio\n0000';
  it.each([
    ['no answer', () => ''],
    ['no report', () => '0000'],
    ['a report that was cut', () => `${text(band1(whole.slice(0, -6)))}0000`],
    ['a report without its end', () => `${text(band1(whole.slice(0, -4)))}0000`],
    ['a report without a closing packet', () => text(band1(whole))],
    ['a report that leaves out the ref', () => `${text(band1('000eunpack ok\n0000'))}0000`],
    ['a report on another ref', () => `${text(band1('000eunpack ok\n001eok refs/heads/mesh/laptop\n0000'))}0000`],
    ['two reports on one ref', () => `${text(band1(`${whole.slice(0, -4)}${whole.slice(14)}`))}0000`],
    ['an error in band 3', () => text(encodePacket('\u0003no space left'))],
    ['something else', () => 'HTTP/1.1 200 OK'],
  ])('takes %s for no success', async (_what, answer) => {
    const real = await open();
    const exchange: Exchange = {
      advertised: real.advertised,
      close: () => real.close(),
      async *post(body) {
        for await (const _chunk of real.post(body)) continue;
        yield Buffer.from(answer(), 'latin1');
      },
    };
    await expectError('protocol_error', () => send(exchange, [[studio, null, first]]));
  });

  it('takes a report that is split over packets of the side band', async () => {
    const real = await open();
    const exchange: Exchange = {
      advertised: real.advertised,
      close: () => real.close(),
      async *post() {
        yield await Promise.resolve(
          Buffer.concat([band1(whole.slice(0, 7)), band1(whole.slice(7)), Buffer.from('0000')]),
        );
      },
    };
    expect(await send(exchange, [[studio, null, first]])).toEqual([{ ref: studio, ok: true, reason: null }]);
  });
});

function text(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('latin1');
}
