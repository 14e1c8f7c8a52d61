import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** A valid file of a machine's branch, or of the charter's. */
export interface Sample {
  path: string;
  content: Buffer;
}

/** docs/format.md stands in the root of the repository, above the sources and the build of this package alike. */
function formatPage(): string {
  for (const up of ['../../', '../../../']) {
    try {
      return readFileSync(fileURLToPath(new URL(`${up}docs/format.md`, import.meta.url)), 'utf8');
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error;
    }
  }
  throw new Error('docs/format.md is not where it should be');
}

/** The examples of the format's page: every kind of file there is. */
export function samples(): readonly Sample[] {
  const found: Sample[] = [];
  for (const [, path = '', text = ''] of formatPage().matchAll(/^```yaml file=(\S+)[^\n]*\n([\s\S]*?)^```$/gm)) {
    found.push({ path, content: Buffer.from(text) });
  }
  return found;
}
