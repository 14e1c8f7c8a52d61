import { get } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { MeshError } from '@git-mesh/core';
import { describe, expect, it, onTestFinished } from 'vitest';
import { LiveFeed } from './live-feed.js';
import type { LiveView } from './live-view.js';
import { startUiServer } from './ui-server.js';

const open = (url: string, headers: Record<string, string> = {}): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    get(url, { agent: false, headers }, resolve).on('error', reject);
  });

/** The feed only passes a view on. */
const view = (n: number): LiveView => ({ state: { n }, audit: { n } }) as unknown as LiveView;

async function served(read: () => Promise<LiveView>, onBug: (error: unknown) => void = () => undefined) {
  const feed = new LiveFeed({ read, onBug });
  const files = new Map([['', { type: 'text/html', text: 'page' }]]);
  const server = await startUiServer({ port: 0, files, feed });
  onTestFinished(() => server.close());
  return { feed, url: `${server.url}events`, server };
}

/** All that came up to and with `end`. */
async function upTo(response: IncomingMessage, end: string): Promise<string> {
  let text = '';
  for await (const part of response.iterator({ destroyOnReturn: false })) {
    text += String(part);
    if (text.includes(end)) return text;
  }
  throw new Error(`ended without ${end}: ${text}`);
}

describe('the live page’s feed', () => {
  it('looks at the mesh for open pages alone, and sends each only what it has not got', async () => {
    let looks = 0;
    const { feed, url } = await served(() => Promise.resolve(view(Math.floor(++looks / 2))));
    feed.changed();
    expect(looks).toBe(0);
    const response = await open(url);
    await upTo(response, 'event: audit\ndata: {"n":0}');
    feed.changed();
    expect(await upTo(response, 'event: audit\ndata: {"n":1}')).not.toContain('{"n":0}');
    feed.changed();
    feed.changed();
    expect((await upTo(response, 'event: audit\ndata: {"n":2}')).match(/"n":1/g)).toBeNull();
  });

  it('tells what keeps it from looking, and takes that back', async () => {
    let fails = true;
    const { feed, url } = await served(() =>
      fails ? Promise.reject(new MeshError('locked', 'in use')) : Promise.resolve(view(1)),
    );
    const response = await open(url);
    await upTo(response, 'event: trouble\ndata: "in use"\n');
    fails = false;
    feed.changed();
    expect(await upTo(response, 'event: audit')).toContain('event: trouble\ndata: ""\n');
  });

  it('hands a bug on instead of showing it', async () => {
    const bug = new Error('a bug');
    let seen: (error: unknown) => void = () => undefined;
    const told = new Promise((resolve) => (seen = resolve));
    const { url } = await served(
      () => Promise.reject(bug),
      (error) => {
        seen(error);
      },
    );
    await open(url);
    expect(await told).toBe(bug);
  });

  it('has 16 pages at once at the most, and takes another when one has gone', async () => {
    const { url } = await served(() => Promise.resolve(view(1)));
    const pages = await Promise.all(Array.from({ length: 16 }, () => open(url)));
    expect(pages.map(({ statusCode }) => statusCode)).toEqual(Array.from({ length: 16 }, () => 200));
    expect((await open(url)).statusCode).toBe(503);
    pages[0]?.destroy();
    await expect.poll(async () => (await open(url)).statusCode).toBe(200);
  });

  it('says which port cannot be had', async () => {
    const { server, feed } = await served(() => Promise.resolve(view(1)));
    const port = Number(new URL(server.url).port);
    await expect(startUiServer({ port, files: new Map(), feed })).rejects.toMatchObject({
      errorName: 'conflict',
      message: expect.stringContaining(`port ${port} of 127.0.0.1: another program listens there`) as string,
    });
  });

  it('answers no other site that has the token, but opens from a link', async () => {
    const { server } = await served(() => Promise.resolve(view(1)));
    const link = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' };
    const status = async (name: string, headers: Record<string, string>): Promise<number | undefined> => {
      const response = await open(`${server.url}${name}`, headers);
      response.destroy();
      return response.statusCode;
    };
    expect([
      await status('', { 'sec-fetch-site': 'cross-site' }),
      await status('', { 'sec-fetch-site': 'same-site', 'sec-fetch-mode': 'no-cors' }),
      await status('', { ...link, 'sec-fetch-dest': 'iframe' }),
      await status('events', link),
      await status('events', { origin: 'http://localhost:1' }),
      await status('', link),
      await status('events', { 'sec-fetch-site': 'same-origin' }),
    ]).toEqual([403, 403, 403, 403, 403, 200, 200]);
  });
});
