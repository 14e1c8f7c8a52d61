import type { RemoteAddedResult, RemoteRemovedResult, RemotesResult } from '@git-mesh/core';
import type { Render } from '../view.js';
import { remoteLines } from './status.js';

export const remotesView: Render<RemotesResult> = ({ remotes }, context) => ({
  text:
    remotes.length === 0
      ? 'This mesh has no remote: add one with git-mesh remote add NAME URL.'
      : remotes.flatMap((remote) => remoteLines(remote, context)).join('\n'),
  kind: 'answer',
});

export const remoteAddedView: Render<RemoteAddedResult> = (result, { style, own }) => {
  const had = {
    mesh: 'it has this mesh already',
    empty: 'it was empty',
    repository: 'its other branches are left alone',
  };
  const added = result.remotes.find(({ name }) => name === result.name);
  const why = added?.error === null || added === undefined ? '' : `: ${own(added.error.message)}`;
  return {
    text: `Added the remote ${style.bold(result.name)} ${own(result.url)} (${had[result.found]}).`,
    kind: 'confirmation',
    warnings: [
      ...(result.writable
        ? []
        : [`nothing of this machine is there yet${why}. It is tried again; see git-mesh remote list`]),
      ...result.problems.map(({ message }) => own(message)),
    ],
  };
};

export const remoteRemovedView: Render<RemoteRemovedResult> = (result, { style, own }) => ({
  text: `Removed the remote ${style.bold(result.name)} ${own(result.url)}. The repository itself stays as it is.`,
  kind: 'confirmation',
  warnings:
    result.remotes.length === 0 ? ['this mesh has no remote now: nothing comes in or goes out until one is added'] : [],
});
