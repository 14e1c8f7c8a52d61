import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { mesh, solo } from '../machines.js';
import type { Machine } from '../machines.js';
import { until } from '../until.js';

/** What a running `watch` has printed, one document a line. */
function watching(machine: Machine, agent: string): { seen: () => string[]; end: () => Promise<number | null> } {
  const child = machine.spawn(['watch', agent, '--json']);
  let out = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text));
  const texts = (): string[] =>
    out
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => (JSON.parse(line) as { payload: { message: string } }).payload.message);
  return {
    seen: texts,
    end: () =>
      new Promise((resolve) => {
        child.once('close', resolve);
        child.kill('SIGINT');
      }),
  };
}

test('watch prints what waits and then each message as it arrives, and acknowledges nothing', async () => {
  const { machines } = await mesh(['studio', 'laptop']);
  const [studio, laptop] = machines;
  await laptop.json(['checkin', 'qa']);
  await studio.json(['sync']);
  await studio.json(['send', 'laptop', 'note', '--message', 'before']);
  const watch = watching(laptop, 'qa');
  await until(() => watch.seen().length === 1, { what: 'the message that waits is printed' });
  await studio.json(['send', 'laptop', 'note', '--message', 'after']);
  await laptop.json(['send', '*', 'note', '--from', 'qa', '--message', 'its own']);
  await studio.json(['send', 'laptop', 'note', '--message', 'last']);
  await until(() => watch.seen().length >= 3, { what: 'what arrives is printed' });
  expect(watch.seen()).toEqual(['before', 'after', 'last']);
  expect(await watch.end()).toBe(0);
  expect((await laptop.json(['inbox', 'qa'])).messages).toHaveLength(4);
});

test('watch needs a session', async () => {
  const machine = await solo();
  expect(await machine.refused(['watch', 'nobody'])).toMatchObject({ exitCode: 4, name: 'not_checked_in' });
});

test('a message that is taken back leaves the inbox, in a commit that says so, and its key is free again', async () => {
  const { machines } = await mesh(['studio', 'laptop']);
  const [studio, laptop] = machines;
  await laptop.json(['checkin', 'qa']);
  await studio.json(['sync']);
  const args = ['laptop', 'note', '--message', 'wrong', '--key', 'k'] as const;
  const sent = await studio.json(['send', ...args]);
  await laptop.json(['sync']);
  expect((await laptop.json(['inbox', 'qa'])).messages).toHaveLength(1);
  expect(await studio.json(['unsend', String(sent.message_id)])).toMatchObject({ id: sent.id, to: 'laptop' });
  await laptop.json(['sync']);
  expect((await laptop.json(['inbox', 'qa'])).messages).toEqual([]);
  expect((await studio.json(['sent'])).messages).toMatchObject([{ id: sent.id, state: 'expired', unsent: true }]);
  expect(studio.git(['log', '-1', '--format=%s', 'mesh/studio'])).toBe('unsend note studio -> laptop');
  expect(await studio.refused(['unsend', sent.id])).toMatchObject({ exitCode: 4, name: 'conflict' });
  const again = await studio.json(['send', ...args]);
  expect([again.duplicate, again.id === sent.id]).toEqual([undefined, false]);
});

test('what was read, another machine’s message and a freeze are not taken back', async () => {
  const { machines } = await mesh(['studio', 'laptop']);
  const [studio, laptop] = machines;
  await laptop.json(['checkin', 'qa']);
  await studio.json(['sync']);
  const { id } = await studio.json(['send', 'laptop', 'note']);
  await laptop.json(['inbox', 'qa']);
  expect(await laptop.refused(['unsend', id])).toMatchObject({ exitCode: 4, name: 'forbidden' });
  await laptop.json(['ack', 'qa', id]);
  await studio.json(['sync']);
  const read = await studio.refused(['unsend', id]);
  expect([read.name, read.message.includes('laptop/qa')]).toEqual(['conflict', true]);
  const freeze = await studio.json(['freeze', '--repo', 'shop']);
  expect(await studio.refused(['unsend', freeze.id])).toMatchObject({ exitCode: 4, name: 'conflict' });
  expect(await studio.refused(['unsend', '99999'])).toMatchObject({ exitCode: 3, name: 'unknown_message' });
});

