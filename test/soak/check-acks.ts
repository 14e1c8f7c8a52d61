import type { Finding } from './check.js';
import type { Ledger } from './ledger.js';
import type { Observed } from './observed.js';

/** What was acknowledged has come back to its sender, by the right agent, once; and nothing else has. */
export function checkAcks(ledger: Ledger, observed: Observed): Finding[] {
  const findings: Finding[] = [];
  const tried = new Set<string>();
  const accepted = new Map<string, string[]>();
  for (const { machine, agent, ids, outcome } of ledger.acks) {
    for (const id of ids) {
      tried.add(`${machine}/${agent} ${id}`);
      if (outcome !== 'accepted') continue;
      accepted.set(id, [...(accepted.get(id) ?? []), `${machine}/${agent}`]);
    }
  }
  for (const { handle, acks, sent, sentInHistory } of observed.machines) {
    const there = new Set<string>();
    for (const { machine, agent, id } of acks) {
      const ack = `${machine}/${agent} ${id}`;
      if (there.has(ack)) findings.push({ kind: 'wrong ack', text: `${handle} has the acknowledgement ${ack} twice` });
      there.add(ack);
      if (!tried.has(ack))
        findings.push({ kind: 'wrong ack', text: `${handle} has ${ack}, which nobody acknowledged` });
    }
    for (const id of new Set(sentInHistory)) {
      for (const by of accepted.get(id) ?? []) {
        if (there.has(`${by} ${id}`)) continue;
        findings.push({
          kind: 'lost ack',
          text: `${by} acknowledged ${id} of ${handle}, whose store does not have that`,
        });
      }
    }
    for (const message of sent) {
      const shown = message.acks.map(({ machine, agent }) => `${machine}/${agent}`);
      for (const by of shown) {
        if (tried.has(`${by} ${message.id}`)) continue;
        findings.push({
          kind: 'wrong ack',
          text: `${handle} shows that ${by} acknowledged ${message.id}, which it did not`,
        });
      }
      if (new Set(shown).size < shown.length) {
        findings.push({ kind: 'wrong ack', text: `${handle} shows an acknowledgement of ${message.id} twice` });
      }
      for (const by of accepted.get(message.id) ?? []) {
        if (shown.includes(by)) continue;
        findings.push({ kind: 'lost ack', text: `${handle} does not show that ${by} acknowledged ${message.id}` });
      }
    }
  }
  return findings;
}
