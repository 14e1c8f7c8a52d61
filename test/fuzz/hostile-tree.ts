import { createHash } from 'node:crypto';
import type { ObjectType } from '@git-mesh/core';

export interface LooseObject {
  oid: string;
  type: ObjectType;
  data: Buffer;
}

interface Entry {
  mode: string;
  name: Buffer;
  oid: string;
}

export function looseObject(type: ObjectType, data: Buffer): LooseObject {
  const oid = createHash('sha1').update(`${type} ${data.length}\0`).update(data).digest('hex');
  return { oid, type, data };
}

/** A file as it is to stand in a tree; names may be whatever a tree can hold, and more. */
export interface OddFile {
  path: string;
  content: Buffer;
  mode: string;
}

/**
 * The trees of these files, the root last, by the rules of nobody: the name of each part is taken as it is, and `spoil`
 * may change a tree's bytes once it is made.
 */
export function oddTrees(files: readonly OddFile[], spoil: (tree: Buffer) => Buffer): LooseObject[] {
  const made: LooseObject[] = [];
  const build = (inside: readonly { parts: string[]; file: OddFile }[]): string => {
    const entries: Entry[] = [];
    const folders = new Map<string, { parts: string[]; file: OddFile }[]>();
    for (const { parts, file } of inside) {
      const [name = '', ...rest] = parts;
      if (rest.length > 0) {
        folders.set(name, [...(folders.get(name) ?? []), { parts: rest, file }]);
        continue;
      }
      const blob = looseObject('blob', file.content);
      made.push(blob);
      entries.push({ mode: file.mode, name: Buffer.from(name), oid: blob.oid });
    }
    for (const [name, inner] of folders) entries.push({ mode: '40000', name: Buffer.from(name), oid: build(inner) });
    const key = ({ mode, name }: Entry): Buffer => (mode === '40000' ? Buffer.concat([name, Buffer.from('/')]) : name);
    entries.sort((a, b) => key(a).compare(key(b)));
    const parts = entries.map(({ mode, name, oid }) =>
      Buffer.concat([Buffer.from(`${mode} `), name, Buffer.alloc(1), Buffer.from(oid, 'hex')]),
    );
    const tree = looseObject('tree', spoil(Buffer.concat(parts)));
    made.push(tree);
    return tree.oid;
  };
  build(files.map((file) => ({ parts: file.path.split('/'), file })));
  return made;
}
