import { appendFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { account } from './account.js';
import { measureMesh } from './measure-mesh.js';
import { liveThrough } from './mesh-year.js';

const usage = `npm run year -- [--machines 20] [--messages-a-day 500] [--days 5] [--rounds-a-day 4] [--seed 1] [--dir FOLDER] [--out FILE]

Lives through so many days of a mesh in a few processes, with their clocks set back, and measures at days 1, 2, 5, 10, 25,
50, 100, 150, 200, 250 and at the last. Figures go to --out (a JSON document a line) and to the terminal. 250 days take hours;
--dir /dev/shm is quicker.
`;

const { values } = parseArgs({
  options: {
    machines: { type: 'string', default: '20' },
    'messages-a-day': { type: 'string', default: '500' },
    days: { type: 'string', default: '5' },
    'rounds-a-day': { type: 'string', default: '4' },
    seed: { type: 'string', default: '1' },
    dir: { type: 'string', default: tmpdir() },
    out: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
});

const looked = new Set([1, 2, 5, 10, 25, 50, 100, 150, 200, 250]);

function say(found: object): void {
  const line = `${JSON.stringify(found)}\n`;
  process.stdout.write(line);
  if (values.out !== undefined) appendFileSync(values.out, line);
}

async function run(): Promise<void> {
  const root = mkdtempSync(join(values.dir, 'mesh-year-'));
  const days = Number(values.days);
  const started = performance.now();
  try {
    const options = {
      root,
      days,
      machines: Number(values.machines),
      messagesADay: Number(values['messages-a-day']),
      roundsADay: Number(values['rounds-a-day']),
      seed: Number(values.seed),
    };
    await liveThrough(options, async (day, year) => {
      process.stderr.write(`  day ${day} after ${Math.round((performance.now() - started) / 1000)} s\n`);
      if (looked.has(day) || day === days) say(await measureMesh(root, year, day));
      if (day === days) {
        await year.close();
        say(account(year));
      }
    });
  } finally {
    rmSync(root, { recursive: true, force: true, maxRetries: 5 });
  }
}

if (values.help) process.stdout.write(usage);
else await run();
