import { BoundedCache } from './bounded-cache.js';
import type { Fs, FsFile } from './fs.js';
import { isErrno } from './fs.js';

/** For all indexes of a store together. */
const maxCachedBytes = 8 * 1024 * 1024;
/** The objects around its bytes. */
const weightOfAPage = 400;
/** More than any index has. */
const pagesOfAnIndex = 2 ** 26;

/** An index on the disk, as it was when it was first read: a page of another file under its name is none of it. */
export interface IndexFile {
  /** Of no other index of the store, before or after. */
  serial: number;
  path: string;
  size: number;
  /** Null for one that was written here and not read yet. */
  mtimeMs: number | null;
  /** Numbers of its pages that were kept, and may be still. */
  kept: Set<number>;
}

/** A page of an index: its own number there, and the bytes that it is. */
export interface PagePlace {
  number: number;
  at: number;
  length: number;
}

/** What a look into the pages in memory gave, or the page that it needs. */
export type Found<T> = { value: T } | { needed: PagePlace };

/**
 * Pieces of the indexes of packs, as many as were asked for last. Nothing is held open, so that whoever removes a pack may do so
 * at any time, on Windows too.
 */
export class IndexPages {
  readonly #fs: Fs;
  readonly #cache = new BoundedCache<number, Uint8Array>(maxCachedBytes);
  #files = 0;

  constructor(fs: Fs) {
    this.#fs = fs;
  }

  /** What is written here, as a file to read pages of. */
  written(path: string, size: number): IndexFile {
    return { serial: this.#files++, path, size, mtimeMs: null, kept: new Set() };
  }

  /** A file with its first bytes; null where none is. */
  async look(path: string, headBytes: number): Promise<{ file: IndexFile; head: Uint8Array } | null> {
    const opened = await this.#open(path);
    if (opened === null) return null;
    try {
      const { size, mtimeMs } = await opened.stat();
      const file = { serial: this.#files++, path, size, mtimeMs, kept: new Set<number>() };
      return { file, head: await opened.read(0, headBytes) };
    } finally {
      await opened.close();
    }
  }

  /** The page, where it is in memory. */
  kept(file: IndexFile, { number }: PagePlace): Uint8Array | undefined {
    return this.#cache.get(keyOf(file, number));
  }

  /**
   * Gives what `look` gives, which names the page that it needs and is not in memory: then that is read, and it looks again. The
   * file is opened once at most. `gone` where the file is no more what it was.
   */
  async looking<T>(file: IndexFile, look: () => Found<T>): Promise<T | 'gone'> {
    let opened: FsFile | null = null;
    try {
      for (;;) {
        const found = look();
        if ('value' in found) return found.value;
        opened ??= await this.#openSame(file);
        const page = await opened?.read(found.needed.at, found.needed.length);
        if (page?.length !== found.needed.length) return 'gone';
        this.keep(file, found.needed, page);
      }
    } finally {
      await opened?.close();
    }
  }

  keep(file: IndexFile, { number }: PagePlace, page: Uint8Array): void {
    this.#cache.set(keyOf(file, number), page, page.length + weightOfAPage);
    file.kept.add(number);
  }

  /** Of a file that is gone. */
  drop(file: IndexFile): void {
    for (const number of file.kept) this.#cache.delete(keyOf(file, number));
    file.kept.clear();
  }

  clear(): void {
    this.#cache.clear();
  }

  async #openSame(file: IndexFile): Promise<FsFile | null> {
    const opened = await this.#open(file.path);
    if (opened === null) return null;
    const stat = await opened.stat();
    // Not by its inode: some network and FUSE file systems give another one each time.
    if (stat.size === file.size && stat.mtimeMs === (file.mtimeMs ?? stat.mtimeMs)) {
      file.mtimeMs = stat.mtimeMs;
      return opened;
    }
    await opened.close();
    return null;
  }

  async #open(path: string): Promise<FsFile | null> {
    try {
      return await this.#fs.open(path, 'read');
    } catch (error) {
      if (isErrno(error, 'ENOENT', 'ENOTDIR')) return null;
      throw error;
    }
  }
}

const keyOf = (file: IndexFile, number: number): number => file.serial * pagesOfAnIndex + number;
