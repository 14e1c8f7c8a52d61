import { execFileSync } from 'node:child_process';
import { stockGit } from '../stock-git.js';
import type { Year } from './mesh-year.js';

/** By stock git, from the shared repository: what became of every message, and how many commits of each kind there are. */
export function account({ remote, members }: Year): Record<string, number> {
  const format =
    '%(trailers:key=Mesh-Event,valueonly,separator=%x2C)%x00%(trailers:key=Mesh-Message,valueonly,separator=%x2C)';
  const log = execFileSync('git', ['--git-dir', remote, 'log', '--all', `--format=${format}`], {
    encoding: 'utf8',
    maxBuffer: 1 << 30,
  });
  const counts: Record<string, number> = {};
  const by = new Map<string, string[]>();
  for (const line of log.split('\n')) {
    const [event = '', ids = ''] = line.split('\0');
    if (event === '') continue;
    counts[`${event} commits`] = (counts[`${event} commits`] ?? 0) + 1;
    const known = by.get(event) ?? [];
    for (const id of ids.split(',')) if (id !== '') known.push(id);
    by.set(event, known);
  }
  const sent = by.get('send') ?? [];
  const acked = new Set(by.get('ack'));
  const expired = new Set(by.get('expire'));
  const standing = new Set<string>();
  for (const { handle } of members) {
    for (const path of stockGit(['ls-tree', '-r', '--name-only', `refs/heads/mesh/${handle}`, 'messages/'], {
      cwd: remote,
    }).split('\n')) {
      standing.add(path.slice(path.lastIndexOf('/') + 1, -'.yaml'.length));
    }
  }
  counts['messages sent'] = sent.length;
  counts['sent twice'] = sent.length - new Set(sent).size;
  counts['acknowledged'] = sent.filter((id) => acked.has(id)).length;
  counts['expired unread'] = sent.filter((id) => !acked.has(id) && expired.has(id)).length;
  counts['still standing'] = sent.filter((id) => !acked.has(id) && !expired.has(id) && standing.has(id)).length;
  counts['unaccounted'] = sent.filter((id) => !acked.has(id) && !expired.has(id) && !standing.has(id)).length;
  for (const repository of [remote, ...members.map(({ store }) => store)]) {
    const said = stockGit(['fsck', '--strict', '--no-dangling', '--no-progress'], { cwd: repository });
    if (said !== '') throw new Error(`git fsck --strict: ${said}`);
  }
  counts['stores that git fsck --strict finds sound'] = members.length + 1;
  return counts;
}
