import { resolve } from 'node:path';
import type { AuditEvent } from '@git-mesh/core';
import type { OpenMesh } from '@git-mesh/sync';
import type { Invocation } from '../invocation.js';
import { writeWhole } from '../write-whole.js';
import { auditData } from './audit-data.js';
import { auditPage } from './audit-page.js';

export interface AuditPageResult {
  /** An absolute path on this machine, for its own user. */
  file: string;
  events: number;
}

/** Writes the page, as a whole or not at all. */
export async function writeAuditPage(
  call: Invocation,
  mesh: OpenMesh,
  wanted: { file: string; events: AsyncIterable<AuditEvent> },
): Promise<AuditPageResult> {
  const { runtime } = call;
  const events: AuditEvent[] = [];
  for await (const event of wanted.events) events.push(event);
  const { mesh: named, machine } = await mesh.api.status();
  const facts = { mesh: named.name, machine, madeAt: new Date(runtime.now()).toISOString() };
  const file = resolve(runtime.cwd(), wanted.file);
  await writeWhole(file, await auditPage(auditData(events, runtime.now()), facts), { store: await call.storeDir() });
  return { file, events: events.length };
}
