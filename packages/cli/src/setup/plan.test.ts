import { describe, expect, it } from 'vitest';
import { hookClients } from '../hook/clients.js';
import type { HookClient } from '../hook/clients.js';
import { entriesOf } from './clients.js';
import type { Entry, Scope } from './clients.js';
import { planSetup } from './plan.js';

const home = '/home/ada';
const place = { home, cwd: '/work/shop', env: {}, platform: 'linux' };
const program = { command: '/usr/bin/node', args: ['/opt/git-mesh.mjs'], line: '/usr/bin/node /opt/git-mesh.mjs' };
const entries = (client: HookClient, scope: Scope = 'user', given = program): Entry[] =>
  entriesOf(client, scope, given, place);

/** Files after a setup or its removal; a file that is gone is left out. */
async function after(
  list: readonly Entry[],
  files: Readonly<Record<string, string>>,
  isRemoval = false,
): Promise<Record<string, string>> {
  const read = (path: string): Promise<string | null> => Promise.resolve(files[path] ?? null);
  const next = new Map(Object.entries(files));
  for (const { path, after: text } of await planSetup(list, { isRemoval, read })) {
    if (text === null) next.delete(path);
    else next.set(path, text);
  }
  return Object.fromEntries(next);
}

/** Files as the clients' documentation shows them, with other things in them. */
const before: Record<HookClient, Record<string, string>> = {
  'claude-code': {
    [`${home}/.claude.json`]: `{
  "numStartups": 12,
  "mcpServers": {
    "github": { "type": "http", "url": "https://example.com/mcp" }
  },
  "projects": {}
}
`,
    [`${home}/.claude/settings.json`]: `{
    "permissions": { "allow": ["Bash(npm run test:*)"] },
    "hooks": {
        "Stop": [
            { "hooks": [{ "type": "command", "command": "say done" }] }
        ]
    }
}
`,
  },
  codex: {
    [`${home}/.codex/config.toml`]: `model = "gpt-5"  # mine

[mcp_servers.docs]
command = "npx"
args = ["-y", "docs"]
`,
  },
  cursor: {
    [`${home}/.cursor/mcp.json`]: '{\r\n\t"mcpServers": {\r\n\t\t"web": { "command": "web" }\r\n\t}\r\n}\r\n',
    [`${home}/.cursor/hooks.json`]: '{ "version": 1, "hooks": { "stop": [{ "command": "./lint.sh" }] } }\n',
  },
  gemini: {
    [`${home}/.gemini/settings.json`]: `{
  // what I like
  "theme": "GitHub",
  "selectedAuthType": "oauth-personal",
}
`,
  },
  vscode: {
    [`${home}/.config/Code/User/mcp.json`]: `{
	"servers": {
		"memory": { "type": "stdio", "command": "npx" }
	},
	"inputs": []
}
`,
  },
};

/** What of them is not ours. */
const others = [
  'Bash(npm run test:*)',
  'say done',
  '# mine',
  '"-y", "docs"',
  '"web"',
  './lint.sh',
  '// what I like',
  '"memory"',
];

describe.each(hookClients)('setup of %s', (client) => {
  it('keeps all else, changes nothing the second time, and undoes itself', async () => {
    const files = before[client];
    const added = await after(entries(client), files);
    expect(added).not.toEqual(files);
    expect(added).toMatchSnapshot();
    expect(await after(entries(client), added)).toEqual(added);
    for (const [path, text] of Object.entries(files)) {
      for (const phrase of others) if (text.includes(phrase)) expect(added[path]).toContain(phrase);
      if (text.includes('\r\n')) expect(added[path]?.replaceAll('\r\n', '')).not.toContain('\n');
    }
    const undone = await after(entries(client), added, true);
    expect(undone).toEqual(files);
  });

  it('makes files that are not there, and removes them again', async () => {
    const added = await after(entries(client), {});
    expect(Object.keys(added).length).toBeGreaterThan(0);
    for (const [path, text] of Object.entries(added)) if (path.endsWith('.json')) JSON.parse(text);
    expect(await after(entries(client), added, true)).toEqual({});
  });

  it('takes the place of what an older git-mesh left', async () => {
    const older = { command: '/old/node', args: ['/old/git-mesh.mjs'], line: '/old/node /old/git-mesh.mjs' };
    const files = before[client];
    const updated = await after(entries(client), await after(entries(client, 'user', older), files));
    expect(updated).toEqual(await after(entries(client), files));
    expect(JSON.stringify(updated)).not.toContain('/old/');
  });
});

