import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { cacheFolder, type UserPlaces } from './cache-folder.js';
import { CodeStore } from './code-store.js';
import { PartLoader } from './part-loader.js';
import type { UserId } from './own-folder.js';

/** Names all code in the bundle. The build puts in both. */
declare const bundleId: string;
/** The file that the command line begins with. */
declare const mainPart: string;

/** What the launcher knows of its process. */
export interface StartHost extends UserPlaces {
  /** The bundle's folder. */
  bundle: string;
  /** The arguments after the program's name. */
  argv: readonly string[];
  execArgv: readonly string[];
  /** Node's. */
  version: string;
  arch: string;
  pid: number;
  uid: UserId;
  /** Milliseconds since 1970. */
  now: () => number;
  /** Whether Node maps stacks to the sources, which it does for modules that it loads itself. */
  sourceMapsEnabled: boolean;
  /** The launcher's own. */
  require: (id: string) => unknown;
  /** How much code the engine has compiled in all. */
  compiledBytes: () => number;
}

/** Code that was compiled beyond what was kept is worth a new file from this proportion on. */
const worthKeeping = 1.1;

/** To ask the engine how much it compiled takes a millisecond: one process in eight does. Windows counts them in fours. */
const looksForMore = (pid: number): boolean => Math.floor(pid / 4) % 8 === 0;

/** Loads the command line and hands over to it, where it may with the compiled code of this command's last run. */
export function start(host: StartHost): void {
  const path = join(host.bundle, mainPart);
  const store = storeOf(host);
  if (store === null) {
    mainOf(host.require(path))();
    return;
  }
  let kept = store.read();
  const loader = new PartLoader({
    bundle: host.bundle,
    require: host.require,
    codeOf: (name) => kept?.parts.get(name),
  });
  let isKept = false;
  const keepCode = (): void => {
    if (isKept) return;
    isKept = true;
    const held = kept;
    kept = null;
    if (loader.refused > 0 && held?.afterRefusal === true) return;
    const isLess = held === null || loader.missing > 0 || loader.refused > 0;
    if (!isLess && !looksForMore(host.pid)) return;
    const compiledBytes = host.compiledBytes();
    if (!isLess && compiledBytes < held.compiledBytes * worthKeeping) return;
    // Parts that only other runs load stay: runs that differ would else write the file in turns.
    const parts = new Map([...(held?.parts ?? []), ...loader.compiledParts()]);
    store.write({ compiledBytes, afterRefusal: loader.refused > 0, parts });
  };
  mainOf(loader.load(path))({ keepCode });
}

type Main = (options?: { keepCode: () => void }) => unknown;

function mainOf(exports: unknown): Main {
  return (exports as { main: Main }).main;
}

/** Null where code is not to be kept, or cannot be. */
function storeOf(host: StartHost): CodeStore | null {
  const { env, execArgv, uid, now } = host;
  // The engine reports coverage, and Node maps stacks, of code that was compiled from its source.
  if (env['GIT_MESH_NO_CODE_CACHE'] || env['NODE_V8_COVERAGE'] || host.sourceMapsEnabled) return null;
  const command = commandIn(host.argv);
  const folder = knownCacheFolder(host);
  if (command === null || folder === null) return null;
  // The engine takes no code that was compiled under other flags, and names a script as when it was compiled.
  const setting = crc32(JSON.stringify([host.bundle, execArgv, env['NODE_OPTIONS'] ?? '']));
  const key = [bundleId, host.version, host.arch, setting.toString(16)].join('-');
  return new CodeStore({ folder: join(folder, 'git-mesh', 'code'), key, command, uid, now });
}

function knownCacheFolder(host: StartHost): string | null {
  try {
    return cacheFolder(host);
  } catch {
    // A user without a home, for whatever reason the system gives.
    return null;
  }
}

/** The first word that is no option: commands run each other's code little. Null for what cannot be a command. */
function commandIn(argv: readonly string[]): string | null {
  const word = argv.find((each, index) => !each.startsWith('-') && argv[index - 1] !== '--dir') ?? 'none';
  return /^[a-z][a-z-]{0,31}$/.test(word) ? word : null;
}
