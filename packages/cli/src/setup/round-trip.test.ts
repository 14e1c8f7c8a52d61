import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hookClients } from '../hook/clients.js';
import type { HookClient } from '../hook/clients.js';
import { entriesOf } from './clients.js';
import type { Entry } from './clients.js';
import { planSetup } from './plan.js';

const place = { home: '/h', cwd: '/p', env: {}, platform: 'linux' };
const program = { command: 'git-mesh', args: [], line: 'git-mesh' };

/** One file's text after a step; null where it is not there. */
async function step(entries: readonly Entry[], text: string | null, isRemoval: boolean): Promise<string | null> {
  const [change] = await planSetup(entries, { isRemoval, read: () => Promise.resolve(text) });
  if (change === undefined) throw new Error('one file was given');
  return change.after;
}

const files = hookClients.flatMap((client: HookClient) => {
  const all = entriesOf(client, 'project', program, place);
  return [...new Set(all.map(({ file }) => file))].map((file) => all.filter((entry) => entry.file === file));
});
const jsonFiles = files.filter(([entry]) => entry?.kind !== 'toml server');
const tomlFiles = files.filter(([entry]) => entry?.kind === 'toml server');

async function expectUndone(entries: readonly Entry[], text: string | null): Promise<void> {
  const added = await step(entries, text, false);
  expect(added).not.toBe(text);
  expect(await step(entries, added, false)).toBe(added);
  expect(await step(entries, added, true)).toBe(text);
}

/** White space and comments between two tokens. */
const gap = (eol: string) =>
  fc
    .array(
      fc.oneof(
        { weight: 4, arbitrary: fc.constantFrom('', ' ', '  ', '\t', eol, `${eol}  `, `${eol}\t`) },
        {
          weight: 1,
          arbitrary: fc.constantFrom(`// a "mesh": {}, git-mesh${eol}`, '/* b, } ] */', `//${eol}`, `/*${eol}*/`),
        },
      ),
      { maxLength: 3 },
    )
    .map((parts) => parts.join(''));

/** Names that matter here, and others. */
const key = fc.constantFrom('mcpServers', 'servers', 'hooks', 'Stop', 'stop', 'UserPromptSubmit', 'AfterAgent', 'version', 'x', '__proto__', '"'); // prettier-ignore

function json(eol: string): fc.Arbitrary<string> {
  const space = gap(eol);
  const list = (open: string, close: string, item: fc.Arbitrary<string>): fc.Arbitrary<string> =>
    fc
      .record({ items: fc.array(fc.tuple(space, item, space), { maxLength: 3 }), inner: space, comma: fc.boolean() })
      .map(({ items, inner, comma }) => {
        const text = items.map(([before, each, after]) => `${before}${each}${after}`).join(',');
        return `${open}${text}${comma && items.length > 0 ? ',' : ''}${inner}${close}`;
      });
  const { root } = fc.letrec<{ root: string; object: string; hooks: string; value: string }>((tie) => {
    const pair = (name: fc.Arbitrary<string>, value: fc.Arbitrary<string>): fc.Arbitrary<string> =>
      fc.tuple(name, space, space, value).map(([k, a, b, v]) => `${JSON.stringify(k)}${a}:${b}${v}`);
    const events = list('{', '}', pair(key, list('[', ']', tie('value'))));
    const member = fc.oneof(
      pair(fc.constantFrom('mcpServers', 'servers'), tie('object')),
      pair(fc.constant('hooks'), events),
      pair(fc.constantFrom('x', 'y', '__proto__', '"'), tie('value')),
    );
    return {
      root: list('{', '}', member),
      object: list('{', '}', pair(key, tie('value'))),
      hooks: events,
      value: fc.oneof(
        { maxDepth: 2, withCrossShrink: true },
        fc.constantFrom('1', 'true', 'null', '"s"', '"// no"', '"a,}"', '-1.50e3', '{}', '[]', '{ }', '[ ]'),
        tie('object'),
        list('[', ']', tie('value')),
      ),
    };
  });
  return fc.tuple(fc.constantFrom('', '\uFEFF'), space, root, space).map((parts) => parts.join(''));
}

const anyJson = fc.constantFrom('\n', '\r\n').chain(json);

describe('setup and then --remove', () => {
  it('give a JSON file back byte for byte, whatever its layout, comments and commas', async () => {
    let tried = 0;
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...jsonFiles), anyJson, async (entries, text) => {
        try {
          await step(entries, text, false);
        } catch (error) {
          // A key twice, or something else where the servers should be: it is left alone.
          expect(String(error)).toContain('nothing was changed');
          return;
        }
        tried += 1;
        await expectUndone(entries, text);
      }),
      { numRuns: 600 },
    );
    expect(tried).toBeGreaterThan(250);
  });

  it.each([
    null,
    '',
    ' ',
    '\n',
    '\r\n\r\n',
    '\uFEFF',
    '{}',
    '{}\n',
    '{ }',
    '{\n}\n',
    '{"mcpServers":{}}',
    '{"servers":{}}',
    '{"servers": {\n}}',
    '{ "servers": {} }\n',
    '{"hooks":{}}',
    '{"hooks":{"Stop":[]}}',
    '{"hooks":{"Stop":[ ],},}',
    '{ "version": 1 }\n',
    '{ "version": 1 }',
    '{ "version": 1, "hooks": {} }\n',
  ])('give back %j', async (text) => {
    for (const entries of jsonFiles) await expectUndone(entries, text);
  });

  it.each([
    null,
    '',
    ' ',
    '\n',
    '\n\n',
    '\r\n',
    '\uFEFF',
    'a = 1',
    'a = 1\n',
    'a = 1\r\n',
    'a = 1\n\n',
    'a = 1\n  ',
    '# c',
    '# c\n',
    '[mcp_servers]\n',
    '[a]\nb = """\n[mcp_servers.mesh]\n"""\n',
    'a = [\n[1],\n]',
    '[mcp_servers.docs]\ncommand = "x"\n\n[x."mesh"]\r\n',
  ])('give back the TOML %j', async (text) => {
    for (const entries of tomlFiles) await expectUndone(entries, text);
  });

  it('leave what others wrote meanwhile', async () => {
    for (const entries of jsonFiles) {
      const added = await step(entries, '{"x":1}', false);
      const grown = added?.replace('"x":1', '"x":1 /* mine */, "y": [] ');
      expect(await step(entries, grown ?? null, true)).toBe('{"x":1 /* mine */, "y": [] }');
    }
    for (const entries of tomlFiles) {
      const added = `${String(await step(entries, 'a = 1\n', false))}# mine\n\n[b]\n`;
      expect(await step(entries, added, true)).toBe('a = 1\n# mine\n\n[b]\n');
    }
  });

  it('never delete a file that a client or a formatter has laid out anew', async () => {
    for (const entries of jsonFiles) {
      const added = await step(entries, '{}', false);
      for (const indent of [0, 2]) {
        const anew = JSON.stringify(JSON.parse(added ?? ''), null, indent);
        const left = await step(entries, anew, true);
        expect(left).not.toBeNull();
        expect(left).not.toContain('git-mesh');
      }
    }
  });
});
