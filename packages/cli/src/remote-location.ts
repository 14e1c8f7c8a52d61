import { resolve } from 'node:path';

/**
 * A remote as it was typed, with a relative path made absolute, so that it means the same from every folder. What
 * names a scheme, a helper or a host (`https://…`, `ext::…`, `host:path`) is left as it is, to be judged where it is used.
 */
export function absoluteRemote(typed: string, cwd: string): string {
  const colon = typed.indexOf(':');
  const slash = typed.search(/[/\\]/);
  // A Windows drive looks like a host here, and needs nothing either.
  const namesHost = colon >= 0 && (slash < 0 || colon < slash);
  const refusedAsIs = typed.trim() === '' || typed.startsWith('-');
  return namesHost || refusedAsIs ? typed : resolve(cwd, typed);
}
