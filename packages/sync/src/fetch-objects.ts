import { MeshError } from '@git-mesh/core';
import type { Handle, Oid } from '@git-mesh/core';
import { fetchLimits } from './remote-context.js';
import type { RoundContext } from './remote-context.js';
import type { Rejected } from './remote-fetch.js';
import { fetchPack, fetchPart, offersDepth } from './transport/fetch.js';
import { installPart } from './install-part.js';
import type { Exchange } from './transport/port.js';
import { tipsHere } from './tips-here.js';
import { RemoteWords } from './transport/side-band.js';

/** A branch of the remote whose tip is not here. */
export interface Wanted {
  handle: Handle;
  oid: Oid;
}

export interface Brought {
  /** Branches that cannot be had. */
  failed: Rejected[];
  /** True where some were not asked for any more: the next round does. */
  unfinished: boolean;
}

/** One bad branch among 300 is found with nine; what more of them take is left to the next round. */
const maxExchanges = 24;

/**
 * Brings in the objects of all wanted branches together. Where that fails for what is in one of them (the repository
 * lacks an object, or an object is too large), the others are brought without it. Begins an exchange where none is given.
 *
 * @throws MeshError for a failure that is the remote's as a whole.
 */
export async function fetchObjects(
  ctx: RoundContext,
  exchange: Exchange | null,
  wanted: readonly Wanted[],
): Promise<Brought> {
  const failures: { wanted: Wanted; error: MeshError }[] = [];
  const groups: (readonly Wanted[])[] = [wanted];
  let open = exchange;
  let anyCame = false;
  let exchanges = 0;
  let isBelieved = false;
  for (let group = groups.shift(); group !== undefined; group = groups.shift()) {
    if (exchanges >= maxExchanges) return { failed: failures.map(rejection), unfinished: true };
    exchanges += 1;
    open ??= await ctx.remote.transport.open('git-upload-pack', { signal: ctx.signal });
    try {
      await bring(ctx, open, group);
      anyCame = true;
    } catch (error) {
      if (!isOfContent(error)) throw error;
      if (!isBelieved && isWordless(error) && !(await servesAnything(ctx))) throw error;
      isBelieved = true;
      const { bad, rest } = culprits(group, error);
      for (const one of bad) failures.push({ wanted: one, error });
      groups.unshift(...rest.filter(({ length }) => length > 0));
    } finally {
      await open.close();
      open = null;
    }
  }
  const [first] = failures;
  if (first !== undefined && !anyCame && !(await servesAnything(ctx))) throw first.error;
  return { failed: failures.map(rejection), unfinished: false };
}

async function bring(ctx: RoundContext, exchange: Exchange, group: readonly Wanted[]): Promise<void> {
  const { objects, refs } = ctx.mesh.store;
  // Another exchange may see newer tips: what is no tip any more cannot be asked for, and is looked at next time.
  const there = new Set(exchange.advertised.refs.values());
  const wants = group.map(({ oid }) => oid).filter((oid) => there.has(oid));
  if (wants.length === 0) return;
  const here = await tipsHere(refs);
  const edges = await objects.edges();
  const withDepth = offersDepth(exchange);
  const brought = await fetchPart(exchange, {
    wants,
    // Without edges, a server takes what is named here for whole and leaves out what is not here.
    haves: edges.size === 0 || withDepth ? here : [],
    signal: ctx.signal,
    maxBytes: fetchLimits.maxPackBytes,
    ...(withDepth ? { edges } : {}),
    ...(withDepth && ctx.depth !== undefined ? { deepen: { commits: ctx.depth } } : {}),
  });
  await installPart(objects, brought);
}

/** A failure that another choice of branches may not have: the remote's own words, or a limit that was passed. */
export function isOfContent(error: unknown): error is MeshError {
  if (!(error instanceof MeshError)) return false;
  return error.errorName === 'payload_too_large' || error.cause instanceof RemoteWords || isServersFailure(error);
}

/** Behind http the service may die of one branch without a word, or its server answer in its place. */
const isServersFailure = ({ errorName, data }: MeshError): boolean =>
  errorName === 'unreachable' && (data['http_status'] === 500 || data['http_status'] === 502);

/** A way that is cut looks the same: it is believed once the remote has served something else. */
const isWordless = (error: MeshError): boolean =>
  isServersFailure(error) || (error.cause instanceof RemoteWords && error.cause.message === '');

/** Those that are at fault for certain, and the groups to go on with. */
function culprits(group: readonly Wanted[], error: MeshError): { bad: readonly Wanted[]; rest: (readonly Wanted[])[] } {
  if (group.length === 1) return { bad: group, rest: [] };
  const words = error.cause instanceof RemoteWords ? error.cause.message : '';
  // `upload-pack: not our ref <oid>` is said of a tip whose commit is missing.
  const bad = group.filter(({ oid }) => words.includes(oid));
  if (bad.length > 0) return { bad, rest: [group.filter((one) => !bad.includes(one))] };
  const half = Math.ceil(group.length / 2);
  return { bad: [], rest: [group.slice(0, half), group.slice(half)] };
}

/** Tells a remote that fails at everything from one where only what was asked for is bad. */
async function servesAnything(ctx: RoundContext): Promise<boolean> {
  const exchange = await ctx.remote.transport.open('git-upload-pack', { signal: ctx.signal });
  try {
    for (const oid of exchange.advertised.refs.values()) {
      if (!(await ctx.mesh.store.objects.has(oid))) continue;
      await fetchPack(exchange, { wants: [oid], haves: [oid], signal: ctx.signal, maxBytes: fetchLimits.maxPackBytes });
      return true;
    }
    return false;
  } catch (error) {
    if (isOfContent(error)) return false;
    throw error;
  } finally {
    await exchange.close();
  }
}

function rejection({ wanted: { handle, oid }, error }: { wanted: Wanted; error: MeshError }): Rejected {
  const kind = error.errorName === 'payload_too_large' ? 'too_large' : 'unfetchable';
  const todo =
    kind === 'too_large'
      ? 'whoever runs that machine finds the large file with git log --stat'
      : 'look at the repository with git fsck, and let that machine push again once the ref is mended or deleted there';
  return { handle, tip: oid, kind, message: `it cannot be fetched (${error.message}); ${todo}` };
}
