import type { ReclaimResult } from '@git-mesh/core';
import type { Render } from '../view.js';

export const reclaimView: Render<ReclaimResult> = (result, { style, own }) => {
  const where = `${style.bold(result.machine)} on the remote ${style.bold(result.remote)}`;
  const kept = result.kept_as === null ? '' : ` What was there is kept in the store as ${result.kept_as}.`;
  return {
    text:
      result.replaced !== null
        ? `Replaced the branch of ${where}.${kept}`
        : result.sync.error === null
          ? `The branch of ${where} is this store’s.`
          : `Nothing was replaced: this store’s branch could not be put on the remote ${style.bold(result.remote)}.`,
    kind: 'confirmation',
    warnings: result.sync.error === null ? [] : [own(result.sync.error.message)],
  };
};
