import { get } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { once } from 'node:events';
import { pathToFileURL } from 'node:url';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { mesh, solo } from '../machines.js';
import { chromiumPath, launchChromium, overflow, timelinePixels, watchedPage } from './chromium.js';

const markup = '</script><script>alert(1)</script><img src="//x.invalid/i" onerror=alert(2)>"\'&<!--';
/** A status may not have the rest: characters that turn the line around or end it. */
const hostile = `${markup}\u202egnp\u2028`;

const statusOf = (url: string, headers: Record<string, string> = {}, method = 'GET'): Promise<number | undefined> =>
  new Promise((resolve, reject) => {
    get(url, { headers, method, agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode);
    }).on('error', reject);
  });

const reason = chromiumPath === null ? ' (no Chromium here: set GIT_MESH_TEST_CHROMIUM)' : '';

describe.skipIf(chromiumPath === null)(`in a browser${reason}`, () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchChromium();
  });
  afterAll(() => browser.close());

  test('the written log opens from its file, filters, and lets no text act', async () => {
    const { machines, root } = await mesh(['studio', 'laptop']);
    const [studio, laptop] = machines;
    await studio.json(['checkin', 'boss', '--repo', 'shop', '--status', markup]);
    const note = await studio.json(['send', 'laptop', 'note', '--from', 'boss', '--message', hostile]);
    await studio.json(['send', 'laptop', 'ping', '--from', 'boss', '--message', 'please look', '--key', 'k']);
    await studio.json(['freeze', '--repo', 'shop', '--reason', 'release']);
    await laptop.json(['checkin', 'qa']);
    await laptop.json(['ack', 'qa', note.id]);
    await studio.json(['sync']);
    const file = join(root, 'log.html');
    expect((await studio.run(['log', '--html', file])).code).toBe(0);

    const { page, wrongs, requests } = await watchedPage(browser);
    await page.goto(pathToFileURL(file).href);
    const count = (): Promise<string> => page.locator('#count').innerText();
    const lines = (await studio.run(['log', '--json'])).stdout.trim().split('\n');
    const all = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
    const total = (fits: (event: Record<string, unknown>) => boolean): string =>
      `${all.filter(fits).length} of ${all.length} events`;
    expect(await count()).toBe(total(() => true));
    expect(await page.locator('#list').innerText()).toContain('<script>alert(1)</script>');

    for (const [name, value] of [
      ['machine', 'laptop'],
      ['agent', 'boss'],
      ['event', 'send'],
      ['type', 'ping'],
    ] as const) {
      await page.locator(`[name=${name}]`).selectOption(value);
      expect(await count(), name).toBe(total((event) => event[name] === value));
      await page.locator(`[name=${name}]`).selectOption('');
    }
    await page.locator('[name=repo]').selectOption('shop');
    // The freeze, and the session that is checked in there.
    const ofShop = ['freeze', 'checkin'];
    expect(await count()).toBe(
      total(({ type, event, agent }) => ofShop.includes(String(type ?? event)) && agent !== 'qa'),
    );
    await page.locator('[name=repo]').selectOption('');
    await page.locator('[name=text]').fill('PLEASE look');
    expect(await count()).toBe(total((event) => event['type'] === 'ping'));
    await page.locator('[name=text]').fill('');
    for (const reference of [note.id, `#${note.message_id}`]) {
      await page.locator('[name=message]').fill(reference);
      // Its sending, the receipt and the acknowledgement.
      const events = await page.locator('#list .row .what').allInnerTexts();
      expect(events.map((text) => text.split(' ')[0]).sort()).toEqual(expect.arrayContaining(['ack', 'send']));
      expect(events.filter((text) => text.startsWith('send ping'))).toEqual([]);
    }
    await page.locator('[name=message]').fill('');
    await page.locator('[name=unacked]').check();
    expect(await count()).toBe(total(({ event, id }) => event === 'send' && id !== note.id));
    await page.locator('[name=unacked]').uncheck();
    for (const [name, time, fits] of [
      ['since', '2099-01-01T00:00:00', false],
      ['until', '2099-01-01T00:00:00', true],
      ['until', '2001-01-01T00:00:00', false],
    ] as const) {
      await page.locator(`[name=${name}]`).fill(time);
      expect(await count(), `${name} ${time}`).toBe(total(() => fits));
      await page.locator(`[name=${name}]`).fill('');
    }

    const faintRed = 'r > 150 && g < 80 && b < 80 && a > 20 && a < 80';
    expect(await timelinePixels(page, faintRed), 'the band of a freeze').toBeGreaterThan(50);
    const green = 'a > 200 && r < 60 && g > 100 && b < 90';
    const before = await timelinePixels(page, green);
    await page.locator('#list .row', { hasText: 'send note' }).click();
    expect(await timelinePixels(page, green), 'the line to its acknowledgement').toBeGreaterThan(before + 20);
    expect(await page.locator('#detail li').count()).toBeGreaterThan(1);

    await page.setViewportSize({ width: 390, height: 800 });
    expect(await overflow(page)).toBeLessThanOrEqual(0);
    await page.emulateMedia({ colorScheme: 'dark' });
    const ground = (): Promise<string> => page.evaluate<string>('getComputedStyle(document.body).backgroundColor');
    expect(await ground()).toBe('rgb(18, 22, 27)');
    await page.emulateMedia({ media: 'print' });
    await page.evaluate("window.dispatchEvent(new Event('beforeprint'))");
    expect(await page.locator('form').isVisible()).toBe(false);
    expect(await page.locator('#list .row').count()).toBe(all.length);
    expect(await ground(), 'paper is white').toBe('rgb(255, 255, 255)');
    expect(wrongs).toEqual([]);
    expect(requests).toEqual([pathToFileURL(file).href]);
  });

  test('the live page shows what happens as it happens, to whoever has its address, and says when it is cut off', async () => {
    const machine = await solo();
    await machine.json(['checkin', 'qa', '--status', markup]);
    const commits = machine.commits();
    const ui = machine.spawn(['ui', '--json']);
    const [line] = (await once(ui.stdout.setEncoding('utf8'), 'data')) as [string];
    const { url } = JSON.parse(line) as { url: string };
    const { page, wrongs, requests } = await watchedPage(browser);
    await page.goto(url);
    await page.locator('#link', { hasText: 'Live' }).waitFor();
    await page.locator('#agents', { hasText: 'qa@solo' }).waitFor();
    expect(await page.locator('#agents').innerText()).toContain('<script>alert(1)</script>');
    expect(machine.commits(), 'who looks writes nothing').toBe(commits);

    const { id } = await machine.json(['send', 'solo', 'note', '--message', `hello ${hostile}`]);
    const row = page.locator('#sent tr', { hasText: 'hello' });
    await row.filter({ hasText: 'delivered' }).waitFor();
    await page.locator('#list .row', { hasText: 'send note' }).waitFor();
    await machine.json(['ack', 'qa', id]);
    await row.filter({ hasText: 'acked' }).filter({ hasText: 'by qa@solo' }).waitFor();
    await machine.json(['freeze', '--repo', 'shop', '--reason', 'release']);
    await page.locator('#alarms li', { hasText: 'Freeze of shop: release' }).waitFor();
    await page.setViewportSize({ width: 390, height: 800 });
    expect(await overflow(page)).toBeLessThanOrEqual(0);
    expect(wrongs).toEqual([]);
    expect(requests.filter((each) => !each.startsWith(url))).toEqual(
      ['data:,'].filter((each) => requests.includes(each)),
    );

    const { origin, host, port } = new URL(url);
    expect([
      await statusOf(url),
      await statusOf(`${url}events`, { origin: 'http://evil.example' }),
      await statusOf(`${origin}/`),
      await statusOf(`${origin}/${'A'.repeat(43)}/events`),
      await statusOf(url, { host: `evil.example:${port}` }),
      await statusOf(url, { host }, 'POST'),
      await statusOf(`${url}../package.json`),
    ]).toEqual([200, 403, 403, 403, 403, 405, 403]);

    ui.kill('SIGTERM');
    const [code] = (await once(ui, 'exit')) as [number | null];
    expect(code).toBe(0);
    await page.locator('#link', { hasText: 'Connection lost' }).waitFor();
    expect(await row.innerText(), 'what was known stays').toContain('acked');
  });

  test('a page of a server that was killed says so once another one answers there, and asks no more', async () => {
    const machine = await solo();
    const start = async (port: string): Promise<{ ui: ReturnType<typeof machine.spawn>; url: string }> => {
      const ui = machine.spawn(['ui', '--json', '--port', port]);
      const [line] = (await once(ui.stdout.setEncoding('utf8'), 'data')) as [string];
      return { ui, url: (JSON.parse(line) as { url: string }).url };
    };
    const first = await start('0');
    const { page, requests } = await watchedPage(browser);
    await page.goto(first.url);
    await page.locator('#link', { hasText: 'Live' }).waitFor();
    first.ui.kill('SIGKILL');
    await page.locator('#link', { hasText: 'git mesh ui does not answer' }).waitFor();
    const second = await start(new URL(first.url).port);
    await page.locator('#link', { hasText: 'Open the address that git mesh ui printed' }).waitFor();
    const asked = requests.length;

    // All places but none left for the page that comes last, until one goes.
    const streams = await Promise.all(
      Array.from(
        { length: 16 },
        () =>
          new Promise<IncomingMessage>((resolve, reject) => {
            get(`${second.url}events`, { agent: false }, resolve).on('error', reject);
          }),
      ),
    );
    const { page: late } = await watchedPage(browser);
    await late.goto(second.url);
    await late.locator('#link', { hasText: 'too many of its pages are open' }).waitFor();
    for (const stream of streams) stream.destroy();
    await late.locator('#link', { hasText: 'Live' }).waitFor();
    expect(requests.length).toBe(asked);
  });
});
