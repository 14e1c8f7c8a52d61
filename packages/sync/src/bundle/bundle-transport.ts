import type { Oid, RefName } from '@git-mesh/core';
import type { Transport } from '../transport/port.js';

/**
 * What stands for bundles among the remotes: its tracking refs are `refs/remotes/_bundle/…`, its state is kept under
 * this name. No remote can be called so, as no handle begins with `_`.
 */
export const bundleRemote = '_bundle';

/**
 * A bundle whose pack is in the store already, as a remote that has exactly these branches: what is fetched from it goes
 * through the same checks as from any other.
 */
export function bundleTransport(refs: ReadonlyMap<RefName, Oid>): Transport {
  return {
    watchable: null,
    open: () =>
      Promise.resolve({
        advertised: { refs, capabilities: new Set<string>(), head: null },
        post: () => {
          throw new Error('every tip of a bundle is here before it is looked at: there is nothing to ask it for');
        },
        close: () => Promise.resolve(),
      }),
  };
}
