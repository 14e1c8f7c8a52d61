import { decodeAck } from '../domain/ack-record.js';
import { agentKey, isUlid } from '../domain/ids.js';
import type { AgentKey, Handle, Oid, Ulid } from '../domain/ids.js';
import { lookupPath } from '../domain/tree-edit.js';
import { MeshError } from '../errors.js';
import type { MessageEntry } from '../store/ports.js';
import { maxRecordBytes } from './branches.js';
import type { MeshContext } from './context.js';

const extension = '.yaml';

/** Tells whether an agent of this machine has acknowledged a message, from the own branch's tip alone. */
export async function ackedHere(ctx: MeshContext, key: AgentKey): Promise<(entry: MessageEntry) => Promise<boolean>> {
  const filesOf = await ackFilesHere(ctx);
  return async (entry) => {
    const blob = (await filesOf(entry.sender)).get(entry.id);
    return blob !== undefined && (await agentsThatAcked(ctx, blob)).has(key);
  };
}

/** The files in the own branch's tip that acknowledge a sender's messages, by the message. Each folder is looked into once. */
export async function ackFilesHere(ctx: MeshContext): Promise<(sender: Handle) => Promise<ReadonlyMap<Ulid, Oid>>> {
  const { tree } = await ctx.branches.ownBranch();
  const readTree = (oid: Oid): ReturnType<typeof ctx.store.objects.tree> => ctx.store.objects.tree(oid);
  const folders = new Map<Handle, ReadonlyMap<Ulid, Oid>>();
  return async (sender) => {
    const known = folders.get(sender);
    if (known !== undefined) return known;
    const entry = await lookupPath({ root: tree, readTree, path: `acks/${sender}` });
    const files = entry === null ? [] : await readTree(entry.oid);
    const acks = new Map<Ulid, Oid>();
    for (const { name, mode, oid } of files) {
      const id = name.slice(0, -extension.length);
      if (mode === '100644' && name.endsWith(extension) && isUlid(id)) acks.set(id, oid);
    }
    folders.set(sender, acks);
    return acks;
  };
}

/** The keys of the agents named in an ack file; none where it cannot be read (doctor names it). */
export async function agentsThatAcked(ctx: MeshContext, blob: Oid): Promise<ReadonlySet<AgentKey>> {
  try {
    const record = decodeAck(await ctx.store.objects.blob(blob, maxRecordBytes));
    return new Set(record.acks.map((ack) => agentKey(ack.agent)));
  } catch (error) {
    if (error instanceof MeshError) return new Set();
    throw error;
  }
}