describe('setup leaves alone', () => {
  it.each([
    ['a file that is no JSON', { [`${home}/.cursor/mcp.json`]: '{ "mcpServers": ' }, /no JSON object/],
    ['a file that is a list', { [`${home}/.cursor/mcp.json`]: '[]' }, /no JSON object/],
    [
      'another’s server of that name',
      { [`${home}/.cursor/mcp.json`]: '{"mcpServers":{"mesh":{"command":"istio"}}}' },
      /another mcpServers.mesh/,
    ],
    [
      'hooks of a form it does not know',
      { [`${home}/.cursor/hooks.json`]: '{"hooks":{"stop":"./lint.sh"}}' },
      /no list of hooks/,
    ],
    ['a list where an object should be', { [`${home}/.cursor/mcp.json`]: '{"mcpServers": []}' }, /no JSON object/],
    ['null where an object should be', { [`${home}/.cursor/hooks.json`]: '{"hooks": null}' }, /no JSON object/],
  ])('%s, and says why', async (_what, files, why) => {
    await expect(after(entries('cursor'), files)).rejects.toThrow(why);
  });

  it.each([
    [
      'cursor',
      'mcp.json',
      '{\n"mcpServers": {},\n"mcpServers": {"mesh": {"command": "git-mesh"}}}',
      /"mcpServers" twice .* line 2 and on line 3/,
    ],
    [
      'cursor',
      'mcp.json',
      '{"mcpServers": {\n"mesh": {"command": "git-mesh"},\n"me\\u0073h": {}}}',
      /"mesh" twice .* line 2 and on line 3/,
    ],
    ['cursor', 'mcp.json', '{"mcpServers": {"mesh": {"command": "git-mesh",\n"command": "x"}}}', /"command" twice/],
    ['cursor', 'hooks.json', '{"hooks": {"stop": []}, "hooks": {}}', /"hooks" twice/],
    ['codex', 'hooks.json', '{"hooks": {"Stop": [{"hooks": [], "hooks": []}]}}', /"hooks" twice/],
    ['codex', 'config.toml', 'a = 1\n[mcp_servers.mesh\n', /no TOML .*line 2/],
    ['codex', 'config.toml', '[mcp_servers.mesh]\ncommand = "git-mesh"\n[mcp_servers.mesh]\n', /no TOML .*line 3/],
  ] as const)('%s’s %s with what is read in two ways or not at all: %j', async (client, name, text, why) => {
    const files = { [`${home}/.${client}/${name}`]: text };
    await expect(after(entries(client), files)).rejects.toThrow(why);
    await expect(after(entries(client), files, true)).rejects.toThrow(why);
  });

  it('what is not there to be removed', async () => {
    const files = { [`${home}/.cursor/mcp.json`]: '{ "mcpServers": {} }\n' };
    expect(await after(entries('cursor'), files, true)).toEqual(files);
    expect(await after(entries('cursor'), {}, true)).toEqual({});
  });
});

describe('what its owner gave our entry or put beside it', () => {
  const older = { command: '/old/node', args: ['/old/git-mesh.mjs'], line: '/old/node /old/git-mesh.mjs' };

  it('stays when the program moved', async () => {
    const files = await after(entries('codex', 'user', older), {});
    const toml = `${home}/.codex/config.toml`;
    const hooks = `${home}/.codex/hooks.json`;
    const given = {
      [toml]: `${files[toml] ?? ''}startup_timeout_sec = 20 # slow\n\n[mcp_servers.mesh.env]\nA = "b"\n`,
      [hooks]: files[hooks]?.replace('codex Stop', 'codex Stop --agent qa').replace('10 }', '30 }') ?? '',
    };
    const updated = await after(entries('codex'), given);
    expect(updated[toml]).toBe(given[toml].replaceAll('/old/node', '/usr/bin/node').replaceAll('/old/', '/opt/'));
    expect(updated[hooks]).toContain('/opt/git-mesh.mjs hook codex Stop --agent qa"');
    expect(updated[hooks]).toContain('30 }');
    expect((await after(entries('codex'), updated, true))[toml]).toBe('');
  });

  it.each([
    ['claude-code', `${home}/.claude.json`, 'mcpServers'],
    ['cursor', `${home}/.cursor/mcp.json`, 'mcpServers'],
    ['gemini', `${home}/.gemini/settings.json`, 'mcpServers'],
  ] as const)('stays when %s starts git-mesh by its name so far, as people add it', async (client, file, key) => {
    const entry = { type: 'stdio', command: 'git-mesh', args: ['mcp'], env: { A: 'b' } };
    const files = { [file]: `${JSON.stringify({ [key]: { mesh: entry } }, null, 2)}\n` };
    const updated = await after(entries(client), files);
    const { [key]: servers } = JSON.parse(updated[file] ?? '') as Record<string, { mesh: object }>;
    expect(servers?.mesh).toEqual({ ...entry, command: '/usr/bin/node', args: ['/opt/git-mesh.mjs', 'mcp'] });
    expect(await after(entries(client), updated)).toEqual(updated);
    const removed = await after(entries(client), updated, true);
    expect(JSON.parse(removed[file] ?? '')).toEqual({ [key]: {} });
  });

  it('stays when ours is taken out, in one group with it too', async () => {
    const file = `${home}/.claude/settings.json`;
    const text = `{"hooks":{"Stop":[{"matcher":"","hooks":[
      {"type":"command","command":"git-mesh hook claude-code Stop"}, // ours
      {"type":"command","command":"echo git-mesh is done"} // mine
    ]}]}}`;
    expect((await after(entries('claude-code'), { [file]: text }, true))[file]).toBe(
      text.replace(/\n *\{"type":"command","command":"git-mesh hook claude-code Stop"\},/, ''),
    );
  });
});

describe('a project’s files', () => {
  it('name the program and no path of this machine', async () => {
    const byName = { command: 'git-mesh', args: [], line: 'git-mesh' };
    const files = await after(entries('claude-code', 'project', byName), {});
    expect(Object.keys(files)).toEqual(['/work/shop/.mcp.json', '/work/shop/.claude/settings.json']);
    expect(JSON.stringify(files)).not.toContain('/opt');
  });
});
