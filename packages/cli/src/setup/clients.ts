import { posix, win32 } from 'node:path';
import type { HookClient } from '../hook/clients.js';

export type Scope = 'user' | 'project';

/** One thing of ours in a client's configuration. */
export type Entry =
  | { kind: 'json server'; file: string; path: readonly string[]; value: object }
  | { kind: 'toml server'; file: string; table: string; value: { command: string; args: readonly string[] } }
  | { kind: 'hook'; file: string; path: readonly string[]; value: object; preset: object };

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

/**
 * What git-mesh adds to a client's configuration, as the client's own documentation describes it. Empty where the client
 * has no such scope.
 */
export function entriesOf(client: HookClient, scope: Scope, program: Program, place: Place): Entry[] {
  const { command } = program;
  const args = [...program.args, 'mcp'];
  const join = (...parts: string[]): string => (place.platform === 'win32' ? win32 : posix).join(...parts);
  const base = scope === 'user' ? place.home : place.cwd;
  const hook = (event: string): string => `${program.line} hook ${client} ${event}`;
  const nested = (event: string, timeout: number): object => ({
    hooks: [{ type: 'command', command: hook(event), timeout }],
  });
  switch (client) {
    case 'claude-code': {
      const file = join(base, '.claude', 'settings.json');
      return [
        {
          kind: 'json server',
          file: scope === 'user' ? join(base, '.claude.json') : join(base, '.mcp.json'),
          path: ['mcpServers', 'mesh'],
          value: { type: 'stdio', command, args },
        },
        ...['UserPromptSubmit', 'Stop'].map((event): Entry => {
          return { kind: 'hook', file, path: ['hooks', event], value: nested(event, hookSeconds), preset: {} };
        }),
      ];
    }
    case 'codex': {
      if (scope === 'project') return [];
      const folder = place.env['CODEX_HOME'] ?? join(base, '.codex');
      const file = join(folder, 'hooks.json');
      return [
        { kind: 'toml server', file: join(folder, 'config.toml'), table: 'mcp_servers.mesh', value: { command, args } },
        ...['UserPromptSubmit', 'Stop'].map((event): Entry => {
          return { kind: 'hook', file, path: ['hooks', event], value: nested(event, hookSeconds), preset: {} };
        }),
      ];
    }
    case 'cursor': {
      const file = join(base, '.cursor', 'hooks.json');
      return [
        {
          kind: 'json server',
          file: join(base, '.cursor', 'mcp.json'),
          path: ['mcpServers', 'mesh'],
          value: { command, args },
        },
        { kind: 'hook', file, path: ['hooks', 'stop'], value: { command: hook('stop') }, preset: { version: 1 } },
      ];
    }
    case 'gemini': {
      const file = join(base, '.gemini', 'settings.json');
      return [
        { kind: 'json server', file, path: ['mcpServers', 'mesh'], value: { command, args } },
        ...['BeforeAgent', 'AfterAgent'].map((event): Entry => {
          // Its timeouts are in milliseconds.
          return { kind: 'hook', file, path: ['hooks', event], value: nested(event, hookSeconds * 1000), preset: {} };
        }),
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
