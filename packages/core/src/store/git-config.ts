import { MeshError } from '../errors.js';

/** A bare repository that leaves alone what we look after ourselves. */
export const bareConfig = `[core]
\trepositoryformatversion = 0
\tbare = true
\tlogAllRefUpdates = false
[gc]
\tauto = 0
`;

/** Extensions under which loose SHA-1 objects and refs as files are still what the repository is made of. */
const harmless = new Map<string, string | null>([
  ['noop', null],
  ['preciousobjects', null],
  ['objectformat', 'sha1'],
  ['refstorage', 'files'],
]);

/**
 * Refuses a repository that is laid out in a way this program would damage.
 * @throws MeshError `store_unusable`.
 */
export function checkRepositoryFormat(config: string): void {
  const values = settings(config);
  const version = values.get('core.repositoryformatversion') ?? '0';
  if (!/^[01]$/.test(version)) throw unusable(`repositoryformatversion ${version}`);
  for (const [name, value] of values) {
    if (!name.startsWith('extensions.')) continue;
    const extension = name.slice('extensions.'.length);
    const allowed = harmless.get(extension);
    if (allowed === undefined || (allowed !== null && allowed !== value.toLowerCase())) {
      throw unusable(`extensions.${extension} = ${value}`);
    }
  }
}

/** Names in lower case with their last value; subsections are left out. */
function settings(config: string): Map<string, string> {
  const values = new Map<string, string>();
  let section = '';
  for (const line of config.split(/\r?\n/)) {
    const header = /^\s*\[\s*([A-Za-z0-9.-]+)\s*(".*")?\s*\]\s*(.*)$/.exec(line);
    const rest = header === null ? line : (header[3] ?? '');
    if (header !== null) section = header[2] === undefined ? (header[1] ?? '').toLowerCase() : '';
    const entry = /^\s*([A-Za-z][A-Za-z0-9-]*)\s*(?:=\s*(.*?))?\s*(?:[#;].*)?$/.exec(rest);
    if (entry !== null && section !== '') {
      values.set(`${section}.${(entry[1] ?? '').toLowerCase()}`, (entry[2] ?? 'true').replaceAll('"', ''));
    }
  }
  return values;
}

function unusable(what: string): MeshError {
  return new MeshError(
    'store_unusable',
    `the store is a git repository with ${what}: expected a bare SHA-1 repository with refs as files (repositoryformatversion 0). Make a new store with git mesh init or git mesh join`,
  );
}
