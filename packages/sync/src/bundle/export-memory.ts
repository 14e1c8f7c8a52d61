import { join } from 'node:path';
import {
  MeshError,
  agentKey,
  isAgentId,
  isErrno,
  isOid,
  isRefName,
  toIso,
  visibleText,
  writeDurable,
} from '@git-mesh/core';
import type { MeshContext, Oid, RefName } from '@git-mesh/core';

export type Tips = ReadonlyMap<RefName, Oid>;

/** What was exported last under one name, in `mesh/exports`: local state that never enters git. */
export class ExportMemory {
  readonly #mesh: MeshContext;
  readonly #name: string;
  readonly #file: string;

  /**
   * @param name names a receiver, as in `usb` or `lab-b`; compared without regard to case
   * @throws MeshError `invalid_argument`
   */
  constructor(mesh: MeshContext, name: string) {
    if (!isAgentId(name)) {
      throw new MeshError(
        'invalid_argument',
        `--since-last "${visibleText(name, { maxLength: 80 })}" is no name: expected 1 to 64 letters, digits, ".", "_" or "-", ` +
          'beginning with a letter or digit, that no operating system keeps for itself',
      );
    }
    this.#mesh = mesh;
    this.#name = name;
    this.#file = join(mesh.store.dir, 'mesh', 'exports', `${agentKey(name)}.json`);
  }

  /** Empty where nothing was exported under this name; so for a damaged file, after which the next export is a full one. */
  async read(): Promise<Tips> {
    const { store, logger } = this.#mesh;
    let text: string;
    try {
      text = Buffer.from(await store.fs.readFile(this.#file)).toString('utf8');
    } catch (error) {
      if (isErrno(error, 'ENOENT')) return new Map();
      throw error;
    }
    const tips = parseTips(text);
    if (tips === null) logger.warn(`mesh/exports holds a damaged file for ${this.#name}: it counts as absent`);
    return tips ?? new Map<RefName, Oid>();
  }

  /** Durable. */
  async write(tips: Tips): Promise<void> {
    const { store, clock } = this.#mesh;
    const folder = join(store.dir, 'mesh', 'exports');
    await store.fs.makeFolder(folder);
    const value = { name: this.#name, at: toIso(clock.now()), tips: Object.fromEntries(tips) };
    await writeDurable(store.fs, this.#file, Buffer.from(`${JSON.stringify(value, null, 2)}\n`));
  }
}

function parseTips(text: string): Map<RefName, Oid> | null {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
  const tips: unknown = typeof value === 'object' && value !== null && 'tips' in value ? value.tips : null;
  if (typeof tips !== 'object' || tips === null) return null;
  const read = new Map<RefName, Oid>();
  for (const [ref, oid] of Object.entries(tips as Record<string, unknown>)) {
    if (!isRefName(ref) || typeof oid !== 'string' || !isOid(oid)) return null;
    read.set(ref, oid);
  }
  return read;
}
