import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** A temporary folder that holds everything the demo makes. */
export interface Workspace {
  readonly dir: string;
  /** The environment for git, and with a machine's name for its git-mesh. Nothing of the user's git settings is in it. */
  env(machine?: string): Record<string, string>;
  remove(): Promise<void>;
}

/** Settings of the user or of a surrounding git command (a hook, an alias) that would reach into the demo. */
const foreign = /^(?:GIT_|XDG_)/i;

export async function createWorkspace(
  parent: string,
  userEnv: Readonly<Record<string, string | undefined>>,
): Promise<Workspace> {
  const dir = await mkdtemp(join(parent, 'git-mesh-demo-'));
  const remove = (): Promise<void> => rm(dir, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
  try {
    const home = join(dir, 'home');
    await mkdir(home);
    await writeFile(join(dir, 'gitconfig'), '');
    const base: Record<string, string> = {};
    for (const [name, value] of Object.entries(userEnv)) {
      if (value !== undefined && !foreign.test(name)) base[name] = value;
    }
    Object.assign(base, {
      HOME: home,
      USERPROFILE: home,
      GIT_CONFIG_GLOBAL: join(dir, 'gitconfig'),
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_TERMINAL_PROMPT: '0',
    });
    return {
      dir,
      env: (machine) => (machine === undefined ? { ...base } : { ...base, GIT_MESH_DIR: join(dir, machine) }),
      remove,
    };
  } catch (error) {
    await remove();
    throw error;
  }
}