test('trace tells a message’s whole life from the commits, on either side', async () => {
  const { machines } = await mesh(['studio', 'laptop']);
  const [studio, laptop] = machines;
  await laptop.json(['checkin', 'qa']);
  await studio.json(['checkin', 'boss']);
  const { id, message_id: n } = await studio.json(['send', 'laptop', 'note', '--from', 'boss', '--message', 'hi']);
  await laptop.json(['sync']);
  await laptop.json(['ack', 'qa', id]);
  await studio.json(['sync']);
  const life = await studio.json(['trace', String(n)]);
  expect(life.id).toBe(id);
  expect(life.events.map(({ event, machine, agent, signature }) => [event, machine, agent, signature])).toEqual([
    ['send', 'studio', 'boss', 'good'],
    ['receipt', 'laptop', null, 'good'],
    ['ack', 'laptop', 'qa', 'good'],
  ]);
  expect((await laptop.json(['trace', id])).events.map(({ commit }) => commit)).toEqual(
    life.events.map(({ commit }) => commit),
  );
  for (const { commit, subject } of life.events) expect(studio.git(['log', '-1', '--format=%s', commit])).toBe(subject);
  const text = await studio.run(['trace', id]);
  expect(text.stdout).toMatch(/send note boss -> laptop: hi[\s\S]*receipt studio[\s\S]*qa read note/);
  expect(await studio.refused(['trace', '01KBEST0000000000000000001'])).toMatchObject({ exitCode: 3 });
});

test('freeze and unfreeze hold merges and let them go on, each for the repository it names', async () => {
  const machine = await solo();
  const guard = (repo: string): Promise<number | null> =>
    machine.run(['guard', '--repo', repo]).then(({ code }) => code);
  await machine.json(['freeze', '--repo', 'shop', '--reason', 'cutting 2.1']);
  await machine.json(['freeze', '--ttl', '3600']);
  expect([await guard('shop'), await guard('site')]).toEqual([20, 20]);
  expect((await machine.json(['unfreeze'])).freezes).toMatchObject([{ repo: null }]);
  expect([await guard('shop'), await guard('site')]).toEqual([20, 0]);
  const refused = await machine.refused(['unfreeze', '--repo', 'site']);
  expect([refused.exitCode, refused.message.includes('In force: shop')]).toEqual([3, true]);
  const ended = await machine.json(['unfreeze', '--repo', 'shop']);
  expect(ended).toMatchObject({
    freezes: [{ repo: 'shop', reason: 'cutting 2.1' }],
    sent: [{ msg_type: 'freeze-clear' }],
  });
  expect(await guard('shop')).toBe(0);
});

test('log --html writes the events as one page, and what cannot be written says so', async () => {
  const machine = await solo();
  await machine.json(['checkin', 'qa']);
  await machine.json(['send', 'solo', 'note', '--message', '</script><b>bold</b>']);
  const written = await machine.run(['log', '--html', 'log.html', '--json']);
  expect(JSON.parse(written.stdout)).toEqual({ file: join(machine.root, 'log.html'), events: 4 });
  const page = readFileSync(join(machine.root, 'log.html'), 'utf8');
  expect(page).toContain('\\u003cb\\u003ebold');
  expect(page).not.toContain('<b>');
  const refused = await machine.run(['log', '--html', 'no/such/folder.html']);
  expect([refused.code, refused.stderr.includes('its folder does not exist')]).toEqual([2, true]);
  expect(readdirSync(machine.root).filter((name) => name.includes('.tmp'))).toEqual([]);
});

test('log says the same as text, as JSON lines and as a page, whatever narrows it', async () => {
  const { machines } = await mesh(['studio', 'laptop']);
  const [studio, laptop] = machines;
  await laptop.json(['checkin', 'qa']);
  await studio.json(['send', 'laptop', 'note', '--payload', '{"repo":"shop"}']);
  const { id } = await studio.json(['send', 'laptop', 'note', '--to-agent', 'qa', '--message', 'read me']);
  await laptop.json(['sync']);
  await laptop.json(['ack', 'qa', id]);
  await studio.json(['sync']);
  const counts = await Promise.all(
    [
      ['--message', id],
      ['--unacked', '--type', 'note', '--repo', 'shop'],
      ['--machine', 'laptop', '--limit', '2'],
    ].map(async (filters) => {
      const [text, json, page] = [
        await studio.run(['log', ...filters]),
        await studio.run(['log', ...filters, '--json']),
        await studio.run(['log', ...filters, '--html', `${filters.length}.html`, '--json']),
      ];
      const events = json.stdout.trimEnd().split('\n').map((line) => JSON.parse(line) as { subject: string; commit: string }); // prettier-ignore
      expect(JSON.parse(page.stdout)).toMatchObject({ events: events.length });
      const written = readFileSync(join(studio.root, `${filters.length}.html`), 'utf8');
      const lines = text.stdout.trimEnd().split('\n');
      for (const [at, { subject, commit }] of events.entries()) {
        expect(lines[at]).toContain(subject.slice(0, 20));
        expect(written).toContain(commit.slice(0, 12));
      }
      expect(lines.length).toBe(events.length);
      return events.length;
    }),
  );
  expect(counts).toEqual([2, 1, 2]);
});
