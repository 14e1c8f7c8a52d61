import { posix, win32 } from 'node:path';
import type { HookClient } from '../hook/clients.js';

export type Scope = 'user' | 'project';

export interface JsonServerEntry {
  kind: 'json server';
  file: string;
  path: readonly string[];
  value: { type?: 'stdio'; command: string; args: readonly string[] };
}

/** A hook in the list at `path`, in a group of its own (`{ "hooks": [ … ] }`) where the client groups them. */
export interface HookEntry {
  kind: 'hook';
  file: string;
  path: readonly string[];
  isNested: boolean;
  /** What the command ends in, by which ours is known: `hook cursor stop`. */
  call: string;
  value: { type?: 'command'; command: string; timeout?: number };
  /** What a file that is made for it has besides. */
  preset: object;
}

export type JsonEntry = JsonServerEntry | HookEntry;

export interface TomlServerEntry {
  kind: 'toml server';
  file: string;
  /** The names of its table. */
  path: readonly [group: string, name: string];
  value: { command: string; args: readonly string[] };
}

/** One thing of ours in a client's configuration. */
export type Entry = JsonEntry | TomlServerEntry;

export interface Program {
  /** What starts git-mesh: its name where others read the file too, else Node and the launcher by their paths. */
  command: string;
  args: readonly string[];
  /** The same as one line for a shell. */
  line: string;
}

export interface Place {
  home: string;
  /** The project's folder. */
  cwd: string;
  env: Readonly<Record<string, string | undefined>>;
  platform: string;
}

/** A client waits at most this long for a hook: it needs a part of a second. */
const hookSeconds = 10;

/** What git-mesh adds to a client's configuration, as the client's own documentation describes it. */
export function entriesOf(client: HookClient, scope: Scope, program: Program, place: Place): Entry[] {
  const { command } = program;
  const args = [...program.args, 'mcp'];
  const join = (...parts: string[]): string => (place.platform === 'win32' ? win32 : posix).join(...parts);
  const base = scope === 'user' ? place.home : place.cwd;
  const call = (event: string): string => `hook ${client} ${event}`;
  const nested = (file: string, events: readonly string[], timeout: number): Entry[] =>
    events.map((event) => ({
      kind: 'hook',
      file,
      path: ['hooks', event],
      isNested: true,
      call: call(event),
      value: { type: 'command', command: `${program.line} ${call(event)}`, timeout },
      preset: {},
    }));
  switch (client) {
    case 'claude-code':
      return [
        {
          kind: 'json server',
          file: scope === 'user' ? join(base, '.claude.json') : join(base, '.mcp.json'),
          path: ['mcpServers', 'mesh'],
          value: { type: 'stdio', command, args },
        },
        ...nested(join(base, '.claude', 'settings.json'), ['UserPromptSubmit', 'Stop'], hookSeconds),
      ];
    case 'codex': {
      const folder = (scope === 'user' ? place.env['CODEX_HOME'] : undefined) ?? join(base, '.codex');
      return [
        {
          kind: 'toml server',
          file: join(folder, 'config.toml'),
          path: ['mcp_servers', 'mesh'],
          value: { command, args },
        },
        ...nested(join(folder, 'hooks.json'), ['UserPromptSubmit', 'Stop'], hookSeconds),
      ];
    }
    case 'cursor':
      return [
        {
          kind: 'json server',
          file: join(base, '.cursor', 'mcp.json'),
          path: ['mcpServers', 'mesh'],
          value: { command, args },
        },
        {
          kind: 'hook',
          file: join(base, '.cursor', 'hooks.json'),
          path: ['hooks', 'stop'],
          isNested: false,
          call: call('stop'),
          value: { command: `${program.line} ${call('stop')}` },
          preset: { version: 1 },
        },
      ];
    case 'gemini': {
      const file = join(base, '.gemini', 'settings.json');
      return [
        { kind: 'json server', file, path: ['mcpServers', 'mesh'], value: { command, args } },
        // Its timeouts are in milliseconds.
        ...nested(file, ['BeforeAgent', 'AfterAgent'], hookSeconds * 1000),
      ];
    }
    case 'vscode':
      return [
        {
          kind: 'json server',
          file: scope === 'user' ? join(vscodeFolder(place), 'mcp.json') : join(base, '.vscode', 'mcp.json'),
          path: ['servers', 'mesh'],
          value: { type: 'stdio', command, args },
        },
      ];
  }
}

function vscodeFolder({ home, env, platform }: Place): string {
  switch (platform) {
    case 'win32':
      return win32.join(env['APPDATA'] ?? win32.join(home, 'AppData', 'Roaming'), 'Code', 'User');
    case 'darwin':
      return posix.join(home, 'Library', 'Application Support', 'Code', 'User');
    default:
      return posix.join(env['XDG_CONFIG_HOME'] ?? posix.join(home, '.config'), 'Code', 'User');
  }
}
