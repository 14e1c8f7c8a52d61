import { existsSync } from 'node:fs';
import { type Browser, type Page, chromium } from 'playwright-core';
import { onTestFinished } from 'vitest';

const wanted = process.env['GIT_MESH_TEST_CHROMIUM'];
const places = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
];

/** A Chromium of this system, or of GIT_MESH_TEST_CHROMIUM; null where there is none. */
export const chromiumPath: string | null = wanted ?? places.find((path) => existsSync(path)) ?? null;

export const launchChromium = (): Promise<Browser> =>
  // Root, as whom containers run tests, gets no sandbox; the pages are our own.
  chromium.launch({ ...(chromiumPath === null ? {} : { executablePath: chromiumPath }), args: ['--no-sandbox'] });

/** A page of its own for the running test, with what no page of ours may do. */
export async function watchedPage(browser: Browser): Promise<{ page: Page; wrongs: string[]; requests: string[] }> {
  const context = await browser.newContext({ viewport: { width: 1200, height: 900 } });
  onTestFinished(() => context.close());
  const page = await context.newPage();
  const wrongs: string[] = [];
  const requests: string[] = [];
  page.on('request', (request) => requests.push(request.url()));
  page.on('pageerror', (error) => wrongs.push(`error: ${error.message}`));
  page.on('console', (said) => {
    if (said.type() === 'error') wrongs.push(`console: ${said.text()}`);
  });
  page.on('dialog', (dialog) => {
    wrongs.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  return { page, wrongs, requests };
}

/** Pixels of the timeline of which `condition` (over r, g, b and a) holds. */
export const timelinePixels = (page: Page, condition: string): Promise<number> =>
  page.evaluate<number>(`(() => {
    const canvas = document.getElementById('timeline');
    const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
    let count = 0;
    for (let i = 0; i < data.length; i += 4) {
      const [r, g, b, a] = data.subarray(i, i + 4);
      if (${condition}) count += 1;
    }
    return count;
  })()`);

/** By how much the page is wider than its window. */
export const overflow = (page: Page): Promise<number> =>
  page.evaluate<number>('document.documentElement.scrollWidth - window.innerWidth');
