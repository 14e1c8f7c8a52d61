import type { Problem, WentBack } from '@git-mesh/core';
import { charterHandle } from './charter-check.js';

/** So many at once are no attack on one of them: the repository as a whole was put back. */
const manyBranches = 3;
const short = (oid: string): string => oid.slice(0, 10);

/** What went back at a remote, for a person: one problem for a whole repository, else one a branch. */
export function wentBackProblems(remote: string, events: readonly WentBack[], own: string): Problem[] {
  return events.flatMap((event) => (isWhole(event) ? [whole(remote, event)] : each(remote, event, own)));
}

/** A repository without a charter is one that was made anew, unless all else is where it was. */
function isWhole({ reset, count, branches }: WentBack): boolean {
  return count >= manyBranches || (reset && branches.some(({ handle }) => handle !== charterHandle));
}

function whole(remote: string, event: WentBack): Problem {
  const { at, reset, count, branches, back_at: back } = event;
  const names = branches.slice(0, manyBranches).map(({ handle }) => handle);
  const more = count > names.length ? `, and ${count - names.length} more` : '';
  const what = reset ? 'was emptied or made anew' : 'went back as a whole';
  return {
    kind: 'remote_rewound',
    message:
      `the repository of remote ${remote} ${what}, seen at ${at}: ${count === 1 ? 'the branch' : 'the branches'} ` +
      `${names.join(', ')}${more} had been further there. Nothing is lost in the stores that had it; ` +
      (back === undefined
        ? 'each machine puts its branch back, and this one what it has of others'
        : `all was there again at ${back}`),
    fix: `was it put back from a backup? Then nothing needs to be done; else ask whoever runs it who may push there. ${toldUntil}`,
  };
}

function each(remote: string, { at, branches, back_at: back }: WentBack, own: string): Problem[] {
  return branches.map(({ handle, from, to }) => ({
    kind: 'branch_rewound',
    machine: handle,
    message:
      `the branch of ${handle} on remote ${remote} was ${to === null ? `deleted (it had been at ${short(from)})` : `put back from commit ${short(from)} to ${short(to)}`}, ` +
      `seen at ${at}: no machine of a mesh does that, somebody who may push there did. The history here is whole; ` +
      (back === undefined
        ? `${handle === own ? 'the next push of this machine' : `${handle}, or this machine,`} puts it back`
        : `it was there again at ${back}`),
    fix: `ask whoever runs the repository who may push there, and have the branch protected against force and deletion. ${toldUntil}`,
  }));
}

const toldUntil = 'This is told until a day after it was put back';
