import { describe, expect, it } from 'vitest';
import type { TomlServerEntry } from './clients.js';
import { planSetup } from './plan.js';

const entry: TomlServerEntry = {
  kind: 'toml server',
  file: '/c.toml',
  path: ['mcp_servers', 'mesh'],
  value: { command: '/n', args: ['/g/git-mesh.mjs', 'mcp'] },
};
const ours = 'command = "/n", args = ["/g/git-mesh.mjs", "mcp"]';

async function run(text: string, isRemoval = false): Promise<string | null> {
  const [change] = await planSetup([entry], { isRemoval, read: () => Promise.resolve(text) });
  return change?.after ?? null;
}

describe('TOML in a form that setup does not edit', () => {
  it.each([
    [
      'x = 1\nmcp_servers = { docs = { command = "s3cret" } }\n',
      'mcp_servers = { … } (line 2)',
      `let there be in its braces: mesh = { ${ours} }`,
    ],
    ['mcp_servers = {}', 'mcp_servers = { … } (line 1)', `let there be in its braces: mesh = { ${ours} }`],
    [
      '"mcp_servers" = { mesh = { command = "git-mesh" }, }\n',
      '"mcp_servers" = { … } (line 1)',
      `let there be in its braces: mesh = { ${ours} }`,
    ],
    [
      'a = [\n  1, # [\n  2,\n]\n[mcp_servers]\nmesh = { command = "git-mesh" }\n',
      'mesh = { … } (line 6)',
      `put in its place: mesh = { ${ours} }`,
    ],
    [
      'mcp_servers . mesh = { command = "git-mesh" }\n',
      'mcp_servers . mesh = { … } (line 1)',
      `put in its place: mcp_servers . mesh = { ${ours} }`,
    ],
    [
      'mcp_servers.mesh.env.A = "="\nmcp_servers.mesh.command = "git-mesh"\n',
      'mcp_servers.mesh.env.A = … (line 1)',
      'put in the place of such lines: mcp_servers.mesh.command = "/n" and mcp_servers.mesh.args = ["/g/git-mesh.mjs", "mcp"]',
    ],
    [
      '[mcp_servers]\nmesh.args = [\n  "git-mesh",\n]\n',
      'mesh.args = [ … ] (line 2)',
      'put in the place of such lines: mesh.command = "/n" and mesh.args = ["/g/git-mesh.mjs", "mcp"]',
    ],
    [
      '[mcp_servers.mesh]\ncommand = "git-mesh"\n[b]\n[mcp_servers.mesh.env]\nA = "1"\n',
      '[mcp_servers.mesh] is in parts that stand apart (lines 1, 4)',
      'put them together',
    ],
    ['[[mcp_servers]]\nname = "z"\n', '[[mcp_servers]] (line 1)', 'make it a table, or give it another name'],
    ['mcp_servers = [1]\n', 'mcp_servers = [ … ] (line 1)', 'make it a table, or give it another name'],
    ['[mcp_servers]\nmesh = "z"\n', 'mesh = … (line 2)', 'make it a table, or give it another name'],
  ])('is told from broken TOML, with what stands there and what to write: %j', async (text, found, way) => {
    const message = new RegExp(`^/c.toml has ${literal(found)}, which is a form of TOML that is not edited here, so nothing was changed; by hand: ${literal(way)}`); // prettier-ignore
    await expect(run(text)).rejects.toMatchObject({ errorName: 'conflict', message: expect.stringMatching(message) as string }); // prettier-ignore
    await expect(run(text)).rejects.not.toThrow('s3cret');
  });

  it.each([
    `mcp_servers = { mesh = { ${ours} } }\n`,
    `[mcp_servers]\nmesh = { ${ours} }\n`,
    'mcp_servers.mesh.command = "/n"\nmcp_servers.mesh.args = ["/g/git-mesh.mjs", "mcp"]\n',
  ])('is left as it is once what was told stands there: %j', async (text) => {
    expect(await run(text)).toBe(text);
  });

  it.each([
    ['mcp_servers = { mesh = { command = "git-mesh" } }\n', 'take mesh = { … } out of its braces'],
    ['[mcp_servers]\nmesh = { command = "git-mesh" }\n', 'take it out'],
    ['mcp_servers.mesh.command = "git-mesh"\n', 'take out all that begins with mcp_servers.mesh.'],
  ])('is not taken out either: %j', async (text, way) => {
    await expect(run(text, true)).rejects.toThrow(`by hand: ${way}`);
  });

  it.each([
    '[mcp_servers."mesh"]\ncommand = "z"\n',
    '[ mcp_servers . mesh ] # hi\ncommand = "z"\n',
    '[mcp_servers.mesh.env]\nA = "z"\n',
  ])('is no matter where another server has the name: %j', async (text) => {
    await expect(run(text)).rejects.toThrow('another [mcp_servers.mesh]');
    expect(await run(text, true)).toBe(text);
  });
});

describe('TOML of any other form', () => {
  it.each([
    'mcp_servers.docs.command = "x"\n',
    'mcp_servers.docs = { command = "x" }\n',
    '[mcp_servers]\ndocs.args = [\n  "a=[", # {\n]\n',
    "[mcp_servers.'do cs']\ncommand = 'x'\n",
    'a = { b = 1,\n  c = 2, }\n',
    "'mcp_servers.mesh' = { command = 'git-mesh' }\n",
  ])('is added to, and given back: %j', async (text) => {
    const added = await run(text);
    expect(added).toContain('[mcp_servers.mesh]');
    expect(await run(added ?? '', true)).toBe(text);
  });
});

const literal = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
